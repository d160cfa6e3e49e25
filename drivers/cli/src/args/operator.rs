//! The grammar of what an operator looks at and says.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use super::copies::{Export, Import};
use super::list::List;
use crate::output::breaks;

const SUBMISSIONS_HELP: &str = "\
Examples:
  everstep submissions list
  everstep submissions list --waiting-for people --older-than 10m --fail-if-any
  everstep submissions show 3f1c                    as many digits of the id as tell it apart
  everstep submissions abort 3f1c --reason 'ordered twice'
  everstep submissions resolve 3f1c completed --result '{\"receipt\":\"R-1\"}'
  everstep submissions resolve 3f1c never-started   only if it can not start any more
  everstep submissions approve 3f1c                 a call that asks may start
  everstep submissions steer 3f1c 'make it two'     its model is shown it next
  everstep submissions retry 3f1c --reason 'mended' what was given up, once more
  everstep submissions rebind 3f1c --reason 'ok'    it may go on with the agent as it is now

Exit codes:
  0  it is listed, shown or noted; what was said already stands
  1  something in the database is corrupt
  2  the command is wrong, there is no such submission, or it cannot be said of it
  3  the environment failed: the database cannot be opened, read or written
  4  something is listed, and `--fail-if-any` was asked for";

/// What `everstep submissions` is asked.
#[derive(Args, Debug)]
#[command(after_help = SUBMISSIONS_HELP)]
pub(crate) struct Submissions {
    /// What to do
    #[command(subcommand)]
    pub(crate) act: SubmissionsAct,
}

const SHOW_HELP: &str = "\
Examples:
  everstep submissions show 3f1c                    as many digits of the id as tell it apart
  everstep submissions show 3f1c --json             for machines";

const ABORT_HELP: &str = "\
Examples:
  everstep submissions abort 3f1c
  everstep submissions abort 3f1c --by ada --reason 'ordered twice'";

const RETRY_HELP: &str = "\
Examples:
  everstep submissions retry 3f1c --by ada --reason 'the file is repaired'

What comes of it is a submission of its own, with the same input, behind whatever waits in its
conversation. It begins at the beginning: calls that the first one made are made again. Saying it
again begins no second one, and is answered with who said it first. What is given up again can be
retried again, by its own id.";

const REBIND_HELP: &str = "\
Examples:
  everstep submissions show 3f1c                    what its run is bound to, and what was found
  everstep submissions rebind 3f1c --by ada --reason 'the new wording does no harm'

A run is bound to the definition, the model and the tools that it began with. A worker that has
others leaves it alone, and it is listed as incompatible: a worker that has what the run is bound to
takes it at once. After a week without one the run ends as failed. This lets it go on with what was
found last instead; what its model has said and its tools have done stays. Who says something else
later is heard, until it is recorded.";

