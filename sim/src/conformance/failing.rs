//! Acknowledgements that are lost: any store, on a disk that fails.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everstep_machine::identity::Timestamp;
use everstep_machine::store::{Pipeline, Replies, Store, StoreFault};

use super::reference::Reference;
use super::{Point, Subject};

/// When the next pipeline fails. Its clones are one.
#[derive(Clone, Debug)]
pub struct Plan(Arc<AtomicUsize>);

const NEVER: usize = usize::MAX;

impl Default for Plan {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(NEVER)))
    }
}

impl Plan {
    /// The next pipeline is answered with [`StoreFault::Indeterminate`] when so many of its commands
    /// have taken effect: with 0 before the first, with all of them behind the last, of which only the
    /// answer is lost then.
    pub fn fail_after(&self, commands: usize) {
        self.0.store(commands, Ordering::Relaxed);
    }

    fn take(&self) -> Option<usize> {
        Some(self.0.swap(NEVER, Ordering::Relaxed)).filter(|it| *it != NEVER)
    }
}

/// A store around another one, that does not say how far it got when its [`Plan`] says so.
///
/// What was to be done before the failure is done by the store inside, as a pipeline. That is a
/// beginning of what was sent, which is what [`StoreFault::Indeterminate`] allows.
#[derive(Debug)]
pub struct Failing<S> {
    store: S,
    plan: Plan,
}

impl<S: Store> Failing<S> {
    /// A store that fails as planned.
    pub const fn new(store: S, plan: Plan) -> Self {
        Self { store, plan }
    }

    /// The store inside.
    pub fn into_inner(self) -> S {
        self.store
    }
}

impl<S: Store> Store for Failing<S> {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let Some(done) = self.plan.take() else { return self.store.execute(pipeline) };
        if done > 0 {
            let lost = self.store.execute(&beginning(pipeline, done));
            // What the disk does not allow either is worse than what is planned.
            if let Err(fault @ StoreFault::Corrupt(_)) = lost {
                return Err(fault);
            }
        }
        Err(StoreFault::Indeterminate)
    }

    fn execute_all(
        &mut self,
        pipelines: &[Pipeline],
        answer: &mut dyn FnMut(Result<Replies, StoreFault>),
    ) {
        self.store.execute_all(pipelines, answer);
    }
}

/// The first commands of a pipeline.
pub(super) fn beginning(pipeline: &Pipeline, commands: usize) -> Pipeline {
    let commands = pipeline.commands.iter().take(commands).cloned().collect();
    Pipeline { lane: pipeline.lane.clone(), commands }
}

/// The stores of somebody, on a disk that fails.
pub(super) struct Faulty<'a, S> {
    pub(super) subject: &'a mut S,
    pub(super) plan: Plan,
}

impl<S: Subject> Subject for Faulty<'_, S> {
    type Store = Failing<S::Store>;

    fn fresh(&mut self) -> Self::Store {
        Failing::new(self.subject.fresh(), self.plan.clone())
    }

    fn reopen(&mut self) -> Self::Store {
        Failing::new(self.subject.reopen(), self.plan.clone())
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.subject.set_clock(now);
    }

    fn crash(
        &mut self,
        store: Self::Store,
        pipeline: &Pipeline,
        point: Point,
    ) -> RangeInclusive<usize> {
        self.subject.crash(store.into_inner(), pipeline, point)
    }

    fn inspect(&mut self, kept: &Reference) -> Result<(), String> {
        self.subject.inspect(kept)
    }
}
