//! What a watched run tells while its context is made smaller.

use super::*;
use crate::agent::{Allowance, Gauge, Usage};
use crate::event::{CompactionKind, RunEvent};

/// A watched run, and what it has asked for and told since it was last looked at.
struct Watched {
    state: State,
    effects: Vec<Effect>,
}

impl Watched {
    fn after(policy: AgentPolicy, runs: &[(usize, usize)]) -> Self {
        let story = earlier(runs).tell([ONE.input()]);
        let state = Bench::resting_with(under(policy), &story, 1).state.watched(true);
        Self { state, effects: Vec::new() }.hears(RESUMED)
    }

    fn hears(self, input: Input) -> Self {
        let step = Run::step(self.state, input);
        Self { state: step.state, effects: step.effects }
    }

    fn answered(self, answer: Answer) -> Self {
        self.hears(Input::Answered(answer))
    }

    fn told(&self) -> Vec<RunEvent> {
        let events = self.effects.iter().filter_map(|effect| match effect {
            Effect::Tell(event) => Some(event.clone()),
            Effect::Commit(_)
            | Effect::External(_)
            | Effect::Schedule { .. }
            | Effect::Listen
            | Effect::Settle(_) => None,
        });
        events.collect()
    }
}

const BEGUN: RunEvent = RunEvent::TurnStarted { turn: Turn(0) };
const ASKED: RunEvent = RunEvent::ModelStarted { turn: Turn(0), retry: 0 };

#[test]
fn run_032_a_turn_that_is_asked_again_after_a_refusal_begins_once() {
    let wide = ContextPolicy { limit_tokens: 9_000, keep_tokens: 500 };
    let policy = AgentPolicy { context: Some(wide), ..policy() };
    let run = Watched::after(policy, &[(50, 2_000); 4]);
    assert_eq!(run.told(), [BEGUN, ASKED]);
    let run = run.answered(answered_with(0, Err(too_long())));
    let compacted = RunEvent::ContextCompacted { kind: CompactionKind::ResultsCleared };
    assert_eq!(run.told(), [compacted, ASKED]);
    assert!(matches!(run.effects[..2], [Effect::Commit(_), Effect::Tell(_)]), "ARC-10");
}

#[test]
fn run_022_a_summary_that_uses_up_four_fifths_of_a_budget_warns_once() {
    let allowance = Allowance { tokens: Some(500), ..policy().allowance };
    let policy = AgentPolicy { context: Some(LIMIT), allowance, ..policy() };
    let run = Watched::after(policy, &[(1_500, 0); 4]);
    assert_eq!(run.told(), [], "a summary is no turn");
    let usage = Some(Usage { input_tokens: 390, output_tokens: 10, ..Usage::default() });
    let answer = ModelResponse { usage, ..said("Four long questions.") };
    let answer = summary(&run.effects, Ok(answer));
    let run = run.answered(answer);
    let gauge = Gauge { dimension: Dimension::Tokens, used: 400, limit: 500 };
    let compacted = RunEvent::ContextCompacted { kind: CompactionKind::Summarized };
    assert_eq!(run.told(), [compacted, RunEvent::BudgetWarning { gauge }, BEGUN, ASKED]);
    let run = run.answered(model(0, ModelResponse { usage, ..response(&["look"]) }));
    let warns = |event: &RunEvent| matches!(event, RunEvent::BudgetWarning { .. });
    assert!(!run.told().iter().any(warns), "the budget has been warned of");
}
