//! # bounds: where does UAX #29 end a sentence?
//!
//! ```text
//! line → the ends of its sentences, as the default rules of Unicode have them
//! ```
//!
//! In linear time, and in parts, so that a caller may stop.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// After so many characters without a letter or digit, text is taken for a rule or a
/// dotted leader and cut. UAX #29's rule SB8 looks ahead from each character of such a run,
/// which takes quadratic time in the length of the run.
const LONGEST_QUIET_RUN: usize = 64;

/// The ends of the sentences of one line by UAX #29, in order.
pub(super) fn cuts(line: &str, longest: usize, interrupt: &mut dyn FnMut()) -> Vec<usize> {
    let mut cuts = Vec::new();
    for SentenceWindow { text, end, goes_on } in windows(line, longest) {
        interrupt();
        let start = text.start;
        let bounds = line[text].split_sentence_bound_indices();
        cuts.extend(bounds.map(|(at, sentence)| start + at + sentence.len()));
        // What is left of a long run belongs to the sentence before it.
        cuts.pop();
        if !goes_on {
            cuts.push(end);
        }
    }
    cuts
}

/// A part of a line that UAX #29 may look at in one go.
struct SentenceWindow {
    /// What it looks at.
    text: Range<usize>,
    /// Where the rest of the run that ends it ends.
    end: usize,
    /// Whether it ends within a sentence.
    goes_on: bool,
}

/// Cuts `line` after each run of at least [`LONGEST_QUIET_RUN`] characters that are neither
/// letter nor digit, and after `longest` bytes where no sentence can end.
fn windows(line: &str, longest: usize) -> impl Iterator<Item = SentenceWindow> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let window = (start < line.len()).then(|| window(line, start, longest))?;
        start = window.end;
        Some(window)
    })
}

/// The window that begins at `start`.
fn window(line: &str, start: usize, longest: usize) -> SentenceWindow {
    let (mut quiet, mut stop, mut before) = (0, None, ' ');
    for (at, character) in line[start..].char_indices() {
        let at = start + at;
        if at - start >= longest && stop.is_none() && is_inside(before, character) {
            return SentenceWindow { text: start..at, end: at, goes_on: true };
        }
        quiet = if character.is_alphanumeric() { 0 } else { quiet + 1 };
        if quiet == LONGEST_QUIET_RUN {
            stop = Some(at + character.len_utf8());
        } else if let (0, Some(text_end)) = (quiet, stop) {
            return SentenceWindow { text: start..text_end, end: at, goes_on: false };
        }
        before = character;
    }
    let text = start..stop.unwrap_or(line.len());
    SentenceWindow { text, end: line.len(), goes_on: false }
}

/// Whether no rule of UAX #29 needs both what is before a place between these characters and what
/// is after it: the first is a letter, which ends every look ahead, and the second neither ends a
/// sentence nor changes the letter.
fn is_inside(before: char, after: char) -> bool {
    is_plain_letter(before) && (is_plain_letter(after) || after == ' ')
}

/// A letter of one of the common scripts, and no sign that combines with it.
fn is_plain_letter(character: char) -> bool {
    let is_common = matches!(character,
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{391}'..='\u{3ff}'
        | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}' | '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}'
        | '\u{e01}'..='\u{e2e}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    is_common && character.is_alphabetic()
}
