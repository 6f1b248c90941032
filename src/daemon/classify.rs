//! Which names do texts have, as a token classifier reads them?
//!
//! ```text
//! text → tokens → windows → a label a token → names
//! ```
//!
//! A text that is longer than the model reads goes through it in windows that overlap by half. Each token has the label of
//! the window in which it has most around it.

use std::ops::Range;

use super::embed::check_size;
use super::late::{LateRequest, Queued};
use super::model::{EmbeddingOutput, ModelText};
use super::registry::LoadedModel;
use super::worker::Client;
use crate::embed::late;
use crate::error::Result;
use crate::protocol::{Lane, Response};
use crate::text::token_labels::LabelledSpan;

/// The names in each of `texts`; the answer is [`Response::Names`]. Fails as [`names`] does.
pub fn classify(
    model: &LoadedModel,
    lane: Lane,
    texts: &[String],
    client: &Client,
) -> Result<Response> {
    names(model, lane, texts, client).map(Response::Names)
}

/// The names in each of `texts`, in the order of their places.
///
/// Fails with [`ErrorKind::WrongObjectType`](crate::error::ErrorKind::WrongObjectType) for a model that is no token classifier, and as
/// [`embed`](super::embed::embed) does.
pub fn names(
    model: &LoadedModel,
    lane: Lane,
    texts: &[String],
    client: &Client,
) -> Result<Vec<Vec<LabelledSpan>>> {
    let labels = model.manifest.labels.as_ref();
    let labels = labels.ok_or_else(|| model.wrong_task("finds no names"))?;
    let frame = model.tokenizer.frame("")?;
    let mut work = LateRequest::new(&model.worker, lane, 1, client);
    let mut read = Vec::with_capacity(texts.len());
    let mut count = 0;
    for text in texts {
        let (ids, places) = model.tokenizer.encode_whole(text)?;
        count += ids.len();
        check_size(count, 1)?;
        let first = work.make_room(ids.len());
        for ReadWindow { tokens, own } in windows(ids.len(), frame.room) {
            let before = frame.before.len();
            let reading = own.start - tokens.start + before..own.end - tokens.start + before;
            let tokens = frame.fill(&ids[tokens]);
            let reading = EmbeddingOutput::Labels(reading);
            let text = ModelText { second: tokens.len(), tokens, reading };
            work.push(Queued { text, chunks: own.map(|token| first + token).collect() })?;
        }
        read.push((first, places));
    }
    let (numbers, _) = work.finish()?;
    let mut named = Vec::with_capacity(texts.len());
    for (text, (first, places)) in texts.iter().zip(read) {
        let numbers = &numbers[first..first + places.len()];
        let numbers: Vec<usize> = numbers.iter().map(|number| *number as usize).collect();
        named.push(labels.names(text, &places, &numbers));
    }
    Ok(named)
}

/// Tokens that go through the model together, and those of them of which the labels are kept.
#[derive(Debug, PartialEq, Eq)]
struct ReadWindow {
    tokens: Range<usize>,
    own: Range<usize>,
}

/// The windows of a text of `count` tokens; each token is kept of one of them. A text without tokens has none.
fn windows(count: usize, room: usize) -> Vec<ReadWindow> {
    if count == 0 {
        return Vec::new();
    }
    let all = late::covering(count, room);
    // Where two overlap, each has one half.
    let middle = |two: &[Range<usize>]| (two[1].start + two[0].end) / 2;
    let mut edges = vec![0];
    edges.extend(all.windows(2).map(middle));
    edges.push(count);
    let own = edges.windows(2).map(|pair| pair[0]..pair[1]);
    all.into_iter().zip(own).map(|(tokens, own)| ReadWindow { tokens, own }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_is_kept_of_the_window_in_which_most_stands_around_it() {
        let of = |count, room| -> Vec<(Range<usize>, Range<usize>)> {
            windows(count, room).into_iter().map(|it| (it.tokens, it.own)).collect()
        };
        assert_eq!(of(0, 8), []);
        assert_eq!(of(5, 8), [(0..5, 0..5)]);
        assert_eq!(of(14, 8), [(0..8, 0..6), (4..12, 6..9), (6..14, 9..14)]);
        for (count, room) in [(1, 1), (3, 1), (9, 2), (100, 7), (1000, 510)] {
            let windows = windows(count, room);
            let kept: Vec<usize> = windows.iter().flat_map(|it| it.own.clone()).collect();
            assert_eq!(kept, (0..count).collect::<Vec<_>>(), "{count} in {room}");
            let holds =
                |it: &ReadWindow| it.tokens.start <= it.own.start && it.own.end <= it.tokens.end;
            assert!(windows.iter().all(holds), "{count} in {room}: {windows:?}");
        }
    }
}
