//! What a person says to a run that goes on.

use everstep_machine::admission::saying;
use everstep_machine::digest::Hasher;
use everstep_machine::identity::{IdempotencyKey, PrincipalId, SubmissionId};
use everstep_machine::ledger::Phase;
use serde_json::json;

use super::act::{perform, tell, usage};
use super::find;
use crate::args::Look;
use crate::database::unread;
use crate::exit::Outcome;
use crate::run::input::input;

/// Says something to the run of a submission.
pub(super) fn steer(id: &str, text: &str, by: &str, key: Option<&str>, look: &Look) -> Outcome {
    let principal = PrincipalId::new(by).map_err(|why| usage(format!("--by: {why}")))?;
    let input = input(false, text)?;
    let (reader, (lane, host)) = find(&look.db, id)?;
    let name = Hasher::new("everstep/steer-command")
        .bytes(&host.admission.submission.0)
        .bytes(input.as_str().as_bytes())
        .bytes(key.unwrap_or_default().as_bytes())
        .digest()
        .to_string();
    let key = IdempotencyKey::new(&name).map_err(usage)?;
    let said = SubmissionId::derive(&lane, &principal, &key);
    let already = reader.row(&lane, said).map_err(unread)?.is_some();
    perform(&look.db, &saying(&lane, &host.admission, principal, key, input))?;
    let text = if already {
        format!("it was said already, as {said}")
    } else {
        let when = match &host.phase {
            Phase::Suspended => "the run is shown it once it is decided what it waits for",
            Phase::Unknown => "the run is shown it once its unknown call is resolved",
            Phase::Admitted | Phase::Ready => "the run is shown it when it begins",
            _ => {
                "the run is shown it with its next request, and it has one of its own if there is none"
            }
        };
        format!("said, as {said}; {when}")
    };
    tell(look, "steer", &host, &text, json!({ "said": said.to_string(), "already": already }))
}
