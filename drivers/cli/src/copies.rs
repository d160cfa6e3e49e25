//! `everstep backup` and `everstep restore`: the file as an operator keeps it (STORE-013).

use everstep_machine::ledger::AbortIntent;
use everstep_sqlite::{Clock as _, Copied, CopyError, StoreError, WallClock};
use serde_json::{Value, json};

use crate::args::{Backup, Restore};
use crate::database::{PATIENCE, unopened, unread};
use crate::exit::{Complaint, Exit, Outcome};
use crate::output::{self, counted};
use crate::submissions::signed;

/// Makes a backup.
pub(crate) fn backup(args: &Backup) -> Outcome {
    let copied = everstep_sqlite::backup(&args.db, &args.out, PATIENCE).map_err(uncopied)?;
    let out = args.out.display();
    output::print(&if args.json {
        let mut value = as_json("backup", copied);
        value["backup"] = json!(out.to_string());
        format!("{value:#}\n")
    } else {
        format!("{out}: {}\n", words(copied))
    })?;
    Ok(Exit::Holds)
}

/// Makes a database of a backup.
pub(crate) fn restore(args: &Restore) -> Outcome {
    let (principal, reason) = signed(&args.word)?;
    let abort = args.abort_unsettled.then_some(AbortIntent { principal, reason });
    let (now, db) = (WallClock.now(), args.db.display());
    let restored = everstep_sqlite::restore(&args.backup, &args.db, now, abort.as_ref(), PATIENCE);
    let restored = restored.map_err(uncopied)?;
    let (epoch, aborted) = (restored.incarnation.epoch, restored.aborted);
    if args.json {
        let mut value = as_json("restore", restored.copied);
        value["database"] = json!(db.to_string());
        value["epoch"] = json!(epoch.0);
        value["aborted"] = json!(aborted);
        output::print(&format!("{value:#}\n"))?;
        return Ok(Exit::Holds);
    }
    output::print(&format!("{db}: {}; its epochs begin behind {epoch}\n", words(restored.copied)))?;
    if args.abort_unsettled {
        output::print(&format!("the end of {} is asked for\n", counted(aborted, "submission")))?;
    }
    output::note(&lost(restored.copied, args.abort_unsettled));
    Ok(Exit::Holds)
}

/// What a restore cannot know, said to whoever makes one.
fn lost(copied: Copied, is_aborted: bool) -> String {
    let lost = "what was done after the backup was made is not known in this database: it may be \
                done again when a client asks for it again";
    match (copied.unsettled, is_aborted) {
        (0, _) | (_, true) => lost.to_owned(),
        (some, false) => {
            let some = counted(some, "submission");
            format!("{lost}, and by {some} not settled in it")
        }
    }
}

/// Why nothing was copied, and whose fault it is.
fn uncopied(why: CopyError) -> Complaint {
    match why {
        CopyError::Open(why) => unopened(&why),
        CopyError::Store(why @ StoreError::Corrupt { .. }) => Complaint::new(
            Exit::Safety,
            format!("{why}\nhelp: `everstep log verify --db` says all that is wrong with it"),
        ),
        CopyError::Store(why) => unread(why),
        why @ (CopyError::Taken { .. } | CopyError::NoBackup { .. }) => {
            Complaint::new(Exit::Usage, why)
        }
        why @ (CopyError::NoEpoch | CopyError::Full { .. } | CopyError::Io { .. }) => {
            Complaint::new(Exit::Environment, why)
        }
    }
}

fn words(copied: Copied) -> String {
    let Copied { conversations, rows, unsettled, batches: _, records } = copied;
    let unsettled = match unsettled {
        0 => String::new(),
        some => format!(", {} of them not settled", output::grouped(some)),
    };
    let [conversations, rows, records] =
        [(conversations, "conversation"), (rows, "submission"), (records, "record")]
            .map(|(count, noun)| counted(count, noun));
    format!("{conversations}, {rows}{unsettled}, {records}; all of it verifies")
}

fn as_json(command: &str, copied: Copied) -> Value {
    let Copied { conversations, rows, unsettled, batches, records } = copied;
    json!({
        "command": command,
        "conversations": conversations,
        "submissions": rows,
        "unsettled": unsettled,
        "batches": batches,
        "records": records,
    })
}
