//! Anything at any time: effects in any order, any fate of any pipeline, crashes, sleep, aborts,
//! hints, clocks. Once it stops, everything settles.

use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::history;
use super::stage::{Fate, Stage};
use crate::admission::Call;
use crate::agent::{Joins, Resolution};
use crate::attempt::{End, Input};
use crate::effect::{External, Reconciliation};
use crate::identity::{DurationMs, Epoch, ToolCallId};
use crate::ledger::{self, Phase, Row};
use crate::store::{Refusal, StoreCommand};
use crate::testkit::{call, text};

/// One thing that happens. Which attempt it happens to is chosen among those that there are.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// The next effect of an attempt is performed.
    Perform(usize),
    /// The same, but the store answers nothing and commits a part.
    Lose(usize, usize),
    /// The same, but the store refuses after a part.
    Refuse(usize, usize),
    /// The same, but another attempt does something between two of its commands.
    Tear(usize, usize),
    /// The outside answers any question that is out.
    Answer(usize, usize),
    /// An answer that was given once comes again.
    Repeat(usize),
    /// A process dies.
    Crash(usize),
    /// Another process looks at the lane. It remembers nothing, or what an attempt has folded
    /// that ended some time ago.
    Enter(usize),
    /// Milliseconds pass.
    Clock(u64),
    Renewal(usize),
    Wake(usize),
    Abort,
    Resolve,
    /// The next submission waits behind the others.
    Admit,
    /// Somebody says something to the run, if it takes it.
    Say,
}

fn act() -> impl Strategy<Value = Act> {
    let who = || 0..2_usize;
    prop_oneof![
        24 => who().prop_map(Act::Perform),
        2 => (who(), 0..5_usize).prop_map(|(who, part)| Act::Lose(who, part)),
        1 => (who(), 0..5_usize).prop_map(|(who, part)| Act::Refuse(who, part)),
        4 => (who(), 0..5_usize).prop_map(|(who, part)| Act::Tear(who, part)),
        10 => (who(), 0..4_usize).prop_map(|(who, which)| Act::Answer(who, which)),
        4 => prop_oneof![
            who().prop_map(Act::Repeat),
            who().prop_map(Act::Renewal),
            who().prop_map(Act::Wake),
        ],
        2 => (0..4_usize).prop_map(Act::Enter),
        1 => who().prop_map(Act::Crash),
        4 => prop_oneof![Just(Act::Clock(5_000)), Just(Act::Clock(60_000))],
        3 => prop_oneof![
            1 => Just(Act::Abort),
            3 => Just(Act::Resolve),
            2 => Just(Act::Admit),
            4 => Just(Act::Say),
        ],
    ]
}

const SCRIPTS: [&[&[&str]]; 7] = [
    &[],
    &[&["pay"]],
    &[&["look", "file", "pay"]],
    &[&["wire", "pay"], &["pay"]],
    &[&["nothing"]],
    &[&["book"]],
    &[&["book", "pay"]],
];

fn resolutions() -> [Resolution; 3] {
    [Resolution::Completed(text("by hand")), Resolution::NeverStarted, Resolution::SafeToRepeat]
}

/// What a random world is made of.
#[derive(Clone, Debug)]
struct World {
    script: usize,
    resolution: usize,
    reconciliation: usize,
    joins: Joins,
    acts: Vec<Act>,
}

fn world() -> impl Strategy<Value = World> {
    let acts = prop::collection::vec(act(), 0..120);
    let joins = prop_oneof![Just(Joins::None), Just(Joins::One), Just(Joins::All)];
    (0..SCRIPTS.len(), 0..3_usize, 0..4_usize, joins, acts).prop_map(
        |(script, resolution, reconciliation, joins, acts)| World {
            script,
            resolution,
            reconciliation,
            joins,
            acts,
        },
    )
}

struct Run {
    stage: Stage,
    resolution: Resolution,
    resolved: usize,
    /// How many submissions there are beside the first.
    admitted: usize,
    answered: Vec<External>,
    /// How many processes remembered a fold that was not of the whole log, and one that was.
    remembered: [usize; 2],
}

