//! How is an agent told what it may do?
//!
//! ```text
//! offers → lines of a prompt, JSON schema of a reply
//! ```
//!
//! The schema has a variant for each action, and for each function with its own arguments. Whatever a chunk says, a
//! provider that keeps to the schema can't even write a call that was not offered; of the others the reply is checked.
//! The schema is written as text, since a local model writes members in the order in which the schema names them: why
//! comes before what.

use serde_json::{Value, json};

use super::action::{AgentOffers, ArgumentKind, ToolArgument, ToolOffer};
use super::arithmetic::FUNCTIONS;
use crate::exact;
use crate::text::line::single_line;

/// Most chunks that an agent may ask for at once.
pub const MOST_CHUNKS: u32 = 50;

/// How conditions compare.
pub const OPERATORS: [&str; 6] = ["eq", "ne", "lt", "lte", "gt", "gte"];

/// Longest description of a function that is shown, in characters.
const LONGEST: usize = 500;

const TEXT: &str = r#"{"type": "string"}"#;

/// All steps that there can be, by their names in a reply.
pub const STEPS: [&str; 7] = ["search", "open", "graph", "sql", "calculate", "call", "answer"];

/// A step that is no function of a user.
pub struct OfferedStep {
    /// What it is called in a reply.
    pub name: &'static str,
    /// What it takes: name and JSON schema of each member.
    pub members: Vec<(&'static str, String)>,
    /// The members as a prompt shows them.
    shown: String,
    /// What it does.
    pub does: String,
}

/// The steps that may be taken, but for functions and the answer.
#[must_use]
pub fn plain_steps(offers: &AgentOffers) -> Vec<OfferedStep> {
    let step =
        |name, (member, schema): (&'static str, &str), shown: &str, does: &str| OfferedStep {
            name,
            members: vec![(member, schema.to_owned())],
            shown: shown.to_owned(),
            does: does.to_owned(),
        };
    let mut steps = vec![
        search_step(offers),
        step(
            "open",
            ("number", r#"{"type": "integer"}"#),
            "\"number\": 2",
            "reads more of the document around the source of this number.",
        ),
    ];
    if offers.graph {
        steps.push(graph_step(offers));
    }
    if offers.sql {
        steps.push(step(
            "sql",
            ("question", TEXT),
            "\"question\": \"...\"",
            "has a query over the tables of the database written for a question in words: how many, how much, the last one, the most. Its rows become sources.",
        ));
    }
    let does =
        format!("computes with numbers, + - * / % ^, parentheses and the functions {FUNCTIONS}.");
    steps.push(step("calculate", ("expression", TEXT), "\"expression\": \"...\"", &does));
    steps
}

/// The JSON schema of a reply: a reason, and a step that is among `offers`.
#[must_use]
pub fn schema(offers: &AgentOffers) -> String {
    let plain = plain_steps(offers);
    let of = |it: &OfferedStep| step(it.name, &it.members);
    // What every agent may do comes first.
    let is_for_all = |it: &&OfferedStep| !["graph", "sql"].contains(&it.name);
    let mut steps: Vec<String> = plain.iter().filter(is_for_all).map(of).collect();
    steps.push(step("answer", &[("text", TEXT.to_owned())]));
    steps.extend(plain.iter().filter(|it| !is_for_all(it)).map(of));
    steps.extend(offers.tools.iter().map(call_schema));
    let step = any_of(&steps);
    object(&[("reason", TEXT.to_owned()), ("step", step)])
}

/// An object with these members and no others.
#[must_use]
pub fn object(members: &[(&str, String)]) -> String {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let members = members.iter().map(|(name, schema)| format!("{}: {schema}", json!(name)));
    let members = members.collect::<Vec<_>>().join(", ");
    format!(
        r#"{{"type": "object", "properties": {{{members}}}, "required": {}, "additionalProperties": false}}"#,
        json!(names)
    )
}

fn step(name: &str, members: &[(&str, String)]) -> String {
    let first = [("do", one_of(&[name]))];
    object(&[&first, members].concat())
}

fn one_of<T: AsRef<str>>(values: &[T]) -> String {
    let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
    json!({"type": "string", "enum": values}).to_string()
}

fn any_of(schemas: &[String]) -> String {
    format!(r#"{{"anyOf": [{}]}}"#, schemas.join(", "))
}

fn or_null(schema: String) -> String {
    any_of(&[schema, r#"{"type": "null"}"#.to_owned()])
}

fn filter_schema(columns: &[(String, String)]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let condition = object(&[
        ("column", one_of(&names)),
        ("is", one_of(&OPERATORS)),
        ("value", or_null(TEXT.to_owned())),
    ]);
    format!(r#"{{"type": "array", "items": {condition}}}"#)
}

fn call_schema(tool: &ToolOffer) -> String {
    let arguments: Vec<(&str, String)> =
        tool.arguments.iter().map(|it| (it.name.as_str(), argument_schema(it))).collect();
    step("call", &[("tool", one_of(&[&tool.name])), ("with", object(&arguments))])
}

/// The JSON schema of a function's argument.
#[must_use]
pub fn argument_schema(argument: &ToolArgument) -> String {
    let value = json!({"type": argument.kind.name()}).to_string();
    let value = match argument.is_list {
        true => format!(r#"{{"type": "array", "items": {value}}}"#),
        false => value,
    };
    if argument.has_default { or_null(value) } else { value }
}

impl ArgumentKind {
    /// As JSON schemas call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ArgumentKind::Text => "string",
            ArgumentKind::Integer => "integer",
            ArgumentKind::Number => "number",
            ArgumentKind::Boolean => "boolean",
        }
    }

    /// Whether a value looks so.
    #[must_use]
    pub fn fits(self, value: &Value) -> bool {
        match self {
            ArgumentKind::Text => exact::text(value).is_some(),
            ArgumentKind::Integer => value.is_i64() || value.is_u64(),
            ArgumentKind::Number => exact::number(value).is_some(),
            ArgumentKind::Boolean => value.is_boolean(),
        }
    }
}

/// What a prompt says of the steps that may be taken, a line each.
#[must_use]
pub fn described(offers: &AgentOffers) -> String {
    let plain = plain_steps(offers);
    let line = |step: &OfferedStep| {
        let OfferedStep { name, shown, does, .. } = step;
        format!("{{\"do\": \"{name}\", {shown}}} {does}")
    };
    let mut lines: Vec<String> = plain.iter().map(line).collect();
    lines.extend(offers.tools.iter().map(call_line));
    lines.push(
        "{\"do\": \"answer\", \"text\": \"...\"} answers the question and ends the work."
            .to_owned(),
    );
    lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn search_step(offers: &AgentOffers) -> OfferedStep {
    let integer = r#"{"type": "integer"}"#.to_owned();
    let mut members = vec![("question", TEXT.to_owned()), ("k", or_null(integer))];
    let mut shown = "\"question\": \"...\", \"k\": null".to_owned();
    let mut does = format!(
        "looks a question up in the documents; \"k\" is how many chunks are wanted, 1 to {MOST_CHUNKS}, or null."
    );
    if !offers.columns.is_empty() {
        members.push(("filter", filter_schema(&offers.columns)));
        shown += ", \"filter\": []";
        let columns = offers.columns.iter().map(|(name, kind)| format!("{name} ({kind})"));
        does += &format!(
            " \"filter\" has conditions that all must hold, as {{\"column\": \"...\", \"is\": \"gte\", \"value\": \"...\"}}; \"is\" is one of {}, columns are: {}.",
            OPERATORS.join(", "),
            columns.collect::<Vec<_>>().join(", ")
        );
    }
    if !offers.pipelines.is_empty() {
        members.push(("pipeline", or_null(one_of(&offers.pipelines))));
        shown += ", \"pipeline\": null";
        let names = offers.pipelines.join(", ");
        does += &format!(" \"pipeline\" is null for all collections, or one of: {names}.");
    }
    OfferedStep { name: "search", members, shown, does }
}

fn graph_step(offers: &AgentOffers) -> OfferedStep {
    let mut members = vec![("entity", TEXT.to_owned())];
    let mut shown = "\"entity\": \"...\"".to_owned();
    let mut does =
        "finds with what else the documents name this person, place or thing.".to_owned();
    if !offers.predicates.is_empty() {
        let some = format!(r#"{{"type": "array", "items": {}}}"#, one_of(&offers.predicates));
        members.push(("predicates", some));
        shown += ", \"predicates\": []";
        does += &format!(
            " \"predicates\" keeps to what is stated of it with some of these words, or is []: {}.",
            offers.predicates.join(", ")
        );
    }
    OfferedStep { name: "graph", members, shown, does }
}

fn call_line(tool: &ToolOffer) -> String {
    let argument = |it: &ToolArgument| {
        let default = if it.has_default { ", or null" } else { "" };
        format!("{}: {}{default}", json!(it.name), it.sql_type)
    };
    let arguments = tool.arguments.iter().map(argument).collect::<Vec<_>>().join(", ");
    let does = function_description(tool);
    format!(
        "{{\"do\": \"call\", \"tool\": {}, \"with\": {{{arguments}}}}} calls a function: {does}",
        json!(tool.name)
    )
}

/// What a function does, in one line.
#[must_use]
pub fn function_description(tool: &ToolOffer) -> String {
    single_line(&tool.description).chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(name: &str, kind: ArgumentKind) -> ToolArgument {
        let sql_type = "text".to_owned();
        ToolArgument { name: name.to_owned(), sql_type, kind, is_list: false, has_default: false }
    }

    fn weather() -> ToolOffer {
        let days = ToolArgument { has_default: true, ..argument("days", ArgumentKind::Integer) };
        let tags = ToolArgument { is_list: true, ..argument("tags", ArgumentKind::Text) };
        ToolOffer {
            name: "weather".to_owned(),
            description: "what\nthe weather is".to_owned(),
            arguments: vec![argument("city", ArgumentKind::Text), days, tags],
        }
    }

    fn steps(offers: &AgentOffers) -> Vec<Value> {
        let schema: Value = serde_json::from_str(&schema(offers)).unwrap();
        assert_eq!(schema["required"], json!(["reason", "step"]));
        schema["properties"]["step"]["anyOf"].as_array().unwrap().clone()
    }

    #[test]
    fn what_is_not_offered_is_not_in_the_schema() {
        let names = |offers: &AgentOffers| -> Vec<Value> {
            steps(offers).iter().map(|it| it["properties"]["do"]["enum"][0].clone()).collect()
        };
        assert_eq!(names(&AgentOffers::default()), ["search", "open", "calculate", "answer"]);
        let all =
            AgentOffers { graph: true, sql: true, tools: vec![weather()], ..Default::default() };
        let walk = |offers: &AgentOffers| {
            plain_steps(offers).into_iter().find(|it| it.name == "graph").unwrap()
        };
        assert_eq!(walk(&all).members.len(), 1);
        let predicates = vec!["uses".to_owned(), "worked on".to_owned()];
        let related = walk(&AgentOffers { predicates, ..all.clone() });
        assert_eq!(
            related.members[1],
            (
                "predicates",
                r#"{"type": "array", "items": {"enum":["uses","worked on"],"type":"string"}}"#
                    .to_owned()
            )
        );
        assert!(related.does.ends_with("or is []: uses, worked on."), "{}", related.does);
        assert_eq!(names(&all), ["search", "open", "calculate", "answer", "graph", "sql", "call"]);
        let told = described(&AgentOffers::default());
        for word in ["graph", "sql", "call", "filter", "pipeline"] {
            assert!(!told.contains(word), "{word} in {told}");
        }
    }

    #[test]
    fn each_function_has_its_own_arguments() {
        let offers = AgentOffers { tools: vec![weather()], ..AgentOffers::default() };
        let call = steps(&offers).pop().unwrap();
        assert_eq!(call["properties"]["tool"], json!({"type": "string", "enum": ["weather"]}));
        let with = &call["properties"]["with"];
        assert_eq!(with["required"], json!(["city", "days", "tags"]));
        assert_eq!(
            with["properties"]["days"],
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]})
        );
        assert_eq!(
            with["properties"]["tags"],
            json!({"type": "array", "items": {"type": "string"}})
        );
        let line = "- {\"do\": \"call\", \"tool\": \"weather\", \"with\": {\"city\": text, \"days\": text, or null, \"tags\": text}} calls a function: what the weather is";
        assert!(described(&offers).lines().any(|it| it == line), "{}", described(&offers));
    }

    #[test]
    fn the_reason_is_written_first() {
        let schema = schema(&AgentOffers::default());
        assert!(schema.find("reason") < schema.find("step"), "{schema}");
        assert!(schema.find("\"do\"") < schema.find("question"), "{schema}");
    }

    #[test]
    fn searches_are_limited_to_what_there_is() {
        let offers = AgentOffers {
            columns: vec![("year".to_owned(), "integer".to_owned())],
            pipelines: vec!["docs".to_owned(), "tickets".to_owned()],
            ..AgentOffers::default()
        };
        let search = steps(&offers).remove(0);
        let column = &search["properties"]["filter"]["items"]["properties"]["column"];
        assert_eq!(column["enum"], json!(["year"]));
        let pipeline = &search["properties"]["pipeline"]["anyOf"][0];
        assert_eq!(pipeline["enum"], json!(["docs", "tickets"]));
        assert!(described(&offers).contains("columns are: year (integer)."));
        assert!(described(&offers).contains("one of: docs, tickets."));
    }
}
