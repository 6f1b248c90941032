//! # embed: what does this text mean?
//!
//! ```text
//! (texts, kind) → one vector a text, of the model's dimension
//! ```
//!
//! [`manifest`] reads what a model's folder says about it, [`calibration`] what its similarities mean,
//! [`pooling`] makes one vector of the many that a model gives for a text, [`late`] says of which tokens
//! of a document the vector of a chunk is made, and [`reader`] what a reader makes of a question with a passage.
//! [`static_table`] is a model that has no graph: its tokens have one vector each. Running other models is ragd's
//! business.

mod model_file;
mod safetensors;

pub mod calibration;
pub mod late;
pub mod manifest;
pub mod pooling;
pub mod reader;
pub mod static_table;
pub mod task;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use self::calibration::Calibration;
use self::reader::SpanScores;
use crate::error::{Error, ErrorKind, Result};

/// What a text is to be compared with; some models want another prefix for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EmbeddingKind {
    /// A question that looks for passages.
    Query,
    /// A passage to be found.
    Passage,
}

/// A document, and places in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spanned {
    /// The document's text.
    pub text: String,
    /// Places in the text, in bytes.
    pub spans: Vec<Range<usize>>,
}

/// Turns texts into vectors.
pub trait Embedder {
    /// One vector a text, in the order of `texts`.
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>>;

    /// One vector a span, each of its tokens as they are in the whole of their document. What cannot do
    /// that fails with [`ErrorKind::Unsupported`].
    fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
        let count = documents.len();
        Err(Error::new(
            ErrorKind::Unsupported,
            format!("{count} documents can't be embedded whole"),
        ))
    }

    /// What the reader of the model says of each span, having read `question` with the whole passage: one of a passage after
    /// the other. A model without a reader fails with [`ErrorKind::Unsupported`].
    fn score_spans(&mut self, question: &str, passages: &[Spanned]) -> Result<Vec<SpanScores>> {
        let (length, count) = (question.len(), passages.len());
        let message = format!("no reader reads a question of {length} bytes with {count} passages");
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// What the similarities of its vectors mean; where that is not known, [`Calibration::generic`].
    fn calibration(&mut self) -> Result<Calibration> {
        Calibration::generic()
    }
}
