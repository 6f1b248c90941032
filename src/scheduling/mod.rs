//! # scheduling: what is done next, and how much of it at a time?
//!
//! The decisions of queues and workers, apart from the server, the clock and the threads that carry
//! them out: the keys of changed rows ([`changed_keys`]), whose turn it is ([`fair_queueing`]), how much makes a
//! batch ([`pacing`]), which of its rows fail ([`bisection`]), whether a failure is about one item or about the
//! provider ([`one_by_one`], [`concurrent_calls`]), and how long to wait before the next attempt ([`backoff`],
//! [`outages`]).

pub mod backoff;
pub mod bisection;
pub mod changed_keys;
pub mod concurrent_calls;
pub mod fair_queueing;
pub mod one_by_one;
pub mod outages;
pub mod pacing;
