//! The file that a tool appends to: whole lines, or nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use everstep_machine::agent::ExecutionClass;
use everstep_machine::effect::Invocation;
use everstep_machine::identity::{StepKey, StepName};

/// Why a line is not known to be on disk.
pub(super) enum NotAppended {
    /// The file is as it was.
    Untouched(io::Error),
    /// The line, or a part of it, may be there.
    Unsure(io::Error),
}

/// A line for a file. It begins with a key.
pub(super) struct Line {
    key: String,
    rest: String,
    /// Whether the file is left alone when a line with this key is there.
    once: bool,
}

impl Line {
    /// The line of a call, under its id.
    pub(super) fn of_call(invocation: &Invocation) -> Self {
        Self {
            key: invocation.call.to_string(),
            rest: invocation.parameters.as_str().to_owned(),
            once: invocation.class == ExecutionClass::Idempotent,
        }
    }

    /// The line of a step of a call, under its key: its body may run again.
    pub(super) fn of_step(key: StepKey, step: &StepName, invocation: &Invocation) -> Self {
        let rest = format!("{step} {}", invocation.parameters.as_str());
        Self { key: key.to_string(), rest, once: true }
    }
}

/// Appends one line, and returns when it is on disk. Under one lock with looking whether the line
/// is there, for what may be repeated, and with taking back what was written of it if not all of it
/// could be.
pub(super) fn append(path: &Path, line: &Line) -> Result<(), NotAppended> {
    let (mut file, length, begins) = prepared(path, line).map_err(NotAppended::Untouched)?;
    let Some(begins) = begins else { return Ok(()) };
    let line = format!("{begins}{} {}\n", line.key, line.rest);
    let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
    written.map_err(|why| match file.set_len(length).and_then(|()| file.sync_data()) {
        Ok(()) => NotAppended::Untouched(why),
        Err(_) => NotAppended::Unsure(why),
    })
}

/// The file under its lock, its length, and what a new line begins with: nothing, or the end of
/// the line before, which somebody has left open. None if the line is there and need not be again.
fn prepared(path: &Path, line: &Line) -> io::Result<(File, u64, Option<&'static str>)> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    file.lock()?;
    let length = file.seek(SeekFrom::End(0))?;
    if line.once && is_there(&mut file, &line.key)? {
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

/// Whether a whole line begins with this key.
pub(super) fn is_there(file: &mut File, key: &str) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let id = format!("{key} ");
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    Ok(lines.any(|line| line.ends_with(b"\n") && line.starts_with(id.as_bytes())))
}
