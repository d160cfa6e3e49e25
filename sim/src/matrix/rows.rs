//! The rows that are built, and which failpoints realise them.

use std::fmt;

use everstep_machine::effect::{CrashPhase, EffectKind, ExternalKind, Failpoint, LedgerKind};
use everstep_machine::record::BatchKind;

use crate::explore::failpoints;

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident => $id:literal, $title:literal, $recovery:literal;)*) => {
        /// A row of the crash matrix.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Row { $($(#[$doc])* $row,)* }

        impl Row {
            /// Every row, in order.
            pub const ALL: &'static [Self] = &[$(Self::$row),*];

            /// The stable id.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$row => $id),* }
            }

            /// At which point the crash strikes, in at most 45 characters.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$row => $title),* }
            }

            /// What becomes of the submission.
            #[must_use]
            pub const fn recovery(self) -> &'static str {
                match self { $(Self::$row => $recovery),* }
            }
        }
    };
}

rows! {
    /// Nothing is stored.
    D01 => "D-01", "before the admission is stored",
        "Nothing was accepted. The client asks again and is admitted then.";
    /// Admitted, not ready.
    D02 => "D-02", "admitted, not yet ready",
        "Whoever comes next to the lane, or the client's retry, creates the log and makes the \
         submission ready.";
    /// Ready, and nobody told the client.
    D03 => "D-03", "ready, receipt not delivered",
        "The retry finds the submission under its key and gets the same receipt.";
    /// Owned, nothing recorded.
    D04 => "D-04", "claimed, input not recorded",
        "The next owner claims a higher epoch, raises the log to it and records the input, once.";
    /// Recorded, not marked.
    D05 => "D-05", "input recorded, row not marked",
        "The log is right: the row gets its marker from it.";
    /// Looking at the lane, or asking for it.
    D06 => "D-06", "while reading or claiming the lane",
        "Reading changed nothing and a claim holds only for a lease: the lane is claimed again.";
    /// The model was asked.
    D07 => "D-07", "while the model answers",
        "What was asked is recorded as interrupted and the model is asked the same turn again, \
         visibly at double cost.";
    /// The response is canonical and has calls.
    D08 => "D-08", "calls declared, not authorized",
        "The calls stand in the log: they are put to the authorizer, and the model is not asked.";
    /// Authorized, nothing prepared.
    D09 => "D-09", "authorized, nothing prepared",
        "An authorization is not kept: it is asked for again, and the batch goes on.";
    /// A start is canonical and did not happen.
    D10 => "D-10", "prepared, tool not invoked",
        "Nobody knows that it did not start: it is repeated only on proof or under its key.";
    /// The tool was running.
    D11 => "D-11", "while the tool runs",
        "A reconciler is asked; without its proof an ordinary call becomes unknown.";
    /// The tool returned.
    D12 => "D-12", "tool returned, result not recorded",
        "Reconciled, repeated under its key if it is idempotent, else unknown until a person \
         says what happened; each step of that resolution is repeatable.";
    /// A result is canonical.
    D13 => "D-13", "result recorded",
        "The turn goes on from the log: what is left of the batch runs, then the model is asked.";
    /// The last response is canonical.
    D14 => "D-14", "last response recorded, nothing reserved",
        "The same settlement is computed again from the log.";
    /// A settlement is fixed.
    D15 => "D-15", "settlement reserved, not recorded",
        "Exactly the reserved bytes are appended.";
    /// A settlement is canonical.
    D16 => "D-16", "settlement recorded, row not final",
        "The row is finalized from the log.";
    /// The end.
    D17 => "D-17", "final, client not told",
        "Whoever asks gets the settlement that is recorded.";
    /// Somebody wants it to end.
    A01 => "A-01", "an abort is asked for",
        "The intent stands on the row or it does not: asking again changes nothing.";
    /// The abort is canonical.
    A02 => "A-02", "an abort becomes canonical",
        "The intent on the row is recorded, once, before anything is settled as aborted.";
    /// Somebody has to decide.
    A03 => "A-03", "an approval is requested",
        "Either nobody was asked, and the batch is put to the approver again, or the request is \
         canonical and its row is suspended for it. Nobody learns of it before.";
    /// Nobody holds the lane.
    A04 => "A-04", "the row is suspended",
        "The log says what is asked: the row is suspended for it, once, and nobody holds the lane.";
    /// Somebody has decided.
    A05 => "A-05", "a decision is recorded",
        "The decision stands on the row or it does not; the log repeats it, once, before anything \
         starts, and the model is not asked again.";
    /// A row is being taken in.
    A06 => "A-06", "a queued submission starts to join",
        "The log does not hold its input: it is given back and waits again, or is taken in anew. \
         Nobody else can claim it meanwhile.";
    /// What waited is part of the run.
    A07 => "A-07", "a joined input is recorded",
        "The log holds its input, once: the row is marked from it, and the run goes on with it.";
    /// It ends with its host.
    A08 => "A-08", "a joined submission is settled with its host",
        "Their settlements stand in one batch: the rows are settled from it, the host's last.";
    /// Somebody speaks to a run.
    A09 => "A-09", "steering is accepted",
        "It is a submission like any other, with its receipt: if the run asks no more, it has a run \
         of its own.";
    /// What was said is part of the run.
    A10 => "A-10", "steering is recorded",
        "Either it waits and is taken in before the next request, or the log holds it, once.";
    /// A step of a durable call has succeeded.
    A11 => "A-11", "a step of a durable call is recorded",
        "Either the step is not recorded, and its body runs again under the same key, or it is, and \
         the handler that is entered again is given what it gave: no recorded step runs again.";
    /// Context is smaller.
    A12 => "A-12", "context is made smaller",
        "Either nothing was made smaller, and whoever takes over asks for it again, visibly at \
         double cost, or it is canonical and counts. What it covers stays in the log.";
    /// What was given up is tried again.
    A13 => "A-13", "what was given up is tried again",
        "It stays as it ended either way. Either it is still listed, or it names the one submission \
         that tries the same again, which is ready behind whatever waits. Asking again changes \
         nothing.";
    /// Somebody comes with another definition.
    A14 => "A-14", "a run meets another definition than its own",
        "Nobody goes on with it: it is left alone and listed, and whoever has its definition takes \
         it. Or it is bound anew, once and as somebody said, and goes on from where it was.";
}

