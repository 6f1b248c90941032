//! What a session asks of ragd: vectors, chunks, parsed documents, replies of language models.
//!
//! [`client`] has the connection. [`provider`] looks up how a language model is reached, [`usage`] counts
//! what calls cost and [`trace`] which were made.

pub mod trace;
pub mod usage;

pub mod client;
pub mod provider;

pub mod cache;
pub mod call_context;

pub mod chunk;
pub mod classify;
pub mod embed;
pub mod generate;
pub mod llm;
pub mod parse;
pub mod rerank;
