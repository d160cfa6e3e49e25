//! What permits are asked.

use crate::identity::{AgentId, GroupName};

/// Who asks. The host numbers them; a number is used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A call wants to start.
    Asked {
        /// The call.
        ticket: Ticket,
        /// Of which agent.
        agent: AgentId,
        /// In which group of tools, if its tool is in one.
        group: Option<GroupName>,
    },
    /// A call has ended, or does not want to start any more.
    Released(Ticket),
}
