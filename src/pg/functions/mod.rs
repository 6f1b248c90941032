//! The SQL functions, a file a stage. Their declarations are in `sql/install/function.sql`.

mod answer;
mod chunk;
mod embed;
mod event;
mod generate;
mod model;
mod options;
mod parse;
mod pipeline;
mod queue;
mod retrieve;
mod status;

pub use embed::Embedding;
pub use generate::{EXTRACTIVE, generate};
pub use parse::RemoteParser;
pub use pipeline::{RemoteChunker, check_chunk_size};
