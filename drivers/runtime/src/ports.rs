//! What a host is given: who answers what the machines ask of the outside.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use everstep_machine::agent::{
    AgentDefinition, Binding, Diagnostic, ExecutionClass, ModelFault, ModelRequest, ToolDefinition,
    ToolOutcome, Verdict,
};
use everstep_machine::approval;
use everstep_machine::clearance::Said;
use everstep_machine::effect::{
    ApprovalQuestion, Authorization, Doubted, Invocation, Reconciliation,
};
use everstep_machine::identity::{ApprovalId, ConversationId, RunId, ToolCallId, ToolName, Turn};
use everstep_machine::record::Resolver;
use everstep_schema::Checker;

use crate::clearance::Clearance;
use crate::stream::Parts;
use crate::tool::{Ended, Live, ToolkitError, ToolkitFault, unsound_output};

/// A future that a task can own.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Answers what a model is asked.
pub trait Model: Send + Sync {
    /// Asks for one response and sends its parts as the provider streams them. The stream has
    /// ended when this returns; only a response that is whole by then ever becomes canonical.
    /// What this returns once no more parts are wanted is of no consequence, and it may be dropped
    /// at any time.
    ///
    /// # Errors
    /// Why there is no stream, or no more of it. A connection that breaks is
    /// [`ModelFault::Unavailable`], however much was sent before.
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>>;
}

/// Says whether calls may be prepared (RUN-028).
pub trait Authorizer: Send + Sync {
    /// About the calls of one turn, whole or not at all.
    fn authorize(&self, run: RunId, turn: Turn, calls: Vec<ToolCallId>)
    -> BoxFuture<Authorization>;
}

/// Says at once whether calls may start whose tools want to be asked about.
pub trait Approver: Send + Sync {
    /// About each call by itself. What it says nothing about waits for people: the submission is
    /// suspended until somebody decides (CAP-006), and in an ephemeral run, which cannot wait, it is
    /// denied. A decision counts for exactly the request that it names, and, if it is made for the
    /// session, for what is the same in every respect until that ends (AUTH-10). Equal calls of other
    /// runs wait for the same decision (AUTH-11). Dropping the future takes the question back.
    fn approve(
        &self,
        run: RunId,
        turn: Turn,
        questions: Vec<ApprovalQuestion>,
    ) -> BoxFuture<Vec<Decision>>;
}

/// What an approver decides about one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Which request: it names the call, its parameters, and the version of the policy (AUTH-13).
    pub request: ApprovalId,
    /// What it says.
    pub said: Said,
}

impl Decision {
    /// What a policy says of one call.
    #[must_use]
    pub fn by_policy(question: &ApprovalQuestion, verdict: Verdict) -> Self {
        let answer = match verdict {
            Verdict::Approved => approval::Answer::Once,
            Verdict::Denied => approval::Answer::Deny,
        };
        let said = Said { answer, by: Resolver::Policy, reason: Arc::from("decided at once") };
        Self { request: question.request, said }
    }
}

/// Finds out what became of a start.
pub trait Reconciler: Send + Sync {
    /// Proves it, or says that it cannot. "Never started" may be said only by who keeps the call
    /// from starting under any epoch below [`Doubted::asking`] from now on.
    fn reconcile(&self, doubted: Doubted) -> BoxFuture<Reconciliation>;

    /// Whether there is somebody to ask about starts of this tool. An agent that declares that a
    /// tool reconciles is not worked with where there is not (CAP-001).
    fn reconciles(&self, tool: &ToolName) -> bool;
}

/// Knows the agent of a lane.
pub trait Bindings: Send + Sync {
    /// Every agent that is known beforehand. A host whose handlers do not serve all of them is not
    /// started (CAP-001, CAP-002); one that comes to be known later is looked at when its lane is
    /// worked on, and left to others if it is not served.
    fn agents(&self) -> Vec<Arc<Binding>>;

    /// The agent and model that work on this lane; none if this host has them not, and then it
    /// leaves the lane to others.
    fn binding(&self, lane: &ConversationId) -> Option<Arc<Binding>>;
}

/// An authorizer that allows everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Authorizer for AllowAll {
    fn authorize(&self, _: RunId, _: Turn, _: Vec<ToolCallId>) -> BoxFuture<Authorization> {
        Box::pin(async { Authorization::Allowed })
    }
}

/// An approver that decides nothing: everything waits for people.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoApprover;

impl Approver for NoApprover {
    fn approve(&self, _: RunId, _: Turn, _: Vec<ApprovalQuestion>) -> BoxFuture<Vec<Decision>> {
        Box::pin(async { Vec::new() })
    }
}

/// A reconciler that can prove nothing, for agents without a tool that reconciles.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReconciler;

impl Reconciler for NoReconciler {
    fn reconcile(&self, _: Doubted) -> BoxFuture<Reconciliation> {
        Box::pin(async { Reconciliation::Unprovable })
    }

