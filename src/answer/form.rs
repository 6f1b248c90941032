//! # form: how is an answer asked for that must be JSON of a schema?
//!
//! ```text
//! schema → schema of a reply, words of the prompt        reply → answer and its sources, or none
//! ```
//!
//! A model that may write nothing but what fits a schema can neither say that it does not know nor cite a source of
//! a number. So it is asked for an object of two members: `answer`, which fits the schema or is null, and
//! `sources`. What is given to the caller is the text of `answer`.
//!
//! Citations and claims are looked for in text, so the values of an answer are read as text, each a paragraph.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::json_text::{member, scalars};
use crate::prompt::messages::Message;
use crate::text::marker::markers;

/// Where the schema of the answer stands in that of a reply, as a JSON pointer.
const PLACE: &str = "#/properties/answer/anyOf/0";

/// Places of a schema to which references lead from everywhere. They stay at its root.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Fewest words of a text that says something by itself.
const SENTENCE: usize = 4;

/// What a sentence ends with.
const ENDS: [char; 9] = ['.', '!', '?', '。', '！', '？', '؟', '।', ']'];

/// What a model gets to read behind a prompt for an answer that must have a form.
const WORDS: &str = "Reply with a JSON object of two members: \"answer\", in the form that is asked for, and \
\"sources\", an array with the numbers of the sources that the answer stands on. Within \"answer\", cite like [1] \
only behind whole sentences, and never in a name, a number, a date or a code. If neither the sources nor the notes, \
where there are any, hold the answer, reply with {\"answer\": null, \"sources\": []}, whatever sentence you were \
told for that.";

/// The form that an answer must have.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerForm {
    /// The JSON schema of the answer.
    schema: Map<String, Value>,
}

/// An answer that has a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormedAnswer {
    /// Its JSON, letter by letter.
    pub json: String,
    /// Numbers of the sources that all of it stands on, as they were written.
    pub sources: Vec<u32>,
    /// What the schema lists: such a value is chosen and not found in a source.
    listed: HashSet<String>,
}

/// Which values of an answer are read as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadValues {
    /// All but null, each with its key where it says too little by itself.
    All,
    /// Strings in words of their own: those that can be compared with words of sources.
    Words,
}

impl AnswerForm {
    /// The form of an answer that fits `schema`.
    #[must_use]
    pub fn of(schema: Map<String, Value>) -> AnswerForm {
        AnswerForm { schema }
    }

    /// The JSON schema that a reply must fit.
    #[must_use]
    pub fn reply_schema(&self) -> String {
        let mut answer = Value::Object(self.schema.clone());
        redirect(&mut answer);
        let mut reply = Map::new();
        if let Value::Object(members) = &mut answer {
            if let Some(dialect) = members.get("$schema") {
                reply.insert("$schema".to_owned(), dialect.clone());
            }
            // What has an address of its own is referred to by that.
            for place in DEFINITIONS.into_iter().filter(|_| !is_resource(&self.schema)) {
                reply.extend(members.remove(place).map(|it| (place.to_owned(), it)));
            }
        }
        reply.insert("type".to_owned(), json!("object"));
        let sources = json!({"type": "array", "items": {"type": "integer"}});
        let answer = json!({"anyOf": [answer, {"type": "null"}]});
        reply.insert("properties".to_owned(), json!({"answer": answer, "sources": sources}));
        reply.insert("required".to_owned(), json!(["answer", "sources"]));
        reply.insert("additionalProperties".to_owned(), json!(false));
        Value::Object(reply).to_string()
    }

    /// All that is sent beside the prompt, for its length.
    #[must_use]
    pub fn as_sent(&self) -> String {
        format!("{WORDS}\n{}", self.reply_schema())
    }

    /// Says behind `prompt` what a reply is.
    pub fn ask(&self, prompt: &mut Vec<Message>) {
        match prompt.last_mut().filter(|last| last.role == "user") {
            Some(last) => last.content += &format!("\n\n{WORDS}"),
            None => prompt.push(Message { role: "user".to_owned(), content: WORDS.to_owned() }),
        }
    }

