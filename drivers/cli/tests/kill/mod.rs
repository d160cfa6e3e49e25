//! Folders, lines, stages.

mod history;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use everstep_machine::effect::Failpoint;
use everstep_machine::identity::AdmissionSequence;
use everstep_machine::ledger::Row;
use everstep_machine::limits::FRUITLESS_CLAIMS;
use everstep_machine::record::Outcome;
use everstep_sqlite::{CommitMode, SqliteReader};

/// Milliseconds after which the next process may take over.
const LEASE_MS: &str = "300";
/// Kills that are played at once; most of the time they wait for a lease.
const AT_ONCE: usize = 4;
/// Lines that a person runs at most until a submission is settled.
const PATIENCE: usize = 5;
const SIGKILL: i32 = 9;

const CHARGE: &str = include_str!("../../../../corpus/agents/charge.toml");
const NOTIFY: &str = include_str!("../../../../corpus/agents/notify.toml");
const BOOK: &str = include_str!("../../../../corpus/agents/book.toml");
const ANSWER: &str = include_str!("../../../../corpus/agents/answer.toml");

/// How often a durable booking appends to its file: once a step.
pub(crate) const BOOKED: usize = 3;

/// A line that somebody runs.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// The agent.
    Run,
    /// The same, killed here.
    Killed(&'static str),
    /// An operator says the truth about the one unknown call.
    Resolve,
    /// An operator lets the one call that asks start.
    Approve,
    /// The time of what was asked runs out.
    Expire,
    /// A client wants it to end.
    Abort,
    /// Somebody says something to the run.
    Steer,
    /// Somebody has it tried again.
    Retry,
    /// A changed agent, which is to go on with it.
    Resume,
    /// Somebody lets it go on with what was found.
    Rebind,
}

/// Where kills are played.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    name: &'static str,
    agent: String,
    before: Vec<Act>,
    line: Act,
    /// Failpoints that are killed at here although an earlier stage has done so: their names
    /// contain one of these.
    pub(crate) repeats: &'static [&'static str],
    /// How often the outside effect happens in the end.
    effects: usize,
    outcome: Outcome,
    /// How many submissions there are in the end.
    submissions: usize,
}

/// Every stage, in the order in which they are played.
pub(crate) fn stages() -> Vec<Stage> {
    let stage = |name, agent: &str, before: &[Act], line| Stage {
        name,
        agent: agent.to_owned(),
        before: before.to_vec(),
        line,
        repeats: &[],
        effects: 1,
        outcome: Outcome::Completed,
        submissions: 1,
    };
    let invoked = Act::Killed("tool.invoke/after");
    let asked = Act::Killed("model.call/during");
    let slow = CHARGE.replace("append =", "latency_ms = 400\nappend =");
    let proven = CHARGE.replace("append =", "reconciler = \"truthful\"\nappend =");
    let asking = CHARGE.replace("append =", "approval = \"ask\"\nappend =");
    let approved = format!("{asking}\n[approver]\ndenies = []\n");
    assert!(slow != CHARGE && proven != CHARGE && asking != CHARGE);
    let expiring =
        asking.replace("[[tools]]", "[agent.policy]\napproval = { expiry_ms = 1500 }\n\n[[tools]]");
    let doubtful = [invoked.clone(), Act::Run];
    let resolved = [invoked.clone(), Act::Run, Act::Resolve];
    let aborted = Outcome::Aborted;
    let begun = [asked.clone()];
    let met = [asked.clone(), Act::Resume];
    let rebound = [asked.clone(), Act::Resume, Act::Rebind];
    // The first of them records the input, and the next five die in vain.
    let given_up = [vec![asked.clone(); 1 + FRUITLESS_CLAIMS], vec![Act::Run]].concat();
    vec![
        stage("ordinary", CHARGE, &[], Act::Run),
        Stage { repeats: &["tool.", "Tool"], ..stage("idempotent", NOTIFY, &[], Act::Run) },
        Stage {
            repeats: &["tool.", "Tool"],
            effects: BOOKED,
            ..stage("durable", BOOK, &[], Act::Run)
        },
        Stage {
            effects: 0,
            ..stage("interrupted", ANSWER, std::slice::from_ref(&asked), Act::Run)
        },
        stage("doubtful", CHARGE, std::slice::from_ref(&invoked), Act::Run),
        stage("resolve", CHARGE, &doubtful, Act::Resolve),
        stage("resolved", CHARGE, &resolved, Act::Run),
        stage("reconciled", &proven, &[invoked], Act::Run),
        stage("slow", &slow, &[], Act::Run),
        stage("approved", &approved, &[], Act::Run),
        stage("suspended", &asking, &[], Act::Run),
        stage("decide", &asking, &[Act::Run], Act::Approve),
        stage("decided", &asking, &[Act::Run, Act::Approve], Act::Run),
        Stage { submissions: 2, ..stage("steer", &asking, &[Act::Run], Act::Steer) },
        Stage {
            submissions: 2,
            ..stage("steered", &asking, &[Act::Run, Act::Steer, Act::Approve], Act::Run)
        },
        Stage {
            effects: 0,
            outcome: Outcome::Failed,
            ..stage("expired", &expiring, &[Act::Run, Act::Expire], Act::Run)
        },
        Stage {
            effects: 0,
            outcome: aborted,
            ..stage("abort", CHARGE, std::slice::from_ref(&asked), Act::Abort)
        },
        Stage {
            effects: 0,
            outcome: aborted,
            ..stage("aborted", CHARGE, &[asked, Act::Abort], Act::Run)
        },
        Stage { submissions: 2, ..stage("retry", CHARGE, &given_up, Act::Retry) },
        stage("incompatible", CHARGE, &begun, Act::Resume),
        stage("rebind", CHARGE, &met, Act::Rebind),
        stage("rebound", CHARGE, &rebound, Act::Resume),
    ]
}

