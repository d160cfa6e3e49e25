//! One moment of a database, in a file of its own.

use std::path::Path;
use std::time::Duration;

use super::partial::Partial;
use super::{Copied, verified};
use crate::error::CopyError;
use crate::format::BACKUP_ID;
use crate::open;

/// Makes a backup of the database at `from`, also while others work on it, and names it `to` when
/// all of it is read back and on the disk. What is in it is what was committed at one moment.
/// Nobody waits for it; the write-ahead log is not begun anew before it is done. `busy` is how long
/// it waits where it must.
///
/// # Errors
/// Everything that [`CopyError`] lists; then nothing is there under that name that was not before.
pub fn backup(from: &Path, to: &Path, busy: Duration) -> Result<Copied, CopyError> {
    let source = open::reader(from, busy).map_err(CopyError::Open)?;
    let partial = Partial::beside(to)?;
    partial.fill(&source, busy)?;
    drop(source);
    partial.change(|connection| {
        connection.pragma_update(None, "application_id", BACKUP_ID)?;
        Ok(())
    })?;
    let copied = verified(partial.path(), busy)?;
    partial.publish()?;
    Ok(copied)
}
