use std::future::pending;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use everstep_machine::agent::{
    AgentDefinition, Diagnostic, FinishReason, Messages, Purpose, ResponsePart, ToolChoice,
};
use everstep_machine::identity::{AgentId, RunId, Turn};
use everstep_machine::response::ProtocolError;
use tokio::sync::oneshot;

use super::*;
use crate::ports::BoxFuture;
use crate::task::block_on;

/// A driver that is a function.
struct Driver<F>(F);

impl<F, R> Model for Driver<F>
where
    F: Fn(Parts) -> R + Send + Sync,
    R: Future<Output = Result<(), ModelFault>> + Send + 'static,
{
    fn respond(&self, _: Arc<ModelRequest>, parts: Parts) -> BoxFuture<Result<(), ModelFault>> {
        Box::pin(self.0(parts))
    }
}

impl<F: FnMut(Delta) + Send> Audience for F {
    fn show(&mut self, delta: Delta) -> impl Future<Output = ()> + Send {
        self(delta);
        std::future::ready(())
    }
}

fn request() -> Arc<ModelRequest> {
    let agent = AgentId::new("clerk").unwrap();
    Arc::new(ModelRequest {
        agent: AgentDefinition::new(agent, "Help.", vec![], 1).unwrap(),
        run: RunId([0; 16]),
        turn: Turn(0),
        purpose: Purpose::Respond,
        messages: Messages::default(),
        tools: ToolChoice::Allowed,
        output: None,
        status: vec![],
    })
}

/// The answer that comes of a driver, and what was shown on the way.
fn ask<F, R>(driver: F) -> (Answer, Vec<Delta>)
where
    F: Fn(Parts) -> R + Send + Sync,
    R: Future<Output = Result<(), ModelFault>> + Send + 'static,
{
    let mut shown = vec![];
    let driver = Driver(driver);
    let answer = block_on(answer(&driver, request(), |delta| shown.push(delta))).unwrap();
    (answer, shown)
}

fn hello() -> ModelResponse {
    let parts =
        vec![ResponsePart::Text(Arc::from("Hello.")), ResponsePart::Text(Arc::from("Bye."))];
    ModelResponse { parts, finish: FinishReason::Stop, usage: None }
}

fn delta(part: usize, text: &str) -> Delta {
    Delta::Text { part, text: Arc::from(text) }
}

fn reset() -> ModelFault {
    ModelFault::Unavailable(Diagnostic::cut("Reset", "the connection was reset"))
}

#[test]
fn run_004_a_whole_stream_is_the_answer_and_its_words_are_shown() {
    let (answer, shown) = ask(async |parts: Parts| {
        parts.send_whole(&hello()).await.expect("it is wanted");
        Ok(())
    });
    assert_eq!(answer, Ok(Arc::new(hello())));
    assert_eq!(shown, [delta(0, "Hello."), delta(1, "Bye.")]);
}

#[test]
fn run_004_a_driver_that_returns_too_early_has_cut_its_stream() {
    let (answer, shown) = ask(async |parts: Parts| {
        for part in parts_of(&hello()).into_iter().take(3) {
            parts.send(part).await.expect("it is wanted");
        }
        Ok(())
    });
    assert_eq!(answer, Err(ProtocolError::Cut.into()));
    assert_eq!(shown, [delta(0, "Hello.")], "what was sent before the end was heard");
}

#[test]
fn dur_008_a_connection_that_breaks_leaves_its_fault_alone() {
    let (answer, _) = ask(async |parts: Parts| {
        parts.send_whole(&hello()).await.expect("it is wanted");
        Err(reset())
    });
    assert_eq!(answer, Err(reset().into()));
}

#[test]
fn arc_06_a_broken_stream_is_answered_at_once_and_its_driver_dropped() {
    let held = Arc::new(());
    let watched = Arc::downgrade(&held);
    let held = Mutex::new(Some(held));
    let (answer, _) = ask(move |parts: Parts| {
        let held = held.lock().unwrap().take();
        async move {
            let _held = held;
            parts.send(StreamPart::Finish(FinishReason::Stop)).await.expect("it is wanted");
            pending().await
        }
    });
    assert_eq!(answer, Err(ProtocolError::NotStarted.into()));
    assert!(watched.upgrade().is_none(), "the driver still holds what it had");
}

#[test]
fn arc_05_a_driver_waits_when_it_is_far_ahead() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let label: Arc<str> = Arc::from("");
    let driver = Driver(move |parts: Parts| {
        let (sent, label) = (Arc::clone(&sent), label.clone());
        async move {
            parts.send(StreamPart::Start).await.expect("it is wanted");
            parts.send(StreamPart::TextStart { label: label.clone() }).await.expect("wanted");
            for _ in 0..AHEAD * 8 {
                let (label, text) = (label.clone(), Arc::from("x"));
                parts.send(StreamPart::TextDelta { label, text }).await.expect("it is wanted");
                sent.fetch_add(1, Ordering::SeqCst);
            }
            Err(reset())
        }
    });
    let (mut shown, mut furthest) = (0, 0);
    let show = |_| {
        furthest = furthest.max(counter.load(Ordering::SeqCst) - shown);
        shown += 1;
    };
    assert_eq!(block_on(answer(&driver, request(), show)).unwrap(), Err(reset().into()));
    assert_eq!(shown, AHEAD * 8);
    assert!(furthest <= AHEAD, "{furthest} parts were waiting");
}

#[test]
fn run_004_what_a_driver_leaves_running_is_told_that_the_stream_has_ended() {
    let (tell, told) = oneshot::channel();
    let tell = Mutex::new(Some(tell));
    let driver = Driver(move |parts: Parts| {
        let tell = tell.lock().unwrap().take().expect("it is asked once");
        async move {
            parts.send_whole(&hello()).await.expect("it is wanted");
            tell.send(parts).expect("somebody waits");
            Ok(())
        }
    });
    let (answered, late) = block_on(async {
        let answered = answer(&driver, request(), |_| ()).await;
        let parts: Parts = told.await.expect("it was asked");
        (answered, parts.send(StreamPart::Start).await)
    })
    .unwrap();
    assert_eq!((answered, late), (Ok(Arc::new(hello())), Err(NoMoreParts)));
}

#[test]
fn dur_018_a_model_that_says_nothing_is_left_when_its_time_is_over() {
    let policy = everstep_machine::agent::AgentPolicy {
        model_timeout: everstep_machine::identity::DurationMs(900),
        ..Default::default()
    };
    let (id, mut asked) = (AgentId::new("clerk").unwrap(), (*request()).clone());
    asked.agent = AgentDefinition::with_policy(id, "Help.", vec![], policy).unwrap();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let (answered, took) = runtime.block_on(async {
        let began = tokio::time::Instant::now();
        let silent = Driver(|_| pending());
        (answer(&silent, Arc::new(asked), |_| {}).await, began.elapsed())
    });
    assert!(matches!(answered, Err(lost) if lost.fault.diagnostic().tag() == "Timeout"));
    assert_eq!(took, Duration::from_millis(900));
}