impl Stage {
    pub(crate) fn of(name: &str) -> Self {
        stages().into_iter().find(|stage| stage.name == name).expect("there is such a stage")
    }

    /// Whether its line takes longer than a lease is renewed after.
    pub(crate) fn is_slow(&self) -> bool {
        self.name == "slow"
    }

    /// What the line passes when nothing kills it.
    pub(crate) fn trace(&self, mode: CommitMode) -> BTreeSet<Failpoint> {
        let folder = Folder::of(self, mode);
        let file = folder.path("trace");
        let ran = folder.perform(&self.line, Some(("EVERSTEP_FAILPOINT_TRACE", "trace")));
        assert!(ran.code.is_some(), "{}: {}", self.name, ran.err);
        let text = fs::read_to_string(file).expect("the trace is written");
        text.lines().map(|line| line.parse().expect("a failpoint is traced by its name")).collect()
    }

    /// Kills at each of the points, several at once, each in a folder of its own.
    pub(crate) fn kill_everywhere(&self, mode: CommitMode, points: &[Failpoint]) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                        self.kill_at(mode, *point);
                    }
                });
            }
        });
    }

    fn kill_at(&self, mode: CommitMode, point: Failpoint) {
        let folder = Folder::of(self, mode);
        let place = format!("{} {mode} {point}", self.name);
        folder.killed_at(point, &self.line);
        assert!(folder.effects() <= self.effects.max(1), "{place}");
        let again = folder.perform(&self.line, None);
        assert!(matches!(again.code, Some(0 | 1 | 4)), "{place}: {}", again.err);
        let code = folder.finish(&place, self);
        assert_eq!(code, if self.outcome == Outcome::Completed { 0 } else { 1 }, "{place}");
        assert_eq!(folder.effects(), self.effects, "{place}");
        folder.check_history(self);
    }
}

