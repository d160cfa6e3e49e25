//! Everything that a run asks for bears its name, and it takes no other's answers for its own.

use super::*;
use crate::effect::{ApprovalQuestion, CheckSubject};

/// Whose effect it is.
fn owner(external: &External) -> RunId {
    match external {
        External::CallModel(request) => request.run,
        External::Check { run, .. }
        | External::Clear { run, .. }
        | External::Approve { run, .. }
        | External::Authorize { run, .. }
        | External::Permits { run, .. } => *run,
        External::NextStep(it) => it.run,
        External::InvokeTool(it) => {
            let place = (0..8).find(|index| it.call == ToolCallId::derive(it.run, Turn(0), *index));
            assert!(place.is_some(), "RUN-007: the id of a call names its run");
            it.run
        }
        External::Reconcile(it) => panic!("{it:?}: the run reconciles nothing"),
    }
}

/// The same answer, to the same question of another run.
fn of_another(answer: &Answer) -> Answer {
    let other = Tale("2");
    let mut answer = answer.clone();
    match &mut answer {
        Answer::Model { run, .. }
        | Answer::Checked { run, .. }
        | Answer::Cleared { run, .. }
        | Answer::Approver { run, .. }
        | Answer::Authorizer { run, .. }
        | Answer::Permitted { run, .. } => *run = other.run(),
        Answer::Tool { start, .. } | Answer::Step { start, .. } | Answer::Unsure { start } => {
            *start = other.start(0, 0, 1);
        }
        Answer::Reconciler { doubt, .. } => *doubt = other.start(0, 0, 1),
    }
    answer
}

#[test]
fn run_007_every_effect_of_a_run_is_its_own_and_so_is_every_answer() {
    let mut bench = Bench::of(sequences::desk(crate::testkit::policy()));
    let run = ONE.run();
    let (turn, verdicts) = (Turn(0), alloc::vec![None; 2]);
    let approves = |external: &External| {
        let External::Approve { questions, .. } = external else { panic!("{external:?}") };
        let yes = |it: &ApprovalQuestion| it.at_once(crate::agent::Verdict::Approved);
        let (questions, answers) = (questions.clone(), questions.iter().map(yes).collect());
        Answer::Approver { run, turn, questions, answers }
    };
    let subject = CheckSubject::Parameters;
    let mut answer = model(0, response(&["file", "pay"]));
    for step in 0.. {
        let before = bench.state.clone();
        bench = bench.answered(of_another(&answer));
        assert_eq!(bench.state, before, "RUN-007, step {step}");
        assert_eq!(bench.look(), [], "RUN-007, step {step}");
        bench = bench.answered(answer);
        let asked = asked(&bench.look());
        assert!(asked.iter().all(|external| owner(external) == run), "{asked:?}");
        answer = match &asked[..] {
            [External::Check { .. }] => {
                Answer::Checked { run, turn, subject, verdicts: verdicts.clone() }
            }
            [approve @ External::Approve { .. }] => approves(approve),
            [External::Authorize { .. }] => authorizer(0, Authorization::Allowed),
            [External::InvokeTool(_), External::InvokeTool(_)] => tool(ONE.start(0, 1, 1)),
            [] => tool(ONE.start(0, 0, 1)),
            [External::CallModel(request)] if request.turn == Turn(1) => {
                assert_eq!(step, 5, "each kind of question was answered");
                return;
            }
            other => panic!("{other:?}"),
        };
    }
}