impl Run {
    fn new(world: &World) -> Self {
        let mut stage = Stage::joining(SCRIPTS[world.script], world.joins);
        stage.host.outside.reconciliation = match resolutions().get(world.reconciliation) {
            Some(resolution) => Reconciliation::Proven(resolution.clone()),
            None => Reconciliation::Unprovable,
        };
        let resolution = resolutions()[world.resolution].clone();
        let (answered, remembered) = (Vec::new(), [0; 2]);
        Self { stage, resolution, resolved: 0, admitted: 0, answered, remembered }
    }

    /// The attempt that is meant, if it is still there.
    fn who(&self, who: usize) -> Option<usize> {
        let alive = |at: &usize| self.stage.actors[*at].end.is_none();
        let alive: Vec<usize> = (0..self.stage.actors.len()).filter(alive).collect();
        who.checked_rem(alive.len()).map(|which| alive[which])
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Perform(who) => self.perform(who, Fate::Done),
            Act::Lose(who, part) => self.perform(who, Fate::Lost(part)),
            Act::Refuse(who, part) => {
                let why = Refusal::Ledger(ledger::Refusal::NotRunning);
                self.perform(who, Fate::Refused(part, why));
            }
            Act::Tear(who, part) => {
                if let Some((at, other)) = self.who(who).zip(self.who(who + 1)) {
                    self.stage.perform_torn(at, part, other);
                }
            }
            Act::Answer(who, which) => self.answer(who, which),
            Act::Repeat(who) => {
                let Some((at, external)) = self.who(who).zip(self.answered.last().cloned()) else {
                    return;
                };
                // The same answer to the same question: the tool does not run for it.
                let outside = &mut self.stage.host.outside;
                let (asked, bodies) = (outside.asked.len(), outside.bodies.len());
                let answer = outside.answer(external);
                outside.asked.truncate(asked);
                outside.bodies.truncate(bodies);
                self.stage.actors[at].told(Input::Answered(answer));
            }
            Act::Crash(who) => {
                if let Some(at) = self.who(who) {
                    self.stage.actors.remove(at);
                }
            }
            Act::Enter(back) => {
                if self.stage.actors.iter().filter(|it| it.end.is_none()).count() < 2 {
                    let folds = &self.stage.folds;
                    let fold = back.checked_sub(1).and_then(|back| folds.iter().nth_back(back));
                    let fold = fold.cloned();
                    let end = self.stage.host.store.tail.map(|tail| tail.next_sequence);
                    if let Some(fold) = &fold {
                        self.remembered[usize::from(Some(fold.next_sequence()) == end)] += 1;
                    }
                    self.stage.enter_with(fold);
                }
            }
            Act::Clock(ms) => {
                self.stage.host.store.now = self.stage.host.store.now.after(DurationMs(ms))
            }
            Act::Renewal(who) => self.tell(who, Input::RenewalDue),
            Act::Wake(who) => self.tell(who, Input::Woken),
            Act::Abort => self.stage.abort(),
            Act::Resolve => self.resolved += self.stage.resolve(&self.resolution),
            Act::Admit => {
                let key = self.next_key();
                self.stage.admit(call(&key, "again"));
            }
            Act::Say => self.say(),
        }
    }

    fn next_key(&mut self) -> String {
        self.admitted += 1;
        alloc::format!("more {}", self.admitted)
    }

    /// Says something to the run that goes on. What is refused was never accepted.
    fn say(&mut self) {
        let runs = |row: &&alloc::sync::Arc<Row>| {
            let is_open =
                matches!(row.phase, Phase::Running(_) | Phase::Unknown | Phase::Suspended);
            is_open && row.abort.is_none()
        };
        let host = self.stage.host.store.rows.iter().find(runs);
        let Some(host) = host.map(|row| row.admission.submission) else { return };
        let key = self.next_key();
        self.stage.admit(Call { steers: Some(host), ..call(&key, "make it two") });
    }

    fn tell(&mut self, who: usize, input: Input) {
        if let Some(at) = self.who(who) {
            self.stage.actors[at].told(input);
        }
    }

    fn perform(&mut self, who: usize, fate: Fate) {
        let Some(at) = self.who(who) else { return };
        let actor = &self.stage.actors[at];
        let commands = actor.pipeline().map_or(&[][..], |pipeline| &pipeline.commands);
        let reads = |it: &StoreCommand| {
            matches!(it, StoreCommand::ReadLane(_) | StoreCommand::ReadLog { .. })
        };
        let fate = match fate {
            // A reading is never refused, and a refusal is of one of the commands.
            Fate::Refused(..) if commands.iter().all(reads) => Fate::Done,
            Fate::Refused(part, why) => Fate::Refused(part % commands.len(), why),
            fate @ (Fate::Done | Fate::Lost(_)) => fate,
        };
        self.stage.perform(at, fate);
    }

    fn answer(&mut self, who: usize, which: usize) {
        let Some(at) = self.who(who) else { return };
        if let Some(which) = which.checked_rem(self.stage.actors[at].out.len()) {
            self.answered.push(self.stage.actors[at].out[which].clone());
            self.stage.answer(at, which);
        }
    }

    /// Every start of an ordinary call that left a process.
    fn ordinary_starts(&self) -> Vec<(ToolCallId, Epoch)> {
        let left = self.stage.left.iter().filter_map(|external| match external {
            External::InvokeTool(it) if ["pay", "wire"].contains(&it.tool.as_str()) => {
                Some((it.call, it.epoch))
            }
            External::InvokeTool(_)
            | External::NextStep(_)
            | External::CallModel(_)
            | External::Check { .. }
            | External::Clear { .. }
            | External::Approve { .. }
            | External::Authorize { .. }
            | External::Permits { .. }
            | External::Reconcile(_) => None,
        });
        left.collect()
    }
}

