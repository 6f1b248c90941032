//! The extension's own tables, and the relations of pipelines, through SPI.

pub mod activity;
pub mod derivation;
pub mod description;
pub mod eval_floor;
pub mod evaluation;
pub mod grants;
pub mod kept_reply;
pub mod locking;
pub mod model;
pub mod operator;
pub mod owner;
pub mod pipeline;
pub mod price;
pub mod question_defaults;
pub mod relation;
pub mod shard;
pub mod source;
pub mod stranger;
pub mod template;
pub mod view;
