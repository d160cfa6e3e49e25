//! Timeouts, being called off, and progress.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep_machine::agent::{ExecutionClass, RetryClass};
use everstep_machine::limits::HANDLER_GRACE_MS;
use tokio::time::{Instant, sleep};

use super::*;
use crate::ports::Handlers as _;

/// A tool that takes so long, and how often its handler was begun and ended.
fn slow(time: Duration) -> (Tool, Arc<(Count, Count)>) {
    let counts = Arc::new((Count::default(), Count::default()));
    let counted = Arc::clone(&counts);
    let tool = Tool::new("slow", move |(): (), _| {
        let counted = Arc::clone(&counted);
        async move {
            counted.0.up();
            sleep(time).await;
            counted.1.up();
            Ok::<_, NoFailure>(true)
        }
    });
    (tool.timeout(Duration::from_secs(10)), counts)
}

fn unsure(tag: &str, message: &str) -> Ended {
    Ended::Unsure(Diagnostic::new(tag, message).unwrap())
}

#[test]
fn run_014_a_tool_that_does_not_answer_in_time_is_left_and_never_tried_again() {
    let words = "no answer within 10000 milliseconds";
    let ended = [
        (ExecutionClass::Readonly, failure("Timeout", words)),
        // It may have happened: nobody may say that it failed.
        (ExecutionClass::Idempotent, unsure("Timeout", words)),
        (ExecutionClass::Ordinary, unsure("Timeout", words)),
    ];
    for (class, expected) in ended {
        let (tool, counts) = slow(Duration::from_secs(11));
        run(async {
            let began = Instant::now();
            let tool = tool.class(class).retry(RetryClass::Transient);
            assert_eq!(called(tool, "null").await, expected);
            assert_eq!(began.elapsed(), Duration::from_secs(10));
            // It was dropped: it never comes to its end.
            sleep(Duration::from_secs(60)).await;
        });
        assert_eq!((counts.0.so_far(), counts.1.so_far()), (1, 0), "{class:?}");
    }
    let (tool, _) = slow(Duration::from_secs(9));
    assert_eq!(call(tool, "null"), success("true"));
}

#[test]
fn run_008_arc_06_who_is_called_off_is_told_and_dropped_a_little_later() {
    let (tool, counts) = slow(Duration::from_secs(9));
    let listens = Tool::new("listens", |(): (), context: ToolContext| async move {
        context.cancelled().await;
        Ok::<_, NoFailure>(context.is_cancelled())
    });
    let toolkit = Toolkit::new([tool, listens]).unwrap();
    let ended = run(async {
        let canceller = Canceller::new();
        let live = Live::new(canceller.cancellation());
        let calls = toolkit
            .definitions()
            .into_iter()
            .map(|tool| tokio::spawn(toolkit.invoke(invocation(&tool, "null"), live.clone())));
        let calls: Vec<_> = calls.collect();
        sleep(Duration::from_secs(1)).await;
        let began = Instant::now();
        canceller.cancel();
        let mut ended = Vec::new();
        for call in calls {
            ended.push((call.await.unwrap(), began.elapsed()));
        }
        ended
    });
    let grace = Duration::from_millis(HANDLER_GRACE_MS);
    let off = (unsure("Cancelled", "the call was called off"), grace);
    assert_eq!(ended, [off, (success("true"), grace)]);
    assert_eq!((counts.0.so_far(), counts.1.so_far()), (1, 0));
}

#[test]
fn run_008_nothing_is_tried_again_for_nobody() {
    let count = Arc::new(Count::default());
    let counted = Arc::clone(&count);
    let tool = Tool::new("busy", move |(): (), _| {
        counted.up();
        async { Err::<(), _>(Failed::HadNoEffect(RefundError::NoSuchOrder)) }
    });
    let toolkit = Toolkit::new([tool.retry(RetryClass::Transient)]).unwrap();
    let ended = run(async {
        let canceller = Canceller::new();
        let live = Live::new(canceller.cancellation());
        drop(canceller);
        toolkit.invoke(invocation(&toolkit.definitions()[0], "null"), live).await
    });
    assert_eq!(ended, failure("NoSuchOrder", "\"NoSuchOrder\""));
    assert_eq!(count.so_far(), 1);
}

#[test]
fn run_010_progress_reaches_who_watches_and_is_bounded() {
    let tool = Tool::new("steps", |(): (), context: ToolContext| async move {
        context.progress("half");
        context.progress(&"é".repeat(5_000));
        Ok::<_, NoFailure>(context.remaining() == Duration::from_secs(60))
    });
    let toolkit = Toolkit::new([tool]).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let ended = run(async {
        let canceller = Canceller::new();
        let live = Live::new(canceller.cancellation());
        let live = live.watched(move |words| told.lock().unwrap().push(words.to_owned()));
        toolkit.invoke(invocation(&toolkit.definitions()[0], "null"), live).await
    });
    assert_eq!(ended, success("true"));
    let seen = seen.lock().unwrap();
    assert_eq!((seen.len(), seen[0].as_str(), seen[1].len()), (2, "half", 4_096));
}
