//! The rules of one session.

use alloc::vec;
use alloc::vec::Vec;

use super::effect::{Change, Effect, Refusal};
use super::input::{Command, Draft, Patch, Stamped};
use super::state::{Metadata, Session, Shelf, Slice};
use crate::contract::{Machine, Step};
use crate::identity::{ConversationId, Revision, SessionId, Timestamp};
use crate::limits::{SESSION_CONVERSATIONS, SESSION_METADATA_BYTES, SESSIONS};

/// The machine of sessions.
pub struct Sessions;

type Decided = Result<(Vec<Change>, Session), Refusal>;

impl Machine for Sessions {
    type State = Slice;
    type Input = Stamped;
    type Effect = Effect;

    fn step(mut state: Slice, input: Stamped) -> Step<Slice, Effect> {
        let Stamped { command, now } = input;
        let decided = match command {
            Command::Create { id, draft } => create(&state, id, draft, now),
            Command::Update { expected, patch, .. } => update(&state, expected, patch, now),
            Command::Delete { expected, .. } => delete(&state, expected),
        };
        let effects = match decided {
            Err(refusal) => vec![Effect::Refuse(refusal)],
            Ok((changes, session)) => {
                changes.iter().for_each(|change| state.apply(change));
                let changes = changes.into_iter().map(Effect::Change);
                changes.chain([Effect::Reply(session)]).collect()
            }
        };
        Step::new(state, effects)
    }
}

impl Slice {
    /// Makes a change: the only way a slice changes.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Shelf(shelf) => self.shelf = *shelf,
            Change::Put(session) => self.session = Some(session.clone()),
            Change::Delete(_) => self.session = None,
        }
    }
}

fn create(slice: &Slice, id: SessionId, draft: Draft, now: Timestamp) -> Decided {
    let Draft { tenant, metadata, conversations } = draft;
    if let Some(there) = &slice.session {
        let is_same = there.tenant == tenant
            && there.metadata == metadata
            && there.conversations == conversations
            && there.created == there.updated;
        let found = there.revision;
        return if is_same {
            Ok((Vec::new(), there.clone()))
        } else {
            Err(Refusal::Exists { found })
        };
    }
    if slice.shelf.sessions as usize >= SESSIONS {
        return Err(Refusal::Full);
    }
    let revision = slice.shelf.last.next();
    let (created, updated) = (now, now);
    let session = Session { id, tenant, revision, metadata, conversations, created, updated };
    bounded(&session)?;
    let shelf = Shelf { last: revision, sessions: slice.shelf.sessions.saturating_add(1) };
    Ok((vec![Change::Shelf(shelf), Change::Put(session.clone())], session))
}

fn update(slice: &Slice, expected: Revision, patch: Patch, now: Timestamp) -> Decided {
    let there = self::expected(slice, expected)?;
    let Patch { metadata, add, remove } = patch;
    if is_double(&remove) || is_double(&add) || remove.iter().any(|it| add.contains(it)) {
        return Err(Refusal::Twice);
    }
    if remove.iter().any(|it| !there.conversations.contains(it)) {
        return Err(Refusal::NotThere);
    }
    let mut conversations = there.conversations.clone();
    conversations.retain(|it| !remove.contains(it));
    for one in add {
        if !conversations.contains(&one) {
            conversations.push(one);
        }
    }
    let metadata: Metadata = metadata.unwrap_or_else(|| there.metadata.clone());
    let revision = slice.shelf.last.next();
    // What was changed was changed after it was made, whatever the clock says.
    let updated = now.max(there.updated).max(there.created.after(crate::identity::DurationMs(1)));
    let session = Session { revision, metadata, conversations, updated, ..there.clone() };
    bounded(&session)?;
    let shelf = Shelf { last: revision, ..slice.shelf };
    Ok((vec![Change::Shelf(shelf), Change::Put(session.clone())], session))
}

fn delete(slice: &Slice, expected: Revision) -> Decided {
    let there = self::expected(slice, expected)?.clone();
    let shelf = Shelf { sessions: slice.shelf.sessions.saturating_sub(1), ..slice.shelf };
    Ok((vec![Change::Shelf(shelf), Change::Delete(there.id.clone())], there))
}

/// The session, if it is as whoever changes it has read it.
fn expected(slice: &Slice, expected: Revision) -> Result<&Session, Refusal> {
    let there = slice.session.as_ref().ok_or(Refusal::Absent)?;
    let found = there.revision;
    if found == expected { Ok(there) } else { Err(Refusal::Conflict { expected, found }) }
}

fn bounded(session: &Session) -> Result<(), Refusal> {
    let bytes = session.metadata.json.as_str().len();
    if bytes > SESSION_METADATA_BYTES {
        return Err(Refusal::TooLarge { bytes });
    }
    if session.conversations.len() > SESSION_CONVERSATIONS {
        return Err(Refusal::TooMany);
    }
    if is_double(&session.conversations) { Err(Refusal::Twice) } else { Ok(()) }
}

fn is_double(names: &[ConversationId]) -> bool {
    let mut sorted: Vec<&ConversationId> = names.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}
