//! One effect outside, as a task: failpoints around it, panics contained.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use everstep_machine::agent::{Diagnostic, ModelFault, RejectionReason, ToolOutcome};
use everstep_machine::authority::Action;
use everstep_machine::digest::Digest;
use everstep_machine::effect::{
    Answer, Authorization, Clearances, CrashPhase, EffectKind, External, ExternalKind, Failpoint,
    Invocation, Reconciliation,
};
use everstep_machine::event::RunEvent;
use everstep_machine::identity::{ConversationId, RunId};
use everstep_machine::record::Doubt;
use everstep_machine::response::Delta;

use crate::call::Call;
use crate::event::{Event, Events};
use crate::failpoint::Failpoints;
use crate::permits::{Gate, Permit};
use crate::ports::Ports;
use crate::state::State;
use crate::store::StoreHandle;
use crate::stream::{self, Audience};
use crate::streams::Streams;
use crate::tool::{Cancellation, Live};

/// What a task outside needs.
#[derive(Clone, Debug)]
pub(crate) struct Outside {
    pub(crate) ports: Ports,
    pub(crate) failpoints: Failpoints,
    pub(crate) events: Events,
    pub(crate) gate: Gate,
    pub(crate) streams: Streams,
    /// Where the state of its calls is, and in which lane they are: an attempt has it, an ephemeral
    /// run has not.
    pub(crate) state: Option<(StoreHandle, ConversationId)>,
}

impl Outside {
    /// Does a computation.
    pub(crate) fn compute(&self, external: External) -> Option<Answer> {
        match external {
            External::Check { run, turn, subject, values } => {
                Some(self.ports.tools.checker().answer(run, turn, subject, &values))
            }
            External::CallModel(_)
            | External::Clear { .. }
            | External::Approve { .. }
            | External::Authorize { .. }
            | External::Permits { .. }
            | External::InvokeTool(_)
            | External::NextStep(_)
            | External::Reconcile(_) => None,
        }
    }

    /// Does what is asked for and says what came of it. A call that goes on brings its handler.
    pub(crate) async fn perform(self, external: External, handed: Handed) -> Came {
        let Handed { cancellation, resting, permit } = handed;
        let (failpoints, kind) = (self.failpoints.clone(), external.kind());
        match external {
            External::InvokeTool(invocation) => {
                let work = async move {
                    if let Some(reason) = self.refuses(invocation.action.as_deref()) {
                        let start = Doubt { call: invocation.call, start: invocation.epoch };
                        let outcome = Arc::new(ToolOutcome::Rejected(reason));
                        return Came::from(Answer::Tool { start, outcome });
                    }
                    self.call(invocation, cancellation, permit).leg().await
                };
                watched(&failpoints, kind, work).await
            }
            External::NextStep(onward) => {
                let work = async move {
                    match resting.filter(|_| self.refuses(onward.action.as_deref()).is_none()) {
                        Some(call) => call.recorded().leg().await,
                        // A handler that is gone, or may do nothing more, goes nowhere.
                        None => Came::from(Answer::Unsure { start: onward.start }),
                    }
                };
                watched(&failpoints, kind, work).await
            }
            external => Came::from(watched(&failpoints, kind, self.ask(external)).await),
        }
    }

    /// Why something may not be done any more, whatever was said of it before: looked at at the door
    /// (AUTH-15).
    fn refuses(&self, action: Option<&Action>) -> Option<RejectionReason> {
        self.ports.clearance.refuses(action?)
    }

    /// Begins a call.
    fn call(
        self,
        invocation: Invocation,
        cancellation: Cancellation,
        permit: Option<Permit>,
    ) -> Call {
        let Self { ports, events, streams, state, .. } = self;
        events.tell(Event::ToolInvoked { tool: invocation.tool.clone() });
        let (run, call) = (invocation.run, invocation.call);
        let report = move |words: &str| streams.tell(run, RunEvent::progress(call, words));
        let state = state.map(|(store, lane)| State::of(store, lane, &invocation));
        let live = Live::new(cancellation).watched(report).keeping(state);
        Call::begin(&*ports.tools, invocation, live, events, permit)
    }

    /// Asks anything that is answered at one go.
    async fn ask(self, external: External) -> Answer {
        let Self { ports, events, streams, .. } = self;
        match external {
            External::CallModel(request) => {
                let (run, turn, purpose) = (request.run, request.turn, request.purpose);
                events.tell(Event::ModelAsked { run, turn });
                let audience = Shown { run, streams, events };
                let response = stream::answer(&*ports.model, request, audience).await;
                Answer::Model { run, turn, purpose, response }
            }
            // Answered where it was asked, by `compute`.
            External::Check { run, turn, subject, values } => {
                ports.tools.checker().answer(run, turn, subject, &values)
            }
            External::Approve { run, turn, asker, questions } => {
                let asked = Arc::clone(&questions);
                let approver = &*ports.approver;
                let answers = ports.clearance.approve((run, turn), asker, asked, approver).await;
                Answer::Approver { run, turn, questions, answers }
            }
            External::Authorize { run, turn, calls } => {
                let authorization = ports.authorizer.authorize(run, turn, calls).await;
                Answer::Authorizer { run, turn, authorization }
            }
            External::Reconcile(doubted) => {
                let doubt = doubted.doubt;
                events.tell(Event::Reconciling { tool: doubted.tool.clone() });
                let reconciliation = ports.reconciler.reconcile(doubted).await;
                Answer::Reconciler { doubt, reconciliation }
            }
            // Both are answered where they were asked, by what is in flight.
            External::Clear { run, turn, asker, calls } => {
                Answer::Cleared { run, turn, said: ports.clearance.clear(&asker, &calls) }
            }
            External::Permits { run, calls, .. } => {
                Answer::Permitted { run, calls: calls.into_iter().map(|it| it.call).collect() }
            }
            // Calls have their own way: they may rest.
            External::InvokeTool(it) => {
                Answer::Unsure { start: Doubt { call: it.call, start: it.epoch } }
            }
            External::NextStep(it) => Answer::Unsure { start: it.start },
        }
    }
}

