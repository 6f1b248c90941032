//! What a search looks up: words, and a vector where there is one already.

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::model;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::server::vector::Vector;

/// A question as it is looked up.
#[derive(Clone, Copy, Debug)]
pub struct SoughtQuestion<'a> {
    /// The question; empty where the caller gives a vector alone.
    pub text: &'a str,
    /// The caller's vector, which takes the place of the question's own.
    pub vector: Option<&'a Vector>,
}

impl<'a> SoughtQuestion<'a> {
    /// A question that is embedded when it is looked up.
    pub fn asked(text: &'a str) -> Self {
        SoughtQuestion { text, vector: None }
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
