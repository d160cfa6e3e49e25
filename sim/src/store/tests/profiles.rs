//! Both profiles answer alike and leave the same behind.

use everstep_machine::conversation::TailRef;
use everstep_machine::identity::{Epoch, Sequence};
use everstep_machine::ledger::{Command, Refusal as LaneRefusal};
use everstep_machine::store::{Pipeline, Refusal, Store, StoreCommand, StoreFault, Target};
use proptest::prelude::*;

use super::{
    LEASE, admission, admitted, append, batch, claim, conversation, execute, fence, owner,
    pipeline, shelf, submission, tail,
};
use crate::profile::Profile;
use crate::store::MemoryStore;

#[test]
fn store_002_a_refusal_keeps_the_commands_before_it() {
    for profile in Profile::ALL {
        let mut store = admitted(*profile, None);
        let read = tail(&store).reference();
        let commands = vec![claim("a", 0, 1), claim("a", 7, 2), fence(1, read)];
        let why = Refusal::Ledger(LaneRefusal::EpochMoved { actual: Epoch(1) });
        assert_eq!(execute(&mut store, commands), Err(StoreFault::Refused { at: 1, why }));
        assert_eq!(shelf(&store).lane().epoch, Epoch(1), "{profile}: the claim stands");
        assert_eq!(tail(&store).epoch, Epoch(0), "{profile}: the fence never came");
    }
}

#[test]
fn a_clone_keeps_what_the_other_changes() {
    let store = admitted(Profile::Weak, None);
    let mut other = store.clone();
    execute(&mut other, vec![claim("a", 0, 1)]).unwrap();
    assert_eq!(shelf(&store).lane().epoch, Epoch(0));
    assert_eq!(shelf(&other).lane().epoch, Epoch(1));
}

/// A command that fits sometimes. Tails are guessed by number: the store's own, or a wrong one.
#[derive(Clone, Debug)]
enum Guess {
    Admission(u8),
    Claim { key: u8, expected: u64, token: u8 },
    Renew { key: u8, epoch: u64, token: u8 },
    Release { key: u8, epoch: u64, token: u8 },
    Fence { epoch: u64, fits: bool },
    Append { epoch: u64, fits: bool, number: u32 },
    Read(u8),
}

fn guess() -> impl Strategy<Value = Guess> {
    let (key, epoch, token) = (0_u8..3, 0_u64..4, 0_u8..3);
    prop_oneof![
        key.clone().prop_map(Guess::Admission),
        (key.clone(), epoch.clone(), token.clone())
            .prop_map(|(key, expected, token)| Guess::Claim { key, expected, token }),
        (key.clone(), epoch.clone(), token.clone()).prop_map(|(key, epoch, token)| Guess::Renew {
            key,
            epoch,
            token
        }),
        (key.clone(), epoch.clone(), token).prop_map(|(key, epoch, token)| Guess::Release {
            key,
            epoch,
            token
        }),
        (epoch.clone(), any::<bool>()).prop_map(|(epoch, fits)| Guess::Fence { epoch, fits }),
        (epoch, any::<bool>(), 0_u32..4).prop_map(|(epoch, fits, number)| Guess::Append {
            epoch,
            fits,
            number
        }),
        key.prop_map(Guess::Read),
    ]
}

fn commands(guess: &Guess, store: &MemoryStore) -> Vec<StoreCommand> {
    let wrong = TailRef { next_sequence: Sequence(99), content: batch(99).content() };
    let known = store.shelf(&conversation()).and_then(|shelf| shelf.log().tail());
    let expected = |fits| known.filter(|_| fits).map_or(wrong, |tail| tail.reference());
    let name = |key: u8| char::from(b'a' + key).to_string();
    match *guess {
        Guess::Admission(key) => admission(&name(key)).commands,
        Guess::Claim { key, expected, token } => vec![claim(&name(key), expected, token)],
        Guess::Renew { key, epoch, token } => {
            let owner = owner(&name(key), epoch, token);
            vec![StoreCommand::Ledger(Command::Renew { owner, lease: LEASE })]
        }
        Guess::Release { key, epoch, token } => {
            let owner = owner(&name(key), epoch, token);
            vec![StoreCommand::Ledger(Command::Release { owner })]
        }
        Guess::Fence { epoch, fits } => vec![fence(epoch, expected(fits))],
        Guess::Append { epoch, fits, number } => {
            vec![append(epoch, expected(fits), &batch(number))]
        }
        Guess::Read(key) => vec![
            StoreCommand::ReadLane(Target::Submission(submission(&name(key)))),
            StoreCommand::ReadLog { from: Sequence(0) },
        ],
    }
}

proptest! {
    #[test]
    fn store_010_weak_and_strong_answer_alike(
        pipelines in prop::collection::vec(prop::collection::vec(guess(), 1..4), 1..12)
    ) {
        let mut weak = MemoryStore::new(Profile::Weak, None);
        let mut strong = MemoryStore::new(Profile::Strong, None);
        for guesses in &pipelines {
            let commands = guesses.iter().flat_map(|guess| commands(guess, &weak)).collect();
            let sent: Pipeline = pipeline(commands);
            prop_assert_eq!(weak.execute(&sent), strong.execute(&sent));
            let (weak, strong) = (shelf(&weak), shelf(&strong));
            prop_assert_eq!(weak.lane(), strong.lane());
            prop_assert_eq!(weak.rows(), strong.rows());
            prop_assert_eq!(weak.log().batches(), strong.log().batches());
        }
    }
}
