//! Submissions, and what is expected of them.

use everstep_machine::identity::{ConversationId, IdempotencyKey, PrincipalId, TenantId};
use everstep_machine::record::Outcome;

use super::occasion::{occasion, position};
use super::{Tools, at_most, distinct, json, name, text};
use crate::scenario::bounds::SUBMISSIONS;
use crate::scenario::draft::{
    Checked, ExactlySaid, Located, Said, ScenarioBuilder, Site, Submission,
};
use crate::scenario::fault::Fault;
use crate::scenario::noun::Noun;
use crate::scenario::words::{OUTCOMES, word};
use crate::scenario::{Exactly, SteeringScript, SubmissionScript, TurnScript};

pub(super) fn submissions(
    tools: &Tools,
    shared: &[TurnScript],
    draft: &ScenarioBuilder,
) -> Checked<Vec<SubmissionScript>> {
    let parts = &draft.submissions;
    at_most("submissions", parts, SUBMISSIONS, |part| &part.name.site)?;
    if parts.is_empty() {
        return Err(draft.about.site.fault(Fault::EmptyList { key: "submissions" }));
    }
    let is_live = draft.rules.is_some();
    let scripts = parts.iter().map(|part| submission(tools, shared, part, is_live));
    let scripts = scripts.collect::<Checked<_>>()?;
    distinct(Noun::Submission, parts.iter().map(|part| &part.name))?;
    steering(scripts, parts)
}

fn submission(
    tools: &Tools,
    shared: &[TurnScript],
    part: &Submission,
    is_live: bool,
) -> Checked<SubmissionScript> {
    name("name", &part.name, IdempotencyKey::new)?;
    let own = tools.turns(&part.turns)?;
    let turns = if own.is_empty() { shared.to_vec() } else { own };
    if turns.is_empty() && !is_live {
        let submission = part.name.value.clone();
        return Err(part.name.site.fault(Fault::NoTurns { submission }));
    }
    let expect = expectations(&part.expect)?;
    Ok(SubmissionScript {
        name: part.name.value.clone(),
        conversation: name("conversation", &part.conversation, ConversationId::new)?,
        principal: name("principal", &part.principal, PrincipalId::new)?,
        tenant: name("tenant", &part.tenant, TenantId::new)?,
        key: name("key", &part.key, IdempotencyKey::new)?,
        input: json(&part.input)?,
        turns,
        allowance: part.allowance,
        steers: None,
        exactly: exactly(&part.exactly, &expect)?,
        expect,
    })
}

/// Whose runs submissions are meant for: of their own conversation, and of one that is not itself
/// said to a run.
fn steering(
    mut scripts: Vec<SubmissionScript>,
    parts: &[Submission],
) -> Checked<Vec<SubmissionScript>> {
    for (at, part) in parts.iter().enumerate() {
        let Some((said, moment)) = &part.steers else { continue };
        let host = position(&scripts, said)?;
        let fits =
            parts[host].steers.is_none() && scripts[host].conversation == scripts[at].conversation;
        if host == at || !fits {
            let name = said.value.clone();
            return Err(said.site.fault(Fault::NoHost { name }));
        }
        scripts[at].steers = Some(SteeringScript { host, moment: occasion(moment)? });
    }
    Ok(scripts)
}

pub(super) fn expectations(parts: &[Located<Outcome>]) -> Checked<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for part in parts {
        if outcomes.contains(&part.value) {
            let name = word(&OUTCOMES, part.value).to_owned();
            return Err(part.site.fault(Fault::Duplicate { noun: Noun::Expectation, name }));
        }
        outcomes.push(part.value);
    }
    Ok(outcomes)
}

/// What more is expected; of no outcome that is not expected.
fn exactly(said: &ExactlySaid, expect: &[Outcome]) -> Checked<Exactly> {
    let only = |key: &'static str, outcome: Outcome, site: Option<&Site>| match site {
        Some(site) if !expect.is_empty() && !expect.contains(&outcome) => {
            Err(site.fault(Fault::Pointless { key, word: word(&OUTCOMES, outcome) }))
        }
        Some(_) | None => Ok(()),
    };
    let ExactlySaid { finish, output, disposition, tag, limit } = said;
    only("expect_finish", Outcome::Completed, finish.as_ref().map(|it| &it.site))?;
    only("expect_output", Outcome::Completed, output.as_ref().map(|it| &it.site))?;
    only("expect_disposition", Outcome::Completed, disposition.as_ref().map(|it| &it.site))?;
    only("expect_tag", Outcome::Failed, tag.as_ref().map(|it| &it.site))?;
    only("expect_limit", Outcome::Failed, limit.as_ref().map(|it| &it.site))?;
    let words = |key, said: &Option<Said>| said.as_ref().map(|it| text(key, it)).transpose();
    Ok(Exactly {
        finish: finish.as_ref().map(|it| it.value),
        output: output.as_ref().map(json).transpose()?,
        disposition: words("expect_disposition", disposition)?,
        tag: words("expect_tag", tag)?,
        limit: limit.as_ref().map(|it| it.value),
    })
}
