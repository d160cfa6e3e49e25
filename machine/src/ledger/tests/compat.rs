//! Who came with another binding than a run has, and what people want done about it (case CR-05).

use super::*;
use crate::agent::Bound;
use crate::digest::Digest;
use crate::limits::{INCOMPATIBLE_MS, TEXT_BYTES};

/// One of several bindings.
pub(super) fn bound(n: u8) -> Bound {
    let digest = Digest([n; 32]);
    Bound { definition: digest, model: Digest([7; 32]), tools: digest }
}

/// That a run is bound to the first binding by this record, and somebody has another one.
pub(super) fn mismatch(at: u64, found: u8) -> Mismatch {
    Mismatch { at: Sequence(at), expected: bound(0), found: bound(found) }
}

pub(super) fn report(n: u8, epoch: Epoch, mismatch: Mismatch) -> Command {
    let by = ProducerId::new("worker-2").unwrap();
    Command::Incompatible { submission: submission(n), epoch, mismatch, by }
}

pub(super) fn rebound(at: u64, to: u8, who: &str) -> RebindIntent {
    RebindIntent {
        replaces: Sequence(at),
        to: bound(to),
        principal: principal(who),
        reason: Arc::from("no harm in it"),
    }
}

pub(super) fn rebind(n: u8, intent: RebindIntent) -> Command {
    Command::Rebind { submission: submission(n), intent }
}

/// A run that its owner has let go of, at epoch 1.
fn released() -> Bench {
    let (mut bench, owner) = Bench::running();
    bench.send(Command::Release { owner }).unwrap();
    bench
}

/// The same, and somebody has come with the second binding.
fn met() -> Bench {
    let mut bench = released();
    bench.send(report(1, Epoch(1), mismatch(1, 1))).unwrap();
    bench
}

fn known(bench: &Bench) -> Option<(Mismatch, u64)> {
    let known = bench.row(1).compat.incompatible.as_ref()?;
    Some((known.mismatch, known.since.0 - START))
}

#[test]
fn case_cr_05_who_cannot_go_on_is_listed_since_the_first_of_them_and_nothing_is_claimed() {
    let mut bench = released();
    let before = bench.lane.clone();
    let first = report(1, Epoch(1), mismatch(1, 1));
    assert_eq!(bench.send(first.clone()), Ok(Reply::IncompatibleNoted));
    assert_eq!(bench.again(first), Ok(Reply::IncompatibleNoted));
    assert_eq!(bench.lane, before, "nobody owns it, and its epoch stays");
    assert_eq!(known(&bench), Some((mismatch(1, 1), 0)));
    bench.now.0 += HOUR;
    bench.send(report(1, Epoch(1), mismatch(1, 2))).unwrap();
    assert_eq!(known(&bench), Some((mismatch(1, 2), 0)), "the last of them, since the first");
    bench.send(report(1, Epoch(1), mismatch(9, 2))).unwrap();
    assert_eq!(known(&bench), Some((mismatch(9, 2), HOUR)), "bound anew, and met anew");
    assert_eq!(
        bench.candidate(),
        Some(submission(1)),
        "whoever has its binding may take it at once"
    );
}

#[test]
fn dur_006_nobody_reports_what_they_read_before_somebody_else_owned_the_lane() {
    let mut bench = released();
    let stale = report(1, Epoch(0), mismatch(1, 1));
    assert_eq!(bench.send(stale), Err(Refusal::EpochMoved { actual: Epoch(1) }));
    bench.claim(1, 2).unwrap();
    let until = bench.lane.leased_until(bench.time()).unwrap();
    let meanwhile = report(1, Epoch(2), mismatch(1, 1));
    assert_eq!(bench.send(meanwhile.clone()), Err(Refusal::Owned { until }));
    bench.expire();
    assert_eq!(bench.send(meanwhile), Ok(Reply::IncompatibleNoted), "whose owner may be dead");
    let gone = report(9, Epoch(2), mismatch(1, 1));
    assert_eq!(bench.send(gone), Err(Refusal::NoSuchSubmission));
}

#[test]
fn dur_006_a_paused_owner_whose_binding_fits_is_not_superseded_by_who_has_another_one() {
    let (mut bench, owner) = Bench::running();
    bench.expire();
    bench.send(report(1, Epoch(1), mismatch(1, 1))).unwrap();
    bench.finish(owner, &completed(1));
    assert_eq!(known(&bench), None, "it has ended, and nobody waits for anybody");
}

