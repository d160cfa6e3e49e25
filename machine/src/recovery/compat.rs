//! Row 10: the run is bound to something else than whoever comes has.
//!
//! It stands around the doubts and before everything that goes on. Which effects a call may have and
//! who can be asked about it is a matter of its definition, so nobody judges a doubt who has another
//! one; what is canonical about it already is marked and covered all the same. What people have said
//! comes first, an end that is asked for above all.

use super::classify::Match;
use super::decision::Decision;
use super::evidence::Evidence;
use crate::ledger::{InputMarker, Mismatch, Phase};
use crate::projection::SubmissionView;

/// How the binding at hand differs from the one that the run is bound to. A run without a canonical
/// input is bound to nothing yet.
pub(super) fn mismatch(evidence: &Evidence<'_>, view: &SubmissionView) -> Option<Mismatch> {
    let run = view.run.as_ref()?;
    let (at, expected, found) = (run.bound_at, run.bound, *evidence.bound);
    (expected != found).then_some(Mismatch { at, expected, found })
}

/// Row 10, where it goes on: the binding fits, or somebody wants the run to go on under it.
pub(super) fn fits(evidence: &Evidence<'_>, mismatch: Option<&Mismatch>) -> Match {
    let compat = &evidence.row.compat;
    let decision = match (mismatch, &compat.rebind) {
        (None, _) if compat.incompatible.is_some() => Decision::CoverIncompatible,
        (Some(mismatch), Some(intent)) if intent.allows(mismatch) => {
            Decision::Rebind(intent.clone(), mismatch.expected)
        }
        (None, _) | (Some(_), _) => return None,
    };
    Some((10, decision))
}

/// Row 10, where it does not, unless nobody has come for so long that the run is to end.
pub(super) fn waits(evidence: &Evidence<'_>, mismatch: Option<Mismatch>) -> Match {
    let mismatch = mismatch?;
    let is_over = evidence.row.compat.is_over(&mismatch, evidence.now);
    (!is_over).then_some((10, Decision::Incompatible(mismatch)))
}

/// Row 10, where the run has waited long enough: it ends, or what may have happened is unknown
/// (DUR-014). What people are asked already goes first.
pub(super) fn outlived(
    evidence: &Evidence<'_>,
    view: &SubmissionView,
    mismatch: Option<Mismatch>,
) -> Match {
    let mismatch = mismatch?;
    let decision = match &evidence.row.phase {
        Phase::Running(InputMarker::Applied) if view.doubts().next().is_none() => {
            Decision::EndIncompatible(mismatch)
        }
        Phase::Running(InputMarker::Missing) => return Some((17, Decision::RepairInputMarker)),
        Phase::Running(_)
        | Phase::Admitted
        | Phase::Ready
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Terminalizing(_)
        | Phase::Settled(_) => Decision::Incompatible(mismatch),
    };
    Some((10, decision))
}
