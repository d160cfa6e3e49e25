//! What several commands say about a database and what is in it.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use everstep_machine::identity::{ConversationId, Sequence, SubmissionId, Timestamp, ToolName};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{ApprovalMark, Mark, MarkState, Phase, ResolutionIntent, Row};
use everstep_machine::projection::{Projection, Reader};
use everstep_machine::record::{FinishKind, Settlement, StoredBatch};
use everstep_sqlite::{OpenError, SqliteReader, StoreError};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::exit::{Complaint, Exit};
use crate::output;
use crate::records::{resolution_json, resolution_words};

/// How long to wait for others before saying that they are in the way.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// What to do about a file that is not what was written.
pub(crate) const DOES_NOT_VERIFY: &str = "`everstep log verify` says all that is wrong; keep a copy, \
                                          restore a backup, and run nothing on it before";

/// A file that cannot be opened is the environment's fault.
pub(crate) fn unopened(why: &OpenError) -> Complaint {
    Complaint::new(Exit::Environment, why)
}

/// So is one that cannot be read or written, unless what is in it is not what was written.
pub(crate) fn unread(why: StoreError) -> Complaint {
    let exit = match why {
        StoreError::Corrupt { .. } => Exit::Safety,
        StoreError::Refused { .. }
        | StoreError::Busy { .. }
        | StoreError::Full { .. }
        | StoreError::Moved { .. }
        | StoreError::Io { .. } => Exit::Environment,
    };
    Complaint::new(exit, why)
}

/// Opens a file to look at it.
pub(crate) fn reader(path: &Path) -> Result<SqliteReader, Complaint> {
    SqliteReader::open(path, PATIENCE).map_err(|why| unopened(&why))
}

/// Every batch of a conversation, page by page, as `each` takes them.
pub(crate) fn batches(
    reader: &SqliteReader,
    lane: &ConversationId,
    mut each: impl FnMut(&Arc<StoredBatch>) -> Result<(), Complaint>,
) -> Result<(), Complaint> {
    let mut from = Sequence(0);
    loop {
        let page = reader.log_page(lane, from).map_err(unread)?;
        page.batches.iter().try_for_each(&mut each)?;
        match (page.batches.last(), page.tail) {
            (Some(last), Some(tail)) if last.next_sequence() < tail.next_sequence => {
                from = last.next_sequence();
            }
            _ => return Ok(()),
        }
    }
}

/// Everything that a conversation's log says.
pub(crate) fn history(
    reader: &SqliteReader,
    lane: &ConversationId,
) -> Result<Projection, Complaint> {
    let mut fold = Reader::default();
    batches(reader, lane, |batch| {
        let corrupt = |why| Complaint::new(Exit::Safety, format!("{lane}: {why}"));
        fold.feed(batch).map_err(corrupt)
    })?;
    Ok(fold.into_projection())
}

/// The row of a submission, or of what tries it again at the end of its chain.
pub(crate) fn last_of_chain(
    reader: &SqliteReader,
    lane: &ConversationId,
    submission: SubmissionId,
) -> Result<Option<Arc<Row>>, StoreError> {
    let mut last = reader.row(lane, submission)?;
    while let Some(retried) = last.as_ref().and_then(|row| row.chain.retried.as_ref()) {
        last = reader.row(lane, retried.successor)?;
    }
    Ok(last)
}

/// A call of which nobody knows what became.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    pub(crate) mark: Mark,
    pub(crate) tool: ToolName,
    pub(crate) parameters: CanonicalJson,
}

/// The unknown outcomes of a row, open or not, with the names of their tools.
pub(crate) fn unknown(
    reader: &SqliteReader,
    lane: &ConversationId,
    row: &Row,
) -> Result<Vec<Unknown>, Complaint> {
    if row.marks.is_empty() {
        return Ok(Vec::new());
    }
    let history = history(reader, lane)?;
    let view = history.submission(row.admission.submission);
    let named = row.marks.iter().map(|mark| {
        let call = view.and_then(|view| view.calls().find(|call| call.id == mark.doubt.call));
        let call = call.ok_or_else(|| {
            let call = mark.doubt.call;
            let why = format!(
                "{lane}: the row says that call {call} is in doubt, and the log has no such call\n\
                 help: {DOES_NOT_VERIFY}"
            );
            Complaint::new(Exit::Safety, why)
        })?;
        let (tool, parameters) = (call.tool.clone(), call.parameters.clone());
        Ok(Unknown { mark: mark.clone(), tool, parameters })
    });
    named.collect()
}

impl Unknown {
    fn state(&self) -> &'static str {
        match self.mark.state {
            MarkState::Open => "open",
            MarkState::Intended(_) => "resolved, not recorded yet",
            MarkState::Closed(_) => "resolved",
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "call": self.mark.doubt.call.to_string(),
            "start": self.mark.doubt.start.0,
            "tool": self.tool.as_str(),
            "parameters": self.parameters.as_str(),
            "since_ms": self.mark.since.0,
            "state": self.state(),
            "said": said(&self.mark).map(said_json),
        })
    }
}

/// What was said of a doubt, if anything was.
pub(crate) const fn said(mark: &Mark) -> Option<&ResolutionIntent> {
    match &mark.state {
        MarkState::Open => None,
        MarkState::Intended(said) | MarkState::Closed(said) => Some(said),
    }
}

