//! The part of a row that can change a future.

use std::hash::{Hash, Hasher};

use everstep_machine::ledger::{ApprovalMark, Incompatible, Mark, Phase, Retried, Row, Settled};

/// A row as its future sees it: when things happened to it changes nothing, and its admission
/// follows from its submission.
pub(super) struct RowPrint<'a>(pub(super) &'a Row);

impl Hash for RowPrint<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Row {
            admission,
            sequence,
            admitted_at: _,
            claims,
            fruitless,
            phase,
            abort,
            marks,
            approvals,
            chain,
            compat,
        } = self.0;
        (admission.submission, sequence, claims, fruitless, abort).hash(state);
        core::mem::discriminant(phase).hash(state);
        match phase {
            Phase::Admitted | Phase::Ready | Phase::Unknown | Phase::Suspended => {}
            Phase::Running(marker) => marker.hash(state),
            Phase::Joining { host } | Phase::Joined { host } => host.hash(state),
            Phase::Terminalizing(reserved) => reserved.digest.hash(state),
            Phase::Settled(Settled { digest, outcome, given_up, epoch, at: _ }) => {
                (digest, outcome, given_up, epoch).hash(state);
            }
        }
        compat.rebind.hash(state);
        if let Some(Incompatible { mismatch, by: _, since }) = &compat.incompatible {
            (mismatch, since).hash(state);
        }
        chain.retry_of.hash(state);
        if let Some(Retried { intent, successor, position, at: _ }) = &chain.retried {
            (intent, successor, position).hash(state);
        }
        marks.len().hash(state);
        for Mark { doubt, since: _, state: mark } in marks {
            (doubt, mark).hash(state);
        }
        approvals.len().hash(state);
        for ApprovalMark { request, since: _, expires_at, approver: _, state: mark } in approvals {
            (request, expires_at, mark).hash(state);
        }
    }
}
