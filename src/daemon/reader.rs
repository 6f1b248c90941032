//! What the reader of a model says of passages, through the queue and back.
//!
//! ```text
//! (question, passages) → scores of places in them, or one score a passage
//! ```
//!
//! A passage that is longer than the reader takes with the question goes through it in windows, as documents do for
//! late chunking.

use std::collections::BTreeMap;
use std::ops::Range;

use super::embed::check_size;
use super::late::{LateRequest, Queued, Way, run};
use super::model::{EmbeddingOutput, ModelText};
use super::registry::LoadedModel;
use super::tokenizer::SpecialTokens;
use super::worker::Client;
use crate::embed::reader::{NUMBERS, SpanScores};
use crate::embed::{EmbeddingKind, Spanned, late};
use crate::error::Result;
use crate::protocol::{Lane, Response};
use crate::text::capitals::without_capitals;

/// Bytes of a passage that is reranked: about forty windows of a model that takes 512 tokens.
const MOST_RANKED: usize = 64 << 10;

/// Has `reader` say of each span of `passages` whether it answers `question`; the answer is
/// [`Response::SpanScores`]. Fails as [`embed`](super::embed::embed) does.
pub fn score_spans(
    reader: &LoadedModel,
    lane: Lane,
    question: &str,
    passages: &[Spanned],
    client: &Client,
) -> Result<Response> {
    let frame = frame(reader, question)?;
    let reading = EmbeddingOutput::SpanScores;
    let way = Way { frame, reading, with_frame: false, dimension: NUMBERS };
    let (values, tokens) = run(reader, lane, &way, passages, client)?;
    let (scores, _) = values.as_chunks();
    let scores = scores.iter().map(SpanScores::from_numbers).collect();
    Ok(Response::SpanScores { scores, tokens })
}

/// Has `reader` say how likely each of `passages` is to answer `question`; the answer is [`Response::Scores`].
/// A long passage is as good as the best of its windows (MaxP of Dai and Callan, SIGIR 2019), and of a very long
/// one the first [`MOST_RANKED`] bytes are read. Fails as [`embed`](super::embed::embed) does.
///
/// Passages wait behind the queries, as for other rerankers.
pub fn rerank(
    reader: &LoadedModel,
    question: &str,
    passages: &[String],
    client: &Client,
) -> Result<Response> {
    check_size(passages.len(), 1)?;
    let frame = frame(reader, question)?;
    let mut work = LateRequest::new(&reader.worker, Lane::Fresh, 1, client);
    let mut windows = Vec::with_capacity(passages.len());
    for passage in passages {
        let (ids, _) = reader.tokenizer.encode_whole(head(passage))?;
        let ranges = late::covering(ids.len(), frame.room);
        let first = work.make_room(ranges.len());
        windows.push(first..first + ranges.len());
        for (place, range) in (first..).zip(ranges) {
            let tokens = frame.fill(&ids[range]);
            let reading = EmbeddingOutput::Score;
            let text = ModelText { second: tokens.len(), tokens, reading };
            work.push(Queued { text, chunks: vec![place] })?;
        }
    }
    let (values, tokens) = work.finish()?;
    let best = |own: Range<usize>| values[own].iter().copied().fold(0.0, f32::max);
    let scores = windows.into_iter().map(best).collect();
    Ok(Response::Scores { scores, tokens, withheld: BTreeMap::new() })
}

/// What stands around a passage that is read with `question`.
fn frame(reader: &LoadedModel, question: &str) -> Result<SpecialTokens> {
    let prefix = reader.manifest.prefix(EmbeddingKind::Query);
    let question = without_capitals(question);
    reader.tokenizer.frame_of_pair(&format!("{prefix}{question}"))
}

/// As much of a passage as is reranked.
fn head(passage: &str) -> &str {
    &passage[..passage.floor_char_boundary(MOST_RANKED)]
}
