//! Two handles at once: whatever they are answered, some order of their commands explains it.

use std::sync::Barrier;
use std::thread;

use everstep_machine::store::{Pipeline, Store, StoreFault};

use super::acts::{Act, Line};
use super::draw::Draw;
use super::finding::{Check, Difference, Finding, Report};
use super::look::{Answer, shown};
use super::reference::Reference;
use super::trial::Trial;
use super::{Subject, choose, stories};

/// Lets two handles of a store write to one lane at the same moment, `rounds` times, in two threads
/// (STORE-010, CR-03).
///
/// Both have read the same, and nothing but the store is between them: they append to one position,
/// claim one epoch, fence one tail. Each command is atomic, so what they are answered, and what is
/// there afterwards, has to be what their commands lead to in some order, each one's own kept. What
/// a race finds is not shrunk, since no second try repeats it for certain.
///
/// # Errors
/// The first [`Finding`]; [`Check::Vacuous`] if the order never made a difference.
pub fn race<S>(subject: &mut S, seed: u64, rounds: u32) -> Result<Report, Finding>
where
    S: Subject,
    S::Store: Send,
{
    let mut draw = Draw::new(seed);
    let mut report = Report::default();
    for _ in 0..rounds {
        let mut script = stories::begun();
        script.extend(choose::script(&mut draw, 3));
        let acts = [contest(&mut draw), contest(&mut draw)];
        let mut text: Vec<_> = script.iter().map(super::line_text).collect();
        text.push(format!("at once: {acts:?}"));
        let contests = round(subject, &script, &acts).map_err(|it| it.into_finding(seed, text))?;
        report.scripts += 1;
        report.pipelines += 2;
        report.contests += usize::from(contests);
    }
    if report.contests == 0 {
        let expected = "the order makes a difference at least once".into();
        let found = "it never did".into();
        let nothing = Difference { check: Check::Vacuous, expected, found };
        return Err(nothing.into_finding(seed, Vec::new()));
    }
    Ok(report)
}

fn contest(draw: &mut Draw) -> Vec<Act> {
    draw.several(1, 3, choose::contested)
}

/// One race. Whether the order of the two could make a difference.
fn round<S>(subject: &mut S, script: &[Line], acts: &[Vec<Act>; 2]) -> Result<bool, Difference>
where
    S: Subject,
    S::Store: Send,
{
    let mut trial = Trial::new(subject, None);
    script.iter().try_for_each(|line| trial.play(line))?;
    let pipelines = acts.each_ref().map(|acts| trial.pipeline(0, acts));
    let Some(handles) = trial.take() else { return Ok(false) };
    let (answers, handles) = run(handles, &pipelines);
    let outcomes = outcomes(&trial.reference, &pipelines);
    let contests = outcomes.iter().any(|it| it.answers != outcomes[0].answers);
    trial.put(handles);
    let mut last = Difference {
        check: Check::Races,
        expected: format!(
            "the answers of one of {} orders of {}",
            outcomes.len(),
            shown(&pipelines)
        ),
        found: shown(&answers),
    };
    for outcome in outcomes.into_iter().filter(|it| it.answers == answers) {
        match trial.is_equal_to(outcome.reference) {
            Ok(()) => return Ok(contests),
            Err(difference) => last = difference,
        }
    }
    Err(last)
}

fn run<S: Store + Send>(handles: [S; 2], pipelines: &[Pipeline; 2]) -> ([Answer; 2], [S; 2]) {
    let barrier = Barrier::new(2);
    let act = |mut store: S, pipeline: &Pipeline| {
        barrier.wait();
        let answer = store.execute(pipeline);
        (answer, store)
    };
    let [first, second] = handles;
    let ((a, first), (b, second)) = thread::scope(|scope| {
        let other = scope.spawn(|| act(second, &pipelines[1]));
        let mine = act(first, &pipelines[0]);
        let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (mine, other)
    });
    ([a, b], [first, second])
}

/// What one order of the commands leads to.
#[derive(Clone)]
struct Outcome {
    reference: Reference,
    answers: [Answer; 2],
}

/// Every order of the commands that keeps each one's own.
fn outcomes(reference: &Reference, pipelines: &[Pipeline; 2]) -> Vec<Outcome> {
    let nothing = [Ok(Vec::new()), Ok(Vec::new())];
    let mut open = vec![Outcome { reference: reference.clone(), answers: nothing }];
    let mut closed: Vec<Outcome> = Vec::new();
    while let Some(outcome) = open.pop() {
        let next: Vec<_> = (0..2).filter_map(|by| advanced(&outcome, pipelines, by)).collect();
        if next.is_empty() && !closed.iter().any(|it| same(it, &outcome)) {
            closed.push(outcome);
        }
        open.extend(next);
    }
    closed
}

fn same(one: &Outcome, other: &Outcome) -> bool {
    one.answers == other.answers && one.reference == other.reference
}

/// The next command of one of the two; none at its end or after a refusal.
fn advanced(outcome: &Outcome, pipelines: &[Pipeline; 2], by: usize) -> Option<Outcome> {
    let at = outcome.answers[by].as_ref().ok()?.len();
    let command = pipelines[by].commands.get(at)?;
    let mut outcome = outcome.clone();
    match outcome.reference.one(&pipelines[by].lane, command) {
        Ok(reply) => outcome.answers[by].iter_mut().for_each(|replies| replies.push(reply.clone())),
        Err(why) => outcome.answers[by] = Err(StoreFault::Refused { at, why }),
    }
    Some(outcome)
}
