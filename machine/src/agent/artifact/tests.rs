use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::testkit::prompt::check;
use crate::testkit::story::{Story, Tale, completed, success};
use crate::testkit::text;
use crate::testkit::walk::{TALES, says};

const ONE: Tale = Tale("1");
const TWO: Tale = Tale("2");

/// Records 1 input, 2 response, 3 and 4 results, 5 response, 6 settlement, 7 input.
fn conversation() -> Messages {
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["look", "look"])]);
    let result = |index| ONE.tool_settled(ONE.call(0, index), success("result"));
    let story = story.tell([result(0)]).tell([result(1)]).tell([ONE.responded(1, &[])]);
    let story = story.tell([ONE.settled(completed())]).tell([TWO.input()]);
    story.fold.messages(TWO.submission())
}

fn artifact(messages: &Messages, from: u64, through: u64) -> CompactionArtifact {
    let (covers_from, covers_through) = (Sequence(from), Sequence(through));
    CompactionArtifact {
        covers_from,
        covers_through,
        summary: SummaryMessage { role: SummaryRole::System, text: "They looked twice.".into() },
        retained_facts: vec![],
        token_estimate: 5,
        source_digest: source_digest(messages, covers_from, covers_through),
        compactor_version: CompactorVersion::new("house/1").unwrap(),
    }
}

fn entries(messages: &Messages) -> Vec<(Sequence, Message)> {
    messages.entries().cloned().collect()
}

fn applied(from: u64, through: u64) -> Result<Vec<(Sequence, Message)>, ArtifactError> {
    let messages = conversation();
    apply_artifact(&messages, &artifact(&messages, from, through)).map(|it| entries(&it))
}

#[test]
fn cap_007_a_summary_stands_where_the_covered_messages_stood_and_the_others_stay() {
    let before = entries(&conversation());
    let summary = |through| (Sequence(through), Message::Summary("They looked twice.".into()));
    assert_eq!(applied(1, 5).unwrap(), [vec![summary(5)], before[5..].to_vec()].concat());
    assert_eq!(applied(1, 2).unwrap(), [vec![summary(2)], before[4..].to_vec()].concat());
    let middle = [before[..1].to_vec(), vec![summary(5)], before[5..].to_vec()].concat();
    assert_eq!(applied(2, 5).unwrap(), middle);
}

#[test]
fn cap_007_the_words_are_said_by_whom_the_host_names_and_the_facts_follow() {
    let messages = conversation();
    let shown = |role| {
        let mut artifact = artifact(&messages, 1, 5);
        artifact.summary.role = role;
        artifact.retained_facts = vec!["order 7".into(), "€12".into()];
        entries(&apply_artifact(&messages, &artifact).unwrap()).remove(0).1
    };
    let words = "They looked twice.\n- order 7\n- €12";
    assert_eq!(shown(SummaryRole::System), Message::Summary(words.into()));
    assert_eq!(shown(SummaryRole::User), Message::User(text(words)));
    let Message::Assistant(response) = shown(SummaryRole::Assistant) else { panic!() };
    assert_eq!(response.texts().collect::<Vec<_>>(), [words]);
    assert_eq!((response.finish, response.calls().count()), (FinishReason::Stop, 0));
}

#[test]
fn cap_007_a_range_that_parts_a_call_from_its_result_is_refused() {
    // 3 and 4 are the results of 2: they are shown with it, and go with it.
    for (from, through) in [(1, 3), (1, 4), (3, 5), (4, 5), (3, 4)] {
        assert_eq!(applied(from, through), Err(ArtifactError::SplitsTurn), "{from} to {through}");
    }
}

#[test]
fn cap_007_a_range_that_is_not_there_is_refused() {
    assert_eq!(applied(2, 1), Err(ArtifactError::Empty));
    assert_eq!(applied(0, 2), Err(ArtifactError::OutOfRange));
    assert_eq!(applied(1, 8), Err(ArtifactError::OutOfRange));
    let nothing = Messages::default();
    let refused = apply_artifact(&nothing, &artifact(&nothing, 0, 0));
    assert_eq!(refused, Err(ArtifactError::OutOfRange));
}

#[test]
fn cap_007_what_is_to_be_answered_is_never_covered() {
    assert_eq!(applied(1, 7), Err(ArtifactError::Newest));
    assert_eq!(applied(7, 7), Err(ArtifactError::Newest));
}

