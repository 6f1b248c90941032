//! A question gets its answer: retrieve, then have it written from what was found.

use std::time::Instant;

use serde_json::{Value, json};

use super::functions::{EXTRACTIVE, Embedding, generate};
use super::random;
use super::search::Search;
use crate::answer::citation::{Citation, CitedSource, Unresolved, citations};
use crate::answer::extractive::{self, Evidence, ExtractOptions};
use crate::context::prompt::{self, Source, is_no_answer};
use crate::daemon::protocol::Lane;
use crate::error::Result;
use crate::retrieve::Passage;

/// Who writes, and under which conditions.
pub struct Writing {
    /// 'extractive' or a foreign server.
    pub llm: String,
    /// Confidence below which the extractive answerer abstains.
    pub min_confidence: Option<f32>,
    /// Most sentences of an extractive answer.
    pub max_sentences: Option<usize>,
    /// Sampling temperature of a language model.
    pub temperature: f32,
    /// Longest answer of a language model, in tokens.
    pub max_tokens: Option<u32>,
}

/// An answer and what it stands on.
pub struct Answer {
    /// The text with its markers [n].
    pub text: String,
    /// Whether the documents hold the answer.
    pub supported: Option<bool>,
    /// Probability that they do, where the answerer gives one.
    pub confidence: Option<f32>,
    /// One object a citation; markers that point to nothing have only a marker and a position.
    pub citations: Value,
    /// The chunks that were read, in the order of their numbers.
    pub context: Value,
    /// Who wrote, tokens and times.
    pub usage: Value,
}

/// What an answerer wrote.
struct Written {
    text: String,
    supported: bool,
    confidence: Option<f32>,
    citations: Value,
    usage: Value,
}

/// Answers `question` from the pipeline that `search` searches.
pub fn ask(question: &str, search: &Search, writing: &Writing) -> Result<Answer> {
    let start = Instant::now();
    let passages = search.run(question)?;
    let retrieved = Instant::now();
    let written = match writing.llm.as_str() {
        EXTRACTIVE => extract(question, &passages, search, writing)?,
        _ => write(question, &passages, writing)?,
    };
    let mut usage = written.usage;
    usage["llm"] = json!(writing.llm);
    usage["retrieve_ms"] = milliseconds(retrieved - start);
    usage["answer_ms"] = milliseconds(retrieved.elapsed());
    Ok(Answer {
        citations: written.citations,
        text: written.text,
        supported: Some(written.supported),
        confidence: written.confidence,
        context: context(&passages),
        usage,
    })
}

fn extract(
    question: &str,
    passages: &[Passage],
    search: &Search,
    writing: &Writing,
) -> Result<Written> {
    let mut embedding = Embedding::with_model(Some(&search.pipeline.model), Lane::Query)?;
    let found: Vec<extractive::Passage<'_>> = (1..)
        .zip(passages)
        .map(|(number, passage)| extractive::Passage {
            number,
            content: &passage.content,
            heading: passage.heading.as_deref(),
            dense_similarity: passage.similarity.map(|value| value as f32),
        })
        .collect();
    let defaults = ExtractOptions::default();
    let options = ExtractOptions {
        threshold: writing.min_confidence.unwrap_or(defaults.threshold),
        max_sentences: writing.max_sentences.unwrap_or(defaults.max_sentences),
        ..defaults
    };
    let extract = extractive::extract(question, &found, &mut embedding, &options)?;
    let evidence = extract.evidence.iter().filter(|_| extract.supported);
    Ok(Written {
        text: extract.answer,
        supported: extract.supported,
        confidence: Some(extract.confidence),
        citations: evidence.map(|evidence| json!(citation(evidence, passages))).collect(),
        usage: json!({}),
    })
}

/// What a piece of evidence cites, exactly.
fn citation(evidence: &Evidence, passages: &[Passage]) -> Citation {
    let passage = &passages[evidence.passage];
    Citation {
        marker: evidence.passage as i32 + 1,
        chunk_id: passage.chunk_id,
        source_key: passage.source_key.clone(),
        chunk_no: passage.chunk_no,
        start_char: passage.start_char + evidence.chars.start as i32,
        end_char: passage.start_char + evidence.chars.end as i32,
        quote: passage.content[evidence.bytes.clone()].to_owned(),
    }
}

fn write(question: &str, passages: &[Passage], writing: &Writing) -> Result<Written> {
    let sources: Vec<Source> = passages.iter().map(source).collect();
    let messages = prompt::messages(question, &sources, &random::nonce()?);
    let generated = generate(&writing.llm, messages, writing.temperature, writing.max_tokens)?;
    let supported = !is_no_answer(&generated.text);
    Ok(Written {
        citations: cited(&generated.text, passages),
        text: generated.text,
        supported,
        confidence: None,
        usage: json!({
            "prompt_tokens": generated.prompt_tokens,
            "completion_tokens": generated.completion_tokens,
            "finish_reason": generated.finish_reason,
            "attempts": generated.attempts,
        }),
    })
}

/// A passage as a language model reads it.
pub fn source(passage: &Passage) -> Source {
    let metadata = passage.metadata.as_object().into_iter().flatten();
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    Source {
        heading: passage.heading.clone(),
        metadata: metadata.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect(),
        content: passage.content.clone(),
    }
}

fn cited(answer: &str, passages: &[Passage]) -> Value {
    let sources: Vec<CitedSource> = passages
        .iter()
        .map(|passage| CitedSource {
            chunk_id: passage.chunk_id,
            source_key: passage.source_key.clone(),
            chunk_no: passage.chunk_no,
            start_char: passage.start_char,
            content: passage.content.clone(),
        })
        .collect();
    let found = citations(answer, &sources);
    let unresolved = |Unresolved { marker, position }: &Unresolved| json!({"marker": marker, "position": position, "unresolved": true});
    let resolved = found.citations.iter().map(|citation| json!(citation));
    resolved.chain(found.unresolved.iter().map(unresolved)).collect()
}

fn context(passages: &[Passage]) -> Value {
    let numbered = (1..).zip(passages).map(|(number, passage)| {
        let mut value = json!(passage);
        value["number"] = json!(number);
        value
    });
    numbered.collect()
}

fn milliseconds(time: std::time::Duration) -> Value {
    json!((time.as_secs_f64() * 1e4).round() / 10.0)
}
