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
mod optimize;
mod parse;
mod pipeline;
mod queue;
mod rerank;
mod retrieve;
mod sql;
mod status;
mod strategy;
mod template;
mod text_search;
mod text_to_sql;
mod trace;
mod usage;
mod verify;
