//! What a settled submission costs: the host on a SQLite file, beside bare transactions of SQLite
//! that write as many pages a commit, on the same file system, in the same run.
//!
//! `cargo bench -p everstep-tests --bench settle [-- [--quick] [--dir FOLDER] [--only WORD]]`
//!
//! `--quick` measures for a shorter time, `--dir` says where the files are made (otherwise in
//! the folder for temporary files, which should lie on a disk), and `--only` leaves out the lines
//! whose name does not hold the word.

mod bare;
mod clients;
mod crowd;
mod history;
mod line;
mod meter;
mod outside;
mod wal;

use std::path::PathBuf;
use std::time::Duration;

use everstep_sqlite::CommitMode;
use line::{Line, Load, Work};
use meter::{Part, Spent};

/// How long one line measures the host, unless it is to be quick.
const SPAN: Duration = Duration::from_secs(9);
/// How long if it is.
const QUICK: Duration = Duration::from_millis(1_200);

/// What was asked for on the command line.
struct Wanted {
    quick: bool,
    folder: PathBuf,
    only: String,
}

impl Wanted {
    /// None if there is nothing to measure.
    fn read() -> Option<Self> {
        let (mut quick, mut folder, mut only) = (false, std::env::temp_dir(), String::new());
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match &*argument {
                // Cargo says so by itself.
                "--bench" => {}
                // `cargo test --benches` asks for a list or a quick run; there is nothing to test.
                "--list" | "--test" => return None,
                "--quick" => quick = true,
                "--dir" => folder = arguments.next().expect("--dir takes a folder").into(),
                "--only" => only = arguments.next().expect("--only takes a word"),
                other => panic!("--quick, --dir FOLDER or --only WORD, not {other}"),
            }
        }
        Some(Self { quick, folder, only })
    }
}

/// Every line, in the order of the table.
fn works() -> Vec<Work> {
    use CommitMode::{Fused, PerCommand};
    let lanes = |lanes, tool, mode| Work { load: Load::Lanes(lanes), tool, mode };
    let depth = |records| Work { load: Load::Depth(records), tool: false, mode: Fused };
    vec![
        lanes(1, false, Fused),
        lanes(1, true, Fused),
        lanes(1, false, PerCommand),
        lanes(1, true, PerCommand),
        lanes(64, false, Fused),
        lanes(64, true, Fused),
        depth(100),
        depth(1_000),
        depth(10_000),
    ]
}

fn main() {
    let Some(wanted) = Wanted::read() else { return };
    let folder = tempfile::TempDir::new_in(&wanted.folder).expect("a folder to write in");
    let span = if wanted.quick { QUICK } else { SPAN };
    line::head();
    let mut lines = Vec::new();
    for work in works().into_iter().filter(|work| work.name().contains(&wanted.only)) {
        let line = work.measure(folder.path(), span);
        line.print();
        lines.push(line);
    }
    legend();
    lines.iter().for_each(bound);
    goals(&lines);
}

fn legend() {
    println!(
        "
p50, p99  milliseconds from a client's call to the settlement in its hand, one call at a time a
          lane, a new conversation after every {} submissions except at a depth.
commits   transactions that wrote, a submission. Each is one fsync of the write-ahead log.
fsyncs    those, and three for every time the log was moved into the file and begun anew. Counted
          from the store's commits and the log's header, not by the operating system.
pages     that one commit writes to the write-ahead log.
bare      transactions a second of SQLite alone: as many pages, write-ahead log, synchronous=FULL,
          measured in turns with the host.
ratio     commits a second of the host, to those of bare SQLite. On a machine that does something
          else as well, every wait for the disk is also a wait for a processor, and neither is right.",
        clients::TURNOVER,
    );
    println!(
        "\nWhat bounds them: shares of the time in which the store's one thread was at work, and how \
         many\npipelines it executed a submission.\n{:<34} {:>8} {:>15} {:>20} {:>15}",
        "", "at work", "that write", "that read a log", "that read a row",
    );
}

/// Says what the store's thread did with its time.
fn bound(line: &Line) {
    let Spent { writing, logs, rows, .. } = line.spent;
    let share = |time: Duration| 100.0 * time.as_secs_f64() / line.elapsed.as_secs_f64();
    let part =
        |it: Part| format!("{:.0} % ({:.1})", share(it.time), it.count as f64 / line.count());
    println!(
        "{:<34} {:>6.0} % {:>15} {:>20} {:>15}",
        line.name,
        share(writing.time + logs.time + rows.time),
        part(writing),
        part(logs),
        part(rows),
    );
}

/// The two goals, as far as their lines were measured.
fn goals(lines: &[Line]) {
    let find = |name: String| lines.iter().find(|line| line.name == name);
    let works = works();
    if let Some(line) = find(works[0].name()) {
        let holds = if line.commits() <= 3.0 { "holds" } else { "does not hold" };
        println!(
            "\nGoal: one lane without tools costs at most 3 commits, one fsync each: {:.2}, {holds}.",
            line.commits(),
        );
    }
    let depth = |records| find(Work { load: Load::Depth(records), ..works[0] }.name());
    if let (Some(shallow), Some(deep)) = (depth(100), depth(10_000)) {
        let times = shallow.rate() / deep.rate();
        let holds = if times <= 1.25 { "holds" } else { "does not hold" };
        println!(
            "Goal: depth costs nothing: at record 10000 a submission takes {times:.1} times as long \
             as at record 100, {holds}."
        );
    }
}
