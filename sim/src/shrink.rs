//! Shrinking: from a schedule that fails to one from which nothing can be removed.

use crate::schedule::Schedule;

/// Removes choices one by one for as long as the schedule still fails.
///
/// The result is 1-minimal: without any one of its choices it does not fail, as `fails` judges by
/// running it from the start. Which failure counts is up to `fails`: the same property, usually.
/// Takes at most about n² runs for n choices.
pub fn shrink(schedule: &Schedule, mut fails: impl FnMut(&Schedule) -> bool) -> Schedule {
    let mut best = schedule.clone();
    let mut position = 0;
    while position < best.choices().len() {
        let candidate = best.without(position);
        if fails(&candidate) {
            // What could not be removed before may be removable now.
            best = candidate;
            position = 0;
        } else {
            position += 1;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use crate::schedule::Schedule;

    const LONG: &str = "ledger.admit/before@1=crash, ledger.admit/after@1=lose, \
                        ledger.ready/before@1=crash, ledger.ready/after@1=pause, \
                        model.call/during@1=crash";

    fn has(schedule: &Schedule, wanted: &[&str]) -> bool {
        let texts: Vec<_> = schedule.choices().iter().map(ToString::to_string).collect();
        wanted.iter().all(|text| texts.iter().any(|have| have.starts_with(text)))
    }

    #[test]
    fn nothing_can_be_removed_from_what_is_left() {
        let schedule: Schedule = LONG.parse().expect("it is a schedule");
        // Fails with the two pauses of a pair, or with three particular crashes: the pair is a
        // smaller way to fail than what is removed first would leave.
        let fails = |schedule: &Schedule| {
            has(schedule, &["ledger.admit/after", "ledger.ready/after"])
                || has(schedule, &["ledger.admit/before", "ledger.ready/before", "model.call"])
        };
        let small = shrink(&schedule, fails);
        assert!(fails(&small));
        for position in 0..small.choices().len() {
            assert!(!fails(&small.without(position)), "{small} without {position} fails too");
        }
    }

    #[test]
    fn a_choice_that_later_removals_make_useless_is_removed_too() {
        let schedule: Schedule = LONG.parse().expect("it is a schedule");
        // The first choice can go only after the second one went.
        let fails = |schedule: &Schedule| {
            has(schedule, &["model.call"])
                && (!has(schedule, &["ledger.admit/after"])
                    || has(schedule, &["ledger.admit/before"]))
        };
        assert_eq!(shrink(&schedule, fails).to_string(), "model.call/during@1=crash");
    }

    #[test]
    fn what_fails_calmly_shrinks_to_the_calm_schedule() {
        let schedule: Schedule = LONG.parse().expect("it is a schedule");
        assert_eq!(shrink(&schedule, |_| true), Schedule::calm());
    }
}
