//! # citation: which words of which row does a marker stand for?
//!
//! ```text
//! (answer with markers, numbered chunks) → character spans in the source documents
//! ```
//!
//! A marker names a chunk; a reader wants the sentence. The chunk's sentence is quoted that shares
//! most words with the sentence of the answer that carries the marker. Words that few sentences of
//! the chunk have count for more, words near the marker count double: a sentence may make two
//! claims, each with its own marker.
//!
//! Where no word is shared (the answer is in another language, say) the whole chunk is
//! quoted: it is what the marker names, and a guess would look like a finding.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::text::marker::{Marker, markers};
use crate::text::sentence::{sentences, sentences_interruptibly};

/// A chunk that an answer can cite; the first has number 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedSource {
    /// The chunk's ID.
    pub chunk_id: i64,
    /// The key of the row it was cut from, as text.
    pub source_key: String,
    /// Which chunk of that row.
    pub chunk_no: i32,
    /// Where the chunk begins in the document, in characters from 0.
    pub start_char: i32,
    /// The text of the chunk, an exact substring of the document.
    pub content: String,
}

/// What a marker stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The number in the marker.
    pub marker: i32,
    /// The chunk's ID.
    pub chunk_id: i64,
    /// The key of the row it was cut from, as text.
    pub source_key: String,
    /// Which chunk of that row.
    pub chunk_no: i32,
    /// First character of the quote in the source document, counted in code points from 0.
    pub start_char: i32,
    /// One past its last character.
    pub end_char: i32,
    /// The supporting sentence, exactly as the document has it.
    pub quote: String,
}

/// A marker that no source answers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unresolved {
    /// The number in the marker.
    pub marker: i32,
    /// Where the marker begins in the answer, in characters from 0.
    pub position: i32,
}

/// All that an answer cites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citations {
    /// What the markers stand for, in the order of the answer. Markers that quote the same span are
    /// listed once.
    pub citations: Vec<Citation>,
    /// Markers that no source answers to, in the order of the answer.
    pub unresolved: Vec<Unresolved>,
}

/// Finds what the markers of `answer` stand for.
///
/// Markers are `[1]`, `[2, 3]` and `[1-3]` outside of code; number n is `sources[n - 1]`.
/// `interrupt` is called for each number, and may unwind.
pub fn citations(answer: &str, sources: &[CitedSource], interrupt: &mut dyn FnMut()) -> Citations {
    let mut out = Citations::default();
    let markers = markers(answer);
    if markers.is_empty() {
        return out;
    }
    let mut reading = MarkedAnswer::new(answer, &markers, interrupt);
    let mut passages: HashMap<u32, SentencedChunk<'_>> = HashMap::new();
    let mut characters = PositionCounter::new(answer);
    for (index, marker) in markers.iter().enumerate() {
        let position = characters.up_to(marker.range.start);
        let claim = reading.claim(index);
        for &number in &marker.numbers {
            interrupt();
            let Some(source) = source(sources, number) else {
                out.unresolved.push(Unresolved { marker: number as i32, position });
                continue;
            };
            let passage = passages.entry(number).or_insert_with(|| SentencedChunk::new(source));
            let citation = passage.cite(number as i32, &claim);
            if !out.citations.contains(&citation) {
                out.citations.push(citation);
            }
        }
    }
    out
}

fn source(sources: &[CitedSource], number: u32) -> Option<&CitedSource> {
    sources.get((number as usize).checked_sub(1)?)
}

type WordWeights = HashSet<String>;

/// An answer and its markers, so that the claim of each marker can be found in a time that
/// does not depend on the length of the answer: a model may write the same marker for ever.
struct MarkedAnswer<'a> {
    markers: &'a [Marker],
    /// The answer with spaces for the markers: their digits are no words.
    bare: String,
    sentences: Vec<Range<usize>>,
    /// Where words of `bare` begin.
    words: Vec<usize>,
    /// Where words of `bare` end.
    word_ends: Vec<usize>,
    /// Where lines of `bare` end.
    newlines: Vec<usize>,
    /// For each marker, the end of the last marker before it that words follow.
    clauses: Vec<usize>,
    /// The sentence and the clause that were read last; neighbours share them.
    read: [(Range<usize>, Rc<WordWeights>); 2],
}

/// What a marker is put after.
struct MarkedClaim {
    /// The words of the sentence.
    sentence: Rc<WordWeights>,
    /// The words of the sentence that stand between the marker before and this one.
    clause: Rc<WordWeights>,
}

