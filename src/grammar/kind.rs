//! Of which kind the values are that a schema asks for.

use super::json::OrderedJson;
use super::merge::Keywords;

const KINDS: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// The types that the keyword `type` names.
pub(super) fn asked_types(value: &OrderedJson) -> Vec<&str> {
    match value {
        OrderedJson::Text(one) => vec![one],
        OrderedJson::List(list) => list.iter().filter_map(OrderedJson::text).collect(),
        _ => Vec::new(),
    }
}

/// Kinds of values: those asked for, or the one of which keywords speak, or all.
pub(super) fn kinds<'a>(keywords: &Keywords<'a>) -> Vec<&'a str> {
    if let Some(asked) = keywords.get("type") {
        let mut kinds = asked_types(asked);
        // Each whole number is a number.
        if kinds.contains(&"number") {
            kinds.retain(|it| *it != "integer");
        }
        return kinds;
    }
    let object = ["properties", "required", "additionalProperties", "patternProperties"];
    let sizes = ["minProperties", "maxProperties"];
    let array = ["items", "prefixItems", "additionalItems", "minItems", "maxItems"];
    let string = ["minLength", "maxLength", "pattern"];
    let number = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    match keywords {
        it if it.has(&object) || it.has(&sizes) => vec!["object"],
        it if it.has(&array) => vec!["array"],
        it if it.has(&string) => vec!["string"],
        it if it.has(&number) => vec!["number"],
        _ => KINDS.into_iter().filter(|it| *it != "integer").collect(),
    }
}

/// Whether a value is of the type called `kind`.
pub(super) fn is_of_type(value: &OrderedJson, kind: &str) -> bool {
    match value {
        OrderedJson::Null => kind == "null",
        OrderedJson::Bool(_) => kind == "boolean",
        OrderedJson::Number(_) => kind == "number" || kind == "integer" && value.whole().is_some(),
        OrderedJson::Text(_) => kind == "string",
        OrderedJson::List(_) => kind == "array",
        OrderedJson::Object(_) => kind == "object",
    }
}

/// Whether no number below zero fits.
pub(super) fn is_never_negative(keywords: &Keywords<'_>) -> bool {
    let bound = |name| keywords.get(name).and_then(OrderedJson::whole);
    bound("minimum").is_some_and(|it| it >= 0)
        || bound("exclusiveMinimum").is_some_and(|it| it >= 0)
}