/// What a task outside is given beside its question.
pub(crate) struct Handed {
    pub(crate) cancellation: Cancellation,
    /// The call that goes on.
    pub(crate) resting: Option<Call>,
    /// What the call that begins was permitted. It holds it to its end, also while it rests.
    pub(crate) permit: Option<Permit>,
}

/// What a task outside has come to.
pub(crate) struct Came {
    pub(crate) answer: Answer,
    /// The call, if it is not over.
    pub(crate) resting: Option<Call>,
}

impl From<Answer> for Came {
    fn from(answer: Answer) -> Self {
        Self { answer, resting: None }
    }
}

/// Whoever watches a run.
struct Shown {
    run: RunId,
    streams: Streams,
    events: Events,
}

impl Audience for Shown {
    async fn show(&mut self, delta: Delta) {
        self.streams.tell_delta(self.run, &delta).await;
        self.events.tell_delta(self.run, delta);
    }
}

/// Passes the failpoints of an effect outside. `during` is when it has begun and may or may not
/// have happened: after the work was given its first chance to get anywhere.
async fn watched<T>(
    failpoints: &Failpoints,
    kind: ExternalKind,
    work: impl Future<Output = T>,
) -> T {
    let pass = |phase| failpoints.pass(Failpoint::new(EffectKind::External(kind), phase));
    let mut work = pin!(work);
    pass(CrashPhase::Before);
    let begun = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
    pass(CrashPhase::During);
    let done = match begun {
        Poll::Ready(done) => done,
        Poll::Pending => work.await,
    };
    pass(CrashPhase::After);
    done
}

/// What is answered for a handler that panicked. Nothing of what it said is kept: it may hold
/// what must not be stored.
pub(crate) fn panicked(external: &External) -> Answer {
    let diagnostic = |message| Diagnostic::cut("Panic", message);
    match external {
        External::CallModel(request) => Answer::Model {
            run: request.run,
            turn: request.turn,
            purpose: request.purpose,
            response: Err(ModelFault::Unavailable(diagnostic("the model's driver panicked")).into()),
        },
        External::Check { run, turn, subject, values } => Answer::Checked {
            run: *run,
            turn: *turn,
            subject: *subject,
            verdicts: values.iter().map(|_| Some(diagnostic("the check panicked"))).collect(),
        },
        // What nobody has decided waits for people.
        External::Approve { run, turn, questions, .. } => {
            let (questions, answers) = (Arc::clone(questions), Vec::new());
            Answer::Approver { run: *run, turn: *turn, questions, answers }
        }
        // Of which nothing is said, that is refused.
        External::Clear { run, turn, .. } => {
            let said = Clearances { policy: Digest::ZERO, calls: Vec::new() };
            Answer::Cleared { run: *run, turn: *turn, said }
        }
        External::Authorize { run, turn, .. } => Answer::Authorizer {
            run: *run,
            turn: *turn,
            // Whoever cannot say yes has not said it.
            authorization: Authorization::Denied,
        },
        External::Permits { run, .. } => Answer::Permitted { run: *run, calls: Vec::new() },
        External::InvokeTool(invocation) => Answer::Tool {
            start: Doubt { call: invocation.call, start: invocation.epoch },
            outcome: Arc::new(ToolOutcome::Defect(diagnostic("the tool's handler panicked"))),
        },
        External::NextStep(onward) => Answer::Tool {
            start: onward.start,
            outcome: Arc::new(ToolOutcome::Defect(diagnostic("the tool's handler panicked"))),
        },
        External::Reconcile(doubted) => {
            Answer::Reconciler { doubt: doubted.doubt, reconciliation: Reconciliation::Unprovable }
        }
    }
}

#[cfg(test)]
mod tests {
    use everstep_machine::effect::ExternalKind;

    use super::watched;
    use crate::failpoint::Failpoints;
    use crate::task::{block_on, pause};

    #[test]
    fn dur_019_during_lies_behind_the_beginning_and_before_the_end() {
        let path = std::env::temp_dir().join(format!("everstep-during-{}", std::process::id()));
        let points = Failpoints::tracing(&path);
        let read = || std::fs::read_to_string(&path).unwrap();
        let mut begun = String::new();
        let work = async {
            begun = read();
            pause(std::time::Duration::from_millis(1)).await;
            read()
        };
        let meanwhile = block_on(watched(&points, ExternalKind::InvokeTool, work)).unwrap();
        let whole = read();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(begun, "tool.invoke/before\n");
        assert_eq!(meanwhile, "tool.invoke/before\ntool.invoke/during\n");
        assert_eq!(whole, "tool.invoke/before\ntool.invoke/during\ntool.invoke/after\n");
    }
}
