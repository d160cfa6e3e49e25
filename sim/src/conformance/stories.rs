//! Scripts that are written down: together they meet every command and every refusal.

use super::acts::{Act, Ending, Fact, Line, Proof, RETRIES, Verb, View};

const MINUTE: i64 = 60_000;

/// More batches than a page holds.
const LONG: u16 = 1_030;

/// Each with a few ideas of its own.
pub(super) fn all() -> Vec<Vec<Line>> {
    vec![
        life(),
        reopened(),
        ownership(),
        admission(),
        endings(),
        joining(),
        approvals(),
        giving_up(),
        bindings(),
        log(),
        fences(),
        unclaimed(),
        pages(),
    ]
}

/// A run that has its input, in one pipeline.
pub(super) fn begun() -> Vec<Line> {
    let acts = vec![
        admit(0),
        materialize(),
        Act::Ready(0),
        claim(),
        fence(0),
        append(vec![Fact::Input(0)]),
        own(Verb::MarkInput),
    ];
    vec![Line::Send { by: 0, lane: 0, acts }]
}

fn admit(row: u8) -> Act {
    Act::Admit(row, "hello")
}

fn materialize() -> Act {
    Act::Materialize { skew: 0, agent: "clerk" }
}

fn claim() -> Act {
    Act::Claim { row: None, behind: 0, reuse: None }
}

fn fence(skew: i64) -> Act {
    Act::Fence { skew, tail: 0 }
}

fn append(facts: Vec<Fact>) -> Act {
    Act::Append { skew: 0, tail: 0, facts }
}

fn own(verb: Verb) -> Act {
    Act::Own(Proof::default(), verb)
}

/// Each act in a pipeline of its own, by one handle and the other in turn, and again by the next.
fn each(acts: Vec<Act>) -> Vec<Line> {
    let lines = acts.into_iter().enumerate().flat_map(|(at, act)| {
        let by = at % 2;
        [Line::Send { by, lane: 0, acts: vec![act] }, Line::Again { by: 1 - by }]
    });
    lines.collect()
}

/// From admission to settlement, and what can be said afterwards.
fn life() -> Vec<Line> {
    each(vec![
        admit(0),
        materialize(),
        Act::Ready(0),
        Act::ReadLane(View::Claimable),
        claim(),
        fence(0),
        append(vec![Fact::Input(0)]),
        own(Verb::MarkInput),
        own(Verb::Renew(90_000)),
        own(Verb::Reserve(Ending::Completed)),
        append(vec![Fact::Settled(0, Ending::Completed)]),
        own(Verb::Finalize(Ending::Completed)),
        own(Verb::Finalize(Ending::Failed)),
        Act::ReadLane(View::Submission(0)),
        Act::Retry(0, "ada"),
        Act::Abort(0, "ada"),
        Act::Admit(0, "other"),
        Act::Trespass(0),
        Act::Trespass(3),
        Act::Materialize { skew: 0, agent: "chef" },
        Act::ReadLog(1),
    ])
}

/// Each handle is closed as soon as it was answered.
fn reopened() -> Vec<Line> {
    let mut lines = begun();
    lines.push(Line::Reopen(0));
    lines.push(Line::Send { by: 1, lane: 0, acts: vec![own(Verb::Renew(90_000))] });
    lines.extend([Line::Reopen(1), Line::Restart]);
    lines
}

fn ownership() -> Vec<Line> {
    each(vec![
        Act::Ready(3),
        admit(0),
        admit(1),
        materialize(),
        Act::Ready(0),
        Act::Ready(1),
        Act::Claim { row: Some(1), behind: 0, reuse: None },
        claim(),
        claim(),
        own(Verb::Release),
        Act::Claim { row: None, behind: 1, reuse: None },
        claim(),
        Act::Own(Proof { age: 0, forged: true }, Verb::Renew(1)),
        Act::Own(Proof { age: 1, forged: false }, Verb::MarkInput),
        own(Verb::MarkInput),
        own(Verb::Release),
    ])
}

/// Claimed before its admission is finished.
fn admission() -> Vec<Line> {
    each(vec![
        admit(0),
        claim(),
        own(Verb::MarkInput),
        materialize(),
        Act::Ready(0),
        own(Verb::MarkInput),
        Act::ReadLane(View::Owned(0)),
    ])
}

fn endings() -> Vec<Line> {
    let mut lines = begun();
    lines.extend(each(vec![
        own(Verb::Reserve(Ending::Aborted)),
        own(Verb::Reserve(Ending::GivenUp)),
        own(Verb::MarkUnknown(vec![0, 1])),
        own(Verb::Reserve(Ending::Completed)),
        Act::Resolve(0, 2, true),
        Act::Resolve(0, 0, true),
        Act::Resolve(0, 0, false),
        own(Verb::CoverUnknown(vec![0, 1])),
        Act::Resolve(0, 1, false),
        own(Verb::CoverUnknown(vec![0, 1])),
        Act::Retry(0, "ada"),
        Act::Ramble(0),
        Act::Abort(0, "bob"),
        own(Verb::Reserve(Ending::Completed)),
        own(Verb::Reserve(Ending::Aborted)),
        own(Verb::Reserve(Ending::Failed)),
        Act::Steer { row: 1, host: 0, strange: false },
        append(vec![Fact::Settled(0, Ending::Aborted)]),
        own(Verb::Finalize(Ending::Completed)),
        own(Verb::Finalize(Ending::Aborted)),
    ]));
    lines
}

