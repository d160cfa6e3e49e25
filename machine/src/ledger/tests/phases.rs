//! The phase diagram as a table: every command at every stage, and where it leads.

use super::*;

/// A stage of a row: its phase, and what of its surroundings a command can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Admitted, and nobody owns the lane.
    Fresh,
    /// Admitted and claimed.
    Admitted,
    /// Ready, and nobody owns the lane.
    Ready,
    /// Running, the input not marked.
    Missing,
    /// Running, the input marked.
    Applied,
    /// One doubt is open.
    Unknown,
    /// One doubt is spoken on.
    Spoken,
    /// A completion is reserved.
    Closing,
    /// Aborted, and owned again for a resolution.
    Settled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Stays,
    To(&'static str),
    No(Refusal),
}

use Cell::{No, Stays, To};
use Refusal::{
    AlreadySettled, NoAbort, NoSuchDoubt, NotClaimable, NotRunning, ReservationConflict,
    RunClosing, SettlementDiffers, UnknownOpen,
};

const LOST: Cell = No(Refusal::OwnershipLost { actual: Epoch(0) });
const ANEW: Cell = To("Running(Missing)");
const APPLIED: Cell = To("Running(Applied)");
const UNKNOWN: Cell = To("Unknown");
const CLOSING: Cell = To("Terminalizing");
const SETTLED: Cell = To("Settled");

/// Per stage: Ready, Claim, Renew, Release, MarkInput, Abort, MarkUnknown, Resolve, CoverUnknown,
/// Reserve a completion, Reserve an abort, Finalize a completion.
#[rustfmt::skip]
const TABLE: [(Stage, [Cell; 12]); 9] = [
    (Stage::Fresh, [To("Ready"), Stays, LOST, LOST, LOST, Stays, LOST, No(NoSuchDoubt), LOST,
        LOST, LOST, LOST]),
    (Stage::Admitted, [ANEW, Stays, Stays, Stays, No(NotRunning), Stays, No(NotRunning),
        No(NoSuchDoubt), No(NoSuchDoubt), No(NotRunning), No(NoAbort), SETTLED]),
    (Stage::Ready, [Stays, ANEW, LOST, LOST, LOST, Stays, LOST, No(NoSuchDoubt), LOST,
        LOST, LOST, LOST]),
    (Stage::Missing, [Stays, Stays, Stays, Stays, APPLIED, Stays, UNKNOWN,
        No(NoSuchDoubt), No(NoSuchDoubt), No(NotRunning), No(NoAbort), SETTLED]),
    (Stage::Applied, [Stays, Stays, Stays, Stays, Stays, Stays, UNKNOWN,
        No(NoSuchDoubt), No(NoSuchDoubt), CLOSING, No(NoAbort), SETTLED]),
    (Stage::Unknown, [Stays, No(NotClaimable), Stays, Stays, Stays, Stays, Stays,
        Stays, No(UnknownOpen), No(UnknownOpen), No(NoAbort), SETTLED]),
    (Stage::Spoken, [Stays, Stays, Stays, Stays, Stays, Stays, Stays,
        Stays, APPLIED, No(UnknownOpen), No(NoAbort), SETTLED]),
    (Stage::Closing, [Stays, Stays, Stays, Stays, Stays, No(RunClosing), No(RunClosing),
        No(NoSuchDoubt), No(NoSuchDoubt), Stays, No(ReservationConflict), SETTLED]),
    (Stage::Settled, [Stays, Stays, Stays, Stays, Stays, Stays, No(AlreadySettled),
        Stays, Stays, No(AlreadySettled), Stays, No(SettlementDiffers)]),
];

impl Stage {
    fn bench(self) -> (Bench, Ownership) {
        let nobody = Ownership { submission: submission(1), token: token(1), epoch: Epoch(0) };
        match self {
            Self::Fresh => {
                let mut bench = Bench::new();
                bench.send(Command::Admit(admission(1, "hello"))).unwrap();
                (bench, nobody)
            }
            Self::Admitted => {
                let (mut bench, _) = Self::Fresh.bench();
                let owner = bench.claim(1, 1).unwrap();
                (bench, owner)
            }
            Self::Ready => (Bench::ready(&[1]), nobody),
            Self::Missing => Bench::claimed(),
            Self::Applied => Bench::running(),
            Self::Unknown => Bench::unknown(&[1]),
            Self::Spoken => {
                let (mut bench, owner) = Bench::unknown(&[1]);
                bench.resolve(1, Resolution::NeverStarted).unwrap();
                (bench, owner)
            }
            Self::Closing => {
                let (mut bench, owner) = Bench::running();
                bench.send(Command::Reserve { owner, reserved: completed(1) }).unwrap();
                (bench, owner)
            }
            Self::Settled => {
                let (mut bench, owner) = Self::Spoken.bench();
                bench.abort(1, "ada").unwrap();
                bench.finish(owner, &aborted(1));
                let owner = bench.claim(1, 2).unwrap();
                (bench, owner)
            }
        }
    }
}

