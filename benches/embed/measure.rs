//! Calls to ragd, and what is made of their times.

use std::time::{Duration, Instant};

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::EmbeddingKind;
use pg_rag::protocol::{Lane, ModelRef, Request, Response};

/// Embeds through ragd; gives the vectors, one after the other, and their tokens.
pub fn embed(
    client: &mut ClientConnection,
    model: &ModelRef,
    (kind, lane): (EmbeddingKind, Lane),
    texts: &[String],
) -> (Vec<f32>, u64) {
    let request = Request::Embed { model: model.clone(), kind, lane, texts: texts.to_vec() };
    match client.call(&request).unwrap() {
        Response::Vectors { values, tokens, .. } => (values, tokens),
        other => panic!("{other:?}"),
    }
}

/// How long `action` takes.
pub fn time<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = action();
    (result, started.elapsed())
}

/// The time that the share `q` of `times` does not exceed, in milliseconds.
pub fn quantile(times: &mut [Duration], q: f64) -> f64 {
    times.sort();
    let at = ((times.len() as f64 * q) as usize).min(times.len() - 1);
    times[at].as_secs_f64() * 1e3
}

/// Normalised discounted cumulative gain of the ten best passages, averaged over queries.
pub fn ndcg_at_10(
    set: &crate::data::Set,
    queries: &[f32],
    passages: &[f32],
    dimension: usize,
) -> f64 {
    let scores = set.queries.iter().zip(queries.chunks_exact(dimension)).map(|((id, _), query)| {
        let judged = &set.judged[id];
        let gains = best(query, passages, 10)
            .into_iter()
            .map(|at| judged.get(&set.passages[at].0).copied().unwrap_or(0.0));
        let mut ideal: Vec<f64> = judged.values().copied().collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        discounted(gains) / discounted(ideal.into_iter().take(10))
    });
    scores.sum::<f64>() / set.queries.len() as f64
}

fn discounted(gains: impl Iterator<Item = f64>) -> f64 {
    gains.enumerate().map(|(rank, gain)| gain / (rank as f64 + 2.0).log2()).sum()
}

/// The passages nearest to `query`, by scanning all.
fn best(query: &[f32], passages: &[f32], k: usize) -> Vec<usize> {
    let similarity = |passage: &[f32]| query.iter().zip(passage).map(|(a, b)| a * b).sum::<f32>();
    let mut scored: Vec<(f32, usize)> = passages
        .chunks_exact(query.len())
        .enumerate()
        .map(|(at, passage)| (similarity(passage), at))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(k).map(|(_, at)| at).collect()
}
