//! The live events of one run on their way to whoever watches it.
//!
//! There are two ways, and one reader, [`RunStream`], for both of them.
//!
//! | | [`RunEvents`] | [`SoleEvents`] |
//! | --- | --- | --- |
//! | who reads | any number of watchers, each from an offset of its own | one consumer, from the beginning |
//! | a slow reader | has no influence; it is told how many events it has missed | is waited for |
//! | what is kept | the run's [`EventLog`], to be read again | what has not been read yet |
//! | used by | hosts whose runs go on without anybody | a host whose run is for its caller alone |
//!
//! A watcher subscribes, reads, and parks: it is woken by the next event and never polls. What it
//! holds while it reads is a copy of one page, so nobody who is told something ever waits for
//! somebody who listens (RUN-010).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_machine::event::{
    Enveloped, EventLog, EventSequence, Page, Refusal, RunEvent, Sequencer, Source,
};
use everstep_machine::identity::Timestamp;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

/// Events of one page: what is copied at once while the log is locked.
const PAGE: usize = 256;

/// The stream of a run stops without its terminal event: whoever told the events is gone.
///
/// The run may have been taken over by another attempt. Its log says what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream of the run was cut off before the run had ended")]
pub struct CutOff;

/// Why an event did not reach the one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    /// The event is not one of the run's any more.
    #[error("{0}")]
    Refused(Refusal),
    /// The consumer has as many events to read as there is room for.
    #[error("the consumer of the run's events has no room for another one")]
    Full,
    /// The consumer is gone. Whoever runs the run decides whether it goes on.
    #[error("the consumer of the run's events is gone")]
    Unheard,
}

/// Tells the events of one run to any number of watchers, and waits for none of them. Copies tell
/// the same run.
#[derive(Clone, Debug)]
pub struct RunEvents(watch::Sender<EventLog>);

impl RunEvents {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self::on(EventLog::new(source))
    }

    /// Goes on with a log, one of other bounds perhaps.
    #[must_use]
    pub fn on(log: EventLog) -> Self {
        Self(watch::Sender::new(log))
    }

    /// One more event; its number.
    ///
    /// # Errors
    /// The log drops the event, and counts it.
    pub fn tell(&self, at: Timestamp, event: RunEvent) -> Result<EventSequence, Refusal> {
        let mut told = Err(Refusal::Ended);
        self.0.send_if_modified(|log| {
            told = log.push(at, event);
            told.is_ok()
        });
        told
    }

    /// The events from an offset on: from 0 all that there are, from [`Page::next`] those that
    /// follow that page.
    #[must_use]
    pub fn stream(&self, from: EventSequence) -> RunStream {
        RunStream { feed: Feed::Log(self.0.subscribe()), next: from }
    }

    /// A page at once, without waiting for anything.
    #[must_use]
    pub fn page(&self, from: EventSequence) -> Page {
        self.0.borrow().read(from, PAGE)
    }
}

/// Tells the events of one run to its one consumer, and waits for it. Copies tell the same run.
#[derive(Clone, Debug)]
pub struct SoleEvents {
    sequencer: Arc<Mutex<Sequencer>>,
    queue: mpsc::Sender<Enveloped>,
}

impl SoleEvents {
    /// One more event; its number. Waits while the queue is full. Whoever stops waiting has told
    /// nothing, and has used up no number.
    ///
    /// # Errors
    /// The run's terminal event was told, or nobody listens any more.
    pub async fn tell(&self, at: Timestamp, event: RunEvent) -> Result<EventSequence, Untold> {
        if self.sequencer().has_ended() {
            return self.number(at, event).map(|it| it.sequence);
        }
        let place = self.queue.reserve().await.map_err(|_| Untold::Unheard)?;
        // Under one lock, so that the queue has the order of the numbers.
        let mut sequencer = self.sequencer();
        let enveloped = sequencer.number(at, event).map_err(Untold::Refused)?;
        let sequence = enveloped.sequence;
        place.send(enveloped);
        Ok(sequence)
    }

