//! What a model is shown, in short, and whether a provider would accept it.

use alloc::vec::Vec;

use crate::agent::{Message, Messages, ModelResponse};

/// A message, as short as it can be told from others.
pub(crate) fn kinds(messages: &Messages) -> Vec<&'static str> {
    let kind = |message: &Message| match message {
        Message::User(_) => "user",
        Message::Summary(_) => "summary",
        Message::Assistant(_) => "assistant",
        Message::ToolResult { .. } => "result",
    };
    messages.iter().map(kind).collect()
}

/// Whether a provider accepts it: every response is followed by the results of exactly its calls,
/// in the order of their declaration, and no result stands anywhere else.
pub(crate) fn check(messages: &Messages) {
    let mut awaited: Vec<(&str, &str)> = Vec::new();
    for message in messages.iter() {
        match message {
            Message::ToolResult { label, .. } => {
                assert!(!awaited.is_empty(), "a result without its call: {messages:?}");
                assert_eq!(awaited.remove(0).0, &**label);
            }
            Message::User(_) | Message::Summary(_) | Message::Assistant(_) => {
                assert!(awaited.is_empty(), "a call without its result: {messages:?}");
            }
        }
        if let Message::Assistant(response) = message {
            awaited = declared_calls(response);
        }
    }
    assert!(awaited.is_empty(), "a call without its result: {messages:?}");
}

fn declared_calls(response: &ModelResponse) -> Vec<(&str, &str)> {
    response.calls().map(|call| (&*call.label, call.tool.as_str())).collect()
}
