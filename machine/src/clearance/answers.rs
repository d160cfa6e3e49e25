//! What an effect of [`crate::approval`] says to whoever waits.

use alloc::sync::Arc;

use super::{Effect, Said, State};
use crate::agent::Verdict;
use crate::approval::{self, Grounds, Refusal};
use crate::effect::ApprovalAnswer;
use crate::identity::ApprovalId;
use crate::record::Resolver;

impl State {
    /// What the host is told; nothing of what only concerns sessions. `said` is what somebody has just
    /// said, if that led to it.
    pub(super) fn told(&mut self, effect: approval::Effect, said: Option<&Said>) -> Option<Effect> {
        match effect {
            approval::Effect::Allow { request, grounds } => {
                // Somebody whose record of it was lost asks for the same once more.
                let known = self.allowed.get(&request);
                let known = known.map(|it| (it.by.clone(), it.reason.clone()));
                let answer = self.answer(
                    request,
                    Verdict::Approved,
                    |answered| match grounds {
                        Grounds::Session { original } if original == request => known,
                        Grounds::Session { original } => {
                            let by = Resolver::Session { original };
                            Some((by, Arc::from("allowed before, for this session")))
                        }
                        Grounds::Person(_) => answered,
                        Grounds::Policy(_) => {
                            Some((Resolver::Policy, Arc::from("nobody is asked")))
                        }
                    },
                    said,
                );
                Some(Effect::Answer { request, answer })
            }
            approval::Effect::Deny { request, refusal } => {
                let policy = |why: &str| Some((Resolver::Policy, Arc::from(why)));
                let answer = self.answer(
                    request,
                    Verdict::Denied,
                    |answered| match refusal {
                        Refusal::Person(_) => answered,
                        Refusal::Policy(_) => policy("the policy denies it"),
                        Refusal::SessionReplaced => policy("its session was replaced meanwhile"),
                        Refusal::Revoked => {
                            policy("its principal's authority was revoked meanwhile")
                        }
                        // A request outlives its host, and people may decide it.
                        Refusal::HostClosed | Refusal::TooMany | Refusal::NoSession => None,
                    },
                    said,
                );
                Some(Effect::Answer { request, answer })
            }
            approval::Effect::Ask { question, request } => {
                let about = self.open.get(&request)?.clone();
                Some(Effect::Ask { question, about })
            }
            approval::Effect::TakeBack(question) => Some(Effect::TakeBack(question)),
            approval::Effect::Share { .. }
            | approval::Effect::NotOpen(_)
            | approval::Effect::TurnAway(_) => None,
        }
    }

    /// The answer to a request, which is open no more; none if it is left to people.
    fn answer(
        &mut self,
        request: ApprovalId,
        verdict: Verdict,
        who: impl FnOnce(Option<(Resolver, Arc<str>)>) -> Option<(Resolver, Arc<str>)>,
        said: Option<&Said>,
    ) -> Option<ApprovalAnswer> {
        let question = self.open.remove(&request)?;
        let (by, reason) = who(said.map(|it| (it.by.clone(), it.reason.clone())))?;
        Some(question.answered(verdict, by, reason))
    }
}
