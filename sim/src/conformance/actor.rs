//! Who acts on a lane: what they remember, and the command that an act is in a state.

use std::sync::Arc;

use everstep_machine::agent::{Resolution, Verdict};
use everstep_machine::conversation::{self, TailRef};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{ConversationId, DurationMs, Epoch, Sequence, Timestamp, Token};
use everstep_machine::ledger::{
    self, AbortIntent, Claim, Command, DecisionIntent, Footprint, Mismatch, Ownership,
    RebindIntent, ResolutionIntent, RetryIntent,
};
use everstep_machine::limits::TEXT_BYTES;
use everstep_machine::record::{Batch, Record};
use everstep_machine::store::{Reply, StoreCommand, Target};

use super::acts::{Act, Proof, Row, Verb, View};
use super::facts::{
    From, admission, bound, canonical, creation, doubt, lane, principal, producer, record, request,
    reserved, submission, suspension,
};
use super::reference::Shelf;

/// How long a claim lasts.
const LEASE: DurationMs = DurationMs(30_000);

/// What the actors of a lane remember.
#[derive(Clone)]
pub(super) struct Actor {
    number: u8,
    lane: ConversationId,
    /// Every claim that was ever won, the newest first.
    claims: Vec<Ownership>,
    /// Every tail that was ever told, the newest first.
    tails: Vec<TailRef>,
    fresh: u8,
}

impl Actor {
    pub(super) fn of(number: u8) -> Self {
        let nothing = TailRef { next_sequence: Sequence(0), content: Digest::ZERO };
        let (lane, tails) = (lane(number), vec![nothing]);
        Self { number, lane, claims: Vec::new(), tails, fresh: 10 }
    }

    /// Remembers what an answer tells.
    pub(super) fn learn(&mut self, command: &StoreCommand, reply: &Reply) {
        match (command, reply) {
            (
                StoreCommand::Ledger(Command::Claim(claim)),
                Reply::Ledger(ledger::Reply::Claimed(epoch)),
            ) => {
                let Claim { submission, token, .. } = *claim;
                self.claims.insert(0, Ownership { submission, token, epoch: *epoch });
            }
            (_, Reply::Conversation(reply)) => self.tails.insert(0, reply.tail().reference()),
            _ => {}
        }
    }

    /// The command for an act in this state; none for an owner's before there was an owner.
    pub(super) fn command(&mut self, act: &Act, shelf: &Shelf) -> Option<StoreCommand> {
        Some(match act {
            Act::ReadLane(view) => StoreCommand::ReadLane(self.target(*view)),
            Act::ReadLog(from) => StoreCommand::ReadLog { from: Sequence(*from) },
            Act::Materialize { .. } | Act::Fence { .. } | Act::Append { .. } | Act::Stray(_) => {
                StoreCommand::Conversation(self.of_log(act, shelf)?)
            }
            Act::Claim { row, behind, reuse } => {
                StoreCommand::Ledger(self.claim(shelf, *row, *behind, *reuse))
            }
            Act::Own(proof, verb) => StoreCommand::Ledger(self.own(*proof, verb)?),
            Act::Report { row, at, found, behind } => {
                let epoch = Epoch(shelf.lane().epoch.0.saturating_sub(*behind));
                StoreCommand::Ledger(self.report(*row, mismatch(*at, *found), epoch))
            }
            _ => StoreCommand::Ledger(self.of_anybody(act)?),
        })
    }

    fn target(&self, view: View) -> Target {
        match view {
            View::Claimable => Target::Claimable,
            View::Submission(row) => Target::Submission(submission(&self.lane, row)),
            View::Owned(row) => Target::Owned(submission(&self.lane, row)),
            View::Run(row) => Target::Run(submission(&self.lane, row)),
        }
    }

    /// What needs no ownership.
    fn of_anybody(&self, act: &Act) -> Option<Command> {
        let of = |row: Row| submission(&self.lane, row);
        Some(match act {
            Act::Admit(row, text) => {
                Command::Admit(admission(&self.lane, *row, text, None, From::Own))
            }
            Act::Trespass(row) => {
                Command::Admit(admission(&self.lane, *row, "hello", None, From::OtherTenant))
            }
            Act::Steer { row, host, strange } => {
                let from = if *strange { From::OtherAgent } else { From::Own };
                Command::Admit(admission(&self.lane, *row, "wait", Some(*host), from))
            }
            Act::Ready(row) => Command::Ready { submission: of(*row) },
            Act::Abort(row, who) => {
                let intent = AbortIntent { principal: principal(who), reason: "enough".into() };
                Command::Abort { submission: of(*row), intent }
            }
            Act::Ramble(row) => {
                let reason = "no ".repeat(TEXT_BYTES).into();
                let intent = AbortIntent { principal: principal("ada"), reason };
                Command::Abort { submission: of(*row), intent }
            }
            Act::Resolve(row, number, how) => {
                let how = if *how { Resolution::NeverStarted } else { Resolution::SafeToRepeat };
                let (resolution, principal) = (Arc::new(how), principal("bob"));
                let intent = ResolutionIntent { resolution, principal, reason: "looked".into() };
                Command::Resolve { submission: of(*row), doubt: doubt(*number), intent }
            }
            Act::Decide(row, number, approves, who) => {
                let verdict = if *approves { Verdict::Approved } else { Verdict::Denied };
                let principal = principal(who);
                let intent = DecisionIntent { verdict, principal, reason: "seen".into() };
                Command::Decide { submission: of(*row), request: request(*number), intent }
            }
            Act::Retry(row, who) => {
                let intent = RetryIntent { principal: principal(who), reason: "mended".into() };
                Command::Retry { submission: of(*row), intent }
            }
            Act::Rebind { row, at, to, who } => {
                let (replaces, to) = (Sequence((*at).into()), bound(*to));
                let (principal, reason) = (principal(who), "no harm".into());
                let intent = RebindIntent { replaces, to, principal, reason };
                Command::Rebind { submission: of(*row), intent }
            }
            Act::Claim { .. }
            | Act::Report { .. }
            | Act::Own(..)
            | Act::Materialize { .. }
            | Act::Fence { .. }
            | Act::Append { .. }
            | Act::Stray(_)
            | Act::ReadLane(_)
            | Act::ReadLog(_) => return None,
        })
    }

