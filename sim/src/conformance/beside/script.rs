//! Scripts: what somebody does, said without knowing the state.

use everstep_machine::agent_state::{Whose, WriteClass};

use crate::conformance::acts::Handle;
use crate::conformance::draw::Draw;

/// A line of a script.
#[derive(Clone, Debug)]
pub(super) enum Line {
    /// An act by one of the two handles.
    Do(Handle, Act),
    /// What was asked last, by this handle.
    Again(Handle),
    /// A process dies in an act, at the failpoint with this number if it has so many.
    Crash(Handle, Act, usize),
    /// The clock moves, in milliseconds.
    Clock(i64),
    /// Both handles are closed and opened again.
    Restart,
}

/// Something that somebody does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// The next submission is accepted, claimed, fenced and begun.
    Begin,
    /// The lane is claimed again for what is under way, and fenced.
    TakeOver,
    /// The lane is let go.
    LetGo,
    /// It is claimed again, and the log is left at its old epoch.
    ClaimOnly,
    /// A call starts.
    Start(u8),
    /// A call ends.
    End(u8, How),
    /// The start of a call is in doubt.
    Doubt(u8),
    /// And the doubt is closed, by somebody who says that it never started.
    Resolve(u8),
    /// The submission settles.
    Settle,
    /// A call reads, as a start of so many epochs ago.
    Get { call: u8, ago: u64, whose: Whose, key: u8 },
    /// A call writes.
    Put { call: u8, ago: u64, class: WriteClass, key: u8, follows: Follows, text: Text },
    /// Somebody writes who is no call.
    Set { class: WriteClass, key: u8, follows: Follows, text: Text },
    /// A session is made.
    Create { name: u8, point: Point },
    /// A session is changed.
    Update { name: u8, stale: bool, point: Point },
    /// A session is deleted.
    Delete { name: u8, stale: bool },
}

/// How a call ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Well,
    Badly,
    /// With a result that is kept as an artifact.
    Large,
}

/// What a writer says was there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Follows {
    What,
    Nothing,
    Older,
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Text {
    Short(u8),
    TooLong,
    Removal,
}

/// Where a session points to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Point {
    One(u8),
    Away(u8),
    Twice,
    TooMany,
    TooMuch,
}

fn put(call: u8, class: WriteClass, key: u8, text: Text) -> Act {
    Act::Put { call, ago: 0, class, key, follows: Follows::What, text }
}

/// Every command and every refusal that a script can meet.
pub(super) fn written() -> Vec<Vec<Line>> {
    vec![each(state()), each(refused()), each(sessions()), many()]
}

fn each(acts: Vec<Act>) -> Vec<Line> {
    let lines = acts.into_iter().enumerate().flat_map(|(at, act)| {
        let by = at % 2;
        [Line::Do(by, act), Line::Again(1 - by)]
    });
    lines.collect()
}

/// The four classes, through success, failure and a doubt.
fn state() -> Vec<Act> {
    let mut acts = Vec::new();
    for end in [Act::End(0, How::Well), Act::End(0, How::Badly), Act::Doubt(0)] {
        acts.extend([Act::Begin, Act::Start(0)]);
        let classes = WriteClass::ALL.into_iter().zip(0..);
        acts.extend(classes.map(|(class, key)| put(0, class, key, Text::Short(key))));
        let reads = [Whose::Agent, Whose::Run]
            .into_iter()
            .flat_map(|whose| (0..4).map(move |key| Act::Get { call: 0, ago: 0, whose, key }));
        acts.extend(reads);
        acts.extend([end, Act::End(1, How::Large), Act::Settle, Act::Resolve(0)]);
    }
    acts
}

fn refused() -> Vec<Act> {
    let class = WriteClass::Canonical;
    let wrong =
        |follows| Act::Put { call: 1, ago: 0, class, key: 1, follows, text: Text::Short(1) };
    vec![
        put(0, class, 0, Text::Short(0)),
        Act::Begin,
        put(0, class, 0, Text::Short(0)),
        Act::Start(0),
        Act::Start(1),
        put(0, class, 0, Text::Short(0)),
        put(0, class, 0, Text::Short(1)),
        put(1, class, 0, Text::Short(0)),
        put(1, class, 1, Text::Removal),
        put(1, class, 1, Text::TooLong),
        wrong(Follows::Older),
        Act::Set { class, key: 1, follows: Follows::What, text: Text::Short(1) },
        Act::ClaimOnly,
        put(1, class, 1, Text::Short(0)),
        Act::TakeOver,
        Act::Put { call: 0, ago: 1, class, key: 0, follows: Follows::What, text: Text::Short(0) },
        Act::Start(0),
        put(0, class, 0, Text::Short(0)),
        Act::End(0, How::Well),
        put(0, class, 2, Text::Short(0)),
        Act::Settle,
    ]
}

