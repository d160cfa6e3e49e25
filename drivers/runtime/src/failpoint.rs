//! Ending this process where the simulator would.
//!
//! `EVERSTEP_FAILPOINT=<name>/<phase>[@n]=kill` kills the process by SIGKILL when it passes that
//! failpoint for the n-th time (the first unless it is said). Nothing is flushed, dropped or told.
//! `EVERSTEP_FAILPOINT_TRACE=<file>` writes each failpoint that is passed to a file, a line each.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Write as _, stderr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use everstep_machine::effect::{Failpoint, FailpointError};

const KILL: &str = "EVERSTEP_FAILPOINT";
const TRACE: &str = "EVERSTEP_FAILPOINT_TRACE";

/// Why the environment arms no failpoint.
#[derive(Debug, thiserror::Error)]
pub enum FailpointsError {
    /// The variable is not text.
    #[error("{KILL} is not text")]
    NotText,
    /// There is no action, or another one.
    #[error("{KILL} is written <name>/<phase>[@n]=kill, not `{0}`")]
    NoAction(String),
    /// What follows the `@` counts nothing.
    #[error("{KILL}: `{0}` is no occurrence; the first time is `@1`")]
    Occurrence(String),
    /// There is no such failpoint.
    #[error("{KILL}: `{text}`: {why}")]
    Unknown {
        /// What was written.
        text: String,
        /// Why not.
        why: FailpointError,
    },
    /// The file to write to cannot be opened.
    #[error("{}: {why}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: std::io::Error,
    },
}

/// What happens at failpoints: nothing, unless a test says otherwise.
#[derive(Clone, Debug, Default)]
pub struct Failpoints(Option<Arc<Mutex<Armed>>>);

#[derive(Debug)]
struct Armed {
    kill: Option<(Failpoint, u32)>,
    trace: Option<File>,
    passed: BTreeMap<Failpoint, u32>,
}

impl Failpoints {
    /// Nothing happens at any of them.
    #[must_use]
    pub const fn disarmed() -> Self {
        Self(None)
    }

    /// As the environment of this process says.
    ///
    /// # Errors
    /// The variables are set, but not as they are written.
    pub fn from_env() -> Result<Self, FailpointsError> {
        Self::read(env::var_os(KILL), env::var_os(TRACE))
    }

    fn read(kill: Option<OsString>, trace: Option<OsString>) -> Result<Self, FailpointsError> {
        let kill = kill.map(|text| text.into_string().map_err(|_| FailpointsError::NotText));
        let kill = kill.transpose()?.map(|text| armed(&text)).transpose()?;
        let trace = trace.map(|path| opened(path.into())).transpose()?;
        if kill.is_none() && trace.is_none() {
            return Ok(Self::disarmed());
        }
        Ok(Self(Some(Arc::new(Mutex::new(Armed { kill, trace, passed: BTreeMap::new() })))))
    }

    /// Writes what is passed to a file.
    #[cfg(test)]
    pub(crate) fn tracing(path: &std::path::Path) -> Self {
        Self::read(None, Some(path.into())).unwrap()
    }

    /// This process passes a failpoint; it may not live on.
    pub fn pass(&self, failpoint: Failpoint) {
        let Some(armed) = &self.0 else { return };
        let mut armed = armed.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = armed.passed.entry(failpoint).or_default();
        *passed += 1;
        let passed = *passed;
        if let Some(trace) = &mut armed.trace
            && let Err(why) = writeln!(trace, "{failpoint}")
        {
            // Said once, where somebody may look; what is traced goes on all the same.
            let _ = writeln!(stderr(), "warning: {TRACE}: {why}; nothing more is traced");
            armed.trace = None;
        }
        if armed.kill == Some((failpoint, passed)) {
            die();
        }
    }
}

fn armed(text: &str) -> Result<(Failpoint, u32), FailpointsError> {
    let no_action = || FailpointsError::NoAction(text.to_owned());
    let place = text.strip_suffix("=kill").ok_or_else(no_action)?;
    let (name, occurrence) = match place.split_once('@') {
        None => (place, 1),
        Some((name, count)) => {
            let number = count.parse().ok().filter(|number| *number > 0);
            (name, number.ok_or_else(|| FailpointsError::Occurrence(count.to_owned()))?)
        }
    };
    let unknown = |why| FailpointsError::Unknown { text: name.to_owned(), why };
    Ok((name.parse().map_err(unknown)?, occurrence))
}

fn opened(path: PathBuf) -> Result<File, FailpointsError> {
    let file = OpenOptions::new().create(true).append(true).open(&path);
    file.map_err(|why| FailpointsError::Trace { path, why })
}

/// Ends the process at once and from outside, as far as it can tell.
#[cfg(unix)]
fn die() -> ! {
    use rustix::process::{Signal, getpid, kill_process};

    kill_process(getpid(), Signal::KILL).expect("DUR-019: a process may kill itself");
    loop {
        std::thread::park();
    }
}

#[cfg(not(unix))]
fn die() -> ! {
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use everstep_machine::effect::Failpoint;

    use super::{Failpoints, FailpointsError, armed};

    #[test]
    fn dur_019_every_failpoint_can_be_armed_by_its_name() {
        for failpoint in Failpoint::all() {
            assert_eq!(armed(&format!("{failpoint}=kill")).unwrap(), (failpoint, 1));
            assert_eq!(armed(&format!("{failpoint}@3=kill")).unwrap(), (failpoint, 3));
        }
    }

    #[test]
    fn dur_019_what_arms_nothing_is_refused_with_words() {
        let refused = |text: &str| armed(text).unwrap_err();
        assert!(matches!(refused("tool.invoke/during"), FailpointsError::NoAction(_)));
        assert!(matches!(refused("tool.invoke/during=pause"), FailpointsError::NoAction(_)));
        for count in ["tool.invoke/during@0=kill", "tool.invoke/during@x=kill"] {
            assert!(matches!(refused(count), FailpointsError::Occurrence(_)), "{count}");
        }
        assert!(matches!(refused("tool.invok/during=kill"), FailpointsError::Unknown { .. }));
        let nowhere = Failpoints::read(None, Some("/nowhere/at/all".into()));
        assert!(matches!(nowhere, Err(FailpointsError::Trace { .. })));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn dur_019_a_trace_that_cannot_be_written_stops_nothing() {
        let points = Failpoints::tracing(std::path::Path::new("/dev/full"));
        Failpoint::all().for_each(|point| points.pass(point));
    }

    #[test]
    fn dur_019_what_is_passed_is_traced_in_order() {
        let folder = std::env::temp_dir().join(format!("everstep-trace-{}", std::process::id()));
        let points = Failpoints::tracing(&folder);
        let all: Vec<_> = Failpoint::all().collect();
        all.iter().for_each(|point| points.pass(*point));
        let written = std::fs::read_to_string(&folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        let expected: Vec<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(written.lines().collect::<Vec<_>>(), expected);
    }
}
