//! pg_rag: a database answers questions about its own rows.
//!
//! The modules stand in the order of the journey from a document to an answer, and each group uses
//! only groups above it. All but `daemon`, `provider`, `account` and `pg` are pure: functions
//! of their arguments, with no server, no socket and no clock. ARCHITECTURE.md is the map.

pub mod error;

pub mod exact;
pub mod lock;
pub mod options;
pub mod random;
pub mod recent;
pub mod scheduling;
pub mod spare;
pub mod text;
pub mod vector;

pub mod guarded_sql;
pub mod parse;
pub mod redact;

pub mod chunk;
pub mod embed;

pub mod pipeline;

pub mod pages;

pub mod bm25;
pub mod hnsw;

pub mod prompt;

pub mod contextual;
pub mod graph;
pub mod representation;
pub mod rewrite;
pub mod tree;

pub mod rerank;
pub mod retrieve;

pub mod source;

pub mod extract;

pub mod context;

pub mod answer;
pub mod verify;

pub mod text_to_sql;

pub mod request;

pub mod eval;

pub mod account;

pub mod protocol;

pub mod chat_template;
pub mod gguf;
pub mod grammar;

#[cfg(feature = "daemon")]
pub mod provider;

#[cfg(feature = "daemon")]
pub mod daemon;

#[cfg(feature = "pg")]
mod pg;
