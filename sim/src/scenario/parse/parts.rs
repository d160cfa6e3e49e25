//! The parts of a scenario.

use everstep_machine::agent::{Allowance, ExecutionClass};
use everstep_machine::identity::DurationMs;
use everstep_machine::record::Outcome;

use super::{Row, denials, names, policy, texts, turns};
use crate::scenario::Silence;
use crate::scenario::bounds::DEFAULT_WORKERS;
use crate::scenario::draft::{
    Abort, Answer, Checked, Compactor, ExactlySaid, Failure, Group, Located, Reaction, Reply,
    Retry, Revision, ScenarioBuilder, StepPart, Submission, Tool, Traits,
};
use crate::scenario::fault::Fault;
use crate::scenario::grammar::ROOT;
use crate::scenario::words::{
    ANSWERS, APPROVALS, AnswerKind, CLASSES, EVERY_MOMENT, FAILURE_MODES, FINISHES, LIMITS,
    OUTCOMES, RECONCILERS, RETRY_CLASSES, RISKS, SILENCES, meaning,
};

pub(super) fn scenario(name: &str, root: &Row<'_, '_>) -> Checked<ScenarioBuilder> {
    let agent = policy::agent(root)?;
    Ok(ScenarioBuilder {
        name: name.to_owned(),
        about: root.need("about", ROOT.name)?,
        workers: root.whole_or("workers", DEFAULT_WORKERS as u64),
        checkpoints: root.flag("checkpoints").unwrap_or(false),
        agent: agent.id,
        instructions: agent.instructions,
        max_turns: agent.max_turns,
        policy: agent.policy,
        revision: root.row("revision").map(|row| revision(&row)).transpose()?,
        tools: root.each("tools", tool)?,
        denied: denials(root, "authorizer"),
        disapproved: denials(root, "approver"),
        people: names(root, "approver", "people"),
        is_layered: super::is_layered(root),
        rules: turns::rules(root)?,
        compactor: root.row("compactor").map(|row| compactor(&row)).transpose()?,
        groups: root.each("groups", group)?,
        turns: root.each("turns", turns::turn)?,
        submissions: root.each("submissions", submission)?,
        aborts: root.each("aborts", abort)?,
        retries: root.each("retries", retry)?,
        answers: root.each("resolutions", answer)?,
    })
}

pub(super) fn failure(row: &Row<'_, '_>) -> Checked<Failure> {
    Ok(Failure { tag: row.need("tag", "`failure`")?, message: row.need("message", "`failure`")? })
}

pub(in crate::scenario) fn tool(row: &Row<'_, '_>) -> Checked<Tool> {
    Ok(Tool {
        name: row.need("name", "[[tools]]")?,
        class: row.word_or("class", &CLASSES, ExecutionClass::Ordinary),
        reconciles: row.word_or("reconciler", &RECONCILERS, false),
        latency_ms: row.whole_or("latency_ms", 0),
        silent_starts: row.whole_or("silent_starts", 0),
        silence: row.word_or("silence", &SILENCES, Silence::Done),
        deadly_starts: row.whole_or("deadly_starts", 0),
        passing_failures: row.whole_or("passing_failures", 0),
        steps: row.each("steps", step)?,
        later_steps: row.each("later_steps", step)?,
        reaction: match row.row("failure") {
            Some(failed) => Reaction::Failure(failure(&failed)?),
            None => Reaction::Result(row.json_or("result", "null")?),
        },
        traits: Traits {
            description: row.text("description"),
            parameters: row.json("parameters")?,
            success: row.json("success")?,
            fails_with: row.json("fails_with")?,
            risk: row.word("risk", &RISKS).map(|word| word.value),
            resource: row.text("resource"),
            group: row.text("group"),
            timeout_ms: row.whole("timeout_ms"),
            retry: row.word("retry", &RETRY_CLASSES).map(|word| word.value),
            result_bytes: row.whole("result_bytes"),
            redact: texts(row.items("redact")).collect(),
            failure: row.word("failure_mode", &FAILURE_MODES).map(|word| word.value),
            approval: row.word("approval", &APPROVALS).map(|word| word.value),
        },
    })
}

fn compactor(row: &Row<'_, '_>) -> Checked<Compactor> {
    let summary = row.need("summary", "[compactor]")?;
    Ok(Compactor { summary, keep: row.whole_or("keep", 1) })
}

