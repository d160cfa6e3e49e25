//! Keys, types, words, numbers and names that a table does not take.

use everstep_machine::agent::DiagnosticError;
use everstep_machine::identity::NameError;
use everstep_machine::json::JsonError;

use super::super::{Fault, Type};
use super::{fault_at, refused, small_and, small_with};

#[test]
fn scenario_unknown_key_names_line_column_and_nearest_word() {
    let text = small_with("name = \"charge\"\n", "name = \"charge\"\nclas = \"ordinary\"\n");
    let Fault::UnknownKey { key, nearest, valid } = fault_at(&text, 10, 1, "clas") else {
        panic!("another fault")
    };
    assert_eq!((key.as_str(), nearest), ("clas", Some("class")));
    assert_eq!(valid[..6], ["name", "class", "steps", "later_steps", "silent_starts", "silence"]);
    assert!(refused(&text).to_string().ends_with("help: did you mean `class`?"));

    // Nothing near: every key of that table is named.
    let text = small_with("[agent]", "[agent]\ntemperature = 1");
    assert!(matches!(
        fault_at(&text, 5, 1, "temperature"),
        Fault::UnknownKey { nearest: None, .. }
    ));
    let shown = refused(&text).to_string();
    assert!(
        shown.ends_with("help: the keys are `id`, `instructions`, `max_turns`, `policy`"),
        "{shown}"
    );
}

#[test]
fn scenario_unknown_key_is_found_at_every_depth() {
    for (text, key, nearest) in [
        (small_with("about", "abuot"), "abuot", Some("about")),
        (small_with("[[tools]]", "[[tool]]"), "tool", Some("tools")),
        (small_with("tool = \"charge\" }", "tool = \"charge\", params = {} }"), "params", None),
        (
            small_with("input = 1", "input = 1\nConversation = \"a\""),
            "Conversation",
            Some("conversation"),
        ),
        (small_and("[authorizer]\ndenie = []\n"), "denie", Some("denies")),
        (
            small_and("[[resolutions]]\ntool = \"charge\"\nanwser = \"failed\"\n"),
            "anwser",
            Some("answer"),
        ),
    ] {
        let fault = refused(&text).fault().clone();
        let Fault::UnknownKey { key: found, nearest: near, .. } = fault else {
            panic!("{fault:?}")
        };
        assert_eq!((found.as_str(), near), (key, nearest));
    }
}

#[test]
fn scenario_first_unknown_key_of_a_table_is_reported() {
    let text = small_with("[agent]", "[agent]\nzebra = 1\napple = 1");
    assert!(matches!(fault_at(&text, 5, 1, "zebra"), Fault::UnknownKey { .. }));
}

#[test]
fn scenario_missing_key_names_the_table_it_lacks_in() {
    let text = small_with("name = \"charge\"\n", "");
    let fault = fault_at(&text, 8, 1, "[[tools]]");
    assert_eq!(fault, Fault::MissingKey { key: "name", table: "[[tools]]" });
    for (line, key, table) in [
        ("about = \"small\"\n", "about", "the file"),
        ("id = \"agent\"\n", "id", "[agent]"),
        ("instructions = \"Do it.\"\n", "instructions", "[agent]"),
        ("tool = \"charge\" ", "tool", "`calls`"),
        ("input = 1\n", "input", "[[submissions]]"),
        ("name = \"first\"\n", "name", "[[submissions]]"),
    ] {
        let fault = refused(&small_with(line, "")).fault().clone();
        assert_eq!(fault, Fault::MissingKey { key, table });
    }
    let agent = small_with("[agent]\nid = \"agent\"\ninstructions = \"Do it.\"\n", "");
    assert_eq!(*refused(&agent).fault(), Fault::MissingKey { key: "agent", table: "the file" });
}

