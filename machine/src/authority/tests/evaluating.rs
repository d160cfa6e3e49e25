use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use super::*;

#[test]
fn auth_01_what_is_declared_is_not_granted() {
    let state = host(Policy::default());
    let mut asked = action("fs.read");
    asked.component = Some(path());
    let lacking = Denial::NotGranted(Lacking::DefaultOrComponent);
    assert_eq!(denial(&state, asked.clone()), Some(lacking));
    asked.need = Need::Implementation;
    assert_eq!(denial(&state, asked), Some(Denial::NotGranted(Lacking::AnySource)));
}

#[test]
fn auth_02_a_default_grants_exactly_or_up_to_the_colon() {
    let policy = Policy { defaults: granted(&["fs.read", "mcp.call:*"]), ..Policy::default() };
    let state = host(policy);
    for allowed in ["fs.read", "mcp.call:docs"] {
        assert!(ask(&state, action(allowed)).is_allowed(), "{allowed}");
    }
    for denied in ["fs.write", "fs.read:x", "mcp.callback:docs", "mcp.call", "mcp.connect:docs"] {
        assert!(!ask(&state, action(denied)).is_allowed(), "{denied}");
    }
}

#[test]
fn auth_03_a_components_own_list_never_satisfies_the_registry() {
    let mut asked = action("fs.write");
    asked.component = Some(path());
    asked.declared = BTreeSet::from([grant("fs.write")]);
    let nothing = host(Policy::default());
    let lacking = Denial::NotGranted(Lacking::DefaultOrComponent);
    assert_eq!(denial(&nothing, asked.clone()), Some(lacking));
    let inside = Action { need: Need::Implementation, ..asked.clone() };
    let declared = Outcome::Allowed { source: Source::Declared, scope: Scope::Workspace };
    assert_eq!(ask(&nothing, inside).outcome, declared);

    let components = BTreeMap::from([(path(), granted(&["fs.write"]))]);
    let state = host(Policy { components, ..Policy::default() });
    let by_path = Outcome::Allowed { source: Source::Component(path()), scope: Scope::Workspace };
    assert_eq!(ask(&state, asked.clone()).outcome, by_path);
    asked.component = Some(ComponentPath::new("agent/output/archive").unwrap());
    assert_eq!(denial(&state, asked.clone()), Some(lacking), "a sibling's path is another one");
    asked.component = None;
    assert_eq!(denial(&state, asked), Some(lacking));
}

#[test]
fn auth_04_only_a_default_of_its_exact_name_grants_a_secret() {
    let components = BTreeMap::from([(path(), granted(&["secret.bind:API_KEY"]))]);
    let mut policy = Policy { components, ..Policy::default() };
    policy.defaults = granted(&["mcp.call:*", "secret.bind:OTHER"]);
    let mut asked = action("secret.bind:API_KEY");
    asked.component = Some(path());
    asked.declared = BTreeSet::from([grant("secret.bind:API_KEY")]);
    for need in [Need::Registry, Need::Implementation] {
        asked.need = need;
        let lacking = Denial::NotGranted(Lacking::ExactDefault);
        assert_eq!(denial(&host(policy.clone()), asked.clone()), Some(lacking), "{need:?}");
    }
    policy.defaults.extend(granted(&["secret.bind:API_KEY"]));
    assert!(ask(&host(policy), asked).is_allowed());
}

#[test]
fn auth_05_connecting_and_calling_are_two_grants() {
    let state = host(Policy { defaults: granted(&["mcp.call:docs"]), ..Policy::default() });
    assert!(ask(&state, action("mcp.call:docs")).is_allowed());
    assert!(!ask(&state, action("mcp.connect:docs")).is_allowed());
}

#[test]
fn sec_02_what_is_absent_or_unknown_denies() {
    let policy = Policy { defaults: granted(&["fs.read"]), ..Policy::default() };
    let state = host(policy);
    assert!(ask(&state, action("fs.read")).is_allowed());
    let nobody = State::default();
    assert_eq!(denial(&nobody, action("fs.read")), Some(Denial::NotAMember));
    let unresolved = Action { definition: None, ..action("fs.read") };
    assert_eq!(denial(&state, unresolved), Some(Denial::NoDefinition));
    let orphan = Action { standpoint: Standpoint::Unresolved, ..action("fs.read") };
    assert_eq!(denial(&state, orphan), Some(Denial::NoCeiling));
    let elsewhere = Action { tenant: TenantId::new("other").unwrap(), ..action("fs.read") };
    assert_eq!(denial(&state, elsewhere), Some(Denial::NotAMember), "a tenant is a wall");
    let gone = Authority::step(state, Input::PolicyWithdrawn { tenant: tenant() }).state;
    let decision = ask(&gone, action("fs.read"));
    assert_eq!((decision.policy, decision.layer()), (None, Layer::Policy));
    assert_eq!(decision.outcome, Outcome::Denied(Denial::NoPolicy));
}

#[test]
fn sec_02_revocation_counts_from_the_next_action_on() {
    let components = BTreeMap::from([(path(), granted(&["fs.write"]))]);
    let state = host(Policy { defaults: granted(&["fs.read"]), components });
    let write = Action { component: Some(path()), ..action("fs.write") };
    let revoke = |component: Option<ComponentPath>, text| {
        let input = Input::GrantRevoked { tenant: tenant(), component, grant: grant(text) };
        Authority::step(state.clone(), input).state
    };
    assert!(ask(&state, write.clone()).is_allowed());
    assert!(!ask(&revoke(Some(path()), "fs.write"), write.clone()).is_allowed());
    assert!(ask(&revoke(None, "fs.write"), write.clone()).is_allowed(), "of another source");
    assert!(!ask(&revoke(None, "fs.read"), action("fs.read")).is_allowed());

    let revoked = Input::Revoked { tenant: tenant(), principal: principal() };
    let step = Authority::step(state, revoked);
    assert_eq!(step.effects, [Effect::Forget { tenant: tenant(), principal: principal() }]);
    assert_eq!(denial(&step.state, write), Some(Denial::NotAMember));
}

