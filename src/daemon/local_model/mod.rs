//! # local_model: a language model that writes on this machine, without a key
//!
//! ```text
//! session → ragd: host, a process a model → ragd --local-model: engine → llama.cpp → tokens → text
//! ```
//!
//! llama.cpp is a library in C++ that reads files of strangers, so it has a process of its own, which ragd starts when such
//! a model is asked. It holds no key and nothing of other sessions but the prompts of this model, is confined by the kernel as soon
//! as the model is loaded, and may crash: the calls that it had are made again or fail, and embeddings go on.
//!
//! On ragd's side [`host`] finds the process of a model and waits for a text, and [`process`] speaks with it. In the process
//! [`child`] takes jobs, [`engine`] decides what goes through the model next, which it knows as [`language_model`] says,
//! [`given_up`] says of which calls the rest is not wanted, [`characters`] makes text of bytes, [`context`], [`model`] and
//! [`sampler`] are llama.cpp's things in Rust's hands, [`library`] is its C interface, and [`confine`] takes away what is
//! not needed.

mod characters;
pub mod child;
mod confine;
pub mod context;
pub mod engine;
pub mod given_up;
pub mod host;
mod language_model;
pub mod library;
pub mod model;
mod process;
mod sampler;

#[cfg(test)]
mod tests;
