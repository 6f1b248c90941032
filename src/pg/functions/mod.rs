//! The SQL functions, a file a stage. Their declarations are in `sql/install/function.sql`.

mod answer;
mod answer_stream;
mod cascade;
mod chunk;
mod context;
mod conversation;
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
mod strategy;
mod template;
mod trace;
mod usage;
mod verify;

pub use answer::Wish;
pub use chunk::RemoteChunker;
pub use embed::{Embedding, forget_embeddings};
pub use generate::{EXTRACTIVE, generate, generate_all_by, generate_by, request_within};
pub use options::read as read_options;
pub use parse::RemoteParser;
pub use pipeline::{check_chunk_size, check_late, check_title, fitted};
