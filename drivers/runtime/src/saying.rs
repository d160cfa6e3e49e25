//! What is said to a run without a store, and waits until it comes into it: so much and no more
//! (ARC-05).
//!
//! A place is taken when something is said and free again when that is recorded, however long it
//! waits in between and wherever: on its way, or in the machine until the next request.

use std::sync::Arc;

use everstep_machine::record::{Batch, Record};
use everstep_machine::run::Steered;
use tokio::sync::{Semaphore, mpsc};

/// What was said to one run and waits, at most: far more than people say between two requests.
pub(crate) const PLACES: usize = 256;

/// Why something was not said to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSaid {
    /// The run has ended: nothing can be said to it any more.
    #[error("the run has ended")]
    HasEnded,
    /// So much waits to come into the run that nothing more is taken. Say it again later.
    #[error("{PLACES} things that were said to the run wait to come into it")]
    TooMuchWaits,
}

/// The end that is spoken into.
#[derive(Debug)]
pub(crate) struct Mouth {
    said: mpsc::Sender<Steered>,
    places: Arc<Semaphore>,
}

/// The end of the run.
#[derive(Debug)]
pub(crate) struct Ear {
    said: mpsc::Receiver<Steered>,
    places: Arc<Semaphore>,
}

pub(crate) fn channel() -> (Mouth, Ear) {
    let (sender, receiver) = mpsc::channel(PLACES);
    let places = Arc::new(Semaphore::new(PLACES));
    (Mouth { said: sender, places: Arc::clone(&places) }, Ear { said: receiver, places })
}

impl Mouth {
    pub(crate) fn say(&self, said: Steered) -> Result<(), NotSaid> {
        if self.said.is_closed() {
            return Err(NotSaid::HasEnded);
        }
        let place = self.places.try_acquire().map_err(|_| NotSaid::TooMuchWaits)?;
        self.said.try_send(said).map_err(|error| match error {
            mpsc::error::TrySendError::Closed(_) => NotSaid::HasEnded,
            mpsc::error::TrySendError::Full(_) => NotSaid::TooMuchWaits,
        })?;
        place.forget();
        Ok(())
    }
}

impl Ear {
    /// What was said next; none if nobody can say anything any more. Nothing is lost if this is
    /// dropped while it waits.
    pub(crate) async fn hear(&mut self) -> Option<Steered> {
        self.said.recv().await
    }

    /// Frees the places of what has come into the run with this batch.
    pub(crate) fn recorded(&self, batch: &Batch) {
        let was_said = |record: &&Record| match record {
            Record::InputRecorded(it) => it.kind.host().is_some(),
            _ => false,
        };
        self.places.add_permits(batch.records().iter().filter(was_said).count());
    }
}

#[cfg(test)]
mod tests {
    use everstep_machine::agent::{Allowance, Bound};
    use everstep_machine::digest::Digest;
    use everstep_machine::identity::{ConversationId, PrincipalId, RunId, SubmissionId, Timestamp};
    use everstep_machine::json::CanonicalJson;
    use everstep_machine::record::{Batch, InputKind, InputRecorded, Record};
    use everstep_machine::run::{Steered, Wanted};

    use super::{NotSaid, PLACES, channel};

    fn said(n: u8) -> Steered {
        Steered {
            submission: SubmissionId([n; 16]),
            principal: PrincipalId::new("ada").unwrap(),
            input: CanonicalJson::string("stop").unwrap(),
            wanted: Wanted::Soon,
        }
    }

    fn recorded(n: u8, kind: InputKind) -> Record {
        let Steered { submission, principal, input, .. } = said(n);
        let (run, allowance) = (RunId([7; 16]), Allowance::default());
        let at = Timestamp(1);
        Record::InputRecorded(InputRecorded {
            submission,
            principal,
            run,
            input,
            kind,
            at,
            allowance,
        })
    }

    #[test]
    fn arc_05_a_place_is_taken_until_what_was_said_is_recorded() {
        let (mouth, mut ear) = channel();
        for _ in 0..PLACES {
            assert_eq!(mouth.say(said(1)), Ok(()));
        }
        assert_eq!(mouth.say(said(1)), Err(NotSaid::TooMuchWaits));
        let heard = crate::block_on(async { ear.hear().await }).unwrap();
        assert_eq!(heard, Some(said(1)));
        assert_eq!(mouth.say(said(1)), Err(NotSaid::TooMuchWaits), "heard is not recorded");
        let host = SubmissionId([9; 16]);
        let digest = Digest::ZERO;
        let bound = Bound { definition: digest, model: digest, tools: digest };
        let kinds = [InputKind::First { bound }, InputKind::Steering { host }];
        let records = (1..).zip(kinds).map(|(n, kind)| recorded(n, kind)).collect();
        let batch = Batch::new(&ConversationId::new("here").unwrap(), records).unwrap();
        ear.recorded(&batch);
        assert_eq!(mouth.say(said(2)), Ok(()), "one of the two was said");
        assert_eq!(mouth.say(said(2)), Err(NotSaid::TooMuchWaits));
    }

    #[test]
    fn not_said_has_ended_names_a_run_that_is_over() {
        let (mouth, ear) = channel();
        drop(ear);
        assert_eq!(mouth.say(said(1)), Err(NotSaid::HasEnded));
    }
}
