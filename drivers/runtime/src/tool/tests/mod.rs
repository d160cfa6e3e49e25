//! Tools, called as a host calls them, in a time that only passes when everybody waits for it.

mod failures;
mod properties;
mod time;
mod toolkit;
mod types;

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use everstep_machine::agent::{Diagnostic, ToolDefinition, ToolOutcome};
use everstep_machine::effect::Invocation;
use everstep_machine::identity::{Epoch, ToolCallId, ToolName};
use everstep_machine::json::CanonicalJson;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::ports::Handlers as _;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
struct Refund {
    order: String,
    cents: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Receipt {
    order: String,
    left: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
enum RefundError {
    NoSuchOrder,
    TooMuch { most: u32 },
}

/// Runs a future in a time of its own.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap().block_on(future)
}

fn json(text: &str) -> CanonicalJson {
    CanonicalJson::parse(text.as_bytes()).unwrap()
}

fn success(text: &str) -> Ended {
    Ended::Outcome(ToolOutcome::Success(json(text)))
}

fn failure(tag: &str, message: &str) -> Ended {
    Ended::Outcome(ToolOutcome::Failure(Diagnostic::new(tag, message).unwrap()))
}

fn definition(tool: Tool) -> ToolDefinition {
    Toolkit::new([tool]).unwrap().definitions().remove(0)
}

fn invocation(tool: &ToolDefinition, parameters: &str) -> Invocation {
    Invocation {
        run: everstep_machine::identity::RunId([7; 16]),
        agent: everstep_machine::identity::AgentId::new("clerk").unwrap(),
        group: None,
        call: ToolCallId([7; 16]),
        epoch: Epoch(3),
        tool: tool.name.clone(),
        class: tool.class,
        parameters: json(parameters),
        steps: Vec::new(),
        action: None,
    }
}

/// Calls one tool to its end.
fn call(tool: Tool, parameters: &str) -> Ended {
    run(called(tool, parameters))
}

async fn called(tool: Tool, parameters: &str) -> Ended {
    let toolkit = Toolkit::new([tool]).unwrap();
    let canceller = Canceller::new();
    let invocation = invocation(&toolkit.definitions()[0], parameters);
    toolkit.invoke(invocation, Live::new(canceller.cancellation())).await
}

/// Counts, for handlers that are called more than once.
#[derive(Default)]
struct Count(AtomicU32);

impl Count {
    /// How often it was counted before this.
    fn up(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    fn so_far(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}
