//! Which parts of a source are shown?
//!
//! ```text
//! (source, byte ranges) → "[...] One sentence. [...] Another."
//! ```
//!
//! What is left out leaves a mark, so that a reader knows that something stood there. All else
//! stands in the source letter by letter, or in what a language model made of it.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::Reading;
use super::headers::ChunkHeader;
use crate::error::Result;
use crate::prompt::messages::PromptSource;
use crate::source::Source;
use crate::text::sentence::sentences;

/// What stands where something was left out.
pub const GAP: &str = "[...]";

/// A source on its way to its reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt {
    /// The source that was found.
    pub source: Source,
    /// What is said of it.
    pub header: ChunkHeader,
    /// What a language model made of it, if one did.
    pub summary: Option<String>,
    /// What is shown of the summary, or else of the source: byte ranges, in order, apart.
    pub parts: Vec<Range<usize>>,
}

impl Excerpt {
    /// All of a source.
    #[must_use]
    pub fn whole(source: Source, header: ChunkHeader) -> Excerpt {
        let parts = std::iter::once(0..source.content().len()).collect();
        Excerpt { source, header, summary: None, parts }
    }

    /// The source with `summary`, which a language model made of it, in its place, all of it shown.
    #[must_use]
    pub fn summarized(self, summary: String) -> Excerpt {
        let parts = std::iter::once(0..summary.len()).collect();
        Excerpt { summary: Some(summary), parts, ..self }
    }

    /// What the parts are parts of.
    #[must_use]
    pub fn base(&self) -> &str {
        self.summary.as_deref().unwrap_or_else(|| self.source.content())
    }

    /// What a reader sees.
    #[must_use]
    pub fn text(&self) -> String {
        joined(self.base(), &self.parts)
    }

    /// The piece as a model reads it: the text that is shown, with the heading and metadata above it.
    #[must_use]
    pub fn prompt_source(&self) -> PromptSource {
        let ChunkHeader { heading, values } = self.header.clone();
        let content = self.text();
        PromptSource { heading, metadata: values, content, ..PromptSource::default() }
    }

    /// The sentences that are shown.
    #[must_use]
    pub fn sentences(&self) -> Vec<Range<usize>> {
        let of_part = |part: &Range<usize>| {
            let start = part.start;
            let found = sentences(&self.base()[part.clone()]);
            found.into_iter().map(move |range| start + range.start..start + range.end)
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    /// The piece with no more shown than `ranges`, which may overlap and stand in any order.
    #[must_use]
    pub fn with_only(self, ranges: Vec<Range<usize>>) -> Excerpt {
        let parts = common(&self.parts, &united(ranges));
        Excerpt { parts, ..self }
    }

    /// The longest beginning that `fits` and ends with a sentence; `None` where the first
    /// sentence does not.
    pub fn cut_at_sentence(&self, fits: &mut Fits<'_>) -> Result<Option<Excerpt>> {
        let ends: Vec<usize> = self.sentences().iter().map(|range| range.end).collect();
        self.cut(&ends, fits)
    }

    /// The longest beginning that `fits` and ends with a word; `None` where the first does not.
    pub fn cut_at_word(&self, fits: &mut Fits<'_>) -> Result<Option<Excerpt>> {
        self.cut(&ends_of_words(self.base()), fits)
    }

    fn cut(&self, ends: &[usize], fits: &mut Fits<'_>) -> Result<Option<Excerpt>> {
        let cut = longest(ends, &|end| self.up_to(end), fits)?;
        Ok(cut.filter(|piece| !piece.parts.is_empty()))
    }

    fn up_to(&self, end: usize) -> Excerpt {
        let parts = self.parts.iter().filter(|part| part.start < end);
        let parts = parts.map(|part| part.start..part.end.min(end)).collect();
        Excerpt { parts, ..self.clone() }
    }

    /// The reading of the piece.
    #[must_use]
    pub fn reading(self) -> Reading {
        let shown = self.text();
        let header = self.header;
        Reading { source: self.source, shown, header, overview: None, repeats: false }
    }
}

/// Whether something is short enough.
pub type Fits<'a, T = Excerpt> = dyn FnMut(&T) -> Result<bool> + 'a;

/// The longest beginning of `text` that `fits` and ends with a sentence, and the mark after it;
/// `None` where the first sentence does not fit.
pub fn whole_sentences(text: &str, fits: &mut Fits<'_, String>) -> Result<Option<String>> {
    let ends: Vec<usize> = sentences(text).into_iter().map(|range| range.end).collect();
    longest(&ends, &|end| up_to(text, end), fits)
}

/// The longest beginning of `text` that `fits` and ends with a word, and the mark after it; `None`
/// where the first word does not fit.
pub fn whole_words(text: &str, fits: &mut Fits<'_, String>) -> Result<Option<String>> {
    longest(&ends_of_words(text), &|end| up_to(text, end), fits)
}

/// The beginning of `text`, and the mark after it.
fn up_to(text: &str, end: usize) -> String {
    joined(text, std::slice::from_ref(&(0..end)))
}

/// What stands up to the last of `ends` up to which it `fits`.
fn longest<T>(
    ends: &[usize],
    up_to: &dyn Fn(usize) -> T,
    fits: &mut Fits<'_, T>,
) -> Result<Option<T>> {
    let (mut fitting, mut too_long) = (0, ends.len() + 1);
    while too_long - fitting > 1 {
        let middle = fitting.midpoint(too_long);
        match fits(&up_to(ends[middle - 1]))? {
            true => fitting = middle,
            false => too_long = middle,
        }
    }
    Ok(fitting.checked_sub(1).map(|last| up_to(ends[last])))
}

fn ends_of_words(text: &str) -> Vec<usize> {
    let words = text.split_word_bound_indices().filter(|(_, word)| !word.trim().is_empty());
    words.map(|(at, word)| at + word.len()).collect()
}

/// The parts of `text` with marks for what is left out.
fn joined(text: &str, parts: &[Range<usize>]) -> String {
    let mut shown = String::new();
    let mut end = 0;
    for part in parts {
        shown += &between(&text[end..part.start], end == 0, false);
        shown += &text[part.clone()];
        end = part.end;
    }
    shown + &between(&text[end..], end == 0, true)
}

/// What stands in the place of `left_out`: itself where it is white space only.
fn between(left_out: &str, is_first: bool, is_last: bool) -> String {
    if left_out.trim().is_empty() {
        return left_out.to_owned();
    }
    let space = if left_out.contains('\n') { "\n" } else { " " };
    let before = if is_first { "" } else { space };
    let after = if is_last { "" } else { space };
    format!("{before}{GAP}{after}")
}

/// `ranges` in order and apart, those that touch or overlap as one.
fn united(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut united: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match united.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => united.push(range),
        }
    }
    united
}

