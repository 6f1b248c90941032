//! What a session asks of ragd: vectors, chunks, parsed documents, replies of language models.
//!
//! [`client`] has the connection. [`provider`] looks up how a language model is reached, [`usage`] counts
//! what calls cost and [`trace`] which were made. [`hybrid_score`] says which of some short texts speak of a question.

pub mod trace;
pub mod usage;

pub mod client;
pub mod provider;

pub mod cache;
pub mod calibration;
pub mod call_context;

pub mod chunk;
pub mod classify;
pub mod embed;
pub mod generate;
pub mod hybrid_score;
pub mod llm;
pub mod parse;
pub mod rerank;