    /// The answer of a `reply`; `None` where it says that there is none, or nothing that can be read.
    #[must_use]
    pub fn read(&self, reply: &str) -> Option<FormedAnswer> {
        let whole: Value = serde_json::from_str(reply).ok()?;
        whole.get("answer").filter(|answer| !answer.is_null())?;
        let json = member(reply, "answer")?.to_owned();
        let numbers = whole.get("sources").and_then(Value::as_array).into_iter().flatten();
        let sources = numbers.filter_map(Value::as_u64);
        let sources = sources.map(|number| u32::try_from(number).unwrap_or(u32::MAX)).collect();
        let mut listed = HashSet::new();
        list(&Value::Object(self.schema.clone()), &mut listed);
        Some(FormedAnswer { json, sources, listed })
    }
}

impl FormedAnswer {
    /// Its values as text with markers, each a paragraph. A value without a marker cites the sources of all.
    #[must_use]
    pub fn text(&self, read: ReadValues) -> String {
        let cited: String = self.sources.iter().map(|number| format!("[{number}]")).collect();
        let mut text = String::new();
        for value in scalars(&self.json) {
            let said = value.said.as_deref().map(str::trim);
            let paragraph = match (said, read) {
                (Some(""), _) => continue,
                (Some(said), ReadValues::Words) if self.listed.contains(said) => continue,
                (Some(said), ReadValues::All) if said.split_whitespace().count() < SENTENCE => {
                    labelled(&value.key, said)
                }
                (Some(said), _) => said.to_owned(),
                (None, ReadValues::Words) => continue,
                (None, ReadValues::All) => match &self.json[value.range] {
                    "null" => continue,
                    bare => labelled(&value.key, bare),
                },
            };
            if !text.is_empty() {
                text += "\n\n";
            }
            text += &paragraph;
            if !paragraph.ends_with(ENDS) {
                text.push('.');
            }
            if !cited.is_empty() && markers(&paragraph).is_empty() {
                text.push(' ');
                text += &cited;
            }
        }
        text
    }
}

/// A value with the key under which it stands: "valid until: 2026".
fn labelled(key: &str, value: &str) -> String {
    let key = key.replace('_', " ");
    match key.trim() {
        "" => value.to_owned(),
        key => format!("{key}: {value}"),
    }
}

/// Has references to the root of a schema lead to its new place. What stands at the root of both stays.
fn redirect(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(redirect),
        // References within it are to itself.
        Value::Object(members) if is_resource(members) => {}
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(to) if key == "$ref" => *to = redirected(to),
                    value => redirect(value),
                }
            }
        }
        _ => {}
    }
}

fn redirected(reference: &str) -> String {
    let is_kept = |rest: &str| DEFINITIONS.iter().any(|place| rest.starts_with(place));
    match reference.strip_prefix('#') {
        Some("") => PLACE.to_owned(),
        Some(rest) => match rest.strip_prefix('/') {
            Some(inner) if !is_kept(inner) => format!("{PLACE}{rest}"),
            _ => reference.to_owned(),
        },
        None => reference.to_owned(),
    }
}

/// Whether a schema has an address, to which its references are relative.
fn is_resource(schema: &Map<String, Value>) -> bool {
    ["$id", "id"].iter().any(|name| schema.get(*name).is_some_and(Value::is_string))
}

