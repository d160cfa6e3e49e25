//! The grammar of the command line.

mod beside;
mod copies;
mod list;
mod operator;

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use everstep_sim::defect::Defect;
use everstep_sim::explore::Bounds;
use everstep_sim::profile::Profile;
use everstep_sqlite::CommitMode;

pub(crate) use beside::{At, Metadata, Over, Sessions, SessionsAct, State, StateAct};
pub(crate) use copies::{Backup, Export, Import, Restore};
pub(crate) use list::List;
pub(crate) use operator::{Decide, Log, LogAct, Look, Resolve, Submissions, SubmissionsAct, Word};

const EXITS: &str = "\
Exit codes:
  0  everything holds
  1  a safety property was broken
  2  the command, or a file it was given, is wrong
  3  the environment failed: a file is missing, a folder cannot be written
  4  a bound was met before the work was done
  5  vacuous: a failpoint was never visited, or something that sometimes happens never did
  6  the same schedule gave two results
  7  a liveness property was broken: something accepted never settles

`everstep run`, `submissions`, `log`, `sessions`, `state`, `backup` and `restore` have codes of their own: see their `--help`.";

/// Durable agents whose every crash can be played through.
#[derive(Debug, Parser)]
#[command(name = "everstep", version, about, after_help = EXITS, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run scenarios through every crash point and print the crash matrix
    ///
    /// At every point where a process can break, a crash, a pause (of a process that wakes later,
    /// when others have taken over) and a lost message are injected; with depth 2 every pair of
    /// them, crashes during recovery included. Each row of the matrix gets its verdict. What fails
    /// is made as short as it can be and saved as a trace.
    Matrix(Matrix),
    /// Run one saved schedule again and tell it event by event
    ///
    /// The injected faults are marked, and the verdict stands beside the one that the trace
    /// expects. Ends with 0 if everything holds, 1 or 7 if a property is broken.
    Replay(Replay),
    /// Explore a scenario in every order of events, not only in the calm one
    ///
    /// Breadth first, every state once, so that the counterexample is a shortest one. Ends with 4
    /// when the bound on states is met first, and says what was covered until then.
    Check(Check),
    /// Run an agent: one durable submission, which the same line carries on after any crash
    ///
    /// The submission is named by the agent file, its script, the input and the key. A line that
    /// was killed carries on when it is run again, and never starts a second submission; one that
    /// is settled prints its settlement again. Changing a file, even a comment, names another
    /// submission.
    ///
    /// On SIGINT or SIGTERM it begins nothing new, gives what is in flight two seconds, lets go of
    /// the submission and ends with 4. A second signal ends it at once.
    Run(Run),
    /// Print what an agent file lets its tools do, and which layer decides
    ///
    /// For every tool: whether its calls start, are asked about or never happen; what they take and
    /// who grants it; and which entry of which layer of the policy counts. Nothing is run.
    Doctor(Doctor),
    /// Look at submissions, and say what a person has to say about them
    ///
    /// Works on the same file as a host that is running, at the same time.
    Submissions(Submissions),
    /// Read and check the canonical history
    Log(Log),
    /// Names by which conversations are found again
    ///
    /// Nothing that was accepted depends on a session: without any, everything still settles.
    Sessions(Sessions),
    /// What agents keep beside their conversations
    ///
    /// It is no history: what was accepted and what came of it is in ledger and log.
    State(State),
    /// Make a backup of a database, also while a host works on it
    ///
    /// The backup is one moment of the database. It is read back and verified before it gets its
    /// name. Nobody works on a backup: `everstep restore` makes a database of it.
    Backup(Backup),
    /// Make a database of a backup
    ///
    /// Whoever worked on any other copy is fenced off from this one, and what was under way is
    /// found as after a crash. What was done after the backup was made is not known in it.
    Restore(Restore),
}

const MATRIX_HELP: &str = "\
Examples:
  everstep matrix                           every scenario of the corpus, every point
  everstep matrix --depth 2                 every pair of points
  everstep matrix refund.toml --json        one file, for machines
  everstep matrix answer --profile strong   one scenario of the corpus, on one store";

/// What `everstep matrix` is asked.
#[derive(Args, Debug)]
#[command(after_help = MATRIX_HELP)]
pub(crate) struct Matrix {
    /// Scenario files, or names of scenarios of the corpus; all of the corpus if there is none
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenarios: Vec<PathBuf>,
    /// Faults in one schedule, at most
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(0..=8))]
    pub(crate) depth: u8,
    /// How the store commits: command by command, whole pipelines, or one after the other
    #[arg(long, default_value = "both", value_parser = ["weak", "strong", "both"])]
    pub(crate) profile: String,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Where schedules that fail are saved
    #[arg(long, value_name = "DIR", default_value = "everstep-traces")]
    pub(crate) traces: PathBuf,
    /// Threads; the result is the same for any number [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Worlds that one scenario on one store may take, some 60 bytes of memory each
    #[arg(long, value_name = "N", default_value_t = Bounds::WORLDS,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_worlds: u64,
    /// Break a rule on purpose, to see that it is noticed
    #[arg(long, hide = true, value_name = "NAME", value_parser = defects())]
    pub(crate) defect: Option<Defect>,
}

