//! What a run may take in of its lane: what was said to it, and what waits behind it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::slice::Slice;
use super::state::{Row, Standing};
use super::step::{follows, steers};
use crate::agent::Joins;
use crate::identity::SubmissionId;
use crate::limits::JOINED_A_RUN;

/// What a run may take in, each in admission order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Said to the run, to come before its next request (RUN-012).
    pub steering: Vec<Arc<Row>>,
    /// Next in the lane, to come when the run would otherwise stop (RUN-013).
    pub following: Vec<Arc<Row>>,
}

impl Offer {
    /// Picks from a slice that holds the host and what was loaded as [`super::Footprint::Offered`].
    /// At most `room` rows.
    ///
    /// What follows is contiguous: the first row behind the host that may not be taken in ends it,
    /// so that nobody is overtaken (DUR-004).
    #[must_use]
    pub fn to(slice: &Slice, host: SubmissionId, joins: Joins, room: usize) -> Self {
        let Some(host) = slice.row(host) else { return Self::default() };
        let room = room.min(JOINED_A_RUN);
        let behind = slice.rows.iter().filter(|row| host.sequence < row.sequence);
        let waits = |row: &&Arc<Row>| Standing::WAITING.contains(&row.standing());
        let waiting: Vec<&Arc<Row>> = behind.filter(waits).collect();
        let steering = waiting.iter().filter(|row| steers(host, row)).take(room);
        let steering: Vec<Arc<Row>> = steering.map(|row| Arc::clone(row)).collect();
        let not_taken = waiting.iter().filter(|row| !steers(host, row));
        let following = not_taken.take_while(|row| follows(host, row));
        let most = joins.most().min(room - steering.len());
        let following = following.take(most).map(|row| Arc::clone(row)).collect();
        Self { steering, following }
    }
}
