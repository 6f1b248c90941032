//! # numbering: by which number does a reader know a source?
//!
//! ```text
//! (answer that cites by the numbers of its prompt) → the answer that cites by 1, 2, 3
//! ```
//!
//! A model reads six chunks and cites the second and the fifth. Who reads the answer alone would look for
//! the missing numbers, so sources are counted anew, in the order of their first use. A number that no
//! source has points to nothing: its marker is left out, with the space before it, so that the sentence
//! stays whole.
//!
//! An answer may be passed on while it is written. [`NumberedStream`] holds back what could still become
//! a marker or code, and passes on the very text that [`super::style::styled`] makes of the whole.

use std::collections::HashSet;

use crate::text::fence::{closes, fence};
use crate::text::marker::markers;

/// Which sources are cited, in the order of their first use.
#[derive(Debug)]
pub struct SourceNumbers {
    sources: usize,
    used: Vec<usize>,
}

impl SourceNumbers {
    /// Nothing is cited yet of so many sources.
    pub fn of(sources: usize) -> SourceNumbers {
        SourceNumbers { sources, used: Vec::new() }
    }

    /// What a marker with `numbers` cites: indexes of sources, each once, and numbers that none has.
    pub fn cite(&mut self, numbers: &[u32]) -> (Vec<usize>, Vec<u32>) {
        let (mut cited, mut wrong, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for &number in numbers {
            match (number as usize).checked_sub(1).filter(|source| *source < self.sources) {
                None => wrong.push(number),
                Some(source) if seen.insert(source) => cited.push(source),
                Some(_) => {}
            }
        }
        for source in &cited {
            if !self.used.contains(source) {
                self.used.push(*source);
            }
        }
        (cited, wrong)
    }

    /// The new number of a source that has been cited.
    pub fn number(&self, source: usize) -> usize {
        let place = self.used.iter().position(|used| *used == source);
        place.unwrap_or(self.used.len()) + 1
    }

    /// The sources that are cited, in the order of their first use.
    pub fn used(&self) -> &[usize] {
        &self.used
    }

    /// All sources in the order of their new numbers: those that are not cited come last, as they were.
    pub fn order(&self) -> Vec<usize> {
        let others = (0..self.sources).filter(|source| !self.used.contains(source));
        self.used.iter().copied().chain(others).collect()
    }
}

/// A text that is written from one marker to the next.
#[derive(Debug, Default)]
pub struct TextAroundMarkers {
    /// What has been written.
    pub text: String,
    /// Its length in characters.
    pub characters: usize,
    /// Whether words have been taken from the front of the text.
    is_begun: bool,
    /// Whether a space that comes next is that of a marker which was left out.
    drops_space: bool,
}

impl TextAroundMarkers {
    /// Adds `text`.
    pub fn write(&mut self, text: &str) {
        let mut text = text;
        if self.drops_space && !text.is_empty() {
            text = text.strip_prefix(' ').unwrap_or(text);
            self.drops_space = false;
        }
        self.text += text;
        self.characters += text.chars().count();
    }

    /// Leaves a marker out that would stand here: the space before it goes too, or that after it where
    /// the marker opens a line.
    pub fn leave_out(&mut self) {
        if self.text.ends_with(' ') {
            self.text.pop();
            self.characters -= 1;
        }
        self.drops_space = match self.text.chars().next_back() {
            Some(last) => last == '\n',
            None => !self.is_begun,
        };
    }