impl Matrix {
    /// The stores that were asked for.
    pub(crate) fn profiles(&self) -> Vec<Profile> {
        let both = Profile::ALL.iter().copied();
        both.filter(|one| self.profile == "both" || one.name() == self.profile).collect()
    }
}

const REPLAY_HELP: &str = "\
Examples:
  everstep replay everstep-traces/refund-weak.trace
  everstep replay corpus/traces/row-ahead-of-log.trace --expect   for pipelines: 0 if it ends as it says";

/// What `everstep replay` is asked.
#[derive(Args, Debug)]
#[command(after_help = REPLAY_HELP)]
pub(crate) struct Replay {
    /// The trace
    pub(crate) trace: PathBuf,
    /// Print one JSON object instead of the story
    #[arg(long)]
    pub(crate) json: bool,
    /// End with 0 exactly when the verdict is the one that the trace expects, else with 1
    #[arg(long)]
    pub(crate) expect: bool,
}

const CHECK_HELP: &str = "\
Examples:
  everstep check                               the scenario `answer`, without faults
  everstep check refund.toml --faults 1        every order of events, every single fault
  everstep check --max-states 5000000 --json";

/// What `everstep check` is asked.
#[derive(Args, Debug)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct Check {
    /// A scenario file, or the name of a scenario of the corpus
    #[arg(value_name = "SCENARIO", default_value = "answer")]
    pub(crate) scenario: PathBuf,
    /// Faults on one path, at most
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u8).range(0..=8))]
    pub(crate) faults: u8,
    /// How the store commits: command by command, or whole pipelines
    #[arg(long, default_value = "weak", value_parser = profiles())]
    pub(crate) profile: Profile,
    /// States to keep, at most; each takes some kilobytes while it waits to be explored
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_states: u64,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Break a rule on purpose, to see that it is noticed
    #[arg(long, hide = true, value_name = "NAME", value_parser = defects())]
    pub(crate) defect: Option<Defect>,
}

const RUN_HELP: &str = "\
Examples:
  everstep run corpus/agents/answer.toml 'When are you open?'
  everstep run charge.toml order-7 --db shop.db      kill it anywhere, then run the same line again
  everstep run charge.toml order-7 --key second      the same input once more, as another submission
  everstep run charge.toml @order.json --as-json     the input from a file, as a JSON value
  everstep run charge.toml --resume 3f1c             goes on with a submission that is there

Exit codes:
  0  it is settled as completed
  1  it is settled as failed or aborted
  2  the command, the agent file or the input is wrong
  3  the environment failed: the database cannot be opened, read or written
  4  it is not settled: a person has to say something of it, or a signal stopped it";

/// What `everstep run` is asked.
#[derive(Args, Debug)]
#[command(after_help = RUN_HELP)]
pub(crate) struct Run {
    /// The agent file
    #[arg(value_name = "AGENT")]
    pub(crate) agent: PathBuf,
    /// The input: a text, or `@FILE` to read it from a file; at most 1 MiB as JSON, which is how it
    /// is stored: with its quotes and escapes
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) input: Option<String>,
    /// Go on with this submission instead, whatever line began it: its id, or the beginning of it.
    /// Its run is bound to the agent that it began with
    #[arg(long, value_name = "ID", conflicts_with_all = ["key", "as_json"],
          value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resume: Option<String>,
    /// The database; created if it is not there
    #[arg(long, value_name = "FILE", default_value = "everstep.db")]
    pub(crate) db: PathBuf,
    /// Sets apart submissions that are otherwise the same
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) key: Option<String>,
    /// The input is a JSON value, not a text
    #[arg(long)]
    pub(crate) as_json: bool,
    /// What one transaction covers: a whole pipeline, or one command
    #[arg(long, value_name = "MODE", default_value = "fused", value_parser = commit_modes())]
    pub(crate) commit: CommitMode,
    /// Milliseconds for which this process owns the submission unless it says so again: how long
    /// the next one waits after a crash
    #[arg(long, value_name = "N", default_value_t = 5_000,
          value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    pub(crate) lease_ms: u64,
    /// Ask nobody at the terminal: what is to be decided waits for `everstep submissions`
    #[arg(long)]
    pub(crate) no_input: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

const DOCTOR_HELP: &str = "\
Examples:
  everstep doctor corpus/agents/charge.toml
  everstep doctor charge.toml --json           one JSON object, for machines";

/// What `everstep doctor` is asked.
#[derive(Args, Debug)]
#[command(after_help = DOCTOR_HELP)]
pub(crate) struct Doctor {
    /// The agent file
    #[arg(value_name = "AGENT")]
    pub(crate) agent: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

fn commit_modes() -> impl clap::builder::TypedValueParser<Value = CommitMode> {
    PossibleValuesParser::new(CommitMode::ALL.iter().map(|mode| mode.name()))
        .try_map(|name| name.parse::<CommitMode>())
}

fn defects() -> impl clap::builder::TypedValueParser<Value = Defect> {
    PossibleValuesParser::new(Defect::ALL.iter().map(|defect| defect.name()))
        .try_map(|name| name.parse::<Defect>())
}

fn profiles() -> impl clap::builder::TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.iter().map(|profile| profile.name()))
        .try_map(|name| name.parse::<Profile>())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn house_the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }
}
