//! The two index access methods, rag_hnsw and rag_bm25, and the pages that both are made of.
//!
//! [`hnsw`] and [`bm25`] are the duties of an access method; what an index does is in the stages of the
//! same names. [`pages`] is where their pages lie.

pub mod buffer_hints;
pub mod new_pages;
pub mod pages;

pub mod opened_index;

pub mod access_method;

pub mod bm25;
pub mod hnsw;

pub mod sort_distances;

#[cfg(feature = "pg18")]
pub mod explain;