    /// Takes what nothing can change any more: all but white space at the end.
    fn take(&mut self) -> String {
        let rest = self.text.split_off(self.text.trim_end().len());
        self.is_begun |= !self.text.is_empty();
        std::mem::replace(&mut self.text, rest)
    }
}

/// A marker of sources with these numbers: `[1, 2]`.
pub fn written(numbers: &[usize]) -> String {
    format!("[{}]", numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
}

/// An answer that is passed on while it is written, with its sources counted anew.
#[derive(Debug)]
pub struct NumberedStream {
    numbers: SourceNumbers,
    written: TextAroundMarkers,
    /// What has been read and may still become something else.
    pending: String,
    /// The fence of the block of code in which it begins.
    fence: Option<String>,
    /// Whether it begins within a line.
    is_within_line: bool,
}

impl NumberedStream {
    /// An answer from so many sources, of which nothing is there yet.
    pub fn of(sources: usize) -> NumberedStream {
        let (numbers, written) = (SourceNumbers::of(sources), TextAroundMarkers::default());
        let (pending, fence) = (String::new(), None);
        NumberedStream { numbers, written, pending, fence, is_within_line: false }
    }

    /// What can be passed on once `piece` is there; perhaps nothing.
    pub fn push(&mut self, piece: &str) -> String {
        self.pending += piece;
        let (end, fence) = self.decided();
        if end > 0 {
            self.rewrite(end);
            self.fence = fence;
            self.is_within_line = true;
        }
        self.written.take()
    }

    /// What is left at the end of the answer.
    pub fn finish(&mut self) -> String {
        self.rewrite(self.pending.len());
        std::mem::take(&mut self.written.text)
    }

    /// Lines that have `pending` read as it is read in its place.
    fn context(&self) -> String {
        let mut context = String::new();
        if let Some(fence) = &self.fence {
            context += fence;
            context.push('\n');
        }
        if self.is_within_line {
            context.push('x');
        }
        context
    }

    /// Writes what is pending up to byte `end`. What follows is read with it: a backtick makes a line that
    /// seems to open a block of code one of text.
    fn rewrite(&mut self, end: usize) {
        let context = self.context();
        let text = context.clone() + &self.pending;
        self.pending.drain(..end);
        let (mut from, end) = (context.len(), context.len() + end);
        for marker in markers(&text).into_iter().take_while(|marker| marker.range.end <= end) {
            self.written.write(&text[from..marker.range.start]);
            let (cited, _) = self.numbers.cite(&marker.numbers);
            match cited.is_empty() {
                true => self.written.leave_out(),
                false => {
                    let numbers: Vec<usize> =
                        cited.iter().map(|source| self.numbers.number(*source)).collect();
                    self.written.write(&written(&numbers));
                }
            }
            from = marker.range.end;
        }
        self.written.write(&text[from..end]);
    }

    /// Up to which byte of what is pending nothing depends on what comes; and the fence of the block of
    /// code that is open there.
    fn decided(&self) -> (usize, Option<String>) {
        let context = self.context();
        let text = context.clone() + &self.pending;
        let UnfinishedLines { fence, paragraph, held } = UnfinishedLines::of(&text);
        let mut end = held;
        if fence.is_none() {
            end = undecided_code(&text, paragraph, end).unwrap_or(end);
            end = undecided_marker(&text[..end]).unwrap_or(end);
        }
        // What comes next then begins within a line.
        end = text[..end].trim_end().len();
        (end.saturating_sub(context.len()), fence)
    }
}

/// How the lines of a text are read that is not complete.
struct UnfinishedLines {
    /// The fence of the block of code that is open at its end.
    fence: Option<String>,
    /// Where the paragraph begins that is open at its end.
    paragraph: usize,
    /// Where the last line begins, if it may become a fence; else the end of the text.
    held: usize,
}

impl UnfinishedLines {
    fn of(text: &str) -> UnfinishedLines {
        let mut layout = UnfinishedLines { fence: None, paragraph: 0, held: text.len() };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let (start, end) = (at, at + line.len());
            at = end;
            if !line.ends_with('\n') && may_become_fence(line, layout.fence.as_deref()) {
                layout.held = start;
                return layout;
            }
            match &layout.fence {
                Some(open) if closes(line, open) => {
                    layout.fence = None;
                    layout.paragraph = end;
                }
                Some(_) => {}
                None => {
                    layout.fence = fence(line).map(str::to_owned);
                    if layout.fence.is_some() || line.trim().is_empty() {
                        layout.paragraph = end;
                    }
                }
            }
        }
        layout
    }
}

/// Whether a line that is not complete may open a block of code, or close the one that is open.
fn may_become_fence(line: &str, open: Option<&str>) -> bool {
    let text = line.trim_start_matches([' ', '\t']);
    let Some(sign) = text.chars().next() else { return true };
    let rest = text.trim_start_matches(sign);
    match (sign, open) {
        ('`' | '~', Some(_)) => rest.trim().is_empty(),
        ('`', None) => !rest.contains('`'),
        ('~', None) => rest.is_empty() || text.len() - rest.len() >= 3,
        _ => false,
    }
}

/// Where backticks begin that may open code, and nothing before byte `end` closes.
fn undecided_code(text: &str, paragraph: usize, end: usize) -> Option<usize> {
    let part = text.get(paragraph..end)?;
    // Backticks at the end may become more of them.
    let told = part.trim_end_matches('`').len();
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(start) = part[at..told].find('`').map(|found| at + found) {
        at = told.min(start + part[start..].len() - part[start..].trim_start_matches('`').len());
        runs.push(start..at);
    }
    let mut next = 0;
    while let Some(run) = runs.get(next) {
        let closing = runs[next + 1..].iter().position(|other| other.len() == run.len());
        let Some(closing) = closing else { return Some(paragraph + run.start) };
        next += closing + 2;
    }
    (told < part.len()).then_some(paragraph + told)
}

/// Where a marker begins that is not complete.
fn undecided_marker(text: &str) -> Option<usize> {
    let at = text.rfind('[')?;
    let is_of_marker = |c: char| {
        c.is_ascii_digit() || matches!(c, ' ' | ',' | ';' | '-' | '\u{2010}'..='\u{2014}')
    };
    text[at + 1..].chars().all(is_of_marker).then_some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::style::{CitationStyle, Shown, styled};
    use super::*;

    const SOURCES: usize = 4;

    fn whole(answer: &str) -> String {
        let sources = vec![Shown::default(); SOURCES];
        styled(answer, CitationStyle::Inline, &sources).text
    }

    fn passed_on(pieces: &[&str]) -> Vec<String> {
        let mut stream = NumberedStream::of(SOURCES);
        let mut out: Vec<String> = pieces.iter().map(|piece| stream.push(piece)).collect();
        out.push(stream.finish());
        out
    }

    fn check(pieces: &[&str], expected: &[&str]) {
        assert_eq!(passed_on(pieces), expected, "{pieces:?}");
        assert_eq!(expected.concat(), whole(&pieces.concat()), "{pieces:?}");
    }

    #[test]
    fn sources_are_counted_by_first_use() {
        let mut numbers = SourceNumbers::of(SOURCES);
        assert_eq!(numbers.cite(&[4, 2, 4]), (vec![3, 1], vec![]));
        assert_eq!(numbers.cite(&[0, 2, 9]), (vec![1], vec![0, 9]));
        assert_eq!((numbers.number(3), numbers.number(1)), (1, 2));
        assert_eq!(numbers.used(), [3, 1]);
        assert_eq!(numbers.order(), [3, 1, 0, 2]);
    }

    #[test]
    fn a_marker_is_passed_on_when_it_is_complete() {
        check(
            &["Five days ", "[", "4", "]. Ten [2]."],
            &["Five days", "", "", " [1]. Ten [2].", ""],
        );
        check(&["a [x", "] b [3", ", 1] c"], &["a [x", "] b", " [1, 2] c", ""]);
        check(&["Open ", "[1"], &["Open", "", " [1"]);
    }

    #[test]
    fn a_marker_of_no_source_leaves_a_whole_sentence() {
        check(&["See [9", "]."], &["See", ".", ""]);
        check(&["[9] See ", "[3]."], &["See", " [1].", ""]);
        check(&["One.\n[7]", " Two [8] [9] here."], &["One.", "\nTwo here.", ""]);
        check(&["- [9] Item"], &["- Item", ""]);
    }

    #[test]
    fn code_is_passed_on_as_it_is() {
        check(&["Use `a[", "2]` and [2]"], &["Use", " `a[2]` and [1]", ""]);
        check(&["a ` b [2]", "\n\nc [3]"], &["a", " ` b [1]\n\nc [2]", ""]);
        check(&[".```\n```[2]", "`"], &[".", "```\n```[1]", "`"]);
        check(&["```\nx[", "3]\n", "``", "`\ny [3]"], &["```\nx[", "3]", "", "\n```\ny [1]", ""]);
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole(
            pieces in prop::collection::vec("([a-c ]{1,3}|\\[[0-6](, ?[0-6])?\\]|\\[|\\]|[0-9]|-|`|```|~~~|\n|\n\n|\\.|é|  ){0,6}", 0..8),
        ) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(passed_on(&pieces).concat(), whole(&pieces.concat()));
        }

        #[test]
        fn any_text_is_passed_on(pieces in prop::collection::vec("\\PC{0,12}", 0..6)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(passed_on(&pieces).concat(), whole(&pieces.concat()));
        }
    }
}
