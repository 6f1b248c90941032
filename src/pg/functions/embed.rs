//! `rag_embed`, `rag_embed_batch`.

use pgrx::prelude::*;

use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::pg::server::error::OrReport;
use crate::pg::server::vector::Vector;

#[pg_extern(sql = false)]
fn rag_embed(input: Option<&str>, model: Option<&str>, kind: Option<&str>) -> Option<Vector> {
    let input = input?;
    let kind = kind_of(kind).or_report();
    let mut embedding = Embedding::with_model(model, CallContext::query()).or_report();
    embedding.embed(&[input.to_owned()], kind).or_report().pop().map(Vector)
}

#[pg_extern(sql = false)]
fn rag_embed_batch(
    input: Option<Vec<Option<String>>>,
    model: Option<&str>,
    kind: Option<&str>,
) -> Option<Vec<Option<Vector>>> {
    let input = input?;
    let kind = kind_of(kind).or_report();
    let mut embedding = Embedding::with_model(model, CallContext::bulk()).or_report();
    Some(embed_nullable(input, kind, &mut embedding).or_report())
}

fn kind_of(kind: Option<&str>) -> Result<EmbeddingKind> {
    match kind {
        Some("query") => Ok(EmbeddingKind::Query),
        Some("passage") => Ok(EmbeddingKind::Passage),
        Some(other) => Err(Error::invalid(format!("unknown kind \"{other}\""))
            .hint("Known kinds: query, passage.")),
        None => Err(Error::new(ErrorKind::NullNotAllowed, "kind must not be NULL")
            .hint("Known kinds: query, passage.")),
    }
}

fn embed_nullable(
    input: Vec<Option<String>>,
    kind: EmbeddingKind,
    embedding: &mut Embedding,
) -> Result<Vec<Option<Vector>>> {
    let are_given: Vec<bool> = input.iter().map(Option::is_some).collect();
    let texts: Vec<String> = input.into_iter().flatten().collect();
    let mut vectors = embedding.embed(&texts, kind)?.into_iter().map(Vector);
    Ok(are_given.into_iter().map(|is_given| is_given.then(|| vectors.next()).flatten()).collect())
}
