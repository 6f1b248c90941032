//! # citation: which words of which row does a marker stand for?
//!
//! ```text
//! (answer with markers, numbered sources) → places in the database, with quotes
//! ```
//!
//! A marker names a source; a reader wants the sentence. Of the source's originals (a chunk, the
//! leaves of a summary, a row) the sentence is quoted that shares most words with the sentence of
//! the answer that carries the marker. Words that few sentences of the source have count for more, words near the marker count double: a sentence may make two
//! claims, each with its own marker.
//!
//! Where no word is shared (the answer is in another language, say) the whole of the first original
//! is quoted: it is what the marker names, and a guess would look like a finding.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::source::{Original, Place, Source};
use crate::text::character_counter::CharacterCounter;
use crate::text::marker::{Marker, markers};
use crate::text::number::canonical;
use crate::text::number_run::joined_numbers;
use crate::text::sentence::{sentences, sentences_interruptibly};

/// What a marker stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The number in the marker.
    pub marker: i32,
    /// Where the quote stands.
    #[serde(flatten)]
    pub place: Place,
    /// The supporting sentence, exactly as the original has it.
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
pub fn citations(answer: &str, sources: &[&Source], interrupt: &mut dyn FnMut()) -> Citations {
    let mut out = Citations::default();
    let markers = markers(answer);
    if markers.is_empty() {
        return out;
    }
    let mut reading = MarkedAnswer::new(answer, &markers, interrupt);
    let mut read: HashMap<u32, SentencedSource<'_>> = HashMap::new();
    let mut characters = CharacterCounter::new(answer);
    for (index, marker) in markers.iter().enumerate() {
        let position = characters.count_to(marker.range.start);
        let position = i32::try_from(position).unwrap_or(i32::MAX);
        let claim = reading.claim(index);
        for &number in &marker.numbers {
            interrupt();
            let Some(source) = source(sources, number) else {
                out.unresolved.push(Unresolved { marker: number as i32, position });
                continue;
            };
            let cited = read.entry(number).or_insert_with(|| SentencedSource::new(source));
            let citation = cited.cite(number as i32, &claim);
            out.citations.extend(citation.filter(|citation| !out.citations.contains(citation)));
        }
    }
    out
}

fn source<'a>(sources: &[&'a Source], number: u32) -> Option<&'a Source> {
    sources.get((number as usize).checked_sub(1)?).copied()
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

/// The sentences of a source's originals, and how much each of their words tells.
struct SentencedSource<'a> {
    originals: Vec<Original<'a>>,
    sentences: Vec<OriginalSentence>,
    weights: HashMap<String, f64>,
}

struct OriginalSentence {
    /// Index of the original.
    original: usize,
    bytes: Range<usize>,
    words: WordWeights,
}

impl<'a> SentencedSource<'a> {
    fn new(source: &'a Source) -> Self {
        let originals = source.originals();
        let of_original = |(original, Original { text, .. }): (usize, &Original<'a>)| {
            let sentence = move |bytes: Range<usize>| {
                let words = words(&text[bytes.clone()]);
                OriginalSentence { original, bytes, words }
            };
            sentences(text).into_iter().map(sentence).collect::<Vec<_>>()
        };
        let sentences: Vec<OriginalSentence> =
            originals.iter().enumerate().flat_map(of_original).collect();
        let mut weights: HashMap<String, f64> = HashMap::new();
        for word in sentences.iter().flat_map(|sentence| &sentence.words) {
            *weights.entry(word.clone()).or_default() += 1.0;
        }
        let all = sentences.len() as f64;
        weights.values_mut().for_each(|count| *count = (1.0 + all / *count).ln());
        SentencedSource { originals, sentences, weights }
    }

    /// The citation of what supports `claim`; `None` for a source without originals.
    fn cite(&self, marker: i32, claim: &MarkedClaim) -> Option<Citation> {
        let (original, bytes) = match self.support(claim) {
            Some(sentence) => (self.originals.get(sentence.original)?, sentence.bytes.clone()),
            None => (self.originals.first()?, self.first_original()),
        };
        let quote = original.text[bytes.clone()].to_owned();
        Some(Citation { marker, place: original.place_of(bytes), quote })
    }

    /// The sentence that supports `claim` best, the first of equals.
    fn support(&self, claim: &MarkedClaim) -> Option<&OriginalSentence> {
        let mut best = None;
        let mut best_score = 0.0;
        for sentence in &self.sentences {
            let score = self.score(&sentence.words, claim);
            if score > best_score {
                best_score = score;
                best = Some(sentence);
            }
        }
        best
    }

    fn score(&self, words: &WordWeights, claim: &MarkedClaim) -> f64 {
        let weight = |word: &String| self.weights.get(word).copied().unwrap_or_default();
        // Sorted, because sums of floats depend on their order and sets have none.
        let mut shared: Vec<&String> = words.intersection(&claim.sentence).collect();
        shared.sort_unstable();
        let near = |word: &String| if claim.clause.contains(word) { 2.0 } else { 1.0 };
        shared.into_iter().map(|word| weight(word) * near(word)).sum()
    }