#[test]
fn scenario_wrong_type_names_what_is_expected_and_found() {
    for (old, new, key, expected, found) in [
        ("about = \"small\"", "about = 1", "about", Type::Text, Type::Whole),
        ("id = \"agent\"", "id = true", "id", Type::Text, Type::Flag),
        ("[agent]", "[[agent]]", "agent", Type::Table, Type::List),
        ("[[tools]]", "[tools]", "tools", Type::List, Type::Table),
        ("[{ tool = \"charge\" }]", "[1.5]", "calls", Type::Table, Type::Float),
        ("text = \"Done.\"", "text = 2026-01-01", "text", Type::Text, Type::Date),
        (
            "\nname = \"first\"",
            "\nname = \"first\"\nexpect = \"failed\"",
            "expect",
            Type::List,
            Type::Text,
        ),
        (
            "\nname = \"first\"",
            "\nname = \"first\"\nexpect = [1]",
            "expect",
            Type::Text,
            Type::Whole,
        ),
        (
            "tool = \"charge\" ",
            "tool = \"charge\", undeclared = 1 ",
            "undeclared",
            Type::Flag,
            Type::Whole,
        ),
        ("schema = 1", "schema = 1\nworkers = \"2\"", "workers", Type::Whole, Type::Text),
        ("schema = 1", "schema = 1\nauthorizer.denies = [[]]", "denies", Type::Text, Type::List),
    ] {
        let fault = refused(&small_with(old, new)).fault().clone();
        assert_eq!(fault, Fault::WrongType { key, expected, found });
    }
    let error = refused(&small_with("about = \"small\"", "about = 1"));
    assert!(error.to_string().starts_with("error: `about` is a text, not a whole number\n"));
}

#[test]
fn scenario_number_out_of_range_names_the_bounds() {
    for (found, line) in [("0", "workers"), ("9", "workers"), ("-1", "workers")] {
        let text = small_with("schema = 1", &format!("schema = 1\n{line} = {found}"));
        let fault = fault_at(&text, 2, 11, found);
        let found = found.to_owned();
        assert_eq!(fault, Fault::OutOfRange { key: "workers", found, least: 1, most: 8 });
    }
    for found in ["0", "65", "4294967297", "99999999999999999999", "-9223372036854775808"] {
        let text = small_with("[agent]", &format!("[agent]\nmax_turns = {found}"));
        let fault = fault_at(&text, 5, 13, found);
        let found = found.to_owned();
        assert_eq!(fault, Fault::OutOfRange { key: "max_turns", found, least: 1, most: 64 });
    }
    let text = small_with("name = \"charge\"", "name = \"charge\"\nlatency_ms = 86_400_001");
    let fault = refused(&text).fault().clone();
    assert!(matches!(fault, Fault::OutOfRange { key: "latency_ms", most: 86_400_000, .. }));
}

#[test]
fn scenario_unknown_word_names_the_nearest_or_all() {
    let class = |word: &str| {
        small_with("name = \"charge\"", &format!("name = \"charge\"\nclass = \"{word}\""))
    };
    let Fault::UnknownWord { key, word, nearest, valid } =
        fault_at(&class("READ-ONLY"), 10, 9, "\"READ-ONLY\"")
    else {
        panic!("another fault")
    };
    assert_eq!((key, word.as_str(), nearest), ("class", "READ-ONLY", Some("readonly")));
    assert_eq!(valid, ["readonly", "idempotent", "ordinary", "durable"]);
    let error = refused(&class("safe"));
    let words = "it is one of `readonly`, `idempotent`, `ordinary`, `durable`";
    assert!(error.to_string().ends_with(words), "{error}");

    for (text, key, nearest) in [
        (
            small_with("input = 1", "input = 1\nexpect = [\"complete\"]"),
            "expect",
            Some("completed"),
        ),
        (
            small_and("[[resolutions]]\ntool = \"charge\"\nanswer = \"never_started\"\n"),
            "answer",
            Some("never-started"),
        ),
        (
            small_with("text = \"Done.\"", "fault = { kind = \"x\", tag = \"\", message = \"\" }"),
            "kind",
            None,
        ),
        (small_with("[[turns]]", "reconciler = \"truth\"\n[[turns]]"), "reconciler", None),
    ] {
        let fault = refused(&text).fault().clone();
        let Fault::UnknownWord { key: found, nearest: near, .. } = fault else {
            panic!("{fault:?}")
        };
        assert_eq!((found, near), (key, nearest));
    }
}

