//! What happened in a world, for people.

use everstep_machine::identity::Timestamp;

use super::World;
use super::moment::{LaneIndex, ProcessIndex};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryLine {
    /// The store's time.
    pub at: Timestamp,
    /// Whose event it is; none for the world's own, such as the passing of time.
    pub process: Option<ProcessIndex>,
    /// In which lane.
    pub lane: Option<LaneIndex>,
    /// What happened.
    pub text: String,
}

impl World {
    /// Records from now on what happens. It costs.
    pub fn record_story(&mut self) {
        self.story.get_or_insert_default();
    }

    /// What happened since [`World::record_story`], newest last.
    #[must_use]
    pub fn story(&self) -> &[StoryLine] {
        self.story.as_deref().unwrap_or_default()
    }

    /// Adds a line, if anybody reads it.
    pub(super) fn note(&mut self, process: usize, lane: usize, text: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            let (process, lane) = (Some(ProcessIndex(process)), Some(LaneIndex(lane)));
            story.push(StoryLine { at: self.clock, process, lane, text: text() });
        }
    }

    pub(super) fn note_task(&mut self, process: usize, task: usize, text: impl FnOnce() -> String) {
        let lane = self.processes[process].tasks[task].lane;
        self.note(process, lane, text);
    }

    pub(super) fn note_time(&mut self, next: Timestamp) {
        if let Some(story) = &mut self.story {
            let text = format!("time passes until {next}");
            story.push(StoryLine { at: self.clock, process: None, lane: None, text });
        }
    }
}
