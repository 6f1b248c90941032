//! What a search looks up: words, and a vector where there is one already.

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::model;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::server::vector::Vector;

/// A vector of a question, with the name of the model that made it.
pub type ModelVector = (String, Vec<f32>);

/// A question as it is looked up.
#[derive(Clone, Copy, Debug)]
pub struct SoughtQuestion<'a> {
    /// The question; empty where the caller gives a vector alone.
    pub text: &'a str,
    /// The caller's vector, which takes the place of the question's own.
    pub vector: Option<&'a Vector>,
    /// Vectors of the question that were made beforehand.
    pub embedded: &'a [ModelVector],
    /// Whether it has come up on the way to the answer of another, of which the page is that the options ask for.
    pub is_further: bool,
}

impl<'a> SoughtQuestion<'a> {
    /// A question that is embedded when it is looked up.
    pub fn asked(text: &'a str) -> Self {
        SoughtQuestion { text, vector: None, embedded: &[], is_further: false }
    }

    /// A question that has come up on the way to the answer of another: its chunks are given from the first on.
    pub fn further(text: &'a str) -> Self {
        SoughtQuestion { is_further: true, ..SoughtQuestion::asked(text) }
    }

    /// Of `passed_over` chunks that are on earlier pages, how many are left out for this question.
    pub fn passed_over(&self, passed_over: usize) -> usize {
        if self.is_further { 0 } else { passed_over }
    }

    /// The vector by `model`, if it need not be made: the caller's is taken for one of any model.
    pub fn known(&self, model: &str) -> Option<&'a [f32]> {
        let made = || self.embedded.iter().find(|(name, _)| name == model);
        self.vector.map(|it| it.0.as_slice()).or_else(|| Some(made()?.1.as_slice()))
    }

    /// The caller's vector, if there is one. Fails where it is not as long as those of the pipeline.
    pub(super) fn vector_for(&self, pipeline: &Pipeline) -> Result<Option<&'a Vector>> {
        let Some(vector) = self.vector else { return Ok(None) };
        let (model, dimensions) = (&pipeline.model, vector.0.len());
        let expected = model::find(Some(model))?.dimension;
        if usize::try_from(expected) == Ok(dimensions) {
            return Ok(Some(vector));
        }
        let name = &pipeline.name;
        let message = format!(
            "query_vector has {dimensions} dimensions, and those of pipeline \"{name}\" have {expected}"
        );
        Err(Error::new(ErrorKind::DimensionMismatch, message).hint(format!(
            "It must be of the pipeline's model, as rag_embed(..., '{model}') makes them."
        )))
    }
}
