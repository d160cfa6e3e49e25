//! What a scenario's model goes by.

use everstep_machine::agent::Dimension;
use everstep_machine::identity::ToolName;

/// What a model goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelScript {
    /// The turns of each submission, whatever it is shown.
    Scripted,
    /// These rules, and nothing but what a request shows. The first rule that fits decides.
    Live(Vec<RuleScript>),
}

/// What a live model does when a request shows something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleScript {
    /// What has to be shown.
    pub when: WhenScript,
    /// What it does then.
    pub then: ThenScript,
}

/// What a request has to show: every part that is there. Without any it always fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhenScript {
    /// The agent's instructions contain it.
    pub instructions_contain: Option<String>,
    /// Some message contains it.
    pub shows: Option<String>,
    /// The last input contains it.
    pub last_user_contains: Option<String>,
    /// The last batch of results has one of this tool.
    pub tool_result_of: Option<ToolName>,
    /// A result of the last batch contains it.
    pub result_contains: Option<String>,
    /// Whether calling tools is forbidden.
    pub tools_forbidden: Option<bool>,
    /// Whether an answer of a certain form is wanted.
    pub output_wanted: Option<bool>,
    /// The status note tells of it.
    pub status_shows: Option<Dimension>,
}

/// What a live model does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThenScript {
    /// What it says, if anything.
    pub text: Option<String>,
    /// The tools that it calls, if they are advertised; none means that it answers.
    pub calls: Vec<ToolName>,
}