/// The same for machines.
pub(crate) fn said_json(said: &ResolutionIntent) -> Value {
    json!({
        "resolution": resolution_json(&said.resolution),
        "principal": said.principal.as_str(),
        "reason": &*said.reason,
    })
}

/// The same in words, on one line.
pub(crate) fn said_words(said: &ResolutionIntent) -> String {
    let how = resolution_words(&said.resolution);
    output::one_line(&format!("{how}, says {}: {}", said.principal, said.reason))
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mark { doubt, since, .. } = &self.mark;
        let (tool, parameters) = (&self.tool, output::one_line(self.parameters.as_str()));
        let (call, start, age) = (doubt.call, doubt.start, age(*since));
        let state = self.state();
        write!(f, "{tool} {parameters}  call {call}, started in epoch {start}, {state} for {age}")?;
        match said(&self.mark) {
            Some(said) => write!(f, "; {}", said_words(said)),
            None => Ok(()),
        }
    }
}

/// How long ago, roughly, by this machine's clock.
pub(crate) fn age(since: Timestamp) -> String {
    use everstep_sqlite::Clock as _;

    let now = everstep_sqlite::WallClock.now();
    let seconds = now.0.saturating_sub(since.0) / 1_000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// How far a submission is, in a word.
pub(crate) fn phase(row: &Row) -> &'static str {
    use everstep_machine::record::Outcome;

    match &row.phase {
        Phase::Admitted => "admitted",
        Phase::Ready => "ready",
        _ if waits_for_binding(row) => "incompatible",
        Phase::Running(_) => "running",
        Phase::Joining { .. } => "joining",
        Phase::Joined { .. } => "joined",
        Phase::Unknown => "unknown",
        Phase::Suspended => "suspended",
        Phase::Terminalizing(_) => "settling",
        Phase::Settled(_) if row.chain.retried.is_some() => "retried",
        Phase::Settled(settled) if settled.given_up => "given up",
        Phase::Settled(settled) => match settled.outcome {
            Outcome::Completed => "completed",
            Outcome::Failed => "failed",
            Outcome::Aborted => "aborted",
        },
    }
}

/// Whether nobody who came could go on with it, and nothing else is in the way.
fn waits_for_binding(row: &Row) -> bool {
    let others = match &row.phase {
        Phase::Running(_) => false,
        Phase::Unknown => row.marks.iter().any(Mark::is_open),
        Phase::Suspended => row.approvals.iter().any(ApprovalMark::is_open),
        Phase::Admitted
        | Phase::Ready
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Terminalizing(_)
        | Phase::Settled(_) => true,
    };
    row.compat.incompatible.is_some() && !others
}

/// The exit code of a settlement.
pub(crate) const fn exit_of(settlement: &Settlement) -> Exit {
    match settlement {
        Settlement::Completed { .. } | Settlement::Joined { .. } => Exit::Holds,
        Settlement::Failed { .. } | Settlement::Aborted => Exit::Safety,
    }
}

/// A settlement for machines.
pub(crate) fn settlement_json(settlement: &Settlement) -> Value {
    match settlement {
        Settlement::Completed { output, finish, disposition } => json!({
            "outcome": "completed",
            "output": value(output),
            "finish": finish_name(*finish),
            "disposition": disposition.as_deref(),
        }),
        Settlement::Joined { host } => json!({
            "outcome": "completed",
            "answered_with": host.to_string(),
        }),
        Settlement::Failed { diagnostic, limit } => json!({
            "outcome": "failed",
            "tag": diagnostic.tag(),
            "message": diagnostic.message(),
            "limit": limit.is_some(),
        }),
        Settlement::Aborted => json!({ "outcome": "aborted" }),
    }
}

/// A settlement in a few words.
pub(crate) fn settlement_words(settlement: &Settlement) -> String {
    match settlement {
        Settlement::Completed {
            output, finish: FinishKind::BudgetExhausted(dimension), ..
        } => {
            format!("completed, its {} used up: {}", dimension.name(), plain(output))
        }
        Settlement::Completed {
            output,
            finish: FinishKind::ModelStop | FinishKind::Completed,
            ..
        } => format!("completed: {}", plain(output)),
        Settlement::Joined { host } => format!("completed, answered together with {host}"),
        Settlement::Failed { diagnostic, .. } => {
            format!("failed, {}: {}", diagnostic.tag(), diagnostic.message())
        }
        Settlement::Aborted => "aborted".to_owned(),
    }
}

fn finish_name(finish: FinishKind) -> String {
    match finish {
        FinishKind::ModelStop => "model-stop".to_owned(),
        FinishKind::Completed => "completed".to_owned(),
        FinishKind::BudgetExhausted(dimension) => {
            format!("budget-exhausted: {}", dimension.name())
        }
    }
}

/// A canonical value as any other JSON; numbers that `serde_json` would bend stay text.
pub(crate) fn value(json: &CanonicalJson) -> Value {
    serde_json::from_str(json.as_str()).unwrap_or_else(|_| Value::String(json.as_str().to_owned()))
}

/// A text as it is, anything else as JSON.
pub(crate) fn plain(json: &CanonicalJson) -> String {
    match value(json) {
        Value::String(text) => text,
        _ => json.as_str().to_owned(),
    }
}
