//! What does a chunk mean where it stands?
//!
//! ```text
//! (tokens of a document, its chunks, how many tokens a model reads) → windows, and of which of their
//! tokens each chunk's vector is made
//! ```
//!
//! Late chunking (Günther et al., arXiv 2409.04701): the document goes through the model as a whole and
//! is cut afterwards, so that the vectors of a chunk's tokens know what stands around it. What is longer
//! than the model reads goes through in windows of which each begins in the middle of the one before; a
//! chunk is taken from the window in which it has most text on the side where it has least.

use std::collections::BTreeMap;
use std::ops::Range;

/// A run of a document's tokens that goes through the model by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentWindow {
    /// Places among the tokens of the document.
    pub tokens: Range<usize>,
    /// The chunks that are read from it.
    pub parts: Vec<WindowPart>,
}

/// A chunk in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowPart {
    /// Its place in the list of chunks.
    pub chunk: usize,
    /// Places among the tokens of the window. Empty where the document has no tokens.
    pub tokens: Range<usize>,
}

/// The windows of a document that are needed for `chunks`, its chunks as spans in bytes. `tokens` are
/// the spans of its tokens in bytes, and `room` is how many a window holds, one at least.
///
/// Each chunk is in one window. A chunk longer than a window loses its end.
#[must_use]
pub fn windows(
    tokens: &[(usize, usize)],
    chunks: &[Range<usize>],
    room: usize,
) -> Vec<DocumentWindow> {
    let room = room.max(1);
    let mut windows: BTreeMap<usize, Vec<WindowPart>> = BTreeMap::new();
    for (chunk, span) in chunks.iter().enumerate() {
        let own = tokens_of(tokens, span, room);
        let start = window_start(&own, tokens.len(), room);
        let tokens = own.start - start..own.end - start;
        windows.entry(start).or_default().push(WindowPart { chunk, tokens });
    }
    let window =
        |(start, parts)| DocumentWindow { tokens: start..tokens.len().min(start + room), parts };
    windows.into_iter().map(window).collect()
}

/// Windows that together hold all of a document of `count` tokens, where one holds `room`, one at least: each but
/// the last begins in the middle of the one before, and the last ends with the document. A document without tokens
/// has one window without tokens.
#[must_use]
pub fn covering(count: usize, room: usize) -> Vec<Range<usize>> {
    let room = room.max(1);
    let last = count.saturating_sub(room);
    let starts = (0..last).step_by((room / 2).max(1)).chain([last]);
    starts.map(|start| start..count.min(start + room)).collect()
}

/// The tokens of a span: one at least, if there are any, and `most` at most.
fn tokens_of(tokens: &[(usize, usize)], span: &Range<usize>, most: usize) -> Range<usize> {
    let first = tokens.partition_point(|(_, end)| *end <= span.start);
    let first = first.min(tokens.len().saturating_sub(1));
    let last = tokens.partition_point(|(start, _)| *start < span.end);
    first..last.clamp((first + 1).min(tokens.len()), first + most)
}

