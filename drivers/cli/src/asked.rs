//! Requests for approval, as an operator sees them.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use everstep_machine::agent::{Risk, Verdict};
use everstep_machine::identity::{ConversationId, Timestamp, ToolName};
use everstep_machine::ledger::{ApprovalMark, ApprovalState, DecisionIntent, Row};
use everstep_machine::record::ApprovalRequested;
use everstep_sqlite::SqliteReader;
use serde_json::{Value, json};

use crate::database::{age, history};
use crate::exit::Complaint;
use crate::output::one_line;

/// A request that a row was suspended for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) mark: ApprovalMark,
    /// What the log says of it, and of which tool the call is. A submission that has ended forgets
    /// its calls.
    told: Option<(ApprovalRequested, ToolName)>,
}

/// The requests of a row, decided or not.
pub(crate) fn asked(
    reader: &SqliteReader,
    lane: &ConversationId,
    row: &Row,
) -> Result<Vec<Asked>, Complaint> {
    if row.approvals.is_empty() {
        return Ok(Vec::new());
    }
    let history = history(reader, lane)?;
    let view = history.submission(row.admission.submission);
    let named = row.approvals.iter().map(|mark| {
        let mut calls = view.into_iter().flat_map(|view| view.calls());
        let told = calls.find_map(|call| {
            let asked = call.approvals.iter().find(|it| it.request.request == mark.request)?;
            Some(((*asked.request).clone(), call.tool.clone()))
        });
        Asked { mark: mark.clone(), told }
    });
    Ok(named.collect())
}

/// What was decided, if anything was.
pub(crate) const fn decided(mark: &ApprovalMark) -> Option<&DecisionIntent> {
    match &mark.state {
        ApprovalState::Intended(said) | ApprovalState::Closed(Some(said)) => Some(said),
        ApprovalState::Open | ApprovalState::Expired | ApprovalState::Closed(None) => None,
    }
}

pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "approved",
        Verdict::Denied => "denied",
    }
}

pub(crate) const fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    }
}

impl Asked {
    fn state(&self) -> &'static str {
        match &self.mark.state {
            ApprovalState::Open => "open",
            ApprovalState::Intended(it) | ApprovalState::Closed(Some(it)) => verdict(it.verdict),
            ApprovalState::Expired | ApprovalState::Closed(None) => "expired",
        }
    }

    /// The same for machines.
    pub(crate) fn json(&self) -> Value {
        let ApprovalMark { request, since, expires_at, approver, .. } = &self.mark;
        let said = decided(&self.mark);
        let (told, tool) = self.told.as_ref().map(|(told, tool)| (told, tool)).unzip();
        json!({
            "request": request.to_string(),
            "call": told.map(|it| it.call.to_string()),
            "tool": tool.map(ToolName::as_str),
            "risk": told.map(|it| risk(it.risk)),
            "parameters": told.map(|it| &*it.preview),
            "parameters_digest": told.map(|it| it.parameters.to_string()),
            "policy": told.map(|it| it.policy.to_string()),
            "since_ms": since.0,
            "expires_ms": expires_at.map(|at| at.0),
            "approver": approver.as_ref().map(|it| it.as_str()),
            "state": self.state(),
            "decided_by": said.map(|it| it.principal.as_str()),
            "reason": said.map(|it| &*it.reason),
        })
    }
}

/// How long a request stands still.
fn left(until: Timestamp) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    match Duration::from_millis(until.0).checked_sub(now) {
        Some(left) => format!("{} s left", left.as_secs()),
        None => "its time is over".to_owned(),
    }
}

/// On one line, whatever was called for.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ApprovalMark { request, since, expires_at, approver, .. } = &self.mark;
        write!(f, "{request}: ")?;
        if let Some((told, tool)) = &self.told {
            let shown = one_line(&told.preview);
            write!(f, "{tool}({shown}), risk {}, ", risk(told.risk))?;
        }
        write!(f, "{}, asked {} ago", self.state(), age(*since))?;
        if let Some(at) = expires_at {
            write!(f, ", {}", left(*at))?;
        }
        match approver {
            Some(only) => write!(f, ", for {} to decide", one_line(only.as_str())),
            None => Ok(()),
        }
    }
}
