//! Which of some short texts speak of a question, by their words and by their vectors: names of tables, and questions that
//! were asked before.

use pgrx::check_for_interrupts;

use super::call_context::CallContext;
use super::embed::Embedding;
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{ErrorKind, Result};
use crate::text::lexical_score::{AskedWords, WeighedWords};
use crate::vector::cosine;

/// Most texts that are embedded, those with the best words: ragd remembers their vectors, and takes about a second
/// for them the first time.
const MOST_EMBEDDED: usize = 64;

/// Errors of a model that is not there, or is none for this. Words do without one. One that is there, but for which there
/// is no memory now, is an error: the same question would be answered otherwise a moment later.
const NO_MODEL: [ErrorKind; 6] = [
    ErrorKind::UndefinedObject,
    ErrorKind::Forbidden,
    ErrorKind::WrongObjectType,
    ErrorKind::FileUnavailable,
    ErrorKind::FileCorrupted,
    ErrorKind::ModelFailed,
];

/// A score for each text: that of its words, and of the likeness of its vector to the question's where a model on this
/// machine can tell. `sentence` says what the text at a place means.
pub fn scores(
    question: &str,
    asked: &AskedWords,
    words: &[WeighedWords],
    sentence: &dyn Fn(usize) -> String,
    context: &CallContext,
) -> Result<Vec<f64>> {
    let mut look = || {
        check_for_interrupts!();
    };
    let mut scores = asked.scores(words, &mut look);
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order.truncate(MOST_EMBEDDED);
    let similarities = match similarities(question, &order, sentence, context) {
        Err(error) if NO_MODEL.contains(&error.kind()) => Vec::new(),
        similarities => similarities?,
    };
    for (place, similarity) in order.into_iter().zip(similarities) {
        scores[place] += similarity;
    }
    Ok(scores)
}

/// `examples` of how a question is dealt with, the most like `question` first, by the questions that they are for.
pub fn nearest<Example>(
    question: &str,
    examples: Vec<Example>,
    asked_of: impl Fn(&Example) -> &str,
) -> Result<Vec<Example>> {
    if examples.len() < 2 {
        return Ok(examples);
    }
    let words: Vec<WeighedWords> =
        examples.iter().map(|it| WeighedWords::of_text(asked_of(it))).collect();
    let sentence = |place: usize| asked_of(&examples[place]).to_owned();
    let (asked, context) = (AskedWords::of(question), CallContext::query());
    let scores = scores(question, &asked, &words, &sentence, &context)?;
    let mut scored: Vec<(f64, Example)> = scores.into_iter().zip(examples).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(scored.into_iter().map(|(_, example)| example).collect())
}

/// How near each text is to the question, from 0 for the farthest to 1 for the nearest; none where the model of
/// `rag.embedding_model` is behind a server, to which these texts would have to be sent: names of tables, or questions that
/// others have asked. Each text is embedded by itself, since ragd remembers the vectors of single texts for all sessions.
fn similarities(
    question: &str,
    places: &[usize],
    sentence: &dyn Fn(usize) -> String,
    context: &CallContext,
) -> Result<Vec<f64>> {
    let mut embedding = Embedding::with_model(None, *context)?;
    if embedding.is_remote() {
        return Ok(Vec::new());
    }
    let asked = embedding.embed(&[question.to_owned()], EmbeddingKind::Query)?;
    let mut cosines = Vec::with_capacity(places.len());
    for place in places {
        check_for_interrupts!();
        let vector = embedding.embed(&[sentence(*place)], EmbeddingKind::Passage)?;
        cosines.push(cosine(&asked[0], &vector[0]));
    }
    let (least, most) =
        cosines.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| {
            (least.min(*it), most.max(*it))
        });
    let range = most - least;
    let scaled = |it: f64| if range > 0.0 { (it - least) / range } else { 0.0 };
    Ok(cosines.into_iter().map(scaled).collect())
}
