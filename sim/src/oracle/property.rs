//! Properties by name, and what is reported when one is broken.

use std::fmt;

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident => $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$each])* $variant,)* }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name in plain words.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named! {
    /// What always holds.
    Property {
        /// DUR-002, ARC-14: the log holds one settlement of each submission with a receipt.
        OneSettlement => "a submission settles once",
        /// DUR-004: inputs become canonical in admission order, aborted ones excepted.
        AdmissionOrder => "a lane executes in admission order",
        /// DUR-005: no run begins before the one before it has settled.
        OneActiveRun => "a conversation has one active run",
        /// DUR-016, RUN-013: an input joins the run that goes on, once, and ends with it.
        Joining => "what joins a run settles with it",
        /// RUN-012: what was said to a run is canonical before the next request.
        Heard => "a run listens before it asks",
        /// ARC-13, DUR-006: no write of a superseded owner is committed or acknowledged.
        Fencing => "a superseded owner writes nothing",
        /// STORE-004: whoever fences a log has read all of it.
        FencedTail => "a log is fenced only as its new owner has read it",
        /// STORE-006: batches link, and decode to what was encoded.
        Chain => "the log verifies",
        /// DUR-015: what an owner works on is the fold over the log.
        Fold => "a live run is the fold over its log",
        /// What an owner expects of the store is what the store did.
        Prediction => "an owner predicts what the store does",
        /// DUR-009: an ordinary call runs once, and again only by a recorded resolution.
        OrdinaryOnce => "an ordinary call runs once unless a resolution allows more",
        /// DUR-009: an idempotent call has one effect under its key.
        IdempotentOnce => "an idempotent call has one effect",
        /// DUR-010: a step that is recorded has run, does not run again, and is not skipped.
        RecordedSteps => "a recorded step does not run again and is not skipped",
        /// DUR-017, RUN-014: of a start that gave no answer only who looks can say how it ended.
        Known => "nobody makes up how a call ended that gave no answer",
        /// RUN-028: a call is authorised under the epoch that prepares or starts it.
        Authorised => "no call starts without an authorisation",
        /// SEC-02, ARC-10: a call that somebody is asked about starts only when a yes to exactly
        /// its parameters is canonical.
        Approved => "no call starts without the approval that the policy wants",
        /// AUTH-15, SEC-02: nothing happens that takes what is not granted at that moment.
        Granted => "nothing happens that is not granted",
        /// CAP-006, AUTH-14: the log tells what people, policies and clocks decided, and nothing else.
        Decisions => "a canonical decision is one that somebody made",
        /// ARC-01, RUN-003: parameters fit what their tool takes before the call starts.
        Fitting => "no call starts with parameters that do not fit its tool",
        /// A scenario's own handlers: the same call ends the same way whenever it is asked.
        Handlers => "a handler that is a function says one thing of a call",
        /// RUN-009: an attempt starts a call only while its run has a place for it.
        Places => "a run has no more calls in flight than it may",
        /// RUN-009: a host starts a call of a group only while the group has a place for it.
        Groups => "a host has no more calls of a group in flight than it may",
        /// RUN-009, DUR-009: a call that waits for its place is in nobody's doubt.
        Permitted => "no call of a group is prepared before it has its place",
        /// RUN-015, RUN-017: calls that a budget forbids are never prepared and never start.
        Barred => "no call starts that a budget forbids",
        /// RUN-016: once a budget is used up there is one response more, and it calls nothing.
        FinalAnswer => "a run gives at most one final answer",
        /// RUN-011: finish and limit of a settlement are what its log counts up to.
        Limits => "a settlement names the limit that its log shows",
        /// BU-07: a question that came to nothing is charged, and of one that nobody can have asked
        /// nothing is.
        Charged => "every question that may have been asked is charged, and no other",
        /// DUR-018: no submission is given up before as many owners in a row as there may be have
        /// died without getting it anywhere, and none while anything it did is in doubt.
        Patience => "a submission is given up only when its owners keep dying",
        /// DUR-018: a dead letter has one successor at most, however often somebody asks for it, and
        /// that is the same submission once more.
        Retries => "what was given up is tried again at most once, and as it was",
        /// CR-05, CR-09: a run goes on only under what it is bound to, and is bound anew only as
        /// somebody wants it.
        Bindings => "a run goes on only under its own binding",
        /// ARC-12, SEC-04: what a tool wants to have taken out is in no record, request, question
        /// or settlement.
        Secrets => "what is to be taken out is neither kept nor shown",
        /// ARC-10: a start is canonical before the tool is invoked.
        Prepared => "no call starts before its preparation is canonical",
        /// DUR-009: a call that has happened is not said to have been turned down before it started.
        TurnedDown => "what has happened is not said to have been turned down",
        /// ARC-03: a result follows its call.
        Results => "no result without its call",
        /// RUN-005, RUN-006: whole batches, calls paired, in declaration order.
        Requests => "a model sees whole batches in declaration order",
        /// DUR-001: a receipt follows admission, conversation and readiness.
        Receipts => "no receipt before everything is stored",
        /// DUR-015: ledger and log tell one story.
        Rebuilt => "the ledger follows from the log",
        /// DUR-017: a doubt that is canonical and open is marked on its row.
        Listed => "an unknown outcome stays listed",
        /// ARC-14: everything accepted settles once faults stop and people answer.
        Liveness => "everything accepted settles",
        /// What the scenario says of its submissions.
        Expected => "a submission ends as the scenario says",
        /// The machines never call themselves defective.
        NoDefect => "no machine finds itself or its store defective",
    }
}

