//! The built-in answerer: quotes, and nothing of its own.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::json;

use super::Writing;
use crate::answer::citation::{Citation, Citations};
use crate::answer::draft::Draft;
use crate::context::Reading;
use crate::error::Result;
use crate::extract::gist::{GistOptions, gist, told};
use crate::extract::overview::WholeQuote;
use crate::extract::{self, Evidence, ExtractOptions, ExtractPassage};
use crate::pg::derivation::mentions::look_around;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::trace;
use crate::source::{Original, Source};
use crate::tree::digest::QuotedSentence;

/// The sentences that answer `question`, by the embedding model of this name. A summary says what its chunks say, and where
/// one of these answers, it would look as if the answer stood in two places: so chunks alone are asked where there are any.
pub fn extract(
    question: &str,
    readings: Vec<Reading>,
    (model, context): (&str, CallContext),
    writing: &Writing,
) -> Result<Draft> {
    let mut embedding = Embedding::with_model(Some(model), context)?;
    let is_summary = |it: &Reading| matches!(it.source, Source::Summary(_));
    let are_all_summaries = readings.iter().all(is_summary);
    let asked = readings.iter().enumerate().filter(|(_, it)| are_all_summaries || !is_summary(it));
    let originals: Vec<LedOriginal<'_>> = asked.flat_map(originals_of).collect();
    let found: Vec<ExtractPassage<'_>> =
        originals.iter().map(|it| passage(it, &readings)).collect();
    let defaults = ExtractOptions::default();
    let options = ExtractOptions {
        threshold: writing.min_confidence.unwrap_or(defaults.threshold),
        max_sentences: writing.max_sentences.unwrap_or(defaults.max_sentences),
        max_read: writing.most_read.map_or(defaults.max_read, |most| most as usize),
        reads_short: writing.most_read.is_none(),
        format: writing.trust.format(),
        ..defaults
    };
    let extract = extract::extract(question, &found, &mut embedding, &options)?;
    let evidence = extract.evidence.iter().filter(|_| extract.supported);
    let citations: Vec<Citation> = evidence.map(|it| citation(it, &originals)).collect();
    trace::rows(citations.len());
    trace::remark(|| {
        format!("confidence {:.2}, threshold {}", extract.confidence, options.threshold)
    });
    Ok(Draft {
        text: extract.answer,
        formed: None,
        supported: extract.supported,
        confidence: Some(extract.confidence),
        citations: Some(Citations { citations, unresolved: Vec::new() }),
        usage: json!({}),
        readings,
    })
}

/// The sentences that stand for what is asked, a paragraph each; `None` where nothing of them was read.
pub fn quoted(
    readings: &[Reading],
    paragraphs: &[Vec<WholeQuote>],
    writing: &Writing,
) -> Option<Draft> {
    let originals: Vec<LedOriginal<'_>> =
        readings.iter().enumerate().flat_map(originals_of).collect();
    let passages: Vec<ExtractPassage<'_>> =
        originals.iter().map(|it| passage(it, readings)).collect();
    let sentence = |quote: &WholeQuote| {
        // A source that is left out or cut may stand in another one, as a summary of one chunk does in that.
        let reading = readings.iter().position(|it| it.source.id() == quote.source);
        let is_read = |it: &LedOriginal<'_>| reading.is_none_or(|reading| it.reading == reading);
        originals.iter().enumerate().filter(|(_, it)| is_read(it)).find_map(|(leaf, it)| {
            Some(QuotedSentence { leaf, ..quote.sentence_in(&it.original)? })
        })
    };
    let of_paragraph =
        |quotes: &Vec<WholeQuote>| quotes.iter().filter_map(sentence).collect::<Vec<_>>();
    let sentences = paragraphs.iter().map(of_paragraph).collect();
    let (text, evidence) = told(&passages, sentences, gist_options(writing));
    let citations: Vec<Citation> = evidence.iter().map(|it| citation(it, &originals)).collect();
    if citations.is_empty() {
        return None;
    }
    trace::rows(citations.len());
    trace::remark(|| "the whole is asked for, no threshold".to_owned());
    Some(in_gist(text, citations, readings.to_vec()))
}

/// The sentences that stand for what was read, whatever is asked: a paragraph for each of `groups` of the readings.
pub fn digested(readings: Vec<Reading>, groups: &[Range<usize>], writing: &Writing) -> Draft {
    let originals: Vec<LedOriginal<'_>> =
        readings.iter().enumerate().flat_map(originals_of).collect();
    let passages: Vec<ExtractPassage<'_>> =
        originals.iter().map(|it| passage(it, &readings)).collect();
    let place = |reading: usize| originals.partition_point(|it| it.reading < reading);
    let groups: Vec<Range<usize>> =
        groups.iter().map(|group| place(group.start)..place(group.end)).collect();
    let (text, evidence) = gist(&passages, &groups, gist_options(writing), &mut look_around);
    let citations: Vec<Citation> = evidence.iter().map(|it| citation(it, &originals)).collect();
    trace::rows(citations.len());
    in_gist(text, citations, readings)
}

fn gist_options(writing: &Writing) -> GistOptions {
    GistOptions {
        max_sentences: writing.max_sentences.unwrap_or(usize::MAX),
        format: writing.trust.format(),
    }
}

/// What was quoted for its own sake: nothing says how likely it is an answer.
fn in_gist(text: String, citations: Vec<Citation>, readings: Vec<Reading>) -> Draft {
    Draft {
        text,
        formed: None,
        supported: !citations.is_empty(),
        confidence: None,
        citations: Some(Citations { citations, unresolved: Vec::new() }),
        usage: json!({}),
        readings,
    }
}

/// A text that can be quoted, as it is read.
struct LedOriginal<'a> {
    /// The index of its reading.
    reading: usize,
    original: Original<'a>,
    /// What it goes on with, and then the text: rows with the header of their table.
    text: Cow<'a, str>,
}

impl LedOriginal<'_> {
    /// How many bytes stand before the text that can be quoted.
    fn lead(&self) -> usize {
        self.text.len() - self.original.text.len()
    }
}

/// The texts of a reading that can be quoted.
fn originals_of<'a>((reading, it): (usize, &'a Reading)) -> Vec<LedOriginal<'a>> {
    let led = |original: Original<'a>| {
        let text = match it.source.lead() {
            Some(lead) => Cow::Owned(format!("{lead}{}", original.text)),
            None => Cow::Borrowed(original.text),
        };
        LedOriginal { reading, original, text }
    };
    it.source.originals().into_iter().map(led).collect()
}

/// An original as the extractor reads it, with the number of its reading.
fn passage<'a>(it: &'a LedOriginal<'a>, readings: &'a [Reading]) -> ExtractPassage<'a> {
    let source = &readings[it.reading].source;
    ExtractPassage {
        number: it.reading as u32 + 1,
        content: &it.text,
        lead: it.lead(),
        heading: source.heading(),
        is_beginning: source.chunk().is_some_and(|it| it.start_char == 0),
        dense_similarity: source.similarity().map(|value| value as f32),
    }
}

/// What a piece of evidence cites, exactly: as much of it as stands in the text itself.
fn citation(evidence: &Evidence, originals: &[LedOriginal<'_>]) -> Citation {
    let it = &originals[evidence.passage];
    let in_text = |at: usize| at.saturating_sub(it.lead());
    let bytes = in_text(evidence.bytes.start)..in_text(evidence.bytes.end);
    let quote = it.original.text[bytes.clone()].to_owned();
    Citation { marker: it.reading as i32 + 1, place: it.original.place_of(bytes), quote }
}