fn child(delegable: &[Right], required: &[Right]) -> Standpoint {
    let set = |rights: &[Right]| rights.iter().cloned().collect::<Rights>();
    let target = Digest::of("test", b"agent");
    let granted = set(&[right("fs.read", None), right("fs.write", None), right("net.fetch", None)]);
    let ceiling = Ceiling::new(target, &granted, &set(delegable), &set(required));
    Standpoint::Child { ceiling: Arc::new(ceiling), required: set(required) }
}

#[test]
fn sec_02_a_child_is_held_below_its_ceiling_its_requirement_and_its_resources() {
    let state = host(Policy {
        defaults: granted(&["fs.read", "fs.write", "net.fetch", "tool.call:x"]),
        ..Policy::default()
    });
    let standpoint = child(
        &[right("fs.read", Some("workspace/docs")), right("net.fetch", None)],
        &[right("fs.read", None), right("fs.write", None)],
    );
    let asked = |capability: &str, resource: Option<&str>| Action {
        standpoint: standpoint.clone(),
        resource: resource.map(|it| Resource::new(it).unwrap()),
        ..action(capability)
    };
    assert_eq!(denial(&state, asked("fs.read", Some("workspace/docs/a.md"))), None);
    assert_eq!(denial(&state, asked("fs.read", Some("workspace/docs"))), None);
    for resource in [None, Some("workspace/docs2/a.md"), Some("workspace"), Some("core/docs")] {
        let denied = denial(&state, asked("fs.read", resource));
        assert_eq!(denied, Some(Denial::OtherResource), "{resource:?}");
    }
    assert_eq!(denial(&state, asked("fs.write", None)), Some(Denial::AboveCeiling));
    assert_eq!(denial(&state, asked("net.fetch", None)), Some(Denial::AboveCeiling));

    // A definition that requires less than its ceiling was made with is held to that.
    let Standpoint::Child { ceiling, .. } = &standpoint else { panic!("it is a child") };
    let less = Standpoint::Child { ceiling: Arc::clone(ceiling), required: Rights::default() };
    let shrunk = Action { standpoint: less, ..asked("fs.read", Some("workspace/docs")) };
    assert_eq!(denial(&state, shrunk), Some(Denial::NotRequired));

    let other = Digest::of("test", b"another revision");
    let swapped = Action { definition: Some(other), ..asked("fs.read", Some("workspace/docs")) };
    assert_eq!(denial(&state, swapped), Some(Denial::OtherDefinition));
}

#[test]
fn sec_02_what_a_policy_grants_later_does_not_raise_a_ceiling() {
    let wide = [right("tool.call:x", None)];
    let asked = Action { standpoint: child(&wide, &wide), ..action("tool.call:x") };
    let state = host(Policy { defaults: granted(&["tool.call:*"]), ..Policy::default() });
    assert_eq!(denial(&state, asked), Some(Denial::AboveCeiling));
}

#[test]
fn sec_02_a_decision_says_which_policy_and_which_layer() {
    let policy = Policy { defaults: granted(&["fs.read"]), ..Policy::default() };
    let digest = policy.digest();
    let decision = ask(&host(policy), action("fs.read"));
    assert_eq!((decision.policy, decision.layer()), (Some(digest), Layer::Policy));
    assert_eq!((decision.tenant, decision.principal), (tenant(), principal()));
    let layers = [
        (Denial::NoDefinition, Layer::Definition),
        (Denial::NotAMember, Layer::Membership),
        (Denial::NotGranted(Lacking::AnySource), Layer::Policy),
        (Denial::NoCeiling, Layer::Ceiling),
        (Denial::OtherDefinition, Layer::Ceiling),
        (Denial::AboveCeiling, Layer::Ceiling),
        (Denial::NotRequired, Layer::Requirement),
        (Denial::OtherResource, Layer::Resource),
    ];
    for (denial, layer) in layers {
        assert_eq!(denial.layer(), layer, "{denial:?}");
    }
}

#[test]
fn sec_02_the_narrowest_scope_of_a_source_counts_and_a_digest_is_of_one_policy() {
    let mut policy = Policy::default();
    policy.defaults.insert(grant("mcp.call:docs"), Scope::Core);
    let wide = host(policy.clone());
    let scope = |state: &State| match ask(state, action("mcp.call:docs")).outcome {
        Outcome::Allowed { scope, .. } => scope,
        Outcome::Denied(denial) => panic!("{denial:?}"),
    };
    assert_eq!(scope(&wide), Scope::Core);
    let before = policy.digest();
    policy.defaults.insert(grant("mcp.call:*"), Scope::Workspace);
    assert_ne!(policy.digest(), before);
    assert_eq!(scope(&host(policy)), Scope::Workspace);
    let moved = BTreeMap::from([(path(), granted(&["fs.read"]))]);
    let one = Policy { components: moved, ..Policy::default() };
    let two = Policy { defaults: granted(&["fs.read"]), ..Policy::default() };
    assert_ne!(one.digest(), two.digest());
}
