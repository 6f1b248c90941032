//! # similarity: what does the model say?
//!
//! ```text
//! (candidates, passages, embedder) → similarities with the question, as far as they matter
//! ```
//!
//! Embedding is what an answer costs. The score without it, from words and from the
//! passages' similarity, is good enough to choose by: with a dozen candidates embedded the
//! answers are nearly as good as with all. One pass of the model over a candidate gives its
//! vector and those of its words.
//!
//! Where the model has a reader, that reads the question with one of the most promising passages after the other instead, and
//! says of all their candidates whether they answer. Once it is sure of one, it reads on only where a candidate may add to that.

use std::ops::Range;

use super::as_written::as_written;
use super::candidates::{Candidates, UnitCandidate};
use super::gain::SureCandidates;
use super::nearest::{EmbeddedText, read};
use super::score::{best_first, scores};
use super::{ExtractOptions, ExtractPassage};
use crate::embed::calibration::{Calibration, CosineRange};
use crate::embed::reader::{SpanScores, opening};
use crate::embed::{Embedder, EmbeddingKind, Spanned};
use crate::error::{Error, ErrorKind, Result};
use crate::text::length::{is_within, length};
use crate::vector::cosine;

/// Least standard deviation that cosines of a question are taken to have, so that rounding is no signal.
const LEAST_DEVIATION: f32 = 0.005;

/// Standard deviations that make 1 on the common scale where a model's range is not known.
const DEVIATIONS: f32 = 4.0;

/// How much of a passage is read, by its [`length`]: some 700 tokens of English, and 550 to 1,050 of other languages. Chunks of the
/// usual sizes are read as a whole, of longer ones the most promising part.
const MOST_READ: usize = 3000;

/// Similarities with the question, on the scale of the model's [`Calibration`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Similarities {
    /// That of each passage.
    pub passages: Vec<f32>,
    /// That of each candidate, where it was embedded.
    pub candidates: Vec<Option<f32>>,
    /// For each candidate and each word of the question, that of the nearest word, from 0 to 1; none where
    /// the candidate was not embedded or the model has no vectors for words.
    pub nearest: Vec<Option<Vec<f32>>>,
    /// What the reader says of each candidate, where it has read its passage; then no candidate is embedded.
    pub span_scores: Vec<Option<SpanScores>>,
}

/// How much is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelBudget {
    /// Most candidates that are embedded.
    pub embedded: usize,
    /// Most passages that are read.
    pub read: usize,
    /// Whether more are read while all are short.
    pub reads_short: bool,
    /// Log odds from which on a reader is sure that a candidate answers.
    pub sure: f32,
}

impl ModelBudget {
    /// What `options` allow.
    pub fn of(options: &ExtractOptions) -> ModelBudget {
        ModelBudget {
            embedded: options.max_embedded,
            read: options.max_read,
            reads_short: options.reads_short,
            sure: options.sure,
        }
    }
}

/// Embeds the passages whose similarity is not known, has the most promising of them read, or else embeds the
/// question and the most promising candidates.
pub(super) fn similarities(
    candidates: &Candidates,
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
    (calibration, budget): (&Calibration, ModelBudget),
) -> Result<Similarities> {
    let mut known = Similarities {
        passages: on_scale(calibration.texts, of_passages(candidates, passages, embedder)?),
        candidates: vec![None; candidates.all.len()],
        nearest: vec![None; candidates.all.len()],
        span_scores: vec![None; candidates.all.len()],
    };
    let mut promising = best_first(&scores(candidates, &known, calibration));
    if calibration.reader.is_some() && budget.read > 0 {
        let chosen = promising_stretches(candidates, passages, &promising, budget);
        let scores = read_until_sure(candidates, passages, (&chosen, budget.sure), embedder)?;
        if let Some(scores) = scores {
            known.span_scores = scores;
            return Ok(known);
        }
    }
    let question = vector_of(candidates, embedder)?;
    promising.truncate(budget.embedded);
    let texts: Vec<String> =
        promising.iter().map(|index| candidates.all[*index].reading.clone()).collect();
    match read(&candidates.question.text, &texts, embedder) {
        Ok(found) => known.add_read(&question, (&promising, found), calibration),
        // Models behind a server, and those that pool otherwise, have vectors of texts alone.
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            known
                .add(&promising, on_scale(calibration.texts, cosines(&question, texts, embedder)?));
        }
        Err(error) => return Err(error),
    }
    Ok(known)
}

/// Finds [`similarities`] and changes the candidates by them: a definition or an announcement that the reader doubts counts as any
/// other piece from then on.
pub(super) fn similarities_and_doubts(
    candidates: &mut Candidates,
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
    model: (&Calibration, ModelBudget),
) -> Result<Similarities> {
    let similarities = similarities(candidates, passages, embedder, model)?;
    candidates.doubt(&similarities.span_scores);
    Ok(similarities)
}