#[test]
fn scenario_keys_that_exclude_each_other_are_refused_together() {
    let failure = "failure = { tag = \"No\", message = \"no\" }";
    let both =
        small_with("name = \"charge\"", &format!("name = \"charge\"\nresult = 1\n{failure}"));
    let fault = fault_at(&both, 11, 1, "failure");
    assert_eq!(fault, Fault::Excluded { key: "failure", other: "result" });

    let fault = "fault = { kind = \"protocol\", tag = \"No\", message = \"no\" }";
    let speaks = small_with("text = \"Done.\"", &format!("text = \"Done.\"\n{fault}"));
    assert_eq!(*refused(&speaks).fault(), Fault::Excluded { key: "fault", other: "text" });
    let calls = small_with("calls =", &format!("{fault}\ncalls ="));
    assert_eq!(*refused(&calls).fault(), Fault::Excluded { key: "fault", other: "calls" });
}

#[test]
fn scenario_payload_of_another_answer_is_refused() {
    let answer = |lines: &str| small_and(&format!("[[resolutions]]\ntool = \"charge\"\n{lines}\n"));
    let text = answer("answer = \"failed\"\nresult = 1");
    let fault = fault_at(&text, 23, 1, "result");
    assert_eq!(fault, Fault::OnlyWith { key: "result", other: "answer", word: "completed" });
    let text = answer("answer = \"never-started\"\nfailure = { tag = \"No\", message = \"no\" }");
    assert!(matches!(refused(&text).fault(), Fault::OnlyWith { key: "failure", .. }));
}

#[test]
fn scenario_turn_that_does_nothing_is_refused() {
    let fault = fault_at(&small_with("text = \"Done.\"", ""), 14, 1, "[[turns]]");
    let keys = &["text", "calls", "fault"][..];
    assert_eq!(fault, Fault::OneOf { table: "`turns`", keys });
    let text = small_with("[{ tool = \"charge\" }]", "[]");
    assert_eq!(*refused(&text).fault(), Fault::EmptyList { key: "calls" });
    let none = small_with("[[submissions]]\nname = \"first\"\ninput = 1\n", "");
    let none = none.replacen("schema = 1", "schema = 1\nsubmissions = []", 1);
    assert_eq!(fault_at(&none, 2, 15, "[]"), Fault::EmptyList { key: "submissions" });
}

#[test]
fn scenario_more_than_the_bound_points_at_the_first_too_many() {
    let repeat = |table: &str, count: usize| {
        (0..count).map(|n| table.replace('#', &n.to_string())).collect::<String>()
    };
    for (key, most, table) in [
        ("tools", 64, "[[tools]]\nname = \"t#\"\n"),
        ("turns", 64, "[[turns]]\ntext = \"#\"\n"),
        ("submissions", 64, "[[submissions]]\nname = \"s#\"\ninput = #\n"),
        ("aborts", 16, "[[aborts]]\nsubmission = \"first\"\nreason = \"#\"\n"),
        ("retries", 16, "[[retries]]\nsubmission = \"first\"\nreason = \"#\"\n"),
        ("resolutions", 64, "[[resolutions]]\ntool = \"t#\"\nanswer = \"failed\"\n"),
    ] {
        let fault = refused(&small_and(&repeat(table, most + 1))).fault().clone();
        assert_eq!(fault, Fault::TooMany { key, most });
    }
    let calls =
        |count| small_with("{ tool = \"charge\" }", &"{ tool = \"charge\" },".repeat(count));
    assert_eq!(super::accepted(&calls(128)).submissions[0].turns.len(), 2);
    assert_eq!(*refused(&calls(129)).fault(), Fault::TooMany { key: "calls", most: 128 });
}

