use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::twin::{Random, Twin};
use crate::grammar::json_grammar;

/// Schemas of which a grammar can say everything.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "null"})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "number"})),
        (-20..20i64, 0..9i64).prop_map(
            |(least, more)| json!({"type": "integer", "minimum": least, "maximum": least + more})
        ),
        (0..3u32, 0..4u32).prop_map(
            |(least, more)| json!({"type": "string", "minLength": least, "maxLength": least + more})
        ),
        proptest::collection::vec("[a-c\"\\\\\n\u{e9}]{0,3}", 1..4)
            .prop_map(|list| json!({"enum": list})),
        Just(json!({"type": "string", "pattern": "^[a-c]{1,3}$"})),
        Just(json!({"type": ["integer", "null"]})),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let properties = proptest::collection::vec(("[ab\"]{0,2}", inner.clone(), any::<bool>()), 0..4);
        let other = prop_oneof![
            Just(None),
            Just(Some(json!(false))),
            inner.clone().prop_map(Some),
        ];
        prop_oneof![
            (properties, other).prop_map(|(properties, other)| object(properties, other)),
            (inner.clone(), 0..3u32, 0..3u32).prop_map(|(items, least, more)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": least + more})
            }),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"anyOf": all})),
            proptest::collection::vec(inner, 1..3).prop_map(|all| json!({"type": "array", "prefixItems": all, "minItems": all.len(), "items": false})),
        ]
    })
}

fn object(properties: Vec<(String, Value, bool)>, other: Option<Value>) -> Value {
    let required = properties.iter().filter(|it| it.2).map(|it| it.0.clone());
    let required: std::collections::BTreeSet<String> = required.collect();
    let named: Map<String, Value> = properties.into_iter().map(|it| (it.0, it.1)).collect();
    let mut schema = json!({"type": "object", "properties": named, "required": required});
    if let Some(other) = other {
        schema["additionalProperties"] = other;
    }
    schema
}

/// A document that fits `schema`, written as `random` chooses.
fn document(schema: &Value, random: &mut Random) -> Value {
    if let Some(choices) = schema.get("enum").or(schema.get("anyOf")).and_then(Value::as_array) {
        let chosen = &choices[random.below(choices.len())];
        return if schema.get("enum").is_some() {
            chosen.clone()
        } else {
            document(chosen, random)
        };
    }
    let number = |name: &str| schema[name].as_i64().unwrap_or(0);
    let within = |random: &mut Random, least: &str, most: &str| {
        number(least) + random.below((number(most) - number(least)) as usize + 1) as i64
    };
    match schema["type"].as_str().unwrap_or("nullable") {
        "boolean" => json!(random.below(2) == 0),
        "number" => json!((random.below(2000) as f64 - 1000.0) / 8.0),
        "integer" => json!(within(random, "minimum", "maximum")),
        "string" if schema.get("pattern").is_some() => json!("abc"[..1 + random.below(3)]),
        "string" => {
            let letters = ['a', '"', '\\', '\u{e9}', '\u{1f600}', '\n', '\u{1}'];
            let count = within(random, "minLength", "maxLength");
            json!((0..count).map(|_| letters[random.below(letters.len())]).collect::<String>())
        }
        "array" => match schema["prefixItems"].as_array() {
            Some(first) => first.iter().map(|it| document(it, random)).collect(),
            None => {
                let count = within(random, "minItems", "maxItems");
                (0..count).map(|_| document(&schema["items"], random)).collect()
            }
        },
        "object" => {
            let required = schema["required"].as_array().unwrap();
            let mut fields = Map::new();
            for (name, value) in schema["properties"].as_object().unwrap() {
                if required.contains(&json!(name)) || random.below(2) == 0 {
                    fields.insert(name.clone(), document(value, random));
                }
            }
            if schema["additionalProperties"].is_object() && random.below(2) == 0 {
                fields.insert("other".into(), document(&schema["additionalProperties"], random));
            }
            Value::Object(fields)
        }
        "nullable" => [json!(null), json!(7), json!(-3)][random.below(3)].clone(),
        _ => Value::Null,
    }
}

/// `text` with a character taken out, doubled or changed.
fn near_miss(text: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = random.below(letters.len());
    match random.below(3) {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        _ => letters[at] = ['"', ',', '1', 'a', '}', ']', ' ', '-', '\\'][random.below(9)],
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What fits is accepted; what is accepted fits, also where it was meant to be nearly right.
    #[test]
    fn a_grammar_is_as_strict_as_its_schema(schema in schema(), seed: u64) {
        let twin = Twin::new(&json_grammar(Some(&schema.to_string())).unwrap());
        let validator = jsonschema::validator_for(&schema).unwrap();
        let mut random = Random(seed);
        for _ in 0..10 {
            let text = document(&schema, &mut random).to_string();
            prop_assert!(twin.accepts(&text), "{} does not accept {}", schema, text);
            let written = twin.write(&mut random);
            prop_assert!(twin.accepts(&written), "{} does not accept {}", schema, written);
            for text in [near_miss(&text, &mut random), near_miss(&written, &mut random), written] {
                if twin.accepts(&text) {
                    let value: Value = serde_json::from_str(&text).unwrap();
                    prop_assert!(validator.is_valid(&value), "{} accepts {}", schema, text);
                }
            }
        }
    }

    /// Whatever a schema says, a grammar of it can be read, or it is refused.
    #[test]
    fn any_json_is_a_grammar_or_refused(
        keys in proptest::collection::vec(
            ("type|enum|const|anyOf|allOf|items|\\$ref|pattern|required|properties|minLength|maxItems|minimum",
             prop_oneof![
                Just(json!("string")), Just(json!(["array", "x"])), Just(json!({})), Just(json!(-3)),
                Just(json!("#")), Just(json!("#/items")), Just(json!([{"type": "array"}, true, 1])),
                Just(json!({"a": {"$ref": "#/anyOf/0"}})), Just(json!(i64::MAX)), Just(json!(null)),
             ]), 0..6),
    ) {
        let schema: Map<String, Value> = keys.into_iter().collect();
        if let Ok(grammar) = json_grammar(Some(&Value::Object(schema).to_string())) {
            drop(Twin::new(&grammar));
        }
    }

    #[test]
    fn any_pattern_is_a_grammar_or_left_out(pattern in "[ab\\\\\\[\\]()|*+?{}^$.,0-9d-]{0,12}") {
        let schema = json!({"type": "string", "pattern": pattern}).to_string();
        drop(json_grammar(Some(&schema)).map(|grammar| Twin::new(&grammar)));
    }
}
