//! The store's thread: it blocks so that nobody else has to.
//!
//! Between pipelines it glances at whether somebody else has committed: the connection that writes
//! is the one that can tell its own commits from others'.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use everstep_machine::agent_state;
use everstep_machine::effect::EffectClass;
use everstep_machine::identity::ConversationId;
use everstep_machine::projection::Reader;
use everstep_machine::store::{Pipeline, Replies, Shared, StoreFault};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

/// Pipelines that wait for the store's thread at most; whoever comes then waits for a place.
const PLACES: usize = 1_024;
/// The shortest time between two glances.
const BLINK: Duration = Duration::from_millis(1);

/// What the store's thread is asked for.
enum Asked {
    /// To execute a pipeline.
    Execute(Request),
    /// For what is kept of the fold of a lane's log (STORE-007).
    Checkpoint(ConversationId, oneshot::Sender<Option<Reader>>),
    /// To keep one.
    Keep(ConversationId, Vec<u8>),
    /// To read or write an agent's state (CAP-012).
    State(Box<agent_state::Command>, oneshot::Sender<StateAnswer>, OwnedSemaphorePermit),
}

/// What comes of reading or writing state.
type StateAnswer = Result<Result<agent_state::Reply, agent_state::Refusal>, StoreFault>;

/// A pipeline and who wants its answer.
struct Request {
    pipeline: Pipeline,
    answer: oneshot::Sender<Result<Replies, StoreFault>>,
    /// Whether its fate says anything about how the work goes.
    counts: bool,
    _place: OwnedSemaphorePermit,
}

/// The store's thread is gone: it panicked, and this host is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreGone;

/// Told when a thread has let go of what it held.
pub(crate) type Closed = oneshot::Receiver<()>;

/// Pipelines in a row that the store could not say the fate of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsure {
    /// Those that only read.
    reads: u32,
    /// Those that write. A disk that is full can still be read.
    writes: u32,
}

impl Unsure {
    /// The longer of the two rows.
    pub(crate) fn most(self) -> u32 {
        self.reads.max(self.writes)
    }
}

/// How everybody reaches the store.
#[derive(Clone, Debug)]
pub(crate) struct StoreHandle {
    requests: Sender<Asked>,
    places: Arc<Semaphore>,
    unsure: watch::Receiver<Unsure>,
}

impl StoreHandle {
    /// Gives the store a thread. The thread ends when the last handle is dropped; then the store
    /// is closed, and that is told. Every `glance` it calls `changed` if somebody else has
    /// committed.
    pub(crate) fn start(
        store: impl Shared + Send + 'static,
        glance: Duration,
        changed: impl Fn() + Send + 'static,
    ) -> io::Result<(Self, Closed)> {
        let (requests, inbox) = channel();
        let (count, unsure) = watch::channel(Unsure::default());
        let (closing, closed) = oneshot::channel();
        thread::Builder::new().name("everstep-store".to_owned()).spawn(move || {
            serve(store, &inbox, &count, glance.max(BLINK), changed);
            // Nobody may be waiting for it.
            let _ = closing.send(());
        })?;
        let places = Arc::new(Semaphore::new(PLACES));
        Ok((Self { requests, places, unsure }, closed))
    }

    /// Executes a pipeline.
    pub(crate) async fn execute(
        &self,
        pipeline: Pipeline,
    ) -> Result<Result<Replies, StoreFault>, StoreGone> {
        self.send(pipeline, true).await
    }

    /// Executes a pipeline of somebody who only looks on, and counts its fate himself: a look that
    /// succeeds says nothing about work that is stuck.
    pub(crate) async fn look(
        &self,
        pipeline: Pipeline,
    ) -> Result<Result<Replies, StoreFault>, StoreGone> {
        self.send(pipeline, false).await
    }

