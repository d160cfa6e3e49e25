//! What tools have done, call by call.

use std::sync::Arc;

use everstep_machine::agent::{ModelResponse, ToolOutcome};
use everstep_machine::identity::{Epoch, RunId, ToolCallId, ToolName, Turn};
use everstep_machine::record::Doubt;

use crate::cast::{Cast, Scripted, Tool};
use crate::fingerprint::Printed;
use crate::scenario::FaultScript;

/// What happened to one call of a tool with effects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallHistory {
    /// Which call; for an idempotent tool it is also the key.
    pub call: ToolCallId,
    /// The starts that ran, in this order, by the epoch they carried.
    pub executions: Vec<Epoch>,
    /// The bodies of steps that ran, in this order, by the epoch of their start and by how many
    /// steps stand before them.
    pub bodies: Vec<(Epoch, u32)>,
    /// The starts that gave no answer, in this order.
    pub silent: Vec<Epoch>,
    /// The starts that killed their process, in this order.
    pub deadly: Vec<Epoch>,
    /// What its handler said, if that is a function.
    pub said: Option<Arc<ToolOutcome>>,
    /// The tries that failed for a passing reason and without any effect.
    pub passing: u32,
    /// Starts below this epoch are refused.
    pub tombstone: Epoch,
}

/// Everything that has happened outside.
#[derive(Clone, Debug, Default, Hash)]
pub struct Outside {
    calls: Arc<Printed<Vec<CallHistory>>>,
    /// How many faults of a turn were met; none of a turn without faults.
    met: Vec<(RunId, Turn, usize)>,
    /// What a live model has called, by call.
    called: Arc<Printed<Vec<(ToolCallId, ToolName)>>>,
}

impl Outside {
    /// What happened, by call.
    #[must_use]
    pub fn calls(&self) -> &[CallHistory] {
        &self.calls
    }

    /// How often a call ran.
    #[must_use]
    pub fn executions(&self, call: ToolCallId) -> usize {
        self.of(call).map_or(0, |history| history.executions.len())
    }

    /// Whether this start ran.
    #[must_use]
    pub fn has_executed(&self, start: Doubt) -> bool {
        self.of(start.call).is_some_and(|history| history.executions.contains(&start.start))
    }

    /// Whether this start gave no answer.
    #[must_use]
    pub fn is_silent(&self, start: Doubt) -> bool {
        self.of(start.call).is_some_and(|history| history.silent.contains(&start.start))
    }

    /// How many starts of a call gave no answer.
    pub(super) fn silences(&self, call: ToolCallId) -> usize {
        self.of(call).map_or(0, |history| history.silent.len())
    }

    /// Whether a start of this epoch is refused.
    #[must_use]
    pub fn is_tombstoned(&self, call: ToolCallId, epoch: Epoch) -> bool {
        self.of(call).is_some_and(|history| epoch < history.tombstone)
    }

    /// The tool of a call that some model has made.
    pub(crate) fn tool_of<'a>(&'a self, cast: &'a Cast, call: ToolCallId) -> Option<&'a ToolName> {
        let known = cast.declared(call)?;
        let said = || self.called.iter().find(|(said, _)| *said == call).map(|(_, tool)| tool);
        known.tool.as_ref().or_else(said)
    }

    /// The next fault that a turn of the script has in the way of whoever asks for it.
    pub(super) fn meet(
        &mut self,
        run: RunId,
        turn: Turn,
        script: &Scripted,
    ) -> Option<FaultScript> {
        let place = self.met.partition_point(|(at, of, _)| (*at, *of) < (run, turn));
        let known = self.met.get(place).filter(|(at, of, _)| (*at, *of) == (run, turn));
        let met = known.map_or(0, |(.., met)| *met);
        let fault = script.faults.get(met)?.clone();
        if known.is_none() {
            self.met.insert(place, (run, turn, 0));
        }
        self.met[place].2 += 1;
        Some(fault)
    }

