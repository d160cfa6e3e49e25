//! What an attempt asks for.

use core::fmt;

use crate::effect::External;
use crate::event::RunEvent;
use crate::identity::{DurationMs, SubmissionId};
use crate::record::Corruption;
use crate::run::Timer;
use crate::store::Pipeline;

/// Why an attempt is over. Unless it says otherwise, it holds nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Nothing in the lane may be claimed now.
    Idle,
    /// The claimed row is settled; the lane is free.
    Settled,
    /// The claimed row waits for people; the lane is released.
    Parked,
    /// The run is bound to something else than this attempt has; it is left alone and listed.
    Incompatible,
    /// A call gave no answer; the lane is released, and whoever claims it next finds out what became
    /// of the call, as after a crash.
    Unanswered,
    /// Another claim superseded this one.
    Superseded,
    /// The log does not verify: nothing is touched any more.
    Corrupt(Corruption),
    /// The store answered with something else than it was asked, or classification did not
    /// come to an end. A bug; the lease will expire.
    Defect,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => f.write_str("nothing in it can be claimed now"),
            Self::Settled => f.write_str("what was claimed in it is settled"),
            Self::Parked => f.write_str("it waits for people"),
            Self::Incompatible => {
                f.write_str("its run is bound to another definition, model or tools")
            }
            Self::Unanswered => f.write_str("a call in it gave no answer"),
            Self::Superseded => f.write_str("somebody else has claimed it"),
            Self::Corrupt(why) => write!(f, "it does not verify: {why}"),
            Self::Defect => f.write_str("an attempt at it met a bug"),
        }
    }
}

/// What the world is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Execute this pipeline and answer with [`super::Input::Stored`]. At most one is in flight.
    Store(Pipeline),
    /// Ask the outside and answer with [`super::Input::Answered`]. Leaves only after every
    /// pipeline before it in the same step is acknowledged; a refusal discards it.
    External(External),
    /// Tell the tools in flight that nobody wants them any more, and stop everything else in flight
    /// outside. A tool that stops by itself may still say what came of it.
    CallOff,
    /// Stop what is in flight outside, as far as it can be stopped. Its answers may still come.
    CancelExternals,
    /// Say [`super::Input::RenewalDue`] after this time.
    ScheduleRenewal {
        /// From now.
        after: DurationMs,
    },
    /// Say [`super::Input::Due`] after this time.
    Schedule {
        /// Of what to remind the run.
        timer: Timer,
        /// From now.
        after: DurationMs,
    },
    /// Tell whoever watches the run, under the same rule as an external effect. Volatile.
    Tell {
        /// Whose run.
        submission: SubmissionId,
        /// What happens to it.
        event: RunEvent,
    },
    /// The attempt is over.
    End(End),
}
