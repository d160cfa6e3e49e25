//! The rules of one key.

use alloc::vec;
use alloc::vec::Vec;

use super::effect::{Change, Effect, Refusal, Reply};
use super::input::{Caller, Command, Put, Stamped};
use super::state::{Mark, Shelf, Slice, Slot, Stored, WriteClass};
use crate::contract::{Machine, Step};
use crate::identity::Timestamp;
use crate::limits::{CALL_STATE_WRITES, STATE_KEYS, STATE_VALUE_BYTES};

/// The machine of an agent's state. Who may ask is [`super::Guard`]'s to say, before.
pub struct AgentState;

impl Machine for AgentState {
    type State = Slice;
    type Input = Stamped;
    type Effect = Effect;

    fn step(mut state: Slice, input: Stamped) -> Step<Slice, Effect> {
        let decided = match &input.command {
            Command::Get { caller, .. } => Ok((Vec::new(), Reply::Read(seen(&state, caller)))),
            Command::Put { caller, put } => write(&state, Some(caller), put, input.now),
            Command::Set { put, .. } => write(&state, None, put, input.now),
        };
        let effects = match decided {
            Err(refusal) => vec![Effect::Refuse(refusal)],
            Ok((changes, reply)) => {
                changes.iter().for_each(|change| state.apply(change));
                let changes = changes.into_iter().map(Effect::Change);
                changes.chain([Effect::Reply(reply)]).collect()
            }
        };
        Step::new(state, effects)
    }
}

impl Slice {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Shelf(_, shelf) => self.shelf = *shelf,
            Change::Slot(_, slot) => self.slot = slot.clone(),
            Change::Mark(mark) => {
                self.writes += u32::from(self.mark.is_none());
                self.mark = Some(mark.clone());
            }
            Change::Unmark(..) | Change::Discard(_) => {}
        }
    }
}

/// What a start sees. What an earlier start of the call has written is hidden until this one has
/// said the same: so it reads what that one read, and comes to the same. What a call holds back it
/// sees itself.
fn seen(slice: &Slice, caller: &Caller) -> Option<Stored> {
    match &slice.mark {
        Some(mark) if mark.start < caller.start => mark.before.clone(),
        Some(mark) if mark.class == WriteClass::Canonical => mark.after.clone(),
        Some(_) | None => slice.slot.current.clone(),
    }
}

fn write(
    slice: &Slice,
    caller: Option<&Caller>,
    put: &Put,
    now: Timestamp,
) -> Result<(Vec<Change>, Reply), Refusal> {
    let bytes = put.value.as_ref().map_or(0, |value| value.json.as_str().len());
    if bytes > STATE_VALUE_BYTES {
        return Err(Refusal::TooLarge { bytes });
    }
    if let (Some(caller), Some(mark)) = (caller, &slice.mark) {
        return again(mark, caller, put);
    }
    let Slice { address, slot, shelf, .. } = slice;
    if let Some(by) = slot.hold {
        return Err(Refusal::Held { by });
    }
    let found = slot.current.as_ref().map(|it| it.revision);
    if found != put.expected {
        return Err(Refusal::Conflict { expected: put.expected, found });
    }
    if found.is_none() && put.value.is_none() {
        return Err(Refusal::Nothing);
    }
    if caller.is_some() && slice.writes as usize >= CALL_STATE_WRITES {
        return Err(Refusal::TooManyWrites);
    }
    if slot.is_blank() && shelf.keys as usize >= STATE_KEYS {
        return Err(Refusal::Full);
    }
    let (revision, class) = (shelf.last.next(), put.class);
    let value = put.value.clone();
    let after = value.map(|value| Stored { revision, value, class, at: now });
    let before = slot.current.clone();
    let current = if class == WriteClass::Canonical { before.clone() } else { after.clone() };
    let hold = caller.filter(|_| class.holds()).map(|caller| caller.call);
    let next = Slot { current, hold };
    let keys = shelf.counting(slot, &next);
    let mut changes = vec![
        Change::Shelf(address.scope.clone(), Shelf { last: revision, keys }),
        Change::Slot(address.clone(), next),
    ];
    changes.extend(caller.map(|caller| {
        let (call, start, content) = (caller.call, caller.start, put.content());
        let address = address.clone();
        Change::Mark(Mark { call, address, start, content, class, revision, before, after })
    }));
    Ok((changes, Reply::Written(revision)))
}

/// A call says again what it has said before.
fn again(mark: &Mark, caller: &Caller, put: &Put) -> Result<(Vec<Change>, Reply), Refusal> {
    if mark.content != put.content() {
        return Err(Refusal::Otherwise);
    }
    let changes = if mark.start == caller.start {
        Vec::new()
    } else {
        vec![Change::Mark(Mark { start: caller.start, ..mark.clone() })]
    };
    Ok((changes, Reply::Written(mark.revision)))
}

impl Shelf {
    /// How many keys there are when one of them changes like this.
    pub(super) fn counting(&self, before: &Slot, after: &Slot) -> u32 {
        let less = u32::from(!before.is_blank());
        self.keys.saturating_sub(less).saturating_add(u32::from(!after.is_blank()))
    }
}
