//! Under which binding a run goes on (cases CR-05, CR-09).

use everstep_machine::agent::Bound;
use everstep_machine::effect::External;
use everstep_machine::identity::{PrincipalId, Sequence};
use everstep_machine::ledger::RebindIntent;
use everstep_machine::record::RunRebound;

use super::*;

/// Where the first submission's input stands.
const INPUT: Sequence = Sequence(1);

fn other() -> Bound {
    let digest = everstep_machine::digest::Digest([9; 32]);
    Bound { definition: digest, model: digest, tools: digest }
}

/// A run with its input, recorded under epoch 1 by whoever has its binding.
fn bound() -> Bench {
    let mut bench = Bench::claimed(None);
    let (append, own) = (bench.append(1, vec![bench.input(0)]), Permits::of(bench.cast.bound));
    assert!(bench.does_with(&append, &own).answer.is_ok());
    assert_eq!(bench.broken(), None);
    bench
}

fn rebound(bench: &Bench, to: Bound) -> Record {
    Record::RunRebound(RunRebound {
        submission: bench.submission(0),
        replaces: INPUT,
        from: bench.cast.bound,
        to,
        principal: PrincipalId::new("ada").unwrap(),
        reason: "no harm".into(),
    })
}

fn wanted(bench: &mut Bench, to: Bound) {
    let principal = PrincipalId::new("ada").unwrap();
    let intent = RebindIntent { replaces: INPUT, to, principal, reason: "no harm".into() };
    let submission = bench.submission(0);
    bench.judge.note_binding(&Command::Rebind { submission, intent });
}

/// Somebody with this appends, under an epoch.
fn appends(bench: &mut Bench, epoch: u64, record: Record, has: Bound) -> Option<Property> {
    let append = bench.append(epoch, vec![record]);
    assert!(bench.does_with(&append, &Permits::of(has)).answer.is_ok());
    bench.broken()
}

#[test]
fn case_cr_05_an_input_that_binds_its_run_to_what_its_writer_has_not_is_found() {
    let mut bench = Bench::claimed(None);
    let input = bench.input(0);
    assert_eq!(appends(&mut bench, 1, input, other()), Some(Property::Bindings));
}

#[test]
fn case_cr_05_who_goes_on_under_another_binding_is_found_and_who_ends_it_is_not() {
    let (own, mut bench) = (bound().cast.bound, bound());
    let response = bench.response(0);
    assert_eq!(appends(&mut bench, 1, response, own), None);
    let append = bench.append(1, vec![bench.prepared(0, 1)]);
    let mut permits = bench.given(1);
    permits.bound = Some(other());
    assert!(bench.does_with(&append, &permits).answer.is_ok());
    assert_eq!(bench.broken(), Some(Property::Bindings));

    let mut bench = bound();
    let response = bench.response(0);
    assert_eq!(appends(&mut bench, 1, response, other()), Some(Property::Bindings));

    let mut bench = bound();
    let aborted = bench.settled(Settlement::Aborted);
    assert_eq!(appends(&mut bench, 1, aborted, other()), None, "anybody may say that it ended");
}

#[test]
fn case_cr_05_an_effect_under_another_binding_is_found() {
    let (mut bench, run) = (bound(), bound().cast.clients[0].run);
    let asks = External::Authorize { run, turn: Turn(0), calls: Vec::new() };
    let own = Permits::of(bench.cast.bound);
    bench.judge.check_effect(&bench.cast, 0, Epoch(1), &asks, &own);
    assert_eq!(bench.broken(), None);
    bench.judge.check_effect(&bench.cast, 0, Epoch(1), &asks, &Permits::of(other()));
    assert_eq!(bench.broken(), Some(Property::Bindings));
}

#[test]
fn case_cr_09_a_binding_that_nobody_wanted_is_found() {
    let mut bench = bound();
    let record = rebound(&bench, other());
    assert_eq!(appends(&mut bench, 1, record, other()), Some(Property::Bindings));

    let mut bench = bound();
    wanted(&mut bench, other());
    let record = rebound(&bench, other());
    assert_eq!(appends(&mut bench, 1, record, other()), None);

    let mut bench = bound();
    wanted(&mut bench, other());
    let (record, own) = (rebound(&bench, other()), bench.cast.bound);
    let found = appends(&mut bench, 1, record, own);
    assert_eq!(found, Some(Property::Bindings), "nobody binds a run to what they have not");
}

#[test]
fn dur_006_a_zombie_is_held_to_what_its_run_was_bound_to_under_its_own_epoch() {
    let mut bench = bound();
    bench.taken_over();
    wanted(&mut bench, other());
    let (record, run) = (rebound(&bench, other()), bench.cast.clients[0].run);
    assert_eq!(appends(&mut bench, 2, record, other()), None);
    let asks = External::Authorize { run, turn: Turn(0), calls: Vec::new() };
    let own = Permits::of(bench.cast.bound);
    bench.judge.check_effect(&bench.cast, 0, Epoch(1), &asks, &own);
    assert_eq!(bench.broken(), None, "it leaves late, and was asked for before");
    bench.judge.check_effect(&bench.cast, 0, Epoch(2), &asks, &own);
    assert_eq!(bench.broken(), Some(Property::Bindings));
}