impl Similarities {
    /// Whether a reader has read the candidate, or its words were compared with those of the question.
    pub fn is_looked_at(&self, index: usize) -> bool {
        self.nearest[index].is_some() || self.span_scores[index].is_some()
    }

    fn add(&mut self, indexes: &[usize], similarities: Vec<f32>) {
        for (index, similarity) in indexes.iter().zip(similarities) {
            self.candidates[*index] = Some(similarity);
        }
    }

    fn add_read(
        &mut self,
        question: &[f32],
        (indexes, found): (&[usize], Vec<EmbeddedText>),
        calibration: &Calibration,
    ) {
        let cosines = found.iter().map(|it| cosine(question, &it.vector) as f32).collect();
        self.add(indexes, on_scale(calibration.texts, cosines));
        let words = calibration.words.unwrap_or_else(|| word_range(&found));
        for (index, text) in indexes.iter().zip(found) {
            let nearest = text.nearest.iter().map(|it| words.scaled(*it).clamp(0.0, 1.0));
            self.nearest[*index] = Some(nearest.collect());
        }
    }
}

/// Cosines on the common scale. Where it is not known what they mean, the mean of these is 0, and those
/// that stand out are told by how far they do.
fn on_scale(range: Option<CosineRange>, cosines: Vec<f32>) -> Vec<f32> {
    let range = range.unwrap_or_else(|| {
        let count = cosines.len().max(1) as f32;
        let mean = cosines.iter().sum::<f32>() / count;
        let variance = cosines.iter().map(|it| (it - mean).powi(2)).sum::<f32>() / count;
        let deviation = variance.sqrt().max(LEAST_DEVIATION);
        CosineRange { unrelated: mean, related: mean + DEVIATIONS * deviation }
    });
    cosines.into_iter().map(|cosine| range.scaled(cosine)).collect()
}

/// What words have in common that have nothing in common: nearly all pairs of a word of the question and
/// one of the texts are such.
fn word_range(found: &[EmbeddedText]) -> CosineRange {
    let (sum, count) =
        found.iter().fold((0.0, 0), |all, it| (all.0 + it.pairs.0, all.1 + it.pairs.1));
    // Of words that are all alike none is nearer than another.
    CosineRange { unrelated: (sum / count.max(1) as f32).min(0.99), related: 1.0 }
}

/// A part of a passage that is read.
struct PassageStretch {
    passage: usize,
    /// The candidates in it, by index.
    candidates: Range<usize>,
    /// Where it stands in the passage's content, in bytes.
    bytes: Range<usize>,
}

/// What is to be read of as many passages as `budget` allows, those that have the most promising candidates, and of further
/// ones while all are short: together no longer than [`MOST_READ`]. `order` has the indexes of the candidates, the most
/// promising first.
fn promising_stretches(
    candidates: &Candidates,
    passages: &[ExtractPassage],
    order: &[usize],
    budget: ModelBudget,
) -> Vec<PassageStretch> {
    let mut stretches: Vec<PassageStretch> = Vec::new();
    let mut so_far = 0;
    for &best in order {
        let passage = candidates.all[best].passage;
        if stretches.iter().any(|it| it.passage == passage) {
            continue;
        }
        let of_passage = candidates.of_passage[passage].clone();
        let content = passages[passage].content;
        let stretch = match is_within(content, MOST_READ) {
            true => PassageStretch { passage, candidates: of_passage, bytes: 0..content.len() },
            false => stretch_around(candidates, content, of_passage, best),
        };
        so_far += length(&content[stretch.bytes.clone()]);
        let is_short = budget.reads_short && so_far <= MOST_READ;
        if stretches.len() >= budget.read && !is_short {
            break;
        }
        stretches.push(stretch);
    }
    stretches
}

/// The candidate `best` with as many of its passage around it as [`MOST_READ`] allows, as many behind it
/// as before it. The passage has this `content`.
fn stretch_around(
    candidates: &Candidates,
    content: &str,
    of_passage: Range<usize>,
    best: usize,
) -> PassageStretch {
    let bytes = |within: &Range<usize>| {
        let units = candidates.all[within.clone()].iter().map(|it| it.unit.range());
        units.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or_default()
    };
    let mut within = best..best + 1;
    loop {
        let behind = within.start..within.end + 1;
        let before = within.start.saturating_sub(1)..within.end;
        let fits = |wider: &Range<usize>| {
            let is_inside = of_passage.start <= wider.start && wider.end <= of_passage.end;
            *wider != within && is_inside && is_within(&content[bytes(wider)], MOST_READ)
        };
        let goes_on = [behind, before].map(|wider| fits(&wider));
        if !goes_on.contains(&true) {
            break;
        }
        within.end += usize::from(goes_on[0]);
        let before = within.start.saturating_sub(1)..within.end;
        if goes_on[1] && is_within(&content[bytes(&before)], MOST_READ) {
            within = before;
        }
    }
    PassageStretch {
        passage: candidates.all[best].passage,
        bytes: bytes(&within),
        candidates: within,
    }
}

