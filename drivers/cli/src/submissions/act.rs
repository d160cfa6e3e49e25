//! What a person says.

use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use everstep_machine::agent::{Diagnostic, Resolution};
use everstep_machine::identity::{ConversationId, PrincipalId};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{AbortIntent, Command, Mark, ResolutionIntent, Row};
use everstep_machine::limits::TEXT_BYTES;
use everstep_machine::store::{Pipeline, StoreCommand};
use everstep_runtime::Failpoints;
use everstep_sqlite::{Options, SqliteStore, StoreError};
use serde_json::{Value, json};

use super::find;
use crate::args::{Look, Resolve, Word};
use crate::database::{said, said_json, said_words, unknown, unopened, unread};
use crate::exit::{Complaint, Exit, Outcome};
use crate::output::{self, one_line};

/// How often a command is sent whose fate the store does not say.
const SENDINGS: usize = 5;

/// How long to wait before it is sent again; twice as long each further time.
const FIRST_WAIT: Duration = Duration::from_millis(50);

/// Wants it to end.
pub(super) fn abort(id: &str, word: &Word, look: &Look) -> Outcome {
    let (principal, reason) = signed(word)?;
    let (reader, (lane, row)) = find(&look.db, id)?;
    let submission = row.admission.submission;
    let intent = AbortIntent { principal, reason };
    send(&look.db, lane.clone(), Command::Abort { submission, intent: intent.clone() })?;
    // Who asked first stands; somebody else may have done so since.
    let now = reader.row(&lane, submission).map_err(unread)?;
    let stands = now.and_then(|row| row.abort.clone()).unwrap_or_else(|| intent.clone());
    let already = row.abort.is_some() || stands != intent;
    let text = if already {
        let AbortIntent { principal, reason } = &stands;
        format!("its end was asked for already, by {principal}: {}", one_line(reason))
    } else {
        "its end is asked for; whoever works on it settles it as aborted".to_owned()
    };
    let (by, why) = (stands.principal.as_str(), &*stands.reason);
    let said = json!({ "already": already, "principal": by, "reason": why });
    tell(look, "abort", &row, &text, said)
}

/// Closes a doubt.
pub(super) fn resolve(args: &Resolve) -> Outcome {
    let (principal, reason) = signed(&args.word)?;
    let resolution = Arc::new(resolution(args)?);
    let (reader, (lane, row)) = find(&args.look.db, &args.submission)?;
    let before = mark(&row, args.call.as_deref())?;
    // Nothing is written into a file that does not know the call.
    unknown(&reader, &lane, &row)?;
    let (doubt, submission) = (before.doubt, row.admission.submission);
    let intent = ResolutionIntent { resolution, principal, reason };
    let command = Command::Resolve { submission, doubt, intent: intent.clone() };
    let sent = send(&args.look.db, lane.clone(), command);
    // What was said first stands; somebody else may have said something since.
    let now = reader.row(&lane, submission).map_err(unread)?;
    let marks = now.as_ref().map_or(&row.marks, |row| &row.marks);
    let now = marks.iter().find(|mark| mark.doubt == doubt).and_then(said);
    let stands = now.cloned().unwrap_or_else(|| intent.clone());
    let already = said(before).is_some() || stands != intent;
    if let Err(complaint) = sent {
        let Complaint { exit, text } = complaint;
        let more = if already && exit == Exit::Usage {
            format!("\nwhat stands is: {}", said_words(&stands))
        } else {
            String::new()
        };
        return Err(Complaint::new(exit, text + &more));
    }
    let text = if already {
        format!("it was said already: {}", said_words(&stands))
    } else {
        "noted; whoever works on it next records it and carries on".to_owned()
    };
    let mut value = said_json(&stands);
    value["already"] = json!(already);
    tell(&args.look, "resolve", &row, &text, value)
}

pub(super) fn usage(text: impl std::fmt::Display) -> Complaint {
    Complaint::new(Exit::Usage, text)
}

