//! Which rows of sources have changed, from the trigger to the change log `rag.intake`.
//!
//! [`noted`] keeps keys in memory until the commit, [`intake`] writes them.

pub mod intake;
pub mod keys;
pub mod noted;
mod plain_text;
