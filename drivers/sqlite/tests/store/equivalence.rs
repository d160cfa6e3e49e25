//! Any commands of any actors, any crashes, any clock: the file is equal to the machines.
//!
//! The same script runs on both commit modes, each beside the machines on plain memory. Commands
//! are chosen from what the memory holds, mostly sensible and sometimes stale or absurd, so whole
//! histories happen and every refusal does too. A crash unwinds out of a failpoint, which leaves
//! the open transaction to be rolled back as a killed process would, and the file is opened anew.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everstep_machine::identity::{AdmissionSequence, ConversationId, Sequence};
use everstep_machine::ledger::{self, Footprint, Standing};
use everstep_machine::store::{Pipeline, Store};
use everstep_sqlite::{CommitMode, Scan, SqliteReader, SqliteStore};
use proptest::prelude::*;

use crate::support::{Folder, Reference, TestClock, log};

mod acts;
use acts::{Act, Seen, act, lane_of};

/// One line of a script.
#[derive(Clone, Debug)]
enum Line {
    /// Acts for one lane in one pipeline, and at which failpoint of it the process dies.
    Pipeline { lane: u8, acts: Vec<Act>, crash: Option<usize> },
    /// Acts for some lanes in pipelines that wait at the same time.
    Together(Vec<(u8, Vec<Act>)>),
    /// The clock moves by so many milliseconds, forwards or backwards.
    Clock(i64),
    /// The process ends and starts again.
    Reopen,
}

fn line() -> impl Strategy<Value = Line> {
    let acts = || prop::collection::vec(act(), 1..6);
    let crash = prop::option::weighted(0.25, 0..6_usize);
    let (minute, day) = (60_000_i64, 86_400_000_i64);
    let jump = prop_oneof![
        6 => 0..60_000_i64,
        1 => Just(-60 * minute),
        1 => Just(30 * day),
        2 => -10 * minute..10 * minute,
    ];
    prop_oneof![
        12 => (0..2_u8, acts(), crash)
            .prop_map(|(lane, acts, crash)| Line::Pipeline { lane, acts, crash }),
        4 => prop::collection::vec((0..2_u8, acts()), 2..6).prop_map(Line::Together),
        3 => jump.prop_map(Line::Clock),
        1 => Just(Line::Reopen),
    ]
}

/// A file beside the memory that it has to be equal to.
struct Trial {
    folder: Folder,
    mode: CommitMode,
    clock: TestClock,
    store: Option<SqliteStore>,
    reference: Reference,
    seen: [Seen; 2],
    /// How often a pipeline was refused, a process died, and a commit was saved.
    refusals: usize,
    crashes: usize,
    saved: usize,
}

impl Trial {
    fn new(mode: CommitMode) -> Self {
        let (folder, clock) = (Folder::new(), TestClock::at(1_000_000_000));
        let reference = Reference::at(clock.now());
        let seen = [Seen::new(0), Seen::new(1)];
        let (refusals, crashes, saved) = (0, 0, 0);
        let mut trial =
            Self { folder, mode, clock, store: None, reference, seen, refusals, crashes, saved };
        trial.reopen();
        trial
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(self.folder.open_as(self.mode, &self.clock));
    }

    fn play(&mut self, line: &Line) {
        match line {
            Line::Clock(by) => {
                self.clock.jump(*by);
                self.reference.now = self.clock.now();
            }
            Line::Reopen => self.reopen(),
            Line::Pipeline { lane, acts, crash } => {
                let pipeline = self.pipeline(*lane, acts);
                match crash.filter(|at| *at < self.passes(&pipeline)) {
                    Some(at) => self.die(&pipeline, at),
                    None => self.execute(&pipeline),
                }
            }
            Line::Together(pipelines) => self.together(pipelines),
        }
    }

    /// Chooses the commands one after the other, each in the state that those before it lead to.
    fn pipeline(&mut self, lane: u8, acts: &[Act]) -> Pipeline {
        let name = lane_of(lane);
        let mut memory = self.reference.clone();
        let seen = &mut self.seen[usize::from(lane)];
        let commands = acts.iter().filter_map(|act| {
            let command = seen.command(act, memory.shelf(&name))?;
            if let Ok(reply) = memory.one(&name, &command) {
                seen.learn(&command, &reply);
            }
            Some(command)
        });
        let commands = commands.collect();
        Pipeline { lane: name, commands }
    }

    /// How many of the commands are accepted before one is refused.
    fn accepted(&self, pipeline: &Pipeline) -> usize {
        let mut memory = self.reference.clone();
        let accepted = |it: &&_| memory.one(&pipeline.lane, it).is_ok();
        pipeline.commands.iter().take_while(accepted).count()
    }

    /// How many failpoints the pipeline passes: two a command, but no `after` of a refused one.
    fn passes(&self, pipeline: &Pipeline) -> usize {
        let accepted = self.accepted(pipeline);
        2 * accepted + usize::from(accepted < pipeline.commands.len())
    }

    fn execute(&mut self, pipeline: &Pipeline) {
        let store = self.store.as_mut().expect("the process lives");
        let answer = store.execute(pipeline);
        assert_eq!(answer, self.reference.execute(pipeline), "{pipeline:?}");
        self.refusals += usize::from(answer.is_err());
    }

