//! From a script that fails to one from which nothing can be dropped.

use super::acts::Line;

/// Most tries, so that a slow store is not played for ever.
const TRIES: usize = 4_000;

/// Drops halves, quarters and so on of the lines, then single lines, then single acts, for as long
/// as what is left still fails.
pub(super) fn shrink(script: &[Line], mut fails: impl FnMut(&[Line]) -> bool) -> Vec<Line> {
    let mut left = TRIES;
    let mut fails = |candidate: &[Line]| {
        left = left.saturating_sub(1);
        left > 0 && fails(candidate)
    };
    let mut best = without_lines(script, &mut fails);
    let mut line = 0;
    while line < best.len() {
        let acts = best[line].acts();
        let smaller = (0..acts).filter(|_| acts > 1).find_map(|act| {
            let mut candidate = best.clone();
            candidate[line] = best[line].without(act);
            fails(&candidate).then_some(candidate)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => line += 1,
        }
    }
    best
}

/// The same for scripts whose lines have no parts.
pub(super) fn shortened<T: Clone>(script: &[T], fails: &mut impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut left = TRIES;
    without_lines(script, &mut |candidate: &[T]| {
        left = left.saturating_sub(1);
        left > 0 && fails(candidate)
    })
}

fn without_lines<T: Clone>(script: &[T], fails: &mut impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut best = script.to_vec();
    let mut size = best.len() / 2;
    while size > 0 {
        let mut dropped = false;
        let mut at = 0;
        while at < best.len() {
            let end = best.len().min(at + size);
            let candidate = [&best[..at], &best[end..]].concat();
            if fails(&candidate) {
                (best, dropped) = (candidate, true);
            } else {
                at += size;
            }
        }
        // What could not be dropped before may be dropped now.
        size = if dropped && size == 1 { 1 } else { size / 2 };
    }
    best
}