/// Adds the strings that `schema` has answers choose from.
fn list(schema: &Value, listed: &mut HashSet<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| list(item, listed)),
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("const", Value::String(text)) => drop(listed.insert(text.trim().to_owned())),
                    ("enum", Value::Array(items)) => {
                        let texts = items.iter().filter_map(Value::as_str);
                        listed.extend(texts.map(|text| text.trim().to_owned()));
                    }
                    (_, value) => list(value, listed),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(schema: Value) -> AnswerForm {
        let Value::Object(schema) = schema else { panic!("{schema} is no object") };
        AnswerForm::of(schema)
    }

    fn reply_schema(schema: Value) -> Value {
        serde_json::from_str(&form(schema).reply_schema()).unwrap()
    }

    #[test]
    fn a_reply_holds_the_answer_or_null_and_its_sources() {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        assert_eq!(
            reply_schema(schema.clone()),
            json!({
                "type": "object",
                "properties": {
                    "answer": {"anyOf": [schema, {"type": "null"}]},
                    "sources": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["answer", "sources"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn references_find_what_they_found_before() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}}, "all": {"$ref": "#"}},
            "items": [{"$ref": "#/$defs/tree"}, {"$ref": "#/items/0"}, {"$ref": "#anchor"}],
        });
        let reply = reply_schema(schema);
        assert_eq!(reply["$schema"], "http://json-schema.org/draft-07/schema#");
        assert_eq!(
            reply["$defs"],
            json!({"tree": {"items": {"$ref": "#/$defs/tree"}}, "all": {"$ref": PLACE}})
        );
        let place = format!("{PLACE}/items/0");
        assert_eq!(
            reply.pointer(&PLACE[1..]).unwrap()["items"],
            json!([{"$ref": "#/$defs/tree"}, {"$ref": place}, {"$ref": "#anchor"}])
        );
        let own = json!({"$id": "urn:own", "$defs": {"a": {}}, "items": {"$ref": "#/$defs/a"}});
        assert_eq!(*reply_schema(own.clone()).pointer(&PLACE[1..]).unwrap(), own);
    }

    #[test]
    fn a_prompt_ends_with_what_a_reply_is() {
        let message = |role: &str| Message { role: role.to_owned(), content: "Q".to_owned() };
        let form = form(json!({}));
        let mut prompt = vec![message("system"), message("user")];
        form.ask(&mut prompt);
        assert_eq!(prompt.len(), 2);
        assert_eq!(prompt[1].content, format!("Q\n\n{WORDS}"));
        let mut prompt = vec![message("user"), message("assistant")];
        form.ask(&mut prompt);
        assert_eq!((prompt[2].role.as_str(), prompt[2].content.as_str()), ("user", WORDS));
    }

    #[test]
    fn null_is_no_answer() {
        let form = form(json!({}));
        for none in [
            r#"{"answer": null, "sources": []}"#,
            r#"{"sources": [1]}"#,
            "I don't know: the sources do not say.",
            "",
            "[1]",
        ] {
            assert_eq!(form.read(none), None, "{none}");
        }
        let read = form.read(r#"{"sources": [2, -1, 99999999999], "answer": { "a":1.50 }}"#);
        let read = read.unwrap();
        assert_eq!((read.json.as_str(), &*read.sources), (r#"{ "a":1.50 }"#, &[2, u32::MAX][..]));
    }

    #[test]
    fn values_are_read_as_text_that_cites() {
        let form = form(json!({"properties": {"urgency": {"enum": ["high", "low"]}}}));
        let reply = r#"{"answer": {"urgency": "high", "city_name": "Cologne", "rooms": 2, "is_free": true,
            "why": ["It was let in May [2].", "The owner moved to Bonn"], "other": null, "more": " "},
            "sources": [1, 3]}"#;
        let answer = form.read(reply).unwrap();
        assert_eq!(
            answer.text(ReadValues::All),
            "urgency: high. [1][3]\n\ncity name: Cologne. [1][3]\n\nrooms: 2. [1][3]\n\n\
             is free: true. [1][3]\n\nIt was let in May [2].\n\nThe owner moved to Bonn. [1][3]"
        );
        assert_eq!(
            answer.text(ReadValues::Words),
            "Cologne. [1][3]\n\nIt was let in May [2].\n\nThe owner moved to Bonn. [1][3]"
        );
        let bare = form.read(r#"{"answer": 7, "sources": []}"#).unwrap();
        assert_eq!(bare.text(ReadValues::All), "7.");
        assert_eq!(bare.text(ReadValues::Words), "");
    }

    #[test]
    fn values_are_claims_that_are_compared() {
        let form = form(json!({}));
        let reply = r#"{"answer": {"city": "Cologne", "note": "The flat is let from May."}, "sources": [1]}"#;
        let text = form.read(reply).unwrap().text(ReadValues::Words);
        let contexts = ["The flat in Cologne is let from May. It has two rooms."];
        let claims = crate::verify::verify(&text, &contexts, &mut || {});
        let told: Vec<(&str, &str, &[usize])> = claims
            .iter()
            .map(|it| (it.text.as_str(), if it.score > 0.5 { "yes" } else { "no" }, &*it.cited))
            .collect();
        assert_eq!(
            told,
            [("Cologne.", "yes", &[0][..]), ("The flat is let from May.", "yes", &[0])]
        );
    }
}
