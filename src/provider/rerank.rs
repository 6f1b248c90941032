//! How well does a provider think that passages answer a question?
//!
//! ```text
//! POST {base_url}/rerank
//! {"model": ..., "query": ..., "documents": ["...", ...]}
//! → {"results": [{"index": 0, "relevance_score": 0.98}, ...]}
//! ```
//!
//! Jina, vLLM, llama.cpp, Cohere and Voyage AI agree so far that one question serves all.
//! Voyage AI calls the results `data`. Text Embeddings Inference calls the passages `texts`,
//! says so when they are missing, and answers with the bare list, in which a score is a `score`.
//!
//! Scores are from 0 to 1 when they leave here. A server that gives logits shows it by one that
//! is not, and then all scores of the reply become probabilities.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::HttpReply;
use super::caller::{Caller, ProviderQuestion};
use super::chat::encode;
use super::dialect::Dialect;
use super::embeddings::in_order;
use super::errors::{CallPurpose, ErrorFormatter, explanation};
use super::provider_state::ProviderMemory;
use super::retry::CallError;
use super::{cohere, openai, voyage};
use crate::error::Result;
use crate::protocol::{Lane, RerankRequest};

const OPENAI: CallPurpose = task(&openai::DIALECT);
const COHERE: CallPurpose = task(&cohere::DIALECT);
const VOYAGE: CallPurpose = task(&voyage::DIALECT);

const fn task(dialect: &'static Dialect) -> CallPurpose {
    CallPurpose {
        dialect,
        path: "rerank",
        answer: "scores",
        model: "the model that rag_add_model was given",
        too_long: "A passage is longer than the model reads. Cut shorter chunks, with a smaller max_tokens.",
    }
}

/// Has the provider of `request` compare passages with a question: one score a passage, from 0
/// to 1, in the order of the passages.
pub fn rerank(
    request: &RerankRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
) -> Result<Vec<f32>> {
    if request.passages.is_empty() {
        return Ok(Vec::new());
    }
    let task = match request.provider.api.as_str() {
        "cohere" => &COHERE,
        "voyage" => &VOYAGE,
        _ => &OPENAI,
    };
    // A user waits for what is ranked.
    let caller = Caller::new(&request.provider, task, Lane::Query, memory)?;
    let (scores, _) = caller.ask(&mut Passages { request, name: "documents" }, gone)?;
    Ok(scores)
}

/// The passages of a call.
struct Passages<'a> {
    request: &'a RerankRequest,
    /// What the protocol calls them.
    name: &'static str,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RerankReply {
    Bare(Vec<RerankItem>),
    Named {
        #[serde(alias = "data")]
        results: Vec<RerankItem>,
    },
}

#[derive(Deserialize)]
struct RerankItem {
    index: Option<usize>,
    #[serde(alias = "score")]
    relevance_score: f64,
}

impl ProviderQuestion for Passages<'_> {
    type Answer = Vec<f32>;

    fn encode(&self) -> Result<Vec<u8>> {
        let RerankRequest { provider, query, passages } = self.request;
        encode(&json!({"model": provider.model, "query": query, self.name: passages}))
    }

    fn give_in(&mut self, reply: &HttpReply) -> bool {
        let wants_texts = matches!(reply.status, 400 | 422)
            && self.name != "texts"
            && explanation(&reply.body).contains("`texts`");
        if wants_texts {
            self.name = "texts";
        }
        wants_texts
    }

    fn read(
        &mut self,
        reply: &HttpReply,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Vec<f32>, CallError> {
        let value: Value = teller.read(reply)?;
        let count = self.request.passages.len();
        scores(value, count).map_err(|why| teller.nonsense(&why, reply))
    }
}

fn scores(value: Value, count: usize) -> std::result::Result<Vec<f32>, String> {
    let answer: RerankReply =
        serde_json::from_value(value).map_err(|_| "no list of results with scores")?;
    let items = match answer {
        RerankReply::Bare(items) | RerankReply::Named { results: items } => items,
    };
    let items = items.into_iter().map(|item| (item.index, item.relevance_score)).collect();
    let scores = in_order(items, count, "scores for", "passages")?;
    let are_logits = scores.iter().any(|score| !(0.0..=1.0).contains(score));
    let probability = |score: f64| if are_logits { 1.0 / (1.0 + (-score).exp()) } else { score };
    Ok(scores.into_iter().map(|score| probability(score) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &Value, expected: std::result::Result<&[f32], &str>) {
        let found = scores(reply.clone(), 2);
        let found = found.as_deref().map_err(String::as_str);
        assert_eq!(found, expected, "{reply}");
    }

    #[test]
    fn scores_stand_in_the_order_of_the_passages() {
        let item = |index: usize, score: f64| json!({"index": index, "relevance_score": score});
        let both = [item(1, 0.75), item(0, 0.25)];
        check(&json!({"results": both, "id": "x"}), Ok(&[0.25, 0.75]));
        check(&json!({"object": "list", "data": both}), Ok(&[0.25, 0.75]));
        check(&json!([{"index": 1, "score": 1}, {"index": 0, "score": 0}]), Ok(&[0.0, 1.0]));
        check(&json!({"results": [item(1, 0.0), item(0, -800.0)]}), Ok(&[0.0, 0.5]));
    }

    #[test]
    fn what_are_no_scores_is_said() {
        let item = |index: usize| json!({"index": index, "relevance_score": 0.5});
        check(&json!({"results": [item(0)]}), Err("1 scores for 2 passages"));
        check(&json!({"results": [item(0), item(0)]}), Err("index 0 comes twice"));
        check(&json!({"results": [item(0), item(2)]}), Err("index 2 is not one of 2 passages"));
        for none in [json!({}), json!({"results": [0.1, 0.2]}), json!("x"), json!([{"index": 0}])] {
            check(&none, Err("no list of results with scores"));
        }
    }
}
