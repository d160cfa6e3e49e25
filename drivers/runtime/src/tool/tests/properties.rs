//! Any parameters for any tool.

use everstep_machine::effect::Fitting;
use everstep_schema::Checker;
use proptest::prelude::*;

use super::*;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Shape {
    Circle { radius: f64, name: Option<String> },
    Group { parts: Vec<Shape> },
}

fn text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("\"circle\"".to_owned()),
        (-9_i32..9).prop_map(|it| it.to_string()),
        (0_u8..9).prop_map(|it| format!("{{\"kind\":\"circle\",\"radius\":{it}.5}}")),
    ];
    leaf.prop_recursive(6, 30, 3, |inner| {
        let list =
            prop::collection::vec(inner.clone(), 0..3).prop_map(|it| format!("[{}]", it.join(",")));
        prop_oneof![
            list.clone(),
            list.prop_map(|it| format!("{{\"kind\":\"group\",\"parts\":{it}}}")),
            (inner.clone(), inner).prop_map(|(name, it)| format!(
                "{{\"kind\":\"circle\",\"name\":{name},\"radius\":{it}}}"
            )),
        ]
    })
}

proptest! {
    #[test]
    fn run_003_cap_004_a_tool_answers_any_parameters_alike_and_runs_only_what_fits(text in text()) {
        let tool = || Tool::new("draw", |shape: Shape, _| async move { Ok::<_, NoFailure>(shape) });
        let ended = call(tool(), &text);
        prop_assert_eq!(&ended, &call(tool(), &text));
        let fitting = Fitting { schema: definition(tool()).parameters, value: json(&text) };
        let fits = Checker::new().check(&fitting).is_none();
        match ended {
            Ended::Outcome(ToolOutcome::Success(_)) => prop_assert!(fits, "{text}"),
            Ended::Outcome(ToolOutcome::InvalidInput(_)) => prop_assert!(!fits, "{text}"),
            other => prop_assert!(false, "{text}: {other:?}"),
        }
    }
}
