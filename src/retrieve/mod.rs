//! # retrieve: which chunks speak of this question?
//!
//! ```text
//! (question, mode, k, filter) → passages, best first
//! ```
//!
//! The search itself is a statement (`sql/query/retrieve_*.sql`); here is what it is told.

pub mod filter;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Which side of the search is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nearest vectors.
    Dense,
    /// Matching words.
    Lexical,
    /// Both, fused by reciprocal rank.
    Hybrid,
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "dense" => Ok(Mode::Dense),
            "lexical" => Ok(Mode::Lexical),
            "hybrid" => Ok(Mode::Hybrid),
            _ => Err(Error::invalid(format!("unknown retrieval mode \"{name}\""))
                .hint("Known modes: dense, lexical, hybrid.")),
        }
    }
}

/// Options of retrieval that have no argument of their own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetrieveOptions {
    /// Least cosine similarity between question and chunk.
    pub threshold: Option<f64>,
    /// The constant of reciprocal rank fusion (Cormack et al., SIGIR 2009).
    pub rrf_k: u32,
    /// Chunks that each side puts forward for the fusion.
    pub candidates: u32,
}

impl Default for RetrieveOptions {
    fn default() -> Self {
        RetrieveOptions { threshold: None, rrf_k: 60, candidates: 100 }
    }
}

/// A chunk that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Passage {
    /// From 1, best first.
    pub rank: i32,
    /// What the order is by; its scale depends on the mode.
    pub score: f64,
    /// Key of the source row as text; of a composite key, a JSON object.
    pub source_key: String,
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// Position in its document, from 0.
    pub chunk_no: i32,
    /// The text.
    pub content: String,
    /// First character in the document, from 0.
    pub start_char: i32,
    /// One past the last character.
    pub end_char: i32,
    /// Headings it stands under.
    pub heading: Option<String>,
    /// The declared metadata columns.
    pub metadata: serde_json::Value,
    /// Cosine similarity to the question, where the question was embedded.
    pub similarity: Option<f64>,
    /// Place among the nearest vectors, from 1.
    pub dense_rank: Option<i32>,
    /// Place among the matching texts, from 1.
    pub lexical_rank: Option<i32>,
}
