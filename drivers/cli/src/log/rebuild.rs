//! `everstep log rebuild`: the ledger, made anew of the log where it is damaged.

use std::fmt::Write as _;

use everstep_sqlite::{Options, Rebuilt, SqliteStore};
use serde_json::json;

use super::{named, nothing};
use crate::args::Look;
use crate::database::{PATIENCE, reader, unopened, unread};
use crate::exit::{Exit, Outcome};
use crate::output::{self, counted};

pub(super) fn rebuild(start: Option<&str>, look: &Look) -> Outcome {
    let (found, _) = named(&reader(&look.db)?, start.unwrap_or_default())?;
    if let Some(start) = start.filter(|_| found.is_empty()) {
        return Err(nothing(start, &look.db));
    }
    let options = Options::new(&look.db).create(false).busy(PATIENCE);
    let mut store = SqliteStore::open(options).map_err(|why| unopened(&why))?;
    let (mut text, mut results) = (String::new(), Vec::new());
    for conversation in &found {
        let rebuilt = store.rebuild(conversation).map_err(unread)?;
        let _ = writeln!(text, "{conversation}: {}", words(rebuilt));
        let Rebuilt { was_needed, rows, of_log, lost } = rebuilt;
        results.push(json!({
            "conversation": conversation.as_str(),
            "rebuilt": was_needed,
            "submissions": rows,
            "of_log": of_log,
            "lost": lost,
        }));
    }
    if look.json {
        text = format!("{:#}\n", json!({ "command": "log rebuild", "results": results }));
    }
    output::print(&text)?;
    Ok(Exit::Holds)
}

fn words(rebuilt: Rebuilt) -> String {
    let Rebuilt { was_needed, rows, of_log, lost } = rebuilt;
    if !was_needed {
        return "nothing is wrong with its ledger".to_owned();
    }
    let mut words = format!("its ledger is made anew, {}", counted(rows, "submission"));
    if of_log > 0 {
        let of_log = output::grouped(of_log);
        words.push_str(&format!(", {of_log} of the log alone: their keys are lost"));
    }
    if lost > 0 {
        let lost = counted(lost, "row");
        words.push_str(&format!("; {lost} could not be read, and what they said is lost"));
    }
    words
}
