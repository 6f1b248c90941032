//! How often may the same place of an answer be checked?
//!
//! ```text
//! schema → at most so often, or an error
//! ```
//!
//! A schema whose parts refer to each other twice is checked twice as often at each step: forty short
//! parts are enough for years. So the ways that lead to a place are counted before anything is checked.
//! Members of an object and items of a list are other places, so that of these the one with the most
//! ways counts. Recursion ends where the answer ends, and on the same place at the second visit.

use std::collections::HashMap;
use std::ptr;

use serde_json::Value;

use crate::error::{Error, Result};

/// Most ways that lead to a place.
const MOST_WAYS: u64 = 100_000;

/// Most schemas within each other, through references too.
const DEEPEST: usize = 500;

/// What a way counts that comes back to where it was without going on in the answer: there are more
/// of its kind than are counted here.
const CIRCLE: u64 = 1000;

/// Fails with an error about a parameter where checking an answer against `schema` could take for
/// ever.
pub fn check(schema: &Value) -> Result<()> {
    let mut ways = SchemaWays { resources: vec![schema], ..SchemaWays::default() };
    ways.collect(schema);
    if ways.of(schema, 0) <= MOST_WAYS {
        return Ok(());
    }
    let message = format!(
        "schema is too complex: one value could be checked more than {MOST_WAYS} times, or schemas nest more than {DEEPEST} deep"
    );
    Err(Error::invalid(message).hint(
        "A subschema is checked once for each path that leads to it. Let fewer branches of allOf, anyOf and oneOf refer to the same one.",
    ))
}

/// What is known of a schema.
#[derive(Default)]
struct SchemaWays<'a> {
    /// What references may count from: all of the schema, and the parts with an `$id`.
    resources: Vec<&'a Value>,
    anchors: Vec<(&'a str, &'a Value)>,
    counted: HashMap<*const Value, u64>,
    /// Parts that are being counted, and how far into the answer they were begun.
    open: HashMap<*const Value, usize>,
}

impl<'a> SchemaWays<'a> {
    /// Finds what has a name.
    fn collect(&mut self, value: &'a Value) {
        let name = |name: &str| value.get(name).and_then(Value::as_str);
        for id in ["$id", "id"].into_iter().filter_map(name) {
            self.resources.push(value);
            self.anchors.extend(id.strip_prefix('#').map(|anchor| (anchor, value)));
        }
        let anchors = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(name);
        self.anchors.extend(anchors.map(|anchor| (anchor, value)));
        parts(value).into_iter().for_each(|part| self.collect(part));
    }

    /// How many ways lead from `schema` to the place with the most of them, `depth` steps into the
    /// answer.
    fn of(&mut self, schema: &'a Value, depth: usize) -> u64 {
        let Value::Object(members) = schema else { return 1 };
        let key = ptr::from_ref(schema);
        if let Some(counted) = self.counted.get(&key) {
            return *counted;
        }
        if let Some(begun) = self.open.get(&key) {
            return if *begun == depth { CIRCLE } else { 1 };
        }
        if self.open.len() >= DEEPEST {
            return u64::MAX;
        }
        self.open.insert(key, depth);
        let mut ways = 1_u64;
        for (keyword, value) in members {
            ways = ways.saturating_add(self.of_keyword(keyword, value, depth));
        }
        self.open.remove(&key);
        self.counted.insert(key, ways);
        ways
    }

