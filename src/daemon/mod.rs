//! # daemon: ragd, the process that holds the models
//!
//! [`protocol`] is what sessions and ragd say to each other, with [`network`] about the way to
//! providers and [`apis`] about what they can be asked for; the rest is ragd itself, in the order in
//! which a request passes through it:
//!
//! ```text
//! server     a thread a connection: frames in, frames out
//! handler    which request is it?
//! outbox     pieces of an answer, as fast as the session takes them
//! at_once    its calls of language models, if there are several
//! parse      its documents, each read in a child process
//! confine    what such a process may do
//! registry   the model it names: files, digest, tokenizer, worker
//! embed      its texts, tokenised a window at a time
//! late       its documents, cut where they come out of the model
//! queue      which texts go through the model together
//! worker     the threads of a model: batch after batch
//! model      ONNX Runtime: tokens → numbers
//! output     what they say of each text: a vector, a score
//! heartbeat  does any of that hang?
//! ```

pub mod network;
pub mod protocol;

pub mod apis;

#[cfg(feature = "daemon")]
mod at_once;
#[cfg(feature = "daemon")]
mod cache;
#[cfg(feature = "daemon")]
mod confine;
#[cfg(feature = "daemon")]
pub mod connection;
#[cfg(feature = "daemon")]
mod digest;
#[cfg(feature = "daemon")]
mod embed;
#[cfg(feature = "daemon")]
mod frame;
#[cfg(feature = "daemon")]
mod handler;
#[cfg(feature = "daemon")]
mod heartbeat;
#[cfg(feature = "daemon")]
mod late;
#[cfg(feature = "daemon")]
pub mod log;
#[cfg(feature = "daemon")]
mod model;
#[cfg(feature = "daemon")]
mod outbox;
#[cfg(feature = "daemon")]
mod output;
#[cfg(feature = "daemon")]
pub mod parse;
#[cfg(feature = "daemon")]
mod peer;
#[cfg(feature = "daemon")]
#[cfg(feature = "daemon")]
pub mod process;
#[cfg(feature = "daemon")]
mod queue;
#[cfg(feature = "daemon")]
mod registry;
#[cfg(feature = "daemon")]
mod runtime;
#[cfg(feature = "daemon")]
pub mod server;
#[cfg(feature = "daemon")]
pub mod tokenizer;
#[cfg(feature = "daemon")]
mod worker;
