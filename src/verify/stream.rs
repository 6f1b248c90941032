//! # stream: which sentences of an answer can be passed on while it is written?
//!
//! ```text
//! pieces of an answer → its sentences, as soon as each is complete, without those that no source supports
//! ```
//!
//! A sentence is complete when the next one has begun. What is passed on is what [`removal`](super::removal) leaves of
//! the whole, but for white space around what is left out and for labels that announce nothing in the end.

use super::removal::supported_part;
use super::{Claim, verify};
use crate::text::fence::{closes, fence};
use crate::text::line::item_sign;
use crate::text::marked_sentence::{MarkedSentence, marked_sentences};
use crate::text::number_run::number_across;

/// Longest marker that is waited for, in bytes.
const LONGEST_MARKER: usize = 48;

/// Characters after which a sentence without a space has begun.
const LONGEST_START: usize = 8;

/// An answer that is passed on as far as its sources support it. The time of a piece grows with the sentence that it
/// belongs to and with the contexts, not with the answer.
#[derive(Debug)]
pub struct SupportedStream {
    contexts: Vec<String>,
    /// What was said and is not decided on.
    open: String,
    /// White space before sentences that were left out.
    gap: String,
    /// The bullet or number of a list item whose sentences so far were left out.
    sign: String,
    has_lines: bool,
    /// What has opened the block of code that goes on.
    fence: Option<String>,
    is_begun: bool,
}

impl SupportedStream {
    /// Nothing has been said yet of what these contexts say, which an answer cites by their places from 1.
    #[must_use]
    pub fn new(contexts: Vec<String>) -> SupportedStream {
        let (open, gap, sign) = (String::new(), String::new(), String::new());
        let (has_lines, fence, is_begun) = (false, None, false);
        SupportedStream { contexts, open, gap, sign, has_lines, fence, is_begun }
    }

    /// Takes a piece of the answer, and gives what can be passed on of the sentences that are complete with it.
    /// `interrupt` is called now and then, and may unwind.
    pub fn push(&mut self, piece: &str, interrupt: &mut dyn FnMut()) -> String {
        self.open += piece;
        self.has_lines |= piece.contains('\n');
        let before = self.before();
        let text = format!("{before}{}", self.open);
        let sentences = marked_sentences(&text, interrupt);
        match sentences.as_slice() {
            [.., complete, next] if ends(&text, complete, next) => {
                self.decide(complete.range.end.saturating_sub(before.len()), interrupt)
            }
            _ => String::new(),
        }
    }

    /// What can be passed on of the rest.
    pub fn finish(&mut self, interrupt: &mut dyn FnMut()) -> String {
        self.decide(self.open.trim_end().len(), interrupt)
    }

    /// What stands for all that was decided on, of which it only matters whether it ends within code and has lines.
    fn before(&self) -> String {
        match &self.fence {
            Some(fence) => format!("{fence}\n"),
            None if self.has_lines => "\n".to_owned(),
            None => String::new(),
        }
    }

    /// What can be passed on of the first `end` bytes of what is open.
    fn decide(&mut self, end: usize, interrupt: &mut dyn FnMut()) -> String {
        if end == 0 {
            return String::new();
        }
        let rest = self.open.split_off(end);
        let part = std::mem::replace(&mut self.open, rest);
        let body = part.trim_start();
        let space = &part[..part.len() - body.len()];
        let left = self.left_of(body, interrupt);
        for line in body.lines() {
            self.fence = match self.fence.take() {
                Some(open) => (!closes(line, &open)).then_some(open),
                None => fence(line).map(str::to_owned),
            };
        }
        let lines = |space: &str| space.matches('\n').count();
        if lines(space) > 0 {
            self.sign.clear();
        }
        if lines(space) >= lines(&self.gap) {
            self.gap = space.to_owned();
        }
        if left.is_empty() {
            // What comes next in the line of a list item is that item now.
            let line = body.lines().next_back().unwrap_or_default();
            self.sign += &line[..item_sign(line)];
            return left;
        }
        let (gap, sign) = (std::mem::take(&mut self.gap), std::mem::take(&mut self.sign));
        match std::mem::replace(&mut self.is_begun, true) {
            true => gap + &sign + &left,
            false => sign + &left,
        }
    }

    fn left_of(&self, body: &str, interrupt: &mut dyn FnMut()) -> String {
        let contexts: Vec<&str> = self.contexts.iter().map(String::as_str).collect();
        let before = self.before();
        let claims = verify(&format!("{before}{body}"), &contexts, interrupt);
        let claims: Vec<Claim> =
            claims.into_iter().filter_map(|claim| behind(claim, before.len())).collect();
        match supported_part(body, &claims) {
            None => body.to_owned(),
            Some(part) => part.text,
        }
    }
}