    fn of_keyword(&mut self, keyword: &str, value: &'a Value, depth: usize) -> u64 {
        match keyword {
            "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => {
                self.sum(parts(value), depth)
            }
            "not" | "if" | "then" | "else" => self.of(value, depth),
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                let targets = value.as_str().map(|it| self.targets(it)).unwrap_or_default();
                self.most(targets, depth)
            }
            "properties" | "prefixItems" => self.most(parts(value), depth + 1),
            "items" if value.is_array() => self.most(parts(value), depth + 1),
            "patternProperties" => self.sum(parts(value), depth + 1),
            "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "propertyNames"
            | "additionalProperties"
            | "unevaluatedProperties" => self.of(value, depth + 1),
            _ => 0,
        }
    }

    fn sum(&mut self, schemas: Vec<&'a Value>, depth: usize) -> u64 {
        schemas.into_iter().fold(0, |sum, schema| sum.saturating_add(self.of(schema, depth)))
    }

    fn most(&mut self, schemas: Vec<&'a Value>, depth: usize) -> u64 {
        schemas.into_iter().map(|schema| self.of(schema, depth)).max().unwrap_or_default()
    }

    /// What a reference may lead to: it says where, counted from one of the resources.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let place = reference.split_once('#').map_or("", |(_, place)| place);
        let place = plain(place);
        if place.is_empty() {
            return self.resources.clone();
        }
        if place.starts_with('/') {
            return self.resources.iter().filter_map(|it| it.pointer(&place)).collect();
        }
        let named = self.anchors.iter().filter(|(name, _)| *name == place);
        named.map(|(_, schema)| *schema).collect()
    }
}

fn parts(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

/// The end of an address, with the characters that `%` and two digits stand for.
fn plain(place: &str) -> String {
    let mut bytes = Vec::with_capacity(place.len());
    let mut rest = place.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let byte = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::ErrorKind;

    /// Definitions a0 to a`last`, each made of the name of the next one; the last is a string.
    fn chain(last: usize, link: impl Fn(Value) -> Value) -> Value {
        let mut definitions = serde_json::Map::new();
        for number in 0..last {
            let next = json!({"$ref": format!("#/$defs/a{}", number + 1)});
            definitions.insert(format!("a{number}"), link(next));
        }
        definitions.insert(format!("a{last}"), json!({"type": "string"}));
        json!({"$ref": "#/$defs/a0", "$defs": definitions})
    }

    fn is_fine(schema: &Value) -> bool {
        match check(schema) {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidParameter);
                assert!(error.message().starts_with("schema is too complex"), "{error}");
                false
            }
        }
    }

    #[test]
    fn doubled_references_are_refused() {
        let twice = |next: Value| json!({"allOf": [next, next]});
        assert!(is_fine(&chain(10, twice)));
        assert!(!is_fine(&chain(40, twice)));
        assert!(!is_fine(&chain(40, |next| json!({"anyOf": [next, {"not": next}]}))));
        let deeper = |next: Value| json!({"properties": {"x": next}});
        assert!(!is_fine(&chain(
            40,
            |next| json!({"allOf": [deeper(next.clone()), deeper(next)]})
        )));
        assert!(!is_fine(&chain(2000, |next| json!({"allOf": [next]}))));
    }

    #[test]
    fn other_places_are_other_checks() {
        let both = |next: Value| json!({"properties": {"x": next, "y": next}});
        assert!(is_fine(&chain(40, both)));
        assert!(is_fine(&chain(40, |next| json!({"prefixItems": [next, next]}))));
    }

    #[test]
    fn recursion_is_no_circle() {
        let node = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        assert!(is_fine(&node));
        assert!(is_fine(&json!({"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}]})));
        assert!(is_fine(&json!({"allOf": [{"$ref": "#"}]})));
        let all: Vec<Value> = (0..12).map(|n| json!({"$ref": format!("#/$defs/a{n}")})).collect();
        let names = (0..12).map(|n| (format!("a{n}"), json!({"allOf": all})));
        let circles: serde_json::Map<String, Value> = names.collect();
        assert!(!is_fine(&json!({"allOf": all, "$defs": circles})));
    }

    #[test]
    fn names_are_followed() {
        let mut schema = chain(40, |next| json!({"allOf": [next, next]}));
        schema["$ref"] = json!("#start");
        schema["$defs"]["a0"]["$anchor"] = json!("start");
        assert!(!is_fine(&schema));
        schema["$ref"] = json!("#/%24defs/a0");
        assert!(!is_fine(&schema));
        let inner = chain(40, |next| json!({"allOf": [next, next]}));
        let mut resource = json!({"$id": "http://example.com/inner"});
        resource["$ref"] = inner["$ref"].clone();
        resource["$defs"] = inner["$defs"].clone();
        assert!(!is_fine(&json!({"$ref": "inner", "$defs": {"inner": resource}})));
    }
}
