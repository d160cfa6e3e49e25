//! The service that an agent file names as its approver.

use std::env::{self, VarError};
use std::time::Duration;

use everstep_http::{HttpApprover, Token, Url};
use everstep_sim::scenario::ServiceFile;

use crate::exit::{Complaint, Exit};
use crate::output;

/// The service. Its token is read once, and shown to nobody else.
pub(super) fn service(named: &ServiceFile) -> Result<HttpApprover, Complaint> {
    let url = Url::new(&named.url);
    let url = url.map_err(|why| Complaint::new(Exit::Usage, format!("[approver] `url`: {why}")))?;
    let approver = HttpApprover::new(url)
        .timeout(Duration::from_millis(named.timeout.0))
        .on_trouble(|why| output::note(&format!("the approver's service decides nothing: {why}")));
    Ok(match &named.token_env {
        Some(variable) => approver.token(token(variable)?),
        None => approver,
    })
}

fn token(variable: &str) -> Result<Token, Complaint> {
    let wrong = |why: &str| {
        let why = format!("the environment variable {variable} holds no token: {why}");
        let help = "[approver] names it as `token_env`";
        Complaint::new(Exit::Environment, format!("{why}\nhelp: {help}"))
    };
    let text = env::var(variable).map_err(|why| match why {
        VarError::NotPresent => wrong("it is not set"),
        VarError::NotUnicode(_) => wrong("it is not UTF-8"),
    })?;
    Token::new(&text).map_err(|why| wrong(&why.to_string()))
}