    /// What each is answered does not depend on who else waits.
    fn together(&mut self, acts: &[(u8, Vec<Act>)]) {
        let (mut pipelines, mut expected) = (Vec::new(), Vec::new());
        for (lane, acts) in acts {
            let pipeline = self.pipeline(*lane, acts);
            expected.push(self.reference.execute(&pipeline));
            pipelines.push(pipeline);
        }
        let store = self.store.as_mut().expect("the process lives");
        let commits = Arc::new(AtomicUsize::new(0));
        let told = Arc::clone(&commits);
        store.on_commit(move |_| {
            told.fetch_add(1, Ordering::Relaxed);
        });
        let before = store.counters().commits;
        let mut answers = Vec::new();
        store.execute_all(&pipelines, &mut |answer| answers.push(answer));
        assert_eq!(answers, expected, "{pipelines:?}");
        let made = store.counters().commits - before;
        self.saved += commits.load(Ordering::Relaxed) - made as usize;
    }

    /// The process dies at the failpoint with this number.
    fn die(&mut self, pipeline: &Pipeline, at: usize) {
        let mut store = self.store.take().expect("the process lives");
        let countdown = AtomicUsize::new(at);
        store.on_failpoint(move |_| match countdown.load(Ordering::Relaxed) {
            0 => resume_unwind(Box::new("the process dies")),
            left => countdown.store(left - 1, Ordering::Relaxed),
        });
        let died = catch_unwind(AssertUnwindSafe(|| store.execute(pipeline)));
        assert!(died.is_err(), "{pipeline:?} passes failpoint {at}");
        drop(store);
        let last = 2 * pipeline.commands.len() - 1;
        // The `before` of a command has an even number, its `after` the next one.
        let done = match self.mode {
            CommitMode::Fused if at == last => pipeline.commands.len(),
            CommitMode::Fused => 0,
            CommitMode::PerCommand => at.div_ceil(2),
        };
        for command in &pipeline.commands[..done] {
            self.reference.one(&pipeline.lane, command).expect("it was accepted");
        }
        self.crashes += 1;
        self.reopen();
        self.compare();
    }

    fn compare(&mut self) {
        let reader = self.folder.reader();
        for lane in 0..2 {
            compare_lane(&reader, &mut self.reference, &lane_of(lane));
        }
        let found = reader.scan(self.clock.now(), None, 8).unwrap();
        assert_eq!(found, self.expected_scan());
    }

    fn expected_scan(&mut self) -> Scan {
        let mut scan = Scan::default();
        for lane in 0..2 {
            let name = lane_of(lane);
            let now = self.reference.now;
            let slice = self.reference.shelf(&name).slice(Footprint::Candidates(None));
            match ledger::candidate(&slice, now) {
                Some(row) => scan.claimable.push((name, row)),
                None => {
                    let wakes_at = ledger::wakes_at(&slice);
                    scan.wakes_at = scan.wakes_at.into_iter().chain(wakes_at).min();
                }
            }
        }
        scan
    }
}

fn compare_lane(reader: &SqliteReader, reference: &mut Reference, name: &ConversationId) {
    let shelf = reference.shelf(name);
    let lane = reader.lane(name).unwrap();
    assert_eq!(lane.unwrap_or_else(|| ledger::Lane::new(name.clone())), shelf.lane);
    assert_eq!(reader.rows(name, AdmissionSequence(0), 64).unwrap().entries, shelf.rows);
    assert_eq!(log(reader, name), shelf.log);
    assert_eq!(reader.log_page(name, Sequence(0)).unwrap().tail, shelf.tail);
    let waits = |row: &&Arc<ledger::Row>| row.standing() != Standing::Resting;
    let waiting = shelf.rows.iter().filter(waits).cloned();
    let listed = reader.waiting(None, 64).unwrap().entries;
    let listed = listed.into_iter().filter(|(at, _)| at == name).map(|(_, row)| row);
    assert_eq!(listed.collect::<Vec<_>>(), waiting.collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn store_010_whatever_is_sent_a_file_is_equal_to_the_machines(
        script in prop::collection::vec(line(), 1..40),
    ) {
        for mode in CommitMode::ALL {
            let mut trial = Trial::new(*mode);
            for line in &script {
                trial.play(line);
            }
            trial.compare();
            trial.reopen();
            trial.compare();
        }
    }
}

#[test]
fn store_010_the_scripts_reach_settlements_refusals_and_crashes() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut refusals, mut crashes, mut settled, mut batches, mut saved) = (0, 0, 0, 0, 0);
    for _ in 0..40 {
        let script = prop::collection::vec(line(), 40).new_tree(&mut runner).unwrap().current();
        let mut trial = Trial::new(CommitMode::Fused);
        script.iter().for_each(|line| trial.play(line));
        trial.compare();
        saved += trial.saved;
        refusals += trial.refusals;
        crashes += trial.crashes;
        for lane in 0..2 {
            let shelf = trial.reference.shelf(&lane_of(lane));
            batches += shelf.log.len();
            let rows = shelf.rows.iter();
            settled += rows.filter(|row| matches!(row.phase, ledger::Phase::Settled(_))).count();
        }
    }
    assert!(refusals > 100, "{refusals} refusals");
    assert!(crashes > 30, "{crashes} crashes");
    assert!(settled > 10, "{settled} settled");
    assert!(batches > 60, "{batches} batches");
    assert!(saved > 40, "{saved} commits saved");
}
