//! Submissions that wait for people: crashed at every effect, decided at every moment, and slept
//! through by zombies (CAP-006, AUTH-14).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::history;
use super::stage::{ACK_LOST, Fate, Stage};
use crate::agent::{
    AgentPolicy, ApprovalPolicy, ApprovalTerms, Binding, ExecutionClass, Judgement, Resolution,
    ToolDefinition, Verdict,
};
use crate::attempt::End;
use crate::effect::External;
use crate::identity::{DurationMs, PrincipalId, ToolName};
use crate::ledger::{ApprovalState, Command, DecisionIntent, Phase};
use crate::record::Outcome;
use crate::testkit::{Host, bound, call, policy, submission};

/// An agent that asks before it pays.
fn cautious(expiry: Option<DurationMs>) -> Arc<Binding> {
    let pay = ToolDefinition {
        approval: Judgement::Prompt,
        ..ToolDefinition::new(ToolName::new("pay").unwrap(), ExecutionClass::Ordinary)
    };
    let look = ToolDefinition::new(ToolName::new("look").unwrap(), ExecutionClass::Readonly);
    let terms = ApprovalTerms { expiry, ..ApprovalTerms::default() };
    let approval = ApprovalPolicy { terms, ..ApprovalPolicy::default() };
    bound(alloc::vec![pay, look], AgentPolicy { approval, ..policy() })
}

/// A submission whose model pays, looks and pays, and whose approver leaves it to people.
fn stage(expiry: Option<DurationMs>) -> Stage {
    let mut host = Host::new(&[&["pay", "look", "pay"]]);
    host.binding = cautious(expiry);
    host.outside.verdict = None;
    let mut stage = Stage::of(host);
    stage.admit(call("1", "hello"));
    stage
}

/// Somebody decides every open request; how many there were.
pub(super) fn decide(stage: &mut Stage, verdict: Verdict) -> usize {
    let row = stage.host.store.row(submission("1")).expect("it is admitted");
    let open = row.approvals.iter().filter(|mark| mark.state == ApprovalState::Open);
    let open: Vec<_> = open.map(|mark| mark.request).collect();
    for request in &open {
        let principal = PrincipalId::new("bob").unwrap();
        let intent = DecisionIntent { verdict, principal, reason: "looked".into() };
        let command = Command::Decide { submission: submission("1"), request: *request, intent };
        // A refusal says that its time is over.
        let _ = stage.host.store.ledger(command);
    }
    open.len()
}

/// Works the lane until there is nothing to do any more, with somebody who decides.
pub(super) fn settle(stage: &mut Stage, verdict: Verdict) -> Outcome {
    for _ in 0..16 {
        stage.host.wait_for_lease();
        let at = stage.enter();
        let end = stage.finish(at).expect("an attempt that nothing disturbs ends");
        let doubts = stage.resolve(&Resolution::NeverStarted);
        if let Phase::Settled(it) = &stage.host.store.row(submission("1")).unwrap().phase
            && end == End::Idle
        {
            return it.outcome;
        }
        let _ = (doubts, decide(stage, verdict));
    }
    panic!("ARC-14: it does not come to rest: {:?}", stage.host.store.rows)
}

pub(super) fn pays(stage: &Stage) -> usize {
    let is_pay =
        |it: &&External| matches!(it, External::InvokeTool(it) if it.tool.as_str() == "pay");
    stage.left.iter().filter(is_pay).count()
}

fn asked_models(stage: &Stage) -> usize {
    stage.left.iter().filter(|it| matches!(it, External::CallModel(_))).count()
}

#[test]
fn cap_006_a_submission_waits_for_people_and_holds_nothing() {
    let mut stage = stage(None);
    let at = stage.enter();
    assert_eq!(stage.finish(at), Some(End::Parked));
    assert_eq!(history(&stage.host), ["input", "responded", "asked", "asked"]);
    let row = stage.host.store.row(submission("1")).unwrap();
    assert_eq!((&row.phase, row.approvals.len()), (&Phase::Suspended, 2));
    assert!(stage.host.store.lane.owner.is_none(), "DUR-017: no lease while people think");
    let at = stage.enter();
    assert_eq!(stage.finish(at), Some(End::Idle), "nothing can be claimed");
    decide(&mut stage, Verdict::Approved);
    let before = asked_models(&stage);
    assert_eq!(settle(&mut stage, Verdict::Approved), Outcome::Completed);
    assert_eq!(
        (pays(&stage), asked_models(&stage)),
        (2, before + 1),
        "AP-01: asked for the answer"
    );
}

