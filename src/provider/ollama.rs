//! The protocol of Ollama itself, which says more than the one of OpenAI that it speaks too: how
//! long a prompt it reads.
//!
//! [`chat`] has a language model write, [`embeddings`] turns texts into vectors.

pub mod chat;
pub mod embeddings;

use super::dialect::Dialect;

/// How Ollama is spoken to. One at home wants no key, a hosted one does.
pub const DIALECT: Dialect = Dialect { key_header: None, headers: &[], base_url_end: "/api" };
