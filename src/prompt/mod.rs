//! # prompt: in which words is a language model asked, and how is its reply read?
//!
//! ```text
//! (template, question, sources, nonce) → messages;  reply → list │ object
//! ```
//!
//! [`messages`] puts text that is not trusted between lines that its writers could not know. [`template`]
//! says in which words the model is asked, and [`place`] what these must have where it is asked for
//! something. [`writer`] is what replies. A reply is not trusted either: [`list`] and [`object`] take of
//! it what they understand. [`sampling`] says how the model chooses its words, [`tools`] what it may call,
//! and [`tokens`] how much of its context a text takes.

pub mod list;
pub mod messages;
pub mod object;
pub mod place;
pub mod sampling;
pub mod template;
pub mod tokens;
pub mod tools;
pub mod writer;
