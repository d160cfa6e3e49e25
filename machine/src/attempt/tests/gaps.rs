//! What a model is shown where something did not come to its end (OH-05), and what is left of a run
//! that is called off anywhere between the declaration of calls and their last result (OH-07). Both
//! are read off what the machines ask for, and not off lists that somebody made.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::crashes::{abort, check, recover};
use crate::agent::{
    AgentPolicy, ContextPolicy, Message, ModelRequest, Purpose, Resolution, ToolOutcome,
};
use crate::attempt::{Attempt, Effect, End, Input};
use crate::contract::Machine;
use crate::effect::External;
use crate::ledger::{Command, Phase, ResolutionIntent};
use crate::record::Outcome;
use crate::testkit::{Host, call, policy, submission, text, under};

/// Everything that a model was asked for a response.
fn requests(host: &Host) -> Vec<Arc<ModelRequest>> {
    let asked = host.outside.asked.iter().filter_map(|external| match external {
        External::CallModel(request) if request.purpose == Purpose::Respond => {
            Some(request.clone())
        }
        _ => None,
    });
    asked.collect()
}

/// What the messages of a request are, in order, and how each result ended.
fn shown(request: &ModelRequest) -> Vec<String> {
    let words = request.messages.iter().map(|message| match message {
        Message::User(input) => alloc::format!("user {}", input.as_str()),
        Message::Summary(text) => alloc::format!("summary {text}"),
        Message::Assistant(response) => alloc::format!("assistant {}", response.calls().count()),
        Message::ToolResult { outcome, .. } => alloc::format!("result {outcome:?}"),
    });
    words.collect()
}

/// Whether every call of a request has its result, and every result its call, in order.
fn is_whole(request: &ModelRequest) -> bool {
    let mut waiting = 0;
    for message in request.messages.iter() {
        match message {
            Message::ToolResult { .. } if waiting > 0 => waiting -= 1,
            Message::ToolResult { .. } => return false,
            _ if waiting > 0 => return false,
            Message::Assistant(response) => waiting = response.calls().count(),
            Message::User(_) | Message::Summary(_) => {}
        }
    }
    waiting == 0
}

/// Stops an attempt before it starts a tool, or before it asks its model.
fn stopped_before(host: &mut Host, question: &str) {
    let (state, effects) = host.attempt();
    let is_it = |effect: &Effect| match effect {
        Effect::External(external) => external.kind().name() == question,
        _ => false,
    };
    assert!(host.perform(state, effects, |effect| !is_it(effect)).is_ok());
    host.wait_for_lease();
}

#[test]
fn case_oh_05_a_question_that_was_lost_leaves_no_words_behind() {
    let mut host = Host::new(&[&["look"]]);
    host.admit(call("1", "hello"));
    stopped_before(&mut host, "model.call");
    assert_eq!(host.work(), End::Settled);
    let [first, second] = &requests(&host)[..] else { panic!("two turns") };
    assert_eq!(shown(first), ["user \"hello\""], "nobody speaks of the question before");
    assert_eq!(shown(second)[..2], ["user \"hello\"", "assistant 1"]);
}

#[test]
fn case_oh_05_a_summary_is_shown_as_a_summary_and_a_cleared_result_as_cleared() {
    let context = ContextPolicy { limit_tokens: 300, keep_tokens: 10 };
    let mut host = Host::new(&[&["look"]]);
    host.binding = under(AgentPolicy { context: Some(context), ..policy() });
    for number in 1..=6 {
        let mut call = call(&alloc::format!("{number}"), &"w".repeat(400));
        call.binding = host.binding.clone();
        host.admit(call);
        assert_eq!(host.work(), End::Settled);
    }
    let all: Vec<Vec<String>> = requests(&host).iter().map(|it| shown(it)).collect();
    assert!(requests(&host).iter().all(|it| is_whole(it)));
    let summaries = all.iter().flatten().filter(|it| it.starts_with("summary"));
    let summaries: Vec<_> = summaries.collect();
    assert!(!summaries.is_empty(), "{all:?}");
    // It says what the summarizer said, in nobody's name.
    assert!(summaries.iter().all(|it| *it == "summary done"), "{summaries:?}");
}