pub(crate) fn signed(word: &Word) -> Result<(PrincipalId, Arc<str>), Complaint> {
    if word.reason.len() > TEXT_BYTES {
        return Err(usage(format!("--reason has at most {TEXT_BYTES} bytes")));
    }
    let principal = PrincipalId::new(&word.by).map_err(|why| usage(format!("--by: {why}")))?;
    Ok((principal, Arc::from(word.reason.as_str())))
}

fn resolution(args: &Resolve) -> Result<Resolution, Complaint> {
    let completed = args.answer == "completed";
    let failed = args.answer == "failed";
    if args.result.is_some() && !completed {
        return Err(usage("--result goes only with `completed`"));
    }
    if (args.tag.is_some() || args.message.is_some()) && !failed {
        return Err(usage("--tag and --message go only with `failed`"));
    }
    Ok(match args.answer.as_str() {
        "completed" => {
            let json = args.result.as_deref().unwrap_or("null");
            let json = CanonicalJson::parse(json.as_bytes());
            Resolution::Completed(json.map_err(|why| usage(format!("--result: {why}")))?)
        }
        "failed" => {
            let (tag, message) = (args.tag.as_deref(), args.message.as_deref());
            let (tag, message) = (tag.unwrap_or("Failed"), message.unwrap_or("it failed"));
            Resolution::Failed(Diagnostic::new(tag, message).map_err(usage)?)
        }
        "never-started" => Resolution::NeverStarted,
        _ => Resolution::SafeToRepeat,
    })
}

/// The open doubt that is meant.
fn mark<'a>(row: &'a Row, call: Option<&str>) -> Result<&'a Mark, Complaint> {
    let wanted = call.unwrap_or_default().to_lowercase();
    let named = |mark: &&Mark| mark.doubt.call.to_string().starts_with(&wanted);
    let all: Vec<&Mark> = row.marks.iter().filter(named).collect();
    let open: Vec<&Mark> = all.iter().copied().filter(|mark| mark.is_open()).collect();
    match (open.as_slice(), all.as_slice()) {
        // One that is resolved already is answered as the first time, or with the conflict.
        ([only], _) | ([], [only]) => Ok(only),
        ([], []) => Err(usage("no such call of it is in doubt")),
        // Of one that was in doubt more than once, what was said last is what is said again.
        ([], [first, rest @ ..]) if rest.iter().all(|it| it.doubt.call == first.doubt.call) => {
            Ok(rest.iter().max_by_key(|it| it.doubt.start).unwrap_or(first))
        }
        _ => Err(usage(
            "several calls are in doubt\nhelp: say which with --call; `everstep submissions show` \
             lists them",
        )),
    }
}

/// Sends one command until the store says what became of it.
pub(super) fn send(db: &Path, lane: ConversationId, command: Command) -> Result<(), Complaint> {
    perform(db, &Pipeline { lane, commands: vec![StoreCommand::Ledger(command)] })
}

/// The same for a pipeline that may be sent again.
pub(super) fn perform(db: &Path, pipeline: &Pipeline) -> Result<(), Complaint> {
    let failpoints = Failpoints::from_env().map_err(usage)?;
    let options = Options::new(db).create(false);
    let mut store = SqliteStore::open(options).map_err(|why| unopened(&why))?;
    store.on_failpoint(move |failpoint| failpoints.pass(failpoint));
    let mut wait = FIRST_WAIT;
    for sending in 1.. {
        match store.perform(pipeline) {
            Ok(_) => break,
            Err(StoreError::Refused { why, .. }) => return Err(usage(why)),
            Err(error) if sending == SENDINGS || matches!(error, StoreError::Corrupt { .. }) => {
                return Err(unread(error));
            }
            Err(_) => {
                sleep(wait);
                wait *= 2;
            }
        }
    }
    Ok(())
}

pub(super) fn tell(look: &Look, act: &str, row: &Row, text: &str, mut value: Value) -> Outcome {
    let submission = row.admission.submission;
    output::print(&if look.json {
        value["command"] = json!(format!("submissions {act}"));
        value["submission"] = json!(submission.to_string());
        format!("{value:#}\n")
    } else {
        format!("{submission}: {text}\n")
    })?;
    Ok(Exit::Holds)
}
