mod agent;
mod property;
mod twin;

use serde_json::{Value, json};

use super::json_grammar;
use twin::{Random, Twin};

fn twin(schema: &impl ToString) -> Twin {
    Twin::new(&json_grammar(Some(&schema.to_string())).unwrap())
}

/// Checks that a grammar of `schema` accepts and refuses these texts, and that what it accepts and
/// writes by itself fits the schema.
fn check(schema: &impl ToString, accepted: &[&str], refused: &[&str]) {
    let twin = twin(schema);
    let schema = schema.to_string();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let fits = |text: &str| {
        let value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(validator.is_valid(&value), "{text} does not fit {schema}");
    };
    for text in accepted {
        assert!(twin.accepts(text), "{schema} does not accept {text}");
        fits(text);
    }
    for text in refused {
        assert!(!twin.accepts(text), "{schema} accepts {text}");
    }
    for seed in 0..50 {
        let text = twin.write(&mut Random(seed));
        assert!(twin.accepts(&text), "{text}");
        fits(&text);
    }
}

fn refused(schema: &Value, said: &str) {
    let error = json_grammar(Some(&schema.to_string())).unwrap_err();
    assert!(error.message().contains(said), "{error}");
}

#[test]
fn any_object() {
    let twin = Twin::new(&json_grammar(None).unwrap());
    for text in ["{}", r#"{"a": [1, {"b":null}], "c":"\u00e9\n"}"#, "{\n  \"a\":true\n}"] {
        assert!(twin.accepts(text), "{text}");
    }
    for text in ["", "[]", "1", "{} ", "{,}", r#"{"a":1,}"#, "{\n\n}", r#"{"a":"\ud800"}"#] {
        assert!(!twin.accepts(text), "{text}");
    }
    let blanks = format!("{{\n{}}}", " ".repeat(40));
    assert!(!twin.accepts(&blanks));
    check(
        &json!({}),
        &["{}", "[]", "null", "-0.5e+3", "\"\u{4e2d}\""],
        &["01", "1.", "nul", "'a'"],
    );
    check(&json!({"type": "object"}), &["{}", r#"{"a":1}"#], &["[]"]);
}

#[test]
fn properties_in_their_order() {
    // As a text, since values of serde_json may have an order of their own.
    let schema = r#"{
        "type": "object",
        "properties": {"z": {"type": "integer"}, "a": {"type": "string"}, "m": {"type": "boolean"}},
        "required": ["a"]
    }"#;
    check(
        &schema,
        &[
            r#"{"a":""}"#,
            r#"{"z":1,"a":"x"}"#,
            r#"{ "z": -1, "a": "x", "m": true }"#,
            r#"{"a":"x","m":false}"#,
        ],
        &[
            "{}",
            r#"{"z":1}"#,
            r#"{"a":"x","z":1}"#,
            r#"{"a":"x","b":1}"#,
            r#"{"a":"x",}"#,
            r#"{,"a":"x"}"#,
            r#"{"a":1}"#,
            r#"{"z":1.5,"a":""}"#,
            r#"{"a":"","a":""}"#,
        ],
    );
    let optional = json!({"properties": {"a": {}, "b": {}}});
    check(&optional, &["{}", r#"{"a":1}"#, r#"{"b":1}"#], &[r#"{"b":1,"a":1}"#, "1"]);
    let unnamed = json!({"type": "object", "properties": {"a": {"const": 1}}, "required": ["b"]});
    check(&unnamed, &[r#"{"b":[]}"#, r#"{"a":1,"b":null}"#], &["{}", r#"{"a":1}"#]);
    let quoted = json!({"properties": {"a\"\\\n\u{e9}": {"const": "\"\t"}}});
    check(&quoted, &[r#"{"a\"\\\né":"\"\t"}"#], &[]);
}

#[test]
fn other_properties_are_no_named_ones() {
    let schema = json!({
        "properties": {"ab": {"const": 1}, "abc": {"const": 2}, "": {"const": 3}},
        "additionalProperties": {"type": "string"}
    });
    check(
        &schema,
        &["{}", r#"{"a":"x"}"#, r#"{"ab":1,"abd":"x"}"#, r#"{"abcd":"x","b":"y"}"#],
        &[r#"{"ab":"x"}"#, r#"{"abc":"x"}"#, r#"{"":"x"}"#, r#"{"a":1}"#, r#"{"a":"x","ab":1}"#],
    );
    let map =
        json!({"type": "object", "additionalProperties": {"type": "null"}, "minProperties": 1});
    check(&map, &[r#"{"x":null}"#], &["{}", r#"{"x":1}"#]);
    check(
        &json!({"type": "object", "additionalProperties": false, "properties": {}}),
        &[],
        &["[]"],
    );
}

#[test]
fn values_of_each_kind() {
    check(&json!({"type": "integer", "minimum": 1, "maximum": 5}), &["1", "5"], &["0", "6", "1.0"]);
    check(&json!({"type": "integer", "exclusiveMinimum": -1}), &["0", "99"], &["-1"]);
    check(&json!({"type": "number", "minimum": 0}), &["0", "0.5"], &["-1", "-0.5"]);
    check(&json!({"type": ["string", "null"]}), &["null", "\"\""], &["1"]);
    check(&json!({"enum": ["a", 1, null, {"b": [true]}]}), &["\"a\"", r#"{"b":[true]}"#], &["2"]);
    check(&json!({"enum": ["a", 1], "type": "string"}), &["\"a\""], &["1"]);
    check(&json!({"const": "x\"y"}), &[r#""x\"y""#], &["\"x\""]);
    check(&json!({"type": "boolean"}), &["true", "false"], &["null"]);
    check(&json!({"anyOf": [{"type": "integer"}, {"const": "x"}]}), &["7", "\"x\""], &["\"y\""]);
    check(
        &json!({"type": "string", "minLength": 2, "maxLength": 3}),
        &["\"ab\"", r#""\n\u00e9a""#, "\"\u{1f600}bc\""],
        &["\"a\"", "\"abcd\"", "\"ab"],
    );
}

#[test]
fn lists() {
    let of = json!({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3});
    check(
        &of,
        &["[true,false]", "[ true, false, true ]"],
        &["[]", "[true]", "[true,true,true,true]"],
    );
    check(&json!({"type": "array", "maxItems": 0}), &["[]"], &["[1]"]);
    check(&json!({"items": false}), &["[]"], &["[1]"]);
    let tuple = json!({"prefixItems": [{"const": 1}, {"const": 2}], "items": {"const": 3}});
    check(&tuple, &["[1,2]", "[1,2,3,3]"], &["[2]", "[1,3]", "[1,2,4]"]);
    check(&json!({"type": "array", "items": {"$ref": "#"}}), &["[]", "[[],[[]]]"], &["[1]"]);
}

#[test]
fn references() {
    let tree = r##"{
        "$defs": {"a/b": {"type": "object", "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/a~1b"}}
        }, "required": ["name"]}},
        "$ref": "#/$defs/a~1b"
    }"##;
    let deep = r#"{"name":"x","children":[{"name":"y"},{"name":"z","children":[]}]}"#;
    check(&tree, &[deep], &[r#"{"name":"x","children":[{}]}"#]);
    let all = json!({
        "allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"$ref": "#/$defs/b"}],
        "$defs": {"b": {"properties": {"b": {"const": 1}}, "required": ["b"]}}
    });
    check(&all, &[r#"{"a":1,"b":1}"#], &[r#"{"a":1}"#]);
    refused(&json!({"$ref": "http://example.com/x"}), "no place \"http://example.com/x\"");
    refused(&json!({"$ref": "#/nowhere"}), "no place \"#/nowhere\"");
}

#[test]
fn what_nothing_fits() {
    refused(&json!({"enum": []}), "no text can fit");
    refused(&json!({"type": "string", "minLength": 3, "maxLength": 2}), "no text can fit");
    refused(&json!({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}), "no text can fit");
    // A choice that never ends is left out.
    let list =
        json!({"anyOf": [{"properties": {"a": {"$ref": "#"}}, "required": ["a"]}, {"const": 1}]});
    check(&list, &["1", r#"{"a":{"a":1}}"#], &["{}"]);
    let mixed = json!({"properties": {"a": false, "b": {"const": 1}}});
    check(&mixed, &["{}", r#"{"b":1}"#], &[r#"{"a":1}"#]);
}

#[test]
fn hostile_schemas_stay_small() {
    refused(&json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]}), "says of itself");
    refused(&json!({"allOf": [{"$ref": "#"}]}), "without end");
    refused(&json!({"$ref": "#", "type": "object"}), "without end");
    // Thirty choices within each other are a billion.
    let twice = |name: usize| {
        let inner = json!({"$ref": format!("#/$defs/{name}")});
        json!({"anyOf": [inner.clone(), inner], "oneOf": [{"type": "null"}, {"type": "string"}]})
    };
    let defined: serde_json::Map<String, Value> =
        (0..30).map(|it| (it.to_string(), twice((it + 1) % 30))).collect();
    refused(&json!({"$ref": "#/$defs/0", "$defs": defined}), "combines too many");
    let long = json!({"type": "string", "minLength": 1_000_000_000, "maxLength": 2_000_000_000});
    assert!(json_grammar(Some(&long.to_string())).unwrap().contains("char{1000,}"));
    let many: Vec<Value> = (0..600).map(|_| json!({"type": "string", "maxLength": 900})).collect();
    let grammar = json_grammar(Some(&json!({"prefixItems": many}).to_string())).unwrap();
    assert!(grammar.matches("char{0,900}").count() < 10);
    let wide: serde_json::Map<String, Value> =
        (0..501).map(|it| (it.to_string(), json!({}))).collect();
    refused(&json!({"properties": wide}), "over 500 properties");
    for text in ["", "[]", "{", "1"] {
        assert!(json_grammar(Some(text)).is_err(), "{text}");
    }
    assert!(json_grammar(Some(&format!("{{\"a\":\"{}\"}}", "x".repeat(200_000)))).is_err());
    let deep = format!("{}{{}}{}", "{\"items\":".repeat(100), "}".repeat(100));
    assert!(json_grammar(Some(&deep)).is_err());
}

#[test]
fn patterns() {
    let check = |pattern: &str, accepted: &[&str], refused: &[&str]| {
        check(&json!({"type": "string", "pattern": pattern}), accepted, refused);
    };
    check(r"^\d{4}-\d{2}$", &["\"2024-12\""], &["\"2024\"", "\"2024-123\""]);
    check("^[A-Z][a-z_]*$", &["\"Ab_\""], &["\"ab\"", "\"A1\""]);
    check("^(a|bc)+$", &["\"abca\""], &["\"\"", "\"ac\""]);
    check("ab", &["\"ab\"", "\"xaby\""], &["\"a\""]);
    check("^https?://", &["\"http://x\""], &["\"ftp://x\""]);
    check(r#"^["\\]$"#, &[r#""\"""#, r#""\\""#], &["\"a\""]);
    check("^[^a-c]$", &["\"d\""], &["\"b\""]);
    check(r"^[\w.-]+@[\w-]+\.[a-z]{2,}$", &["\"a.b@c.de\""], &["\"a@b\""]);
    // Left to the check of the answer.
    for pattern in [
        "^a|b$",
        r"\bword",
        "(?=a)a",
        "a*?",
        r"^\p{L}$",
        "^a{300}$",
        "^((a{99}){99}){99}$",
        "(",
        "[",
        "a**",
    ] {
        let twin = twin(&json!({"type": "string", "pattern": pattern}));
        assert!(twin.accepts("\"anything\""), "{pattern}");
    }
}
