//! Canaries where something is to be taken out.

use std::sync::Arc;

use everstep_machine::agent::{
    Diagnostic, Kept, Message, ModelRequest, Purpose, ToolChoice, ToolOutcome,
};
use everstep_machine::approval::{Entry, Layer, Rule};
use everstep_machine::effect::{ApprovalQuestion, Asker, External, Subject};
use everstep_machine::identity::{Sequence, Turn};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{Command, Reserved};
use everstep_machine::record::{Record, Settlement};
use everstep_machine::store::{StoreCommand, Target};

use super::Bench;
use crate::oracle::{Permits, Property};
use crate::outside::Outside;
use crate::scenario::{Scenario, Submission, Tool, Turn as Says};

const RESULT: &str = "{\"card\":\"4111-1111-1111-1111\",\"ok\":true}";
const PARAMETERS: &str = "{\"card\":\"3782-822463-10005\"}";

fn json(text: &str) -> CanonicalJson {
    CanonicalJson::parse(text.as_bytes()).unwrap()
}

fn declared() -> Bench {
    let scenario = Scenario::builder("secret")
        .tool(Tool::idempotent("pay").redacts("/card").redacts("/ok").returns(RESULT).asks())
        .submission(Submission::new("a").turn(Says::calls("pay", PARAMETERS)));
    let mut bench = Bench::begun(scenario.build().unwrap());
    bench.records(vec![bench.response(0)]);
    // What a model has made up is in its response: that is no canary for the log.
    assert_eq!(bench.broken(), None);
    bench
}

#[test]
fn arc_12_a_result_that_is_kept_with_its_secret_is_found() {
    let mut bench = declared();
    bench.records(vec![bench.result(0, 0, ToolOutcome::Success(json(RESULT)))]);
    assert_eq!(bench.broken(), Some(Property::Secrets));

    // Short values, such as `true`, say nothing when they turn up.
    let mut bench = declared();
    let redacted = "{\"card\":\"[redacted]\",\"ok\":true}";
    bench.records(vec![bench.result(0, 0, ToolOutcome::Success(json(redacted)))]);
    assert_eq!(bench.broken(), None);
}

#[test]
fn store_009_arc_12_an_artifact_that_is_kept_with_its_secret_is_found() {
    let long = format!("{}{RESULT}{}", "x".repeat(200), "y".repeat(200));
    let long = CanonicalJson::string(&long).unwrap();
    let kept = Kept::of(&long, 20);
    assert!(!kept.cut.head.contains("4111") && !kept.cut.tail.contains("4111"));
    let mut bench = declared();
    bench.records(vec![bench.result(0, 0, ToolOutcome::Kept(kept))]);
    assert_eq!(bench.broken(), Some(Property::Secrets));
}

#[test]
fn sec_04_a_settlement_with_a_secret_is_found_when_it_is_fixed() {
    let mut bench = declared();
    let said = Diagnostic::cut("Declined", "the card 4111-1111-1111-1111 was declined");
    let settlement = Settlement::Failed { diagnostic: said, limit: None };
    let Record::SubmissionSettled(record) = bench.settled(settlement) else { panic!("an end") };
    let digest = record.digest().unwrap();
    let (owner, record) = (bench.owner(1), Arc::new(record));
    let reserved = Reserved { record, digest };
    bench.does(&StoreCommand::Ledger(Command::Reserve { owner, reserved }));
    assert_eq!(bench.broken(), Some(Property::Secrets));
}

/// Asks a question in the judge's sight.
fn asks(bench: &mut Bench, external: &External) -> Option<Property> {
    let mut outside = Outside::default();
    let answered = outside.perform(&bench.cast, external);
    let mut permits = Permits::default();
    permits.listen(Target::Run(bench.cast.clients[0].submission), &[]);
    bench.judge.happened(&bench.cast, 0, &outside, external, &answered, &permits);
    bench.broken()
}

#[test]
fn sec_04_a_model_that_is_shown_a_secret_is_found() {
    let request = |bench: &Bench, text: &str| {
        let messages = [(Sequence(0), Message::User(json(text)))];
        External::CallModel(Arc::new(ModelRequest {
            agent: bench.cast.binding.definition.clone(),
            run: bench.cast.clients[0].run,
            turn: Turn(0),
            purpose: Purpose::Respond,
            messages: messages.into_iter().collect(),
            tools: ToolChoice::Allowed,
            output: None,
            status: Vec::new(),
        }))
    };
    let mut bench = declared();
    let harmless = request(&bench, PARAMETERS);
    assert_eq!(asks(&mut bench, &harmless), None);
    let harmful = request(&bench, RESULT);
    assert_eq!(asks(&mut bench, &harmful), Some(Property::Secrets));
}

#[test]
fn sec_04_an_approver_who_is_shown_a_secret_is_found() {
    let question = |bench: &Bench, preview: &str| {
        let (call, run, turn) = (bench.call(0, 0), bench.cast.clients[0].run, Turn(0));
        let tool = bench.tool(call);
        let risk = bench.cast.binding.definition.tool(&tool).unwrap().risk;
        let (digest, preview) = (json(PARAMETERS).digest(), json(preview));
        let request = everstep_machine::identity::ApprovalId::derive(call, digest, digest);
        let (rule, policy) = (Rule { layer: Layer::Metadata, entry: Entry::Declared }, digest);
        let (capability, target) = (None, Subject::Unsaid);
        let question = ApprovalQuestion {
            request,
            call,
            tool,
            capability,
            risk,
            rule,
            policy,
            digest,
            target,
            preview,
            stands_for: 1,
            terms: everstep_machine::agent::ApprovalTerms::default(),
        };
        let asked = &bench.cast.clients[0].call;
        let asker = Asker {
            tenant: asked.tenant.clone(),
            principal: asked.principal.clone(),
            conversation: asked.conversation.clone(),
            binding: bench.cast.binding.clone(),
        };
        External::Approve { run, turn, asker, questions: [question].into() }
    };
    let mut bench = declared();
    let harmless = question(&bench, "{\"card\":\"[redacted]\"}");
    assert_eq!(asks(&mut bench, &harmless), None);
    let harmful = question(&bench, PARAMETERS);
    assert_eq!(asks(&mut bench, &harmful), Some(Property::Secrets));
}
