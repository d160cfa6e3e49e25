//! What a model is shown.

use std::sync::Arc;

use everstep_machine::agent::{Message, Messages, ToolOutcome};
use everstep_machine::identity::{Sequence, ToolCallId, Turn};
use everstep_machine::json::CanonicalJson;

use super::Bench;
use crate::oracle::request::check;

fn list(messages: &[Message]) -> Messages {
    messages.iter().map(|message| (Sequence(0), message.clone())).collect()
}

fn user() -> Message {
    Message::User(CanonicalJson::parse(b"1").unwrap())
}

fn assistant(bench: &Bench, turn: u32) -> Message {
    Message::Assistant(bench.cast.answer(bench.cast.clients[0].run, Turn(turn)).unwrap())
}

fn result(bench: &Bench, client: usize, index: usize) -> Message {
    Message::ToolResult {
        call: bench.call(client, index),
        label: Arc::from(format!("call_{index}")),
        outcome: Arc::new(ToolOutcome::Success(CanonicalJson::parse(b"1").unwrap())),
    }
}

#[test]
fn run_005_and_006_only_whole_batches_in_declaration_order_pass() {
    let bench = Bench::new(None);
    let (first, second) = (result(&bench, 0, 0), result(&bench, 0, 1));
    let batch = assistant(&bench, 0);
    let whole = vec![user(), batch.clone(), first.clone(), second.clone()];
    assert_eq!(check(&bench.cast, &list(&whole)), Ok(()));
    let cases = [
        (vec![user(), batch.clone(), first.clone()], "a call without its result"),
        (vec![user(), first.clone()], "a result without its call"),
        (
            vec![user(), batch.clone(), second.clone(), first.clone()],
            "results are not in declaration order",
        ),
        (vec![user(), batch.clone(), first, result(&bench, 1, 1)], "a result of another batch"),
        (vec![user(), assistant(&bench, 1)], "there is nothing to answer"),
        (Vec::new(), "there is nothing to answer"),
    ];
    for (messages, why) in cases {
        assert_eq!(check(&bench.cast, &list(&messages)), Err(why), "{messages:?}");
    }
    let stranger = Message::ToolResult {
        call: ToolCallId([9; 16]),
        label: Arc::from("call_0"),
        outcome: Arc::new(ToolOutcome::Success(CanonicalJson::parse(b"1").unwrap())),
    };
    let strange = [user(), batch, stranger, second];
    assert_eq!(check(&bench.cast, &list(&strange)), Err("a result of a call that nobody declared"));
}
