//! The protocol of OpenAI, which nearly every server of language models speaks: vLLM,
//! llama.cpp, Ollama, LM Studio, LiteLLM and most hosted ones.
//!
//! [`chat`] has a language model write, [`embeddings`] turns texts into vectors.

pub mod chat;
pub mod embeddings;
