//! `everstep doctor`: what an agent file lets its tools do, and which layer decides.
//!
//! It asks the machine that a run asks, so that what is printed is what happens. Nothing is run, no
//! database is opened, and nobody is asked.

use std::fmt::Write as _;

use everstep_machine::agent::{Judgement, ToolDefinition};
use everstep_machine::approval::{Entry, Ruling};
use everstep_machine::authority::{Denial, Lacking, Outcome as Granted, Scope, Source};
use everstep_machine::clearance;
use everstep_machine::effect::{Asker, Clearance, Proposed};
use everstep_machine::identity::{ConversationId, ToolCallId};
use everstep_sim::scenario::{AgentFile, ApproverFile};
use serde_json::{Value, json};

use crate::args::Doctor;
use crate::asked::risk;
use crate::exit::{Exit, Outcome};
use crate::output::{self, BAD, FAINT, GOOD, HEAD, one_line, styled};
use crate::run::named::{self, Agent};

/// What becomes of the calls of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// They start.
    Granted,
    /// Somebody is asked first.
    Asked,
    /// They never start.
    Denied,
}

/// What is said of one tool.
struct Finding<'a> {
    tool: &'a ToolDefinition,
    verdict: Verdict,
    grant: Option<Granted>,
    ruling: Ruling,
    /// What the file's authorizer and approver say, if they do.
    host: Option<&'static str>,
}

/// Runs the command.
pub(crate) fn run(args: &Doctor) -> Outcome {
    let agent = named::agent(&args.agent)?;
    let state = named::granted(&agent.file);
    let findings: Vec<Finding<'_>> =
        agent.binding.definition.tools().iter().map(|tool| finding(&agent, &state, tool)).collect();
    output::print(&if args.json {
        format!("{:#}\n", as_json(&agent, &findings))
    } else {
        words(&agent, &findings)
    })?;
    Ok(Exit::Holds)
}

fn finding<'a>(agent: &Agent, state: &clearance::State, tool: &'a ToolDefinition) -> Finding<'a> {
    let asker = Asker {
        tenant: named::tenant(),
        principal: named::principal(),
        conversation: ConversationId::new("doctor").expect("ID-01: it is short and plain"),
        binding: agent.binding.clone(),
    };
    let definition = asker.binding.bound().definition;
    let action = asker.action(tool, definition, None);
    let grant = action.as_ref().map(|action| state.may(action).outcome);
    let ruling = state.ruling(&asker, tool);
    let proposed = Proposed { call: ToolCallId([0; 16]), tool: tool.name.clone(), action };
    let said = state.clear(&asker, &[proposed]).calls.remove(0).1;
    let host = host(&agent.file, tool, ruling.judgement);
    let verdict = match (said, host) {
        (Clearance::Refused(_), _) | (_, Some(TURNED_DOWN | NOT_APPROVED)) => Verdict::Denied,
        (Clearance::Prompt { .. }, _) => Verdict::Asked,
        (Clearance::Auto, _) => Verdict::Granted,
    };
    Finding { tool, verdict, grant, ruling, host }
}

const TURNED_DOWN: &str = "the authorizer turns it down";
const NOT_APPROVED: &str = "the approver denies it";

/// What the file's own authorizer and approver make of it.
fn host(file: &AgentFile, tool: &ToolDefinition, judgement: Judgement) -> Option<&'static str> {
    if file.denied.contains(&tool.name) {
        return Some(TURNED_DOWN);
    }
    if judgement != Judgement::Prompt {
        return None;
    }
    Some(match &file.approver {
        ApproverFile::Said { denied, .. } if denied.contains(&tool.name) => NOT_APPROVED,
        ApproverFile::Said { people, .. } if !people.contains(&tool.name) => {
            "the approver approves it"
        }
        ApproverFile::Said { .. } | ApproverFile::Nobody => "a person decides",
        ApproverFile::Service(_) => "the approver's service is asked, and a person if it is silent",
    })
}

impl Verdict {
    const fn word(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Asked => "asked",
            Self::Denied => "denied",
        }
    }
}

