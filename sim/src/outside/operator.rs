//! What an operator says of an unknown outcome.

use everstep_machine::agent::Resolution;
use everstep_machine::identity::ToolName;
use everstep_machine::record::Doubt;

use super::Outside;
use crate::cast::Cast;

impl Outside {
    /// Looks, acts and answers in one instant: nothing can start in between.
    ///
    /// An operator is honest. "Never started" is said only of a start that has not run, and
    /// buries it: starts up to the doubtful one are refused from now on, later ones are the
    /// owner's own decision. "Completed" or "failed" of a start that has not run means that a
    /// person did by hand what it should have done: that counts as an execution, and buries the
    /// start too. "Safe to repeat" is a judgement about the tool, so there is nothing to look at.
    pub(crate) fn resolve(&mut self, cast: &Cast, doubt: Doubt, tool: &ToolName) -> Resolution {
        let scripted = cast.scripted_resolution(tool);
        if scripted == Some(&Resolution::SafeToRepeat) {
            return Resolution::SafeToRepeat;
        }
        let executed = self.has_executed(doubt);
        if !executed {
            self.bury(cast.defect, doubt.call, doubt.start.next());
        }
        match scripted {
            None | Some(Resolution::NeverStarted) if !executed => Resolution::NeverStarted,
            Some(said @ (Resolution::Completed(_) | Resolution::Failed(_))) => {
                if !executed {
                    self.execute(doubt.call, doubt.start);
                }
                said.clone()
            }
            _ => {
                let script = cast.tool(tool);
                script.map_or(Resolution::NeverStarted, |it| self.honest(it, doubt.call))
            }
        }
    }
}