named! {
    /// What sometimes happens: a run of the corpus in which one of these never does is vacuous.
    Sometimes {
        /// A paused process went on after another one had claimed its lane.
        ZombieWoke => "a paused owner woke after its successor had claimed",
        /// A message to or from the store was lost.
        AcknowledgementLost => "an acknowledgement was lost",
        /// A superseded owner was turned away.
        StaleRefused => "a superseded owner was refused",
        /// A lease was renewed.
        Renewed => "a lease was renewed",
        /// An owner took a lane over.
        TakenOver => "a lane was taken over",
        /// The same turn was asked of the model twice.
        AskedAgain => "a model was asked the same turn again",
        /// A doubt became canonical.
        Unknown => "an outcome was unknown",
        /// A doubt was closed by a result.
        ResolvedCompleted => "an unknown was resolved as completed",
        /// A doubt was closed by a failure.
        ResolvedFailed => "an unknown was resolved as failed",
        /// A doubt was closed by the proof that nothing had started.
        ResolvedNeverStarted => "an unknown was resolved as never started",
        /// A doubt was closed by the permission to repeat.
        ResolvedSafeToRepeat => "an unknown was resolved as safe to repeat",
        /// A tombstone kept a call from starting.
        Tombstoned => "a tombstone kept a late call from starting",
        /// A reconciler proved an outcome.
        Reconciled => "a reconciler proved what became of a start",
        /// An idempotent tool ran again under the same key.
        RepeatedUnderKey => "an idempotent call ran again under its key",
        /// A durable call was started again and given steps that were recorded.
        StepGivenBack => "a recorded step was given back to its handler",
        /// The body of a step ran again that was not recorded.
        StepAgain => "a step that was not recorded ran again",
        /// An abort was accepted while an owner held the lane.
        AbortedLive => "an abort met a live owner",
        /// An abort was accepted before anybody had claimed the row.
        AbortedQueued => "an abort met a queued submission",
        /// What was said to a run came into it.
        Steered => "a run took in what was said to it",
        /// What waited behind a run came into it.
        Followed => "a run took in what waited behind it",
        /// What was being taken in waited again.
        JoinReverted => "a submission that was being taken in waited again",
        /// A start of a tool with effects gave no answer.
        Unanswered => "a call gave no answer",
        /// Somebody came with another binding than the run has.
        Incompatible => "an attempt had another binding than the run",
        /// A run was bound anew.
        Rebound => "a run was bound to another definition",
        /// A submission was given up.
        GivenUp => "a submission was given up",
        /// What was given up was tried again.
        Retried => "a submission that was given up was tried again",
        /// Somebody wanted to try again what was tried again already.
        RetriedAlready => "a second person was told that it was tried again",
        /// An approver said yes.
        Approved => "an approver let a call start",
        /// An approver said no.
        Disapproved => "an approver turned a call down",
        /// A call went ahead because of what was said of another one.
        AllowedBefore => "a call went ahead by what was allowed for the session",
        /// A call did not begin because its grant was taken back.
        StoppedAtTheDoor => "a call was stopped at the door",
        /// A batch was turned down because of what it takes.
        NotGranted => "a batch was turned down that takes what is not granted",
        /// A row was suspended.
        Suspended => "a submission waited for a decision",
        /// A request's time was over.
        Expired => "a request for approval expired",
        /// Every place of a run was taken.
        Full => "a run had as many calls in flight as it may",
        /// A call waited for a place of its group.
        Queued => "a call waited for a place of its group",
        /// A call had no effect and was made again by its host.
        TriedAgain => "a host tried a call again that had no effect",
        /// A stream broke that had said what it used.
        Charged => "a lost question was charged by its last word",
        /// A host showed a summary of its own.
        HostCompacted => "a host showed a summary of its own",
        /// A model was asked with tools forbidden.
        FinalAnswer => "a model was asked for a final answer",
        /// A run waits before it asks its model again.
        Paused => "a model was to be asked again after a pause",
        /// What old tools returned is shown no more.
        Cleared => "old results were left out of a context",
        /// A summary stands for old messages.
        Summarized => "a summary took the place of old messages",
        /// An attempt was given what an earlier one had folded.
        ReadOn => "an attempt read on from what was folded before",
        /// A result was cut.
        Truncated => "a result was too long to be kept whole",
        /// A client got its receipt on a retry.
        ReceiptOnRetry => "a client got its receipt on a retry",
    }
}

/// A set of things that sometimes happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SometimesSet(u64);

impl SometimesSet {
    /// Adds one.
    pub const fn insert(&mut self, one: Sometimes) {
        self.0 |= 1 << one as u64;
    }

    /// Whether it is in the set.
    #[must_use]
    pub const fn contains(self, one: Sometimes) -> bool {
        self.0 & (1 << one as u64) != 0
    }

    /// What is in one of the two.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Everything in the set, in the order of [`Sometimes::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Sometimes> {
        Sometimes::ALL.iter().copied().filter(move |one| self.contains(*one))
    }
}

/// A broken property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub property: Property,
    /// What was seen, with the records at fault.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.property, self.detail)
    }
}
