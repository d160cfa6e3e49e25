//! Running the built binary.

use std::path::Path;
use std::process::{Command, Output};

/// What a run of the binary gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs `everstep` in a folder.
pub(crate) fn everstep(folder: &Path, args: &[&str]) -> Ran {
    let command =
        Command::new(env!("CARGO_BIN_EXE_everstep")).args(args).current_dir(folder).output();
    ended(command.expect("the binary can be run"))
}

/// How a process that was not killed has ended.
pub(crate) fn ended(output: Output) -> Ran {
    let Output { status, stdout, stderr } = output;
    Ran {
        code: status.code().expect("it ends by itself"),
        out: String::from_utf8(stdout).expect("it prints text"),
        err: String::from_utf8(stderr).expect("it prints text"),
    }
}

/// A folder of its own.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

/// The text of a scenario of the corpus.
pub(crate) fn corpus(name: &str) -> &'static str {
    let mut all = everstep_sim::scenario::corpus::builtin();
    all.find(|(found, _)| *found == name).expect("it is built in").1
}
