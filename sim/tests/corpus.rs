//! The whole corpus, through every point where a process can break.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use everstep_sim::explore::{Bounds, Counters};
use everstep_sim::matrix::{Plan, Report, run};
use everstep_sim::profile::Profile;
use everstep_sim::scenario::{Scenario, corpus};

fn plan(jobs: usize) -> Plan {
    let scenarios = corpus::builtin()
        .map(|(name, text)| Arc::new(Scenario::parse(name, text).expect("the corpus is right")));
    Plan {
        scenarios: scenarios.collect(),
        profiles: Profile::ALL.to_vec(),
        defect: None,
        bounds: Bounds::depth(1),
        jobs,
    }
}

fn report(jobs: usize) -> Report {
    run(&plan(jobs), &Counters::default(), &AtomicUsize::new(0)).expect("the corpus is small")
}

#[test]
fn dur_019_the_corpus_holds_at_every_failpoint_and_visits_all_of_them() {
    let report = report(1);
    let failures: Vec<_> = report
        .failures()
        .map(|(case, failure)| format!("{case}: {} by {}", failure.violation, failure.schedule))
        .collect();
    assert_eq!(failures, [] as [String; 0]);
    let missing: Vec<_> = report.visited().missing().map(|point| point.to_string()).collect();
    assert_eq!(missing, [] as [String; 0], "no schedule comes to these");
    let idle: Vec<_> = report.rows().into_iter().filter(|row| row.schedules == 0).collect();
    assert_eq!(idle, [], "no schedule has a fault in these rows");
    let unreached: Vec<_> = report.unreached().map(|one| one.name()).collect();
    assert_eq!(unreached, [] as [&str; 0], "these never happen");
}

#[test]
fn the_report_is_the_same_for_any_number_of_threads() {
    let one = report(1);
    for jobs in [2, 5] {
        assert_eq!(report(jobs).cases, one.cases, "with {jobs} threads");
    }
}
