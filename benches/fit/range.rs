//! Where the cosines of a model lie.

use pg_rag::embed::calibration::CosineRange;
use pg_rag::embed::{Embedder, EmbeddingKind, Spanned};
use unicode_segmentation::UnicodeSegmentation;

use crate::observe::{FitSet, Model};

/// Questions of each set that are looked at.
const SAMPLE: usize = 40;

/// Passages of another question that each is compared with.
const STRANGERS: usize = 10;

/// Of texts: the mean cosine of questions with passages that they have nothing to do with, and
/// with those that answer them.
pub fn texts(models: &mut [Model]) -> CosineRange {
    let (mut unrelated, mut related) = (Vec::new(), Vec::new());
    for model in models {
        for set in &model.sets {
            let count = set.set.passages.len();
            for (at, question) in sample(set) {
                let query =
                    model.embedder.vector(&set.set.questions[at].text, EmbeddingKind::Query);
                let cosine = |passage: usize| {
                    let source = &set.set.passages[passage];
                    let text = match source.title.is_empty() {
                        true => source.text.clone(),
                        false => format!("{}. {}", source.title, source.text),
                    };
                    dot(&query, &model.embedder.vector(&text, EmbeddingKind::Passage))
                };
                related.extend(question.gold.iter().map(|passage| cosine(*passage)));
                let strangers = (1..=STRANGERS).map(|it| (at + it * 997) % count);
                unrelated.extend(strangers.filter(|it| !question.gold.contains(it)).map(cosine));
            }
        }
    }
    CosineRange { unrelated: mean(&unrelated), related: mean(&related) }
}

/// Of words: the mean cosine of all pairs of a word of a question and one of another; a word is
/// related to itself.
pub fn words(models: &mut [Model]) -> CosineRange {
    let mut cosines = Vec::new();
    for model in models {
        for set in &model.sets {
            let texts: Vec<Spanned> =
                sample(set).map(|(_, question)| spanned(&question.text)).collect();
            let Ok(vectors) = model.embedder.embed_in_place(&texts) else { continue };
            let mut vectors = vectors.into_iter();
            let of: Vec<Vec<Vec<f32>>> = texts
                .iter()
                .map(|text| vectors.by_ref().take(text.spans.len()).map(normalized).collect())
                .collect();
            for pair in of.windows(2) {
                let of_word =
                    |word: &Vec<f32>| pair[1].iter().map(|it| dot(word, it)).collect::<Vec<_>>();
                cosines.extend(pair[0].iter().flat_map(of_word));
            }
        }
    }
    CosineRange { unrelated: mean(&cosines), related: 1.0 }
}

fn sample(set: &FitSet) -> impl Iterator<Item = (usize, &crate::data::Judged)> {
    let fitted = set.set.questions.iter().enumerate().filter(|(_, it)| it.is_fitted);
    fitted.filter(|(_, it)| it.is_answerable).take(SAMPLE)
}

/// The words of a text behind a mark: what a text begins with has a vector of its own kind.
fn spanned(text: &str) -> Spanned {
    let text = format!("\"{text}");
    let spans = text.unicode_word_indices().map(|(start, word)| start..start + word.len());
    let spans = spans.collect();
    Spanned { text, spans }
}

fn normalized(mut vector: Vec<f32>) -> Vec<f32> {
    pg_rag::embed::pooling::normalize(&mut vector);
    vector
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len().max(1) as f32
}