#[test]
fn case_cr_05_the_last_word_on_a_binding_counts_and_names_what_it_replaces() {
    let mut bench = met();
    let ada = rebind(1, rebound(1, 1, "ada"));
    assert_eq!(bench.send(ada.clone()), Ok(Reply::RebindIntended));
    assert_eq!(bench.again(ada), Ok(Reply::RebindIntended));
    bench.send(rebind(1, rebound(1, 2, "bob"))).unwrap();
    assert_eq!(bench.row(1).compat.rebind, Some(rebound(1, 2, "bob")));
    for other in [rebound(2, 1, "ada"), rebound(1, 0, "ada")] {
        assert_eq!(bench.send(rebind(1, other)), Err(Refusal::NotIncompatible));
    }
    let long = RebindIntent { reason: "x".repeat(TEXT_BYTES + 1).into(), ..rebound(1, 1, "ada") };
    assert_eq!(bench.send(rebind(1, long)), Err(Refusal::TooLong));
}

#[test]
fn case_cr_05_a_repeated_word_is_answered_as_the_first_time_when_it_is_canonical() {
    let mut bench = met();
    let word = rebind(1, rebound(1, 1, "ada"));
    bench.send(word.clone()).unwrap();
    let owner = bench.claim(1, 2).unwrap();
    let cover = Command::CoverIncompatible { owner };
    assert_eq!(bench.send(cover.clone()), Ok(Reply::IncompatibleCovered));
    assert_eq!(bench.again(cover), Ok(Reply::IncompatibleCovered));
    assert_eq!(known(&bench), None);
    assert_eq!(bench.again(word), Ok(Reply::RebindIntended));
    let new = rebind(1, rebound(1, 2, "ada"));
    assert_eq!(bench.send(new), Err(Refusal::NotIncompatible), "nobody has met it since");
}

#[test]
fn dur_011_what_is_fixed_is_neither_reported_nor_bound_anew() {
    let mut bench = met();
    let owner = bench.claim(1, 2).unwrap();
    bench.send(Command::Reserve { owner, reserved: completed(1) }).unwrap();
    bench.expire();
    let closing = Err(Refusal::RunClosing);
    assert_eq!(bench.send(report(1, Epoch(2), mismatch(1, 2))), closing);
    assert_eq!(bench.send(rebind(1, rebound(1, 1, "ada"))), closing);
    let (mut bench, _) = Bench::settled();
    let settled = Err(Refusal::AlreadySettled);
    assert_eq!(bench.send(report(1, Epoch(1), mismatch(1, 1))), settled);
    assert_eq!(bench.send(rebind(1, rebound(1, 1, "ada"))), settled);
}

#[test]
fn dur_012_what_is_to_end_is_not_bound_anew_and_waits_for_nobody() {
    let mut bench = met();
    assert!(bench.row(1).waits_for_binding(&bound(1), bench.now).is_some());
    bench.abort(1, "ada").unwrap();
    assert_eq!(bench.row(1).waits_for_binding(&bound(1), bench.now), None);
    let word = rebind(1, rebound(1, 1, "ada"));
    assert_eq!(bench.send(word), Err(Refusal::AbortIntended));
}

#[test]
fn dur_014_who_has_nothing_to_do_there_waits_for_a_word_or_a_week() {
    let mut bench = met();
    let over = Timestamp(START + INCOMPATIBLE_MS);
    let waits = |bench: &Bench, n| bench.row(1).waits_for_binding(&bound(n), bench.now);
    assert_eq!(waits(&bench, 1), Some(over));
    assert_eq!(
        [waits(&bench, 0), waits(&bench, 2)],
        [None, None],
        "others may look for themselves"
    );
    bench.now = over;
    assert_eq!(waits(&bench, 1), None, "somebody ends it");
    bench.now = Timestamp(START);
    bench.send(rebind(1, rebound(1, 2, "ada"))).unwrap();
    assert_eq!(waits(&bench, 1), Some(over), "the word is about another binding");
    bench.send(rebind(1, rebound(1, 1, "ada"))).unwrap();
    assert_eq!(waits(&bench, 1), None, "it may go on");
}

#[test]
fn case_cr_09_a_mismatch_names_both_sides_part_by_part_and_the_record() {
    let words = mismatch(12, 1).to_string();
    let expected = "record 12 binds the run to definition 000000000000, found is 010101010101, \
                    tools 000000000000, found is 010101010101";
    assert_eq!(words, expected, "the model is the same");
}
