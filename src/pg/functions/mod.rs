//! The SQL functions, a file a stage. Their declarations are in `sql/install/function.sql`.

mod answer;
mod chunk;
mod embed;
mod eval;
mod event;
mod generate;
mod model;
mod options;
mod parse;
mod pipeline;
mod queue;
mod rerank;
mod retrieve;
mod status;

pub use embed::{Embedding, forget_embeddings};
pub use generate::{EXTRACTIVE, generate};
pub use options::read as read_options;
pub use parse::RemoteParser;
pub use pipeline::{RemoteChunker, check_chunk_size};
pub use retrieve::check_rewrite;