    async fn send(
        &self,
        pipeline: Pipeline,
        counts: bool,
    ) -> Result<Result<Replies, StoreFault>, StoreGone> {
        let (answer, answered) = oneshot::channel();
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| StoreGone)?;
        let request = Request { pipeline, answer, counts, _place: place };
        self.requests.send(Asked::Execute(request)).map_err(|_| StoreGone)?;
        answered.await.map_err(|_| StoreGone)
    }

    /// What is kept of the fold of a lane's log, if anything is.
    pub(crate) async fn checkpoint(&self, lane: ConversationId) -> Option<Reader> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(Asked::Checkpoint(lane, answer)).ok()?;
        answered.await.ok().flatten()
    }

    /// Reads or writes an agent's state.
    pub(crate) async fn state(
        &self,
        command: agent_state::Command,
    ) -> Result<StateAnswer, StoreGone> {
        let (answer, answered) = oneshot::channel();
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| StoreGone)?;
        let asked = Asked::State(Box::new(command), answer, place);
        self.requests.send(asked).map_err(|_| StoreGone)?;
        answered.await.map_err(|_| StoreGone)
    }

    /// Has the fold of a lane's log kept. Nobody waits for it.
    pub(crate) fn keep(&self, lane: ConversationId, checkpoint: Vec<u8>) {
        // Without a store there is nothing to keep it for.
        let _ = self.requests.send(Asked::Keep(lane, checkpoint));
    }

    /// How many pipelines in a row the store could not say the fate of.
    pub(crate) fn unsure(&self) -> watch::Receiver<Unsure> {
        self.unsure.clone()
    }
}

/// Requests that are executed together at most: the lanes of a large host. Nobody waits longer for
/// the others than that.
const TOGETHER: usize = 64;

