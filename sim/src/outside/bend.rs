//! Planted defects of whoever carries a request to the model: something of it gets lost.
//!
//! The engine asks as it should, so no oracle that looks at requests can notice. Only a model that
//! goes by what it is shown does.

use std::borrow::Cow;

use everstep_machine::agent::{AgentDefinition, Message, ModelRequest};

use crate::defect::Defect;

/// What arrives of a request.
pub(super) fn request(defect: Option<Defect>, request: &ModelRequest) -> Cow<'_, ModelRequest> {
    let mut bent = match defect {
        Some(
            Defect::ToolsHidden
            | Defect::MessagesHidden
            | Defect::ContractHidden
            | Defect::SummaryForgotten,
        ) => request.clone(),
        _ => return Cow::Borrowed(request),
    };
    match defect {
        Some(Defect::ToolsHidden) => bent.agent = without_tools(&request.agent),
        Some(Defect::MessagesHidden) => {
            bent.messages = request.messages.backwards().take(1).cloned().collect();
        }
        Some(Defect::SummaryForgotten) => {
            let messages = request.messages.entries();
            let said = messages.filter(|(_, message)| !matches!(message, Message::Summary(_)));
            bent.messages = said.cloned().collect();
        }
        Some(Defect::ContractHidden) => {
            bent.output = None;
            bent.status.clear();
        }
        _ => {}
    }
    Cow::Owned(bent)
}

fn without_tools(agent: &AgentDefinition) -> AgentDefinition {
    let (id, policy) = (agent.id().clone(), agent.policy().clone());
    AgentDefinition::with_policy(id, agent.instructions(), Vec::new(), policy)
        .expect("CAP-001: an agent is sound without tools as well")
}
