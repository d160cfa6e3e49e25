//! From a path to text.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::bounds::SCENARIO_BYTES;
use super::error::{Place, ScenarioError, place_of_byte};
use super::fault::Fault;
use super::syntax::ENDINGS;
use super::words::nearest;
use super::{Scenario, parse};

/// Reads, decodes and checks a file.
pub(super) fn scenario(path: &Path) -> Result<Scenario, ScenarioError> {
    decoded(&path.to_string_lossy(), &whole(path)?)
}

/// Everything that a file of bounded size holds.
pub(super) fn whole(path: &Path) -> Result<Vec<u8>, ScenarioError> {
    let place = || Place::File { path: path.to_string_lossy().into_owned() };
    bytes(path).map_err(|fault| ScenarioError::new(fault, place()))
}

/// Decodes and checks what a file held.
pub(super) fn decoded(name: &str, bytes: &[u8]) -> Result<Scenario, ScenarioError> {
    parse::scenario(name, text(name, bytes)?)
}

/// The text of what a file held.
pub(super) fn text<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, ScenarioError> {
    if bytes.len() > SCENARIO_BYTES {
        return Err(ScenarioError::new(Fault::TooLarge, Place::File { path: name.to_owned() }));
    }
    std::str::from_utf8(bytes).map_err(|broken| {
        let at = broken.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        ScenarioError::new(Fault::NotUtf8 { byte }, place_of_byte(name, bytes, at))
    })
}

/// What the file holds, and not a byte more than shows that it is too large.
fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    let fault = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Fault::Missing { nearest: sibling(path) },
        ErrorKind::IsADirectory => Fault::Folder,
        other => Fault::Unreadable(other),
    };
    let file = File::open(path).map_err(fault)?;
    if file.metadata().map_err(fault)?.is_dir() {
        return Err(Fault::Folder);
    }
    let mut bytes = Vec::new();
    file.take(SCENARIO_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(fault)?;
    Ok(bytes)
}

/// Files beside a missing one that are looked through.
const SIBLINGS: usize = 1_000;

/// The file beside this one whose name is nearest.
fn sibling(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = folder.unwrap_or(Path::new(".")).read_dir().ok()?;
    let names =
        entries.take(SIBLINGS).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_ours = |name: &String| ENDINGS.iter().any(|(ending, _)| name.ends_with(ending));
    let mut names: Vec<_> = names.filter(is_ours).collect();
    names.sort();
    let near = nearest(wanted, names.iter().map(String::as_str))?;
    Some(folder.unwrap_or(Path::new("")).join(near).to_string_lossy().into_owned())
}