    /// Remembers what a live model calls. Who asks twice is told the same as long as the same is
    /// shown; what was said last counts.
    pub(super) fn remember(&mut self, run: RunId, turn: Turn, response: &ModelResponse) {
        for (index, call) in response.calls().enumerate() {
            let id = ToolCallId::derive(run, turn, index);
            let place = self.called.partition_point(|(known, _)| *known < id);
            match self.called.get(place) {
                Some((known, tool)) if *known == id && *tool == call.tool => {}
                Some((known, _)) if *known == id => {
                    Arc::make_mut(&mut self.called)[place].1 = call.tool.clone();
                }
                Some(_) | None => {
                    Arc::make_mut(&mut self.called).insert(place, (id, call.tool.clone()));
                }
            }
        }
    }

    fn of(&self, call: ToolCallId) -> Option<&CallHistory> {
        self.calls.iter().find(|history| history.call == call)
    }

    pub(super) fn execute(&mut self, call: ToolCallId, epoch: Epoch) {
        self.history(call).executions.push(epoch);
    }

    /// Whether this is the first start of its call that ran.
    pub(super) fn is_first(&self, start: Doubt) -> bool {
        let first = self.of(start.call).and_then(|history| history.executions.first());
        first.is_none_or(|first| *first == start.start)
    }

    /// How often the body of a step ran for this start.
    #[must_use]
    pub fn bodies(&self, start: Doubt, ordinal: u32) -> usize {
        let bodies = self.of(start.call).into_iter().flat_map(|history| &history.bodies);
        bodies.filter(|body| **body == (start.start, ordinal)).count()
    }

    pub(super) fn run_body(&mut self, start: Doubt, ordinal: u32) {
        self.history(start.call).bodies.push((start.start, ordinal));
    }

    pub(super) fn fall_silent(&mut self, call: ToolCallId, epoch: Epoch) {
        self.history(call).silent.push(epoch);
    }

    /// Whether this start kills the process that made it. It is asked once of each.
    pub(crate) fn kills(&mut self, cast: &Cast, start: Doubt) -> bool {
        let tool = self.tool_of(cast, start.call).and_then(|tool| cast.tool(tool));
        let deadly = tool.map_or(0, |tool| tool.deadly_starts);
        let kills = self.of(start.call).map_or(0, |history| history.deadly.len()) < deadly;
        if kills {
            self.history(start.call).deadly.push(start.start);
        }
        kills
    }

    /// What the function said that handles a call.
    pub(super) fn said(&self, call: ToolCallId) -> Option<&Arc<ToolOutcome>> {
        self.of(call)?.said.as_ref()
    }

    pub(super) fn remember_end(&mut self, call: ToolCallId, outcome: &Arc<ToolOutcome>) {
        if self.said(call).is_none() {
            self.history(call).said = Some(Arc::clone(outcome));
        }
    }

    /// Makes so many tries of a call at most. How many of them failed for a passing reason and without
    /// any effect.
    pub(super) fn try_in_vain(&mut self, call: ToolCallId, script: &Tool, tries: u32) -> u32 {
        let before = self.of(call).map_or(0, |history| history.passing);
        let vain = script.passing_failures.saturating_sub(before).min(tries);
        if vain > 0 {
            self.history(call).passing += vain;
        }
        vain
    }

    pub(super) fn tombstone(&mut self, call: ToolCallId, below: Epoch) {
        let history = self.history(call);
        history.tombstone = history.tombstone.max(below);
    }

    /// Kept in the order of calls, so that equal outsides are equal whatever came first.
    fn history(&mut self, call: ToolCallId) -> &mut CallHistory {
        let calls = Arc::make_mut(&mut self.calls);
        let place = calls.partition_point(|history| history.call < call);
        if calls.get(place).is_none_or(|history| history.call != call) {
            let history = CallHistory {
                call,
                executions: Vec::new(),
                bodies: Vec::new(),
                silent: Vec::new(),
                deadly: Vec::new(),
                said: None,
                passing: 0,
                tombstone: Epoch(0),
            };
            calls.insert(place, history);
        }
        &mut calls[place]
    }
}
