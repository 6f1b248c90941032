//! The built-in answerer: quotes, and nothing of its own.

use serde_json::json;

use super::Writing;
use crate::answer::citation::{Citation, Citations};
use crate::answer::draft::Draft;
use crate::context::Reading;
use crate::error::Result;
use crate::extract::{self, Evidence, ExtractOptions};
use crate::pg::question::search::Search;
use crate::pg::ragd::embed::Embedding;
use crate::protocol::Lane;

/// The sentences that answer `question`.
pub fn extract(
    question: &str,
    readings: Vec<Reading>,
    search: &Search,
    writing: &Writing,
) -> Result<Draft> {
    let mut embedding = Embedding::with_model(Some(&search.pipeline.model), Lane::Query)?;
    let found: Vec<extract::ExtractPassage<'_>> = (1..)
        .zip(&readings)
        .map(|(number, Reading { passage, .. })| extract::ExtractPassage {
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
    let extract = extract::extract(question, &found, &mut embedding, &options)?;
    let evidence = extract.evidence.iter().filter(|_| extract.supported);
    let citations = evidence.map(|evidence| citation(evidence, &readings)).collect();
    Ok(Draft {
        text: extract.answer,
        supported: extract.supported,
        confidence: Some(extract.confidence),
        citations: Some(Citations { citations, unresolved: Vec::new() }),
        usage: json!({}),
        readings,
    })
}

/// What a piece of evidence cites, exactly.
fn citation(evidence: &Evidence, readings: &[Reading]) -> Citation {
    let passage = &readings[evidence.passage].passage;
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
