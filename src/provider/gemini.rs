//! The protocol of Gemini.
//!
//! [`chat`] has a language model write, [`embeddings`] turns texts into vectors.

pub mod chat;
pub mod embeddings;

use super::dialect::Dialect;

/// How Gemini is spoken to.
pub const DIALECT: Dialect =
    Dialect { key_header: Some("x-goog-api-key"), headers: &[], base_url_end: "/v1beta" };
