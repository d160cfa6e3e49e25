use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::limits::CAPABILITY_BYTES;

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

/// Letters that look like others, and some that are nothing to see.
fn look_alike(letter: char) -> Vec<char> {
    let others = match letter {
        'a' => "\u{430}\u{3b1}\u{ff41}\u{1d41a}",
        'c' => "\u{441}\u{3f2}\u{217d}",
        'e' => "\u{435}\u{212f}",
        'i' => "\u{456}\u{131}\u{2170}",
        'k' => "\u{212a}\u{43a}",
        'o' => "\u{43e}\u{3bf}\u{ff4f}",
        's' => "\u{455}\u{17f}",
        '.' => "\u{2024}\u{ff0e}\u{b7}",
        ':' => "\u{ff1a}\u{a789}\u{2236}\u{589}",
        '*' => "\u{2217}\u{ff0a}\u{204e}",
        _ => "\u{200b}\u{ad}\u{202e}\u{301}\u{feff}",
    };
    others.chars().collect()
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
    fn auth_02_no_look_alike_is_taken_for_a_letter(
        grant in any_grant(), at in any::<prop::sample::Index>(), which in any::<prop::sample::Index>(),
        beside in any::<bool>(),
    ) {
        let text = alloc::format!("{grant}");
        let at = at.index(text.len());
        let alike = look_alike(text[at..].chars().next().unwrap());
        let mut other = text.clone();
        other.insert(at, *which.get(&alike));
        if !beside {
            let _replaced = other.remove(at + which.get(&alike).len_utf8());
        }
        prop_assert!(CapabilityKey::new(&other).is_err() && Pattern::new(&other).is_err(), "{}", other);
    }

    #[test]
    fn auth_02_whatever_slips_into_a_key_it_is_refused_or_is_another_key(
        key in any_key(), at in any::<prop::sample::Index>(), letter in any::<char>(),
    ) {
        let mut text = String::from(key.as_str());
        text.insert(at.index(text.len() + 1), letter);
        if let Ok(other) = CapabilityKey::new(&text) {
            let is_plain = letter.is_ascii_alphanumeric() || "._-/:".contains(letter);
            prop_assert!(is_plain, "{:?}", letter);
            prop_assert!(other != key && other.as_str() == text);
            prop_assert!(!grant(key.as_str()).matches(&other));
            prop_assert!(!grant(&text).matches(&key));
        }
    }

    #[test]
    fn auth_02_case_is_kept_and_told_apart(key in any_key()) {
        let upper = key.as_str().to_ascii_uppercase();
        let refused = CapabilityKey::new(&upper);
        prop_assert!(matches!(refused, Err(KeyError::UpperCase { at: 0 })), "{:?}", refused);
        if let Some(subject) = key.subject() {
            let other = alloc::format!("{}:{}", key.stem(), subject.to_ascii_uppercase());
            let is_same = other == key.as_str();
            prop_assert_eq!(grant(&other).matches(&key), is_same);
        }
    }

    #[test]
    fn auth_02_a_sign_that_is_doubled_is_refused(
        grant in any_grant(), which in any::<prop::sample::Index>(),
    ) {
        let text = alloc::format!("{grant}");
        let signs: Vec<_> = text.char_indices().collect();
        // A subject may have dots as it likes.
        let stem = text.find(':').unwrap_or(text.len());
        let signs: Vec<_> = signs
            .into_iter()
            .filter(|(at, it)| ":*".contains(*it) || (*it == '.' && *at < stem))
            .collect();
        if !signs.is_empty() {
            let (at, sign) = *which.get(&signs);
            let mut doubled = text.clone();
            doubled.insert(at, sign);
            prop_assert!(Grant::new(&doubled).is_err(), "{}", doubled);
        }
    }

    #[test]
    fn auth_02_length_is_bounded_to_the_byte(
        over in -3_isize..4, cut in 1_usize..20, sign in prop::sample::select(alloc::vec!['.', ':', 'b']),
    ) {
        let length = CAPABILITY_BYTES.saturating_add_signed(over);
        let text: String = (0..length).map(|at| if at == cut { sign } else { 'a' }).collect();
        prop_assert_eq!(CapabilityKey::new(&text).is_ok(), over <= 0);
        prop_assert_eq!(Grant::new(&text).is_ok(), over <= 0);
        if over > 0 {
            prop_assert_eq!(CapabilityKey::new(&text), Err(KeyError::TooLong));
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