#[test]
fn cap_007_a_digest_of_something_else_is_refused() {
    let messages = conversation();
    let right = artifact(&messages, 1, 5);
    let refuses = |artifact: CompactionArtifact, messages: &Messages| {
        assert_eq!(apply_artifact(messages, &artifact), Err(ArtifactError::Source));
    };
    // Of another range, however much the two have in common.
    for (from, through) in [(1, 2), (2, 5), (2, 2)] {
        let source_digest = artifact(&messages, from, through).source_digest;
        refuses(CompactionArtifact { source_digest, ..right.clone() }, &messages);
    }
    refuses(CompactionArtifact { source_digest: Digest::ZERO, ..right.clone() }, &messages);
    // Of messages that have changed since: each kind of content counts, and so does each place.
    let changed = |message: &Message| match message {
        Message::User(_) => Message::User(text("another")),
        Message::Summary(_) => Message::Summary("another".into()),
        Message::Assistant(it) => {
            let finish = FinishReason::Length;
            Message::Assistant(Arc::new(ModelResponse { finish, ..ModelResponse::clone(it) }))
        }
        Message::ToolResult { call, label, .. } => {
            let outcome = Arc::new(success("another"));
            Message::ToolResult { call: *call, label: label.clone(), outcome }
        }
    };
    let all = entries(&messages);
    for index in 0..5 {
        let mut other = all.clone();
        other[index].1 = changed(&other[index].1);
        refuses(right.clone(), &other.into_iter().collect());
    }
    let mut swapped = all.clone();
    swapped.swap(2, 3);
    refuses(right.clone(), &swapped.into_iter().collect());
    let (mut without, mut relabelled) = (all.clone(), all.clone());
    without.remove(3);
    refuses(right.clone(), &without.into_iter().collect());
    if let Message::ToolResult { label, .. } = &mut relabelled[3].1 {
        *label = "other".into();
    }
    refuses(right.clone(), &relabelled.into_iter().collect());
    // What is outside the range is none of its business.
    let mut other = all;
    other[5].1 = changed(&other[5].1);
    assert!(apply_artifact(&other.into_iter().collect(), &right).is_ok());
}

#[test]
fn cap_007_a_summary_stands_for_the_summary_that_it_was_made_of_only() {
    let mut messages = Messages::default();
    messages.push(Sequence(1), Message::Summary("They looked.".into()));
    messages.push(Sequence(2), Message::User(text("and?")));
    let right = artifact(&messages, 1, 1);
    assert!(apply_artifact(&messages, &right).is_ok());
    let mut other = Messages::default();
    other.push(Sequence(1), Message::User(text("They looked.")));
    other.push(Sequence(2), Message::User(text("and?")));
    assert_eq!(apply_artifact(&other, &right), Err(ArtifactError::Source));
}

#[test]
fn cap_007_the_source_digest_never_changes() {
    let digest = source_digest(&conversation(), Sequence(1), Sequence(5));
    let golden = "eee73ea318c7005823e124b989ef234533871d7461ed00346021300caa0e7ba9";
    assert_eq!(digest.to_string(), golden);
}

#[test]
fn cap_007_a_summary_has_words_and_not_too_many() {
    let messages = conversation();
    let with = |words: &str, facts: Vec<Arc<str>>| {
        let mut artifact = artifact(&messages, 1, 5);
        artifact.summary.text = words.into();
        artifact.retained_facts = facts;
        apply_artifact(&messages, &artifact).map(|shown| shown.len())
    };
    assert_eq!(with("", vec![]), Err(ArtifactError::NoWords));
    assert_eq!(with(" \n", vec!["a fact".into()]), Err(ArtifactError::NoWords));
    let most = "x".repeat(SUMMARY_BYTES);
    assert_eq!(with(&most, vec![]), Ok(2));
    assert_eq!(with(&most, vec!["".into()]), Err(ArtifactError::TooLong));
    assert_eq!(with("x", vec!["".into(); SUMMARY_BYTES]), Err(ArtifactError::TooLong));
}

#[test]
fn cap_007_an_artifact_is_decoded_with_its_version_or_not_at_all() {
    let artifact = artifact(&conversation(), 1, 5);
    let bytes = postcard::to_allocvec(&artifact).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(artifact.clone()));
    assert_eq!(artifact.compactor_version.as_str(), "house/1");
    let version = bytes.len() - "house/1".len() - 1;
    let nameless = [&bytes[..version], &[0]].concat();
    assert!(postcard::from_bytes::<CompactionArtifact>(&nameless).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn cap_007_any_range_of_any_history_is_whole_or_refused(
        says in says(3), ends in any::<[u8; 2]>(), off in prop::bool::weighted(0.3),
    ) {
        let story = Story::of(&says);
        for tale in TALES {
            let messages = story.fold.messages(tale.submission());
            // Ends of turns that are there, or a record after one of them.
            let all = entries(&messages);
            let ends = ends.map(|at| usize::from(at).checked_rem(all.len()).map(|at| all[at].0.0));
            let [Some(from), Some(through)] = ends else { continue };
            let (from, through) = (from.min(through), from.max(through) + u64::from(off));
            let artifact = artifact(&messages, from, through);
            let Ok(shown) = apply_artifact(&messages, &artifact) else { continue };
            check(&shown);
            let range = artifact.covers_from..=artifact.covers_through;
            let is_rest = |(at, _): &(Sequence, Message)| !range.contains(at);
            let rest: Vec<_> = entries(&messages).into_iter().filter(is_rest).collect();
            let after: Vec<_> = entries(&shown).into_iter().filter(is_rest).collect();
            prop_assert_eq!(rest, after, "what is not covered is shown as it was");
            prop_assert_eq!(entries(&shown).iter().filter(|it| !is_rest(it)).count(), 1);
        }
    }
}
