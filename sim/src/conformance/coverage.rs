//! What the scripts have met: a kit that never saw a refusal says nothing about it.

use std::collections::BTreeSet;

use everstep_machine::effect::{EffectKind, LedgerKind};
use everstep_machine::store::{Refusal, Replies, Reply, StoreCommand, StoreFault, Target};
use everstep_machine::{conversation, ledger};

use super::finding::{Check, Difference};

/// Names of what can be met: a new variant does not compile before it stands here, and fails every
/// check before a script meets it.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident, $all:ident, $type:path, $prefix:literal: $($variant:ident),+ $(,)?) => {
        $(#[$doc])*
        fn $name(it: &$type) -> &'static str {
            use $type as It;
            match it { $(It::$variant { .. } => concat!($prefix, stringify!($variant)),)+ }
        }

        const $all: &[&str] = &[$(concat!($prefix, stringify!($variant))),+];
    };
}

names!(
    /// Why a ledger refuses.
    lane_refusal, LANE_REFUSALS, ledger::Refusal, "lane refuses: ":
    NoSuchSubmission, IdempotencyConflict, NotClaimable, EpochMoved, Owned, OwnershipLost,
    RunClosing, AlreadySettled, NoAbort, AbortIntended, UnknownOpen, AttemptsLeft, HasJoined,
    ForeignRun, OtherTenant, NotNext, JoinedOpen, NotRunning, NotSettled, NotGivenUp, NotIncompatible,
    ReservationConflict,
    SettlementDiffers, NoSuchDoubt, TooLong, ResolutionConflict, NoSuchApproval, AlreadyDecided,
    ApprovalExpired, NotExpired, NotTheApprover,
);
names!(
    /// Why a log refuses.
    log_refusal, LOG_REFUSALS, conversation::Refusal, "log refuses: ":
    Absent, Fenced, BatchConflict, TailConflict, DuplicateRecord, RecordReused, NotACreation,
    ForeignBatch,
);
names!(
    /// What a log answers.
    log_reply, LOG_REPLIES, conversation::Reply, "log answers: ":
    Materialized, Exists, Fenced, Appended,
);
names!(
    /// Whose view of a lane was read.
    target, TARGETS, Target, "lane is read for: ":
    Claimable, Submission, Owned, Run,
);

/// A page that is not the whole log.
const SECOND_PAGE: &str = "log has another page";

/// What was met so far, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Coverage(BTreeSet<&'static str>);

impl Coverage {
    /// Notes what the machines answered to a pipeline.
    pub(super) fn note(&mut self, commands: &[StoreCommand], answer: &Result<Replies, StoreFault>) {
        let accepted = match answer {
            Ok(_) => commands.len(),
            Err(StoreFault::Refused { at, why }) => {
                self.0.insert(match why {
                    Refusal::Ledger(why) => lane_refusal(why),
                    Refusal::Conversation(why) => log_refusal(why),
                });
                *at
            }
            Err(StoreFault::Indeterminate | StoreFault::Corrupt(_)) => 0,
        };
        for command in commands.iter().take(accepted) {
            self.0.insert(match command {
                StoreCommand::ReadLane(it) => target(it),
                StoreCommand::Ledger(_)
                | StoreCommand::Conversation(_)
                | StoreCommand::ReadLog { .. } => command.kind().name(),
            });
        }
        for reply in answer.iter().flatten() {
            match reply {
                Reply::Conversation(reply) => {
                    self.0.insert(log_reply(reply));
                }
                Reply::Log(page) => {
                    let last = page.batches.last().map(|batch| batch.next_sequence());
                    let end = page.tail.map(|tail| tail.next_sequence);
                    if last.is_some() && last != end {
                        self.0.insert(SECOND_PAGE);
                    }
                }
                Reply::Ledger(_) | Reply::Lane(_) => {}
            }
        }
    }

    /// What was met.
    pub(super) fn met(&self) -> Vec<&'static str> {
        self.0.iter().copied().collect()
    }

    /// That everything was met that there is.
    pub(super) fn complete(&self) -> Result<(), Difference> {
        let ledger = LedgerKind::ALL.iter().map(|kind| EffectKind::Ledger(*kind).name());
        let named = [LANE_REFUSALS, LOG_REFUSALS, LOG_REPLIES, TARGETS, &[SECOND_PAGE]];
        let all = ledger.chain(named.into_iter().flatten().copied());
        let missing: Vec<_> = all.filter(|name| !self.0.contains(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let found = format!("never met: {}", missing.join(", "));
        Err(Difference { check: Check::Vacuous, expected: "everything is met".into(), found })
    }
}
