//! The grammar of what is kept beside the logs: sessions and agents' state.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use super::operator::{Look, line};

const EXITS: &str = "\
Exit codes:
  0  it is listed, shown or done
  1  something in the database is corrupt
  2  the command is wrong, there is no such thing, or it is at another revision
  3  the environment failed: the database cannot be opened, read or written";

const SESSIONS_HELP: &str = "\
Examples:
  everstep sessions create support --conversation run-3f1c --metadata '{\"title\":\"Order 7\"}'
  everstep sessions update support --expect 1 --add run-9ab0
  everstep sessions list --json";

/// What `everstep sessions` is asked.
#[derive(Args, Debug)]
#[command(after_help = EXITS, before_help = SESSIONS_HELP)]
pub(crate) struct Sessions {
    /// What to do
    #[command(subcommand)]
    pub(crate) act: SessionsAct,
}

/// What can be done with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsAct {
    /// All of them
    List {
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// One of them
    Show {
        /// Its name
        #[arg(value_parser = line)]
        session: String,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Make one
    ///
    /// Saying the same again changes nothing, as long as nobody has changed the session.
    Create {
        /// Its name
        #[arg(value_parser = line)]
        session: String,
        /// Whose data it is
        #[arg(long, value_name = "NAME", default_value = "default", value_parser = line)]
        tenant: String,
        /// A conversation that it points to; may be given several times, and need not be there
        #[arg(long, value_name = "NAME", value_parser = line)]
        conversation: Vec<String>,
        /// What is remembered of it
        #[command(flatten)]
        metadata: Metadata,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Change one that is at the revision that was read
    Update {
        /// Its name
        #[arg(value_parser = line)]
        session: String,
        /// The revision that it is at
        #[arg(long, value_name = "N")]
        expect: u64,
        /// A conversation that it points to as well; may be given several times
        #[arg(long, value_name = "NAME", value_parser = line)]
        add: Vec<String>,
        /// A conversation that it points to no more; may be given several times
        #[arg(long, value_name = "NAME", value_parser = line)]
        remove: Vec<String>,
        /// What is remembered of it
        #[command(flatten)]
        metadata: Metadata,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Delete one that is at the revision that was read; its conversations stay
    Delete {
        /// Its name
        #[arg(value_parser = line)]
        session: String,
        /// The revision that it is at
        #[arg(long, value_name = "N")]
        expect: u64,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
}

/// What is remembered of a session.
#[derive(Args, Debug)]
pub(crate) struct Metadata {
    /// What is remembered of it, as JSON, at most 16 KiB [default: null for a new one]
    #[arg(long, value_name = "JSON", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) metadata: Option<String>,
    /// The version of the schema that this fits
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) version: u32,
}

const STATE_HELP: &str = "\
Examples:
  everstep state list                               every key, and what holds it
  everstep state show --agent clerk total
  everstep state set --agent clerk total 7 --expect 3 --class uncertain";

/// What `everstep state` is asked.
#[derive(Args, Debug)]
#[command(after_help = EXITS, before_help = STATE_HELP)]
pub(crate) struct State {
    /// What to do
    #[command(subcommand)]
    pub(crate) act: StateAct,
}

/// What can be done with agents' state.
#[derive(Debug, Subcommand)]
pub(crate) enum StateAct {
    /// Every key of every agent and run
    List {
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// What is under a key
    Show {
        /// Where
        #[command(flatten)]
        at: At,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Write a key
    Set {
        /// Where
        #[command(flatten)]
        at: At,
        /// The value, as JSON, at most 64 KiB
        #[arg(value_name = "JSON", value_parser = NonEmptyStringValueParser::new())]
        value: String,
        /// The version of the schema that it fits
        #[arg(long, value_name = "N", default_value_t = 1)]
        version: u32,
        /// Over what
        #[command(flatten)]
        over: Over,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
    /// Remove a key
    Remove {
        /// Where
        #[command(flatten)]
        at: At,
        /// Over what
        #[command(flatten)]
        over: Over,
        /// How to look
        #[command(flatten)]
        look: Look,
    },
}

/// Where a value is.
#[derive(Args, Debug)]
pub(crate) struct At {
    /// The agent
    #[arg(long, value_name = "NAME", value_parser = line)]
    pub(crate) agent: String,
    /// For which tenant
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = line)]
    pub(crate) tenant: String,
    /// The key
    #[arg(value_parser = line)]
    pub(crate) key: String,
}

/// What a write follows, and what kind of effect it is.
#[derive(Args, Debug)]
pub(crate) struct Over {
    /// The revision that is there; without it nothing may be
    #[arg(long, value_name = "N")]
    pub(crate) expect: Option<u64>,
    /// What kind of effect it is. A write from here is part of no call, so it can be one with no
    /// record and be taken back by none: it is uncertain
    #[arg(long, value_name = "CLASS",
          value_parser = ["run-local", "canonical", "compensatable", "uncertain"])]
    pub(crate) class: String,
}