fn serve(
    mut store: impl Shared,
    inbox: &Receiver<Asked>,
    unsure: &watch::Sender<Unsure>,
    glance: Duration,
    changed: impl Fn(),
) {
    let mut last = Instant::now();
    loop {
        match inbox.recv_timeout(glance.saturating_sub(last.elapsed())) {
            Ok(first) => {
                let (mut waiting, mut others) = (Vec::new(), Vec::new());
                for asked in std::iter::once(first).chain(inbox.try_iter().take(TOGETHER - 1)) {
                    match asked {
                        Asked::Execute(request) => waiting.push(request),
                        other @ (Asked::Checkpoint(..) | Asked::Keep(..) | Asked::State(..)) => {
                            others.push(other);
                        }
                    }
                }
                execute(&mut store, waiting, unsure);
                others.into_iter().for_each(|asked| aside(&mut store, asked));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        // Also while there is always something to do.
        if last.elapsed() >= glance {
            last = Instant::now();
            if store.changed_elsewhere() {
                changed();
            }
        }
    }
}

/// Reads or keeps what is beside ledger and logs, behind the pipelines that wait.
fn aside(store: &mut impl Shared, asked: Asked) {
    match asked {
        Asked::Execute(_) => {}
        Asked::Checkpoint(lane, answer) => {
            let _ = answer.send(store.checkpoint(&lane));
        }
        Asked::Keep(lane, checkpoint) => store.keep_checkpoint(&lane, &checkpoint),
        Asked::State(command, answer, _place) => {
            let _ = answer.send(store.agent_state(&command));
        }
    }
}

/// Executes what waits, all of it at once, so that a store can commit it at once.
fn execute(store: &mut impl Shared, mut waiting: Vec<Request>, unsure: &watch::Sender<Unsure>) {
    // Whoever only reads need not wait until the others are on the disk. None of them waits for
    // another: each has sent one, and no answer yet.
    waiting.sort_by_key(|request| writes(&request.pipeline));
    let (pipelines, askers): (Vec<_>, Vec<_>) =
        waiting.into_iter().map(|it| (it.pipeline, (it.answer, it.counts, it._place))).unzip();
    let mut askers = pipelines.iter().zip(askers);
    store.execute_all(&pipelines, &mut |result| {
        let (pipeline, (answer, counts, _place)) = askers.next().expect("one answer for each");
        if counts {
            count(unsure, pipeline, &result);
        }
        // Whoever asked may have been called off; what was committed stands all the same.
        let _ = answer.send(result);
    });
}

fn count(
    unsure: &watch::Sender<Unsure>,
    pipeline: &Pipeline,
    result: &Result<Replies, StoreFault>,
) {
    let fails = *result == Err(StoreFault::Indeterminate);
    unsure.send_if_modified(|unsure| {
        let count = if writes(pipeline) { &mut unsure.writes } else { &mut unsure.reads };
        let before = *count;
        *count = if fails { before.saturating_add(1) } else { 0 };
        *count != before
    });
}

fn writes(pipeline: &Pipeline) -> bool {
    let classes = pipeline.commands.iter().map(|command| command.kind().class());
    classes.into_iter().any(|class| class == EffectClass::Durable)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use everstep_machine::identity::{Sequence, SubmissionId};
    use everstep_machine::ledger::Command;
    use everstep_machine::store::{Store, StoreCommand};

    use super::*;

    /// Tells what it is given, and waits for leave to answer it.
    struct Slow {
        given: mpsc::Sender<Vec<Pipeline>>,
        leave: Receiver<Result<Replies, StoreFault>>,
    }

    impl Store for Slow {
        fn execute(&mut self, _: &Pipeline) -> Result<Replies, StoreFault> {
            unreachable!("all of them are executed together")
        }

        fn execute_all(
            &mut self,
            pipelines: &[Pipeline],
            answer: &mut dyn FnMut(Result<Replies, StoreFault>),
        ) {
            self.given.send(pipelines.to_vec()).expect("somebody listens");
            pipelines.iter().for_each(|_| answer(self.leave.recv().expect("leave is given")));
        }
    }

    impl Shared for Slow {
        fn changed_elsewhere(&mut self) -> bool {
            false
        }
    }

    fn pipeline(lane: usize, writes: bool) -> Pipeline {
        let command = if writes {
            StoreCommand::Ledger(Command::Ready { submission: SubmissionId([1; 16]) })
        } else {
            StoreCommand::ReadLog { from: Sequence(0) }
        };
        let lane = ConversationId::new(&lane.to_string()).expect("a name");
        Pipeline { lane, commands: vec![command] }
    }

    #[test]
    fn arc_06_who_waits_is_executed_together_readers_first_and_each_gets_its_own_answer() {
        let ((given, groups), (leave, wait)) = (channel(), channel());
        let (inbox, requests) = channel();
        let (count, unsure) = watch::channel(Unsure::default());
        let glance = Duration::from_secs(3_600);
        let slow = Slow { given, leave: wait };
        let thread = thread::spawn(move || serve(slow, &requests, &count, glance, || ()));
        let places = Arc::new(Semaphore::new(PLACES));
        let send = |lane, writes| {
            let (answer, answered) = oneshot::channel();
            let _place = Arc::clone(&places).try_acquire_owned().expect("there is room");
            let pipeline = pipeline(lane, writes);
            let request = Request { pipeline, answer, counts: true, _place };
            inbox.send(Asked::Execute(request)).expect("the thread lives");
            answered
        };
        let first = send(0, true);
        assert_eq!(groups.recv(), Ok(vec![pipeline(0, true)]), "nobody else is there yet");
        let others: Vec<_> = (1..=TOGETHER).map(|lane| send(lane, lane != 5)).collect();
        let last = send(TOGETHER + 1, true);
        leave.send(Ok(vec![])).unwrap();
        assert_eq!(first.blocking_recv(), Ok(Ok(vec![])));

        let order = [5].into_iter().chain((1..=TOGETHER).filter(|lane| *lane != 5));
        let expected: Vec<_> = order.map(|lane| pipeline(lane, lane != 5)).collect();
        assert_eq!(groups.recv(), Ok(expected));
        // The reader is answered while the others wait.
        let mut others = others.into_iter().enumerate().map(|(n, answered)| (n + 1, answered));
        let (mut before, reader) = (others.by_ref().take(4).collect::<Vec<_>>(), others.next());
        leave.send(Ok(vec![])).unwrap();
        assert_eq!(reader.unwrap().1.blocking_recv(), Ok(Ok(vec![])));
        before.extend(others);
        for (lane, answered) in before {
            let answer = if lane == 7 { Err(StoreFault::Indeterminate) } else { Ok(vec![]) };
            leave.send(answer.clone()).unwrap();
            assert_eq!(answered.blocking_recv(), Ok(answer), "{lane}");
            assert_eq!(*unsure.borrow(), Unsure { reads: 0, writes: u32::from(lane == 7) });
        }
        assert_eq!(groups.recv(), Ok(vec![pipeline(TOGETHER + 1, true)]), "no more at once");
        leave.send(Ok(vec![])).unwrap();
        assert_eq!(last.blocking_recv(), Ok(Ok(vec![])));
        drop(inbox);
        thread.join().expect("it ends with the last handle");
    }
}
