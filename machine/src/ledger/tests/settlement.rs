//! Reservation and finalization: one outcome a submission.

use super::*;

fn reserve(owner: Ownership, reserved: &Reserved) -> Command {
    Command::Reserve { owner, reserved: reserved.clone() }
}

fn finalize(owner: Ownership, reserved: &Reserved) -> Command {
    Command::Finalize { owner, settlement: canonical(reserved) }
}

fn phase_after(reserved: &Reserved, epoch: u64, at: u64) -> Phase {
    Phase::Settled(Settled {
        digest: reserved.digest,
        outcome: reserved.record.settlement.outcome(),
        given_up: reserved.record.settlement.is_given_up(),
        epoch: Epoch(epoch),
        at: Timestamp(at),
    })
}

#[test]
fn dur_002_reserve_then_finalize_ends_the_row_and_frees_the_lane() {
    let (mut bench, owner) = Bench::running();
    let reserved = completed(1);
    assert_eq!(bench.send(reserve(owner, &reserved)), Ok(Reply::Reserved));
    assert_eq!(bench.row(1).phase, Phase::Terminalizing(reserved.clone()));
    bench.now = Timestamp(START + 5);
    assert_eq!(bench.send(finalize(owner, &reserved)), Ok(Reply::Finalized));
    assert_eq!(bench.row(1).phase, phase_after(&reserved, 1, START + 5));
    assert_eq!((&bench.lane.owner, bench.lane.epoch), (&None, Epoch(1)));
}

#[test]
fn dur_002_reservation_conflict_the_first_write_wins() {
    let (mut bench, owner) = Bench::running();
    let reserved = completed(1);
    bench.send(reserve(owner, &reserved)).unwrap();
    assert_eq!(bench.again(reserve(owner, &reserved)), Ok(Reply::Reserved));
    for other in [
        settled(1, Outcome::Completed, "done differently"),
        settled(1, Outcome::Failed, "broke"),
        aborted(1),
    ] {
        assert_eq!(bench.send(reserve(owner, &other)), Err(Refusal::ReservationConflict));
    }
    assert_eq!(bench.row(1).phase, Phase::Terminalizing(reserved.clone()));
    // A successor is bound by it as well.
    bench.expire();
    let next = bench.claim(1, 2).unwrap();
    assert_eq!(bench.row(1).phase, Phase::Terminalizing(reserved.clone()));
    assert_eq!(bench.again(reserve(next, &reserved)), Ok(Reply::Reserved));
    bench.finish(next, &reserved);
}

#[test]
fn dur_011_a_failure_is_reserved_byte_for_byte() {
    let (mut bench, owner) = Bench::running();
    let reserved = settled(1, Outcome::Failed, "broke: \u{0} \u{1F600}");
    bench.send(reserve(owner, &reserved)).unwrap();
    let Phase::Terminalizing(kept) = &bench.row(1).phase else { panic!("not reserved") };
    assert_eq!(kept.record, reserved.record);
    assert_eq!(kept.record.digest(), Ok(kept.digest));
}

#[test]
fn dur_002_settlement_differs_another_rows_settlement_is_not_reserved() {
    let (mut bench, owner) = Bench::running();
    assert_eq!(bench.send(reserve(owner, &completed(2))), Err(Refusal::SettlementDiffers));
}

#[test]
fn dur_012_abort_intended_leaves_only_an_aborted_outcome() {
    let (mut bench, owner) = Bench::running();
    bench.abort(1, "ada").unwrap();
    assert_eq!(bench.send(reserve(owner, &completed(1))), Err(Refusal::AbortIntended));
    let failed = settled(1, Outcome::Failed, "broke");
    assert_eq!(bench.send(reserve(owner, &failed)), Err(Refusal::AbortIntended));
    bench.finish(owner, &aborted(1));
}

#[test]
fn dur_012_no_abort_without_an_intent() {
    let (mut bench, owner) = Bench::running();
    assert_eq!(bench.send(reserve(owner, &aborted(1))), Err(Refusal::NoAbort));
}

#[test]
fn dur_012_an_abort_ends_a_row_in_any_phase() {
    let mut admitted = Bench::new();
    admitted.send(Command::Admit(admission(1, "hello"))).unwrap();
    let owner = admitted.claim(1, 1).unwrap();
    let cases = [(admitted, owner), Bench::claimed(), Bench::running(), Bench::unknown(&[1])];
    for (mut bench, owner) in cases {
        bench.abort(1, "ada").unwrap();
        bench.finish(owner, &aborted(1));
        assert_eq!(bench.row(1).phase, phase_after(&aborted(1), 1, START));
    }
}

