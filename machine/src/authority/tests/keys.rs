use alloc::format;
use alloc::string::String;

use super::*;
use crate::limits::{CAPABILITY_BYTES, RESOURCE_BYTES};

#[test]
fn auth_02_each_hostile_key_is_refused_by_name() {
    let long = format!("a:{}", "b".repeat(CAPABILITY_BYTES));
    let table = [
        ("", KeyError::Empty),
        (long.as_str(), KeyError::TooLong),
        (".read", KeyError::EmptySegment { at: 0 }),
        ("fs..read", KeyError::EmptySegment { at: 3 }),
        ("fs.", KeyError::EmptySegment { at: 3 }),
        (":docs", KeyError::EmptySegment { at: 0 }),
        ("mcp.call:", KeyError::EmptySubject),
        ("mcp.call::docs", KeyError::SecondColon { at: 9 }),
        ("mcp.call:docs:x", KeyError::SecondColon { at: 13 }),
        ("fs.re\u{430}d", KeyError::NotAscii { at: 5 }),
        ("mcp.call:d\u{43e}cs", KeyError::NotAscii { at: 10 }),
        ("mcp.call\u{ff1a}docs", KeyError::NotAscii { at: 8 }),
        ("fs\u{200b}.read", KeyError::NotAscii { at: 2 }),
        ("FS.read", KeyError::UpperCase { at: 0 }),
        ("mcp.call:*", KeyError::Wildcard { at: 9 }),
        ("mcp.*", KeyError::Wildcard { at: 4 }),
        ("*", KeyError::Wildcard { at: 0 }),
        (" fs.read", KeyError::Character { at: 0 }),
        ("fs.read\n", KeyError::Character { at: 7 }),
        ("fs/read", KeyError::Character { at: 2 }),
    ];
    for (text, expected) in table {
        assert_eq!(CapabilityKey::new(text), Err(expected), "{text:?}");
    }
    for text in ["fs.read", "mcp.call:docs", "secret.bind:API_KEY", "agents.run:team/core.v2"] {
        assert_eq!(key(text).as_str(), text);
    }
}

#[test]
fn auth_02_a_wildcard_is_a_whole_subject_or_refused() {
    let table = [
        ("*", KeyError::BareWildcard),
        (":*", KeyError::Empty),
        ("mcp.call*", KeyError::Wildcard { at: 8 }),
        ("mcp.*:docs", KeyError::Wildcard { at: 4 }),
        ("*:docs", KeyError::Wildcard { at: 0 }),
        ("*:*", KeyError::Wildcard { at: 0 }),
        ("mcp.call:d*", KeyError::Wildcard { at: 10 }),
        ("mcp.call:docs:*", KeyError::SecondColon { at: 13 }),
        ("mcp.call:*:*", KeyError::Wildcard { at: 9 }),
        ("secret.bind:*", KeyError::SecretWildcard),
    ];
    for (text, expected) in table {
        assert_eq!(Grant::new(text).err(), Some(expected), "{text:?}");
    }
}

#[test]
fn auth_02_a_prefix_ends_at_a_colon() {
    let calls = grant("mcp.call:*");
    assert!(calls.matches(&key("mcp.call:docs")));
    for other in
        ["mcp.callback:docs", "mcp.call", "mcp:call", "mcp.call.x:docs", "mcp.connect:docs"]
    {
        assert!(!calls.matches(&key(other)), "{other}");
    }
    assert!(!grant("mcp:*").matches(&key("mcp.call:docs")), "a dot is no boundary");
    assert!(!grant("mcp.call:docs").matches(&key("mcp.call:Docs")), "case counts in a subject");
    assert!(!grant("skill.activate").matches(&key("skill.activate:x")), "exact is exact");
}

#[test]
fn auth_02_patterns_are_spelled_as_they_are_read() {
    for text in ["fs.read", "mcp.call:docs", "mcp.call:*"] {
        assert_eq!(format!("{}", grant(text)), text);
    }
}

#[test]
fn sec_02_a_resource_that_is_not_normalized_is_refused_by_name() {
    let long = "a".repeat(RESOURCE_BYTES + 1);
    let table = [
        ("", ResourceError::Empty),
        (long.as_str(), ResourceError::TooLong),
        ("a//b", ResourceError::NotNormal),
        ("/a", ResourceError::NotNormal),
        ("a/", ResourceError::NotNormal),
        ("a/../b", ResourceError::NotNormal),
        ("./a", ResourceError::NotNormal),
        ("a\\..\\b", ResourceError::Character),
        ("a\0b", ResourceError::Character),
    ];
    for (text, expected) in table {
        assert_eq!(Resource::new(text), Err(expected), "{text:?}");
        assert_eq!(ComponentPath::new(text), Err(expected), "{text:?}");
    }
    let most: String = "a".repeat(RESOURCE_BYTES);
    assert_eq!(Resource::new(&most).unwrap().as_str(), most);
}
