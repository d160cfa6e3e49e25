//! The input of a run, bounded before anything is done with it.

use std::fs::File;
use std::io::Read as _;

use everstep_machine::json::{CanonicalJson, JsonError};
use everstep_machine::limits::JSON_BYTES;

use crate::exit::{Complaint, Exit};

/// An input: a text, or a JSON value; `@FILE` takes it from a file, and `@@` begins
/// a text that begins with `@`.
pub(crate) fn input(as_json: bool, said: &str) -> Result<CanonicalJson, Complaint> {
    let here = |text: &str| ("the input".to_owned(), text.as_bytes().to_vec());
    let (name, bytes) = match said.strip_prefix('@') {
        None => here(said),
        Some(text) if text.starts_with('@') => here(text),
        Some(path) => (path.to_owned(), bounded(path)?),
    };
    let usage = |why: &dyn std::fmt::Display| Complaint::new(Exit::Usage, format!("{name}: {why}"));
    let large = format!("an input has at most {JSON_BYTES} bytes as JSON, with quotes and escapes");
    if bytes.len() > JSON_BYTES {
        return Err(usage(&large));
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|why| usage(&format!("byte {} is not UTF-8", why.valid_up_to())))?;
    let json =
        if as_json { CanonicalJson::parse(text.as_bytes()) } else { CanonicalJson::string(text) };
    json.map_err(|why| if why == JsonError::TooLarge { usage(&large) } else { usage(&why) })
}

/// What a file holds, and not a byte more than shows that it is too large.
fn bounded(path: &str) -> Result<Vec<u8>, Complaint> {
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(JSON_BYTES as u64 + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(why) => {
            let help = "@FILE takes the input from a file; @@ begins a text that begins with @";
            Err(Complaint::new(Exit::Environment, format!("@{path}: {why}\nhelp: {help}")))
        }
    }
}
