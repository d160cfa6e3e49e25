use alloc::format;
use alloc::vec::Vec;

use super::*;
use crate::agent::{AgentPolicy, ExecutionClass, Joins, ToolDefinition};
use crate::identity::ToolName;
use crate::testkit::{binding, bound, policy};

fn differences(one: &Bound, other: &Bound) -> Vec<&'static str> {
    one.differences(other).map(BoundPart::name).collect()
}

/// What every build makes of one definition. A change here means that no run that is under way goes
/// on with the next build: whatever a definition can say beyond this one has to leave the digest of
/// a definition that does not say it as it is.
#[test]
fn case_cr_05_every_build_binds_a_run_of_one_definition_to_the_same() {
    let bound = binding().bound();
    let digests = BoundPart::ALL.map(|part| format!("{}", bound.part(part)));
    let expected = [
        "d1e0a3cf49abe30f0474d39a407d7783c3809d24b838c97483b021a69b41a233",
        "147f9df9e748d18d886ac7cce6cd01cd9d5f85f79126ed04cb8577e864b3c34f",
        "e4403dbe52d91c240a1f989a11106a13c7412622c078dc56a7db23f73b03cb90",
    ];
    assert_eq!(digests, expected);
}

#[test]
fn case_cr_05_what_is_made_of_the_same_parts_is_bound_to_the_same() {
    let again = bound(binding().definition.tools().to_vec(), policy());
    assert_eq!(again.bound(), binding().bound());
    assert_eq!(differences(&again.bound(), &binding().bound()), Vec::<&str>::new());
}

#[test]
fn case_cr_09_a_change_is_named_by_the_part_that_it_is_in() {
    let desk = binding();
    let own = desk.bound();
    let other =
        bound(desk.definition.tools().to_vec(), AgentPolicy { joins: Joins::All, ..policy() });
    assert_eq!(differences(&own, &other.bound()), ["definition"]);
    let name = ToolName::new("pay").unwrap();
    let tools = desk.definition.tools().to_vec();
    let changed = tools.iter().map(|tool| match tool.name == name {
        true => ToolDefinition::new(name.clone(), ExecutionClass::Idempotent),
        false => tool.clone(),
    });
    assert_eq!(differences(&own, &bound(changed.collect(), policy()).bound()), ["tools"]);
    let fewer = bound(tools[1..].to_vec(), policy());
    assert_eq!(differences(&own, &fewer.bound()), ["tools"]);
    let model = Bound { model: Digest([9; 32]), ..own };
    assert_eq!(differences(&own, &model), ["model"]);
}