fn group(row: &Row<'_, '_>) -> Checked<Group> {
    let name = row.need("name", "[[groups]]")?;
    Ok(Group { name, places: row.whole_or("places", 1) })
}

fn step(row: &Row<'_, '_>) -> Checked<StepPart> {
    Ok(StepPart {
        name: row.need("name", "[[tools.steps]]")?,
        version: row.whole_or("version", 1),
        result: row.json_or("result", "null")?,
    })
}

fn submission(row: &Row<'_, '_>) -> Checked<Submission> {
    let name = row.need("name", "[[submissions]]")?;
    let allowance = row.row("allowance").map(|row| allowance(&row)).unwrap_or_default();
    let steers = row.row("steers").map(|row| -> Checked<_> {
        Ok((row.need("run", "`steers`")?, row.text_or("at", EVERY_MOMENT)))
    });
    Ok(Submission {
        conversation: row.text_or("conversation", "main"),
        principal: row.text_or("principal", "client"),
        tenant: row.text_or("tenant", "default"),
        key: row.text("key").unwrap_or_else(|| name.clone()),
        input: row.json_or("input", "null")?,
        turns: row.each("turns", turns::turn)?,
        allowance,
        steers: steers.transpose()?,
        expect: outcomes(row),
        exactly: ExactlySaid {
            finish: row.word("expect_finish", &FINISHES),
            output: row.json("expect_output")?,
            disposition: row.text("expect_disposition"),
            tag: row.text("expect_tag"),
            limit: row.word("expect_limit", &LIMITS),
        },
        name,
    })
}

/// What a table allows; the numbers have passed the grammar.
pub(super) fn allowance(row: &Row<'_, '_>) -> Allowance {
    let number = |key| row.whole(key).map(|number| number.value);
    let count = |key| number(key).and_then(|number| u32::try_from(number).ok());
    Allowance {
        turns: count("turns"),
        tool_calls: count("tool_calls"),
        tokens: number("tokens"),
        cost_micros: number("cost_micros"),
        duration: number("duration_ms").map(DurationMs),
    }
}

fn abort(row: &Row<'_, '_>) -> Checked<Abort> {
    Ok(Abort {
        submission: row.need("submission", "[[aborts]]")?,
        at: row.text_or("at", EVERY_MOMENT),
        principal: row.text_or("principal", "client"),
        reason: row.text_or("reason", "no longer wanted"),
    })
}

fn retry(row: &Row<'_, '_>) -> Checked<Retry> {
    Ok(Retry {
        submission: row.need("submission", "[[retries]]")?,
        people: row.whole_or("people", 1),
        principal: row.text_or("principal", "operator"),
        reason: row.text_or("reason", "the cause is gone"),
        turns: row.each("turns", turns::turn)?,
        expect: outcomes(row),
    })
}

fn revision(row: &Row<'_, '_>) -> Checked<Revision> {
    Ok(Revision {
        instructions: row.need("instructions", "[revision]")?,
        rebinds: row.flag("rebinds").unwrap_or(false),
        outlasts_pauses: row.flag("outlasts_pauses").unwrap_or(false),
    })
}

/// The outcomes that a table expects.
fn outcomes(row: &Row<'_, '_>) -> Vec<Located<Outcome>> {
    let said = texts(row.items("expect"));
    let known = said.filter_map(|word| {
        meaning(&OUTCOMES, &word.value).map(|outcome| Located::new(outcome, word.site))
    });
    known.collect()
}

fn answer(row: &Row<'_, '_>) -> Checked<Answer> {
    let (tool, word) =
        (row.need("tool", "[[resolutions]]")?, row.need("answer", "[[resolutions]]")?);
    let reply = match meaning(&ANSWERS, &word.value) {
        Some(AnswerKind::Completed) => Reply::Completed(row.json("result")?),
        Some(AnswerKind::Failed) => {
            Reply::Failed(row.row("failure").map(|failed| failure(&failed)).transpose()?)
        }
        Some(AnswerKind::NeverStarted) => Reply::NeverStarted,
        Some(AnswerKind::SafeToRepeat) => Reply::SafeToRepeat,
        None => {
            let fault = Fault::MissingKey { key: "answer", table: "[[resolutions]]" };
            return Err(word.site.fault(fault));
        }
    };
    Ok(Answer { tool, reply })
}