    /// All of the first original but for white space around it, if it has anything else.
    fn first_original(&self) -> Range<usize> {
        let mut own = self.sentences.iter().filter(|sentence| sentence.original == 0);
        match (own.next(), self.originals.first()) {
            (Some(first), _) => first.bytes.start..own.next_back().unwrap_or(first).bytes.end,
            (None, Some(original)) => 0..original.text.len(),
            (None, None) => 0..0,
        }
    }
}

/// The words of `text` in small letters, and its numbers in one form, however and in however many words they are written.
fn words(text: &str) -> WordWeights {
    let word = |word: &str| canonical(word).unwrap_or_else(|| word.to_lowercase());
    let numbers = joined_numbers(text).filter_map(|number| canonical(&number));
    text.unicode_words().map(word).chain(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::Passage;
    use crate::source::ChunkSpan;
    use crate::source::tests::{one_of_each, passage};
    use proptest::prelude::*;

    const RESET: &str = "Über uns. Press the reset button for ten seconds. The lamp turns red.";
    const BILLS: &str = "Bills are sent monthly. Refunds take five days.";

    fn source(chunk_id: i64, start_char: i32, content: &str) -> Source {
        let end_char = start_char.saturating_add(content.chars().count() as i32);
        let source_key = format!("row {chunk_id}");
        let passage = passage(content);
        Source::Chunk(Passage {
            chunk_id,
            source_key,
            chunk_no: 2,
            start_char,
            end_char,
            ..passage
        })
    }

    fn two() -> Vec<Source> {
        vec![source(70, 100, RESET), source(71, 0, BILLS)]
    }

    fn citations(answer: &str, sources: &[Source], interrupt: &mut dyn FnMut()) -> Citations {
        super::citations(answer, &sources.iter().collect::<Vec<_>>(), interrupt)
    }

    /// The characters of the row that a citation quotes.
    fn span(citation: &Citation) -> (i32, i32) {
        match &citation.place {
            Place::Chunk(span) => (span.start_char, span.end_char),
            Place::Row(row) => panic!("{row} has no characters"),
        }
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
        let place = Place::Chunk(ChunkSpan {
            pipeline: "docs".into(),
            shard: None,
            chunk_id: 70,
            source_key: "row 70".into(),
            chunk_no: 2,
            start_char: 110,
            end_char: 149,
        });
        let quote = "Press the reset button for ten seconds.".into();
        let expected = Citation { marker: 1, place, quote };
        assert_eq!(found, Citations { citations: vec![expected], unresolved: vec![] });
    }

    #[test]
    fn the_wire_form_has_the_documented_names() {
        let found = citations("Red [1] [9].", &two(), &mut || {});
        let expected = serde_json::json!({
            "citations": [{
                "marker": 1, "pipeline": "docs", "chunk_id": 70, "source_key": "row 70", "chunk_no": 2,
                "start_char": 150, "end_char": 169, "quote": "The lamp turns red."
            }],
            "unresolved": [{"marker": 9, "position": 8}]
        });
        assert_eq!(serde_json::to_value(&found).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Citations>(expected).unwrap(), found);
    }

    #[test]
    fn a_summary_is_quoted_by_its_leaves_and_a_row_as_a_whole() {
        let sources = one_of_each();
        let check = |answer: &str, expected: serde_json::Value| {
            let found = citations(answer, &sources, &mut || {});
            assert_eq!(serde_json::to_value(&found.citations).unwrap(), expected, "{answer}");
        };
        let of_leaf = |id: i64, start: i32, end: i32, quote: &str| {
            serde_json::json!([{
                "marker": 2, "pipeline": "docs", "chunk_id": id, "source_key": format!("row {id}"), "chunk_no": 2,
                "start_char": start, "end_char": end, "quote": quote
            }])
        };
        check("The tower opens at ten [2].", of_leaf(71, 110, 133, "The tower opens at ten."));
        check("It closes at noon [2].", of_leaf(70, 124, 142, "It closes at noon."));
        // What only the language model has written is quoted by the most relevant leaf.
        let leaf = "The mill opens at nine. It closes at noon.";
        check("Dogs [2].", of_leaf(70, 100, 142, leaf));
        let row = serde_json::json!([{
            "marker": 3, "relation": "orders", "key": "17", "quote": "status: shipped\ntotal: 49.90"
        }]);
        check("It costs 49.90 in total [3].", row.clone());
        check("It is on its way [3].", row);
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
    fn a_number_is_found_however_it_is_written() {
        let text = "It sold 11,000 sacks. It sold 12, 000 sacks. It sold 13,000 sacks.";
        for number in ["12,000", "12 000", "12000"] {
            let answer = format!("Sacks: {number} [1].");
            let found = citations(&answer, &[source(1, 0, text)], &mut || {});
            assert_eq!(found.citations[0].quote, "It sold 12, 000 sacks.", "{number}");
        }
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
        let spans: Vec<_> = found.iter().map(span).collect();
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
        assert_eq!(span(&found.citations[0]).1, i32::MAX);
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
                let (from, to) = span(&citation);
                let length = (to - from) as usize;
                let cut: String = document.chars().skip(from as usize).take(length).collect();
                prop_assert_eq!(&cut, &citation.quote);
                prop_assert!(from as usize >= start);
            }
            for unresolved in found.unresolved {
                let at = answer.chars().nth(unresolved.position as usize);
                prop_assert_eq!(at, Some('['));
            }
        }
    }
}