/// Where the window begins in which a chunk of these tokens has most around it.
fn window_start(own: &Range<usize>, count: usize, room: usize) -> usize {
    let last = count.saturating_sub(room);
    let step = (room / 2).max(1);
    let holds = |start: &usize| *start <= own.start && own.end <= start + room;
    let first = own.end.saturating_sub(room).div_ceil(step) * step;
    let regular = (first..=own.start).step_by(step).map(|start| start.min(last));
    let around = |start: &usize| {
        // What is not there is not missed.
        let before = if *start == 0 { usize::MAX } else { own.start - start };
        let after = if *start == last { usize::MAX } else { start + room - own.end };
        before.min(after)
    };
    let best = regular.chain([last]).filter(holds).max_by_key(around);
    // A chunk that is longer than half of a window may lie across the edges of all of them.
    let centred = (own.start + own.end).saturating_sub(room) / 2;
    best.unwrap_or(centred.min(last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tokens of two bytes each, with a byte between them.
    fn tokens(count: usize) -> Vec<(usize, usize)> {
        (0..count).map(|at| (3 * at, 3 * at + 2)).collect()
    }

    /// The bytes of these tokens.
    fn span(range: Range<usize>) -> Range<usize> {
        3 * range.start..3 * range.end - 1
    }

    fn cut(
        count: usize,
        chunks: &[Range<usize>],
        room: usize,
    ) -> Vec<(Range<usize>, Vec<WindowPart>)> {
        let spans: Vec<Range<usize>> = chunks.iter().cloned().map(span).collect();
        let windows = windows(&tokens(count), &spans, room);
        windows.into_iter().map(|it| (it.tokens, it.parts)).collect()
    }

    fn part(chunk: usize, tokens: Range<usize>) -> WindowPart {
        WindowPart { chunk, tokens }
    }

    #[test]
    fn what_fits_is_one_window() {
        let parts = vec![part(0, 0..3), part(1, 3..7)];
        assert_eq!(cut(7, &[0..3, 3..7], 8), [(0..7, parts)]);
        assert_eq!(cut(0, &[], 8), []);
    }

    #[test]
    fn a_chunk_is_taken_where_most_stands_around_it() {
        let windows = cut(16, &[0..2, 4..6, 7..9, 14..16], 8);
        let expected = [
            (0..8, vec![part(0, 0..2), part(1, 4..6)]),
            (4..12, vec![part(2, 3..5)]),
            (8..16, vec![part(3, 6..8)]),
        ];
        assert_eq!(windows, expected);
    }

    #[test]
    fn a_long_chunk_may_have_a_window_of_its_own() {
        assert_eq!(cut(20, &[Range { start: 2, end: 9 }], 8), [(1..9, vec![part(0, 1..8)])]);
        assert_eq!(cut(20, &[Range { start: 2, end: 19 }], 8), [(2..10, vec![part(0, 0..8)])]);
    }

    #[test]
    fn a_text_without_tokens_has_a_window_without_tokens() {
        let chunks = [Range { start: 0, end: 4 }];
        let windows = windows(&[], &chunks, 8);
        assert_eq!(windows, [DocumentWindow { tokens: 0..0, parts: vec![part(0, 0..0)] }]);
    }

    #[test]
    fn windows_cover_a_document_with_little_at_its_end_read_alone() {
        assert_eq!(covering(0, 8), [Range { start: 0, end: 0 }]);
        assert_eq!(covering(8, 8), [Range { start: 0, end: 8 }]);
        assert_eq!(covering(9, 8), [0..8, 1..9]);
        assert_eq!(covering(16, 8), [0..8, 4..12, 8..16]);
        assert_eq!(covering(3, 1), [0..1, 1..2, 2..3]);
    }

    proptest! {
        #[test]
        fn each_token_has_what_is_around_it(count in 0_usize..200, room in 2_usize..40) {
            let windows = covering(count, room);
            prop_assert!(windows.iter().all(|it| it.len() == room.min(count)));
            for token in 0..count {
                let reach = room / 4;
                let around = token.saturating_sub(reach)..count.min(token + reach);
                let holds = |it: &Range<usize>| it.start <= around.start && around.end <= it.end;
                prop_assert!(windows.iter().any(holds), "{token} of {count} in {windows:?}");
            }
        }

        #[test]
        fn each_chunk_is_read_once_with_its_own_tokens(
            count in 1_usize..200,
            ends in prop::collection::btree_set(1_usize..200, 0..12),
            room in 1_usize..40,
        ) {
            let mut edges: Vec<usize> = ends.into_iter().filter(|end| *end < count).collect();
            edges.insert(0, 0);
            edges.push(count);
            let chunks: Vec<Range<usize>> = edges.windows(2).map(|it| it[0]..it[1]).collect();
            let mut seen = Vec::new();
            for (window, parts) in cut(count, &chunks, room) {
                prop_assert!(window.len() == room.min(count) && window.end <= count);
                for WindowPart { chunk, tokens } in parts {
                    let from = window.start + tokens.start;
                    let expected = chunks[chunk].start..chunks[chunk].end.min(chunks[chunk].start + room);
                    prop_assert_eq!(from..window.start + tokens.end, expected);
                    seen.push(chunk);
                }
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..chunks.len()).collect::<Vec<_>>());
        }
    }
}
