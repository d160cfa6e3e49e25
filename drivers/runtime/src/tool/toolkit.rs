//! The tools of a host.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use everstep_machine::agent::{AgentDefinition, Diagnostic, ToolDefinition, ToolOutcome};
use everstep_machine::effect::{Doubted, Invocation, Reconciliation};
use everstep_machine::identity::ToolName;
use everstep_schema::Checker;

use super::builder::Tool;
use super::context::Live;
use super::fault::{ToolkitError, ToolkitFault};
use super::handler::Reconcile;
use super::perform::{Ended, Entry};
use crate::ports::{BoxFuture, Handlers, Reconciler};

/// Tools with their handlers, by name. A copy shares everything.
#[derive(Clone, Default)]
pub struct Toolkit {
    tools: Arc<BTreeMap<ToolName, Entry>>,
    reconcilers: Arc<BTreeMap<ToolName, Reconcile>>,
    /// In the order they were given in.
    order: Arc<[ToolName]>,
    checker: Checker,
}

impl Toolkit {
    /// Collects tools.
    ///
    /// # Errors
    /// All at once and by name (CAP-002): tools that are not declared as they have to be, two of
    /// one name, a schema that is not sound, a tool that reconciles without a reconciler.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Result<Self, ToolkitError> {
        let (checker, mut faults) = (Checker::new(), Vec::new());
        let (mut entries, mut reconcilers, mut order) =
            (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for Tool { name, declared, handler, reconcile, .. } in tools {
            let definition = match declared {
                Ok(definition) => definition,
                Err(fault) => {
                    faults.push(ToolkitFault::Tool { tool: name, fault });
                    continue;
                }
            };
            faults.extend(unsound(&checker, &definition));
            let name = definition.name.clone();
            if definition.reconciles && reconcile.is_none() {
                faults.push(ToolkitFault::NoReconciler(name.clone()));
            }
            let entry = Entry { definition: Arc::new(definition), handler };
            if entries.insert(name.clone(), entry).is_some() {
                faults.push(ToolkitFault::DuplicateTool(name));
                continue;
            }
            reconcilers.extend(reconcile.map(|reconcile| (name.clone(), reconcile)));
            order.push(name);
        }
        ToolkitError::unless_empty(faults)?;
        let (tools, reconcilers) = (Arc::new(entries), Arc::new(reconcilers));
        Ok(Self { tools, reconcilers, order: order.into(), checker })
    }

    /// The definitions, in the order the tools were given in: what an agent declares.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let entries = self.order.iter().filter_map(|name| self.tools.get(name));
        entries.map(|entry| (*entry.definition).clone()).collect()
    }

    /// Whether these agents, all of a host's, can run with these tools, and need all of them.
    ///
    /// # Errors
    /// All at once and by name (CAP-001, CAP-002): a tool without a handler, a tool that is
    /// declared otherwise than it is (SEC-03), a tool that nobody declares, an output that cannot
    /// be checked.
    pub fn check<'a>(
        &self,
        agents: impl IntoIterator<Item = &'a AgentDefinition>,
    ) -> Result<(), ToolkitError> {
        let mut faults = Vec::new();
        let mut undeclared: BTreeSet<&ToolName> = self.tools.keys().collect();
        for agent in agents {
            undeclared.retain(|name| agent.tool(name).is_none());
            faults.extend(self.lacks(agent));
        }
        faults.extend(undeclared.into_iter().cloned().map(ToolkitFault::NoDeclaration));
        ToolkitError::unless_empty(faults)
    }
}

impl Toolkit {
    /// What keeps an agent from running with these tools.
    fn lacks(&self, agent: &AgentDefinition) -> Vec<ToolkitFault> {
        let id = || agent.id().clone();
        let tools = agent.tools().iter().filter_map(|declared| {
            let tool = declared.name.clone();
            match self.tools.get(&declared.name) {
                None => Some(ToolkitFault::NoHandler { agent: id(), tool }),
                Some(entry) if *entry.definition != *declared => {
                    Some(ToolkitFault::Differs { agent: id(), tool })
                }
                Some(_) => None,
            }
        });
        tools.chain(unsound_output(&self.checker, agent)).collect()
    }
}

impl Handlers for Toolkit {
    fn invoke(&self, invocation: Invocation, live: Live) -> BoxFuture<Ended> {
        match self.tools.get(&invocation.tool) {
            Some(entry) => Box::pin(entry.clone().perform(self.checker.clone(), invocation, live)),
            // A toolkit that was checked does not come here; one that was not says what it lacks.
            None => {
                let words = format!("the host has no tool {}", invocation.tool);
                let why = Diagnostic::cut("NoHandler", &words);
                Box::pin(ready(Ended::Outcome(ToolOutcome::Defect(why))))
            }
        }
    }

    fn checker(&self) -> &Checker {
        &self.checker
    }

    fn serves(&self, agent: &AgentDefinition) -> Result<(), ToolkitError> {
        ToolkitError::unless_empty(self.lacks(agent))
    }
}

/// Asks the reconciler of the tool.
impl Reconciler for Toolkit {
    fn reconcile(&self, doubted: Doubted) -> BoxFuture<Reconciliation> {
        let tool = self.tools.get(&doubted.tool).map(|entry| entry.definition.clone());
        let (Some(reconcile), Some(tool)) = (self.reconcilers.get(&doubted.tool), tool) else {
            return Box::pin(ready(Reconciliation::Unprovable));
        };
        let (said, checker) = (reconcile(doubted), self.checker.clone());
        Box::pin(async move {
            match said.await {
                Reconciliation::Proven(found) => {
                    Reconciliation::Proven(checker.resolution(&tool, found))
                }
                Reconciliation::Unprovable => Reconciliation::Unprovable,
            }
        })
    }

    fn reconciles(&self, tool: &ToolName) -> bool {
        self.reconcilers.contains_key(tool)
    }
}

/// What is not sound about what an agent's answers have to look like.
pub(crate) fn unsound_output(checker: &Checker, agent: &AgentDefinition) -> Option<ToolkitFault> {
    let why = checker.compile(agent.policy().output.as_ref()?).err()?;
    Some(ToolkitFault::UnsoundOutput { agent: agent.id().clone(), why })
}

/// What is not sound about a tool's schemas.
fn unsound(checker: &Checker, tool: &ToolDefinition) -> Vec<ToolkitFault> {
    let schemas = [
        ("parameters", &tool.parameters),
        ("result", &tool.success),
        ("failure", &tool.fails_with),
    ];
    let faults = schemas.into_iter().filter_map(|(of, schema)| {
        let why = checker.compile(schema).err()?;
        Some(ToolkitFault::Unsound { tool: tool.name.clone(), of, why })
    });
    faults.collect()
}

impl fmt::Debug for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}