    /// The same without waiting: what the queue has no room for is not told, and has no number. For
    /// what nobody misses, such as how far a call has come.
    ///
    /// # Errors
    /// There is no room, the run's terminal event was told, or nobody listens any more.
    pub fn tell_if_there_is_room(
        &self,
        at: Timestamp,
        event: RunEvent,
    ) -> Result<EventSequence, Untold> {
        let place = self.queue.try_reserve().map_err(|why| match why {
            TrySendError::Full(()) => Untold::Full,
            TrySendError::Closed(()) => Untold::Unheard,
        })?;
        let mut sequencer = self.sequencer();
        let enveloped = sequencer.number(at, event).map_err(Untold::Refused)?;
        let sequence = enveloped.sequence;
        place.send(enveloped);
        Ok(sequence)
    }

    /// Events that came after the terminal one (AB-07).
    #[must_use]
    pub fn late(&self) -> u64 {
        self.sequencer().late()
    }

    fn number(&self, at: Timestamp, event: RunEvent) -> Result<Enveloped, Untold> {
        self.sequencer().number(at, event).map_err(Untold::Refused)
    }

    fn sequencer(&self) -> MutexGuard<'_, Sequencer> {
        // Numbering does not panic half-way.
        self.sequencer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events of one run as they happen.
#[derive(Debug)]
pub struct RunStream {
    feed: Feed,
    next: EventSequence,
}

#[derive(Debug)]
enum Feed {
    /// A log that others read too.
    Log(watch::Receiver<EventLog>),
    /// A queue that nobody else reads.
    Queue(mpsc::Receiver<Enveloped>),
    /// A queue whose terminal event was read.
    Done,
}

impl RunStream {
    /// The stream of a run's one consumer, and how the run tells its events. At most `queue`
    /// events wait to be read, at least one; then whoever tells the next one waits.
    #[must_use]
    pub fn sole(source: Source, queue: usize) -> (SoleEvents, Self) {
        let (sender, receiver) = mpsc::channel(queue.max(1));
        let sequencer = Arc::new(Mutex::new(Sequencer::new(source)));
        let stream = Self { feed: Feed::Queue(receiver), next: EventSequence(0) };
        (SoleEvents { sequencer, queue: sender }, stream)
    }

    /// The next events, once there are any: at least one, or the end. A page that says that the
    /// run has ended is the last one; whoever asks again gets an empty one that says it too.
    ///
    /// Whoever stops waiting has missed nothing.
    ///
    /// # Errors
    /// Nothing more will come, although the run has not ended.
    pub async fn page(&mut self) -> Result<Page, CutOff> {
        let page = match &mut self.feed {
            Feed::Log(log) => read_log(log, self.next).await?,
            Feed::Queue(queue) => read_queue(queue).await?,
            Feed::Done => Page { events: Vec::new(), next: self.next, ended: true, missed: 0 },
        };
        self.next = page.next;
        if let (Feed::Queue(_), true) = (&self.feed, page.ended) {
            self.feed = Feed::Done;
        }
        Ok(page)
    }

    /// The offset behind everything that was read: where to go on after a cut connection.
    #[must_use]
    pub const fn next(&self) -> EventSequence {
        self.next
    }
}

/// Reads, and parks only if there was nothing: what comes between the two wakes it.
async fn read_log(
    log: &mut watch::Receiver<EventLog>,
    from: EventSequence,
) -> Result<Page, CutOff> {
    loop {
        let page = log.borrow_and_update().read(from, PAGE);
        if page.ended || !page.events.is_empty() {
            return Ok(page);
        }
        log.changed().await.map_err(|_| CutOff)?;
    }
}

async fn read_queue(queue: &mut mpsc::Receiver<Enveloped>) -> Result<Page, CutOff> {
    let mut events = Vec::new();
    queue.recv_many(&mut events, PAGE).await;
    let last = events.last().ok_or(CutOff)?;
    let (next, ended) = (last.sequence.next(), last.event.is_terminal());
    Ok(Page { events, next, ended, missed: 0 })
}

#[cfg(test)]
mod tests;
