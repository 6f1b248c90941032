//! What language models make of chunks in the background: summaries and questions ([`represent`]) and
//! lines of context ([`situate`]).

pub mod asking;
pub mod beside;
pub mod represent;
pub mod rounds;
pub mod situate;