/// What can be done about submissions.
#[derive(Debug, Subcommand)]
pub(crate) enum SubmissionsAct {
    /// Those that have something left to do
    List(List),
    /// One of them, with its unknown outcomes and its settlement
    #[command(after_help = SHOW_HELP)]
    Show {
        /// The id, or the beginning of it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        submission: String,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Ask for its end: whoever works on it settles it as aborted
    ///
    /// Who asks first stands: saying it again changes nothing.
    #[command(after_help = ABORT_HELP)]
    Abort {
        /// The id, or the beginning of it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        submission: String,
        /// Who says so, and why
        #[command(flatten)]
        word: Word,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Begin again what was given up because workers kept dying of it
    ///
    /// Who asks first stands: saying it again changes nothing.
    #[command(after_help = RETRY_HELP)]
    Retry {
        /// The id, or the beginning of it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        submission: String,
        /// Who says so, and why
        #[command(flatten)]
        word: Word,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Let a run go on with another definition, model or tools than it began with
    ///
    /// The last word counts, until a worker has recorded it.
    #[command(after_help = REBIND_HELP)]
    Rebind {
        /// The id, or the beginning of it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        submission: String,
        /// Who says so, and why
        #[command(flatten)]
        word: Word,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Say what became of a call of which nobody knows
    ///
    /// What is said first stands: saying the same again changes nothing, saying anything else is
    /// refused.
    Resolve(Resolve),
    /// Say something to a run that goes on: its model is shown it with the next request
    ///
    /// It is a submission of its own, with its own id. If the run asks its model no more, it is
    /// answered after it. Saying the same again under the same key changes nothing.
    #[command(after_help = STEER_HELP)]
    Steer {
        /// The id of the submission that began the run, or the beginning of it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        submission: String,
        /// What is said; `@FILE` takes it from a file, and `@@` begins a text that begins with `@`
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        text: String,
        /// Who says it
        #[arg(long, value_name = "NAME", default_value = "operator", value_parser = line)]
        by: String,
        /// Sets apart what is otherwise said twice
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        key: Option<String>,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Let a call start that asks first
    ///
    /// It counts for exactly the parameters that are shown. Who decides first stands.
    #[command(after_help = APPROVE_HELP)]
    Approve(Decide),
    /// Keep a call from starting that asks first
    ///
    /// Who decides first stands. Nothing of the call's batch starts.
    #[command(after_help = DENY_HELP)]
    Deny(Decide),
}

const STEER_HELP: &str = "\
Examples:
  everstep submissions steer 3f1c 'make it two'
  everstep submissions steer 3f1c 'make it two' --by ada --key again";

const APPROVE_HELP: &str = "\
Examples:
  everstep submissions approve 3f1c
  everstep submissions approve 3f1c --request 9ab0 --by carol --reason 'checked the order'";

const DENY_HELP: &str = "\
Examples:
  everstep submissions deny 3f1c --reason 'too much'
  everstep submissions deny 3f1c --request 9ab0 --by carol";

/// What `everstep submissions approve` and `deny` are asked.
#[derive(Args, Debug)]
pub(crate) struct Decide {
    /// The id, or the beginning of it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) submission: String,
    /// Which request, or the beginning of its id; needed if several are open
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) request: Option<String>,
    /// Who says so, and why
    #[command(flatten)]
    pub(crate) word: Word,
    /// How to look
    #[command(flatten)]
    pub(crate) look: Look,
}

/// Which file, and how to print.
#[derive(Args, Debug)]
pub(crate) struct Look {
    /// The database
    #[arg(long, value_name = "FILE", default_value = "everstep.db")]
    pub(crate) db: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who says something, and why: both are recorded.
#[derive(Args, Debug)]
pub(crate) struct Word {
    /// Who says so
    #[arg(long, value_name = "NAME", default_value = "operator", value_parser = line)]
    pub(crate) by: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "said on the command line",
          value_parser = line)]
    pub(crate) reason: String,
}

const RESOLVE_HELP: &str = "\
Examples, of which one is true:
  everstep submissions resolve 3f1c completed --result '{\"receipt\":\"R-1\"}'
  everstep submissions resolve 3f1c failed --tag Declined --message 'the card was declined'
  everstep submissions resolve 3f1c never-started    it has not started, and can not any more
  everstep submissions resolve 3f1c safe-to-repeat   it may have, and once more does no harm";

/// What `everstep submissions resolve` is asked.
#[derive(Args, Debug)]
#[command(after_help = RESOLVE_HELP)]
pub(crate) struct Resolve {
    /// The id, or the beginning of it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) submission: String,
    /// What became of the call
    #[arg(value_parser = ["completed", "failed", "never-started", "safe-to-repeat"])]
    pub(crate) answer: String,
    /// Which call, or the beginning of its id; needed if several are open
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) call: Option<String>,
    /// With `completed`: what the call returned, as JSON [default: null]
    #[arg(long, value_name = "JSON")]
    pub(crate) result: Option<String>,
    /// With `failed`: the failure's short, stable name [default: Failed]
    #[arg(long, value_name = "NAME", value_parser = line)]
    pub(crate) tag: Option<String>,
    /// With `failed`: what happened
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) message: Option<String>,
    /// Who says so, and why
    #[command(flatten)]
    pub(crate) word: Word,
    /// How to look
    #[command(flatten)]
    pub(crate) look: Look,
}

const LOG_HELP: &str = "\
Examples:
  everstep log show run-3f1c
  everstep log verify               every conversation, and the file itself
  everstep log export > shop.jsonl

Exit codes:
  0  it is shown, printed, rebuilt, exported or imported, or everything verifies
  1  something does not verify
  2  the command is wrong, there is no such conversation, or another one of its name is there
  3  the environment failed: a file cannot be opened, read or written";

/// What `everstep log` is asked.
#[derive(Args, Debug)]
#[command(after_help = LOG_HELP)]
pub(crate) struct Log {
    /// What to do
    #[command(subcommand)]
    pub(crate) act: LogAct,
}

const LOG_SHOW_HELP: &str = "\
Examples:
  everstep log show run-3f1c                        a record a line
  everstep log show run-3f1c --json                 with every field, for machines";

const LOG_ARTIFACT_HELP: &str = "\
Examples:
  everstep log artifact run-3f1c 9ab0               as `log show` names it
  everstep log artifact run-3f1c 9ab0 | sha256sum   says that name again";

const LOG_VERIFY_HELP: &str = "\
Examples:
  everstep log verify                               every conversation, and the file itself
  everstep log verify run-3f1c --db shop.db         one conversation";

const LOG_REBUILD_HELP: &str = "\
Examples:
  everstep log rebuild run-3f1c                     after `log verify` has called its ledger corrupt";

/// What can be done with a log.
#[derive(Debug, Subcommand)]
pub(crate) enum LogAct {
    /// Every record of a conversation
    #[command(after_help = LOG_SHOW_HELP)]
    Show {
        /// Its name, or the beginning of it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        conversation: String,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// All of a result that was too long for its record
    ///
    /// It is printed as it is, not a byte more, if it is what its digest says.
    #[command(after_help = LOG_ARTIFACT_HELP)]
    Artifact {
        /// The conversation's name, or the beginning of it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        conversation: String,
        /// The artifact's digest, or the beginning of it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        artifact: String,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Check every batch, its digests and their chain, and that no row says more than the log
    #[command(after_help = LOG_VERIFY_HELP)]
    Verify {
        /// Its name, or the beginning of it; without it all of them, and the file itself
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        conversation: Option<String>,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Make the ledger anew of the log, where it is damaged
    ///
    /// What can be read of the ledger is kept, except where the log says otherwise. A log that does
    /// not verify is left alone, and so is a ledger with which nothing is wrong. Whoever works on
    /// the conversation is superseded.
    #[command(after_help = LOG_REBUILD_HELP)]
    Rebuild {
        /// Its name, or the beginning of the names of several; without it all of them
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        conversation: Option<String>,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Print everything of one conversation, or of all, as JSON lines
    Export(Export),
    /// Take conversations in that were exported from another database
    ///
    /// Each is taken in whole or not at all, and only if all of the file verifies. What was under
    /// way is found as after a crash. One that is there already stays as it is.
    Import(Import),
}

/// A text that is recorded beside others, and shown in one line.
pub(super) fn line(text: &str) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err("it cannot be empty");
    }
    if text.contains(breaks) {
        return Err("it is one line, without control characters");
    }
    Ok(text.to_owned())
}
