//! What crashes leave: any mixture of the sectors before a transaction and after it.

use super::*;

const SECTOR: usize = 512;

/// How the last transaction was torn.
#[derive(Clone, Debug)]
struct Tear {
    /// Which sectors had reached the disk; the pattern repeats.
    reached: Vec<bool>,
    /// How far the file had grown.
    grown: prop::sample::Index,
}

impl Tear {
    /// The log as it is after a crash between `before` and `after`.
    fn torn(&self, before: &[u8], after: &[u8]) -> Vec<u8> {
        // A new round's header is on the disk before anything else is.
        let mut old = before.to_vec();
        old.resize(after.len(), 0);
        old[..LOG_HEADER].copy_from_slice(&after[..LOG_HEADER]);
        let sectors = old.chunks(SECTOR).zip(after.chunks(SECTOR)).enumerate();
        let mut log: Vec<u8> = sectors
            .flat_map(
                |(n, (old, new))| if self.reached[n % self.reached.len()] { new } else { old },
            )
            .copied()
            .collect();
        let least = before.len().max(LOG_HEADER);
        log.truncate(least + self.grown.index(after.len() - least + 1));
        log
    }
}

fn tear() -> impl Strategy<Value = Tear> {
    // Sector by sector, page by page, and all but a few.
    let sectors = prop::collection::vec(any::<bool>(), 1..200);
    let pages = prop::collection::vec(any::<bool>(), 1..25)
        .prop_map(|pages| pages.into_iter().flat_map(|it| [it; 8]).collect());
    let most = prop::collection::vec(prop::bool::weighted(0.97), 1..200);
    (prop_oneof![sectors, pages, most], any::<prop::sample::Index>())
        .prop_map(|(reached, grown)| Tear { reached, grown })
}

/// One life of a process: what it does before the transaction that is torn, and that one.
#[derive(Clone, Debug)]
struct Life {
    rolled_back: u32,
    new_round: bool,
    sizes: Vec<usize>,
    last: usize,
    tear: Tear,
}

fn life() -> impl Strategy<Value = Life> {
    let rolled_back = prop_oneof![Just(0_u32), 1_u32..400];
    (rolled_back, any::<bool>(), sizes(0..5), 1_usize..40_000, tear()).prop_map(
        |(rolled_back, new_round, sizes, last, tear)| Life {
            rolled_back,
            new_round,
            sizes,
            last,
            tear,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Through several lives, of which each goes on with what the one before has left.
    #[test]
    fn dur_001_a_torn_log_opens_with_everything_that_was_acknowledged(
        lives in prop::collection::vec(life(), 1..5),
    ) {
        let mut folder = Folder::new();
        drop(folder.open());
        let mut acknowledged = 0;
        for life in lives {
            let mut busy = Busy::new(folder);
            prop_assert!(busy.acknowledged >= acknowledged, "something was lost");
            busy.submit_all(&life.sizes);
            if life.new_round {
                busy.round();
            }
            if life.rolled_back > 0 {
                busy.roll_back(life.rolled_back);
            }
            acknowledged = busy.acknowledged;
            let before = Files::of(&busy.folder);
            busy.submit(life.last);
            let after = Files::of(&busy.folder);
            prop_assert!(before.database == after.database, "only the log was written");
            let log = life.tear.torn(&before.log, &after.log);
            folder = Files { log, ..after }.left();
            let found = submissions(&folder.file());
            let is_there = matches!(found, Ok(it) if it == acknowledged || it == acknowledged + 1);
            prop_assert!(is_there, "{:?} of {} acknowledged", found, acknowledged);
        }
    }
}

#[test]
fn dur_001_a_log_cut_off_anywhere_in_its_last_transaction_opens() {
    let written = written(&[9, 9, 9, 9, 9, 9], &[9, 9, 6_000]);
    let folder = Folder::new();
    let range = written.last();
    for at in range.clone().step_by(97).chain([range.end - 1]) {
        let mut files = written.files.clone();
        files.log.truncate(at);
        files.leave(&folder);
        assert_eq!(submissions(&folder.file()).unwrap(), written.acknowledged - 1, "byte {at}");
        // Nothing but zeros has reached the disk from there on.
        files.log.resize(written.files.log.len(), 0);
        files.leave(&folder);
        let torn = u64::from(files.log[..range.end] != written.files.log[..range.end]);
        assert_eq!(submissions(&folder.file()).unwrap(), written.acknowledged - torn, "byte {at}");
    }
}
