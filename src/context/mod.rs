//! # context: what does the model get to read?
//!
//! ```text
//! (question, ranked chunks, budget) → messages
//! ```

pub mod prompt;
