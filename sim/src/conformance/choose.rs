//! Scripts by chance: mostly sensible, sometimes stale or absurd, so that whole histories happen
//! and refusals do too.

use super::acts::{Act, Ending, Fact, Line, Proof, RETRIES, Row, Verb, View};
use super::draw::Draw;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// A script of so many lines.
pub(super) fn script(draw: &mut Draw, lines: i64) -> Vec<Line> {
    draw.several(lines, lines, line)
}

fn line(draw: &mut Draw) -> Line {
    let by = usize::from(draw.percent(35));
    let lane = draw.below(2);
    match draw.below(22) {
        0..9 => Line::Send { by, lane, acts: acts(draw) },
        9..12 => Line::Crash { by, lane, acts: acts(draw), at: usize::from(draw.below(6)) },
        12..14 => Line::Again { by },
        14..17 => {
            Line::Together { by, pipelines: draw.several(2, 5, |it| (it.below(2), acts(it))) }
        }
        17..20 => Line::Clock(jump(draw)),
        20 => Line::Reopen(by),
        _ => Line::Restart,
    }
}

fn jump(draw: &mut Draw) -> i64 {
    match draw.below(10) {
        0..6 => draw.between(0, MINUTE),
        6 => -60 * MINUTE,
        7 => 30 * DAY,
        _ => draw.between(-10 * MINUTE, 10 * MINUTE),
    }
}

fn acts(draw: &mut Draw) -> Vec<Act> {
    draw.several(1, 5, act)
}

/// One act of anybody.
pub(super) fn act(draw: &mut Draw) -> Act {
    match draw.below(59) {
        // No client can name what tries another one again.
        0..3 if draw.percent(1) => Act::Trespass(draw.below(4)),
        0..3 => Act::Admit(draw.below(4), if draw.percent(83) { "hello" } else { "other" }),
        3..5 => Act::Steer { row: draw.below(4), host: draw.below(4), strange: draw.percent(10) },
        5..7 => Act::Materialize {
            skew: skew(draw),
            agent: if draw.percent(80) { "clerk" } else { "chef" },
        },
        7..9 => Act::Ready(row(draw)),
        9..15 => claim(draw),
        15..19 => Act::Fence { skew: skew(draw), tail: seen(draw) },
        19..27 => append(draw),
        27..43 => own(draw),
        43 => Act::Abort(row(draw), person(draw)),
        44..46 => Act::Resolve(row(draw), draw.below(3), draw.percent(50)),
        46..48 => Act::Decide(row(draw), draw.below(3), draw.percent(50), person(draw)),
        48..51 => Act::Retry(row(draw), person(draw)),
        51..53 => Act::ReadLane(view(draw)),
        53..55 => Act::Report {
            row: row(draw),
            at: draw.below(2),
            found: draw.below(3),
            behind: u64::from(draw.percent(14)),
        },
        55..57 => {
            Act::Rebind { row: row(draw), at: draw.below(2), to: draw.below(3), who: person(draw) }
        }
        _ => Act::ReadLog(u64::from(draw.below(12))),
    }
}

/// An act that two writers of one lane may not both succeed with.
pub(super) fn contested(draw: &mut Draw) -> Act {
    match draw.below(8) {
        0..2 => Act::Claim { row: None, behind: 0, reuse: None },
        2..6 => Act::Append { skew: 0, tail: 0, facts: facts(draw) },
        6 => Act::Fence { skew: 0, tail: 0 },
        _ => act(draw),
    }
}

fn row(draw: &mut Draw) -> Row {
    draw.below(4) + if draw.percent(14) { RETRIES } else { 0 }
}

fn person(draw: &mut Draw) -> &'static str {
    if draw.percent(50) { "ada" } else { "bob" }
}

fn skew(draw: &mut Draw) -> i64 {
    if draw.percent(83) { 0 } else { draw.between(-2, 2) }
}

/// How many answers ago something was seen.
fn seen(draw: &mut Draw) -> usize {
    if draw.percent(83) { 0 } else { usize::from(draw.below(4)) }
}

fn claim(draw: &mut Draw) -> Act {
    Act::Claim {
        row: draw.percent(20).then(|| row(draw)),
        behind: if draw.percent(86) { 0 } else { u64::from(draw.below(3)) },
        reuse: draw.percent(10).then(|| 1 + draw.below(5)),
    }
}

fn append(draw: &mut Draw) -> Act {
    if draw.percent(3) {
        return Act::Stray(row(draw));
    }
    Act::Append { skew: skew(draw), tail: seen(draw), facts: facts(draw) }
}

fn facts(draw: &mut Draw) -> Vec<Fact> {
    draw.several(1, 3, |draw| match draw.below(13) {
        0..6 => Fact::Input(draw.below(24)),
        6..9 => Fact::Settled(draw.below(4), ending(draw)),
        9..12 => Fact::Recovery(draw.below(4), u16::from(draw.below(6))),
        _ => Fact::Creation,
    })
}

fn ending(draw: &mut Draw) -> Ending {
    let (most, one) = (4, 1);
    draw.weighted(&[
        (most, Ending::Completed),
        (one, Ending::Failed),
        (one, Ending::Aborted),
        (one, Ending::GivenUp),
    ])
}

fn own(draw: &mut Draw) -> Act {
    let proof = Proof { age: seen(draw), forged: draw.percent(8) };
    Act::Own(proof, verb(draw))
}

fn verb(draw: &mut Draw) -> Verb {
    let some = |draw: &mut Draw| draw.several(0, 2, |draw| draw.below(3));
    match draw.below(38) {
        0..2 => Verb::Renew(u64::from(draw.below(90)) * 1_000),
        2 => Verb::Release,
        3..8 => Verb::MarkInput,
        8..10 => Verb::MarkUnknown(some(draw)),
        10..13 => Verb::CoverUnknown(some(draw)),
        13..15 => Verb::Suspend(some(draw)),
        15 => Verb::Expire(some(draw)),
        16..19 => Verb::CoverApprovals(some(draw)),
        19..22 => Verb::Join(draw.below(4)),
        22..24 => Verb::MarkJoined(draw.below(4)),
        24 => Verb::RevertJoin(draw.below(4)),
        25..27 => Verb::SettleJoined(draw.below(4), ending(draw)),
        36..38 => Verb::CoverIncompatible,
        27..31 => Verb::Reserve(ending(draw)),
        _ => Verb::Finalize(ending(draw)),
    }
}

fn view(draw: &mut Draw) -> View {
    let row = row(draw);
    let views = [View::Claimable, View::Submission(row), View::Owned(row), View::Run(row)];
    views[usize::from(draw.below(4))]
}
