//! `everstep log import`: conversations of another database, each whole or not at all.

use std::fs::File;
use std::io::BufReader;

use everstep_machine::identity::ConversationId;
use everstep_sqlite::{Exported, Imported, Options, SqliteStore};
use serde_json::json;

use super::lines::{Unread, read};
use crate::args::Import;
use crate::database::{PATIENCE, unopened, unread};
use crate::exit::{Complaint, Exit, Outcome};
use crate::output::{self, counted};

pub(super) fn import(args: &Import) -> Outcome {
    // All of it is looked at before anything is written.
    walk(args, |_| Ok(()))?;
    let options = Options::new(&args.db).busy(PATIENCE);
    let mut store = SqliteStore::open(options).map_err(|why| unopened(&why))?;
    let mut results: Vec<(ConversationId, Imported)> = Vec::new();
    walk(args, |exported| {
        let imported = store.import(&exported).map_err(unread)?;
        results.push((exported.lane.conversation, imported));
        Ok(())
    })?;
    tell(args, &results)
}

fn walk(
    args: &Import,
    each: impl FnMut(Exported) -> Result<(), Complaint>,
) -> Result<(), Complaint> {
    let name = args.file.display();
    let unopened = |why| Complaint::new(Exit::Environment, format!("{name}: {why}"));
    let file = File::open(&args.file).map_err(unopened)?;
    match read(BufReader::with_capacity(1 << 16, file), each) {
        Ok(walked) => walked.map(drop),
        Err(Unread::Io(why)) => Err(unopened(why)),
        Err(Unread::Version(why)) => Err(Complaint::new(
            Exit::Usage,
            format!("{name}: {why}\nhelp: import it with the build that wrote it, or a newer one"),
        )),
        Err(Unread::Wrong(line, why)) => Err(Complaint::new(
            Exit::Safety,
            format!("{name}:{line}: {why}; nothing is imported of it"),
        )),
    }
}

fn tell(args: &Import, results: &[(ConversationId, Imported)]) -> Outcome {
    let count = |wanted| results.iter().filter(|(_, it)| *it == wanted).count() as u64;
    let differ = count(Imported::Differs);
    if args.json {
        let results = results.iter().map(
            |(name, imported)| json!({ "conversation": name.as_str(), "result": word(*imported) }),
        );
        let results: Vec<_> = results.collect();
        output::print(&format!("{:#}\n", json!({ "command": "log import", "results": results })))?;
    } else {
        let [taken, there] =
            [Imported::Taken, Imported::AlreadyThere].map(|it| counted(count(it), "conversation"));
        output::print(&format!("{taken} imported, {there} there already\n"))?;
    }
    if count(Imported::Taken) > 0 {
        output::note(
            "nobody may go on with these conversations in the database that they are from",
        );
    }
    if differ == 0 {
        return Ok(Exit::Holds);
    }
    let names = results.iter().filter(|(_, it)| *it == Imported::Differs);
    let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
    Err(Complaint::new(
        Exit::Usage,
        format!(
            "{}: another conversation of the same name is there, and stays as it is",
            output::one_line(&names.join(", "))
        ),
    ))
}

const fn word(imported: Imported) -> &'static str {
    match imported {
        Imported::Taken => "imported",
        Imported::AlreadyThere => "already there",
        Imported::Differs => "differs",
    }
}
