//! Each rule by itself.

use super::*;
use crate::limits::RESERVED_AMOUNT;

#[test]
fn sub_010_what_is_reserved_is_nobody_elses_and_what_is_left_comes_back_once() {
    let mut state = budget(100);
    assert_eq!(tell(&mut state, reserve(1, Owner::Root, 60)), [Effect::Admit(id(1))]);
    assert_eq!(tokens(&state, Owner::Root), [40, 60, 0, 0]);
    let more = refused(&mut state, reserve(2, Owner::Root, 41));
    assert_eq!(more, Refusal::Exhausted(Dimension::Turns), "two never share a remainder");
    tell(&mut state, report(child(1), 25));
    assert_eq!(tokens(&state, Owner::Root), [40, 35, 25, 0]);
    assert_eq!(refused(&mut state, Input::Release(id(1))), Refusal::NotSettled);
    let released = Amounts::all(60).with(Dimension::InputTokens, 30).with(Dimension::Children, 0);
    let pending = [Effect::Release { reservation: id(1), released }];
    assert_eq!(tell(&mut state, settle(1, 30)), pending);
    assert_eq!(tell(&mut state, settle(1, 30)), pending, "asked twice");
    assert_eq!(tokens(&state, Owner::Root), [40, 30, 30, 0], "nothing has gone back yet");
    for _ in 0..2 {
        assert_eq!(tell(&mut state, Input::Release(id(1))), []);
        assert_eq!(tokens(&state, Owner::Root), [70, 0, 30, 0]);
    }
    assert!(state.is_complete(Owner::Root));
}

#[test]
fn sub_010_a_reservation_is_named_once_and_only_for_what_it_is() {
    let (run, call) = (RunId([1; 16]), ToolCallId([2; 16]));
    let derived = ReservationId::derive(run, call);
    assert_eq!(derived, ReservationId::derive(run, call));
    assert_ne!(derived, ReservationId::derive(run, ToolCallId([3; 16])));
    let (some, other) = (Amounts::all(1), Amounts::all(1).with(Dimension::Artifacts, 2));
    assert_eq!(some.digest(derived), some.digest(derived));
    assert_ne!(some.digest(derived), other.digest(derived));
    assert_ne!(some.digest(derived), some.digest(id(1)));
    let mut state = budget(100);
    for _ in 0..2 {
        assert_eq!(tell(&mut state, reserve(1, Owner::Root, 10)), [Effect::Admit(id(1))]);
        assert_eq!(tokens(&state, Owner::Root), [90, 10, 0, 0]);
    }
    assert_eq!(refused(&mut state, reserve(1, Owner::Root, 11)), Refusal::Another);
    tell(&mut state, reserve(2, Owner::Root, 10));
    assert_eq!(refused(&mut state, reserve(1, child(2), 10)), Refusal::Another);
}

#[test]
fn bu_01_bu_03_each_unit_is_charged_once_to_each_ancestor() {
    let mut state = State::new(Limits { cap: Amounts::all(100), at_once: 4, depth: 3 });
    let with = |number, parent, amount: u64| Input::Reserve {
        reservation: id(number),
        parent,
        allocation: Amounts::all(amount),
    };
    tell(&mut state, with(1, Owner::Root, 50));
    tell(&mut state, with(2, child(1), 20));
    tell(&mut state, with(3, Owner::Root, 30));
    for _ in 0..3 {
        tell(&mut state, report(Owner::Root, 1));
        tell(&mut state, report(child(1), 10));
        tell(&mut state, report(child(2), 7));
        tell(&mut state, report(child(3), 2));
        let all = [Owner::Root, child(1), child(2), child(3)];
        let observed = all.map(|owner| tokens(&state, owner)[2]);
        assert_eq!(observed, [20, 17, 7, 2], "however often it is said");
    }
    let children = |owner| state.account(owner).unwrap().observed[Dimension::Children];
    assert_eq!([Owner::Root, child(1), child(2)].map(children), [3, 1, 0]);
    assert!(!state.is_complete(Owner::Root), "they have not ended");
    assert_eq!(refused(&mut state, settle(1, 10)), Refusal::OpenChildren);
    tell(&mut state, settle(2, 9));
    assert_eq!(refused(&mut state, settle(1, 10)), Refusal::OpenChildren, "not given back yet");
    tell(&mut state, Input::Release(id(2)));
    tell(&mut state, settle(1, 10));
    tell(&mut state, Input::Release(id(1)));
    assert_eq!(tokens(&state, Owner::Root), [50, 28, 22, 0]);
}

#[test]
fn bu_05_usage_is_cumulative_and_what_comes_late_or_twice_is_not_charged_again() {
    let mut state = budget(100);
    tell(&mut state, reserve(1, Owner::Root, 50));
    for (said, observed) in [(5, 5), (5, 5), (12, 12), (7, 12), (12, 12), (30, 30)] {
        tell(&mut state, report(child(1), said));
        assert_eq!(tokens(&state, Owner::Root), [50, 50 - observed, observed, 0]);
    }
}

