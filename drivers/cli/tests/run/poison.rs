//! A line that dies whenever it is run.

use everstep_machine::limits::FRUITLESS_CLAIMS;

use super::{charges, desk, everstep, killed, line, says};

#[test]
fn dur_018_case_rt_03_a_line_that_always_dies_is_given_up_listed_and_in_nobody_s_way() {
    let home = desk();
    let at = home.path();
    // The first process records the input: it does not die in vain.
    for _ in 0..=FRUITLESS_CLAIMS {
        killed(at, "model.call/during");
    }
    let ran = line(at, &["--lease-ms", "100"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("failed: Poison: 5 attempts in a row"), "{}", ran.out);
    says(&everstep(at, &["submissions", "list"]), &["given up", "cashier"]);
    assert_eq!(charges(at), 0);
    says(&line(at, &["--key", "other"]), &["The charge went through."]);
    assert_eq!(charges(at), 1);
    assert_eq!(line(at, &[]).code, 1, "it stays as it ended");
    says(&everstep(at, &["submissions", "list"]), &["given up"]);
    says(&everstep(at, &["log", "verify"]), &["good"]);
}