fn joining() -> Vec<Line> {
    let mut lines = begun();
    lines.extend(each(vec![
        admit(1),
        admit(2),
        Act::Ready(1),
        Act::Ready(2),
        own(Verb::Join(2)),
        own(Verb::Join(1)),
        own(Verb::RevertJoin(1)),
        own(Verb::Join(1)),
        own(Verb::MarkJoined(1)),
        own(Verb::RevertJoin(1)),
        Act::Abort(1, "ada"),
        Act::Steer { row: 3, host: 0, strange: true },
        Act::Steer { row: 3, host: 0, strange: false },
        Act::Ready(3),
        Act::ReadLane(View::Run(0)),
        Act::ReadLane(View::Owned(0)),
        own(Verb::Finalize(Ending::Completed)),
        append(vec![Fact::Settled(0, Ending::Completed), Fact::Settled(1, Ending::Completed)]),
        own(Verb::SettleJoined(2, Ending::Completed)),
        own(Verb::SettleJoined(1, Ending::Completed)),
        own(Verb::Finalize(Ending::Completed)),
    ]));
    lines
}

fn approvals() -> Vec<Line> {
    let mut lines = begun();
    lines.extend(each(vec![
        own(Verb::Suspend(vec![0, 1, 2])),
        Act::Decide(0, 9, true, "bob"),
        Act::Decide(0, 1, true, "bob"),
        Act::Decide(0, 1, true, "ada"),
        own(Verb::Expire(vec![0])),
        Act::Decide(0, 2, true, "bob"),
        Act::Decide(0, 2, false, "bob"),
    ]));
    lines.push(Line::Clock(MINUTE));
    lines.extend(each(vec![
        Act::Decide(0, 0, true, "ada"),
        own(Verb::Expire(vec![0])),
        own(Verb::CoverApprovals(vec![0, 1, 2])),
        Act::ReadLane(View::Claimable),
    ]));
    lines
}

/// One owner after the other dies in vain, and what is given up is tried again.
fn giving_up() -> Vec<Line> {
    let mut lines = begun();
    for _ in 0..6 {
        lines.push(Line::Clock(60 * MINUTE));
        lines.push(Line::Send { by: 1, lane: 0, acts: vec![claim()] });
    }
    lines.extend(each(vec![
        own(Verb::Reserve(Ending::GivenUp)),
        own(Verb::Finalize(Ending::GivenUp)),
        Act::Retry(0, "ada"),
        Act::Retry(0, "bob"),
        Act::ReadLane(View::Submission(RETRIES)),
        claim(),
    ]));
    lines
}

/// Somebody comes with another binding, a person has the run bound to it, and it goes on.
fn bindings() -> Vec<Line> {
    let report = |found, behind| Act::Report { row: 0, at: 1, found, behind };
    let rebind = |at, to, who| Act::Rebind { row: 0, at, to, who };
    let mut lines = begun();
    lines.extend(each(vec![
        rebind(1, 1, "ada"),
        report(1, 0),
        own(Verb::Release),
        report(1, 1),
        report(1, 0),
        report(2, 0),
        rebind(0, 2, "ada"),
        rebind(1, 0, "ada"),
        rebind(1, 2, "ada"),
        rebind(1, 1, "bob"),
        Act::ReadLane(View::Submission(0)),
        claim(),
        own(Verb::CoverIncompatible),
        rebind(1, 1, "bob"),
        rebind(1, 2, "bob"),
        own(Verb::Release),
        report(2, 0),
    ]));
    lines
}

fn log() -> Vec<Line> {
    each(vec![
        append(vec![Fact::Input(0)]),
        fence(0),
        Act::ReadLog(0),
        materialize(),
        append(vec![Fact::Input(0)]),
        Act::Append { skew: 0, tail: 1, facts: vec![Fact::Input(1)] },
        append(vec![Fact::Input(1), Fact::Input(1)]),
        append(vec![Fact::Input(0), Fact::Input(1)]),
        append(vec![Fact::Creation]),
        Act::Stray(2),
        append(vec![Fact::Settled(0, Ending::Completed)]),
        append(vec![Fact::Settled(0, Ending::Failed)]),
        Act::ReadLog(0),
    ])
}

/// Who was superseded writes nothing, and is not told that its work is there.
fn fences() -> Vec<Line> {
    each(vec![
        materialize(),
        append(vec![Fact::Input(0)]),
        Act::Append { skew: 1, tail: 0, facts: vec![Fact::Input(1)] },
        Act::Fence { skew: 2, tail: 1 },
        fence(2),
        fence(1),
        Act::Append { skew: -2, tail: 0, facts: vec![Fact::Input(1)] },
        Act::Append { skew: -2, tail: 0, facts: vec![Fact::Input(0)] },
        append(vec![Fact::Input(0)]),
        append(vec![Fact::Input(1)]),
    ])
}

/// Two writers of one log that nobody has claimed: the log alone keeps the second one out (CR-03).
fn unclaimed() -> Vec<Line> {
    each(vec![
        materialize(),
        append(vec![Fact::Recovery(0, 1)]),
        Act::Append { skew: 0, tail: 1, facts: vec![Fact::Recovery(0, 2)] },
        Act::Append { skew: 0, tail: 1, facts: vec![Fact::Recovery(0, 1)] },
        Act::Append { skew: 0, tail: 1, facts: vec![Fact::Recovery(0, 2), Fact::Recovery(0, 1)] },
    ])
}

/// A log of more than one page.
fn pages() -> Vec<Line> {
    let mut lines = each(vec![materialize()]);
    let numbers: Vec<u16> = (0..LONG).collect();
    for (at, chunk) in numbers.chunks(103).enumerate() {
        let acts = chunk.iter().map(|number| append(vec![Fact::Recovery(0, *number)]));
        lines.push(Line::Send { by: at % 2, lane: 0, acts: acts.collect() });
    }
    lines.extend(each(vec![Act::ReadLog(0), Act::ReadLog(2), Act::ReadLog(u64::from(LONG))]));
    lines
}
