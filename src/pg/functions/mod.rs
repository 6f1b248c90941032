//! The SQL functions, a file a stage. Their declarations are in `sql/install/function.sql`.

mod answer;
mod chunk;
mod embed;
mod generate;
mod model;
mod options;
mod parse;
mod pipeline;
mod retrieve;
mod status;

pub use embed::Embedding;
pub use generate::{EXTRACTIVE, generate};
#[allow(unused_imports)] // For pipelines over documents; rag_parse itself uses it in place.
pub use parse::RemoteParser;
pub use pipeline::RemoteChunker;
