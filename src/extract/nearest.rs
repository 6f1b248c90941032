//! # nearest: has each word of the question a counterpart?
//!
//! ```text
//! (question, texts, embedder) → a vector a text; a cosine for each text and word of the question
//! ```
//!
//! "Founded" and "established" share no letters, and what a "who" asks for is a name. The
//! vectors that the model has for words in their sentence know of both. For each word of the
//! question the nearest word of a text is found, as late interaction does with tokens; words
//! are as good, and the model has but to be asked for the spans that it embeds anyway when it
//! embeds chunks in their documents.

use std::ops::Range;

use crate::embed::pooling::normalize;
use crate::embed::{Embedder, Spanned};
use crate::error::{Error, ErrorKind, Result};
use crate::text::words::word_places;
use crate::vector::dot_f32;

/// Words of a question that are looked for, and words of a text among which: an essay is not
/// compared with an essay.
const MOST_WORDS: usize = 64;
const MOST_WORDS_OF_TEXT: usize = 256;

/// Stands before a question. The vector of what a text begins with has that in it by which the
/// model marks a beginning, and the word that asks mostly comes first.
const MARK: &str = "\"";

/// A text, read by the model.
pub(super) struct EmbeddedText {
    /// The text's vector.
    pub vector: Vec<f32>,
    /// For each of the first [`MOST_WORDS`] words of the question, the cosine of its nearest word, or 0 where
    /// there is none.
    pub nearest: Vec<f32>,
    /// The sum of the cosines of all pairs of such a word and one of the text, and their number.
    pub pairs: (f32, usize),
}

/// Reads `texts` with `question`. Fails with [`ErrorKind::Unsupported`] where the model has no
/// vectors for words.
pub(super) fn read(
    question: &str,
    texts: &[String],
    embedder: &mut dyn Embedder,
) -> Result<Vec<EmbeddedText>> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let mut documents = vec![marked(question)];
    documents.extend(texts.iter().map(|text| {
        let whole = 0..text.len();
        let spans = [whole].into_iter().chain(word_spans(text, MOST_WORDS_OF_TEXT)).collect();
        Spanned { text: text.clone(), spans }
    }));
    let vectors = vectors(&documents, embedder)?;
    let (wanted, found) = vectors.split_at(documents[0].spans.len());
    let mut found = found.iter();
    let read = documents[1..].iter().map(|document| {
        let own: Vec<&Vec<f32>> = found.by_ref().take(document.spans.len()).collect();
        let cosines = |word: &Vec<f32>| -> Vec<f32> {
            own[1..].iter().map(|other| dot_f32(word, other) as f32).collect()
        };
        let cosines: Vec<Vec<f32>> = wanted.iter().map(cosines).collect();
        EmbeddedText {
            vector: own[0].clone(),
            nearest: cosines.iter().map(|of| nearest(of)).collect(),
            pairs: (cosines.iter().flatten().sum(), cosines.iter().flatten().count()),
        }
    });
    Ok(read.collect())
}

/// The question, up to the last word that is looked for, behind a [`MARK`].
fn marked(question: &str) -> Spanned {
    let spans = word_spans(question, MOST_WORDS);
    let end = match spans.last() {
        Some(last) if spans.len() == MOST_WORDS => last.end,
        _ => question.len(),
    };
    let moved = |word: Range<usize>| word.start + MARK.len()..word.end + MARK.len();
    let text = format!("{MARK}{}", &question[..end]);
    Spanned { text, spans: spans.into_iter().map(moved).collect() }
}

fn word_spans(text: &str, most: usize) -> Vec<Range<usize>> {
    let words = word_places(text).take(most);
    words.map(|(start, word)| start..start + word.len()).collect()
}

/// The vectors of all spans, of length 1.
fn vectors(documents: &[Spanned], embedder: &mut dyn Embedder) -> Result<Vec<Vec<f32>>> {
    let mut vectors = embedder.embed_in_place(documents)?;
    let spans: usize = documents.iter().map(|document| document.spans.len()).sum();
    if vectors.len() != spans {
        let message = format!("{} vectors for {spans} places", vectors.len());
        return Err(Error::new(ErrorKind::Internal, message));
    }
    vectors.iter_mut().for_each(|vector| normalize(vector));
    Ok(vectors)
}

/// The greatest of `cosines`, or 0.
fn nearest(cosines: &[f32]) -> f32 {
    cosines.iter().copied().reduce(f32::max).unwrap_or(0.0)
}
