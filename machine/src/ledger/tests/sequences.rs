//! Any commands of any actors, in any order, under any clock.

use alloc::vec;

use proptest::prelude::*;

use super::compat::{mismatch, rebind, rebound, report};
use super::*;
use crate::store::Incarnation;

/// The text of a failure that gives up.
const POISON: &str = "poison";

/// Every submission that there may be, and what tries each of them again.
fn numbers() -> impl Iterator<Item = u8> {
    (0..4).chain(RETRIES..RETRIES + 4)
}

fn ended(n: u8, outcome: Outcome, text: &str) -> Reserved {
    match (outcome, text) {
        (Outcome::Failed, POISON) => poison(n),
        _ => settled(n, outcome, text),
    }
}

/// How an owner's command proves itself.
#[derive(Clone, Copy, Debug)]
struct Proof {
    /// How many claims ago it was won; 0 is the newest.
    age: usize,
    /// Whether its token, or its epoch, is another one.
    token: bool,
    epoch: bool,
}

#[derive(Clone, Debug)]
enum Verb {
    Renew(u64),
    Release,
    MarkInput,
    MarkUnknown(Vec<u8>),
    Cover(Vec<u8>),
    Reserve(Outcome, &'static str),
    Finalize(Outcome, &'static str),
    Join(u8),
    MarkJoined(u8),
    RevertJoin(u8),
    SettleJoined(u8),
    CoverIncompatible,
}

/// One thing that happens, chosen without knowing the lane.
#[derive(Clone, Debug)]
enum Act {
    Admit(u8, &'static str),
    /// A row that is said to the run of another one.
    Steer(u8, u8),
    Ready(u8),
    /// A row, or the one that a reader would choose.
    Claim {
        row: Option<u8>,
        behind: u64,
        reuse: Option<u8>,
    },
    Own(Proof, Verb),
    Abort(u8, &'static str),
    Resolve(u8, u8, bool),
    Retry(u8, &'static str),
    /// Somebody came with this binding, and had read the row so many epochs ago.
    Report(u8, u8, u64),
    Rebind(u8, u8, &'static str),
    /// Milliseconds, backwards or forwards.
    Clock(i64),
    /// The file is put back from a backup of this moment.
    Restore,
}

fn verb() -> impl Strategy<Value = Verb> {
    let doubts = || prop::collection::vec(0..3_u8, 0..3);
    let outcome =
        || prop_oneof![Just(Outcome::Completed), Just(Outcome::Failed), Just(Outcome::Aborted)];
    let text = || prop_oneof![4 => Just("done"), 1 => Just("other"), 2 => Just(POISON)];
    prop_oneof![
        2 => (0..90_000_u64).prop_map(Verb::Renew),
        1 => Just(Verb::Release),
        4 => Just(Verb::MarkInput),
        3 => doubts().prop_map(Verb::MarkUnknown),
        3 => doubts().prop_map(Verb::Cover),
        4 => (outcome(), text()).prop_map(|(outcome, text)| Verb::Reserve(outcome, text)),
        3 => (outcome(), text()).prop_map(|(outcome, text)| Verb::Finalize(outcome, text)),
        4 => (0..4_u8).prop_map(Verb::Join),
        3 => (0..4_u8).prop_map(Verb::MarkJoined),
        2 => (0..4_u8).prop_map(Verb::RevertJoin),
        2 => (0..4_u8).prop_map(Verb::SettleJoined),
        2 => Just(Verb::CoverIncompatible),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let row = || prop_oneof![6 => 0..4_u8, 1 => RETRIES..RETRIES + 4];
    let text = prop_oneof![4 => Just("hello"), 1 => Just("other")];
    let seldom = || prop::bool::weighted(0.1);
    let age = prop_oneof![4 => Just(0_usize), 1 => 0..4_usize];
    let proof =
        (age, seldom(), seldom()).prop_map(|(age, token, epoch)| Proof { age, token, epoch });
    let behind = prop_oneof![6 => Just(0_u64), 1 => 0..3_u64];
    let reuse = prop::option::weighted(0.1, 1..6_u8);
    let jump = prop_oneof![
        6 => 0..60_000_i64,
        1 => Just(-(HOUR as i64)),
        1 => Just(30 * DAY as i64),
        2 => (-10 * MINUTE as i64)..(10 * MINUTE as i64),
    ];
    prop_oneof![
        // No client can name what tries another one again.
        3 => (0..4_u8, text).prop_map(|(row, text)| Act::Admit(row, text)),
        2 => (0..4_u8, 0..4_u8).prop_map(|(row, host)| Act::Steer(row, host)),
        3 => row().prop_map(Act::Ready),
        5 => (prop::option::weighted(0.3, row()), behind, reuse)
            .prop_map(|(row, behind, reuse)| Act::Claim { row, behind, reuse }),
        14 => (proof, verb()).prop_map(|(proof, verb)| Act::Own(proof, verb)),
        1 => (row(), prop_oneof![Just("ada"), Just("bob")])
            .prop_map(|(row, who)| Act::Abort(row, who)),
        3 => (row(), 0..3_u8, any::<bool>())
            .prop_map(|(row, doubt, how)| Act::Resolve(row, doubt, how)),
        3 => (row(), prop_oneof![Just("ada"), Just("bob")])
            .prop_map(|(row, who)| Act::Retry(row, who)),
        3 => (row(), 1..4_u8, prop_oneof![4 => Just(0_u64), 1 => Just(1)])
            .prop_map(|(row, found, behind)| Act::Report(row, found, behind)),
        2 => (row(), 0..4_u8, prop_oneof![Just("ada"), Just("bob")])
            .prop_map(|(row, to, who)| Act::Rebind(row, to, who)),
        5 => jump.prop_map(Act::Clock),
        1 => Just(Act::Restore),
    ]
}

/// A lane and every claim that was ever won at it, the newest first.
struct World {
    bench: Bench,
    claims: Vec<Ownership>,
    fresh: u8,
}

impl World {
    fn act(&mut self, act: &Act) {
        let command = match act {
            Act::Clock(jump) => {
                self.bench.now.0 = self.bench.now.0.saturating_add_signed(*jump);
                return;
            }
            Act::Restore => return self.restore(),
            Act::Own(proof, verb) => match self.owned(*proof, verb) {
                Some(command) => command,
                None => return,
            },
            Act::Claim { row, behind, reuse } => self.claim(*row, *behind, *reuse),
            Act::Admit(n, text) => Command::Admit(admission(*n, text)),
            Act::Steer(n, host) => {
                let steers = Some(submission(*host));
                let said = Admission { steers, ..(*admission(*n, "wait")).clone() };
                Command::Admit(Arc::new(said))
            }
            Act::Ready(n) => Command::Ready { submission: submission(*n) },
            Act::Abort(n, who) => Command::Abort { submission: submission(*n), intent: abort(who) },
            Act::Resolve(n, d, how) => {
                let how = if *how { Resolution::NeverStarted } else { Resolution::SafeToRepeat };
                let (doubt, intent) = (doubt(*d), intent(how));
                Command::Resolve { submission: submission(*n), doubt, intent }
            }
            Act::Retry(n, who) => {
                let intent = RetryIntent { principal: principal(who), reason: Arc::from("mended") };
                Command::Retry { submission: submission(*n), intent }
            }
            Act::Report(n, found, behind) => {
                let epoch = Epoch(self.bench.lane.epoch.0.saturating_sub(*behind));
                report(*n, epoch, mismatch(1, *found))
            }
            Act::Rebind(n, to, who) => rebind(*n, rebound(1, *to, who)),
        };
        let _answer = self.send(command);
    }

    /// Nobody who ever claimed is heard any more (STORE-013).
    fn restore(&mut self) {
        let before = self.bench.clone();
        let incarnation = Incarnation::after(before.lane.epoch, before.now).unwrap();
        self.bench.lane = incarnation.inherit(&before.lane);
        only_grows(&before, &self.bench);
        let lost = Err(Refusal::OwnershipLost { actual: self.bench.lane.epoch });
        for owner in self.claims.clone() {
            assert!(owner.epoch < incarnation.epoch, "no epoch is given twice");
            assert_eq!(self.send(Command::Release { owner }), lost);
        }
        findable(&self.bench);
    }

    fn claim(&mut self, row: Option<u8>, behind: u64, reuse: Option<u8>) -> Command {
        let candidate = self.bench.candidate();
        let found = numbers().find(|n| Some(submission(*n)) == candidate);
        self.fresh += 1;
        let command =
            self.bench.claim_command(row.or(found).unwrap_or(0), reuse.unwrap_or(self.fresh));
        let Command::Claim(mut claim) = command else { unreachable!() };
        claim.expected.0 = claim.expected.0.saturating_sub(behind);
        Command::Claim(claim)
    }

    fn owned(&self, proof: Proof, verb: &Verb) -> Option<Command> {
        let mut owner = *self.claims.get(proof.age)?;
        let n = numbers().find(|n| submission(*n) == owner.submission)?;
        if proof.token {
            owner.token = token(200);
        }
        if proof.epoch {
            owner.epoch = owner.epoch.next();
        }
        let doubts = |numbers: &[u8]| numbers.iter().map(|n| doubt(*n)).collect();
        Some(match verb {
            Verb::Renew(lease) => Command::Renew { owner, lease: DurationMs(*lease) },
            Verb::Release => Command::Release { owner },
            Verb::MarkInput => Command::MarkInput { owner },
            Verb::MarkUnknown(numbers) => Command::MarkUnknown { owner, doubts: doubts(numbers) },
            Verb::Cover(numbers) => Command::CoverUnknown { owner, doubts: doubts(numbers) },
            Verb::Reserve(outcome, text) => {
                Command::Reserve { owner, reserved: ended(n, *outcome, text) }
            }
            Verb::Finalize(outcome, text) => {
                let settlement = canonical(&ended(n, *outcome, text));
                Command::Finalize { owner, settlement }
            }
            Verb::CoverIncompatible => Command::CoverIncompatible { owner },
            Verb::Join(n) => Command::Join { owner, joining: submission(*n) },
            Verb::MarkJoined(n) => Command::MarkJoined { owner, joined: submission(*n) },
            Verb::RevertJoin(n) => Command::RevertJoin { owner, joining: submission(*n) },
            Verb::SettleJoined(n) => {
                let settlement = canonical(&completed(*n));
                Command::SettleJoined { owner, settlement }
            }
        })
    }

    fn send(&mut self, command: Command) -> Result<Reply, Refusal> {
        let before = self.bench.clone();
        let answer = self.bench.send(command.clone());
        only_grows(&before, &self.bench);
        fenced(&before, &command, &answer);
        match (&command, &answer) {
            (_, Err(_)) => assert_eq!(before, self.bench, "a refusal changes nothing"),
            (Command::Claim(claim), Ok(Reply::Claimed(epoch))) => {
                if *epoch != before.lane.epoch {
                    in_order(&before, claim, *epoch);
                }
                let (submission, token) = (claim.submission, claim.token);
                self.claims.insert(0, Ownership { submission, token, epoch: *epoch });
            }
            (_, Ok(_)) => {}
        }
        if let Ok(reply) = &answer {
            let lost = Refusal::OwnershipLost { actual: self.bench.lane.epoch };
            let expected = if *reply == Reply::Released { Err(lost) } else { answer.clone() };
            assert_eq!(self.bench.again(command), expected, "answered as the first time");
        }
        findable(&self.bench);
        chained(&self.bench);
        answer
    }
}

/// What must hold between two states of a lane, whatever happened.
fn only_grows(before: &Bench, after: &Bench) {
    assert!(before.lane.epoch <= after.lane.epoch, "the epoch never falls");
    assert!(before.lane.stamp <= after.lane.stamp, "the stamp never falls");
    assert!(before.rows.len() <= after.rows.len());
    for (place, row) in (0_u64..).zip(&after.rows) {
        assert_eq!(row.sequence, AdmissionSequence(place), "places have no gaps");
    }
    for (old, new) in before.rows.iter().zip(&after.rows) {
        assert_eq!(old.admission, new.admission);
        if let Phase::Settled(_) = old.phase {
            assert_eq!(old.phase, new.phase, "one settlement");
        }
    }
}

/// Whoever tries another one again is named by it, alone and as it was (DUR-018).
fn chained(bench: &Bench) {
    for row in &bench.rows {
        let Some(dead) = row.chain.retry_of else { continue };
        let of = |row: &&Arc<Row>| row.chain.retry_of == Some(dead);
        assert_eq!(bench.rows.iter().filter(of).count(), 1, "one successor a dead letter");
        let dead = bench.rows.iter().find(|it| it.admission.submission == dead).unwrap();
        let named = dead.chain.retried.as_ref().unwrap();
        assert_eq!((named.successor, named.position), (row.admission.submission, row.sequence));
        assert!(matches!(&dead.phase, Phase::Settled(settled) if settled.given_up));
        assert_eq!(dead.admission.again(), *row.admission);
    }
}

fn owner_of(command: &Command) -> Option<Ownership> {
    match command {
        Command::Renew { owner, .. }
        | Command::Release { owner }
        | Command::MarkInput { owner }
        | Command::Join { owner, .. }
        | Command::MarkJoined { owner, .. }
        | Command::RevertJoin { owner, .. }
        | Command::SettleJoined { owner, .. }
        | Command::MarkUnknown { owner, .. }
        | Command::CoverUnknown { owner, .. }
        | Command::Suspend { owner, .. }
        | Command::Expire { owner, .. }
        | Command::CoverApprovals { owner, .. }
        | Command::CoverIncompatible { owner }
        | Command::Reserve { owner, .. }
        | Command::Finalize { owner, .. } => Some(*owner),
        Command::Admit(_)
        | Command::Ready { .. }
        | Command::Claim(_)
        | Command::Abort { .. }
        | Command::Resolve { .. }
        | Command::Decide { .. }
        | Command::Retry { .. }
        | Command::Incompatible { .. }
        | Command::Rebind { .. } => None,
    }
}

/// Whoever does not own the lane is told so, and nothing else; whoever does never is.
fn fenced(before: &Bench, command: &Command, answer: &Result<Reply, Refusal>) {
    let Some(owner) = owner_of(command) else { return };
    let row = before.rows.iter().find(|row| row.admission.submission == owner.submission);
    let ended = row.is_some_and(|row| matches!(row.phase, Phase::Settled(_)));
    if ended && matches!(command, Command::Finalize { .. }) {
        return;
    }
    let lane = &before.lane;
    let owns = lane.epoch == owner.epoch
        && lane
            .owner
            .as_ref()
            .is_some_and(|held| (held.token, held.submission) == (owner.token, owner.submission));
    let lost = Err(Refusal::OwnershipLost { actual: lane.epoch });
    assert_eq!(*answer == lost, !owns, "{command:?}");
}

/// A new claim takes the next epoch of a free lane, in turn.
fn in_order(before: &Bench, claim: &Claim, epoch: Epoch) {
    assert_eq!(epoch, before.lane.epoch.next());
    assert_eq!(before.lane.leased_until(before.time()), None);
    let waits = |row: &&Arc<Row>| Standing::WAITING.contains(&row.standing());
    let lowest = before.rows.iter().find(waits);
    let row = before.rows.iter().find(|row| row.admission.submission == claim.submission);
    match row.unwrap().standing() {
        Standing::Queued | Standing::Steering => assert_eq!(row, lowest, "the order of admission"),
        Standing::Errand => {}
        Standing::Attached | Standing::Doubtful | Standing::GivenUp | Standing::Resting => {
            panic!("a row was claimed that is settled or attached")
        }
    }
}

/// What a reader is shown as claimable can be claimed, and nothing else can.
fn findable(bench: &Bench) {
    let candidate = bench.candidate();
    let mut later = bench.clone();
    if let (None, Some(at)) = (candidate, bench.wakes_at()) {
        later.now = later.now.max(at);
        assert!(later.candidate().is_some(), "a lane wakes for something");
    }
    for n in numbers() {
        let claimed = bench.clone().claim(n, 255);
        let found = candidate == Some(submission(n));
        assert!(!found || claimed.is_ok(), "a candidate can be claimed: {claimed:?}");
        assert!(candidate.is_some() || claimed.is_err(), "no candidate, no claim: {claimed:?}");
    }
}

/// Once people answer and leases run out, everything settles, in a bounded number of claims.
fn drain(world: &mut World) {
    for _ in 0..16 {
        for n in numbers() {
            for d in 0..3 {
                let (doubt, intent) = (doubt(d), intent(Resolution::NeverStarted));
                let _ = world.send(Command::Resolve { submission: submission(n), doubt, intent });
            }
        }
        if world.bench.lane.owner.is_some() {
            world.bench.expire();
        }
        let Some(next) = world.bench.candidate() else { break };
        let n = numbers().find(|n| submission(*n) == next).unwrap();
        let command = world.claim(Some(n), 0, None);
        world.send(command).unwrap();
        settle(world, n, world.claims[0]);
    }
    let waits = |row: &&Arc<Row>| {
        let standing = row.standing();
        Standing::CLAIMABLE.contains(&standing) || standing == Standing::Attached
    };
    let row = world.bench.rows.iter().find(waits);
    assert_eq!(row, None, "everything settles");
}

fn settle(world: &mut World, n: u8, owner: Ownership) {
    world.send(Command::Ready { submission: owner.submission }).unwrap();
    if Standing::WAITING.contains(&world.bench.row(n).standing()) {
        world.send(Command::MarkInput { owner }).unwrap();
    }
    let doubts = world.bench.row(n).marks.iter().map(|mark| mark.doubt).collect();
    world.send(Command::CoverUnknown { owner, doubts }).unwrap();
    let row = world.bench.row(n);
    let reserved = match (&row.phase, &row.abort) {
        (Phase::Settled(_), _) => {
            world.send(Command::Release { owner }).unwrap();
            return;
        }
        (Phase::Terminalizing(reserved), _) => reserved.clone(),
        (_, Some(_)) => aborted(n),
        (_, None) => completed(n),
    };
    world.send(Command::Reserve { owner, reserved: reserved.clone() }).unwrap();
    for other in 0..4 {
        let rows = &world.bench.rows;
        let attached = rows.iter().any(|row| {
            row.admission.submission == submission(other) && row.host() == Some(owner.submission)
        });
        if attached {
            world.send(Command::MarkJoined { owner, joined: submission(other) }).unwrap();
            let settlement = canonical(&completed(other));
            world.send(Command::SettleJoined { owner, settlement }).unwrap();
        }
    }
    let settlement = canonical(&reserved);
    world.send(Command::Finalize { owner, settlement }).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn dur_002_whatever_happens_every_submission_settles_once_and_in_order(
        acts in prop::collection::vec(act(), 1..80),
    ) {
        let mut world = World { bench: Bench::ready(&[0, 1]), claims: Vec::new(), fresh: 10 };
        for act in &acts {
            world.act(act);
        }
        drain(&mut world);
        prop_assert!(world.bench.rows.iter().all(|row| matches!(row.phase, Phase::Settled(_))));
    }
}
