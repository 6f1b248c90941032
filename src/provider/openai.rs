//! The protocol of OpenAI, which nearly every server of language models speaks: vLLM,
//! llama.cpp, Ollama, LM Studio, LiteLLM and most hosted ones.
//!
//! [`chat`] has a language model write, at once or piece by piece, [`embeddings`] turns texts into
//! vectors.

pub mod chat;
pub mod embeddings;
mod stream;

use super::dialect::Dialect;

/// How the protocol is spoken.
pub const DIALECT: Dialect = Dialect { key_header: None, headers: &[], base_url_end: "/v1" };
