//! Scenarios by file or by name.

use std::path::Path;
use std::sync::Arc;

use everstep_sim::scenario::{Fault, Scenario, ScenarioError, corpus};

use crate::exit::{Complaint, Exit};

/// A scenario and the text it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) text: String,
}

/// Every scenario of the corpus.
pub(crate) fn builtin() -> Result<Vec<Loaded>, Complaint> {
    corpus::builtin().map(|(name, text)| parsed(name, text)).collect()
}

/// A file; or, where there is no such file, a scenario of the corpus by its name.
pub(crate) fn named(path: &Path) -> Result<Loaded, Complaint> {
    match Scenario::read(path) {
        Ok(_) => {
            let text = std::fs::read_to_string(path).map_err(|why| {
                Complaint::new(Exit::Environment, format!("{}: {why}", path.display()))
            })?;
            parsed(&path.to_string_lossy(), &text)
        }
        Err(error) => {
            let missing = matches!(error.fault(), Fault::Missing { .. });
            let builtin = corpus::builtin().find(|(name, _)| path == Path::new(name));
            match builtin.filter(|_| missing) {
                Some((name, text)) => parsed(name, text),
                None => Err(complaint(&error)),
            }
        }
    }
}

/// All of them, or everything that is wrong with any.
pub(crate) fn all(paths: &[impl AsRef<Path>]) -> Result<Vec<Loaded>, Complaint> {
    let mut loaded = Vec::new();
    let mut wrong: Vec<Complaint> = Vec::new();
    for path in paths {
        match named(path.as_ref()) {
            Ok(one) => loaded.push(one),
            Err(complaint) => wrong.push(complaint),
        }
    }
    let Some(first) = wrong.first() else { return Ok(loaded) };
    let texts: Vec<_> = wrong.iter().map(|complaint| complaint.text.as_str()).collect();
    Err(Complaint::new(first.exit, texts.join("\n\n")))
}

fn parsed(path: &str, text: &str) -> Result<Loaded, Complaint> {
    let scenario = Scenario::parse(path, text).map_err(|error| complaint(&error))?;
    Ok(Loaded { scenario: Arc::new(scenario), text: text.to_owned() })
}

/// A file that is not there is the environment's fault, one that is wrong its author's.
fn complaint(error: &ScenarioError) -> Complaint {
    let absent =
        matches!(error.fault(), Fault::Missing { .. } | Fault::Folder | Fault::Unreadable(_));
    Complaint::new(if absent { Exit::Environment } else { Exit::Usage }, error)
}
