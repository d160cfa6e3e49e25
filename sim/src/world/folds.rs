//! What is remembered of logs that were read before (STORE-007), where a scenario wants it.
//!
//! As with a host, a process remembers what its attempts have folded until it dies, and the store keeps
//! what the last attempt of all has folded beside the log. An attempt is given the one or the other. It
//! is right exactly if nobody can tell: the judge compares what each attempt works on with a fold of the
//! whole log.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use everstep_machine::digest::Hasher as Digester;
use everstep_machine::identity::ConversationId;
use everstep_machine::projection::Reader;

use super::World;
use super::process::Body;
use crate::defect::Defect;
use crate::oracle::Sometimes;

/// What was folded of a lane's log.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) lane: usize,
    reader: Arc<Reader>,
}

impl Hash for Fold {
    /// A log is only appended to, so where a fold ends says everything.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.lane, self.reader.next_sequence()).hash(state);
    }
}

/// What a store keeps beside a log.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    bytes: Arc<[u8]>,
    end: u64,
}

impl Hash for Checkpoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.end.hash(state);
    }
}

/// Bytes in front of what was folded, and behind it.
const VERSIONS: usize = 4;
const SEAL: usize = 16;

impl World {
    /// What an attempt that begins is given.
    pub(super) fn remembered(&mut self, process: usize, lane: usize) -> Option<Reader> {
        if !self.cast.scenario.checkpoints {
            return None;
        }
        let folds = &mut self.process_mut(process).folds;
        let own = folds.iter().position(|it| it.lane == lane).map(|at| folds.remove(at).reader);
        let reader = match own {
            Some(own) => Arc::unwrap_or_clone(own),
            None => {
                let kept = self.checkpoints[lane].as_ref()?;
                Reader::from_checkpoint(&self.cast.lanes[lane], &kept.bytes)?
            }
        };
        self.judge.note(Sometimes::ReadOn);
        Some(reader)
    }

    /// An attempt is over: what it has folded is remembered and kept.
    pub(super) fn remember(&mut self, process: usize, task: usize) {
        let it = &self.processes[process].tasks[task];
        let Body::Attempt(state) = &*it.body else { return };
        if !self.cast.scenario.checkpoints {
            return;
        }
        let Some(reader) = state.clone().into_fold() else { return };
        let lane = it.lane;
        let (name, end) = (&self.cast.lanes[lane], reader.next_sequence().0);
        let mut bytes = reader.checkpoint(name);
        if self.cast.defect == Some(Defect::CheckpointLies) {
            let input = self.cast.clients[0].call.input.as_str().to_owned();
            bytes = lie(name, bytes, input.as_bytes());
        }
        self.checkpoints[lane] = Some(Checkpoint { bytes: bytes.into(), end });
        let folds = &mut self.process_mut(process).folds;
        folds.retain(|it| it.lane != lane);
        let at = folds.partition_point(|it| it.lane < lane);
        folds.insert(at, Fold { lane, reader: Arc::new(reader) });
    }
}

/// The same checkpoint with other words in it, as one whose fold was another one would be: sealed, of
/// this version, and bound to the log's own digest.
fn lie(lane: &ConversationId, mut bytes: Vec<u8>, words: &[u8]) -> Vec<u8> {
    bytes.truncate(bytes.len().saturating_sub(SEAL));
    let found = bytes[VERSIONS..].windows(words.len()).position(|it| it == words);
    if let Some(at) = found {
        // Within the quotes.
        bytes[VERSIONS + at + 1] ^= 1;
    }
    let owner = lane.as_str().as_bytes();
    let seal = Digester::new("everstep/checkpoint").bytes(owner).bytes(&bytes).id();
    bytes.extend_from_slice(&seal);
    bytes
}
