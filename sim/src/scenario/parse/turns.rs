//! Turns of a script, and rules of a live model.

use everstep_machine::agent::Usage;

use super::parts::failure;
use super::{Row, texts};
use crate::scenario::USUAL_USAGE;
use crate::scenario::draft::{Call, Checked, Located, ModelFailure, ProviderCall, Rule, Turn};
use crate::scenario::fault::Fault;
use crate::scenario::words::{DIMENSIONS, FAULTS, MODELS, ModelKind, meaning};

pub(in crate::scenario) fn turn(row: &Row<'_, '_>) -> Checked<Turn> {
    let says_nothing = row.flag("no_usage") == Some(true);
    Ok(Turn {
        site: row.site(),
        reasoning: row.text("reasoning"),
        text: row.text("text"),
        provider_calls: row.each("provider_calls", provider_call)?,
        calls: row.each("calls", call)?,
        usage: (!says_nothing).then(|| row.row("usage").map_or(USUAL_USAGE, |row| usage(&row))),
        fault: row.row("fault").map(|fault| model_failure(&fault)).transpose()?,
        faults: row.each("faults", model_failure)?,
    })
}

/// The numbers have passed the grammar.
fn usage(row: &Row<'_, '_>) -> Usage {
    let number = |key, usual| row.whole_or(key, usual).value;
    Usage {
        input_tokens: number("input_tokens", USUAL_USAGE.input_tokens),
        cache_read_tokens: number("cache_read_tokens", USUAL_USAGE.cache_read_tokens),
        cache_write_tokens: number("cache_write_tokens", USUAL_USAGE.cache_write_tokens),
        output_tokens: number("output_tokens", USUAL_USAGE.output_tokens),
        cost_micros: number("cost_micros", USUAL_USAGE.cost_micros),
    }
}

fn model_failure(row: &Row<'_, '_>) -> Checked<ModelFailure> {
    let kind = row.need("kind", "`fault`")?;
    let kind = meaning(&FAULTS, &kind.value)
        .ok_or_else(|| kind.site.fault(Fault::MissingKey { key: "kind", table: "`fault`" }))?;
    let retry_after_ms = row.whole("retry_after_ms");
    let used = row.row("usage").map(|row| usage(&row));
    Ok(ModelFailure { kind, failure: failure(row)?, retry_after_ms, used })
}

fn call(row: &Row<'_, '_>) -> Checked<Call> {
    Ok(Call {
        tool: row.need("tool", "`calls`")?,
        parameters: row.json_or("parameters", "{}")?,
        undeclared: row.flag("undeclared") == Some(true),
    })
}

fn provider_call(row: &Row<'_, '_>) -> Checked<ProviderCall> {
    Ok(ProviderCall {
        tool: row.need("tool", "`provider_calls`")?,
        parameters: row.json_or("parameters", "{}")?,
        result: row.json_or("result", "null")?,
        failed: row.flag("failed") == Some(true),
    })
}

/// The rules of a live model, if the model is one.
pub(super) fn rules(root: &Row<'_, '_>) -> Checked<Option<Located<Vec<Rule>>>> {
    let Some(model) = root.row("model") else { return Ok(None) };
    match model.word_or("kind", &MODELS, ModelKind::Scripted) {
        ModelKind::Scripted => Ok(None),
        ModelKind::Live => Ok(Some(Located::new(model.each("rules", rule)?, model.site()))),
    }
}

fn rule(row: &Row<'_, '_>) -> Checked<Rule> {
    let missing = || row.site().fault(Fault::MissingKey { key: "then", table: "[[model.rules]]" });
    let then = row.row("then").ok_or_else(missing)?;
    let rule = Rule {
        site: Some(row.site()),
        text: then.text("text"),
        calls: texts(then.items("calls")).collect(),
        ..Rule::default()
    };
    let Some(when) = row.row("when") else { return Ok(rule) };
    Ok(Rule {
        instructions_contain: when.text("instructions_contain"),
        shows: when.text("shows"),
        last_user_contains: when.text("last_user_contains"),
        tool_result_of: when.text("tool_result_of"),
        result_contains: when.text("result_contains"),
        tools_forbidden: when.flag("tools_forbidden"),
        output_wanted: when.flag("output_wanted"),
        status_shows: when.word("status_shows", &DIMENSIONS).map(|word| word.value),
        ..rule
    })
}
