//! The extension's own tables, through SPI.

pub mod evaluation;
pub mod model;
pub mod money;
pub mod operator;
pub mod pipeline;
pub mod representation;
pub mod situation;
pub mod source;
pub mod stranger;
pub mod template;
pub mod trace;
pub mod view;
pub mod wording;
