//! # embed: what does this text mean?
//!
//! ```text
//! (texts, kind) → one vector a text, of the model's dimension
//! ```
//!
//! [`manifest`] reads what a model's folder says about it, [`pooling`] makes one vector of
//! the many that a model gives for a text. Running the model is ragd's business.

pub mod manifest;
pub mod pooling;

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// What a text is to be compared with; some models want another prefix for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A question that looks for passages.
    Query,
    /// A passage to be found.
    Passage,
}

/// Turns texts into vectors.
pub trait Embedder {
    /// One vector a text, in the order of `texts`.
    fn embed(&mut self, texts: &[String], kind: Kind) -> Result<Vec<Vec<f32>>>;
}
