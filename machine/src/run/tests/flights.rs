//! What is out: taken back when it never left, awaited again when its answer came to nothing.

use alloc::collections::BTreeSet;

use super::*;
use crate::agent::{ExecutionClass, Resolution};
use crate::effect::{Doubted, Reconciliation};
use crate::identity::ToolName;
use crate::testkit::text;

fn invocation(start: Doubt) -> External {
    External::InvokeTool(Invocation {
        run: ONE.run(),
        agent: binding().definition.id().clone(),
        group: None,
        call: start.call,
        epoch: start.start,
        tool: ToolName::new("look").unwrap(),
        class: ExecutionClass::Readonly,
        parameters: text("look"),
        steps: Vec::new(),
        action: None,
    })
}

fn of_tools(starts: &[Doubt]) -> Flights {
    Flights { tools: starts.iter().copied().collect(), ..Flights::default() }
}

/// A run with a question of one kind out, by what it asked for last.
fn questioning() -> [(Bench, External); 3] {
    let [fresh, declared] = [Bench::fresh(), Bench::fresh().responds(0, &["look"])];
    let running = declared.clone().authorized(0);
    [fresh, declared, running].map(|bench| {
        let last = asked(&bench.effects).pop().expect("a question");
        (bench, last)
    })
}

fn answer_to(external: &External) -> Answer {
    match external {
        External::CallModel(request) => model(request.turn.0, response(&["look"])),
        External::Check { .. }
        | External::Clear { .. }
        | External::Approve { .. }
        | External::Permits { .. }
        | External::NextStep(_) => {
            unreachable!("nobody wants it")
        }
        External::Authorize { turn, .. } => authorizer(turn.0, Authorization::Allowed),
        External::InvokeTool(it) => tool(Doubt { call: it.call, start: it.epoch }),
        External::Reconcile(it) => {
            let reconciliation = Reconciliation::Unprovable;
            Answer::Reconciler { doubt: it.doubt, reconciliation }
        }
    }
}

#[test]
fn arc_03_every_question_is_known_while_it_is_out_and_not_longer() {
    for (bench, question) in questioning() {
        let flights = bench.state.flights();
        let tools = usize::from(matches!(question, External::InvokeTool(_)));
        assert!(!flights.is_empty());
        assert_eq!(flights.model.is_some(), matches!(question, External::CallModel(_)));
        assert_eq!(flights.authorizer.is_some(), matches!(question, External::Authorize { .. }));
        assert_eq!(flights.tools.len(), tools);
        let mut returned = flights.clone();
        returned.recall(&question);
        assert!(returned.is_empty(), "{question:?}");
    }
}

#[test]
fn arc_03_an_answer_that_came_to_nothing_is_awaited_again() {
    for (bench, question) in questioning() {
        let out = bench.state.flights().clone();
        let mut flights = out.clone();
        flights.recall(&question);
        flights.restore(&answer_to(&question));
        assert_eq!(flights, out, "{question:?}");
    }
}

#[test]
fn arc_03_what_never_left_is_asked_again_and_its_answer_is_not_expected() {
    for (mut bench, question) in questioning() {
        bench.look();
        bench.state.recall(&question);
        let bench = bench.answered(answer_to(&question));
        assert_eq!(bench.effects, [], "nobody can have answered {question:?}");
    }
}

#[test]
fn arc_03_a_reconciliation_is_no_flight_of_a_run() {
    let doubt = ONE.start(0, 0, 1);
    let asking = Epoch(2);
    let tool = ToolName::new("wire").unwrap();
    let question = External::Reconcile(Doubted { doubt, tool, asking });
    let mut flights = of_tools(&[doubt]);
    flights.recall(&question);
    assert_eq!(flights, of_tools(&[doubt]));
    let mut flights = Flights::default();
    let reconciliation = Reconciliation::Proven(Resolution::NeverStarted);
    flights.restore(&Answer::Reconciler { doubt, reconciliation });
    assert!(flights.is_empty());
}

#[test]
fn arc_03_only_the_recalled_start_is_taken_back() {
    let [one, two] = [ONE.start(0, 0, 1), ONE.start(0, 1, 1)];
    let mut flights = of_tools(&[one, two]);
    flights.recall(&invocation(one));
    assert_eq!(flights, of_tools(&[two]));
}

/// The flights that a run on this log keeps of some.
fn kept(story: &Story, flights: Flights) -> Flights {
    Bench::resting(story, 1).state.with_flights(flights).flights().clone()
}

#[test]
fn arc_03_a_run_keeps_of_old_flights_what_the_fold_still_waits_for() {
    let input = Story::new().tell([ONE.input()]);
    let asked =
        |turn| Flights { model: Some((Turn(turn), Purpose::Respond)), ..Flights::default() };
    assert_eq!(kept(&input, asked(0)), asked(0));
    assert!(kept(&input, asked(1)).is_empty());
    assert!(kept(&Story::new(), asked(0)).is_empty());

    let declared = input.tell([ONE.responded(0, &["look", "look"])]);
    assert!(kept(&declared, asked(0)).is_empty(), "the response is canonical");
    let authorizing = |turn| Flights { authorizer: Some(Turn(turn)), ..Flights::default() };
    assert_eq!(kept(&declared, authorizing(0)), authorizing(0));
    assert!(kept(&declared, authorizing(1)).is_empty());

    let settled = declared.tell([ONE.tool_settled(ONE.call(0, 0), success("result"))]);
    let [one, two] = [ONE.start(0, 0, 1), ONE.start(0, 1, 1)];
    let stranger = Tale("2").start(0, 0, 1);
    let tools = kept(&settled, of_tools(&[one, two, stranger])).tools;
    assert_eq!(tools, BTreeSet::from([two]), "one result is canonical");
}

#[test]
fn arc_03_a_run_that_keeps_its_flights_asks_nothing_twice() {
    for (bench, _) in questioning() {
        let flights = bench.state.flights().clone();
        let rested = bench.told(Input::Stopped).state.with_flights(flights.clone());
        let mut bench = Bench { state: rested, effects: Vec::new() }
            .told(Input::Resumed { now: Timestamp(1_000) });
        assert_eq!(bench.look(), []);
        assert_eq!(*bench.state.flights(), flights);
    }
}

#[test]
fn arc_03_with_one_tool_still_out_only_the_others_are_authorized() {
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["look", "look"])]);
    let mut bench = Bench::resting(&story, 1);
    bench.state = bench.state.with_flights(of_tools(&[ONE.start(0, 0, 1)]));
    let mut bench = bench.told(Input::Resumed { now: Timestamp(1_000) });
    let effects = bench.look();
    assert_eq!(authorizing(&asked(&effects)[0]), [ONE.call(0, 1)]);
    let effects = bench.authorized(0).look();
    assert_eq!(asked(&effects), [invocation(ONE.start(0, 1, 1))]);
}
