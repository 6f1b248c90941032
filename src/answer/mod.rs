//! # answer: what do the sources say to the question?
//!
//! ```text
//! (question, sources) → answer with citations, or that there is none
//! ```

pub mod citation;
pub mod draft;
pub mod example;
pub mod fallback;
pub mod form;
pub mod json_text;
pub mod link;
pub mod nearest;
pub mod numbering;
pub mod options;
pub mod own_knowledge;
pub mod plain;
pub mod preset;
pub mod refusal;
pub mod reuse;
pub mod shown;
pub mod strategy;
pub mod style;
