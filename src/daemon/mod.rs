//! # daemon: ragd, the process that holds the models
//!
//! The modules in the order in which a request passes through them:
//!
//! ```text
//! server     a thread a connection: frames in, frames out
//! handler    which request is it?
//! outbox     pieces of an answer, as fast as the session takes them
//! at_once    its calls of language models, if there are several
//! parse      its documents, each read in a child process
//! local_model  its language models, each run in a child process
//! confine    what such a process may do
//! registry   the model it names: files, digest, tokenizer, worker
//! embed      its texts, tokenised a window at a time
//! late       its documents, cut where they come out of the model
//! reader     its passages, read with a question
//! classify   its texts, of which the names are wanted
//! client_aid what is done for it beside a call to a provider
//! queue      which texts go through the model together
//! worker     the threads of a model: batch after batch
//! model      ONNX Runtime: tokens → numbers
//! static_model  a table: tokens → numbers
//! output     what they say of each text: a vector, a score
//! heartbeat  does any of that hang?
//! ```

mod at_once;
mod cache;
mod classify;
mod client_aid;
mod confine;
pub mod connection;
mod digest;
mod embed;
mod frame;
mod handler;
mod heartbeat;
mod late;
pub mod local_model;
pub mod log;
mod model;
mod outbox;
mod output;
pub mod parse;
mod peer;
pub mod process;
mod queue;
mod reader;
mod registry;
pub mod runtime;
pub mod server;
mod static_model;
pub mod tokenizer;
mod worker;
