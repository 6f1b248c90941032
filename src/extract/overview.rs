//! # overview: what is quoted where a question asks for the whole?
//!
//! ```text
//! (subject, sources) → the summary, row or heading that is meant;  sources → sentences that stand for them
//! ```
//!
//! No sentence answers such a question, so none is judged by how well it does. What stands for the whole has been chosen
//! before: the sentences of a summary. Where the question names a row, its summary is meant, and where it names a heading,
//! what stands under that. What is only mentioned is quoted where it is.

use std::cmp::Reverse;

use super::subject::{NamedHeading, WholeSubject};
use crate::chunk::HEADING_SEPARATOR;
use crate::retrieve::Passage;
use crate::source::{ChunkSpan, Original, Place, Source, SourceId, Summary, span_of};
use crate::text::code::open_fences;
use crate::text::fence::fence_of_lead;
use crate::tree::digest::{MOST_SENTENCES, QuotedSentence, digest, is_makeshift, quotable};

/// Most sentences of a paragraph where there are several.
const OF_PARAGRAPH: usize = 3;

/// Most headings whose sections are quoted.
const MOST_SECTIONS: usize = 3;

/// Fewest sentences that mention a subject of which they say enough to sum it up.
const ENOUGH: usize = 2;

/// What a subject is among sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectPlace<'a> {
    /// All that there is.
    Everything,
    /// The row of the source with this index.
    Row(usize),
    /// What stands under some headings, each of the row of the chunk with this index; one at least.
    Sections(Vec<(usize, &'a str)>),
    /// Something that they mention.
    Mentioned,
    /// Nothing that they know.
    Unknown,
}

/// A sentence that is quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeQuote {
    /// The source that it is of.
    pub source: SourceId,
    /// The chunk that it stands in.
    pub span: ChunkSpan,
    /// The sentence, and where it stands in that chunk.
    pub sentence: QuotedSentence,
}

impl WholeQuote {
    /// A sentence of a chunk.
    fn of_chunk(chunk: &Passage, sentence: QuotedSentence) -> WholeQuote {
        WholeQuote { source: SourceId::of_chunk(chunk), span: span_of(chunk), sentence }
    }

    /// The sentence with its place in `original`; `None` where it does not stand there: in another row, at another place, or
    /// cut off.
    #[must_use]
    pub fn sentence_in(&self, original: &Original<'_>) -> Option<QuotedSentence> {
        let Place::Chunk(other) = &original.place else { return None };
        let own = &self.span;
        let start = i64::from(own.start_char) + i64::from(self.sentence.chars.start);
        let start = u32::try_from(start - i64::from(other.start_char)).ok()?;
        let length = self.sentence.chars.end - self.sentence.chars.start;
        let text = original.text.chars().skip(start as usize).take(length as usize);
        let stands = own.row() == other.row() && text.eq(self.sentence.text.chars());
        stands.then(|| QuotedSentence { chars: start..start + length, ..self.sentence.clone() })
    }
}

/// What `subject` is among `sources`. `tables` are the names of the pipelines and of their tables, and `has_title` says of a
/// pipeline whether its rows have titles.
#[must_use]
pub fn place<'a>(
    subject: &WholeSubject,
    sources: &'a [Source],
    tables: &[String],
    has_title: &dyn Fn(&str) -> bool,
) -> SubjectPlace<'a> {
    let named = sources.iter().enumerate().filter(|(_, it)| is_named(it, subject));
    // "otter 2" shares a word with "otter 1", too.
    if let Some((row, _)) = named.min_by_key(|(_, it)| Reverse(shared_words(it, subject))) {
        return SubjectPlace::Row(row);
    }
    if subject.is_all() {
        return SubjectPlace::Everything;
    }
    let headings = headings(subject, sources);
    let exact = headings.iter().filter(|it| it.heading.is_exact);
    if let Some(depth) = exact.clone().map(|it| it.heading.depth).min() {
        return sections(exact.filter(|it| it.heading.depth == depth));
    }
    let is_called = |it: &Source| {
        it.chunk().is_some_and(|chunk| is_titled(chunk, subject, has_title(&chunk.pipeline)))
    };
    if let Some(row) = sources.iter().position(is_called) {
        return SubjectPlace::Row(row);
    }
    if tables.iter().any(|table| subject.is_table(table)) {
        return SubjectPlace::Everything;
    }
    match headings.is_empty() {
        false => sections(headings.iter()),
        true if subject.is_known_in(sources.iter().flat_map(texts)) => SubjectPlace::Mentioned,
        true => SubjectPlace::Unknown,
    }
}

/// A heading that a subject names, and the chunk that stands under it.
struct HeadingOfChunk<'a> {
    at: usize,
    chunk: &'a Passage,
    heading: NamedHeading<'a>,
}

