//! The world of the machines can be checked.

use everstep_sim::oracle::Property;
use everstep_sim::world::{Event, World};

use crate::model::{Model, Move};

/// A world that was set free ([`World::set_free`]).
impl Model for World {
    type Action = Event;
    type Property = Property;

    fn moves(&self) -> Vec<Move<Event>> {
        let events = self.events().into_iter();
        events.map(|(action, faults)| Move { action, faults }).collect()
    }

    fn apply(&mut self, action: &Event) {
        self.happens(*action);
    }

    fn describe(&self, action: &Event) -> String {
        self.tell_event(*action)
    }

    fn violation(&self) -> Option<(Property, String)> {
        Self::violation(self).map(|broken| (broken.property, broken.detail.clone()))
    }

    fn conclude(&mut self) {
        Self::conclude(self);
    }

    fn fingerprint(&self) -> u128 {
        Self::fingerprint(self)
    }
}