#[test]
fn dur_017_unknown_open_a_doubt_forbids_an_outcome_of_its_own() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    let failed = settled(1, Outcome::Failed, "broke");
    assert_eq!(bench.send(reserve(owner, &failed)), Err(Refusal::UnknownOpen));
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    // An intent is not canonical yet.
    assert_eq!(bench.send(reserve(owner, &completed(1))), Err(Refusal::UnknownOpen));
    bench.send(Command::CoverUnknown { owner, doubts: Vec::from([doubt(1)]) }).unwrap();
    bench.finish(owner, &completed(1));
}

#[test]
fn dur_002_not_running_without_input_there_is_no_outcome() {
    let (mut bench, owner) = Bench::claimed();
    assert_eq!(bench.send(reserve(owner, &completed(1))), Err(Refusal::NotRunning));
    let mut admitted = Bench::new();
    admitted.send(Command::Admit(admission(1, "hello"))).unwrap();
    let owner = admitted.claim(1, 1).unwrap();
    assert_eq!(admitted.send(reserve(owner, &completed(1))), Err(Refusal::NotRunning));
}

#[test]
fn case_cr_11_a_lost_finalization_is_answered_as_the_first_time() {
    let (mut bench, owner) = Bench::settled();
    bench.now = Timestamp(START + HOUR);
    assert_eq!(bench.again(finalize(owner, &completed(1))), Ok(Reply::Finalized));
    // And when the lane has long gone on.
    bench.send(Command::Admit(admission(2, "hello"))).unwrap();
    bench.claim(2, 2).unwrap();
    assert_eq!(bench.again(finalize(owner, &completed(1))), Ok(Reply::Finalized));
}

#[test]
fn dur_006_ownership_lost_only_the_epoch_that_finalized_may_say_so_again() {
    let (mut bench, owner) = Bench::settled();
    let lost = Err(Refusal::OwnershipLost { actual: Epoch(1) });
    for epoch in [Epoch(0), Epoch(2)] {
        assert_eq!(bench.send(finalize(Ownership { epoch, ..owner }, &completed(1))), lost);
    }
}

#[test]
fn dur_002_settlement_differs_the_log_and_the_row_must_agree() {
    let (mut bench, owner) = Bench::running();
    let other = settled(1, Outcome::Completed, "done differently");
    bench.send(reserve(owner, &completed(1))).unwrap();
    assert_eq!(bench.send(finalize(owner, &other)), Err(Refusal::SettlementDiffers));
    assert_eq!(bench.send(finalize(owner, &completed(2))), Err(Refusal::SettlementDiffers));
    bench.finish(owner, &completed(1));
    assert_eq!(bench.send(finalize(owner, &other)), Err(Refusal::SettlementDiffers));
}

#[test]
fn dur_002_settlement_differs_another_rows_proof_ends_nothing() {
    let (mut bench, owner) = Bench::running();
    assert_eq!(bench.send(finalize(owner, &completed(2))), Err(Refusal::SettlementDiffers));
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Applied));
}

#[test]
fn dur_015_canonical_history_ends_a_row_that_knows_nothing_of_it() {
    let mut admitted = Bench::new();
    admitted.send(Command::Admit(admission(1, "hello"))).unwrap();
    let owner = admitted.claim(1, 1).unwrap();
    let cases = [(admitted, owner), Bench::claimed(), Bench::running(), Bench::unknown(&[1])];
    for (mut bench, owner) in cases {
        // Not even an intended abort changes what is canonical (DUR-012).
        bench.abort(1, "ada").unwrap();
        assert_eq!(bench.send(finalize(owner, &completed(1))), Ok(Reply::Finalized));
        assert_eq!(bench.row(1).phase, phase_after(&completed(1), 1, START));
    }
}

#[test]
fn dur_002_reserving_at_a_settled_row_is_answered_by_digest() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.abort(1, "ada").unwrap();
    bench.finish(owner, &aborted(1));
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    let errand = bench.claim(1, 2).unwrap();
    assert_eq!(bench.again(reserve(errand, &aborted(1))), Ok(Reply::Reserved));
    assert_eq!(bench.send(reserve(errand, &completed(1))), Err(Refusal::AlreadySettled));
    let lost = Err(Refusal::OwnershipLost { actual: Epoch(2) });
    assert_eq!(bench.send(finalize(errand, &aborted(1))), lost);
    assert_eq!(bench.again(finalize(owner, &aborted(1))), Ok(Reply::Finalized));
}
