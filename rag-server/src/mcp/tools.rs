//! The tools that a client's model is shown. There are few, since each takes room in its context.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// All tools, `sql` among them only where it is offered.
pub fn all(offers_sql: bool) -> Vec<Tool> {
    let mut tools = vec![list_sources(), search(), open(), ask(), schema()];
    if offers_sql {
        tools.push(sql());
    }
    tools
}

fn tool(name: &'static str, about: &'static str, properties: Value, required: &[&str]) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let Value::Object(schema) = schema else { unreachable!("an object was written") };
    let annotations = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(name, about, Arc::new(schema) as Arc<JsonObject>).with_annotations(annotations)
}

fn tokens() -> Value {
    json!({"type": "integer", "minimum": 50, "maximum": 20000, "description": "most tokens of the result; 2000"})
}

fn pipeline() -> Value {
    json!({"type": "string", "description": "name from list_sources; may be left out if there is one; '*' is all, 'auto' lets the database choose"})
}

fn filter() -> Value {
    json!({"type": "object", "description": "conditions over the filter columns of list_sources, e.g. {\"lang\": \"en\", \"year\": {\"gte\": 2020}}"})
}

fn list_sources() -> Tool {
    let about = "List the collections of documents (pipelines) with what is in them and the columns to filter by.";
    tool("list_sources", about, json!({"max_tokens": tokens()}), &[])
}

fn search() -> Tool {
    let about =
        "Find the passages that speak of a question, best first, with the uri of each document.";
    let properties = json!({
        "query": {"type": "string"},
        "pipeline": pipeline(),
        "k": {"type": "integer", "minimum": 1, "maximum": 100, "description": "how many passages; 5"},
        "mode": {"type": "string", "enum": ["hybrid", "dense", "lexical"]},
        "filter": filter(),
        "max_tokens": tokens(),
    });
    tool("search", about, properties, &["query"])
}

fn open() -> Tool {
    let about = "Read a document by its uri, from start_char on.";
    let properties = json!({
        "uri": {"type": "string", "description": "rag://pipeline/key, as search and ask give it"},
        "start_char": {"type": "integer", "minimum": 0},
        "max_tokens": tokens(),
    });
    tool("open", about, properties, &["uri"])
}

fn ask() -> Tool {
    let about = "Answer a question from the documents, with citations. supported: false means that they do not hold the answer.";
    let properties = json!({
        "question": {"type": "string"},
        "pipeline": pipeline(),
        "k": {"type": "integer", "minimum": 1, "maximum": 100},
        "strategy": {"type": "string"},
        "filter": filter(),
        "max_tokens": tokens(),
    });
    // A language model may be sent the passages, and a trace may be kept.
    let annotations = ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(true);
    tool("ask", about, properties, &["question"]).with_annotations(annotations)
}

fn schema() -> Tool {
    let about = "Show the tables and views that may be read, with their columns and comments.";
    let properties = json!({
        "tables": {"type": "array", "items": {"type": "string"}, "description": "only these; all if left out"},
        "max_tokens": tokens(),
    });
    tool("schema", about, properties, &[])
}

fn sql() -> Tool {
    let about = "Run one read-only SELECT over the tables of schema. Anything else is refused.";
    let properties = json!({
        "query": {"type": "string"},
        "max_rows": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "50"},
        "max_tokens": tokens(),
    });
    tool("sql", about, properties, &["query"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_is_offered_only_on_demand() {
        let names = |offers_sql| -> Vec<_> {
            all(offers_sql).into_iter().map(|tool| tool.name.into_owned()).collect()
        };
        assert_eq!(names(false), ["list_sources", "search", "open", "ask", "schema"]);
        assert_eq!(names(true).last().map(String::as_str), Some("sql"));
    }

    #[test]
    fn only_ask_is_more_than_reading() {
        for tool in all(true) {
            let annotations = tool.annotations.expect("each tool says what it does");
            assert_eq!(annotations.read_only_hint, Some(tool.name != "ask"), "{}", tool.name);
            assert_eq!(annotations.open_world_hint, Some(tool.name == "ask"), "{}", tool.name);
        }
    }

    #[test]
    fn the_tools_take_little_room() {
        let text = serde_json::to_string(&all(true)).unwrap();
        assert!(super::super::compact::tokens(&text) < 1500, "{}", text.len());
    }
}
