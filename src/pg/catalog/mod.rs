//! The extension's own tables, and the relations of pipelines, through SPI.

pub mod activity;
pub mod evaluation;
pub mod grants;
pub mod locking;
pub mod model;
pub mod money;
pub mod operator;
pub mod owner;
pub mod pipeline;
pub mod relation;
pub mod representation;
pub mod situation;
pub mod source;
pub mod stranger;
pub mod template;
pub mod view;
pub mod wording;
