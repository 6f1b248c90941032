//! What stands around a chunk in its document?
//!
//! ```text
//! (hits, the chunks around each) → hits with longer texts
//! ```
//!
//! Small chunks are found more easily, and a reader wants more of the text. The chunks around
//! a hit become part of its text, and its span and heading stay true to the document.

use std::collections::{HashMap, HashSet};

use super::{Hit, Passage};

/// A chunk near a hit, in the same document; the hit itself is one of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Primary key of the hit.
    pub hit: i64,
    /// Primary key of this chunk.
    pub chunk_id: i64,
    /// Position in the document.
    pub chunk_no: i32,
    /// The text of the chunk.
    pub content: String,
    /// First character in the document.
    pub start_char: i32,
    /// One past the last character.
    pub end_char: i32,
}

/// Joins each hit with the chunks around it.
///
/// No chunk is part of two hits: what a better hit has taken is left out of the others, and a
/// hit that became part of a better one is gone.
#[must_use]
pub fn expanded(hits: Vec<Hit>, neighbours: Vec<Neighbour>) -> Vec<Hit> {
    let mut around: HashMap<i64, Vec<Neighbour>> = HashMap::new();
    for neighbour in neighbours {
        around.entry(neighbour.hit).or_default().push(neighbour);
    }
    let mut taken = HashSet::new();
    let mut kept = Vec::with_capacity(hits.len());
    for mut hit in hits {
        if taken.contains(&hit.passage.chunk_id) {
            continue;
        }
        let near = around.remove(&hit.passage.chunk_id).unwrap_or_default();
        let run = run_around(&hit.passage, near, &taken);
        taken.extend(run.iter().map(|part| part.chunk_id).chain([hit.passage.chunk_id]));
        join(&mut hit.passage, &run);
        kept.push(hit);
    }
    kept
}

/// The chunks that lie one after the other around the hit and belong to no other hit yet, in order.
fn run_around(passage: &Passage, mut near: Vec<Neighbour>, taken: &HashSet<i64>) -> Vec<Neighbour> {
    near.retain(|part| !taken.contains(&part.chunk_id));
    near.sort_by_key(|part| part.chunk_no);
    near.dedup_by_key(|part| part.chunk_no);
    let Some(own) = near.iter().position(|part| part.chunk_id == passage.chunk_id) else {
        return Vec::new();
    };
    let follows = |pair: &[Neighbour]| pair[1].chunk_no == pair[0].chunk_no + 1;
    let after = near[own..].windows(2).take_while(|pair| follows(pair)).count();
    let before = near[..=own].windows(2).rev().take_while(|pair| follows(pair)).count();
    near.drain(own - before..=own + after).collect()
}

/// Makes one text of chunks in order. What two of them share is there once. White space that
/// lies between two chunks is not stored; it is made up, so that places in the text stay places
/// in the document.
fn join(passage: &mut Passage, run: &[Neighbour]) {
    let Some(first) = run.first() else { return };
    let mut text = first.content.clone();
    let mut end = first.end_char;
    for part in &run[1..] {
        let shared = usize::try_from(end - part.start_char).unwrap_or(0);
        let gap = usize::try_from(part.start_char - end).unwrap_or(0);
        text.extend(std::iter::once('\n').chain(std::iter::repeat(' ')).take(gap));
        text.extend(part.content.chars().skip(shared));
        end = end.max(part.end_char);
    }
    let own = passage.chunk_id;
    passage.parts = run.iter().map(|part| part.chunk_id).filter(|part| *part != own).collect();
    (passage.content, passage.start_char, passage.end_char) = (text, first.start_char, end);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::hit;
    use super::*;

    /// A chunk of `document` by its span, near the hit `hit`; its number is its key.
    fn near(hit: i64, chunk_no: i32, document: &str, start: usize, end: usize) -> Neighbour {
        let content = document.chars().skip(start).take(end - start).collect();
        let (start_char, end_char) = (start as i32, end as i32);
        Neighbour { hit, chunk_id: i64::from(chunk_no), chunk_no, content, start_char, end_char }
    }

    fn one(id: i64, neighbours: Vec<Neighbour>) -> (String, i32, i32) {
        let hits = expanded(vec![hit(id, 1.0)], neighbours);
        let Passage { content, start_char, end_char, .. } = hits[0].passage.clone();
        (content, start_char, end_char)
    }

    #[test]
    fn what_is_shared_is_there_once() {
        let text = "äbc def ghi";
        let parts = vec![near(1, 2, text, 6, 11), near(1, 1, text, 3, 8), near(1, 0, text, 0, 4)];
        assert_eq!(one(1, parts), (text.to_owned(), 0, 11));
    }

    #[test]
    fn a_gap_is_kept() {
        let text = "abc\n\n\ndef";
        let parts = vec![near(0, 0, text, 0, 3), near(0, 1, text, 6, 9)];
        assert_eq!(one(0, parts), ("abc\n  def".to_owned(), 0, 9));
    }

    #[test]
    fn a_missing_chunk_ends_the_run() {
        let text = "abcdefgh";
        let part = |no: i32| near(4, no, text, no as usize, no as usize + 1);
        let parts = [1, 3, 4, 5, 7].map(part).to_vec();
        assert_eq!(one(4, parts.clone()), ("def".to_owned(), 3, 6));
        assert_eq!(*expanded(vec![hit(4, 1.0)], parts)[0].passage.parts, [3, 5]);
    }

    #[test]
    fn no_chunk_is_part_of_two() {
        let text = "abcdefgh";
        let around = |id: i64| {
            let from = (id - 1).max(0) as i32;
            (from..=id as i32 + 1).map(move |no| near(id, no, text, no as usize, no as usize + 1))
        };
        let parts: Vec<Neighbour> = [1, 2, 4].into_iter().flat_map(around).collect();
        let hits = expanded(vec![hit(1, 3.0), hit(2, 2.0), hit(4, 1.0)], parts);
        let texts: Vec<&str> = hits.iter().map(|hit| &*hit.passage.content).collect();
        assert_eq!(texts, ["abc", "def"]);
    }

    proptest! {
        #[test]
        fn chunks_without_gaps_give_the_document_back(
            document in "\\PC{1,60}",
            cuts in prop::collection::vec((1_usize..10, 0_usize..4), 1..12),
        ) {
            let length = document.chars().count();
            let mut parts = Vec::new();
            let mut start = 0;
            for (no, (size, overlap)) in (0..).zip(cuts) {
                let end = (start + size).min(length);
                parts.push(near(0, no, &document, start.saturating_sub(overlap), end));
                start = end;
            }
            let whole: String = document.chars().take(start).collect();
            prop_assert_eq!(one(0, parts), (whole, 0, start as i32));
        }
    }
}