fn sessions() -> Vec<Act> {
    let update = |stale, point| Act::Update { name: 0, stale, point };
    vec![
        update(false, Point::One(0)),
        Act::Create { name: 0, point: Point::One(0) },
        Act::Create { name: 0, point: Point::One(1) },
        update(false, Point::One(1)),
        update(true, Point::One(1)),
        update(false, Point::Twice),
        update(false, Point::Away(1)),
        update(false, Point::Away(1)),
        update(false, Point::TooMany),
        update(false, Point::TooMuch),
        Act::Delete { name: 0, stale: true },
        Act::Delete { name: 0, stale: false },
        Act::Create { name: 0, point: Point::One(0) },
    ]
}

/// As many keys as one call may write, and one more.
fn many() -> Vec<Line> {
    let keys = u8::try_from(everstep_machine::limits::CALL_STATE_WRITES).unwrap_or(u8::MAX - 1);
    let begun = [Act::Begin, Act::Start(0)];
    let writes = (0..=keys).map(|key| put(0, WriteClass::Compensatable, key, Text::Short(0)));
    let ends = [Act::End(0, How::Badly), Act::Settle];
    begun.into_iter().chain(writes).chain(ends).map(|act| Line::Do(0, act)).collect()
}

/// A script of this seed.
pub(super) fn drawn(draw: &mut Draw, acts: i64) -> Vec<Line> {
    draw.several(acts / 2, acts, |draw| {
        let by = usize::from(draw.below(2));
        match draw.below(20) {
            0 => Line::Restart,
            1 => Line::Clock(draw.between(-20_000, 40_000)),
            2 | 3 => Line::Again(by),
            4 | 5 => {
                let at = usize::from(draw.below(8));
                Line::Crash(by, any(draw), at)
            }
            _ => Line::Do(by, any(draw)),
        }
    })
}

fn any(draw: &mut Draw) -> Act {
    let call = draw.below(2);
    let key = draw.below(3);
    let ago = u64::from(draw.percent(12));
    let name = draw.below(2);
    let point = one_of(draw, &[Point::One(0), Point::One(1), Point::Away(0), Point::Away(1)]);
    let stale = draw.percent(20);
    match draw.below(40) {
        0..=4 => Act::Begin,
        5 | 6 => Act::TakeOver,
        7 => one_of(draw, &[Act::ClaimOnly, Act::LetGo]),
        8..=12 => Act::Start(call),
        13..=15 => Act::End(call, one_of(draw, &[How::Well, How::Badly, How::Large])),
        16 => Act::Doubt(call),
        17 => Act::Resolve(call),
        18 => Act::Settle,
        19..=22 => {
            let whose = one_of(draw, &[Whose::Agent, Whose::Run]);
            Act::Get { call, ago, whose, key }
        }
        23..=31 => Act::Put {
            call,
            ago,
            class: class(draw),
            key,
            follows: follows(draw),
            text: text(draw),
        },
        32 | 33 => Act::Set { class: class(draw), key, follows: follows(draw), text: text(draw) },
        34 | 35 => Act::Create { name, point },
        36..=38 => Act::Update { name, stale, point },
        _ => Act::Delete { name, stale },
    }
}

fn one_of<T: Copy>(draw: &mut Draw, all: &[T]) -> T {
    let weights: Vec<_> = all.iter().map(|it| (1, *it)).collect();
    draw.weighted(&weights)
}

fn class(draw: &mut Draw) -> WriteClass {
    draw.weighted(&[
        (2, WriteClass::RunLocal),
        (4, WriteClass::Canonical),
        (4, WriteClass::Compensatable),
        (4, WriteClass::Uncertain),
    ])
}

fn follows(draw: &mut Draw) -> Follows {
    draw.weighted(&[(12, Follows::What), (1, Follows::Nothing), (1, Follows::Older)])
}

fn text(draw: &mut Draw) -> Text {
    let short = Text::Short(draw.below(3));
    draw.weighted(&[(12, short), (3, Text::Removal)])
}

/// What is worth doing at the same moment as somebody else.
pub(super) fn contested(draw: &mut Draw) -> Act {
    let (call, key) = (draw.below(2), draw.below(2));
    match draw.below(8) {
        0 | 1 => put(call, class(draw), key, Text::Short(draw.below(3))),
        2 => Act::Set {
            class: WriteClass::Uncertain,
            key,
            follows: Follows::What,
            text: Text::Short(draw.below(3)),
        },
        3 => Act::End(call, How::Well),
        4 => Act::End(call, How::Badly),
        5 => Act::LetGo,
        6 => Act::Create { name: 0, point: Point::One(draw.below(2)) },
        _ => Act::Update { name: 1, stale: false, point: Point::One(draw.below(2)) },
    }
}

/// Two calls that have started, and a session.
pub(super) fn begun() -> Vec<Line> {
    let acts = [
        Act::Begin,
        Act::Start(0),
        Act::Start(1),
        put(0, WriteClass::Compensatable, 0, Text::Short(7)),
        Act::Create { name: 1, point: Point::One(0) },
    ];
    acts.into_iter().map(|act| Line::Do(0, act)).collect()
}