/// Whether the sentence of `text` before `next` is complete: that is no marker that belongs to it, and not the rest of a
/// number.
fn ends(text: &str, complete: &MarkedSentence, next: &MarkedSentence) -> bool {
    is_begun(&text[next.range.clone()])
        && number_across(text, complete.range.end, next.range.start).is_none()
}

/// Whether a sentence has begun with `next`.
fn is_begun(next: &str) -> bool {
    let may_be_marker =
        next.starts_with('[') && !next.contains(']') && next.len() <= LONGEST_MARKER;
    let is_word = next.contains(char::is_whitespace) || next.chars().nth(LONGEST_START).is_some();
    is_word && !may_be_marker
}

/// `claim` with its place counted from the byte `start`, if it stands behind that.
fn behind(claim: Claim, start: usize) -> Option<Claim> {
    let bytes = claim.bytes.start.checked_sub(start)?..claim.bytes.end - start;
    Some(Claim { bytes, ..claim })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::verify::removal::SupportedPart;

    const SOURCES: [&str; 2] = [
        "The flat in Cologne has two rooms. It is let from May.",
        "The owner moved to Bonn in the spring.",
    ];

    /// What is passed on of an answer in pieces of so many characters.
    fn pieces(answer: &str, size: usize) -> Vec<String> {
        let mut stream = SupportedStream::new(SOURCES.map(str::to_owned).to_vec());
        let characters: Vec<char> = answer.chars().collect();
        let mut told: Vec<String> = characters
            .chunks(size)
            .map(|piece| stream.push(&piece.iter().collect::<String>(), &mut || {}))
            .collect();
        told.push(stream.finish(&mut || {}));
        told.retain(|piece| !piece.is_empty());
        told
    }

    fn whole(answer: &str) -> String {
        let claims = verify(answer, &SOURCES, &mut || {});
        let part = supported_part(answer, &claims);
        part.unwrap_or(SupportedPart::all(answer.trim().to_owned())).text
    }

    #[test]
    fn sentences_are_passed_on_one_by_one() {
        let answer = "The flat has two rooms [1]. A pool is heated daily [1]. It is let from May. [1] The owner moved to Bonn [2].";
        for size in [1, 3, 1000] {
            let told = pieces(answer, size);
            assert_eq!(told.concat(), whole(answer), "{size}");
            assert_eq!(told.len(), if size == 1000 { 2 } else { 3 }, "{told:?}");
        }
        assert_eq!(pieces(answer, 1)[1], " It is let from May. [1]");
        assert_eq!(pieces("A pool is heated daily [1]. Steam engines heat it.", 2), [""; 0]);
        assert_eq!(pieces("", 1), [""; 0]);
    }

    #[test]
    fn a_split_number_is_passed_on_whole() {
        let answer =
            "the share of rye is 98. 7 percent. a pool is heated daily. it is let from summer.";
        for size in [1, 3, 1000] {
            let source = "the share of rye is 98.7 percent. it is let from summer.";
            let mut stream = SupportedStream::new(vec![source.to_owned()]);
            let characters: Vec<char> = answer.chars().collect();
            let mut told = String::new();
            for piece in characters.chunks(size) {
                told += &stream.push(&piece.iter().collect::<String>(), &mut || {});
            }
            told += &stream.finish(&mut || {});
            assert_eq!(told, "the share of rye is 98. 7 percent. it is let from summer.", "{size}");
        }
    }

    #[test]
    fn what_is_left_out_leaves_no_gap() {
        let answer =
            "The flat has two rooms [1].\n\n- A pool is heated daily.\n- It is let from May [1].";
        assert_eq!(
            pieces(answer, 4).concat(),
            "The flat has two rooms [1].\n\n- It is let from May [1]."
        );
        assert_eq!(
            pieces("A pool is heated daily.\n\nIt is let from May.", 4).concat(),
            "It is let from May."
        );
    }

    proptest! {
        #[test]
        fn no_more_and_no_less_is_passed_on_than_is_left_of_the_whole(
            answer in "((The flat has two rooms|A pool is heated daily|It is let from May)( \\[[1-3]\\])?\\.( |\n|\n\n|\n- )){0,8}",
            size in 1usize..9,
        ) {
            let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(bare(&pieces(&answer, size).concat()), bare(&whole(&answer)));
        }
    }
}
