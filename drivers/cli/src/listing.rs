//! Walking through a whole file, page by page.
//!
//! What cannot be read keeps nothing else from being listed; every walk gives it back.

use everstep_machine::identity::AdmissionSequence;
use everstep_machine::ledger::Lane;
use everstep_sqlite::{Corrupt, LanePlace, LaneRow, Listed, MAX_LISTED, SqliteReader, StoreError};

use crate::database::unread;
use crate::exit::{Complaint, Exit};

/// Complains of what a walk could not read.
pub(crate) fn unreadable(corrupt: &[Corrupt]) -> Result<(), Complaint> {
    let Some(first) = corrupt.first() else { return Ok(()) };
    let more = match corrupt.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let text = format!("{first}{more}\nhelp: `everstep log verify` checks every conversation");
    Err(Complaint::new(Exit::Safety, text))
}

/// Every entry of a list that is read page by page, as `each` takes it.
pub(crate) fn every<T, K>(
    read: impl Fn(Option<&K>) -> Result<Listed<T, K>, StoreError>,
    mut each: impl FnMut(T) -> Result<(), Complaint>,
) -> Result<Vec<Corrupt>, Complaint> {
    let (mut corrupt, mut after) = (Vec::new(), None);
    loop {
        let page = read(after.as_ref()).map_err(unread)?;
        page.entries.into_iter().try_for_each(&mut each)?;
        corrupt.extend(page.corrupt);
        after = page.after;
        if after.is_none() {
            return Ok(corrupt);
        }
    }
}

/// Every lane, as `each` takes it.
pub(crate) fn every_lane(
    reader: &SqliteReader,
    each: impl FnMut(Lane) -> Result<(), Complaint>,
) -> Result<Vec<Corrupt>, Complaint> {
    every(|after| reader.lanes(after, MAX_LISTED), each)
}

/// Every row of every lane, as `each` takes it.
pub(crate) fn every_row(
    reader: &SqliteReader,
    mut each: impl FnMut(LaneRow),
) -> Result<Vec<Corrupt>, Complaint> {
    let mut corrupt = Vec::new();
    let lanes = every_lane(reader, |lane| {
        let mut from = Some(AdmissionSequence(0));
        while let Some(place) = from {
            let page = reader.rows(&lane.conversation, place, MAX_LISTED).map_err(unread)?;
            page.entries.into_iter().for_each(|row| each((lane.conversation.clone(), row)));
            corrupt.extend(page.corrupt);
            from = page.after;
        }
        Ok(())
    })?;
    corrupt.extend(lanes);
    Ok(corrupt)
}

/// Every row that waits for a worker or for a person.
pub(crate) fn every_waiting_row(
    reader: &SqliteReader,
    mut each: impl FnMut(LaneRow),
) -> Result<Vec<Corrupt>, Complaint> {
    let read = |after: Option<&LanePlace>| {
        reader.waiting(after.map(|(lane, place)| (lane, *place)), MAX_LISTED)
    };
    every(read, |row| {
        each(row);
        Ok(())
    })
}
