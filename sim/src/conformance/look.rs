//! Two answers beside each other, and the whole of what a store holds as its own port shows it.

use std::fmt::Debug;

use everstep_machine::identity::{ConversationId, Sequence};
use everstep_machine::limits::PAGE_BATCHES;
use everstep_machine::store::{Pipeline, Replies, Reply, Store, StoreCommand, StoreFault, Target};

use super::finding::{Check, Difference};
use super::reference::{Reference, Shelf};

/// Longest text of a value in a finding, in characters.
const SHOWN: usize = 1_200;

pub(super) type Answer = Result<Replies, StoreFault>;

pub(super) fn shown(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

/// The first place at which two answers part, and which rule that breaks. What is no refusal and no
/// reading breaks `otherwise`.
pub(super) fn compare(
    otherwise: Check,
    expected: &Answer,
    found: &Answer,
) -> Result<(), Difference> {
    if expected == found {
        return Ok(());
    }
    let (check, expected, found) = match (expected, found) {
        (Ok(expected), Ok(found)) => {
            let parted = expected.iter().zip(found).enumerate().find(|(_, (a, b))| a != b);
            match parted {
                Some((at, (a, b))) => (
                    of_reply(otherwise, a),
                    format!("command {at}: {}", shown(a)),
                    format!("command {at}: {}", shown(b)),
                ),
                None => (
                    otherwise,
                    format!("{} replies", expected.len()),
                    format!("{} replies", found.len()),
                ),
            }
        }
        (Err(StoreFault::Refused { .. }), _) => (
            if otherwise == Check::Answers { Check::Refusals } else { otherwise },
            shown(expected),
            shown(found),
        ),
        _ => (otherwise, shown(expected), shown(found)),
    };
    Err(Difference { check, expected, found })
}

fn of_reply(otherwise: Check, reply: &Reply) -> Check {
    match (otherwise, reply) {
        (Check::Answers, Reply::Lane(_)) => Check::Lanes,
        (Check::Answers, Reply::Log(_)) => Check::Pages,
        _ => otherwise,
    }
}

/// Reads everything that a lane holds.
fn everything(lane: &ConversationId, shelf: &Shelf) -> Pipeline {
    let rows = shelf.rows().iter().map(|row| row.admission.submission);
    let views = rows.flat_map(|it| [Target::Submission(it), Target::Owned(it), Target::Run(it)]);
    let lanes = [Target::Claimable].into_iter().chain(views).map(StoreCommand::ReadLane);
    let starts = shelf.log().iter().step_by(PAGE_BATCHES);
    let pages = [Sequence(0)]
        .into_iter()
        .chain(starts.skip(1).map(|batch| batch.envelope().first_sequence))
        .chain(shelf.tail().map(|tail| tail.next_sequence))
        .map(|from| StoreCommand::ReadLog { from });
    Pipeline { lane: lane.clone(), commands: lanes.chain(pages).collect() }
}

/// Whether a handle shows of these lanes exactly what it should.
pub(super) fn look(
    check: Check,
    store: &mut impl Store,
    reference: &mut Reference,
    lanes: &[ConversationId],
) -> Result<(), Difference> {
    for lane in lanes {
        let pipeline = everything(lane, reference.shelf(lane));
        let expected = reference.execute(&pipeline);
        compare(check, &expected, &store.execute(&pipeline))?;
    }
    Ok(())
}
