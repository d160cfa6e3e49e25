//! Who is asked about the calls of an agent file: nobody, what the file says, or a service.

use everstep_machine::identity::{DurationMs, ToolName};

use super::super::bounds::{LATENCY_MS, TOOLS};
use super::super::check::{self, Tools};
use super::super::draft::{Checked, Said};
use super::super::fault::Fault;
use super::super::grammar::{Presence, Rule, Shape, Table, key};
use super::super::parse::{Row, denials, names};

use Presence::{Default, Optional};

/// Milliseconds that a service may take, unless the file says otherwise.
const TIMEOUT_MS: u64 = 10_000;
/// Bytes of a URL.
const URL_BYTES: usize = 2 * 1024;

pub(super) static APPROVER: Table = Table {
    name: "[approver]",
    definition: "agent-approver",
    about: "Who is asked about the calls of tools that want it: the file, or a service.",
    keys: &[
        key(
            "denies",
            Shape::Names(TOOLS),
            Default("[]"),
            "Tools whose calls it does not approve: no call of the batch starts.",
        ),
        key(
            "people",
            Shape::Names(TOOLS),
            Default("[]"),
            "Tools whose calls it leaves to people: the submission waits, suspended, until somebody decides.",
        ),
        key(
            "url",
            Shape::Text,
            Optional,
            "The service that is asked instead, as http://host:port/path. What it leaves open, and all of it if anything is wrong, waits for people.",
        ),
        key(
            "token_env",
            Shape::Name,
            Optional,
            "The environment variable that holds the bearer token for the service.",
        ),
        key(
            "timeout_ms",
            Shape::Whole(1, LATENCY_MS),
            Default("10000"),
            "How long the service may take for all of its answer, in milliseconds.",
        ),
    ],
    rules: &[Rule::Excludes("url", "denies"), Rule::Excludes("url", "people")],
};

/// Who is asked about calls about which somebody is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApproverFile {
    /// Nobody: they wait for people.
    Nobody,
    /// The file has said it: calls of some tools are denied, those of others are left to people, and
    /// the rest is approved.
    Said {
        /// Tools whose calls are denied.
        denied: Vec<ToolName>,
        /// Tools whose calls are left to people.
        people: Vec<ToolName>,
    },
    /// A service.
    Service(ServiceFile),
}

/// A service that is asked about calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceFile {
    /// Where it is: a URL of `http`, without credentials.
    pub url: String,
    /// The environment variable that holds the bearer token, if it wants one.
    pub token_env: Option<String>,
    /// How long it may take for all of its answer.
    pub timeout: DurationMs,
}

/// What a file says of it.
pub(super) fn approver(
    root: &Row<'_, '_>,
    tools: &Tools,
    is_layered: bool,
) -> Checked<ApproverFile> {
    let Some(row) = root.row("approver") else { return Ok(ApproverFile::Nobody) };
    if row.text("url").is_some() || row.text("token_env").is_some() || row.has("timeout_ms") {
        return service(&row).map(ApproverFile::Service);
    }
    Ok(ApproverFile::Said {
        denied: tools.disapproved(&denials(root, "approver"), is_layered)?,
        people: tools.disapproved(&names(root, "approver", "people"), is_layered)?,
    })
}

fn service(row: &Row<'_, '_>) -> Checked<ServiceFile> {
    let said = row.need("url", APPROVER.name)?;
    let url = url(&said)?;
    let token_env = row.text("token_env").map(|said| variable(&said)).transpose()?;
    let timeout = row.whole_or("timeout_ms", TIMEOUT_MS);
    let timeout = DurationMs(check::within("timeout_ms", &timeout, 1, LATENCY_MS)?);
    Ok(ServiceFile { url, token_env, timeout })
}

/// What looks like the URL of a service. Whoever asks the service looks closer.
fn url(said: &Said) -> Checked<String> {
    let text = &said.value;
    let authority =
        text.strip_prefix("http://").and_then(|rest| rest.split(['/', '?', '#']).next());
    let is_plain = text.len() <= URL_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    match authority {
        Some(host) if is_plain && !host.is_empty() && !host.contains('@') => Ok(text.clone()),
        Some(_) | None => Err(said.site.fault(Fault::BadUrl)),
    }
}

fn variable(said: &Said) -> Checked<String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = said.value.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if begins && said.value.bytes().all(is_part) {
        return Ok(said.value.clone());
    }
    Err(said.site.fault(Fault::BadVariable))
}