impl Finding<'_> {
    /// Who grants what it takes, or who would have had to.
    fn takes(&self) -> String {
        let Some(capability) = &self.tool.capability else {
            return "takes nothing that has to be granted".to_owned();
        };
        match &self.grant {
            Some(Granted::Allowed { source, scope }) => {
                format!("takes {capability}: granted by {}, {}", source_words(source), of(*scope))
            }
            Some(Granted::Denied(denial)) => {
                format!("takes {capability}: {}", self.denial(*denial))
            }
            None => format!("takes {capability}"),
        }
    }

    fn denial(&self, denial: Denial) -> String {
        let component = format!("agent/tools/{}", self.tool.name);
        match denial {
            Denial::NoPolicy | Denial::NotAMember => {
                "not granted, for the file has no [capabilities]".to_owned()
            }
            Denial::NotGranted(Lacking::ExactDefault) => {
                "not granted: only its exact name in [capabilities.defaults] would".to_owned()
            }
            Denial::NotGranted(Lacking::DefaultOrComponent | Lacking::AnySource) => format!(
                "not granted: neither in [capabilities.defaults] nor in \
                 [capabilities.grants.\"{component}\"]"
            ),
            other => format!("not granted by {}", other.layer()),
        }
    }

    /// Which layer decides whether somebody is asked, and by which entry.
    fn decided(&self) -> String {
        let Ruling { judgement, rule, .. } = &self.ruling;
        let what = match judgement {
            Judgement::Auto => "asks nobody",
            Judgement::Prompt => "wants somebody to be asked",
            Judgement::Deny => "denies it",
        };
        let entry = match &rule.entry {
            Entry::Tool => ", by its name".to_owned(),
            Entry::Capability(pattern) => format!(", for {pattern}"),
            Entry::Risk(level) => format!(", for {} risk", risk(*level)),
            Entry::Default => ", by default".to_owned(),
            Entry::Declared | Entry::Command(_) => String::new(),
        };
        format!("risk {}: {} {what}{entry}", risk(self.ruling.risk), rule.layer)
    }

    fn json(&self) -> Value {
        let (source, scope, lacking) = match &self.grant {
            Some(Granted::Allowed { source, scope }) => {
                (Some(source_words(source)), Some(of(*scope)), None)
            }
            Some(Granted::Denied(denial)) => (None, None, Some(self.denial(*denial))),
            None => (None, None, None),
        };
        json!({
            "tool": self.tool.name.as_str(),
            "verdict": self.verdict.word(),
            "capability": self.tool.capability.as_ref().map(|it| it.as_str()),
            "granted_by": source,
            "scope": scope,
            "not_granted": lacking,
            "risk": risk(self.ruling.risk),
            "judgement": match self.ruling.judgement {
                Judgement::Auto => "auto",
                Judgement::Prompt => "prompt",
                Judgement::Deny => "deny",
            },
            "layer": self.ruling.rule.layer.to_string(),
            "decided": self.decided(),
            "host": self.host,
        })
    }
}

fn source_words(source: &Source) -> String {
    match source {
        Source::Default => "[capabilities.defaults]".to_owned(),
        Source::Component(path) => format!("[capabilities.grants.\"{path}\"]"),
        Source::Declared => "its own list".to_owned(),
    }
}

const fn of(scope: Scope) -> &'static str {
    match scope {
        Scope::Workspace => "in the workspace",
        Scope::Core => "for agent and host",
    }
}

fn words(agent: &Agent, findings: &[Finding<'_>]) -> String {
    let mut text = String::new();
    let id = one_line(agent.binding.definition.id().as_str());
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", styled(HEAD, format_args!("what {id} may do")));
    if findings.is_empty() {
        text.push_str("  it has no tools\n");
    }
    for it in findings {
        let style = match it.verdict {
            Verdict::Granted => GOOD,
            Verdict::Asked => HEAD,
            Verdict::Denied => BAD,
        };
        let name = one_line(it.tool.name.as_str());
        let verdict = styled(style, format_args!("{:<8}", it.verdict.word()));
        let _ = writeln!(text, "  {verdict} {name}");
        let _ = writeln!(text, "           {}", styled(FAINT, it.takes()));
        let _ = writeln!(text, "           {}", styled(FAINT, it.decided()));
        if let Some(host) = it.host {
            let _ = writeln!(text, "           {}", styled(FAINT, host));
        }
    }
    text
}

fn as_json(agent: &Agent, findings: &[Finding<'_>]) -> Value {
    json!({
        "command": "doctor",
        "agent": agent.binding.definition.id().as_str(),
        "tools": findings.iter().map(Finding::json).collect::<Vec<_>>(),
    })
}
