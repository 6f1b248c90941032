//! # chat_template: in which text does a local language model get to read a chat?
//!
//! ```text
//! (template of the model's file, messages) → text that the model goes on writing
//! ```
//!
//! A model was trained on chats in one form, which its file describes as a template in Jinja, as
//! Hugging Face's libraries render it
//! (<https://huggingface.co/docs/transformers/chat_templating>). A file is somebody else's, so its
//! template must neither hang nor fill the memory. Fuel counts steps and not bytes, and
//! `{% set s = s ~ s %}` forty times over is a terabyte. [`guard`] therefore puts a check of its
//! size around each value that a template keeps or prints, and [`environment`] has nothing but
//! functions that count what they make. [`render`] arranges the messages for it.

pub mod environment;
pub mod guard;
pub mod render;

pub use render::{ChatForm, chat_text};

#[cfg(test)]
mod tests;
