//! Fingerprints of values and memos.

use super::{Memo, Printed, of};

#[test]
fn equal_values_have_equal_fingerprints_and_others_do_not() {
    assert_eq!(of(&(1_u8, "a")), of(&(1_u8, "a")));
    assert_ne!(of(&(1_u8, "a")), of(&(2_u8, "a")));
    let (left, right) = ((of(&7_u64) >> 64) as u64, of(&7_u64) as u64);
    assert_ne!(left, right, "the halves are hashed under different seeds");
}

#[test]
fn a_fingerprint_is_the_same_in_every_run() {
    assert_eq!(of(&0x0123_4567_89ab_cdef_u64), GOLDEN);
}

const GOLDEN: u128 = 320_694_945_188_649_044_503_854_957_571_499_107_412;

#[test]
fn a_memo_asks_once_until_it_is_cleared() {
    let mut memo = Memo::new();
    assert_eq!(memo.get_or(|| (1 << 64) | 2), (1 << 64) | 2);
    assert_eq!(memo.get_or(|| 9), (1 << 64) | 2);
    assert_eq!(memo.clone().get_or(|| 9), (1 << 64) | 2);
    memo.clear();
    assert_eq!(memo.get_or(|| (3 << 64) | 4), (3 << 64) | 4);
}

#[test]
fn a_printed_value_that_changes_is_printed_again() {
    let mut printed = Printed::new(vec![1]);
    let before = of(&printed);
    assert_eq!(of(&printed.clone()), before);
    printed.push(2);
    assert_ne!(of(&printed), before);
    printed.pop();
    assert_eq!(of(&printed), before);
    assert_eq!(printed.replace(vec![5]), [1]);
}
