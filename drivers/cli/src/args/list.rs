//! The grammar of `everstep submissions list`.

use clap::Args;
use everstep_machine::identity::DurationMs;

use super::operator::Look;
use crate::submissions::Party;

const HELP: &str = "\
Examples:
  everstep submissions list                         what waits for a worker or for a person
  everstep submissions list --all --db shop.db      what is settled as well
  everstep submissions list --waiting-for people --older-than 10m --fail-if-any
                                                    for a watchman: 4 if a person is overdue
  everstep submissions list --json                  for machines";

/// What is listed.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct List {
    /// Settled ones as well
    #[arg(long, conflicts_with_all = ["waiting_for", "older_than", "fail_if_any"])]
    pub(crate) all: bool,
    /// Only those that wait for a person to say something, or for a worker
    #[arg(long, value_name = "WHOM", value_enum)]
    pub(crate) waiting_for: Option<Party>,
    /// Only those that have waited longer than this: a number and s, m, h or d
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) older_than: Option<DurationMs>,
    /// End with 4 if anything is listed
    #[arg(long)]
    pub(crate) fail_if_any: bool,
    /// How to look
    #[command(flatten)]
    pub(crate) look: Look,
}

/// `90s`, `10m`, `2h`, `7d`.
fn time(text: &str) -> Result<DurationMs, &'static str> {
    const WRONG: &str = "it is a whole number and s, m, h or d, such as 10m";
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit_ms = match &text[digits.len()..] {
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(WRONG),
    };
    let number: u64 = digits.parse().map_err(|_| WRONG)?;
    number.checked_mul(unit_ms).map(DurationMs).ok_or("it is too long")
}

#[cfg(test)]
mod tests {
    use everstep_machine::identity::DurationMs;

    use super::time;

    #[test]
    fn dur_017_a_time_is_a_number_and_a_unit() {
        let good = [("90s", 90_000), ("10m", 600_000), ("10min", 600_000), ("2h", 7_200_000)];
        for (text, ms) in good.into_iter().chain([("7d", 604_800_000), ("0s", 0)]) {
            assert_eq!(time(text), Ok(DurationMs(ms)), "{text}");
        }
        let most = format!("{}d", u64::MAX);
        for text in ["", "10", "m", "-1s", "1.5h", "1 m", "m10", "10ms", "٣s", &most] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