fn command(column: usize, bench: &mut Bench, owner: Ownership) -> Command {
    let submission = submission(1);
    match column {
        0 => Command::Ready { submission },
        1 => {
            if bench.lane.owner.is_some() {
                bench.expire();
            }
            bench.claim_command(1, 9)
        }
        2 => Command::Renew { owner, lease: DurationMs(MINUTE) },
        3 => Command::Release { owner },
        4 => Command::MarkInput { owner },
        5 => Command::Abort { submission, intent: abort("ada") },
        6 => Command::MarkUnknown { owner, doubts: Vec::from([doubt(2)]) },
        7 => {
            let intent = intent(Resolution::NeverStarted);
            Command::Resolve { submission, doubt: doubt(1), intent }
        }
        8 => Command::CoverUnknown { owner, doubts: Vec::from([doubt(1)]) },
        9 => Command::Reserve { owner, reserved: completed(1) },
        10 => Command::Reserve { owner, reserved: aborted(1) },
        11 => Command::Finalize { owner, settlement: canonical(&completed(1)) },
        _ => panic!("no such column"),
    }
}

fn name(phase: &Phase) -> &'static str {
    match phase {
        Phase::Admitted => "Admitted",
        Phase::Ready => "Ready",
        Phase::Running(InputMarker::Missing) => "Running(Missing)",
        Phase::Running(InputMarker::Applied) => "Running(Applied)",
        Phase::Joining { .. } => "Joining",
        Phase::Joined { .. } => "Joined",
        Phase::Unknown => "Unknown",
        Phase::Suspended => "Suspended",
        Phase::Terminalizing(_) => "Terminalizing",
        Phase::Settled(_) => "Settled",
    }
}

#[test]
fn dur_002_every_command_at_every_stage_leads_where_the_table_says() {
    let mut arrows = Vec::new();
    for (stage, cells) in TABLE {
        for (column, expected) in cells.into_iter().enumerate() {
            let (mut bench, owner) = stage.bench();
            let before = bench.row(1).phase.clone();
            let command = command(column, &mut bench, owner);
            let answer = bench.send(command.clone());
            let after = &bench.row(1).phase;
            let found = match answer {
                Err(refusal) => No(refusal),
                Ok(_) if *after == before => Stays,
                Ok(_) => To(name(after)),
            };
            assert_eq!(found, expected, "{stage:?}: {command:?}");
            if let To(next) = found {
                arrows.push((name(&before), next));
            }
        }
    }
    arrows.sort_unstable();
    arrows.dedup();
    assert_eq!(arrows, ARROWS, "the diagram in the module's documentation");
}

/// Every arrow of the diagram, sorted; an aborted outcome adds `Reserve` from any other phase.
const ARROWS: [(&str, &str); 13] = [
    ("Admitted", "Ready"),
    ("Admitted", "Running(Missing)"),
    ("Admitted", "Settled"),
    ("Ready", "Running(Missing)"),
    ("Running(Applied)", "Settled"),
    ("Running(Applied)", "Terminalizing"),
    ("Running(Applied)", "Unknown"),
    ("Running(Missing)", "Running(Applied)"),
    ("Running(Missing)", "Settled"),
    ("Running(Missing)", "Unknown"),
    ("Terminalizing", "Settled"),
    ("Unknown", "Running(Applied)"),
    ("Unknown", "Settled"),
];

#[test]
fn dur_012_once_an_abort_is_intended_it_can_be_reserved_from_every_owned_stage() {
    let open = [Stage::Admitted, Stage::Missing, Stage::Applied, Stage::Unknown, Stage::Spoken];
    for stage in open {
        let (mut bench, owner) = stage.bench();
        bench.abort(1, "ada").unwrap();
        let reserve = Command::Reserve { owner, reserved: aborted(1) };
        assert_eq!(bench.send(reserve), Ok(Reply::Reserved), "{stage:?}");
        assert_eq!(name(&bench.row(1).phase), "Terminalizing", "{stage:?}");
    }
}

#[test]
fn store_002_every_accepted_command_is_answered_again_without_a_change() {
    let mut repeated = 0;
    for (stage, cells) in TABLE {
        for column in 0..cells.len() {
            let (mut bench, owner) = stage.bench();
            let command = command(column, &mut bench, owner);
            let Ok(reply) = bench.send(command.clone()) else { continue };
            let lost = Refusal::OwnershipLost { actual: bench.lane.epoch };
            let expected = if reply == Reply::Released { Err(lost) } else { Ok(reply) };
            assert_eq!(bench.again(command.clone()), expected, "{stage:?}: {command:?}");
            repeated += 1;
        }
    }
    let accepted = TABLE.iter().flat_map(|(_, cells)| cells).filter(|cell| !matches!(cell, No(_)));
    assert_eq!(repeated, accepted.count());
}
