//! A vector of the caller's in the place of a question, or beside one.

use super::federation::FederatedPipeline;
use super::options::AskedOptions;
use super::request::required_question;
use super::search::SoughtQuestion;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::vector::Vector;
use crate::retrieve::SearchMode;
use crate::rewrite::RewriteMethod;

/// The question `text`, with `vector` in the place of its own where there is one. With a vector the question may be left
/// out.
///
/// Fails where there is neither, and where the vector has no direction or a length that cannot be reckoned with.
pub fn sought<'a>(text: Option<&'a str>, vector: Option<&'a Vector>) -> Result<SoughtQuestion<'a>> {
    let Some(Vector(elements)) = vector else {
        if text.is_none() {
            return Err(nothing_asked());
        }
        return required_question(text).map(SoughtQuestion::asked);
    };
    check_length(elements)?;
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or_default();
    Ok(SoughtQuestion { vector, ..SoughtQuestion::asked(text) })
}

/// Whether a rewrite does more than to look for other words.
fn is_useful(way: RewriteMethod) -> bool {
    matches!(way, RewriteMethod::SelfQuery | RewriteMethod::Prf)
}

fn nothing_asked() -> Error {
    Error::new(ErrorKind::NullNotAllowed, "there is neither a question nor a query_vector")
        .hint("Ask something, for instance 'How do I reset a password?'. A query_vector of a query is NULL where that finds nothing.")
}

/// An error where pgvector, which adds up squares as `real`, gets none of them right.
fn check_length(elements: &[f32]) -> Result<()> {
    let square: f64 = elements.iter().map(|it| f64::from(*it) * f64::from(*it)).sum();
    let what = match square {
        0.0 => "has the length 0, and so no direction",
        _ if square < f64::from(f32::MIN_POSITIVE) => {
            "is shorter than 1.1e-19, too short to be compared"
        }
        _ if square > f64::from(f32::MAX) => "is longer than 1.8e19, too long to be compared",
        _ => return Ok(()),
    };
    Err(Error::invalid(format!("query_vector {what}"))
        .hint("Scale it to the length 1, as embedding models make vectors."))
}

/// Has each of `pipelines` look for the vector of the caller's, if there is one.
///
/// Fails where they have different models, or their options leave the vector no place.
pub fn fit(question: &SoughtQuestion<'_>, pipelines: &mut [FederatedPipeline]) -> Result<()> {
    if question.vector.is_none() {
        return Ok(());
    }
    check_models(pipelines)?;
    for FederatedPipeline { options, .. } in pipelines {
        if options.options.retrieve.mode == Some(SearchMode::Lexical) {
            let refused = Err(Error::invalid("the mode lexical looks up no query_vector")
                .hint("Ask in the mode dense, or hybrid where there is a question, too."));
            return options.named(&["retrieve.mode"], refused);
        }
        if question.text.is_empty() {
            check_needs_no_words(options)?;
            options.options.retrieve.mode = Some(SearchMode::Dense);
        }
        let retrieve = &mut options.options.retrieve;
        let looks_up_words = retrieve.mode != Some(SearchMode::Dense);
        // A language model would be asked for words that nobody looks up.
        retrieve.rewrite.way = retrieve.rewrite.way.filter(|way| looks_up_words || is_useful(*way));
    }
    Ok(())
}

/// An error where the pipelines have different models: a vector is of one.
fn check_models(pipelines: &[FederatedPipeline]) -> Result<()> {
    let mut all = pipelines.iter().map(|it| &it.searched.pipeline);
    let Some(first) = all.next() else { return Ok(()) };
    match all.find(|it| it.model != first.model) {
        None => Ok(()),
        Some(other) => {
            let message = format!(
                "query_vector is of one model, and pipeline \"{}\" has \"{}\", but \"{}\" has \"{}\"",
                first.name, first.model, other.name, other.model
            );
            Err(Error::invalid(message).hint("Name pipelines of one model."))
        }
    }
}

/// An error where words are needed of a question that there is not.
fn check_needs_no_words(options: &AskedOptions) -> Result<()> {
    let retrieve = &options.options.retrieve;
    let needs_words = |what: &str, name: &str| {
        let message = format!("{what} \"{name}\" reads a question, and there is none");
        Err(Error::invalid(message)
            .hint(format!("Give the question beside query_vector, or {what} => 'none'.")))
    };
    if let Some(way) = retrieve.rewrite.way.filter(|way| *way != RewriteMethod::Prf) {
        return options.named(&["retrieve.rewrite"], needs_words("rewrite", way.name()));
    }
    match retrieve.reranker() {
        None => Ok(()),
        Some(name) => options.named(&["retrieve.rerank"], needs_words("rerank", name)),
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::prelude::*;

    use super::*;

    #[pg_extern]
    fn a_question_may_be_left_out_beside_a_vector() {
        let vector = Vector(vec![0.0, 1.0]);
        let check = |text: Option<&str>, sought_for: &str| {
            assert_eq!(sought(text, Some(&vector)).unwrap().text, sought_for);
        };
        check(None, "");
        check(Some(" \n"), "");
        check(Some("Why?"), "Why?");
        assert!(sought(None, None).is_err() && sought(Some(" "), None).is_err());
    }

    #[pg_extern]
    fn a_vector_must_have_a_direction() {
        let check = |elements: Vec<f32>, end: &str| {
            let error = sought(Some("Why?"), Some(&Vector(elements))).unwrap_err();
            assert!(error.message().ends_with(end), "{error}");
        };
        check(vec![0.0; 3], "no direction");
        check(vec![3e30, 4e30], "too long to be compared");
        // The square of each is below the least `real`, and their sum is not 0.
        check(vec![1e-23; 3], "too short to be compared");
        check(vec![-1e-20, 1e-20], "too short to be compared");
        assert!(sought(None, Some(&Vector(vec![1e18, 1.0]))).is_ok());
        assert!(sought(None, Some(&Vector(vec![1e-18]))).is_ok());
    }
}