/// The headings of chunks that `subject` names, those of the best chunks first.
fn headings<'a>(subject: &WholeSubject, sources: &'a [Source]) -> Vec<HeadingOfChunk<'a>> {
    let of_source = |(at, source): (usize, &'a Source)| {
        let chunk = source.chunk()?;
        let heading = subject.heading_in(chunk.heading.as_deref()?)?;
        Some(HeadingOfChunk { at, chunk, heading })
    };
    sources.iter().enumerate().filter_map(of_source).collect()
}

/// The first of some headings, each once.
fn sections<'a, 'b: 'a>(
    headings: impl Iterator<Item = &'a HeadingOfChunk<'b>>,
) -> SubjectPlace<'b> {
    let mut chosen: Vec<&HeadingOfChunk<'b>> = Vec::new();
    for it in headings {
        let is_there = |known: &&HeadingOfChunk<'b>| {
            let (one, other) = (known.chunk, it.chunk);
            let is_of_row = one.pipeline == other.pipeline && one.row() == other.row();
            is_of_row && known.heading.path == it.heading.path
        };
        if !chosen.iter().any(is_there) {
            chosen.push(it);
        }
    }
    chosen.truncate(MOST_SECTIONS);
    SubjectPlace::Sections(chosen.into_iter().map(|it| (it.at, it.heading.path)).collect())
}

/// Whether a subject is the title of a chunk's row, if it has one, or one of its values.
fn is_titled(chunk: &Passage, subject: &WholeSubject, has_title: bool) -> bool {
    let title = title(chunk).filter(|_| has_title);
    let values = chunk.metadata.as_object().into_iter().flat_map(|it| it.values());
    let mut names = title.into_iter().chain(values.filter_map(|it| it.as_str()));
    names.any(|name| subject.is_called(name))
}

/// Whether a source is of a row that the question names by its key, or by the file that it is from.
fn is_named(source: &Source, subject: &WholeSubject) -> bool {
    match source {
        Source::Summary(it) if it.documents == 1 => {
            let is_called = key(source).is_some_and(|key| subject.is_called(key));
            is_called || it.is_named && shared_words(source, subject) > 0
        }
        Source::Chunk(it) => subject.is_called(&it.source_key),
        Source::Summary(_) | Source::Rows(_) => false,
    }
}

/// How many words of `subject` the key of a source's row has.
fn shared_words(source: &Source, subject: &WholeSubject) -> usize {
    key(source).map_or(0, |key| subject.words_shared_with(key))
}

/// The key of the row that a chunk is of, or the first chunk of a summary.
fn key(source: &Source) -> Option<&str> {
    match source {
        Source::Summary(it) => it.leaves.first().map(|leaf| leaf.span.source_key.as_str()),
        Source::Chunk(it) => Some(it.source_key.as_str()),
        Source::Rows(_) => None,
    }
}

/// What the row of a chunk is called, where that stands above its headings.
fn title(chunk: &Passage) -> Option<&str> {
    let context = chunk.context.as_deref()?;
    let title = match chunk.heading.as_deref() {
        Some(heading) => context.strip_suffix(heading)?.strip_suffix(HEADING_SEPARATOR)?,
        None => context,
    };
    (!title.is_empty() && !title.starts_with('…')).then_some(title)
}

/// All that a source says, with what stands above it.
fn texts(source: &Source) -> impl Iterator<Item = &str> {
    let originals = source.originals().into_iter().map(|it| it.text);
    let above = source.heading().filter(|_| source.chunk().is_some());
    above.into_iter().chain(originals)
}

/// The sentences of the summaries among `sources` that stand for all that there is, a paragraph for each row, or one of all of
/// them together.
#[must_use]
pub fn of_everything(sources: &[Source]) -> Vec<Vec<WholeQuote>> {
    let summaries: Vec<&Summary> = summaries(sources).collect();
    let Some(first) = summaries.first() else { return Vec::new() };
    if first.documents > 1 {
        return vec![of_summary(first, MOST_SENTENCES)];
    }
    let mut rows: Vec<&str> = Vec::new();
    let mut chosen: Vec<&Summary> = Vec::new();
    for summary in summaries.into_iter().filter(|it| it.documents == 1) {
        let keys = || summary.leaves.iter().map(|leaf| leaf.span.source_key.as_str());
        if !keys().any(|key| rows.contains(&key)) {
            rows.extend(keys());
            chosen.push(summary);
        }
    }
    let most = if chosen.len() == 1 { MOST_SENTENCES } else { OF_PARAGRAPH };
    chosen.into_iter().map(|it| of_summary(it, most)).collect()
}

fn summaries(sources: &[Source]) -> impl Iterator<Item = &Summary> {
    sources.iter().filter_map(|source| match source {
        Source::Summary(it) => Some(it),
        Source::Chunk(_) | Source::Rows(_) => None,
    })
}

