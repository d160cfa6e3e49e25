//! The file that a tool appends to: whole lines, or nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use everstep_machine::agent::ExecutionClass;
use everstep_machine::effect::Invocation;
use everstep_machine::identity::ToolCallId;

/// Why a line is not known to be on disk.
pub(super) enum NotAppended {
    /// The file is as it was.
    Untouched(io::Error),
    /// The line, or a part of it, may be there.
    Unsure(io::Error),
}

/// Appends one line, and returns when it is on disk. Under one lock with looking whether the line
/// is there, for a tool whose calls may be repeated, and with taking back what was written of it
/// if not all of it could be.
pub(super) fn append(path: &Path, invocation: &Invocation) -> Result<(), NotAppended> {
    let (mut file, length, begins) = prepared(path, invocation).map_err(NotAppended::Untouched)?;
    let Some(begins) = begins else { return Ok(()) };
    let line = format!("{begins}{} {}\n", invocation.call, invocation.parameters.as_str());
    let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
    written.map_err(|why| match file.set_len(length).and_then(|()| file.sync_data()) {
        Ok(()) => NotAppended::Untouched(why),
        Err(_) => NotAppended::Unsure(why),
    })
}

/// The file under its lock, its length, and what a new line begins with: nothing, or the end of
/// the line before, which somebody has left open. None if the line is there and need not be again.
fn prepared(path: &Path, invocation: &Invocation) -> io::Result<(File, u64, Option<&'static str>)> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    file.lock()?;
    let length = file.seek(SeekFrom::End(0))?;
    if invocation.class == ExecutionClass::Idempotent && is_there(&mut file, invocation.call)? {
        return Ok((file, length, None));
    }
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let begins = if last == [b'\n'] { "" } else { "\n" };
    Ok((file, length, Some(begins)))
}

/// Whether a whole line begins with the call's id.
pub(super) fn is_there(file: &mut File, call: ToolCallId) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let id = format!("{call} ");
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    Ok(lines.any(|line| line.ends_with(b"\n") && line.starts_with(id.as_bytes())))
}
