//! A file that is being made: nobody knows of it before it is whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::{CopyError, StoreError, Trouble};
use crate::open::{self, Opened, absolute, companion, folder};
use crate::transaction::patiently;

/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-journal", "-shm"];

/// A file beside the place that it is for. It is removed unless it is published.
pub(super) struct Partial {
    path: PathBuf,
    place: PathBuf,
    is_done: bool,
}

impl Partial {
    /// A file for this place, at which nothing may be: neither a file nor what SQLite would take
    /// for a part of one.
    pub(super) fn beside(place: &Path) -> Result<Self, CopyError> {
        let place = absolute(place).map_err(CopyError::Open)?;
        vacant(&place)?;
        if !folder(&place).is_dir() {
            let folder = folder(&place).to_owned();
            return Err(CopyError::Open(crate::OpenError::NoFolder { folder }));
        }
        let path = companion(&place, &format!("-{}.partial", std::process::id()));
        // Whoever had this number before is gone.
        remove(&path);
        Ok(Self { path, place, is_done: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies one moment of a database, row by row.
    pub(super) fn fill(&self, source: &Opened, busy: Duration) -> Result<(), CopyError> {
        let Some(name) = self.path.to_str() else {
            let detail = "its name is not UTF-8, which SQLite's copying needs".to_owned();
            return Err(CopyError::Io { path: self.path.clone(), detail });
        };
        self.make(&source.path)?;
        let copied = patiently(busy, &mut 0, || {
            Ok(source.connection.execute("VACUUM INTO ?1", [name]).map(drop)?)
        });
        copied.map_err(|trouble| self.failed(trouble, &source.path, busy))
    }

    /// Changes what was copied, and brings it to the disk.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&Connection) -> Result<(), Trouble>,
    ) -> Result<(), CopyError> {
        let connection = open::copy(&self.path).map_err(CopyError::Open)?;
        let failed = |trouble| self.failed(trouble, &self.path, Duration::ZERO);
        change(&connection).map_err(failed)?;
        connection.close().map_err(|(_, why)| failed(why.into()))
    }

    /// Gives it its name, unless something has that name.
    pub(super) fn publish(mut self) -> Result<(), CopyError> {
        let place = self.place.clone();
        let failed = |why: io::Error| CopyError::io(&why, &place);
        File::open(&self.path).and_then(|file| file.sync_all()).map_err(failed)?;
        vacant(&place)?;
        match fs::hard_link(&self.path, &place) {
            Ok(()) => {}
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
                return Err(CopyError::Taken { path: place });
            }
            // No links there: between the look and the renaming somebody else could take the name.
            Err(_) => fs::rename(&self.path, &place).map_err(failed)?,
        }
        remove(&self.path);
        self.is_done = true;
        synced(folder(&place)).map_err(failed)
    }

    /// An empty file that those may read who may read the source, and that its owner may write.
    fn make(&self, source: &Path) -> Result<(), CopyError> {
        let made = File::options().write(true).create_new(true).open(&self.path);
        let granted = made.and_then(|file| file.set_permissions(rights(source)?));
        granted.map_err(|why| CopyError::io(&why, &self.place))
    }

    /// What SQLite says it says of the source. Only that is damaged; there is space for it already.
    fn failed(&self, trouble: Trouble, source: &Path, busy: Duration) -> CopyError {
        let path = self.place.clone();
        match trouble.at(source, busy) {
            StoreError::Full { .. } => CopyError::Full { path },
            StoreError::Io { detail, .. } => CopyError::Io { path, detail },
            other @ (StoreError::Refused { .. }
            | StoreError::Busy { .. }
            | StoreError::Moved { .. }
            | StoreError::Corrupt { .. }) => CopyError::Store(other),
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_done {
            remove(&self.path);
        }
    }
}

/// Nothing may be at a place: neither a file nor what SQLite would take for a part of one.
fn vacant(place: &Path) -> Result<(), CopyError> {
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let is_filled = |path: &Path| fs::metadata(path).is_ok_and(|it| it.len() > 0);
    if is_there(place) {
        return Err(CopyError::Taken { path: place.to_owned() });
    }
    let mut beside = BESIDE.iter().map(|ending| companion(place, ending));
    match beside.find(|path| is_filled(path)) {
        Some(path) => Err(CopyError::Taken { path }),
        None => Ok(()),
    }
}

/// What cannot be removed is left: it has a name that says what it is.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    for ending in BESIDE {
        let _ = fs::remove_file(companion(path, ending));
    }
}

#[cfg(unix)]
fn rights(source: &Path) -> io::Result<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt as _;

    const OWNER_WRITES: u32 = 0o600;
    let mode = fs::metadata(source)?.permissions().mode();
    Ok(fs::Permissions::from_mode(mode & 0o777 | OWNER_WRITES))
}

#[cfg(not(unix))]
fn rights(source: &Path) -> io::Result<fs::Permissions> {
    fs::metadata(source).map(|it| it.permissions())
}

/// A name is on the disk when its folder is.
#[cfg(unix)]
fn synced(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn synced(_: &Path) -> io::Result<()> {
    Ok(())
}
