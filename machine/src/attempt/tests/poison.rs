//! Submissions that kill whoever works on them (DUR-018, RT-03).

use super::history;
use crate::attempt::{Effect, End};
use crate::effect::External;
use crate::identity::DurationMs;
use crate::ledger::{Phase, Standing};
use crate::limits::{FRUITLESS_CLAIMS, FRUITLESS_PAUSE_MS, LEASE_MS};
use crate::record::{Outcome, PolicyLimit, Record, Settlement};
use crate::testkit::{Host, call, submission};

/// Whether this effect is one that kills.
type Deadly = fn(&Effect) -> bool;

fn invokes(effect: &Effect) -> bool {
    matches!(effect, Effect::External(External::InvokeTool(_)))
}

fn asks(effect: &Effect) -> bool {
    matches!(effect, Effect::External(External::CallModel(_)))
}

/// How many attempts at the head of the lane die before one does not, and how that one ends.
fn deaths(host: &mut Host, deadly: Deadly) -> (usize, End) {
    for deaths in 0..20 {
        host.store.now = host.store.now.after(DurationMs(FRUITLESS_PAUSE_MS + LEASE_MS));
        let (state, effects) = host.attempt();
        if let Err(end) = host.perform(state, effects, |effect| !deadly(effect)) {
            return (deaths, end);
        }
    }
    panic!("it never ends: {:?}", history(host));
}

fn limit_of(host: &Host) -> Option<PolicyLimit> {
    let mut records = host.store.log.iter().flat_map(|batch| batch.batch().records());
    records.find_map(|record| match record {
        Record::SubmissionSettled(it) => match &it.settlement {
            Settlement::Failed { limit, .. } => *limit,
            Settlement::Completed { .. } | Settlement::Joined { .. } | Settlement::Aborted => None,
        },
        _ => None,
    })
}

#[test]
fn dur_018_case_rt_03_what_kills_every_worker_is_given_up_and_the_lane_goes_on() {
    for deadly in [asks as Deadly, invokes] {
        let mut host = Host::new(&[&["look"]]);
        host.admit(call("1", "hello"));
        host.admit(call("2", "good day"));
        // The first owner records the input, and so did not die in vain.
        assert_eq!(deaths(&mut host, deadly), (FRUITLESS_CLAIMS + 1, End::Settled));
        assert_eq!(limit_of(&host), Some(PolicyLimit::Attempts));
        let row = host.store.row(submission("1")).unwrap();
        assert_eq!(row.standing(), Standing::GivenUp);
        assert_eq!(deaths(&mut host, |_| false), (0, End::Settled));
        let row = host.store.row(submission("2")).unwrap();
        let Phase::Settled(settled) = &row.phase else { panic!("{row:?}") };
        assert_eq!((settled.outcome, settled.given_up), (Outcome::Completed, false));
        assert_eq!(history(&host).iter().filter(|it| **it == "settled").count(), 2);
    }
}

#[test]
fn dur_018_what_may_have_happened_is_unknown_and_not_given_up() {
    for tool in ["pay", "file"] {
        let mut host = Host::new(&[&[tool]]);
        host.admit(call("1", "hello"));
        assert_eq!(deaths(&mut host, invokes).1, End::Parked, "{tool}");
        let row = host.store.row(submission("1")).unwrap();
        assert_eq!((&row.phase, row.marks.len()), (&Phase::Unknown, 1), "{tool}: a person sees it");
    }
}