impl<'a> MarkedAnswer<'a> {
    fn new(answer: &str, markers: &'a [Marker], interrupt: &mut dyn FnMut()) -> Self {
        let bare = without(markers, answer);
        let (words, word_ends): (Vec<usize>, Vec<usize>) =
            bare.unicode_word_indices().map(|(at, word)| (at, at + word.len())).unzip();
        let newlines = bare.match_indices('\n').map(|(at, _)| at).collect();
        let mut clauses: Vec<usize> = Vec::with_capacity(markers.len());
        for (index, marker) in markers.iter().enumerate() {
            let before = index.checked_sub(1).map_or(0, |earlier| markers[earlier].range.end);
            let told = any_in(&words, before..marker.range.start);
            clauses.push(if told { before } else { clauses.last().copied().unwrap_or(0) });
        }
        let sentences = sentences_interruptibly(&bare, interrupt);
        let read = Default::default();
        MarkedAnswer { markers, bare, sentences, words, word_ends, newlines, clauses, read }
    }

    fn claim(&mut self, index: usize) -> MarkedClaim {
        let at = self.markers[index].range.start;
        let range = self.sentence_of(at).unwrap_or(at..at);
        let start = self.clauses[index].clamp(range.start, range.end);
        // It ends with the last word, so that markers after one another have the same clause.
        let words_before = self.words.partition_point(|&word| word < at);
        let end = words_before.checked_sub(1).map_or(start, |last| self.word_ends[last]);
        let clause = self.words_of(1, start..end.clamp(start, range.end));
        let sentence = self.words_of(0, range);
        MarkedClaim { sentence, clause }
    }

    /// The sentence that a marker at byte `at` belongs to: the one with the word before it,
    /// as in "One [1]." and "One. [1] Two."; but of a marker that opens a line, the one with
    /// the word after it.
    fn sentence_of(&self, at: usize) -> Option<Range<usize>> {
        let next = self.words.partition_point(|&word| word < at);
        let before = next.checked_sub(1).map(|last| self.words[last]);
        let after = self.words.get(next).copied();
        let opens = before.is_none_or(|word| any_in(&self.newlines, word..at));
        match after {
            Some(word) if opens && !any_in(&self.newlines, at..word) => self.sentence_at(word),
            _ => self.sentence_at(before?),
        }
    }

    /// The last sentence that begins at byte `at` or before.
    fn sentence_at(&self, at: usize) -> Option<Range<usize>> {
        let begun = self.sentences.partition_point(|sentence| sentence.start <= at);
        self.sentences.get(begun.checked_sub(1)?).cloned()
    }

    fn words_of(&mut self, slot: usize, range: Range<usize>) -> Rc<WordWeights> {
        if self.read[slot].0 != range {
            self.read[slot] = (range.clone(), Rc::new(words(&self.bare[range])));
        }
        Rc::clone(&self.read[slot].1)
    }
}

fn without(markers: &[Marker], answer: &str) -> String {
    let mut bare = String::with_capacity(answer.len());
    for marker in markers {
        bare.push_str(&answer[bare.len()..marker.range.start]);
        bare.extend(std::iter::repeat_n(' ', marker.range.len()));
    }
    bare.push_str(&answer[bare.len()..]);
    bare
}

/// Whether one of `places`, which are sorted, is in `range`.
fn any_in(places: &[usize], range: Range<usize>) -> bool {
    places.get(places.partition_point(|&at| at < range.start)).is_some_and(|&at| at < range.end)
}

/// A chunk's sentences and how much each of its words tells.
struct SentencedChunk<'a> {
    source: &'a CitedSource,
    sentences: Vec<(Range<usize>, WordWeights)>,
    weights: HashMap<String, f64>,
}

impl<'a> SentencedChunk<'a> {
    fn new(source: &'a CitedSource) -> Self {
        let content = &source.content;
        let sentences: Vec<(Range<usize>, WordWeights)> = sentences(content)
            .into_iter()
            .map(|range| (range.clone(), words(&content[range])))
            .collect();
        let mut weights: HashMap<String, f64> = HashMap::new();
        for word in sentences.iter().flat_map(|(_, words)| words) {
            *weights.entry(word.clone()).or_default() += 1.0;
        }
        let all = sentences.len() as f64;
        weights.values_mut().for_each(|count| *count = (1.0 + all / *count).ln());
        SentencedChunk { source, sentences, weights }
    }

