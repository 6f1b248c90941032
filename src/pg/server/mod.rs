//! The server itself: how its errors, statements, settings, roles, transactions and timers are used.
//!
//! Nothing here knows a pipeline, a question or a model.

pub mod call;
pub mod error;
pub mod json;
pub mod raised;
pub mod random;
pub mod sql;
pub mod syscache;

pub mod function_owners;
pub mod function_watch;
pub mod guc;
pub mod install;
pub mod interval;
pub mod options;
pub mod prepared;
pub mod reserve;
pub mod role;
pub mod row_security;
pub mod statement_error;
pub mod statement_watch;
pub mod time_limit;
pub mod timers;
pub mod transaction;
pub mod vector;
pub mod wait_event;
