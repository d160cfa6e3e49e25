//! Planted defects of a store: commands, answers and rows bent around the machines.

use std::sync::Arc;

use everstep_machine::conversation::{Command, Reply};
use everstep_machine::ledger::{self, Chain, Lane, MarkState, Ownership, Row, Standing};
use everstep_machine::store::LaneView;

use super::log::Log;
use crate::defect::Defect;

/// What becomes of a command to a log.
pub(super) enum Bent {
    /// It reaches the machine like this.
    Command(Command),
    /// It never does; this is the answer.
    Answer(Reply),
}

/// Bends a command to a log.
pub(super) fn conversation(defect: Option<Defect>, log: &Log, command: &Command) -> Bent {
    let (Some(defect), Some(tail)) = (defect, log.tail()) else {
        return Bent::Command(command.clone());
    };
    let mut command = command.clone();
    match (defect, &mut command) {
        (Defect::ReplayAcrossFence, Command::Append { batch, .. }) => {
            let there = log.committed(batch.id());
            if there.is_some_and(|there| there.content == batch.content()) {
                return Bent::Answer(Reply::Appended(tail));
            }
        }
        (Defect::FenceWithoutTail, Command::Fence { expected, .. }) => *expected = tail.reference(),
        (Defect::NoEpochCheck, Command::Append { epoch, .. }) => *epoch = tail.epoch,
        _ => {}
    }
    Bent::Command(command)
}

/// Bends a command to a lane: without an epoch check, whoever once owned the lane owns it still.
pub(super) fn ledger(
    defect: Option<Defect>,
    lane: &Lane,
    command: &ledger::Command,
) -> ledger::Command {
    let mut command = command.clone();
    if let (Some(Defect::NoEpochCheck), Some(current)) = (defect, &lane.owner)
        && let Some(owner) = owner_of(&mut command)
        && owner.submission == current.submission
    {
        (owner.epoch, owner.token) = (lane.epoch, current.token);
    }
    command
}

fn owner_of(command: &mut ledger::Command) -> Option<&mut Ownership> {
    use ledger::Command;
    match command {
        Command::Renew { owner, .. }
        | Command::Release { owner }
        | Command::MarkInput { owner }
        | Command::Join { owner, .. }
        | Command::MarkJoined { owner, .. }
        | Command::RevertJoin { owner, .. }
        | Command::SettleJoined { owner, .. }
        | Command::MarkUnknown { owner, .. }
        | Command::CoverUnknown { owner, .. }
        | Command::Suspend { owner, .. }
        | Command::Expire { owner, .. }
        | Command::CoverApprovals { owner, .. }
        | Command::CoverIncompatible { owner }
        | Command::Reserve { owner, .. }
        | Command::Finalize { owner, .. } => Some(owner),
        Command::Admit(_)
        | Command::Ready { .. }
        | Command::Claim(_)
        | Command::Abort { .. }
        | Command::Resolve { .. }
        | Command::Decide { .. }
        | Command::Retry { .. }
        | Command::Incompatible { .. }
        | Command::Rebind { .. } => None,
    }
}

/// Bends what whoever reads a lane is shown.
pub(super) fn view(defect: Option<Defect>, mut view: LaneView) -> LaneView {
    if defect == Some(Defect::SteeringHidden) {
        view.beside.retain(|row| row.standing() != Standing::Steering);
    }
    view
}

/// Bends a row on its way to the shelf: a resolution that is kept by call closes the next doubt
/// of the same call too.
pub(super) fn row(defect: Option<Defect>, held: Option<&Row>, row: Arc<Row>) -> Arc<Row> {
    if defect == Some(Defect::DeathsForgotten) && !row.fruitless.is_empty() {
        return Arc::new(Row { fruitless: Vec::new(), ..Row::clone(&row) });
    }
    if defect == Some(Defect::RetriesForgotten) && row.chain.retried.is_some() {
        let chain = Chain { retried: None, ..row.chain.clone() };
        return Arc::new(Row { chain, ..Row::clone(&row) });
    }
    let (Some(Defect::ResolutionsByCallAlone), Some(held)) = (defect, held) else { return row };
    let mut row = row;
    for at in 0..row.marks.len() {
        let mark = &row.marks[at];
        if held.mark(mark.doubt).is_some() {
            continue;
        }
        let earlier = held.marks.iter().find_map(|other| match &other.state {
            MarkState::Closed(intent) if other.doubt.call == mark.doubt.call => Some(intent),
            _ => None,
        });
        if let Some(intent) = earlier {
            Arc::make_mut(&mut row).marks[at].state = MarkState::Intended(intent.clone());
        }
    }
    row
}
