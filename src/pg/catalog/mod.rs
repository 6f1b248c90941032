//! The extension's own tables, through SPI.

pub mod evaluation;
pub mod model;
pub mod pipeline;
pub mod source;
pub mod view;
