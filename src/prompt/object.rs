//! The JSON in a model's answer, whatever stands around it.

use serde_json::Value;

/// Places at which a value may begin that are tried.
const ATTEMPTS: usize = 16;

/// Bytes that are looked at.
const LONGEST: usize = 256 << 10;

/// The first object or array of `answer`, if one can be read.
#[must_use]
pub fn find(answer: &str) -> Option<Value> {
    let answer = &answer[..answer.floor_char_boundary(LONGEST)];
    answer.match_indices(['{', '[']).take(ATTEMPTS).find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&answer[at..]).into_iter::<Value>();
        values.next()?.ok()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(answer: &str, expected: Option<Value>) {
        assert_eq!(find(answer), expected, "{answer:?}");
    }

    #[test]
    fn json_is_found_wherever_it_is() {
        check("{\"a\": 1}", Some(json!({"a": 1})));
        check(
            "Sure! Here it is:\n```json\n{\"a\": {\"b\": []}}\n```\nAnything {else}?",
            Some(json!({"a": {"b": []}})),
        );
        check("{not} json, but [1, 2] is", Some(json!([1, 2])));
        check("nothing", None);
        check("", None);
        check("{\"a\": ", None);
        check(&"{".repeat(10_000), None);
        check(&"[".repeat(10_000), None);
        check(&format!("{}{{}}", "x".repeat(LONGEST)), None);
    }
}
