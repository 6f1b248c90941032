//! # claim: what does an answer claim?
//!
//! ```text
//! answer → its sentences, each with its words and the contexts that it cites
//! ```

use std::ops::Range;

use crate::answer::marker::{Marker, markers};
use crate::answer::words::{Word, words};
use crate::chunk::sentence::sentences;

/// Words below which a line without an end is a heading or a label.
const SHORTEST: usize = 3;

/// A sentence of the answer.
pub(super) struct Statement {
    /// Without citations.
    pub text: String,
    /// Its words, in order.
    pub words: Vec<Word>,
    /// Indexes of the contexts that it cites, of those that there are.
    pub cited: Vec<usize>,
    /// Whether it asks.
    pub is_question: bool,
}

/// The sentences of `answer` that claim something; there are `contexts` of them to be cited.
pub(super) fn statements(answer: &str, contexts: usize) -> Vec<Statement> {
    let markers = markers(answer);
    let code = fenced(answer);
    let mut found: Vec<Statement> = Vec::new();
    for range in sentences(answer) {
        if code.iter().any(|code| code.start < range.end && range.start < code.end) {
            continue;
        }
        let inside: Vec<&Marker> =
            markers.iter().filter(|marker| range.contains(&marker.range.start)).collect();
        let cited = cited(&inside, contexts);
        let text = without(answer, range, &inside);
        let words = words(&text);
        if words.is_empty() {
            // A marker after the full stop, on its own: it belongs to the sentence before.
            if let Some(last) = found.last_mut() {
                last.cited.extend(cited);
            }
        } else if words.len() >= SHORTEST
            || text.ends_with(TERMINATORS)
            || answer.lines().count() == 1
        {
            let is_question = text.ends_with(['?', '？', '؟']);
            found.push(Statement { text, words, cited, is_question });
        }
    }
    found
}

/// What a sentence ends with.
const TERMINATORS: [char; 8] = ['.', '!', '?', '。', '！', '？', '؟', '।'];

fn cited(markers: &[&Marker], contexts: usize) -> Vec<usize> {
    let numbers = markers.iter().flat_map(|marker| &marker.numbers);
    numbers
        .map(|number| *number as usize)
        .filter(|n| (1..=contexts).contains(n))
        .map(|n| n - 1)
        .collect()
}

/// The text of `range` without the markers in it, and without the sign of a list item.
fn without(answer: &str, range: Range<usize>, markers: &[&Marker]) -> String {
    let mut text = String::new();
    let mut from = range.start;
    for marker in markers {
        text.push_str(answer[from..marker.range.start.max(from)].trim_end());
        from = marker.range.end.min(range.end).max(from);
    }
    text.push_str(&answer[from..range.end]);
    let text = text.trim().trim_start_matches(['-', '*', '#', '>', '•', ' ']);
    text.trim().to_owned()
}

/// Blocks between lines of three backticks or tildes.
fn fenced(answer: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = 0;
    for line in answer.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        match (is_fence, open) {
            (true, None) => open = Some(at),
            (true, Some(start)) => {
                blocks.push(start..at + line.len());
                open = None;
            }
            (false, _) => {}
        }
        at += line.len();
    }
    blocks.extend(open.map(|start| start..answer.len()));
    blocks
}
