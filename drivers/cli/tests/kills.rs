//! Killed for real: the built binary is ended by SIGKILL at every computed failpoint, in both
//! commit modes, and run again (DUR-019).
//!
//! A stage prepares a folder, traces which failpoints one command line passes there, and then, for
//! each of them that no earlier stage has killed at, prepares a fresh folder, kills the line at
//! that point, and runs the lines that a person would run until the submission is settled.
//!
//! | what is asserted | where |
//! | --- | --- |
//! | the line was ended by signal 9 and by nothing else | `Folder::killed_at` |
//! | one conversation, one submission, one settlement | `history::check` |
//! | the records stand in their order, every digest is right | `history::check` |
//! | the effect outside happened as often as it should | `Stage::kill_at` |
//! | the points that were killed at are exactly the computed ones, row by row of the crash matrix | `complete` |
#![cfg(unix)]

mod kill;

use std::collections::BTreeSet;

use everstep_machine::effect::{EffectKind, Failpoint, LedgerKind};
use everstep_machine::record::BatchKind;
use everstep_sim::matrix::Row;
use everstep_sqlite::CommitMode;
use kill::{Act, Folder, Stage, stages};

/// Kills at everything that the stages pass, and returns where.
fn sweep(mode: CommitMode) -> BTreeSet<Failpoint> {
    let mut killed = BTreeSet::new();
    for stage in stages() {
        let visited = stage.trace(mode);
        let again =
            |point: &Failpoint| stage.repeats.iter().any(|it| point.to_string().contains(it));
        let points: Vec<_> = visited
            .into_iter()
            .filter(|point| !killed.contains(point) || again(point))
            .filter(|point| stage.is_slow() || !comes_with_time(point))
            .collect();
        stage.kill_everywhere(mode, &points);
        killed.extend(points);
    }
    killed
}

/// Whether a line comes here only if it takes long enough: a stage makes sure of that, and the others
/// come here when the machine is busy.
fn comes_with_time(point: &Failpoint) -> bool {
    point.effect == EffectKind::Ledger(LedgerKind::Renew)
}

/// Whether one line can come here. A line has a conversation of its own, so there are no earlier
/// runs in it whose context could be made smaller, and nothing that waits behind it. What was being
/// taken in is given back only after a crash of a store that commits command by command. Those
/// points are struck in simulation alone.
fn is_of_one_line(point: &Failpoint) -> bool {
    let simulated = [
        EffectKind::Append(BatchKind::CompactionCreated),
        EffectKind::Append(BatchKind::InputJoined),
        EffectKind::Ledger(LedgerKind::RevertJoin),
    ];
    !simulated.contains(&point.effect)
}

/// Every failpoint of every row of the crash matrix was killed at, which are all that one line can
/// come to.
#[track_caller]
fn complete(killed: &BTreeSet<Failpoint>) {
    for row in Row::ALL {
        let points = row.failpoints().filter(is_of_one_line);
        let spared: Vec<_> = points.filter(|point| !killed.contains(point)).collect();
        assert_eq!(spared, [], "{row}, {}: killed by no stage", row.title());
    }
    let computed = Failpoint::all().filter(is_of_one_line).collect();
    assert_eq!(*killed, computed, "killed, and computed");
}

#[test]
fn dur_019_killed_at_every_failpoint_with_whole_pipelines_as_transactions() {
    complete(&sweep(CommitMode::Fused));
}

#[test]
fn dur_019_killed_at_every_failpoint_with_commands_as_transactions() {
    complete(&sweep(CommitMode::PerCommand));
}

#[test]
fn dur_002_the_same_line_never_starts_a_second_submission() {
    let stage = Stage::of("ordinary");
    let folder = Folder::of(&stage, CommitMode::Fused);
    let first = folder.perform(&Act::Run, None);
    let again = folder.perform(&Act::Run, None);
    assert_eq!((first.code, &first.out), (Some(0), &again.out), "{}", first.err);
    assert_eq!(again.code, Some(0));
    folder.check_history(&stage);
    assert_eq!(folder.effects(), 1);
}

#[test]
fn dur_017_an_unknown_outcome_stays_is_shown_and_is_not_repeated() {
    let stage = Stage::of("ordinary");
    let folder = Folder::of(&stage, CommitMode::Fused);
    folder.killed_at("tool.invoke/after".parse().unwrap(), &Act::Run);
    for _ in 0..2 {
        let ran = folder.perform(&Act::Run, None);
        assert_eq!(ran.code, Some(4), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("charge") && ran.out.contains("resolve"), "{}", ran.out);
        assert_eq!(folder.effects(), 1);
    }
}
