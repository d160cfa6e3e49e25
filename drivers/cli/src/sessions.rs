//! `everstep sessions`: names by which conversations are found again. Nothing that was accepted
//! depends on them.

use std::fmt::Write as _;

use everstep_machine::identity::{ConversationId, NameError, Revision, SessionId, TenantId};
use everstep_machine::json::CanonicalJson;
use everstep_machine::session::{Command, Draft, Metadata, Patch, Session};
use everstep_sqlite::{MAX_LISTED, Options, SqliteStore};
use serde_json::{Value, json};

use crate::args::{self, Look, SessionsAct};
use crate::database::{PATIENCE, age, reader, unopened, unread, value};
use crate::exit::{Complaint, Exit, Outcome};
use crate::listing::{every, unreadable};
use crate::output::{self, HEAD, counted, one_line, styled};

/// Runs the command.
pub(crate) fn run(args: &args::Sessions) -> Outcome {
    match &args.act {
        SessionsAct::List { look } => list(look),
        SessionsAct::Show { session, look } => show(session, look),
        SessionsAct::Create { session, tenant, conversation, metadata, look } => {
            let metadata = self::metadata(metadata)?;
            let null = || CanonicalJson::parse(b"null").map_err(usage);
            let metadata = match metadata {
                Some(metadata) => metadata,
                None => Metadata { version: 1, json: null()? },
            };
            let tenant = TenantId::new(tenant).map_err(usage)?;
            let draft = Draft { tenant, metadata, conversations: names(conversation)? };
            act(look, "create", Command::Create { id: id(session)?, draft })
        }
        SessionsAct::Update { session, expect, add, remove, metadata, look } => {
            let metadata = self::metadata(metadata)?;
            let patch = Patch { metadata, add: names(add)?, remove: names(remove)? };
            let (id, expected) = (id(session)?, Revision(*expect));
            act(look, "update", Command::Update { id, expected, patch })
        }
        SessionsAct::Delete { session, expect, look } => {
            let (id, expected) = (id(session)?, Revision(*expect));
            act(look, "delete", Command::Delete { id, expected })
        }
    }
}

fn usage(why: impl std::fmt::Display) -> Complaint {
    Complaint::new(Exit::Usage, why)
}

fn id(name: &str) -> Result<SessionId, Complaint> {
    SessionId::new(name).map_err(usage)
}

fn names(names: &[String]) -> Result<Vec<ConversationId>, Complaint> {
    let names: Result<_, NameError> = names.iter().map(|it| ConversationId::new(it)).collect();
    names.map_err(usage)
}

fn metadata(given: &args::Metadata) -> Result<Option<Metadata>, Complaint> {
    let Some(text) = &given.metadata else { return Ok(None) };
    let json = CanonicalJson::parse(text.as_bytes());
    let json = json.map_err(|why| usage(format!("--metadata: {why}")))?;
    Ok(Some(Metadata { version: given.version, json }))
}

fn list(look: &Look) -> Outcome {
    let reader = reader(&look.db)?;
    let mut sessions = Vec::new();
    let corrupt = every(
        |after| reader.sessions(after, MAX_LISTED),
        |one| {
            sessions.push(one);
            Ok(())
        },
    )?;
    let mut text = String::new();
    if look.json {
        let sessions: Vec<Value> = sessions.iter().map(as_json).collect();
        let value = json!({ "command": "sessions list", "sessions": sessions });
        let _ = writeln!(text, "{value:#}");
    } else if sessions.is_empty() {
        text.push_str("there are no sessions\n");
    } else {
        for session in &sessions {
            let _ = writeln!(text, "{}", words(session));
        }
    }
    output::print(&text)?;
    unreadable(&corrupt)?;
    Ok(Exit::Holds)
}

fn show(name: &str, look: &Look) -> Outcome {
    let found = reader(&look.db)?.session(&id(name)?).map_err(unread)?;
    let db = look.db.display();
    let session =
        found.ok_or_else(|| usage(format!("{name}: there is no such session in {db}")))?;
    tell(look, "show", &session)
}

fn act(look: &Look, what: &str, command: Command) -> Outcome {
    let options = Options::new(&look.db).create(false).busy(PATIENCE);
    let mut store = SqliteStore::open(options).map_err(|why| unopened(&why))?;
    let name = command.id().clone();
    let done = store.session(&command).map_err(unread)?;
    let session = done.map_err(|why| usage(format!("{name}: {why}")))?;
    tell(look, what, &session)
}

fn tell(look: &Look, what: &str, session: &Session) -> Outcome {
    let mut text = String::new();
    if look.json {
        let command = format!("sessions {what}");
        let value = json!({ "command": command, "session": as_json(session) });
        let _ = writeln!(text, "{value:#}");
    } else {
        let done = if what == "delete" { "deleted: " } else { "" };
        let _ = writeln!(text, "{done}{}", words(session));
        let json = one_line(session.metadata.json.as_str());
        let _ = writeln!(text, "metadata, version {}: {json}", session.metadata.version);
        for conversation in &session.conversations {
            let _ = writeln!(text, "conversation: {}", one_line(conversation.as_str()));
        }
    }
    output::print(&text)?;
    Ok(Exit::Holds)
}

fn words(session: &Session) -> String {
    let Session { id, tenant, revision, conversations, updated, .. } = session;
    let talks = counted(conversations.len() as u64, "conversation");
    let name = styled(HEAD, one_line(id.as_str()));
    let (tenant, age) = (one_line(tenant.as_str()), age(*updated));
    format!("{name}  revision {revision}, {talks}, of {tenant}, changed {age} ago")
}

fn as_json(session: &Session) -> Value {
    let conversations: Vec<&str> = session.conversations.iter().map(|it| it.as_str()).collect();
    json!({
        "id": session.id.as_str(),
        "tenant": session.tenant.as_str(),
        "revision": session.revision.0,
        "version": session.metadata.version,
        "metadata": value(&session.metadata.json),
        "conversations": conversations,
        "created_ms": session.created.0,
        "updated_ms": session.updated.0,
    })
}