impl Row {
    /// The failpoints that realise the row.
    pub fn failpoints(self) -> impl Iterator<Item = Failpoint> {
        failpoints().iter().copied().filter(move |failpoint| row_of(*failpoint) == self)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// The row that a failpoint realises.
///
/// There is no catch-all: a new kind of effect does not compile until it has its place here.
#[must_use]
pub const fn row_of(failpoint: Failpoint) -> Row {
    let phase = failpoint.phase;
    match failpoint.effect {
        EffectKind::Ledger(kind) => ledger(kind, phase),
        EffectKind::Materialize => Row::D02,
        EffectKind::Fence => Row::D04,
        EffectKind::Append(kind) => append(kind, phase),
        EffectKind::ReadLane | EffectKind::ReadLog => Row::D06,
        EffectKind::External(kind) => external(kind, phase),
    }
}

/// The one row before an effect that is stored at once, the other one after it.
const fn split(phase: CrashPhase, before: Row, after: Row) -> Row {
    match phase {
        CrashPhase::Before | CrashPhase::During => before,
        CrashPhase::After => after,
    }
}

const fn ledger(kind: LedgerKind, phase: CrashPhase) -> Row {
    match kind {
        LedgerKind::Admit => split(phase, Row::D01, Row::D02),
        LedgerKind::Steer => Row::A09,
        LedgerKind::Join | LedgerKind::RevertJoin => Row::A06,
        LedgerKind::MarkJoined => Row::A07,
        LedgerKind::SettleJoined => Row::A08,
        LedgerKind::Ready => split(phase, Row::D02, Row::D03),
        LedgerKind::Claim => split(phase, Row::D06, Row::D04),
        LedgerKind::Renew => Row::D11,
        LedgerKind::MarkInput => split(phase, Row::D05, Row::D07),
        LedgerKind::MarkUnknown
        | LedgerKind::Resolve
        | LedgerKind::CoverUnknown
        | LedgerKind::Release => Row::D12,
        LedgerKind::Reserve => split(phase, Row::D14, Row::D15),
        LedgerKind::Finalize => split(phase, Row::D16, Row::D17),
        LedgerKind::Abort => Row::A01,
        LedgerKind::Suspend => Row::A04,
        LedgerKind::Retry => Row::A13,
        LedgerKind::Incompatible | LedgerKind::Rebind | LedgerKind::CoverIncompatible => Row::A14,
        LedgerKind::Decide | LedgerKind::Expire | LedgerKind::CoverApprovals => Row::A05,
    }
}

const fn append(kind: BatchKind, phase: CrashPhase) -> Row {
    match kind {
        BatchKind::RecoveryDecided => Row::D04,
        BatchKind::InputRecorded => split(phase, Row::D04, Row::D05),
        BatchKind::InputSteered => Row::A10,
        BatchKind::InputJoined => Row::A07,
        BatchKind::ModelInterrupted => Row::D07,
        BatchKind::ModelResponded => split(phase, Row::D07, Row::D14),
        BatchKind::CallsDeclared => split(phase, Row::D07, Row::D08),
        BatchKind::ToolPrepared => split(phase, Row::D09, Row::D10),
        BatchKind::StepRecorded => Row::A11,
        BatchKind::ToolSettled => split(phase, Row::D12, Row::D13),
        BatchKind::ToolUnknown | BatchKind::ToolResolved => Row::D12,
        BatchKind::AbortRequested => Row::A02,
        BatchKind::ApprovalRequested => Row::A03,
        BatchKind::ApprovalDecided => Row::A05,
        BatchKind::CompactionCreated => Row::A12,
        BatchKind::RunRebound => Row::A14,
        BatchKind::SubmissionSettled => split(phase, Row::D15, Row::D16),
    }
}

const fn external(kind: ExternalKind, phase: CrashPhase) -> Row {
    match kind {
        ExternalKind::CallModel => Row::D07,
        ExternalKind::Check | ExternalKind::Approve => Row::D08,
        ExternalKind::Authorize => match phase {
            CrashPhase::Before => Row::D08,
            CrashPhase::During | CrashPhase::After => Row::D09,
        },
        // Nothing crashes at these: they have no phases.
        ExternalKind::Clear => Row::D08,
        ExternalKind::Permits => Row::D09,
        ExternalKind::InvokeTool => match phase {
            CrashPhase::Before => Row::D10,
            CrashPhase::During => Row::D11,
            CrashPhase::After => Row::D12,
        },
        ExternalKind::NextStep => Row::A11,
        ExternalKind::Reconcile => Row::D12,
    }
}
