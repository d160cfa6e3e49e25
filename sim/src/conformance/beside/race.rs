//! Two handles at once: whatever they are answered, one order of the two explains it.

use std::sync::Barrier;
use std::thread;

use super::coverage::Coverage;
use super::script::{begun, contested};
use super::trial::{Answer, Asked, Trial};
use super::{Beside, Check, Difference, Draw, Everything, Finding, Report, Subject};
use crate::conformance::look::shown;

/// Lets two handles ask for one thing each at the same moment, `rounds` times: for writes of two calls
/// under one key, for a write and the end of its call, for a write and the loss of the lane, for two
/// changes of a session (STORE-010, CAP-012). Each is one command, so one of the two comes first.
///
/// # Errors
/// The first [`Finding`]; [`Check::Vacuous`] if the order never made a difference.
pub fn race_beside<S>(subject: &mut S, seed: u64, rounds: u32) -> Result<Report, Finding>
where
    S: Subject,
    S::Store: Beside + Send,
{
    let mut draw = Draw::new(seed);
    let mut report = Report::default();
    for _ in 0..rounds {
        let acts = [contested(&mut draw), contested(&mut draw)];
        let mut trial = Trial::new(subject, Coverage::default());
        let text = vec![format!("at once: {acts:?}")];
        let played = begun().iter().try_for_each(|line| trial.play(line));
        played.map_err(|it| it.into_finding(seed, text.clone()))?;
        let [Some(first), Some(second)] = acts.map(|act| trial.asked(act)) else { continue };
        let contests = round(&mut trial, &[first, second]);
        report.contests += usize::from(contests.map_err(|it| it.into_finding(seed, text))?);
        report.scripts += 1;
    }
    if report.contests == 0 {
        let expected = "the order makes a difference at least once".into();
        let found = "it never did".into();
        let nothing = Difference { check: Check::Vacuous, expected, found };
        return Err(nothing.into_finding(seed, Vec::new()));
    }
    Ok(report)
}

/// One race. Whether the order of the two could make a difference.
fn round<S>(trial: &mut Trial<'_, S>, asked: &[Asked; 2]) -> Result<bool, Difference>
where
    S: Subject,
    S::Store: Beside + Send,
{
    let orders = [[0, 1], [1, 0]].map(|order| in_order(&trial.memory, asked, order));
    let contests = orders[0].0 != orders[1].0;
    let Some(handles) = trial.take() else { return Ok(false) };
    let (found, mut handles) = at_once(handles, asked);
    let mut last = Difference {
        check: Check::Races,
        expected: format!("the answers of one order of {}", shown(asked)),
        found: shown(&found),
    };
    for (answers, memory) in orders {
        if answers == found {
            let equal;
            (handles, equal) = trial.is_equal_to(handles, memory);
            match equal {
                Ok(()) => return Ok(contests),
                Err(difference) => last = difference,
            }
        }
    }
    Err(last)
}

fn in_order(
    memory: &Everything,
    asked: &[Asked; 2],
    order: [usize; 2],
) -> ([Option<Answer>; 2], Everything) {
    let mut memory = memory.clone();
    let mut answers = [None, None];
    for by in order {
        answers[by] = Some(asked[by].put_to(&mut memory));
    }
    (answers, memory)
}

fn at_once<S: Beside + Send>(handles: [S; 2], asked: &[Asked; 2]) -> ([Option<Answer>; 2], [S; 2]) {
    let barrier = Barrier::new(2);
    let act = |mut store: S, asked: &Asked| {
        barrier.wait();
        let answer = asked.put_to(&mut store);
        (answer, store)
    };
    let [first, second] = handles;
    let ((a, first), (b, second)) = thread::scope(|scope| {
        let other = scope.spawn(|| act(second, &asked[1]));
        let mine = act(first, &asked[0]);
        let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (mine, other)
    });
    ([Some(a), Some(b)], [first, second])
}
