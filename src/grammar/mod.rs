//! # grammar: what may a local language model write, so that its answer fits a JSON schema?
//!
//! ```text
//! JSON schema → grammar of llama.cpp (GBNF)
//! ```
//!
//! llama.cpp lets a model choose only tokens with which a grammar can go on. [`json_grammar`] makes a
//! grammar of which each text is JSON that fits the schema, as far as a grammar can say that.
//! What it cannot say (`not`, `if`, `uniqueItems`, `multipleOf`, most bounds of numbers, formats,
//! patterns that look around) is left out, and the check of the answer, which comes anyway, decides.
//! Where a schema leaves open what is written, the grammar is the narrower one: properties
//! come in the order of the schema, and none that it does not name unless it says
//! `additionalProperties`; a schema with `properties` is one of objects.
//!
//! The language is described at
//! <https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md>. [`json`] reads schemas
//! with the order of their keys, [`merge`] makes one of several, [`schema`] turns
//! them into rules, with [`container`] for lists and objects and [`kind`] for what is asked for;
//! [`pattern`] does that for regular expressions, and [`rules`] takes out of the
//! rules what could never end and writes them down.

pub mod container;
pub mod json;
pub mod kind;
pub mod merge;
pub mod pattern;
pub mod rules;
pub mod schema;

pub use schema::json_grammar;

// They check with the library that checks answers, which only ragd has.
#[cfg(all(test, feature = "daemon"))]
mod tests;
