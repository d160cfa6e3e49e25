//! One call, from its start to its end.

use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{
    Diagnostic, ExecutionClass, RetryClass, ToolDefinition, ToolOutcome,
};
use everstep_machine::effect::{Fitting, Invocation};
use everstep_machine::limits::{HANDLER_GRACE_MS, RETRY_FIRST_MS, TOOL_RETRIES};
use everstep_schema::Checker;
use tokio::time::{Instant, sleep, sleep_until};

use super::context::{Live, ToolContext};
use super::handler::Handler;

/// The pause before the first of these; the next is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(RETRY_FIRST_MS);
/// How long a handler may go on after it was told that nobody waits any more.
const GRACE: Duration = Duration::from_millis(HANDLER_GRACE_MS);
/// Longest time that is waited for anything: thirty years.
const EVER: Duration = Duration::from_secs(86_400 * 365 * 30);

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this outcome.
    Outcome(ToolOutcome),
    /// Nobody knows: a tool with effects did not answer, and its effect may have happened or may
    /// still happen. Why nobody knows.
    Unsure(Diagnostic),
}

/// Why a handler is left alone.
#[derive(Clone, Copy, Debug)]
enum Left {
    TimedOut,
    Cancelled,
}

/// A tool in a toolkit.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) handler: Handler,
}

impl Entry {
    /// Makes the call, again if that is allowed, until it has an end.
    pub(super) async fn perform(
        self,
        checker: Checker,
        invocation: Invocation,
        live: Live,
    ) -> Ended {
        let tool = &self.definition;
        // The machine had them checked already; a host that was restarted with another schema, or
        // that answers checks in its own way, is told here.
        let (schema, value) = (tool.parameters.clone(), invocation.parameters.clone());
        if let Some(why) = checker.check(&Fitting { schema, value }) {
            return Ended::Outcome(ToolOutcome::InvalidInput(why));
        }
        let context = context(tool, &invocation, live);
        let mut pause = FIRST_PAUSE;
        let mut retries = match tool.retry {
            RetryClass::Never => 0,
            RetryClass::Transient => TOOL_RETRIES,
        };
        loop {
            let work = (self.handler)(tool, &invocation.parameters, context.clone());
            let tried = match attended(work, &context).await {
                Ok(tried) => tried,
                Err(why) => return left(tool, why),
            };
            let may = tried.had_no_effect && context.may_try_again();
            let again = may && retries > 0 && paused(pause, &context).await;
            if !again {
                return Ended::Outcome(match &tried.declared {
                    Some(failure) => {
                        checker.undeclared(tool, failure).map_or(tried.outcome, ToolOutcome::Defect)
                    }
                    None => checker.outcome(tool, tried.outcome),
                });
            }
            retries -= 1;
            pause *= 2;
        }
    }
}

fn context(tool: &ToolDefinition, invocation: &Invocation, live: Live) -> ToolContext {
    let time = Duration::from_millis(tool.timeout.0).min(EVER);
    ToolContext::new(invocation, Instant::now() + time, live)
}

/// Waits for a call that is made without a [`Toolkit`](super::Toolkit), as long as its tool is let
/// run and somebody wants it. What is said then of a call that did not end is what a toolkit says:
/// one without effects has failed, of any other nobody knows (RUN-014).
pub async fn in_time(
    tool: &ToolDefinition,
    invocation: &Invocation,
    live: Live,
    work: impl Future<Output = Ended>,
) -> Ended {
    attended(work, &context(tool, invocation, live)).await.unwrap_or_else(|why| left(tool, why))
}

/// Waits for a try, until its time is up or nobody wants it any more. Leaving drops it.
async fn attended<T>(work: impl Future<Output = T>, context: &ToolContext) -> Result<T, Left> {
    let abandoned = async {
        context.cancelled().await;
        sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        done = work => Ok(done),
        () = sleep_until(context.deadline()) => Err(Left::TimedOut),
        () = abandoned => Err(Left::Cancelled),
    }
}

/// Lets time pass before another try; whether there is one.
async fn paused(pause: Duration, context: &ToolContext) -> bool {
    if context.remaining() <= pause {
        return false;
    }
    tokio::select! {
        biased;
        () = context.cancelled() => false,
        () = sleep(pause) => true,
    }
}

/// What is said of a call that did not end by itself. What has no effect has failed; of anything
/// else nobody knows whether it happened, and an idempotent call is for the engine to make again,
/// under its key.
fn left(tool: &ToolDefinition, why: Left) -> Ended {
    let diagnostic = match why {
        Left::TimedOut => {
            let words = format!("no answer within {} milliseconds", tool.timeout.0);
            Diagnostic::cut("Timeout", &words)
        }
        Left::Cancelled => Diagnostic::cut("Cancelled", "the call was called off"),
    };
    match tool.class {
        ExecutionClass::Readonly => Ended::Outcome(ToolOutcome::Failure(diagnostic)),
        ExecutionClass::Idempotent | ExecutionClass::Ordinary | ExecutionClass::Durable => {
            Ended::Unsure(diagnostic)
        }
    }
}
