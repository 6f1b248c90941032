//! # claim: what does an answer claim?
//!
//! ```text
//! answer → its sentences, each with its words and the contexts that it cites
//! ```
//!
//! A number is one word, however many it is written in. Where words may be one number or several, it is
//! one if the contexts have it.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::reading::WINDOW;
use crate::text::fence::looks_like_fence;
use crate::text::marked_sentence::{MarkedSentence, TERMINATORS, bare_text, marked_sentences};
use crate::text::marker::Marker;
use crate::text::number_run::{joined_words, number_across};
use crate::text::sentence::{is_question, trimmed};
use crate::text::words::Word;

/// Words below which a line without an end is a heading or a label.
const SHORTEST: usize = 3;

/// A sentence of the answer.
pub(super) struct Statement {
    /// Where it stands in the answer with its citations, in bytes.
    pub bytes: Range<usize>,
    /// Its text without citations.
    pub text: String,
    /// Its words, in order.
    pub words: Vec<Word>,
    /// Indexes of the contexts that it cites, of those that there are.
    pub cited: Vec<usize>,
    /// Whether it is a question.
    pub is_question: bool,
}

/// The sentences of `answer` that claim something; there are `contexts` of them to be cited. One
/// that is longer than [`WINDOW`] words counts as several. `is_known` tells whether a context has a number.
///
/// `interrupt` is called now and then, and may unwind.
pub(super) fn statements(
    answer: &str,
    contexts: usize,
    is_known: &dyn Fn(&str) -> bool,
    interrupt: &mut dyn FnMut(),
) -> Vec<Statement> {
    let mut code = fenced(answer).into_iter().peekable();
    let is_one_line = answer.lines().nth(1).is_none();
    let mut found: Vec<Statement> = Vec::new();
    let sentences = whole_sentences(answer, is_known, interrupt);
    for MarkedSentence { range: sentence, markers } in sentences {
        let mut markers = markers.into_iter().peekable();
        while code.next_if(|code| code.end <= sentence.start).is_some() {}
        if code.peek().is_some_and(|code| code.start < sentence.end) {
            continue;
        }
        for range in parts(answer, sentence.clone()) {
            interrupt();
            let is_part = range != sentence;
            let inside: Vec<Marker> =
                std::iter::from_fn(|| markers.next_if(|it| it.range.start < range.end)).collect();
            let cited = cited(&inside, contexts);
            let text = bare_text(answer, range.clone(), &inside);
            let words = joined_words(&text, is_known);
            if words.is_empty() {
                // A marker after the full stop, on its own: it belongs to the sentence before.
                if let Some(last) = found.last_mut() {
                    last.cited.extend(cited);
                    let is_next = answer[last.bytes.end..range.start].trim().is_empty();
                    if is_next && !inside.is_empty() {
                        last.bytes.end = range.end;
                    }
                }
            } else if words.len() >= SHORTEST
                || text.ends_with(TERMINATORS)
                || is_one_line
                || is_part
            {
                let is_question = is_question(&text);
                found.push(Statement { bytes: range, text, words, cited, is_question });
            }
        }
    }
    found
}

/// The sentences of `answer` with their markers. What looks like the end of one in a split number is none.
fn whole_sentences(
    answer: &str,
    is_known: &dyn Fn(&str) -> bool,
    interrupt: &mut dyn FnMut(),
) -> Vec<MarkedSentence> {
    let mut sentences = marked_sentences(answer, interrupt);
    sentences.dedup_by(|next, last| {
        let number = number_across(answer, last.range.end, next.range.start);
        let is_one = number.is_some_and(|it| is_known(&it.written));
        if is_one {
            last.range.end = next.range.end;
            last.markers.append(&mut next.markers);
        }
        is_one
    });
    sentences
}

/// A sentence in parts of no more than [`WINDOW`] words, so that the time to compare two texts does
/// not grow with the square of their sentences.
pub(super) fn parts(text: &str, sentence: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut from = sentence.start;
    std::iter::from_fn(move || {
        let rest = &text[from..sentence.end];
        let mut words = rest.unicode_word_indices().skip(WINDOW - 1);
        let last = words.next().filter(|_| words.next().is_some());
        let end = last.map_or(sentence.end, |(at, word)| from + at + word.len());
        let part = trimmed(text, from..end);
        from = end;
        part
    })
}

fn cited(markers: &[Marker], contexts: usize) -> Vec<usize> {
    let numbers = markers.iter().flat_map(|marker| &marker.numbers);
    numbers
        .map(|number| *number as usize)
        .filter(|n| (1..=contexts).contains(n))
        .map(|n| n - 1)
        .collect()
}

/// Blocks between lines of three backticks or tildes.
fn fenced(answer: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = 0;
    for line in answer.split_inclusive('\n') {
        match (looks_like_fence(line), open) {
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
