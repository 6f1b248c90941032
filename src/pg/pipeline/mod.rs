//! Pipelines and their relations: made, altered, and kept right when their sources are.

pub mod alter;
pub mod comment;
pub mod config;
pub mod content;
pub mod create;
pub mod define;
pub mod metadata;
pub mod readers;
pub mod remake;
pub mod schema;
pub mod shards;
pub mod table_change;
pub mod triggers;
