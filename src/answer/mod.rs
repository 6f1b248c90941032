//! # answer: what do the chunks say to the question?
//!
//! ```text
//! (question, passages) → answer with citations, or that there is none
//! ```

pub mod citation;
pub mod draft;
pub mod link;
pub mod numbering;
pub mod options;
pub mod reuse;
pub mod strategy;
pub mod style;
