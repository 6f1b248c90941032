//! From a question to chunks, and to an answer.
//!
//! [`request`] reads what the caller wants, [`search`] finds chunks, and [`answer`] has the answer written.

pub mod answer;
pub mod conversation;
pub mod request;
pub mod rewrite;
pub mod route;
pub mod search;
pub mod trace_log;