#[test]
fn bu_07_bu_09_what_nobody_has_reported_counts_as_used_up_whole() {
    let mut state = budget(100);
    tell(&mut state, reserve(1, Owner::Root, 40));
    tell(&mut state, report(child(1), 15));
    tell(&mut state, Input::Settle { reservation: id(1), used: Used::default() });
    tell(&mut state, Input::Release(id(1)));
    assert_eq!(tokens(&state, Owner::Root), [85, 0, 15, 0], "the last that was said");
    let cost = |state: &State| {
        let it = state.account(Owner::Root).unwrap();
        [it.available, it.observed].map(|amounts| amounts[Dimension::CostMicros])
    };
    assert_eq!(cost(&state), [60, 40], "nobody has said what it cost");
    assert!(!state.is_complete(Owner::Root), "and so it is flagged");
    let said = |amount| Used::default().with(Dimension::CostMicros, amount);
    tell(&mut state, Input::Report { owner: child(1), used: said(3) });
    assert_eq!(cost(&state), [60, 40], "less is no reason to give anything back");
    assert!(!state.is_complete(Owner::Root));
    // What is known of every other dimension by now, and more than was assumed of this one.
    let used = Used::of(Amounts::all(40)).with(Dimension::CostMicros, 44);
    tell(&mut state, Input::Report { owner: child(1), used });
    assert_eq!(cost(&state), [60, 44]);
    assert!(state.is_complete(Owner::Root));
}

#[test]
fn sub_010_what_is_used_beyond_a_reservation_is_charged_and_blocks_new_work() {
    let mut state = budget(100);
    tell(&mut state, reserve(1, Owner::Root, 20));
    tell(&mut state, reserve(2, Owner::Root, 20));
    tell(&mut state, report(child(1), 35));
    assert_eq!(tokens(&state, Owner::Root), [60, 20, 35, 15], "it is not cut to fit");
    let it = state.reservation(id(1)).unwrap();
    let amounts = [it.covered, it.overrun].map(|amounts| amounts[Dimension::InputTokens]);
    assert_eq!(amounts, [20, 15]);
    let over = Refusal::Exhausted(Dimension::InputTokens);
    assert_eq!(refused(&mut state, reserve(3, Owner::Root, 1)), over);
    tell(&mut state, settle(1, 35));
    tell(&mut state, Input::Release(id(1)));
    assert_eq!(refused(&mut state, reserve(3, Owner::Root, 1)), over, "then too");
    assert_eq!(tell(&mut state, reserve(2, Owner::Root, 20)), [Effect::Admit(id(2))]);
}

#[test]
fn sub_010_a_correction_after_the_release_takes_back_what_is_still_there() {
    let mut state = budget(100);
    tell(&mut state, reserve(1, Owner::Root, 50));
    tell(&mut state, settle(1, 10));
    tell(&mut state, report(child(1), 20));
    assert_eq!(tokens(&state, Owner::Root), [50, 30, 20, 0], "before it");
    tell(&mut state, Input::Release(id(1)));
    tell(&mut state, report(child(1), 25));
    assert_eq!(tokens(&state, Owner::Root), [75, 0, 25, 0]);
    tell(&mut state, reserve(2, Owner::Root, 73));
    tell(&mut state, report(child(1), 40));
    assert_eq!(tokens(&state, Owner::Root), [0, 73, 40, 13], "the rest is an overrun");
    assert_eq!(tokens(&state, child(2)), [73, 0, 0, 0], "and the other child keeps what it has");
}

#[test]
fn sub_010_children_are_bounded_in_number_at_once_and_in_depth() {
    let mut state = State::new(Limits {
        cap: Amounts::all(100).with(Dimension::Children, 3),
        at_once: 2,
        depth: 1,
    });
    tell(&mut state, reserve(1, Owner::Root, 1));
    tell(&mut state, reserve(2, Owner::Root, 1));
    assert_eq!(refused(&mut state, reserve(3, Owner::Root, 1)), Refusal::AtOnce);
    assert_eq!(refused(&mut state, reserve(3, child(1), 0)), Refusal::TooDeep, "SUB-029");
    tell(&mut state, settle(1, 0));
    assert_eq!(refused(&mut state, reserve(3, child(1), 0)), Refusal::Ended);
    tell(&mut state, reserve(3, Owner::Root, 1));
    tell(&mut state, settle(2, 0));
    let none = refused(&mut state, reserve(4, Owner::Root, 1));
    assert_eq!(none, Refusal::Exhausted(Dimension::Children), "one that has ended counts too");
}

#[test]
fn sub_010_what_is_unknown_too_large_or_not_reported_is_refused_by_name() {
    let mut state = budget(u64::MAX);
    assert_eq!(state.account(Owner::Root).unwrap().cap[Dimension::Turns], RESERVED_AMOUNT);
    assert_eq!(refused(&mut state, report(child(1), 1)), Refusal::Unknown);
    assert_eq!(refused(&mut state, settle(1, 1)), Refusal::Unknown);
    assert_eq!(refused(&mut state, Input::Release(id(1))), Refusal::Unknown);
    assert_eq!(refused(&mut state, reserve(2, child(1), 1)), Refusal::Unknown);
    let large = report(Owner::Root, RESERVED_AMOUNT + 1);
    assert_eq!(refused(&mut state, large), Refusal::TooLarge);
    let used = Used::default().with(Dimension::Children, 1);
    let counted = refused(&mut state, Input::Report { owner: Owner::Root, used });
    assert_eq!(counted, Refusal::Counted);
    let most = Input::Reserve {
        reservation: id(1),
        parent: Owner::Root,
        allocation: Amounts::all(u64::MAX),
    };
    assert!(matches!(refused(&mut state, most), Refusal::Exhausted(_)));
}