    fn cite(&self, marker: i32, claim: &MarkedClaim) -> Citation {
        let source = self.source;
        let content = &source.content;
        let range = self.support(claim);
        let start = source.start_char.saturating_add(length(&content[..range.start]));
        let quote = content[range].to_string();
        Citation {
            marker,
            chunk_id: source.chunk_id,
            source_key: source.source_key.clone(),
            chunk_no: source.chunk_no,
            start_char: start,
            end_char: start.saturating_add(length(&quote)),
            quote,
        }
    }

    /// The sentence that supports `claim` best, the first of equals; else all.
    fn support(&self, claim: &MarkedClaim) -> Range<usize> {
        let mut best = None;
        let mut best_score = 0.0;
        for (range, words) in &self.sentences {
            let score = self.score(words, claim);
            if score > best_score {
                best_score = score;
                best = Some(range.clone());
            }
        }
        best.unwrap_or_else(|| self.whole())
    }

    fn score(&self, words: &WordWeights, claim: &MarkedClaim) -> f64 {
        let weight = |word: &String| self.weights.get(word).copied().unwrap_or_default();
        // Sorted, because sums of floats depend on their order and sets have none.
        let mut shared: Vec<&String> = words.intersection(&claim.sentence).collect();
        shared.sort_unstable();
        let near = |word: &String| if claim.clause.contains(word) { 2.0 } else { 1.0 };
        shared.into_iter().map(|word| weight(word) * near(word)).sum()
    }

    fn whole(&self) -> Range<usize> {
        match (self.sentences.first(), self.sentences.last()) {
            (Some((first, _)), Some((last, _))) => first.start..last.end,
            _ => 0..self.source.content.len(),
        }
    }
}

/// Counts the characters of a text on the way through it.
struct PositionCounter<'a> {
    text: &'a str,
    byte: usize,
    characters: i32,
}

impl<'a> PositionCounter<'a> {
    fn new(text: &'a str) -> Self {
        PositionCounter { text, byte: 0, characters: 0 }
    }

    /// Characters before `byte`, which never goes back.
    fn up_to(&mut self, byte: usize) -> i32 {
        self.characters = self.characters.saturating_add(length(&self.text[self.byte..byte]));
        self.byte = byte;
        self.characters
    }
}

fn words(text: &str) -> WordWeights {
    text.unicode_words().map(str::to_lowercase).collect()
}

