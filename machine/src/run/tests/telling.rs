//! What a watched run tells: a whole trace, and nothing that changes what it does.

use super::*;
use crate::agent::{AgentPolicy, Allowance, OnExhaustion};
use crate::event::{EventLog, FailureKind, RunEvent, Source, check_trace};
use crate::identity::AgentId;
use crate::testkit::{Host, policy, under};

/// A run of this agent that is watched, and everything that it has told.
struct Watched {
    state: State,
    told: Vec<RunEvent>,
    settled: Option<Settlement>,
}

impl Watched {
    fn on(story: &Story, binding: Arc<crate::agent::Binding>, epoch: u64) -> Self {
        let state = Bench::resting_with(binding, story, epoch).state.watched(true);
        let told = alloc::vec![];
        Self { state, told, settled: None }.hears(RESUMED)
    }

    fn hears(mut self, input: Input) -> Self {
        let step = Run::step(self.state, input);
        self.state = step.state;
        for effect in step.effects {
            match effect {
                Effect::External(question @ External::Clear { .. }) => {
                    let answer = question.cleared().expect("a question about calls");
                    self = self.hears(Input::Answered(answer));
                }
                Effect::Tell(event) => self.told.push(event),
                Effect::Settle(settlement) => self.settled = Some(settlement),
                Effect::Commit(_)
                | Effect::Listen
                | Effect::External(_)
                | Effect::Schedule { .. } => {}
            }
        }
        self
    }

    fn answered(self, answer: Answer) -> Self {
        self.hears(Input::Answered(answer))
    }

    fn warnings(&self) -> Vec<(Dimension, u64)> {
        let warning = |event: &RunEvent| match event {
            RunEvent::BudgetWarning { gauge } => Some((gauge.dimension, gauge.used)),
            _ => None,
        };
        self.told.iter().filter_map(warning).collect()
    }
}

fn input() -> Story {
    Story::new().tell([ONE.input()])
}

#[test]
fn run_032_a_turn_is_told_from_its_question_to_its_last_result() {
    let mut run = Watched::on(&input(), under(policy()), 1);
    run = run.answered(model(0, response(&["pay", "look"])));
    run = run.answered(authorizer(0, Authorization::Allowed));
    run = run.answered(tool(ONE.start(0, 1, 1)));
    let failed = Arc::new(ToolOutcome::Failure(Diagnostic::cut("No", "no")));
    run = run.answered(Answer::Tool { start: ONE.start(0, 0, 1), outcome: failed });
    let [pay, look] = [0, 1].map(|index| ONE.call(0, index));
    let declared = |call, tool| RunEvent::ToolCallDeclared {
        call,
        tool: crate::identity::ToolName::new(tool).unwrap(),
    };
    let expected = [
        RunEvent::TurnStarted { turn: Turn(0) },
        RunEvent::ModelStarted { turn: Turn(0), retry: 0 },
        declared(pay, "pay"),
        declared(look, "look"),
        RunEvent::ToolCallStarted { call: pay },
        RunEvent::ToolCallStarted { call: look },
        RunEvent::ToolCallSucceeded { call: look },
        RunEvent::ToolCallFailed { call: pay, kind: FailureKind::Failure },
        RunEvent::TurnCompleted { turn: Turn(0), usage: response(&[]).usage },
        RunEvent::TurnStarted { turn: Turn(1) },
        RunEvent::ModelStarted { turn: Turn(1), retry: 0 },
    ];
    assert_eq!(run.told, expected);
}

#[test]
fn run_022_a_budget_warns_once_when_four_fifths_of_it_are_used() {
    let used = |turn: u32, tokens| {
        let usage = crate::agent::Usage { output_tokens: tokens, ..Default::default() };
        model(turn, ModelResponse { usage: Some(usage), ..response(&["nothing"]) })
    };
    let allowance = Allowance { turns: Some(20), tokens: Some(100), ..Allowance::default() };
    let on_exhaustion = OnExhaustion::FinalAnswer;
    let binding = under(AgentPolicy { allowance, on_exhaustion, ..policy() });
    let mut run = Watched::on(&input(), binding, 1).answered(used(0, 79));
    assert_eq!(run.warnings(), []);
    run = run.answered(used(1, 1));
    assert_eq!(run.warnings(), [(Dimension::Tokens, 80)]);
    run = run.answered(used(2, 5)).answered(used(3, 1));
    assert_eq!(run.warnings().len(), 1);
}

