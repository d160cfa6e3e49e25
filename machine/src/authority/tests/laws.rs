use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

/// Keys that lie close to each other, and some that are none.
fn text() -> impl Strategy<Value = String> {
    let near = "(mcp|fs|secret)(\\.(call|callback|bind|read)){0,2}(:(docs|Docs|API|\\*|d\\*)){0,2}";
    prop_oneof![9 => near, 1 => "[a-z.:*A\u{430}]{0,12}"]
}

fn any_key() -> impl Strategy<Value = CapabilityKey> {
    text().prop_filter_map("no key", |text| CapabilityKey::new(&text).ok())
}

fn any_grant() -> impl Strategy<Value = Grant> {
    text().prop_filter_map("no grant", |text| Grant::new(&text).ok())
}

fn any_resource() -> impl Strategy<Value = Resource> {
    "[ab]{1,2}(/[ab]{1,2}){0,3}".prop_map(|text| Resource::new(&text).unwrap())
}

fn any_right() -> impl Strategy<Value = Right> {
    let within = prop_oneof![Just(Selector::Any), any_resource().prop_map(Selector::Within)];
    (any_grant(), within).prop_map(|(grant, within)| Right { grant, within })
}

fn any_rights() -> impl Strategy<Value = Rights> {
    prop::collection::vec(any_right(), 0..6).prop_map(|rights| rights.into_iter().collect())
}

/// What a grant means, written down once more and in another way.
fn means(grant: &str, key: &str) -> bool {
    match grant.split_once(":*") {
        None => grant == key,
        Some((stem, _)) => key.split(':').next() == Some(stem) && key.contains(':'),
    }
}

proptest! {
    #[test]
    fn auth_02_a_grant_means_what_its_text_says(text in text(), key in any_key()) {
        if let Ok(grant) = Grant::new(&text) {
            prop_assert_eq!(grant.matches(&key), means(&text, key.as_str()));
        }
        if let Ok(key) = CapabilityKey::new(&text) {
            prop_assert!(!text.contains('*') && text.is_ascii());
            prop_assert_eq!(key.as_str(), &text);
        }
    }

    #[test]
    fn auth_04_no_wildcard_reaches_a_secret(grant in any_grant(), name in "[A-Za-z_*]{1,8}") {
        if let Ok(secret) = CapabilityKey::new(&alloc::format!("secret.bind:{name}")) {
            let exact = matches!(grant.pattern(), Pattern::Exact(key) if *key == secret);
            prop_assert_eq!(grant.matches(&secret), exact);
        }
    }

    #[test]
    fn sec_02_a_cut_allows_what_both_allow(
        one in any_rights(),
        two in any_rights(),
        key in any_key(),
        resource in prop::option::of(any_resource()),
    ) {
        let allow = |rights: &Rights| rights.allow(&key, resource.as_ref());
        prop_assert_eq!(allow(&one.meet(&two)), allow(&one) && allow(&two));
        prop_assert_eq!(allow(&one.meet(&two)), allow(&two.meet(&one)));
        prop_assert_eq!(allow(&one.meet(&one)), allow(&one));
    }

    #[test]
    fn sec_02_whatever_is_taken_away_nothing_new_is_allowed(
        defaults in prop::collection::vec(any_grant(), 0..5),
        taken in any::<prop::sample::Index>(),
        delegable in any_rights(),
        required in any_rights(),
        asked in any_key(),
        resource in prop::option::of(any_resource()),
    ) {
        let whole = Policy {
            defaults: defaults.iter().cloned().map(|it| (it, Scope::Core)).collect(),
            ..Policy::default()
        };
        let mut less = whole.clone();
        if !defaults.is_empty() {
            prop_assert!(less.revoke(None, taken.get(&defaults)));
        }
        let target = Digest::of("test", b"agent");
        let ceiling = Ceiling::new(target, &whole.rights(), &delegable, &required);
        let root = Action { resource, ..action(asked.as_str()) };
        let standpoint = Standpoint::Child { ceiling: Arc::new(ceiling), required: required.clone() };
        let child = Action { standpoint, ..root.clone() };
        let allowed = |policy: &Policy, action: &Action| host(policy.clone()).evaluate(action).is_allowed();
        let states: Vec<(bool, bool)> =
            [&whole, &less].map(|it| (allowed(it, &root), allowed(it, &child))).into();
        prop_assert!(states[0].0 || !states[1].0, "revoking has granted something");
        for (policy, (of_root, of_child)) in [&whole, &less].into_iter().zip(&states) {
            // A child is never above its principal, its delegation or its definition.
            let resource = root.resource.as_ref();
            let expected = *of_root
                && whole.rights().allow(&asked, resource)
                && delegable.allow(&asked, resource)
                && required.allow(&asked, resource);
            prop_assert_eq!(*of_child, expected, "{:?}", policy);
        }
    }
}
