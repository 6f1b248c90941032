//! The protocol of Cohere, version 2.
//!
//! [`chat`] has a language model write, [`embeddings`] turns texts into vectors.

pub mod chat;
pub mod embeddings;

use super::dialect::Dialect;

/// How Cohere is spoken to.
pub const DIALECT: Dialect = Dialect { key_header: None, headers: &[], base_url_end: "/v2" };
