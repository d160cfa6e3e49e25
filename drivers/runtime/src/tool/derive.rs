//! Schemas from types, and the stable names of failures.

use everstep_machine::agent::Schema;
use everstep_machine::json::JsonError;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Which way a type is looked at: `serde` may treat the two differently.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    /// What is decoded.
    In,
    /// What is encoded.
    Out,
}

/// The JSON Schema of a type.
pub(super) fn schema_of<T: JsonSchema>(direction: Direction) -> Result<Schema, JsonError> {
    Schema::parse(document_of::<T>(direction).to_string().as_bytes())
}

fn document_of<T: JsonSchema>(direction: Direction) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|it| it.meta_schema = None);
    let settings = match direction {
        Direction::In => settings.for_deserialize(),
        Direction::Out => settings.for_serialize(),
    };
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// The stable name of a failure: of the variant, if the type has variants, and otherwise of the
/// type.
pub(super) fn tag_of<T: JsonSchema>(failure: &Value) -> String {
    let document = document_of::<T>(Direction::Out);
    let variants = ["oneOf", "anyOf"].into_iter().filter_map(|keyword| document.get(keyword));
    let variants = variants.filter_map(Value::as_array).flatten().chain([&document]);
    let tag = variants.into_iter().find_map(|variant| variant_tag(variant, failure));
    tag.unwrap_or_else(|| T::schema_name().into_owned())
}

/// The name of a variant, if the failure is of that variant. `serde` has three ways to say it.
fn variant_tag(variant: &Value, failure: &Value) -> Option<String> {
    if let Value::String(name) = failure {
        let is_it = variant.get("const") == Some(failure);
        let listed = variant.get("enum").and_then(Value::as_array);
        let is_listed = listed.is_some_and(|names| names.contains(failure));
        return (is_it || is_listed).then(|| name.clone());
    }
    let (members, schemas) = (failure.as_object()?, variant.get("properties")?.as_object()?);
    let tagged = schemas.iter().find_map(|(name, schema)| {
        let tag = schema.get("const")?;
        (members.get(name) == Some(tag)).then(|| tag.as_str().map(str::to_owned))?
    });
    let named = || {
        let (name, _) = members.iter().next().filter(|_| members.len() == 1)?;
        let is_closed = variant.get("additionalProperties") == Some(&Value::Bool(false));
        (is_closed && schemas.len() == 1 && schemas.contains_key(name)).then(|| name.clone())
    };
    tagged.or_else(named)
}
