//! # gguf: what is in a file of a language model, and can it be trusted to be one?
//!
//! ```text
//! file → facts │ what is wrong with it, and at which byte
//! ```
//!
//! A GGUF file is read by a library in C++ that believes most of what a file says of itself. So
//! [`check`] reads the header first and refuses each length, count, offset and type that is not
//! true. It follows the public specification
//! (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>), and is stricter where llama.cpp
//! is: tensors stand one behind the other, arrays hold no arrays, and the numbers of the model
//! have the types and sizes with which llama.cpp reads them.
//!
//! [`header`] reads bytes and says where it is, [`metadata`] reads keys and values, [`tensor`] the
//! list of tensors, and [`facts`] what the values mean. Nothing that can be long is kept: a
//! vocabulary is skimmed, so the memory taken is bounded, whatever a file says.

pub mod check;
pub mod facts;
pub mod header;
pub mod metadata;
pub mod tensor;
pub mod tensor_type;

#[cfg(test)]
mod tests;
