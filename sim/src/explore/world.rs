//! The world of the machines can be searched.

use super::{Explorable, Place};
use crate::fault::Fault;
use crate::oracle::{Property, SometimesSet};
use crate::world::World;

impl Explorable for World {
    type Property = Property;

    fn place(&self) -> Option<Place> {
        let moment = self.moment()?;
        Some(Place { failpoint: moment.failpoint, process: moment.process.0 })
    }

    fn faults(&self) -> impl Iterator<Item = Fault> {
        Self::faults(self).iter()
    }

    fn inject(&mut self, fault: Fault) {
        Self::inject(self, fault);
    }

    fn advance(&mut self) {
        Self::advance(self);
    }

    fn drain(&mut self) -> bool {
        Self::drain(self)
    }

    fn conclude(&mut self) {
        Self::conclude(self);
    }

    fn violation(&self) -> Option<Property> {
        Self::violation(self).map(|violation| violation.property)
    }

    fn fingerprint(&self) -> u128 {
        Self::fingerprint(self)
    }

    fn reached(&self) -> SometimesSet {
        Self::reached(self)
    }
}