fn check(world: &World) -> Run {
    let mut run = Run::new(world);
    for act in &world.acts {
        run.act(*act);
    }
    let resolution = run.resolution.clone();
    run.resolved += run.stage.settle(&resolution);
    let mut starts = run.ordinary_starts();
    let count = starts.len();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), count, "DUR-009: a call starts at most once in an epoch");
    let mut calls: Vec<ToolCallId> = starts.iter().map(|(call, _)| *call).collect();
    calls.dedup();
    let said = |it: &Resolution| matches!(it, Resolution::NeverStarted | Resolution::SafeToRepeat);
    let by_reconciler = match &run.stage.host.outside.reconciliation {
        Reconciliation::Proven(resolution) if said(resolution) => {
            let left = &run.stage.left;
            left.iter().filter(|it| matches!(it, External::Reconcile(_))).count()
        }
        Reconciliation::Proven(_) | Reconciliation::Unprovable => 0,
    };
    let by_operator = if said(&run.resolution) { run.resolved } else { 0 };
    let allowed = calls.len() + by_reconciler + by_operator;
    assert!(starts.len() <= allowed, "DUR-009: {:?}", history(&run.stage.host));
    let mut bodies = run.stage.host.outside.bodies.clone();
    let count = bodies.len();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), count, "DUR-010: a start runs each step at most once");
    run
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn arc_14_whatever_happens_to_two_attempts_everything_settles_once(world in world()) {
        check(&world);
    }
}

#[test]
fn arc_14_random_worlds_meet_what_they_are_meant_to_meet() {
    use alloc::collections::BTreeSet;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut kinds, mut ends, mut epochs) = (BTreeSet::new(), BTreeSet::new(), 0);
    let (mut remembered, mut joined) = ([0; 2], 0);
    for _ in 0..400 {
        let run = check(&world().new_tree(&mut runner).unwrap().current());
        kinds.extend(history(&run.stage.host));
        ends.extend(run.stage.actors.iter().filter_map(|it| it.end.map(name_of)));
        epochs = epochs.max(run.stage.host.store.lane.epoch.0);
        joined += run.stage.joined();
        remembered = [0, 1].map(|at: usize| remembered[at] + run.remembered[at]);
    }
    let expected = [
        "abort",
        "input",
        "interrupted",
        "prepared",
        "recovery",
        "resolved",
        "responded",
        "settled",
        "step",
        "tool-settled",
        "unknown",
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
    assert_eq!(ends, BTreeSet::from(["idle", "parked", "settled", "superseded"]));
    assert!(joined > 20, "RUN-012: {joined} came into a run");
    assert!(epochs > 4, "{epochs}");
    assert!(remembered.iter().all(|count| *count > 20), "stale and fresh folds: {remembered:?}");
}

fn name_of(end: End) -> &'static str {
    match end {
        End::Idle => "idle",
        End::Settled => "settled",
        End::Parked => "parked",
        End::Incompatible => "incompatible",
        End::Unanswered => "unanswered",
        End::Superseded => "superseded",
        End::Corrupt(_) => "corrupt",
        End::Defect => "defect",
    }
}
