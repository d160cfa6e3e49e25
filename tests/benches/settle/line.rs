//! One line of the table: a host on a file of its own, and bare SQLite in turns with it.

use std::path::Path;
use std::time::Duration;

use everstep_machine::identity::ProducerId;
use everstep_runtime::{Config, Host, block_on};
use everstep_sqlite::{CommitMode, Options, SqliteStore};

use crate::bare::{self, Bare};
use crate::clients::{self, Client, TURNOVER};
use crate::meter::{Dial, Meter, Spent};
use crate::{history, outside};

/// Turns that host and bare SQLite take: what disturbs one disturbs the other.
const ROUNDS: u32 = 3;
/// Submissions whose pages are counted: few enough that the log is not begun anew.
const SAMPLE: usize = 12;

/// Submissions at one depth at most, whatever the time.
const AT_DEPTH: usize = 480;

/// How the work is spread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// So many clients, each with a lane of its own, in short conversations.
    Lanes(usize),
    /// One client, whose conversations hold so many records already.
    Depth(u64),
}

/// What one line measures.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    pub(crate) load: Load,
    pub(crate) tool: bool,
    pub(crate) mode: CommitMode,
}

/// What came of it.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) elapsed: Duration,
    pub(crate) spent: Spent,
    times: Vec<Duration>,
    pages: f64,
    bare: f64,
}

impl Work {
    pub(crate) fn name(&self) -> String {
        let load = match self.load {
            Load::Lanes(1) => "1 lane".to_owned(),
            Load::Lanes(lanes) => format!("{lanes} lanes"),
            Load::Depth(records) => format!("at record {records}"),
        };
        let tool = if self.tool { "one tool" } else { "no tools" };
        format!("{load}, {tool}, {}", self.mode)
    }

    /// Submissions after which a client begins another conversation. One that has depth grows by
    /// about a quarter.
    fn turnover(&self) -> usize {
        match self.load {
            Load::Lanes(_) => TURNOVER,
            Load::Depth(records) => (records as usize / 12).clamp(8, AT_DEPTH),
        }
    }

    fn clients(&self) -> Vec<Client> {
        let lanes = match self.load {
            Load::Lanes(lanes) => lanes,
            Load::Depth(_) => 1,
        };
        let binding = outside::binding(self.tool);
        let client = |n| Client::new(format!("lane {n}"), self.turnover(), binding.clone());
        (0..lanes).map(client).collect()
    }

    /// A file with the past that the work needs, and how often a client may submit in one turn.
    fn store(&self, file: &Path, client: &Client) -> (SqliteStore, usize) {
        let options = Options::new(file).mode(self.mode);
        let mut store = SqliteStore::open(options).expect("a new database");
        let Load::Depth(records) = self.load else { return (store, usize::MAX) };
        for submission in (0..AT_DEPTH).step_by(self.turnover()) {
            history::write(&mut store, &client.lane(submission), records);
        }
        (store, (AT_DEPTH - 2 * SAMPLE) / ROUNDS as usize)
    }

    /// Measures the host for about `span`, and bare SQLite for half of that.
    pub(crate) fn measure(&self, folder: &Path, span: Duration) -> Line {
        let file = folder.join(self.name()).with_extension("db");
        let beside = file.with_extension("bare");
        let mut clients = self.clients();
        let (store, most) = self.store(&file, &clients[0]);
        let (store, dial) = Meter::new(store);
        let producer = ProducerId::new("host").expect("a name");
        let config = Config { slots: clients.len(), ..Config::new(producer) };
        let measured = block_on(async {
            let (lookout, ports) = (outside::every_lane(&file), outside::ports(self.tool));
            let host = Host::start(store, lookout, ports, config).expect("threads");
            // A log that still grows is slower to write to than one that is written over.
            while dial.read().restarts == 0 {
                clients::once(&host, &mut clients).await;
            }
            let pages = sample(&host, &dial, &file, &mut clients).await;
            let mut bare = Bare::new(&beside, pages.round() as u64);
            clients.iter_mut().for_each(|client| client.times.clear());
            let (before, mut elapsed) = (dial.read(), Duration::ZERO);
            for _ in 0..ROUNDS {
                elapsed += clients::work(&host, &mut clients, span / ROUNDS, most).await;
                bare.run(span / ROUNDS / 2);
            }
            let spent = dial.read().since(before);
            host.stop().await;
            (elapsed, spent, pages, bare.rate())
        });
        let (elapsed, spent, pages, bare) = measured.expect("threads");
        let mut times: Vec<_> = clients.into_iter().flat_map(|client| client.times).collect();
        times.sort_unstable();
        Line { name: self.name(), elapsed, spent, times, pages, bare }
    }
}

/// Pages that one commit writes.
async fn sample(host: &Host, dial: &Dial, file: &Path, clients: &mut [Client]) -> f64 {
    let some = clients.len().min(SAMPLE);
    // A reader that is on its way may keep the log from being begun anew.
    let restarts = dial.read().restarts;
    while dial.read().restarts == restarts {
        bare::restart_log(file);
        clients::once(host, &mut clients[..1]).await;
    }
    let (before, pages) = (dial.read(), dial.pages());
    for _ in 0..SAMPLE / some {
        clients::once(host, &mut clients[..some]).await;
    }
    let spent = dial.read().since(before);
    assert_eq!(spent.restarts, 0, "the pages of a whole sample are in the log");
    (dial.pages() - pages) as f64 / spent.commits as f64
}

/// The head of the table.
pub(crate) fn head() {
    println!(
        "{:<34} {:>9} {:>8} {:>8} {:>7} {:>7} {:>6} {:>7} {:>6}",
        "", "settled/s", "p50 ms", "p99 ms", "commits", "fsyncs", "pages", "bare/s", "ratio"
    );
}

impl Line {
    /// Settled submissions.
    pub(crate) fn count(&self) -> f64 {
        self.times.len() as f64
    }

    /// Settled submissions a second.
    pub(crate) fn rate(&self) -> f64 {
        self.count() / self.elapsed.as_secs_f64()
    }

    /// Transactions that wrote, a submission.
    pub(crate) fn commits(&self) -> f64 {
        self.spent.commits as f64 / self.count()
    }

    /// Of commits, and of what moves the log into the file: it is written to disk, then the file,
    /// then the header of the new log.
    fn fsyncs(&self) -> f64 {
        (self.spent.commits + 3 * self.spent.restarts) as f64 / self.count()
    }

    fn at(&self, percent: usize) -> f64 {
        self.times[(self.times.len() - 1) * percent / 100].as_secs_f64() * 1e3
    }

    pub(crate) fn print(&self) {
        println!(
            "{:<34} {:>9.1} {:>8.2} {:>8.2} {:>7.2} {:>7.2} {:>6.1} {:>7.0} {:>6.2}",
            self.name,
            self.rate(),
            self.at(50),
            self.at(99),
            self.commits(),
            self.fsyncs(),
            self.pages,
            self.bare,
            self.rate() * self.commits() / self.bare,
        );
    }
}