/// What the reader says of each candidate that it has read, where it reads one of `stretches` after the other, and from when on it
/// is `sure` of a candidate only those that may add to it; `None` where there is no reader.
fn read_until_sure(
    candidates: &Candidates,
    passages: &[ExtractPassage],
    (stretches, sure): (&[PassageStretch], f32),
    embedder: &mut dyn Embedder,
) -> Result<Option<Vec<Option<SpanScores>>>> {
    let mut scores = vec![None; candidates.all.len()];
    let mut known = SureCandidates::none_of(candidates);
    let mut unread: Vec<&PassageStretch> = stretches.iter().collect();
    let may_gain = |known: &SureCandidates, stretch: &PassageStretch| {
        stretch.candidates.clone().any(|index| known.may_gain_by(index))
    };
    while let Some(next) = unread.iter().position(|stretch| may_gain(&known, stretch)) {
        let stretch = unread.remove(next);
        let Some(read) = span_scores(candidates, passages, stretch, embedder)? else {
            return Ok(None);
        };
        for (index, read) in stretch.candidates.clone().zip(read) {
            scores[index] = Some(read);
            if read.evidence >= sure {
                known.add(index);
            }
        }
    }
    Ok(Some(scores))
}

/// What the reader says of each candidate of `stretch`, which it sees between the others, under the heading of their
/// passage; `None` where there is no reader.
fn span_scores(
    candidates: &Candidates,
    passages: &[ExtractPassage],
    stretch: &PassageStretch,
    embedder: &mut dyn Embedder,
) -> Result<Option<Vec<SpanScores>>> {
    let passage = &passages[stretch.passage];
    let opening = opening(passage.heading);
    let place = |it: &UnitCandidate| {
        let Range { start, end } = it.unit.range();
        let moved = |at: usize| opening.len() + at - stretch.bytes.start;
        moved(start)..moved(end)
    };
    let spans: Vec<Range<usize>> =
        candidates.all[stretch.candidates.clone()].iter().map(place).collect();
    let count = spans.len();
    let text = Spanned { text: opening.clone() + &passage.content[stretch.bytes.clone()], spans };
    let question = as_written(&candidates.question.text, &text.text);
    let found = match embedder.score_spans(&question, &[text]) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(None),
        Err(error) => return Err(error),
    };
    if found.len() != count {
        let message = format!("{} scores for {count} places", found.len());
        return Err(Error::new(ErrorKind::Internal, message));
    }
    Ok(Some(found))
}

fn vector_of(candidates: &Candidates, embedder: &mut dyn Embedder) -> Result<Vec<f32>> {
    let question = vec![candidates.question.text.clone()];
    Ok(embed(&question, EmbeddingKind::Query, embedder)?.swap_remove(0))
}

fn of_passages(
    candidates: &Candidates,
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
) -> Result<Vec<f32>> {
    let unknown = passages.iter().filter(|passage| passage.dense_similarity.is_none());
    let texts: Vec<String> = unknown.map(|passage| passage.content.to_string()).collect();
    let mut embedded = match texts.is_empty() {
        true => Vec::new(),
        false => cosines(&vector_of(candidates, embedder)?, texts, embedder)?,
    }
    .into_iter();
    let similarities = passages.iter().map(|passage| match passage.dense_similarity {
        Some(similarity) => as_cosine(similarity),
        None => embedded.next().unwrap_or_default(),
    });
    Ok(similarities.collect())
}

fn cosines(question: &[f32], texts: Vec<String>, embedder: &mut dyn Embedder) -> Result<Vec<f32>> {
    let vectors = embed(&texts, EmbeddingKind::Passage, embedder)?;
    Ok(vectors.iter().map(|vector| cosine(question, vector) as f32).collect())
}

/// The vectors of `texts`, as many as there are texts.
fn embed(
    texts: &[String],
    kind: EmbeddingKind,
    embedder: &mut dyn Embedder,
) -> Result<Vec<Vec<f32>>> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let vectors = embedder.embed(texts, kind)?;
    if vectors.len() == texts.len() {
        return Ok(vectors);
    }
    let message = format!("{} vectors for {} texts", vectors.len(), texts.len());
    Err(Error::new(ErrorKind::Internal, message))
}

/// From -1 to 1, whatever a caller or rounding made of it; 0 if it is no number.
fn as_cosine(similarity: f32) -> f32 {
    if similarity.is_nan() { 0.0 } else { similarity.clamp(-1.0, 1.0) }
}
