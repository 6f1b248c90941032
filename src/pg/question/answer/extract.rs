//! The built-in answerer: quotes, and nothing of its own.

use serde_json::json;

use super::Writing;
use crate::answer::citation::{Citation, Citations};
use crate::answer::draft::Draft;
use crate::context::Reading;
use crate::error::Result;
use crate::extract::{self, Evidence, ExtractOptions};
use crate::pg::question::federation::FederatedSearch;
use crate::pg::ragd::embed::Embedding;
use crate::source::Original;

/// The sentences that answer `question`.
pub fn extract(
    question: &str,
    readings: Vec<Reading>,
    search: &FederatedSearch,
    writing: &Writing,
) -> Result<Draft> {
    let mut embedding = Embedding::with_model(Some(search.model()), search.context)?;
    let originals: Vec<(usize, Original<'_>)> =
        readings.iter().enumerate().flat_map(originals_of).collect();
    let found: Vec<extract::ExtractPassage<'_>> =
        originals.iter().map(|it| passage(it, &readings)).collect();
    let defaults = ExtractOptions::default();
    let options = ExtractOptions {
        threshold: writing.min_confidence.unwrap_or(defaults.threshold),
        max_sentences: writing.max_sentences.unwrap_or(defaults.max_sentences),
        format: writing.trust.format(),
        ..defaults
    };
    let extract = extract::extract(question, &found, &mut embedding, &options)?;
    let evidence = extract.evidence.iter().filter(|_| extract.supported);
    let citations = evidence.map(|evidence| citation(evidence, &originals)).collect();
    Ok(Draft {
        text: extract.answer,
        supported: extract.supported,
        confidence: Some(extract.confidence),
        citations: Some(Citations { citations, unresolved: Vec::new() }),
        usage: json!({}),
        readings,
    })
}

/// The texts of a reading that can be quoted, each with the index of the reading.
fn originals_of((at, reading): (usize, &Reading)) -> Vec<(usize, Original<'_>)> {
    reading.source.originals().into_iter().map(|original| (at, original)).collect()
}

/// An original as the extractor reads it, with the number of its reading.
fn passage<'a>(
    (at, original): &(usize, Original<'a>),
    readings: &'a [Reading],
) -> extract::ExtractPassage<'a> {
    let source = &readings[*at].source;
    extract::ExtractPassage {
        number: *at as u32 + 1,
        content: original.text,
        heading: source.heading(),
        dense_similarity: source.similarity().map(|value| value as f32),
    }
}

/// What a piece of evidence cites, exactly.
fn citation(evidence: &Evidence, originals: &[(usize, Original<'_>)]) -> Citation {
    let (at, original) = &originals[evidence.passage];
    let bytes = evidence.bytes.clone();
    let quote = original.text[bytes.clone()].to_owned();
    Citation { marker: *at as i32 + 1, place: original.place_of(bytes), quote }
}
