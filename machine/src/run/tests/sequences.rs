//! Random worlds around one run: whatever they answer, in whatever order, and whoever takes over,
//! the run ends once, with a history that any provider accepts.

mod answers;

use proptest::prelude::*;

use super::*;
use crate::agent::{
    AgentPolicy, Allowance, ExecutionClass, Judgement, Message, Messages, ModelRetry, OnDenial,
    OnExhaustion, Schema, ToolDefinition,
};
use crate::identity::{DurationMs, PrincipalId, SubmissionId, ToolName};
use crate::projection::Projection;
use crate::record::FinishKind;
use crate::testkit::{bound, policy, text};
use answers::answer;

/// What the world does next. Numbers choose among what is there.
#[derive(Clone, Debug)]
enum Act {
    /// One question is answered, somehow.
    Answer { which: usize, how: u8 },
    /// A timer goes off.
    Due(usize),
    /// Somebody says something.
    Say(Wanted),
    /// The process dies, and another one takes over.
    Crash,
    /// The run rests, and goes on under the same epoch.
    Rest,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => (any::<usize>(), any::<u8>()).prop_map(|(which, how)| Act::Answer { which, how }),
        2 => any::<usize>().prop_map(Act::Due),
        1 => prop_oneof![Just(Act::Say(Wanted::Soon)), Just(Act::Say(Wanted::AtTheEnd))],
        1 => Just(Act::Crash),
        1 => Just(Act::Rest),
    ]
}

fn policies() -> impl Strategy<Value = AgentPolicy> {
    let mode = prop_oneof![Just(OnExhaustion::FinalAnswer), Just(OnExhaustion::Fail)];
    let denial = prop_oneof![Just(OnDenial::FailRun), Just(OnDenial::ReturnToModel)];
    let allowance = (1..6_u32, prop::option::of(1..6_u32), prop::option::of(1..80_u64));
    let hard = (prop::option::of(1..40_u64), prop::option::of(1..3_u64));
    (mode, denial, allowance, hard, 0..4_u32, 1..4_u32, 0..3_u32).prop_map(
        |(on_exhaustion, on_denial, soft, hard, repeated_failures, parallel_calls, retries)| {
            let usual = policy();
            AgentPolicy {
                allowance: Allowance {
                    turns: Some(soft.0),
                    tool_calls: soft.1,
                    tokens: soft.2,
                    cost_micros: hard.0,
                    duration: hard.1.map(|it| DurationMs(it * 1_000)),
                },
                on_exhaustion,
                on_denial,
                repeated_failures,
                parallel_calls,
                retry: ModelRetry { retries, ..usual.retry },
                ..usual
            }
        },
    )
}

