//! Those that are listed, and what they come to.

use std::fmt::Write as _;

use everstep_machine::identity::Timestamp;
use everstep_machine::ledger::{Phase, Row};
use everstep_sqlite::LaneRow;
use serde_json::{Value, json};

use super::show::row_json;
use super::waits::{Party, Waits, now, waits};
use crate::args::List;
use crate::database::{age, phase, reader};
use crate::exit::{Exit, Outcome};
use crate::listing::{every_row, every_waiting_row, unreadable};
use crate::output::{self, FAINT, HEAD, grouped, styled};

/// Those that wait, or all; of them those that are meant.
pub(super) fn list(args: &List) -> Outcome {
    let reader = reader(&args.look.db)?;
    let now = now();
    let mut rows = Vec::new();
    let mut take = |row: LaneRow| {
        if is_meant(args, waits(&row.1, now).as_ref(), now) {
            rows.push(row);
        }
    };
    let corrupt = if args.all {
        every_row(&reader, &mut take)?
    } else {
        every_waiting_row(&reader, &mut take)?
    };
    let sums = [Party::People, Party::Worker].map(|party| Sum::of(party, &rows, now));
    let text = if args.look.json {
        let [people, worker] = &sums;
        let list = json!({
            "command": "submissions list",
            "submissions": rows.iter().map(|(lane, row)| row_json(lane.as_str(), row))
                .collect::<Vec<_>>(),
            "people": people.json(),
            "worker": worker.json(),
            "corrupt": corrupt.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        format!("{list:#}\n")
    } else {
        table(&rows) + &summary(&sums)
    };
    output::print(&text)?;
    unreadable(&corrupt)?;
    Ok(if args.fail_if_any && !rows.is_empty() { Exit::Budget } else { Exit::Holds })
}

fn is_meant(args: &List, waits: Option<&Waits>, now: Timestamp) -> bool {
    let whom = args.waiting_for.is_none_or(|whom| waits.is_some_and(|it| it.party == whom));
    let since = |it: &Waits| now.0.saturating_sub(it.since.0);
    let long = args.older_than.is_none_or(|than| waits.is_some_and(|it| since(it) > than.0));
    whom && long
}

/// How many wait for somebody, and how long the one has that waits the longest.
struct Sum {
    party: Party,
    count: u64,
    since: Option<Timestamp>,
    now: Timestamp,
}

impl Sum {
    fn of(party: Party, rows: &[LaneRow], now: Timestamp) -> Self {
        let all = rows.iter().filter_map(|(_, row)| waits(row, now));
        let of_party = all.filter(|it| it.party == party).map(|it| it.since);
        let (mut count, mut since) = (0, None);
        for one in of_party {
            count += 1;
            since = Some(since.map_or(one, |held: Timestamp| held.min(one)));
        }
        Self { party, count, since, now }
    }

    fn json(&self) -> Value {
        let oldest = self.since.map(|since| self.now.0.saturating_sub(since.0));
        json!({ "count": self.count, "oldest_ms": oldest })
    }

    fn words(&self) -> Option<String> {
        let (whom, since) = (self.party.in_words(), age(self.since?));
        let count = grouped(self.count);
        Some(match self.count {
            1 => format!("1 waits for {whom}, for {since}"),
            _ => format!("{count} wait for {whom}, the oldest for {since}"),
        })
    }
}

fn summary(sums: &[Sum; 2]) -> String {
    let words: Vec<_> = sums.iter().filter_map(Sum::words).collect();
    if words.is_empty() { String::new() } else { words.join("; ") + "\n" }
}

fn table(rows: &[LaneRow]) -> String {
    if rows.is_empty() {
        return "nothing\n".to_owned();
    }
    let mut cells = vec![["submission", "state", "age", "unknown", "agent"].map(str::to_owned)];
    cells.extend(rows.iter().map(|(_, row)| {
        let open = row.marks.iter().filter(|mark| mark.is_open()).count();
        let (id, agent) = (row.admission.submission.to_string(), row.admission.agent.to_string());
        [id, state(row).to_owned(), age(row.admitted_at), open.to_string(), agent]
    }));
    let widths: [usize; 5] = std::array::from_fn(|at| {
        cells.iter().map(|line| line[at].chars().count()).max().unwrap_or(0)
    });
    let mut lines = cells.iter().map(|line| {
        let padded = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  "));
        padded.collect::<String>()
    });
    let head = lines.next().unwrap_or_default() + "conversation";
    let mut text = format!("{}\n", styled(HEAD, head));
    for (line, (lane, _)) in lines.zip(rows) {
        let _ = writeln!(text, "{line}{}", styled(FAINT, lane));
    }
    if rows.iter().any(|(_, row)| phase(row) == "incompatible") {
        text.push_str(
            "help: `everstep submissions show` says what an incompatible one waits for\n",
        );
    }
    text
}

fn state(row: &Row) -> &'static str {
    let is_ending = row.abort.is_some() && !matches!(row.phase, Phase::Settled(_));
    if is_ending { "aborting" } else { phase(row) }
}
