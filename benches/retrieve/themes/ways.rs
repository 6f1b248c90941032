//! In which ways a question for the whole is read.

use std::ops::Range;

use postgres::Client;
use serde_json::{Value, json};

use crate::Result;

/// Chunks that are looked for; as many of them are read as there are tokens for.
const CHUNKS: i32 = 50;

/// Tokens for each chunk that `local` looks for: half of the tokens are for what is around them.
const LOCAL_TOKENS: i32 = 300;

/// Tokens for each community of `global`, of which up to three sentences are quoted.
const COMMUNITY_TOKENS: i32 = 80;

/// Characters of a digest that count as ten tokens: four are a token, to which a fifth is added, as to chunks that a language
/// model reads.
const TEN_TOKENS: usize = 33;

/// A way to read for a question.
pub struct Way {
    pub name: &'static str,
    /// The strategy; `None`: what was found is read.
    strategy: Option<Surveying>,
    /// The options `retrieve`.
    retrieve: &'static str,
}

/// A strategy that reads what the graph has.
#[derive(Clone, Copy)]
enum Surveying {
    Local,
    Global,
}

/// What is compared; the first is what the others are compared with.
pub const WAYS: [Way; 7] = [
    found("chunks alone", r#"{"tree": "off", "graph": "off"}"#),
    found("tree auto", r#"{"tree": "auto", "graph": "off"}"#),
    found("tree on", r#"{"tree": "on", "graph": "off"}"#),
    found("tree_beam 2", r#"{"tree": "on", "tree_beam": 2, "graph": "off"}"#),
    // No node is left out, so the nearest of all levels are read.
    found("nearest of all levels", r#"{"tree": "on", "tree_beam": 10000, "graph": "off"}"#),
    Way { name: "local", strategy: Some(Surveying::Local), retrieve: "{}" },
    Way { name: "global", strategy: Some(Surveying::Global), retrieve: "{}" },
];

const fn found(name: &'static str, retrieve: &'static str) -> Way {
    Way { name, strategy: None, retrieve }
}

/// What is read of a row.
pub struct PlaceRead {
    /// The key of the row.
    pub key: String,
    /// The characters there.
    pub chars: Range<i64>,
}

impl Way {
    /// What is read for `question`, of at most so many tokens: the chunks, and those that summaries quote; of `global` the
    /// sentences of its digest.
    pub fn read(&self, client: &mut Client, question: &str, tokens: i32) -> Result<Vec<PlaceRead>> {
        let retrieve: Value = serde_json::from_str(self.retrieve)?;
        let read = json!({"retrieve": retrieve, "context": {"tokens": tokens}});
        let (strategy, k, options) = match self.strategy {
            None => (None, Some(CHUNKS), read),
            Some(Surveying::Local) => (Some("local"), Some((tokens / LOCAL_TOKENS).max(1)), read),
            Some(Surveying::Global) => {
                let communities = (tokens / COMMUNITY_TOKENS).max(1);
                (Some("global"), None, json!({"answer": {"communities": communities}}))
            }
        };
        let query = "SELECT context::text, citations::text
                     FROM rag_answer_details($1, 'doc', strategy => $2, k => $3, llm => 'extractive', options => $4::text::jsonb)";
        let row = client.query_one(query, &[&question, &strategy, &k, &options.to_string()])?;
        Ok(match self.strategy {
            Some(Surveying::Global) => quoted(&array(row.get(1))?, tokens),
            _ => shown(&array(row.get(0))?),
        })
    }
}

fn array(text: Option<&str>) -> Result<Vec<Value>> {
    Ok(text.map_or(Ok(Vec::new()), serde_json::from_str)?)
}

/// The chunks, with those that summaries quote in the place of these.
fn shown(sources: &[Value]) -> Vec<PlaceRead> {
    let of_source = |source: &Value| match source["leaves"].as_array() {
        Some(leaves) => leaves.iter().map(place).collect(),
        None => vec![place(source)],
    };
    sources.iter().flat_map(of_source).collect()
}

/// The sentences of a digest that so many tokens have room for.
fn quoted(citations: &[Value], tokens: i32) -> Vec<PlaceRead> {
    let mut left = usize::try_from(tokens).unwrap_or_default() * TEN_TOKENS / 10;
    let fits = |citation: &&Value| {
        let length = citation["quote"].as_str().unwrap_or_default().chars().count();
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    };
    citations.iter().take_while(fits).map(place).collect()
}

fn place(it: &Value) -> PlaceRead {
    let number = |key: &str| it[key].as_i64().unwrap_or_default();
    PlaceRead {
        key: it["source_key"].as_str().unwrap_or_default().to_owned(),
        chars: number("start_char")..number("end_char"),
    }
}
