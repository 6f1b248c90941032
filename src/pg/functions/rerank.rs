//! `rag_rerank`.

use pgrx::prelude::*;

use crate::error::Result;
use crate::pg::question::request::required_question;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::rerank::Reranker;
use crate::pg::server::error::OrReport;
use crate::rerank::{LATE_INTERACTION, order};

#[pg_extern(sql = false)]
fn rag_rerank(
    question: Option<&str>,
    passages: Option<Vec<Option<String>>>,
    model: Option<&str>,
) -> TableIterator<'static, (name!(ord, i32), name!(score, f64))> {
    let passages = passages.unwrap_or_default();
    let ranked = required_question(question).and_then(|question| rank(question, passages, model));
    TableIterator::new(ranked.or_report())
}

/// Places from 1 and scores, best first. A passage that is NULL has no place.
fn rank(
    question: &str,
    passages: Vec<Option<String>>,
    model: Option<&str>,
) -> Result<Vec<(i32, f64)>> {
    let reranker = Reranker::named(model.unwrap_or(LATE_INTERACTION), None, None)?;
    let (places, texts): (Vec<i32>, Vec<String>) =
        (1..).zip(passages).filter_map(|(place, text)| Some((place, text?))).unzip();
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let scores = reranker.scores(question, &texts, &CallContext::query())?;
    let best_first = order(&scores).into_iter();
    Ok(best_first.map(|at| (places[at], f64::from(scores[at]))).collect())
}