fn length(text: &str) -> i32 {
    i32::try_from(text.chars().count()).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RESET: &str = "Über uns. Press the reset button for ten seconds. The lamp turns red.";
    const BILLS: &str = "Bills are sent monthly. Refunds take five days.";

    fn source(chunk_id: i64, start_char: i32, content: &str) -> CitedSource {
        CitedSource {
            chunk_id,
            source_key: format!("row {chunk_id}"),
            chunk_no: 2,
            start_char,
            content: content.into(),
        }
    }

    fn two() -> Vec<CitedSource> {
        vec![source(70, 100, RESET), source(71, 0, BILLS)]
    }

    fn check(answer: &str, expected: &[(i32, &str)]) {
        let found = citations(answer, &two(), &mut || {});
        let quotes: Vec<(i32, &str)> =
            found.citations.iter().map(|it| (it.marker, it.quote.as_str())).collect();
        assert_eq!(quotes, expected, "{answer}");
        assert_eq!(found.unresolved, [], "{answer}");
    }

    #[test]
    fn a_citation_has_every_field() {
        let found = citations("Hold the button for ten seconds [1].", &two(), &mut || {});
        let expected = Citation {
            marker: 1,
            chunk_id: 70,
            source_key: "row 70".into(),
            chunk_no: 2,
            start_char: 110,
            end_char: 149,
            quote: "Press the reset button for ten seconds.".into(),
        };
        assert_eq!(found, Citations { citations: vec![expected], unresolved: vec![] });
    }

    #[test]
    fn the_wire_form_has_the_documented_names() {
        let found = citations("Red [1] [9].", &two(), &mut || {});
        let expected = serde_json::json!({
            "citations": [{
                "marker": 1, "chunk_id": 70, "source_key": "row 70", "chunk_no": 2,
                "start_char": 150, "end_char": 169, "quote": "The lamp turns red."
            }],
            "unresolved": [{"marker": 9, "position": 8}]
        });
        assert_eq!(serde_json::to_value(&found).unwrap(), expected);
    }

    #[test]
    fn each_marker_quotes_what_supports_its_sentence() {
        let press = "Press the reset button for ten seconds.";
        let red = "The lamp turns red.";
        let refunds = "Refunds take five days.";
        check("The LAMP turns red [1]. Refunds take days [2].", &[(1, red), (2, refunds)]);
        check("The lamp turns red. [1] Refunds take days. [2]", &[(1, red), (2, refunds)]);
        check("The lamp turns red.[1]\n\nRefunds take days.[2]", &[(1, red), (2, refunds)]);
        check("- The lamp turns red [1]\n- Press reset [1]", &[(1, red), (1, press)]);
        check("Press reset [1] until the lamp is red [1].", &[(1, press), (1, red)]);
        check("[1] The lamp turns red.", &[(1, red)]);
        check("Press reset [1].\n[1] The lamp turns red.", &[(1, press), (1, red)]);
        check("The lamp turns red.\n\n[1]", &[(1, red)]);
        check(
            "Refunds take five days after the lamp turned red [1][2].",
            &[(1, red), (2, refunds)],
        );
        check("Refunds, and the lamp turns red [1, 2].", &[(1, red), (2, refunds)]);
    }

    #[test]
    fn the_same_span_is_listed_once() {
        let red = "The lamp turns red.";
        check("The lamp is red [1]. A red lamp [1], red [1-1][1].", &[(1, red)]);
    }

    #[test]
    fn without_a_shared_word_the_chunk_is_quoted() {
        check("\u{8d64}\u{3044} [2].", &[(2, BILLS)]);
        check("[2]", &[(2, BILLS)]);
        let blank = [source(1, 7, " \n "), source(2, 3, "")];
        let found = citations("a [1-2]", &blank, &mut || {}).citations;
        let spans: Vec<_> = found.iter().map(|it| (it.start_char, it.end_char)).collect();
        assert_eq!(spans, [(7, 10), (3, 3)]);
    }

    #[test]
    fn markers_to_nothing_are_told() {
        let found = citations("\u{1f600} a [3]. b [0, 1-3]", &two(), &mut || {});
        let told: Vec<_> = found.unresolved.iter().map(|it| (it.marker, it.position)).collect();
        assert_eq!(told, [(3, 4), (0, 11), (3, 11)]);
        assert_eq!(found.citations.len(), 2);
        assert_eq!(
            citations("a [1]", &[], &mut || {}).unresolved,
            [Unresolved { marker: 1, position: 2 }]
        );
    }

    #[test]
    fn code_cites_nothing() {
        assert_eq!(citations("`a[1]`\n```\nb[2]\n```\n", &two(), &mut || {}), Citations::default());
    }

    #[test]
    fn a_marker_is_no_word() {
        let numbered = [source(1, 0, "Step 1 is the lamp. The button comes later.")];
        let found = citations("Later comes the button [1].", &numbered, &mut || {});
        assert_eq!(found.citations[0].quote, "The button comes later.");
    }

    #[test]
    fn spans_at_the_end_of_what_can_be_counted_do_not_overflow() {
        let far = [source(1, i32::MAX - 3, "The lamp turns red.")];
        let found = citations("red [1]", &far, &mut || {});
        assert_eq!(found.citations[0].end_char, i32::MAX);
    }

    #[test]
    fn endless_markers_take_linear_time() {
        let parts = ["[1]", "[1] , ", "[1]. ", "[1]\n", "b [1]", "2 [1] "];
        for answer in parts.map(|part| format!("red. {}", part.repeat(50_000))) {
            let begun = std::time::Instant::now();
            assert_eq!(citations(&answer, &two(), &mut || {}).citations.len(), 1);
            let took = begun.elapsed();
            assert!(took.as_secs() < 5, "{} took {took:?}", &answer[..16]);
        }
    }

    proptest! {
        /// The span cuts the quote out of the document, whatever the alphabet.
        #[test]
        fn spans_cut_out_the_quote(
            before in "\\PC{0,12}",
            content in "(([a-f]{1,4}|\\PC{0,5})[ .!\n]){1,20}",
            answer in "(([a-f]{1,4}|\\PC{0,4})( |\\. |\\[[1-3]\\]|`|\n)){0,20}",
        ) {
            let document = format!("{before}{content}");
            let start = before.chars().count();
            let sources = [source(1, start as i32, &content), source(2, start as i32, &content)];
            let found = citations(&answer, &sources, &mut || {});
            for citation in found.citations {
                let length = (citation.end_char - citation.start_char) as usize;
                let cut: String =
                    document.chars().skip(citation.start_char as usize).take(length).collect();
                prop_assert_eq!(&cut, &citation.quote);
                prop_assert!(citation.start_char as usize >= start);
            }
            for unresolved in found.unresolved {
                let at = answer.chars().nth(unresolved.position as usize);
                prop_assert_eq!(at, Some('['));
            }
        }
    }
}