/// What lies in ranges of both lists, each of which is in order and apart.
fn common(some: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut shared = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (some.get(i), others.get(j)) {
        let (start, end) = (a.start.max(b.start), a.end.min(b.end));
        if start < end {
            shared.push(start..end);
        }
        if a.end < b.end { i += 1 } else { j += 1 }
    }
    shared
}

/// With chunks for the tests of other files.
#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::source::tests::passage;

    /// All of a chunk, without a header.
    pub fn piece(content: &str) -> Excerpt {
        Excerpt::whole(Source::Chunk(passage(content)), ChunkHeader::default())
    }

    /// Whether all of what is shown stands in the base.
    pub fn is_from_its_base(piece: &Excerpt) -> bool {
        piece.text().split(GAP).all(|part| piece.base().contains(part.trim()))
    }

    const TEXT: &str = "One is red. Two is blue.\n\nThree is green. Four is white.";

    fn shown(ranges: &[(usize, usize)]) -> String {
        piece(TEXT).with_only(ranges.iter().map(|(start, end)| *start..*end).collect()).text()
    }

    #[test]
    fn gaps_are_marked() {
        assert_eq!(piece(TEXT).text(), TEXT);
        assert_eq!(shown(&[(0, 11)]), "One is red.\n[...]");
        assert_eq!(shown(&[(12, 24)]), "[...] Two is blue.\n[...]");
        assert_eq!(shown(&[(0, 11), (42, 56)]), "One is red.\n[...]\nFour is white.");
        assert_eq!(shown(&[(26, 41), (42, 56)]), "[...]\nThree is green. Four is white.");
        let unordered = shown(&[(42, 56), (0, 11), (5, 24)]);
        assert_eq!(unordered, "One is red. Two is blue.\n[...]\nFour is white.");
        assert_eq!(piece("").text(), "");
    }

    fn within(most: usize) -> impl FnMut(&Excerpt) -> Result<bool> {
        move |piece| Ok(piece.text().len() <= most)
    }

    #[test]
    fn a_beginning_ends_with_a_sentence_or_a_word() {
        let at_sentence = |most| piece(TEXT).cut_at_sentence(&mut within(most)).unwrap();
        assert_eq!(at_sentence(100).unwrap().text(), TEXT);
        assert_eq!(at_sentence(40).unwrap().text(), "One is red. Two is blue.\n[...]");
        assert_eq!(at_sentence(10), None);
        let at_word = piece(TEXT).cut_at_word(&mut within(15)).unwrap();
        assert_eq!(at_word.unwrap().text(), "One is\n[...]");
        assert_eq!(piece("").cut_at_word(&mut |_| Ok(true)).unwrap(), None);
    }

    #[test]
    fn a_summary_is_cut_as_a_chunk_is() {
        let piece = piece("A long text.").summarized("Short. Very short.".to_owned());
        let cut = piece.cut_at_sentence(&mut |piece| Ok(piece.text().len() < 15)).unwrap();
        assert_eq!(cut.unwrap().text(), "Short. [...]");
    }

    proptest! {
        #[test]
        fn nothing_is_made_up(
            text in "([a-z]{1,6}[ .\n]{1,3}|\\PC){0,30}",
            ranges in prop::collection::vec((0.0_f64..1.0, 0.0_f64..1.0), 0..5),
            most in 0_usize..60,
        ) {
            let at = |share: f64| text.floor_char_boundary((share * text.len() as f64) as usize);
            let ranges = ranges.iter().map(|(a, b)| at(a.min(*b))..at(a.max(*b))).collect();
            let piece = piece(&text).with_only(ranges);
            prop_assert!(is_from_its_base(&piece));
            prop_assert_eq!(piece.clone().with_only(piece.parts.clone()), piece.clone());
            let at_sentence = piece.cut_at_sentence(&mut within(most)).unwrap();
            let at_word = piece.cut_at_word(&mut within(most)).unwrap();
            for cut in [at_sentence, at_word].iter().flatten() {
                prop_assert!(cut.text().len() <= most && is_from_its_base(cut));
            }
        }
    }
}