#[test]
fn run_022_the_time_of_a_run_warns_once_when_four_fifths_of_it_are_over() {
    let duration = Some(crate::identity::DurationMs(1_000));
    let allowance = Allowance { duration, ..Allowance::default() };
    let binding = under(AgentPolicy { allowance, ..policy() });
    let run = Watched::on(&input(), binding, 1);
    assert_eq!(run.warnings(), []);
    let run = run.hears(Input::Due(Timer::Warning));
    assert_eq!(run.warnings(), [(Dimension::Duration, 800)]);
    let run = run.hears(Input::Due(Timer::Warning));
    assert_eq!(run.warnings().len(), 1, "a timer may be doubled");
}

#[test]
fn run_010_whether_somebody_watches_changes_nothing_that_a_run_does() {
    let watched = Bench::fresh();
    let quiet = |bench: Bench| Bench { state: bench.state.watched(false), ..bench };
    let loud = |bench: Bench| Bench { state: bench.state.watched(true), ..bench };
    let story = |bench: Bench| {
        let bench = bench.responds(0, &["pay", "look"]).authorized(0);
        bench.returns(ONE.start(0, 1, 1)).returns(ONE.start(0, 0, 1)).responds(1, &[])
    };
    let [one, other] = [story(quiet(watched.clone())), story(loud(watched))];
    assert_eq!(one.effects, other.effects);
    assert_eq!(one.fold(), other.fold());
}

/// The traces of an attempt of a host, as a store and a watcher would have them.
fn trace(host: &Host) -> EventLog {
    let call = call("1", "hello");
    let source = Source {
        run: ONE.run(),
        conversation: call.conversation,
        agent: AgentId::new("desk").unwrap(),
    };
    let mut log = EventLog::new(source);
    for event in &host.told {
        log.push(Timestamp(1_000), event.clone()).unwrap();
    }
    log
}

#[test]
fn run_002_a_whole_trace_has_one_terminal_event_and_it_is_the_last() {
    for turns in [&[][..], &[&["look", "pay"][..], &["file"]], &[&["nothing"]], &[&["pay"; 5]]] {
        let mut host = Host::new(turns);
        host.admit(call("1", "hello"));
        let (state, effects) = host.attempt();
        host.perform(state, effects, |_| true).unwrap_err();
        let log = trace(&host);
        let page = log.read(crate::event::EventSequence(0), 1_000);
        assert_eq!(check_trace(&page.events), Ok(()), "{turns:?}: {:?}", host.told);
    }
}

#[test]
fn run_002_whoever_takes_over_tells_a_whole_trace_of_its_own() {
    let mut host = Host::new(&[&["pay", "look"]]);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let invokes = |effect: &crate::attempt::Effect| {
        matches!(effect, crate::attempt::Effect::External(External::InvokeTool(_)))
    };
    drop(host.perform(state, effects, |effect| !invokes(effect)).unwrap());
    host.wait_for_lease();
    host.told.clear();
    host.outside.reconciliation = crate::effect::Reconciliation::Unprovable;
    let (state, effects) = host.attempt();
    host.perform(state, effects, |_| true).unwrap_err();
    // It parks: the call is in doubt. Somebody says that it never started, and a third goes on.
    let doubt = ONE.start(0, 0, 1);
    let intent = crate::testkit::story::intent(crate::agent::Resolution::NeverStarted);
    let command = crate::ledger::Command::Resolve { submission: ONE.submission(), doubt, intent };
    host.store.ledger(command).unwrap();
    host.told.clear();
    let (state, effects) = host.attempt();
    host.perform(state, effects, |_| true).unwrap_err();
    let log = trace(&host);
    let page = log.read(crate::event::EventSequence(0), 1_000);
    assert_eq!(check_trace(&page.events), Ok(()), "{:?}", host.told);
}
