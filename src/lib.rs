//! pg_rag: a database answers questions about its own rows.
//!
//! The modules stand in the order of the journey from a document to an answer. All but
//! [`daemon`] and `pg` are pure: functions of their arguments, with no server, no socket
//! and no clock. ARCHITECTURE.md is the map.

pub mod error;
pub mod shares;
pub mod spare;

pub mod changed_keys;
pub mod one_by_one;
pub mod pacing;
pub mod pipeline;

pub mod parse;

pub mod chunk;
pub mod embed;
pub mod vector;

pub mod pages;

pub mod index;
pub mod lexical;

pub mod represent;
pub mod situate;

pub mod rerank;
pub mod retrieve;
pub mod rewrite;

pub mod answer;
pub mod context;
pub mod verify;

pub mod eval;

pub mod account;

#[cfg(feature = "daemon")]
pub mod provider;

pub mod daemon;

#[cfg(feature = "pg")]
mod pg;

/// What `cargo pgrx test` asks of the crate's root.
#[cfg(all(test, feature = "pg_test"))]
pub mod pg_test {
    /// Called before each test.
    pub fn setup(_options: Vec<&str>) {}

    /// Lines for the test server's configuration.
    #[must_use]
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        Vec::new()
    }
}
