use super::*;

#[test]
fn auth_10_a_fingerprint_is_of_canonical_json() {
    let text = deed().spelled(Risk::High).unwrap();
    let read = CanonicalJson::from_canonical(&text).unwrap();
    assert_eq!(read.as_str(), text);
    assert!(text.starts_with(r#"{"action":{"command":"grep \"a.*b\" f"},"agent":"writer","#));
    assert_eq!(deed().fingerprint(Risk::High), deed().fingerprint(Risk::High));
}

#[test]
fn auth_12_whatever_differs_is_another_fingerprint() {
    let original = deed().fingerprint(Risk::High).unwrap();
    let other = Digest::of("test", b"other");
    let command = CanonicalJson::parse(br#"{"command":"grep \"a.*c\" f"}"#).unwrap();
    let swapped = Vec::from(["workspace/a", "workspace/b"].map(|it| Resource::new(it).unwrap()));
    let mut turned = swapped.clone();
    turned.reverse();
    let others = [
        Deed { agent: agent("reader"), ..deed() },
        Deed { revision: other, ..deed() },
        Deed { snapshot: other, ..deed() },
        Deed { tool: tool("shell"), ..deed() },
        Deed { capability: Some(key("fs.write")), ..deed() },
        Deed { action: command, ..deed() },
        Deed { targets: Vec::new(), ..deed() },
        Deed { targets: swapped, ..deed() },
        Deed { targets: turned, ..deed() },
        Deed { policy: other, ..deed() },
        Deed { revision: deed().snapshot, snapshot: deed().revision, ..deed() },
    ];
    let mut seen = Vec::from([original, deed().fingerprint(Risk::Medium).unwrap()]);
    for deed in others {
        let fingerprint = deed.fingerprint(Risk::High).unwrap();
        assert!(!seen.contains(&fingerprint), "{deed:?}");
        seen.push(fingerprint);
    }
}
