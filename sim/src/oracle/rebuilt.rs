//! The ledger, made anew of the log, is the ledger (DUR-015).

use std::sync::Arc;

use everstep_machine::ledger::{Agreement, Phase, Reconstruction, Row, agreement};
use everstep_machine::projection::Projection;

use crate::store::Shelf;

/// In what the rows of a lane differ from those that are made of its log, if in anything: of the log
/// alone, and of the log and the rows. The latter are the same but for who died of them.
pub(super) fn difference(shelf: &Shelf, fold: &Projection) -> Option<String> {
    let mut log = Reconstruction::default();
    if let Some(why) = shelf.log().batches().iter().find_map(|batch| log.feed(batch).err()) {
        return Some(why.to_string());
    }
    let (alone, again) = (log.rows(&[]), log.rows(shelf.rows()));
    let made = alone.iter().chain(&again).find(|row| agreement(row, fold) != Agreement::Current);
    if let Some(made) = made {
        return Some(format!("made of the log it is {made:?}"));
    }
    let is_over = |row: &&Arc<Row>| {
        let settled = matches!(row.phase, Phase::Settled(_));
        settled && agreement(row, fold) == Agreement::Current
    };
    let kept = |row: &Row| Row { fruitless: Vec::new(), ..row.clone() };
    let mut over = shelf.rows().iter().filter(is_over);
    let lost = over.find(|row| !again.iter().any(|made| **made == kept(row)));
    lost.map(|row| format!("{row:?} does not stay as it is"))
}
