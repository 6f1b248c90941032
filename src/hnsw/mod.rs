//! # hnsw: which vectors are near this one, without comparing it with all?
//!
//! ```text
//! (vectors) → graph on pages           (probe, graph) → rows, nearest first
//! ```
//!
//! rag_hnsw: a hierarchical navigable small world graph (Malkov and Yashunin, arXiv
//! 1603.09320) on database pages. README.md in this folder has the page format, the locks
//! and the reasons. Pages are reached through the traits of [`pages`](crate::pages) and nothing here knows
//! PostgreSQL, so all of it runs in memory as well.

pub mod binary;
pub mod bounds;
pub mod rotation;
pub mod scalar_quantization;
pub mod space;

pub mod columns;
pub mod layout;
pub mod node_set;
pub mod page;
pub mod residuals;
pub mod shape;
pub mod slots;

pub mod graph;
pub mod node_links;
pub mod search_layer;
pub mod visited;

pub mod proximity;
pub mod select;

pub mod build;
pub mod orphan_repair;
pub mod pause;
pub mod write_out;

pub mod back_link;
pub mod exact_order;
pub mod insert;
pub mod nearest;
pub mod scan;
pub mod scan_options;
pub mod scan_query;
pub mod vacuum;
pub mod walk_or_sweep;

pub mod check;

#[cfg(test)]
mod tests;