    fn report(&self, row: Row, mismatch: Mismatch, epoch: Epoch) -> Command {
        let (submission, by) = (submission(&self.lane, row), producer());
        Command::Incompatible { submission, epoch, mismatch, by }
    }

    fn claim(
        &mut self,
        shelf: &Shelf,
        row: Option<Row>,
        behind: u64,
        reuse: Option<u8>,
    ) -> Command {
        let slice = shelf.slice(Footprint::Candidates(None));
        let found = ledger::candidate(&slice, Timestamp(u64::MAX));
        self.fresh = self.fresh.wrapping_add(1);
        Command::Claim(Claim {
            submission: row
                .map(|row| submission(&self.lane, row))
                .or(found.map(|row| row.admission.submission))
                .unwrap_or_else(|| submission(&self.lane, 0)),
            expected: Epoch(shelf.lane().epoch.0.saturating_sub(behind)),
            token: Token([reuse.unwrap_or(self.fresh); 16]),
            producer: producer(),
            lease: LEASE,
            productive: None,
        })
    }

    fn own(&self, proof: Proof, verb: &Verb) -> Option<Command> {
        let mut owner = *self.claims.get(proof.age)?;
        if proof.forged {
            owner.token = Token([200; 16]);
        }
        let of = |row: Row| submission(&self.lane, row);
        let doubts = |numbers: &[u8]| numbers.iter().map(|number| doubt(*number)).collect();
        let requests = |numbers: &[u8]| numbers.iter().map(|number| request(*number)).collect();
        Some(match verb {
            Verb::Renew(lease) => Command::Renew { owner, lease: DurationMs(*lease) },
            Verb::Release => Command::Release { owner },
            Verb::MarkInput => Command::MarkInput { owner },
            Verb::MarkUnknown(numbers) => Command::MarkUnknown { owner, doubts: doubts(numbers) },
            Verb::CoverUnknown(numbers) => Command::CoverUnknown { owner, doubts: doubts(numbers) },
            Verb::Suspend(numbers) => {
                let requests = numbers.iter().map(|number| suspension(*number)).collect();
                Command::Suspend { owner, requests }
            }
            Verb::Expire(numbers) => Command::Expire { owner, requests: requests(numbers) },
            Verb::CoverApprovals(numbers) => {
                Command::CoverApprovals { owner, requests: requests(numbers) }
            }
            Verb::CoverIncompatible => Command::CoverIncompatible { owner },
            Verb::Join(row) => Command::Join { owner, joining: of(*row) },
            Verb::MarkJoined(row) => Command::MarkJoined { owner, joined: of(*row) },
            Verb::RevertJoin(row) => Command::RevertJoin { owner, joining: of(*row) },
            Verb::SettleJoined(row, ending) => {
                let settlement = canonical(&self.lane, of(*row), *ending)?;
                Command::SettleJoined { owner, settlement }
            }
            Verb::Reserve(ending) => {
                Command::Reserve { owner, reserved: reserved(owner.submission, *ending) }
            }
            Verb::Finalize(ending) => {
                let settlement = canonical(&self.lane, owner.submission, *ending)?;
                Command::Finalize { owner, settlement }
            }
        })
    }

    fn of_log(&self, act: &Act, shelf: &Shelf) -> Option<conversation::Command> {
        let expected = |age: usize| match (age, shelf.tail()) {
            (0, Some(tail)) => Some(tail.reference()),
            (age, _) => self.tails.get(age).or(self.tails.last()).copied(),
        };
        let current = shelf.tail().map_or(0, |tail| tail.epoch.0);
        Some(match act {
            Act::Materialize { skew, agent } => {
                let epoch = Epoch(current.saturating_add_signed(*skew));
                let created = batch(&self.lane, vec![creation(&self.lane, agent)])?;
                conversation::Command::Materialize { epoch, producer: producer(), created }
            }
            Act::Fence { skew, tail } => {
                let epoch = Epoch(shelf.lane().epoch.0.saturating_add_signed(*skew));
                conversation::Command::Fence { epoch, expected: expected(*tail)? }
            }
            Act::Append { skew, tail, facts } => {
                let epoch = Epoch(current.saturating_add_signed(*skew));
                let records = facts.iter().map(|fact| record(&self.lane, *fact)).collect();
                let (expected, batch) = (expected(*tail)?, batch(&self.lane, records)?);
                conversation::Command::Append { epoch, producer: producer(), expected, batch }
            }
            Act::Stray(row) => {
                let other = lane(1 - self.number);
                let records = vec![record(&other, super::acts::Fact::Input(*row))];
                let (expected, batch) = (expected(0)?, batch(&other, records)?);
                let epoch = Epoch(current);
                conversation::Command::Append { epoch, producer: producer(), expected, batch }
            }
            _ => return None,
        })
    }
}

/// That a run is bound to the first binding by this record, and somebody has another one.
fn mismatch(at: u8, found: u8) -> Mismatch {
    Mismatch { at: Sequence(at.into()), expected: bound(0), found: bound(found) }
}

fn batch(lane: &ConversationId, records: Vec<Record>) -> Option<Arc<Batch>> {
    Batch::new(lane, records).ok().map(Arc::new)
}