#[test]
fn case_oh_05_an_outcome_that_nobody_knows_is_shown_as_none_until_somebody_says_it() {
    let mut host = Host::new(&[&["look", "pay"]]);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let is_pay = |effect: &Effect| matches!(effect, Effect::External(External::InvokeTool(it)) if it.tool.as_str() == "pay");
    assert!(host.perform(state, effects, |effect| !is_pay(effect)).is_ok());
    host.wait_for_lease();
    assert_eq!(host.work(), End::Parked);
    assert_eq!(requests(&host).len(), 1, "nobody is asked while an outcome is not known");
    let row = host.store.row(submission("1")).unwrap();
    let doubt = row.marks.first().expect("DUR-017: it is listed").doubt;
    let why = crate::agent::Diagnostic::cut("Bounced", "the bank says so");
    let intent = ResolutionIntent {
        resolution: Arc::new(Resolution::Failed(why.clone())),
        principal: crate::identity::PrincipalId::new("operator").unwrap(),
        reason: "looked".into(),
    };
    let command = Command::Resolve { submission: submission("1"), doubt, intent };
    host.store.ledger(command).unwrap();
    recover(&mut host, &Resolution::SafeToRepeat);
    let last = requests(&host).pop().unwrap();
    assert!(is_whole(&last));
    let failed = alloc::format!("result {:?}", ToolOutcome::Failure(why));
    assert_eq!(shown(&last).last(), Some(&failed), "and then as what was said");
}

#[test]
fn case_oh_05_what_was_called_off_is_not_shown_to_later_runs() {
    let mut host = Host::new(&[&["look", "pay"]]);
    host.admit(call("1", "hello"));
    stopped_before(&mut host, "tool.invoke");
    abort(&mut host);
    recover(&mut host, &Resolution::SafeToRepeat);
    host.admit(call("2", "again"));
    recover(&mut host, &Resolution::SafeToRepeat);
    let later = requests(&host).into_iter().find(|it| shown(it).contains(&"user \"again\"".into()));
    assert_eq!(shown(&later.unwrap()), ["user \"hello\"", "user \"again\""]);
}

/// Calls off a run just before the n-th effect of its attempt. Whether it got so far.
fn called_off_at(turns: &[&[&'static str]], at: usize, crashes: bool) -> Option<Host> {
    let mut host = Host::new(turns);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let mut count = 0;
    let (state, mut rest) = host
        .perform(state, effects, |_| {
            count += 1;
            count <= at
        })
        .ok()?;
    let row = host.store.row(submission("1")).unwrap();
    if matches!(row.phase, Phase::Settled(_) | Phase::Terminalizing(_)) {
        return None;
    }
    abort(&mut host);
    if crashes {
        host.wait_for_lease();
    } else {
        // The hint comes while the attempt waits, and what it waits for comes as well.
        let woken = Attempt::step(state, Input::Woken);
        rest.extend(woken.effects);
        host.perform(woken.state, rest, |_| true).expect_err("nothing stops the attempt");
    }
    Some(host)
}

fn called_off_everywhere(turns: &[&[&'static str]], calls: usize) {
    for crashes in [false, true] {
        let mut aborted = 0;
        for at in 0.. {
            let Some(mut host) = called_off_at(turns, at, crashes) else { break };
            let invoked = host.outside.invocations();
            recover(&mut host, &Resolution::Completed(text("by hand")));
            check(&host);
            assert_eq!(host.outside.invocations(), invoked, "at {at}: nothing starts any more");
            assert!(invoked <= calls, "at {at}");
            let row = host.store.row(submission("1")).unwrap();
            let Phase::Settled(settled) = &row.phase else { panic!("{:?}", row.phase) };
            aborted += usize::from(settled.outcome == Outcome::Aborted);
            // Whatever is left of it, the next run begins with a prompt that any provider takes.
            host.admit(call("2", "again"));
            recover(&mut host, &Resolution::Completed(text("by hand")));
            check(&host);
            assert!(requests(&host).iter().all(|it| is_whole(it)), "at {at}");
        }
        assert!(aborted > 8, "{aborted} times in {turns:?}");
    }
}

#[test]
fn case_oh_07_a_run_that_is_called_off_at_any_await_is_over_and_leaves_whole_batches() {
    called_off_everywhere(&[&["pay"]], 1);
    called_off_everywhere(&[&["look", "file", "pay", "wire"]], 4);
    called_off_everywhere(&[&["look", "pay"], &["wire", "pay"]], 4);
}