#[test]
fn cap_006_a_denial_starts_nothing_and_fails_the_run() {
    let mut stage = stage(None);
    assert_eq!(settle(&mut stage, Verdict::Denied), Outcome::Failed);
    assert_eq!((pays(&stage), stage.invoked()), (0, 0));
    assert!(history(&stage.host).ends_with(&[
        "decided",
        "decided",
        "tool-settled",
        "tool-settled",
        "tool-settled",
        "settled"
    ]));
}

#[test]
fn auth_14_an_expiry_is_a_denial_that_the_log_tells() {
    let mut stage = stage(Some(DurationMs(60_000)));
    let at = stage.enter();
    assert_eq!(stage.finish(at), Some(End::Parked));
    stage.host.store.now.0 += 60_000;
    assert_eq!(settle(&mut stage, Verdict::Approved), Outcome::Failed);
    assert_eq!(pays(&stage), 0);
}

#[test]
fn auth_14_requests_and_decisions_survive_a_crash_before_every_effect() {
    for verdict in [Verdict::Approved, Verdict::Denied] {
        for (crash_at, decide_at) in (0..26).flat_map(|it| [(it, 0), (it, it), (it, 40)]) {
            let mut stage = stage(None);
            for effects in 0..crash_at {
                if effects == decide_at {
                    decide(&mut stage, verdict);
                }
                if stage.actors.is_empty() || !stage.go_on(stage.actors.len() - 1) {
                    decide(&mut stage, verdict);
                    stage.host.wait_for_lease();
                    stage.enter();
                }
            }
            // The process dies here.
            let outcome = settle(&mut stage, verdict);
            let places = alloc::format!("crashed at {crash_at}, decided at {decide_at}");
            match verdict {
                Verdict::Denied => {
                    assert_eq!((outcome, pays(&stage)), (Outcome::Failed, 0), "{places}");
                }
                Verdict::Approved => assert_eq!(outcome, Outcome::Completed, "{places}"),
            }
            let history = history(&stage.host);
            for (kind, times) in [("asked", 2), ("decided", 2), ("settled", 1)] {
                let count = history.iter().filter(|it| **it == kind).count();
                assert_eq!(count, times, "{kind}, {places}: {history:?}");
            }
        }
    }
}

#[test]
fn dur_012_an_abort_at_every_moment_of_a_suspension_settles_aborted_or_as_it_had_ended() {
    for abort_at in 0..30 {
        let mut stage = stage(None);
        let mut at = stage.enter();
        for _ in 0..abort_at {
            if !stage.go_on(at) {
                decide(&mut stage, Verdict::Approved);
                at = stage.enter();
            }
        }
        stage.abort();
        let outcome = settle(&mut stage, Verdict::Approved);
        let paid = pays(&stage);
        assert!(outcome != Outcome::Failed, "{abort_at}: {:?}", history(&stage.host));
        assert!(outcome == Outcome::Aborted || paid == 2, "{abort_at}");
    }
}

#[test]
fn dur_006_a_zombie_that_wakes_behind_a_decision_runs_nothing() {
    for asleep_at in 0..16 {
        let mut stage = stage(None);
        let zombie = stage.enter();
        for _ in 0..asleep_at {
            stage.go_on(zombie);
        }
        let outcome = settle(&mut stage, Verdict::Denied);
        stage.finish(zombie);
        assert_eq!((outcome, pays(&stage)), (Outcome::Failed, 0), "asleep at {asleep_at}");
    }
}

#[test]
fn store_002_a_lost_answer_of_a_suspension_changes_nothing() {
    for lost in [0, 1, 2, 3, usize::MAX] {
        let mut stage = stage(None);
        let at = stage.enter();
        stage.until(at, "ledger.suspend");
        assert!(stage.perform(at, if lost == usize::MAX { ACK_LOST } else { Fate::Lost(lost) }));
        // Whoever has let go, and was not told so, finds that the lane is not his.
        let end = stage.finish(at).unwrap();
        assert!(matches!(end, End::Parked | End::Superseded), "{lost}: {end:?}");
        assert_eq!(settle(&mut stage, Verdict::Approved), Outcome::Completed);
        assert_eq!(pays(&stage), 2);
    }
}