pub(super) fn desk(policy: AgentPolicy) -> Arc<crate::agent::Binding> {
    let tool = |name, class| ToolDefinition::new(ToolName::new(name).unwrap(), class);
    let strict = Schema::parse(br#"{"type":"string"}"#).unwrap();
    let tools = alloc::vec![
        tool("look", ExecutionClass::Readonly),
        ToolDefinition { parameters: strict, ..tool("file", ExecutionClass::Idempotent) },
        ToolDefinition { approval: Judgement::Prompt, ..tool("pay", ExecutionClass::Ordinary) },
    ];
    bound(tools, policy)
}

/// A run, its log, and what is out.
struct World {
    binding: Arc<crate::agent::Binding>,
    state: State,
    log: Projection,
    out: Vec<External>,
    /// Calls that the host has given their permits: they have not begun.
    permitted: Vec<ToolCallId>,
    timers: Vec<Timer>,
    said: u8,
    epoch: u64,
    settled: Option<Settlement>,
    /// The content of every batch that was committed, in order.
    batches: Vec<crate::digest::Digest>,
}

impl World {
    fn new(policy: AgentPolicy) -> Self {
        let (binding, story) = (desk(policy), Story::new().tell([ONE.input()]));
        let state = Bench::resting_with(binding.clone(), &story, 1).state.sharing();
        let world = Self {
            binding,
            state,
            log: story.fold,
            out: Vec::new(),
            permitted: Vec::new(),
            timers: Vec::new(),
            said: 0,
            epoch: 1,
            settled: None,
            batches: Vec::new(),
        };
        world.told(RESUMED)
    }

    fn told(mut self, input: Input) -> Self {
        let step = Run::step(self.state, input);
        self.state = step.state;
        for effect in step.effects {
            assert!(self.settled.is_none(), "RUN-002: nothing follows the settlement");
            match effect {
                Effect::Commit(batch) => {
                    paired(&batch, &self.log);
                    self.log.apply(Epoch(self.epoch), &batch).unwrap();
                    self.batches.push(batch.content());
                }
                Effect::External(external) => self.ask(external),
                Effect::Schedule { timer, .. } => self.timers.push(timer),
                Effect::Tell(_) | Effect::Listen => {}
                Effect::Settle(settlement) => {
                    assert_eq!(settlement.check(), Ok(()));
                    self.ended(&settlement);
                    self.settled = Some(settlement);
                }
            }
        }
        self.check();
        self
    }

    fn ask(&mut self, external: External) {
        match &external {
            External::CallModel(request) => whole(&request.messages),
            External::InvokeTool(it) => {
                let view = self.log.submission(ONE.submission()).unwrap();
                let call = view.calls().find(|call| call.id == it.call).unwrap();
                assert!(call.outcome.is_none(), "ARC-03");
                let prepared = call.starts.last().is_some_and(|last| last.epoch == it.epoch);
                assert!(prepared || it.class == ExecutionClass::Readonly, "DUR-009");
                assert!(self.permitted.contains(&it.call), "RUN-009: it has no permit");
                self.permitted.retain(|call| *call != it.call);
            }
            External::Permits { calls, .. } => {
                // It names everybody who wants to start: what others have goes back.
                self.permitted.retain(|held| calls.iter().any(|it| it.call == *held));
                self.out.retain(|it| !matches!(it, External::Permits { .. }));
                if calls.is_empty() {
                    return;
                }
            }
            External::Check { .. }
            | External::Clear { .. }
            | External::Approve { .. }
            | External::Authorize { .. }
            | External::NextStep(_)
            | External::Reconcile(_) => {}
        }
        self.out.push(external);
    }

    /// The live fold is the fold of the log, and no more runs than there are places.
    fn check(&self) {
        assert_eq!(*self.state.projection(), self.log, "DUR-015");
        let places = self.binding.definition.policy().parallel_calls as usize;
        let flights = self.state.flights();
        assert!(flights.tools.len() + self.permitted.len() <= places, "RUN-009");
        assert!(
            self.permitted.iter().all(|it| flights.permitted.contains(it)),
            "RUN-009: nobody's"
        );
    }

    /// Every permit is back, nothing that was said is lost, and no budget is passed by more than
    /// the one response that may follow it.
    fn ended(&self, settlement: &Settlement) {
        let out = self.out.iter().any(|it| matches!(it, External::InvokeTool(_)));
        assert!(!out && self.state.flights().tools.is_empty(), "RUN-009: a permit is still out");
        let view = self.log.submission(ONE.submission()).unwrap();
        let run = view.run.as_ref().unwrap();
        if matches!(settlement, Settlement::Completed { finish: FinishKind::ModelStop, .. }) {
            assert!(self.state.steering.is_empty(), "RUN-013: the run would otherwise stop");
        }
        let policy = self.binding.definition.policy();
        let grace = usize::from(policy.on_exhaustion == OnExhaustion::FinalAnswer);
        let turns = policy.allowance.turns.unwrap() as usize;
        assert!(run.turns.len() <= turns + grace, "RUN-016: one grace turn at most");
        let calls = run.turns.iter().flat_map(|turn| &turn.calls);
        let ran = calls.filter(|call| {
            let outcome = call.outcome.as_deref();
            !matches!(outcome, None | Some(ToolOutcome::Rejected(_) | ToolOutcome::InvalidInput(_)))
        });
        let most = policy.allowance.tool_calls.map_or(usize::MAX, |most| most as usize);
        assert!(ran.count() <= most, "RUN-015: no call that the budget forbids runs");
    }

    fn act(mut self, act: &Act) -> Self {
        if self.settled.is_some() {
            return self;
        }
        match act {
            Act::Answer { which, how } => match which.checked_rem(self.out.len()) {
                Some(at) => {
                    let external = self.out.remove(at);
                    let external = self.permits_some(external, *how);
                    let world = self.told(Input::Answered(answer(&external, *how)));
                    // Whoever claims next finds out what became of a start without an answer.
                    match (&world.settled, world.state.liveness()) {
                        (None, Liveness::Resting) => world.taken_over(),
                        (Some(_), _) | (None, Liveness::Live) => world,
                    }
                }
                None => self,
            },
            Act::Due(which) => match which.checked_rem(self.timers.len()) {
                Some(at) => {
                    let timer = self.timers.remove(at);
                    self.told(Input::Due(timer))
                }
                None => self,
            },
            Act::Say(wanted) => {
                self.said += 1;
                let said = Steered {
                    submission: SubmissionId([self.said; 16]),
                    principal: PrincipalId::new("ada").unwrap(),
                    input: text("one more thing"),
                    wanted: *wanted,
                };
                self.told(Input::Steered(said))
            }
            Act::Rest => self.told(Input::Stopped).told(RESUMED),
            Act::Crash => self.taken_over(),
        }
    }

    /// A host that has room for some of the calls that want to start answers about those first.
    fn permits_some(&mut self, external: External, how: u8) -> External {
        let External::Permits { run, agent, mut calls } = external else { return external };
        let rest = calls.split_off(1 + how as usize % calls.len());
        self.permitted.extend(calls.iter().map(|it| it.call));
        if !rest.is_empty() {
            self.out.push(External::Permits { run, agent: agent.clone(), calls: rest });
        }
        External::Permits { run, agent, calls }
    }

    /// Another process goes on from the log. What was started and has no result is proven to have
    /// ended first, as the classifier would have it.
    fn taken_over(mut self) -> Self {
        self.epoch += 1;
        (self.out, self.timers, self.permitted) = (Vec::new(), Vec::new(), Vec::new());
        let view = self.log.submission(ONE.submission()).unwrap();
        let open: Vec<ToolCallId> = view.open_starts().map(|(start, _)| start.call).collect();
        let proven = |call| ONE.tool_settled(call, success("proven"));
        if !open.is_empty() {
            let lane = call("1", "").conversation;
            let records = open.into_iter().map(proven).collect();
            let batch = crate::record::Batch::new(&lane, records).unwrap();
            self.log.apply(Epoch(self.epoch), &batch).unwrap();
            self.batches.push(batch.content());
        }
        let (lane, submission) = (call("1", "").conversation, ONE.submission());
        let epoch = Epoch(self.epoch);
        let binding = self.binding.clone();
        self.state = State::new(binding, lane, submission, epoch, self.log.clone()).sharing();
        self.told(RESUMED)
    }

    /// People and tools answer, and every timer goes off: the run ends.
    fn drained(mut self) -> Self {
        for lap in 0..2_000_usize {
            if self.settled.is_some() {
                return self;
            }
            let act = if self.out.is_empty() {
                Act::Due(0)
            } else {
                Act::Answer { which: 0, how: (lap % 7) as u8 }
            };
            self = self.act(&act);
        }
        panic!("ARC-14: the run does not end: {:?}", self.state.flights())
    }
}

/// ARC-03: each result of a batch is that of a call that is declared and has none.
fn paired(batch: &crate::record::Batch, log: &Projection) {
    let view = log.submission(ONE.submission()).unwrap();
    let mut ended: Vec<ToolCallId> = Vec::new();
    for (at, record) in batch.records().iter().enumerate() {
        let Record::ToolSettled(it) = record else { continue };
        let is_new = batch.records()[..at].iter().any(|it| matches!(it, Record::ModelResponded(_)));
        let open = view.calls().any(|call| call.id == it.call && call.outcome.is_none());
        assert!((open || is_new) && !ended.contains(&it.call), "ARC-03: {it:?}");
        ended.push(it.call);
    }
}

/// RUN-005, RUN-006: each response is followed by the results of its calls, in their order.
fn whole(messages: &Messages) {
    let mut awaited: Vec<ToolCallId> = Vec::new();
    let mut turns = (0..).map(Turn);
    for message in messages.iter() {
        match message {
            Message::ToolResult { call, .. } => {
                assert!(!awaited.is_empty(), "a result without its call");
                assert_eq!(awaited.remove(0), *call, "RUN-006");
            }
            Message::Assistant(response) => {
                assert!(awaited.is_empty(), "a call without its result");
                let turn = turns.next().unwrap();
                let calls = 0..response.calls().count();
                awaited = calls.map(|at| ToolCallId::derive(ONE.run(), turn, at)).collect();
            }
            Message::User(_) | Message::Summary(_) => {
                assert!(awaited.is_empty(), "a call without its result");
            }
        }
    }
    assert!(awaited.is_empty(), "a call without its result");
}

fn lives(policy: AgentPolicy, acts: &[Act]) -> World {
    let world = acts.iter().fold(World::new(policy), World::act).drained();
    let view = world.log.submission(ONE.submission()).unwrap();
    for turn in &view.run.as_ref().unwrap().turns {
        let settled = turn.calls.iter().filter(|call| call.outcome.is_some()).count();
        let orphan = world
            .settled
            .as_ref()
            .is_some_and(|it| it.outcome() != crate::record::Outcome::Completed);
        assert!(
            settled == turn.calls.len() || orphan,
            "an answer leaves no call without its result"
        );
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn run_002_whatever_is_answered_and_whoever_takes_over_a_run_settles_once(
        policy in policies(),
        acts in prop::collection::vec(act(), 0..60),
    ) {
        lives(policy, &acts);
    }

    #[test]
    fn cap_005_the_same_answers_in_the_same_order_commit_the_same_batches(
        policy in policies(),
        acts in prop::collection::vec(act(), 0..40),
    ) {
        let batches = lives(policy.clone(), &acts).batches;
        prop_assert_eq!(lives(policy, &acts).batches, batches);
    }
}

#[test]
fn run_002_random_runs_end_in_every_way() {
    use alloc::collections::BTreeSet;
    use alloc::string::{String, ToString};
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let worlds = (policies(), prop::collection::vec(act(), 0..60));
    let mut ends: BTreeSet<String> = BTreeSet::new();
    for _ in 0..600 {
        let (policy, acts) = worlds.new_tree(&mut runner).unwrap().current();
        ends.insert(match lives(policy, &acts).settled {
            Some(Settlement::Completed { finish, .. }) => alloc::format!("{finish:?}"),
            Some(Settlement::Failed { limit: Some(limit), .. }) => alloc::format!("{limit:?}"),
            Some(Settlement::Failed { diagnostic, .. }) => diagnostic.tag().to_string(),
            Some(Settlement::Aborted | Settlement::Joined { .. }) | None => panic!("nobody aborts"),
        });
    }
    let expected = [
        "ApprovalDenied",
        "Budget(Cost)",
        "Budget(Duration)",
        "Budget(Tokens)",
        "Budget(ToolCalls)",
        "Budget(Turns)",
        "BudgetExhausted(Tokens)",
        "BudgetExhausted(ToolCalls)",
        "BudgetExhausted(Turns)",
        "ContextLength",
        "Model",
        "ModelStop",
        "PolicyDenied",
        "RepeatedFailures",
        "ToolsForbidden",
    ];
    assert_eq!(ends, expected.map(String::from).into_iter().collect());
}
