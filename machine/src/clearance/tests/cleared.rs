//! What is said before anybody is asked.

use super::*;
use crate::agent::RejectionReason;
use crate::approval::Layer;

fn refused(clearance: &Clearance) -> Option<RejectionReason> {
    match clearance {
        Clearance::Refused(reason) => Some(*reason),
        Clearance::Auto | Clearance::Prompt { .. } => None,
    }
}

#[test]
fn auth_01_what_a_tool_takes_is_not_granted_because_it_says_so() {
    let (ada, nothing) = (asker("ada"), State::default());
    let lacking = RejectionReason::NotGranted(authority::Layer::Membership);
    assert_eq!(refused(&say(&nothing, &ada, "pay")), Some(lacking), "a host that was told nothing");
    let lacking = RejectionReason::NotGranted(authority::Layer::Policy);
    assert_eq!(refused(&say(&host(&["ada"], &[]), &ada, "pay")), Some(lacking));
    assert_eq!(refused(&say(&host(&["ada"], &["money.send:*"]), &ada, "pay")), Some(lacking));
}

#[test]
fn auth_15_what_is_granted_goes_on_to_the_policy() {
    let clearance = say(&host(&["ada"], &["money.send"]), &asker("ada"), "pay");
    assert!(matches!(clearance, Clearance::Prompt { risk: Risk::High, .. }), "{clearance:?}");
}

#[test]
fn sec_02_whoever_is_no_member_of_a_tenant_with_a_policy_gets_nothing_done_in_it() {
    let state = host(&["ada"], &["money.send"]);
    let out = RejectionReason::NotGranted(authority::Layer::Membership);
    for tool in ["pay", "look"] {
        assert_eq!(refused(&say(&state, &asker("eve"), tool)), Some(out), "{tool}");
    }
    assert_eq!(say(&state, &asker("ada"), "look"), Clearance::Auto);
    assert_eq!(say(&State::default(), &asker("eve"), "look"), Clearance::Auto, "nobody governs");
}

#[test]
fn sec_02_a_revocation_counts_from_the_next_call_on_and_at_the_door() {
    let mut state = host(&["ada"], &["money.send"]);
    let ada = asker("ada");
    let action = proposed(&ada, 1, "pay").action.unwrap();
    assert!(state.may(&action).is_allowed());
    let grant = Grant::new("money.send").unwrap();
    let revoked = authority::Input::GrantRevoked { tenant: tenant(), component: None, grant };
    tell(&mut state, Input::Authority(revoked));
    assert!(!state.may(&action).is_allowed());
    let lacking = RejectionReason::NotGranted(authority::Layer::Policy);
    assert_eq!(refused(&say(&state, &ada, "pay")), Some(lacking));
}

#[test]
fn auth_06_the_hosts_layer_makes_calls_stricter_and_never_less_strict() {
    let mut state = host(&["ada"], &["money.send"]);
    let ada = asker("ada");
    let before = state.clear(&ada, &[]).policy;
    let mut layer = Entries { default: Some(Judgement::Auto), ..Entries::default() };
    tell(&mut state, Input::PolicyLaidDown(layer.clone()));
    assert!(matches!(say(&state, &ada, "pay"), Clearance::Prompt { .. }), "the tool wants it");
    layer.tools.insert(name("look"), Judgement::Deny);
    tell(&mut state, Input::PolicyLaidDown(layer));
    let denied = RejectionReason::PolicyDenied(Layer::Global);
    assert_eq!(refused(&say(&state, &ada, "look")), Some(denied));
    assert_ne!(state.clear(&ada, &[]).policy, before, "AUTH-13: another version of the policy");
}

#[test]
fn auth_08_the_risk_of_a_tool_selects_what_the_agents_own_layer_says() {
    let mut policy = policy();
    policy.approval.entries.risks.insert(Risk::Critical, Judgement::Deny);
    let of = |risk| {
        let tool =
            ToolDefinition { risk, ..ToolDefinition::new(name("look"), ExecutionClass::Ordinary) };
        let binding = bound(Vec::from([tool]), policy.clone());
        say(&State::default(), &Asker { binding, ..asker("ada") }, "look")
    };
    assert_eq!(of(Risk::High), Clearance::Auto);
    let denied = RejectionReason::PolicyDenied(Layer::Core);
    assert_eq!(refused(&of(Risk::Critical)), Some(denied));
}

#[test]
fn arc_02_a_tool_that_the_agent_does_not_have_is_refused() {
    let ada = asker("ada");
    let unheard = Proposed { tool: name("rob"), ..proposed(&ada, 1, "look") };
    let said = host(&["ada"], &[]).clear(&ada, &[unheard]);
    assert!(refused(&said.calls[0].1).is_some());
}

#[test]
fn sec_02_a_policy_that_is_withdrawn_and_a_principal_that_is_revoked_let_nobody_in() {
    let mut state = host(&["ada"], &["money.send"]);
    tell(&mut state, Input::Authority(authority::Input::PolicyWithdrawn { tenant: tenant() }));
    let out = RejectionReason::NotGranted(authority::Layer::Membership);
    assert_eq!(refused(&say(&state, &asker("ada"), "look")), Some(out));
    let mut free = State::default();
    let revoked = authority::Input::Revoked { tenant: tenant(), principal: principal("ada") };
    tell(&mut free, Input::Authority(revoked));
    assert_eq!(refused(&say(&free, &asker("ada"), "look")), Some(out), "also where nobody governs");
    assert_eq!(say(&free, &asker("eve"), "look"), Clearance::Auto);
}
