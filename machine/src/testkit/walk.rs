//! Random histories: what a log could hold, whoever wrote it and however often it crashed.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::story::{Story, Tale, completed, failed, success};
use super::text;
use crate::agent::{Bound, Diagnostic, RejectionReason, Resolution, ToolOutcome};
use crate::digest::Digest;
use crate::projection::{CallView, RunView, SubmissionView};
use crate::record::{Doubt, Record, Settlement};

/// The submissions that a random history speaks of.
pub(crate) const TALES: [Tale; 3] = [Tale("1"), Tale("2"), Tale("3")];

/// One thing that a log might say next. What it means depends on what the log says already; what
/// would contradict the log is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Say {
    /// Which submission.
    tale: Tale,
    what: What,
    /// Picks one of several calls or doubts.
    at: usize,
    /// Picks one of several contents.
    how: usize,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Epoch,
    Input,
    Response,
    Interruption,
    Preparation,
    Result,
    Unknown,
    Resolution,
    Abort,
    Recovery,
    Rebinding,
    Settlement,
}

/// Any history of the first `tales` submissions of [`TALES`].
pub(crate) fn says(tales: usize) -> impl Strategy<Value = Vec<Say>> {
    let what = prop_oneof![
        2 => Just(What::Epoch),
        4 => Just(What::Input),
        4 => Just(What::Response),
        1 => Just(What::Interruption),
        4 => Just(What::Preparation),
        5 => Just(What::Result),
        2 => Just(What::Unknown),
        2 => Just(What::Resolution),
        1 => Just(What::Abort),
        1 => Just(What::Recovery),
        1 => Just(What::Rebinding),
        1 => Just(What::Settlement),
    ];
    let tale = prop::sample::select(TALES[..tales].to_vec());
    let say = (tale, what, 0..4_usize, 0..8_usize);
    prop::collection::vec(say.prop_map(|(tale, what, at, how)| Say { tale, what, at, how }), 0..48)
}

impl Story {
    /// Tells what can be told of these, each in a batch of its own.
    pub(crate) fn of(says: &[Say]) -> Self {
        let mut story = Self::new();
        says.iter().for_each(|say| story.say(*say));
        story
    }

    /// Tells one of them. What does not fit is not told.
    pub(crate) fn say(&mut self, say: Say) {
        if let What::Epoch = say.what {
            self.epoch = self.epoch.next();
            return;
        }
        let records = say.records(self);
        if !records.is_empty() {
            let _ = self.try_tell(records);
        }
    }
}

const BATCHES: [&[&str]; 8] = [
    &[],
    &[],
    &["look"],
    &["pay"],
    &["pay", "pay"],
    &["file", "look"],
    &["look", "pay", "wire"],
    &["wire", "file"],
];

impl Say {
    fn records(self, story: &Story) -> Vec<Record> {
        let empty = SubmissionView::default();
        let view = story.fold.submission(self.tale.submission()).unwrap_or(&empty);
        let (tale, epoch) = (self.tale, story.epoch.0);
        let turn = view.run.as_ref().map_or(0, |run| run.next_turn().0);
        let record = match self.what {
            What::Epoch => None,
            What::Input => Some(tale.input()),
            What::Response => Some(tale.responded(turn, BATCHES[self.how])),
            What::Interruption => Some(tale.interrupted(turn, epoch)),
            What::Preparation => self.unsettled(view).map(|call| {
                tale.prepared(Doubt { call: call.id, start: story.epoch }, call.tool.as_str())
            }),
            What::Result => self.unsettled(view).map(|it| tale.tool_settled(it.id, self.outcome())),
            What::Unknown => self.pick(view.open_starts()).map(|(doubt, _)| tale.unknown(doubt)),
            What::Resolution => return self.resolution(view),
            What::Abort => Some(tale.abort_requested()),
            What::Recovery => Some(tale.decided(epoch, 14)),
            What::Rebinding => view.run.as_ref().and_then(|run| {
                let model = Digest([self.how as u8; 32]);
                let to = Bound { model, ..run.bound };
                (to != run.bound).then(|| tale.rebound(run.bound_at.0, run.bound, to))
            }),
            What::Settlement => Some(tale.settled(self.settlement())),
        };
        record.into_iter().collect()
    }

    /// Picks one of the candidates, if there are any.
    fn pick<T>(self, candidates: impl Iterator<Item = T>) -> Option<T> {
        let mut candidates: Vec<T> = candidates.collect();
        let at = self.at.checked_rem(candidates.len())?;
        Some(candidates.swap_remove(at))
    }

    fn unsettled(self, view: &SubmissionView) -> Option<&CallView> {
        self.pick(view.run.iter().flat_map(RunView::unsettled_calls))
    }

    /// A resolution and the result that it proves.
    fn resolution(self, view: &SubmissionView) -> Vec<Record> {
        let Some(doubt) = self.pick(view.doubts()) else { return Vec::new() };
        let resolution = match self.how {
            0 | 1 => Resolution::Completed(text("by hand")),
            2 | 3 => Resolution::Failed(Diagnostic::cut("Bank", "no")),
            4 | 5 => Resolution::NeverStarted,
            _ => Resolution::SafeToRepeat,
        };
        let result = resolution.outcome().map(|it| self.tale.tool_settled(doubt.call, it));
        core::iter::once(self.tale.resolved(doubt, resolution)).chain(result).collect()
    }

    fn outcome(self) -> ToolOutcome {
        match self.how {
            0 => ToolOutcome::Failure(Diagnostic::cut("Bank", "no")),
            1 => ToolOutcome::Rejected(RejectionReason::BatchRefused),
            2 => ToolOutcome::Defect(Diagnostic::cut("Panic", "oops")),
            _ => success("result"),
        }
    }

    fn settlement(self) -> Settlement {
        match self.how {
            0 | 1 => failed("Test"),
            2 => Settlement::Aborted,
            _ => completed(),
        }
    }
}
