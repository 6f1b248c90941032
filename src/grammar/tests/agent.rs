//! The reply of an agent, as a local model may write it.

use super::check;
use crate::answer::strategy::agent::{
    AgentOffers, ArgumentKind, ToolArgument, ToolOffer, reply_schema,
};

#[test]
fn an_agent_writes_nothing_but_steps_on_offer() {
    let argument = |name: &str, kind, is_list, has_default| ToolArgument {
        name: name.to_owned(),
        sql_type: "text".to_owned(),
        kind,
        is_list,
        has_default,
    };
    let arguments = vec![
        argument("city", ArgumentKind::Text, false, false),
        argument("days", ArgumentKind::Integer, false, true),
        argument("tags", ArgumentKind::Text, true, true),
    ];
    let tool = |name: &str, arguments| ToolOffer {
        name: name.to_owned(),
        description: "does it".to_owned(),
        arguments,
    };
    let offers = AgentOffers {
        columns: vec![("year".to_owned(), "integer".to_owned())],
        pipelines: vec!["docs".to_owned(), "tickets".to_owned()],
        graph: true,
        predicates: vec!["uses".to_owned(), "worked on".to_owned()],
        sql: true,
        tools: vec![tool("weather", arguments), tool("now", Vec::new())],
    };
    check(
        &reply_schema(&offers),
        &[
            r#"{"reason": "so", "step": {"do": "search", "question": "Who?", "k": null, "filter": [{"column": "year", "is": "gte", "value": "2020"}], "pipeline": "docs"}}"#,
            r#"{"reason": "", "step": {"do": "open", "number": 2}}"#,
            r#"{"reason": "so", "step": {"do": "graph", "entity": "Eve", "predicates": []}}"#,
            r#"{"reason": "so", "step": {"do": "graph", "entity": "Eve", "predicates": ["worked on", "uses"]}}"#,
            r#"{"reason": "so", "step": {"do": "call", "tool": "weather", "with": {"city": "Ghent", "days": null, "tags": ["a"]}}}"#,
            r#"{"reason": "so", "step": {"do": "call", "tool": "now", "with": {}}}"#,
            r#"{"reason": "so", "step": {"do": "answer", "text": "It is [1]."}}"#,
        ],
        &[
            // What was not offered, and a step before its reason.
            r#"{"reason": "so", "step": {"do": "graph", "entity": "Eve", "predicates": ["owns"]}}"#,
            r#"{"reason": "so", "step": {"do": "fly", "entity": "Eve"}}"#,
            r#"{"reason": "so", "step": {"do": "call", "tool": "burn", "with": {}}}"#,
            r#"{"reason": "so", "step": {"do": "call", "tool": "now", "with": {"city": "Ghent"}}}"#,
            r#"{"reason": "so", "step": {"do": "search", "question": "Who?", "k": null, "filter": [], "pipeline": "secrets"}}"#,
            r#"{"step": {"do": "open", "number": 2}, "reason": ""}"#,
        ],
    );
}