/// How a line ended.
pub(crate) struct Ended {
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A folder with an agent, a database, and the file that its tool appends to.
pub(crate) struct Folder {
    home: tempfile::TempDir,
    mode: CommitMode,
}

impl Folder {
    /// A folder in which everything before the stage's line has happened.
    pub(crate) fn of(stage: &Stage, mode: CommitMode) -> Self {
        let home = tempfile::tempdir().expect("there is room for a folder");
        fs::write(home.path().join("agent.toml"), &stage.agent).expect("it can be written");
        let revised = stage.agent.replace("instructions = \"", "instructions = \"Be quick. ");
        fs::write(home.path().join("revised.toml"), revised).expect("it can be written");
        let folder = Self { home, mode };
        for act in &stage.before {
            let ended = folder.perform(act, None);
            let expected = if let Act::Killed(_) = act { Some(SIGKILL) } else { None };
            assert_eq!(ended.signal, expected, "{} {act:?}: {}", stage.name, ended.err);
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Runs a line to its end.
    pub(crate) fn perform(&self, act: &Act, variable: Option<(&str, &str)>) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everstep"));
        command.current_dir(self.home.path()).envs(variable);
        match act {
            Act::Run | Act::Killed(_) => {
                let args = ["run", "agent.toml", "order 7", "--db", "db", "--lease-ms", LEASE_MS];
                command.args(args).args(["--commit", self.mode.name()]);
                if let Act::Killed(point) = act {
                    command.env("EVERSTEP_FAILPOINT", format!("{point}=kill"));
                }
            }
            Act::Resume => {
                let run = self.submission();
                let args = ["run", "revised.toml", "--resume", &run, "--db", "db"];
                command.args(args).args(["--lease-ms", LEASE_MS, "--commit", self.mode.name()]);
            }
            Act::Rebind => {
                command.args(["submissions", "rebind", &self.submission(), "--db", "db"]);
            }
            Act::Abort => {
                command.args(["submissions", "abort", &self.submission(), "--db", "db"]);
            }
            Act::Approve => {
                command.args(["submissions", "approve", &self.submission(), "--db", "db"]);
            }
            Act::Steer => {
                let run = self.submission();
                command.args(["submissions", "steer", &run, "make it two", "--db", "db"]);
            }
            Act::Retry => {
                command.args(["submissions", "retry", &self.submission(), "--db", "db"]);
            }
            Act::Expire => return self.wait_for_expiry(),
            Act::Resolve => {
                command.args(["submissions", "resolve", &self.submission(), "--db", "db"]);
                if self.effects() == 1 {
                    command.args(["completed", "--result", r#"{"receipt":"R-1"}"#]);
                } else {
                    command.arg("never-started");
                }
            }
        }
        let output = command.output().expect("the binary can be run");
        let text = |bytes| String::from_utf8(bytes).expect("it prints text");
        Ended {
            code: output.status.code(),
            signal: output.status.signal(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Runs a line that is killed at a point, which must be by that signal and nothing else.
    pub(crate) fn killed_at(&self, point: Failpoint, act: &Act) {
        let armed = format!("{point}=kill");
        let ended = self.perform(act, Some(("EVERSTEP_FAILPOINT", &armed)));
        assert_eq!(ended.signal, Some(SIGKILL), "{point}: {}{}", ended.out, ended.err);
        assert_eq!(ended.out, "", "{point}: nothing is said before it is durable");
    }

    /// Runs the line again, and answers what is asked, until the submission is settled.
    fn finish(&self, place: &str, stage: &Stage) -> i32 {
        let resumes = matches!(stage.line, Act::Resume | Act::Rebind);
        let line = if resumes { Act::Resume } else { Act::Run };
        for _ in 0..PATIENCE {
            let ran = self.perform(&line, None);
            match ran.code {
                Some(code @ (0 | 1)) => return code,
                Some(4) => {
                    let waits = [
                        ("suspended", Act::Approve),
                        ("unknown", Act::Resolve),
                        ("incompatible", Act::Rebind),
                    ];
                    let say = waits.into_iter().find(|(what, _)| ran.out.contains(what));
                    let (_, say) = say.unwrap_or_else(|| panic!("{place}: {}", ran.out));
                    let said = self.perform(&say, None);
                    assert_eq!(said.code, Some(0), "{place}: {}", said.err);
                }
                other => panic!("{place}: {other:?}: {}{}", ran.out, ran.err),
            }
        }
        panic!("{place}: it never settles");
    }

    /// How often the tool's effect has happened: the lines of its file.
    pub(crate) fn effects(&self) -> usize {
        let files = ["charges.txt", "notices.txt", "bookings.txt"]
            .map(|name| fs::read_to_string(self.path(name)));
        files.into_iter().flatten().map(|text| text.lines().count()).sum()
    }

    /// Waits until nobody can decide any more what was asked: by the clock, as for a lease.
    fn wait_for_expiry(&self) -> Ended {
        let rows = self.rows();
        let at = rows[0].approvals.first().and_then(|mark| mark.expires_at).expect("it expires");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
        let left = Duration::from_millis(at.0).saturating_sub(now);
        std::thread::sleep(left + Duration::from_millis(1));
        Ended { code: Some(0), signal: None, out: String::new(), err: String::new() }
    }

    fn reader(&self) -> SqliteReader {
        SqliteReader::open(&self.path("db"), Duration::from_secs(5)).expect("the file opens")
    }

    fn rows(&self) -> Vec<Arc<Row>> {
        let reader = self.reader();
        let lanes = reader.lanes(None, 2).expect("it is read").entries;
        reader.rows(&lanes[0].conversation, AdmissionSequence(0), 2).expect("rows").entries
    }

    fn submission(&self) -> String {
        self.rows()[0].admission.submission.to_string()
    }

    /// One submission, one settlement, everything in its order, every digest right.
    pub(crate) fn check_history(&self, stage: &Stage) {
        let Stage { outcome, effects, submissions, .. } = stage;
        history::check(&self.reader(), *outcome, *effects, *submissions);
    }
}
