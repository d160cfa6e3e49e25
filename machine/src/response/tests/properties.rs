//! Properties of any stream: of sound ones, and of parts in any order.

use alloc::collections::BTreeMap;
use alloc::string::String;

use proptest::prelude::*;

use super::strategies::{cases, finish, input, part, sound_response};
use super::*;
use crate::agent::Reasoning;
use crate::identity::{SubmissionId, Turn};
use crate::record::{ModelResponded, Record, encode_records};

/// The answer to these parts and nothing before them.
fn answer(parts: impl IntoIterator<Item = StreamPart>) -> Answer {
    let parts = parts.into_iter().map(Input::Received);
    answers(parts.chain([Input::Ended])).remove(0)
}

/// Cuts every delta into pieces, at the characters that `cuts` says, and sends empty ones.
fn in_pieces(parts: Vec<StreamPart>, cuts: &[bool]) -> Vec<StreamPart> {
    let mut cuts = cuts.iter().cycle();
    let mut pieces = |text: &str| {
        let mut pieces = vec![String::new()];
        for letter in text.chars() {
            if cuts.next() == Some(&true) {
                pieces.push(String::new());
            }
            let last = pieces.last_mut().unwrap();
            last.push(letter);
        }
        pieces.into_iter().map(Arc::<str>::from).collect::<Vec<_>>()
    };
    let mut cut = Vec::new();
    for part in parts {
        match part {
            StreamPart::TextDelta { label, text } => cut.extend(
                pieces(&text)
                    .into_iter()
                    .map(|text| StreamPart::TextDelta { label: label.clone(), text }),
            ),
            StreamPart::ReasoningDelta { label, text } => cut.extend(
                pieces(&text)
                    .into_iter()
                    .map(|text| StreamPart::ReasoningDelta { label: label.clone(), text }),
            ),
            StreamPart::CallDelta { label, json } => cut.extend(
                pieces(&json)
                    .into_iter()
                    .map(|json| StreamPart::CallDelta { label: label.clone(), json }),
            ),
            part => cut.push(part),
        }
    }
    cut
}

/// The same stream with each whole call of the host in its three parts.
fn unfolded(parts: Vec<StreamPart>) -> Vec<StreamPart> {
    let unfold = |part| match part {
        StreamPart::Call(WholeCall { label, tool, json }) => vec![
            StreamPart::CallStart { label: label.clone(), tool },
            StreamPart::CallDelta { label: label.clone(), json },
            StreamPart::CallEnd { label },
        ],
        part => vec![part],
    };
    parts.into_iter().flat_map(unfold).collect()
}

/// Every part of a response open at once: all begin, all go on, all end, last one first.
fn interleaved(response: &ModelResponse) -> Vec<StreamPart> {
    let (mut begins, mut middles, mut ends) = (vec![StreamPart::Start], vec![], vec![]);
    for (at, part) in response.parts.iter().enumerate() {
        let label: Arc<str> = words(&alloc::format!("{at}"));
        match part.clone() {
            ResponsePart::Text(text) => {
                begins.push(StreamPart::TextStart { label: label.clone() });
                middles.push(StreamPart::TextDelta { label: label.clone(), text });
                ends.push(StreamPart::TextEnd { label });
            }
            ResponsePart::Reasoning(Reasoning { text, signature, redacted }) => {
                begins.push(StreamPart::ReasoningStart { label: label.clone() });
                middles.push(StreamPart::ReasoningDelta { label: label.clone(), text });
                ends.push(StreamPart::ReasoningEnd { label, signature, redacted });
            }
            ResponsePart::Call(_)
            | ResponsePart::ProviderCall(_)
            | ResponsePart::ProviderResult(_) => {
                let alone = ModelResponse { parts: vec![part.clone()], ..response.clone() };
                let parts = parts_of(&alone);
                begins.push(parts[1].clone());
            }
        }
    }
    begins.extend(middles);
    begins.extend(ends.into_iter().rev());
    begins.extend(response.usage.map(StreamPart::Usage));
    begins.push(StreamPart::Finish(response.finish));
    begins
}