#[test]
fn scenario_names_keep_the_rules_of_identifiers() {
    let name = |text: &str| small_with("name = \"first\"", &format!("name = {text}"));
    let fault = fault_at(&name("\"\""), 18, 8, "\"\"");
    assert_eq!(fault, Fault::BadName { key: "name", reason: NameError::Empty });
    let long = format!("\"{}\"", "é".repeat(257));
    assert!(matches!(
        refused(&name(&long)).fault(),
        Fault::BadName { key: "name", reason: NameError::TooLong }
    ));
    for key in ["conversation", "principal", "tenant", "key"] {
        let text = small_with("input = 1", &format!("input = 1\n{key} = \"a\\u001bb\""));
        let reason = NameError::Control;
        assert_eq!(*refused(&text).fault(), Fault::BadName { key, reason });
    }
    for (old, new, key) in [
        ("id = \"agent\"", "id = \"\"", "id"),
        ("name = \"charge\"", "name = \"\"", "name"),
        ("tool = \"charge\"", "tool = \"\"", "tool"),
    ] {
        let fault = refused(&small_with(old, new)).fault().clone();
        assert_eq!(fault, Fault::BadName { key, reason: NameError::Empty });
    }
}

#[test]
fn scenario_texts_keep_their_bounds() {
    let long = "x".repeat(64 * 1024 + 1);
    for (old, key) in [("small", "about"), ("Do it.", "instructions"), ("Done.", "text")] {
        let fault = refused(&small_with(old, &long)).fault().clone();
        assert_eq!(fault, Fault::TextTooLong { key });
    }
    let reason = small_and(&format!("[[aborts]]\nsubmission = \"first\"\nreason = \"{long}\"\n"));
    assert_eq!(*refused(&reason).fault(), Fault::TextTooLong { key: "reason" });
    let tag = "x".repeat(257);
    let failure = format!("name = \"charge\"\nfailure = {{ tag = \"{tag}\", message = \"\" }}");
    assert_eq!(
        *refused(&small_with("name = \"charge\"", &failure)).fault(),
        Fault::BadDiagnostic(DiagnosticError::TagTooLong)
    );
    let fault = format!("fault = {{ kind = \"protocol\", tag = \"\", message = \"{long}\" }}");
    assert_eq!(
        *refused(&small_with("text = \"Done.\"", &fault)).fault(),
        Fault::BadDiagnostic(DiagnosticError::MessageTooLong)
    );
}

#[test]
fn scenario_number_that_json_cannot_keep_is_refused_where_it_stands() {
    let input = |value: &str| small_with("input = 1", &format!("input = {value}"));
    let text = input("{ a = [1.5, 0.10000000000000001] }");
    let number = "0.10000000000000001".to_owned();
    assert_eq!(fault_at(&text, 19, 21, &number), Fault::Inexact { number });
    for infinite in ["inf", "-inf", "+inf", "nan", "+nan", "-nan"] {
        let fault = refused(&input(infinite)).fault().clone();
        assert!(matches!(fault, Fault::NotFinite { .. }), "{infinite}: {fault:?}");
    }
    for wide in ["18446744073709551616", "-9223372036854775809", "1e30", "0xfffffffffffffffffff"] {
        let fault = refused(&input(wide)).fault().clone();
        assert!(matches!(fault, Fault::TooWide { .. }), "{wide}: {fault:?}");
    }
    let deep = input(&format!("{}{}", "[".repeat(70), "]".repeat(70)));
    assert_eq!(*refused(&deep).fault(), Fault::BadJson(JsonError::Depth));
    let wide = input(&format!("[{}]", "0,".repeat(4_097)));
    assert_eq!(*refused(&wide).fault(), Fault::BadJson(JsonError::Entries));
}
