//! rag_hnsw, the index access method: a file a callback.
//!
//! The graph is `src/index`; here are its pages in PostgreSQL's buffers ([`pages`]), and the
//! duties of an access method.

mod build;
mod build_memory;
mod build_threads;
mod cost;
#[cfg(feature = "pg18")]
pub mod explain;
mod filter;
mod handler;
mod insert;
mod inspect;
mod opclass;
mod options;
mod pages;
mod rescore;
mod scan;
mod vacuum;
mod value;

pub use crate::index::shape::MOST_FILTERS;
pub use filter::can_filter_by;
pub use options::register as register_options;