/// What a part is, and the label of a call.
type Kind = (&'static str, Option<Arc<str>>);

/// The part of the response that begins with a part of the stream.
fn beginning(part: &StreamPart) -> Option<Kind> {
    match part {
        StreamPart::TextStart { .. } => Some(("text", None)),
        StreamPart::ReasoningStart { .. } => Some(("reasoning", None)),
        StreamPart::CallStart { label, .. } | StreamPart::Call(WholeCall { label, .. }) => {
            Some(("call", Some(label.clone())))
        }
        StreamPart::ProviderCall(WholeCall { label, .. }) => {
            Some(("provider's call", Some(label.clone())))
        }
        StreamPart::ProviderResult { label, .. } => Some(("result", Some(label.clone()))),
        _ => None,
    }
}

fn kind(part: &ResponsePart) -> Kind {
    match part {
        ResponsePart::Text(_) => ("text", None),
        ResponsePart::Reasoning(_) => ("reasoning", None),
        ResponsePart::Call(call) => ("call", Some(call.label.clone())),
        ResponsePart::ProviderCall(call) => ("provider's call", Some(call.label.clone())),
        ResponsePart::ProviderResult(it) => ("result", Some(it.label.clone())),
    }
}

/// What ends everything that is open.
type Ends = BTreeMap<(&'static str, Arc<str>), Vec<StreamPart>>;

/// What is left of parts in any order when those go that break a rule. Every call that is open has
/// its arguments just before it ends, and what is open at the end is ended.
fn mended(parts: Vec<StreamPart>) -> Vec<StreamPart> {
    let (mut kept, mut open, mut asked) = (vec![], Ends::new(), vec![]);
    for part in parts {
        let keeps = match &part {
            StreamPart::TextStart { label } => {
                let end = vec![StreamPart::TextEnd { label: label.clone() }];
                begin(&mut open, ("text", label.clone()), end)
            }
            StreamPart::ReasoningStart { label } => begin(
                &mut open,
                ("reasoning", label.clone()),
                vec![reasoning_end(label, None, false)],
            ),
            StreamPart::CallStart { label, tool } if !tool.is_empty() => begin(
                &mut open,
                ("call", label.clone()),
                vec![call_delta(label, "{}"), call_end(label)],
            ),
            StreamPart::TextDelta { label, .. } => open.contains_key(&("text", label.clone())),
            StreamPart::ReasoningDelta { label, .. } => {
                open.contains_key(&("reasoning", label.clone()))
            }
            StreamPart::TextEnd { label } => open.remove(&("text", label.clone())).is_some(),
            StreamPart::ReasoningEnd { label, .. } => {
                open.remove(&("reasoning", label.clone())).is_some()
            }
            StreamPart::CallEnd { label } => {
                kept.extend(open.remove(&("call", label.clone())).into_iter().flatten());
                false
            }
            StreamPart::Call(call) => {
                is_sound(call) && !open.contains_key(&("call", call.label.clone()))
            }
            StreamPart::ProviderCall(call) if is_sound(call) => {
                asked.push(call.label.clone());
                true
            }
            StreamPart::ProviderResult { label, json, .. } => {
                let place = asked.iter().position(|asked| asked == label);
                let is_json = CanonicalJson::parse(json.as_bytes()).is_ok();
                place.filter(|_| is_json).map(|place| asked.remove(place)).is_some()
            }
            _ => false,
        };
        kept.extend(keeps.then_some(part));
    }
    kept.into_iter().chain(open.into_values().flatten()).collect()
}

/// Whether nothing is open there; with what it takes to end what begins.
fn begin(open: &mut Ends, at: (&'static str, Arc<str>), end: Vec<StreamPart>) -> bool {
    let is_free = !open.contains_key(&at);
    open.entry(at).or_insert(end);
    is_free
}

fn is_sound(call: &WholeCall) -> bool {
    let parsed = CanonicalJson::parse(call.json.as_bytes());
    !call.tool.is_empty() && parsed.is_ok_and(|json| json.as_str().starts_with('{'))
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn run_034_any_inputs_have_one_answer_at_most_and_nothing_behind_it(
        inputs in prop::collection::vec(input(), 0..40),
    ) {
        let ends = inputs.iter().any(|input| !matches!(input, Input::Received(_)));
        let step = feed(inputs);
        let effects: Vec<_> = step.effects.into_iter().flatten().collect();
        let is_answer = |effect: &Effect| matches!(effect, Effect::Done(_));
        let answered = effects.iter().filter(|effect| is_answer(effect)).count();
        prop_assert!(answered <= 1);
        prop_assert!(!ends || answered == 1);
        prop_assert_eq!(step.state.is_done(), answered == 1);
        prop_assert!(!effects.iter().rev().skip(1).any(is_answer), "it is the last effect");
    }

    #[test]
    fn run_034_a_response_holds_every_part_that_began_and_no_other(
        parts in prop::collection::vec(part(), 0..24),
        finish in finish(),
    ) {
        let parts = mended(parts);
        let began: Vec<_> = parts.iter().filter_map(beginning).collect();
        let response = reduce(parts.into_iter().chain([StreamPart::Finish(finish)])).unwrap();
        prop_assert_eq!(response.parts.iter().map(kind).collect::<Vec<_>>(), began);
        prop_assert_eq!(response.finish, finish);
        let record = ModelResponded { submission: SubmissionId([0; 16]), turn: Turn(0), response };
        prop_assert!(encode_records(&[Record::ModelResponded(record)]).is_ok());
    }

    #[test]
    fn arc_02_where_a_delta_is_cut_does_not_matter(
        parts in prop::collection::vec(part(), 0..16),
        response in sound_response(),
        cuts in prop::collection::vec(any::<bool>(), 1..8),
    ) {
        let broken = core::iter::once(StreamPart::Start).chain(parts).collect::<Vec<_>>();
        prop_assert_eq!(answer(in_pieces(broken.clone(), &cuts)), answer(broken));
        let sound = unfolded(parts_of(&response));
        prop_assert_eq!(answer(in_pieces(sound, &cuts)), Ok(Arc::new(response)));
    }

    #[test]
    fn run_034_the_parts_of_a_response_give_the_response_again(response in sound_response()) {
        let parts = parts_of(&response);
        prop_assert_eq!(answer(parts.clone()), Ok(Arc::new(response.clone())));
        prop_assert_eq!(answer(interleaved(&response)), Ok(Arc::new(response.clone())));
        let cut = &parts[..parts.len() - 1];
        prop_assert_eq!(answer(cut.to_vec()), broken(ProtocolError::Cut));
    }
}