    fn reconciles(&self, _: &ToolName) -> bool {
        false
    }
}

/// Runs tools, and checks values as their schemas want them.
pub trait Handlers: Send + Sync {
    /// Makes a call. Dropping the future drops the handler. One of a durable tool does its work in
    /// the steps of `live`, and is not polled while one of them is being recorded.
    fn invoke(&self, invocation: Invocation, live: Live) -> BoxFuture<Ended>;

    /// What checks parameters, results and answers.
    fn checker(&self) -> &Checker;

    /// Whether every tool that an agent declares has its handler here, one that can do what is
    /// declared, and whether its answers can be checked.
    ///
    /// # Errors
    /// All that is missing or unsound, by name (CAP-001, CAP-002).
    fn serves(&self, agent: &AgentDefinition) -> Result<(), ToolkitError>;
}

type Handler = Arc<dyn Fn(Invocation) -> BoxFuture<ToolOutcome> + Send + Sync>;

/// The handlers of tools, by name.
#[derive(Clone, Default)]
pub struct Tools {
    handlers: BTreeMap<ToolName, Handler>,
    checker: Checker,
}

impl Tools {
    /// One more tool: an async function from an invocation to its outcome. It is given decoded
    /// parameters (ARC-01), and the id of the call, under which an idempotent tool may be invoked
    /// again. A handler that panics has the outcome `Defect`. An agent that declares the tool durable
    /// is not served: such a handler is not made of steps ([`crate::Tool::durable`] is).
    #[must_use]
    pub fn with<F>(
        mut self,
        name: ToolName,
        handler: impl Fn(Invocation) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ToolOutcome> + Send + 'static,
    {
        self.handlers.insert(name, Arc::new(move |invocation| Box::pin(handler(invocation))));
        self
    }
}

/// Handlers that answer for themselves: what they return is taken as it is, and nobody watches
/// their time. [`crate::Toolkit`] looks after both.
impl Handlers for Tools {
    fn invoke(&self, invocation: Invocation, _: Live) -> BoxFuture<Ended> {
        let outcome = match self.handlers.get(&invocation.tool) {
            // To enter it again would be to do all of it again.
            Some(_) if invocation.class == ExecutionClass::Durable => {
                let why = Diagnostic::cut("NotDurable", "the handler is not made of steps");
                Box::pin(async { ToolOutcome::Defect(why) })
            }
            Some(handler) => handler(invocation),
            None => {
                let why = Diagnostic::cut("NoHandler", "the host has no such tool");
                Box::pin(async { ToolOutcome::Defect(why) })
            }
        };
        Box::pin(async { Ended::Outcome(outcome.await) })
    }

    fn checker(&self) -> &Checker {
        &self.checker
    }

    fn serves(&self, agent: &AgentDefinition) -> Result<(), ToolkitError> {
        let fault = |tool: &ToolDefinition| {
            let (agent, name) = (agent.id().clone(), tool.name.clone());
            if !self.handlers.contains_key(&name) {
                return Some(ToolkitFault::NoHandler { agent, tool: name });
            }
            let durable = tool.class == ExecutionClass::Durable;
            durable.then_some(ToolkitFault::NotOfSteps { agent, tool: name })
        };
        let tools = agent.tools().iter().filter_map(fault);
        ToolkitError::unless_empty(tools.chain(unsound_output(&self.checker, agent)).collect())
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.handlers.keys()).finish()
    }
}

/// Everybody outside.
#[derive(Clone)]
pub struct Ports {
    /// Answers for models.
    pub model: Arc<dyn Model>,
    /// Runs tools.
    pub tools: Arc<dyn Handlers>,
    /// What is granted, and what was allowed for sessions.
    pub clearance: Clearance,
    /// Is asked about calls about which somebody is to be asked.
    pub approver: Arc<dyn Approver>,
    /// Allows calls.
    pub authorizer: Arc<dyn Authorizer>,
    /// Looks what became of starts.
    pub reconciler: Arc<dyn Reconciler>,
    /// Knows the lanes' agents.
    pub bindings: Arc<dyn Bindings>,
}

impl Ports {
    /// Whether they can work with an agent.
    ///
    /// # Errors
    /// All that is missing or unsound, by name (CAP-001, CAP-002).
    pub(crate) fn serve(&self, agent: &AgentDefinition) -> Result<(), ToolkitError> {
        let handlers = self.tools.serves(agent).err();
        let mut faults = handlers.map(ToolkitError::into_faults).unwrap_or_default();
        let doubtful = agent.tools().iter().filter(|tool| tool.reconciles);
        let unknown = doubtful.filter(|tool| !self.reconciler.reconciles(&tool.name));
        faults.extend(unknown.map(|tool| ToolkitFault::NoReconciler(tool.name.clone())));
        ToolkitError::unless_empty(faults)
    }
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports").finish_non_exhaustive()
    }
}
