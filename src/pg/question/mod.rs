//! From a question to chunks, and to an answer.
//!
//! [`options`] puts together what the caller and the pipeline say, [`request`] makes of it what is to be
//! done, [`search`] finds chunks, [`federation`] those of several pipelines, and [`answer`] has the answer
//! written. `own_vector` has a vector of the caller's looked up, and [`batch`] many questions at once. `fallback` asks
//! other pipelines where there is none. [`entity_graph`] finds paths between entities, of
//! `relation_graph` over what rows say of them, and
//! [`document_summary`] tells what a document says as a whole. [`defaults`] looks at what a pipeline is to say before it does.

pub mod answer;
pub mod batch;
pub mod conversation;
pub mod defaults;
mod derived;
pub mod document_summary;
pub mod entity_graph;
mod fallback;
pub mod federation;
mod found_rows;
pub mod options;
mod own_vector;
mod relation_graph;
pub mod request;
pub mod rewrite;
pub mod route;
pub mod search;
pub mod trace_log;
