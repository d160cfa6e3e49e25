//! The store in memory as one that several handles share.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use everstep_machine::identity::Timestamp;
use everstep_machine::store::{Pipeline, Replies, Store, StoreFault};

use crate::conformance::{Point, Subject};
use crate::profile::Profile;
use crate::store::MemoryStore;

/// One handle.
#[derive(Clone, Debug)]
pub(super) struct Handle(Arc<Mutex<MemoryStore>>);

impl Handle {
    fn new(profile: Profile) -> Self {
        Self(Arc::new(Mutex::new(MemoryStore::new(profile, None))))
    }

    /// A copy of what the store holds now.
    pub(super) fn copy(&self) -> MemoryStore {
        self.0.lock().unwrap().clone()
    }

    /// Puts something else in its place.
    pub(super) fn replace(&self, store: MemoryStore) {
        *self.0.lock().unwrap() = store;
    }
}

impl Store for Handle {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        self.0.lock().unwrap().execute(pipeline)
    }
}

/// A store in memory that outlives its handles.
pub(super) struct Desk {
    profile: Profile,
    clock: Timestamp,
    store: Handle,
}

impl Desk {
    pub(super) fn new(profile: Profile) -> Self {
        Self { profile, clock: Timestamp(0), store: Handle::new(profile) }
    }
}

impl Subject for Desk {
    type Store = Handle;

    fn fresh(&mut self) -> Handle {
        self.store = Handle::new(self.profile);
        self.set_clock(self.clock);
        self.reopen()
    }

    fn reopen(&mut self) -> Handle {
        self.store.clone()
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.clock = now;
        self.store.0.lock().unwrap().set_clock(now);
    }

    fn crash(
        &mut self,
        mut store: Handle,
        pipeline: &Pipeline,
        point: Point,
    ) -> RangeInclusive<usize> {
        let reached = point.command + usize::from(point.done);
        let done = match self.profile {
            Profile::Strong if reached < pipeline.commands.len() => 0,
            Profile::Strong | Profile::Weak => reached,
        };
        let commands = pipeline.commands[..done].to_vec();
        let lane = pipeline.lane.clone();
        let _lost = store.execute(&Pipeline { lane, commands });
        done..=done
    }
}
