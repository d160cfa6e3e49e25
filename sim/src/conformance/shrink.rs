//! From a script that fails to one from which nothing can be dropped.

use super::acts::Line;

/// Most tries, so that a slow store is not played for ever.
const TRIES: usize = 4_000;

/// Drops halves, quarters and so on of the lines, then single lines, then single acts, for as long
/// as what is left still fails.
pub(super) fn shrink(script: &[Line], mut fails: impl FnMut(&[Line]) -> bool) -> Vec<Line> {
    let mut best = script.to_vec();
    let mut left = TRIES;
    let mut attempt = |candidate: Vec<Line>, best: &mut Vec<Line>| {
        left = left.saturating_sub(1);
        let fails = left > 0 && fails(&candidate);
        if fails {
            *best = candidate;
        }
        fails
    };
    let mut size = best.len() / 2;
    while size > 0 {
        let mut dropped = false;
        let mut at = 0;
        while at < best.len() {
            let end = best.len().min(at + size);
            let candidate = [&best[..at], &best[end..]].concat();
            if attempt(candidate, &mut best) {
                dropped = true;
            } else {
                at += size;
            }
        }
        // What could not be dropped before may be dropped now.
        size = if dropped && size == 1 { 1 } else { size / 2 };
    }
    let mut line = 0;
    while line < best.len() {
        let acts = best[line].acts();
        let smaller = (0..acts).filter(|_| acts > 1).any(|act| {
            let mut candidate = best.clone();
            candidate[line] = best[line].without(act);
            attempt(candidate, &mut best)
        });
        line += usize::from(!smaller);
    }
    best
}
