//! What language models make of chunks in the background: summaries and questions
//! ([`representation_writer`]) and lines of context ([`context_writer`]). [`scheduler`] says whose turn it is,
//! and [`provider_calls`] makes the calls.

pub mod context_writer;
pub mod provider_calls;
pub mod representation_writer;
pub mod scheduler;
pub mod side_table;
