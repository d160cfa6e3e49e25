use super::{Choice, ChoiceError, Schedule, Stuck, Walk, run};
use crate::explore::Explorable as _;
use crate::explore::tests::toy::{Broken, SCRIPT, Toy};
use crate::fault::Fault;

fn schedule(text: &str) -> Schedule {
    text.parse().expect("it is a schedule")
}

#[test]
fn text_and_value_are_the_same_schedule() {
    let text = "conversation.append:ToolPrepared/after@2=crash, tool.invoke/during@1=crash-done";
    let value = schedule(text);
    assert_eq!(value.to_string(), text);
    assert_eq!(value.choices()[1].fault, Fault::CrashDone);
    assert_eq!(schedule(""), Schedule::calm());
    assert_eq!(Schedule::calm().to_string(), "");
}

#[test]
fn each_wrong_part_of_a_choice_is_named() {
    let error = |text: &str| text.parse::<Choice>().expect_err("it is no choice");
    assert_eq!(error("ledger.admit/before@1"), ChoiceError::Shape);
    assert_eq!(error("ledger.admit/before=crash"), ChoiceError::Shape);
    assert!(matches!(error("ledger.admt/before@1=crash"), ChoiceError::Failpoint { .. }));
    assert!(matches!(error("ledger.admit/during@1=crash"), ChoiceError::Failpoint { .. }));
    for arrival in ["0", "-1", "", "two", "4294967296"] {
        let text = format!("ledger.admit/before@{arrival}=crash");
        assert_eq!(error(&text), ChoiceError::Arrival { text: arrival.to_owned() });
    }
    let unknown = error("ledger.admit/before@1=krash");
    assert!(unknown.to_string().contains("crash, crash-done, pause"), "{unknown}");
    assert!(matches!(unknown, ChoiceError::Fault { .. }));
}

#[test]
fn arrivals_are_counted_over_all_processes() {
    let mut walk = Walk::new(Toy::new(2, 9));
    for arrival in 1..=2 {
        for name in SCRIPT {
            let here = walk.at().expect("both processes run");
            assert_eq!((here.failpoint.to_string().as_str(), here.arrival), (name, arrival));
            walk.advance();
        }
    }
    assert_eq!(walk.at(), None);
}

#[test]
fn what_is_lost_arrives_again_and_an_abort_is_no_arrival() {
    let arrival =
        |walk: &Walk<Toy>| walk.at().map(|here| (here.failpoint.to_string(), here.arrival));
    let mut walk = Walk::new(Toy::new(1, 9));
    walk.inject(Fault::Crash);
    assert_eq!(arrival(&walk), Some(("ledger.claim/before".to_owned(), 2)));
    walk.inject(Fault::Lose);
    assert_eq!(arrival(&walk), Some(("ledger.claim/before".to_owned(), 3)));
    let mut walk = Walk::new(Toy::new(2, 9));
    walk.inject(Fault::Pause);
    assert_eq!(arrival(&walk), Some(("ledger.claim/before".to_owned(), 2)));
    walk.advance();
    walk.advance();
    walk.inject(Fault::Wake);
    // The first process stands before the second one again.
    assert_eq!(arrival(&walk), Some(("ledger.claim/before".to_owned(), 3)));
}

#[test]
fn several_faults_share_an_arrival_in_order() {
    let toy = Toy { abort: true, ..Toy::new(2, 9) };
    let both = schedule(
        "ledger.claim/before@1=pause, ledger.claim/before@2=wake, \
                         ledger.claim/before@3=crash",
    );
    let end = run(toy, &both).expect("the choices are possible");
    assert_eq!(end.world.violation(), None);
    assert_eq!(end.steps, 3 + 2 * SCRIPT.len() as u64);
}

#[test]
fn a_choice_that_is_never_reached_is_named() {
    let late = schedule("ledger.claim/before@1=crash, ledger.claim/before@3=crash");
    let stuck = run(Toy::new(1, 9), &late).expect_err("there is no third arrival");
    assert_eq!(stuck, Stuck::Unreached(late.choices()[1]));
    let absent = schedule("ledger.claim/before@1=wake");
    let stuck = run(Toy::new(1, 9), &absent).expect_err("nobody is paused");
    assert_eq!(stuck, Stuck::Impossible(absent.choices()[0]));
}

#[test]
fn a_broken_property_ends_the_run() {
    let twice = schedule("tool.invoke/after@1=crash, ledger.finalize/after@1=crash");
    let end = run(Toy::new(1, 1), &twice).expect("the second choice does not matter any more");
    assert_eq!(end.world.violation(), Some(Broken::TooManyRuns));
}
