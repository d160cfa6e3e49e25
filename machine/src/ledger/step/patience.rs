//! How long a lane is patient with a submission whose owners die (DUR-018).
//!
//! An owner that is superseded without having let go has died, for all that anybody knows. If the
//! log holds nothing that it got done, it died in vain, and perhaps of the submission itself. So
//! the ledger keeps the epochs of those who did, one after the other. It cannot read the log:
//! whoever claims says what the last productive epoch is, and whoever gives up has read that again
//! under its own fence, so a claim that read too early costs a longer pause and nothing else.

use alloc::vec::Vec;

use crate::digest::Hasher;
use crate::identity::{DurationMs, Epoch};
use crate::ledger::input::Claim;
use crate::ledger::state::{Lane, Row};
use crate::limits::{FRUITLESS_CLAIMS, FRUITLESS_PAUSE_MS};

/// The owners that died in vain, the one that this claim supersedes included.
pub(super) fn after(lane: &Lane, row: &Row, claim: &Claim) -> Vec<Epoch> {
    let died = lane.owner.as_ref().is_some_and(|owner| owner.submission == claim.submission);
    let died = died.then_some(lane.epoch);
    let in_vain = |epoch: &Epoch| claim.productive.is_none_or(|productive| productive < *epoch);
    let mut fruitless: Vec<Epoch> =
        row.fruitless.iter().copied().chain(died).filter(in_vain).collect();
    let over = fruitless.len().saturating_sub(FRUITLESS_CLAIMS);
    fruitless.drain(..over);
    fruitless
}

/// How much longer than this owner's lease the next one waits. The first death may be anything's;
/// from then on the pause doubles, and its upper half is drawn from what the claim's token records,
/// so that lanes that died together do not come back together.
pub(super) fn pause(claim: &Claim, fruitless: usize) -> DurationMs {
    let Some(doublings) = fruitless.checked_sub(2) else { return DurationMs(0) };
    let factor = 1_u64.checked_shl(u32::try_from(doublings).unwrap_or(u32::MAX));
    let longest = claim.lease.0.saturating_mul(factor.unwrap_or(u64::MAX)).min(FRUITLESS_PAUSE_MS);
    let drawn = Hasher::new("everstep/pause")
        .bytes(&claim.token.0)
        .bytes(&(fruitless as u64).to_be_bytes())
        .digest();
    let drawn = drawn.0.iter().take(8).fold(0_u64, |drawn, byte| drawn << 8 | u64::from(*byte));
    let half = longest / 2;
    DurationMs(longest - half + drawn % (half + 1))
}
