//! rag_hnsw, the index access method: a file a callback.
//!
//! The graph is `src/hnsw`, its pages are those of [`super::pages`]; here are the duties of an
//! access method.

mod build;
mod build_memory;
mod build_threads;
mod cost;
mod filter;
mod handler;
mod insert;
mod inspect;
mod opclass;
mod options;
mod rescore;
mod row_filter;
mod scan;
mod scan_nodes;
mod vacuum;
mod value;

pub use crate::hnsw::shape::MOST_FILTERS;
pub use filter::can_filter_by;
pub use insert::{pointer_of, row_of};
pub use options::register as register_options;
pub use scan::amgettuple;
#[cfg(feature = "pg18")]
pub use scan::figures;
pub use scan_nodes::register as register_scan_nodes;
pub use value::Detoasted;