/// The sentences that stand for what a summary sums up, in their order, at most `most`.
#[must_use]
pub fn of_summary(summary: &Summary, most: usize) -> Vec<WholeQuote> {
    let mut sentences: Vec<(i64, QuotedSentence)> = Vec::new();
    for (leaf, it) in summary.leaves.iter().enumerate() {
        for quote in &it.quoted {
            let (first, length) = (quote.chars.start as usize, quote.chars.len());
            let text: String = it.content.chars().skip(first).take(length).collect();
            let (chars, is_makeshift) = (quote.chars.clone(), is_makeshift(&text));
            sentences.push((quote.no, QuotedSentence { leaf, chars, text, is_makeshift }));
        }
    }
    sentences.sort_by_key(|(no, _)| *no);
    let sentences = sentences.into_iter().map(|(_, sentence)| sentence).collect();
    let quote = |sentence: QuotedSentence| {
        let span = summary.leaves[sentence.leaf].span.clone();
        WholeQuote { source: id(summary), span, sentence }
    };
    digest(sentences, most, &mut || {}).into_iter().map(quote).collect()
}

fn id(summary: &Summary) -> SourceId {
    SourceId::Summary(summary.summary_id)
}

/// The sentences that stand for some chunks of a row, which follow each other. `interrupt` is called from time to time and may
/// unwind.
#[must_use]
pub fn of_section(chunks: &[Passage], interrupt: &mut dyn FnMut()) -> Vec<WholeQuote> {
    let pieces: Vec<(u32, &str)> =
        chunks.iter().map(|it| (it.start_char as u32, it.content.as_str())).collect();
    let mut sentences = Vec::new();
    for ((at, chunk), open) in chunks.iter().enumerate().zip(open_fences(&pieces)) {
        sentences.extend(quotable(at, &chunk.content, open.or(open_fence(chunk)), interrupt));
    }
    let quote = |sentence: QuotedSentence| {
        let chunk = &chunks[sentence.leaf];
        WholeQuote::of_chunk(chunk, QuotedSentence { leaf: 0, ..sentence })
    };
    digest(sentences, MOST_SENTENCES, interrupt).into_iter().map(quote).collect()
}

/// The fence of code that is open where a chunk begins, as far as what it goes on with tells.
fn open_fence(chunk: &Passage) -> Option<&str> {
    chunk.lead.as_deref().and_then(fence_of_lead)
}

/// The sentences that mention `subject`: those of the best summary where half of these do, or else those that stand for all
/// that do, in their order. `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn of_mentioned(
    subject: &WholeSubject,
    sources: &[Source],
    interrupt: &mut dyn FnMut(),
) -> Vec<WholeQuote> {
    let mentions = |it: &WholeQuote| subject.is_in(&it.sentence.text);
    let best = summaries(sources).next().map(|it| of_summary(it, MOST_SENTENCES));
    let of_subject = best.filter(|quotes| {
        let count = quotes.iter().filter(|it| mentions(it)).count();
        count >= ENOUGH && 2 * count >= quotes.len()
    });
    if let Some(quotes) = of_subject {
        return quotes;
    }
    let mut quotes: Vec<WholeQuote> =
        summaries(sources).flat_map(|it| of_summary(it, MOST_SENTENCES)).collect();
    for chunk in sources.iter().filter_map(Source::chunk) {
        interrupt();
        let sentences = quotable(0, &chunk.content, open_fence(chunk), interrupt);
        let sentences = sentences.into_iter().filter(|it| !it.is_makeshift);
        quotes.extend(sentences.map(|sentence| WholeQuote::of_chunk(chunk, sentence)));
    }
    quotes.retain(mentions);
    let numbered = quotes.iter().enumerate();
    let sentences = numbered.map(|(leaf, it)| QuotedSentence { leaf, ..it.sentence.clone() });
    let chosen = digest(sentences.collect(), MOST_SENTENCES, interrupt);
    chosen.into_iter().map(|it| quotes[it.leaf].clone()).collect()
}

/// Whether what mentions a subject says enough of it to be given without asking whether it answers.
#[must_use]
pub fn is_enough(quotes: &[WholeQuote]) -> bool {
    quotes.len() >= ENOUGH
}

/// Both paragraphs of a comparison; none where one says nothing or both say the same.
#[must_use]
pub fn compared(one: Vec<WholeQuote>, other: Vec<WholeQuote>) -> Vec<Vec<WholeQuote>> {
    match one.is_empty() || other.is_empty() || one == other {
        true => Vec::new(),
        false => shortened(vec![one, other]),
    }
}

/// Paragraphs, each of few sentences where there are several.
#[must_use]
pub fn shortened(mut paragraphs: Vec<Vec<WholeQuote>>) -> Vec<Vec<WholeQuote>> {
    if paragraphs.len() > 1 {
        paragraphs.iter_mut().for_each(|it| it.truncate(OF_PARAGRAPH));
    }
    paragraphs
}

#[cfg(test)]
mod tests;
