//! # local_model: what do ragd and the process of a local language model say to each other?
//!
//! ```text
//! Load → Loaded; then any number of calls side by side: Write → Piece ... → Done or Failed
//! ```
//!
//! Frames as between a session and ragd, on standard input and output. A call that is given up with
//! [`LocalModelJob::Cancel`] is not answered any more.

use serde::{Deserialize, Serialize};

use super::{GgufFile, Lane, Message, SamplingParameters};
use crate::error::Error;

/// What ragd asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LocalModelJob {
    /// Load a model; the first job of all, and no other after it. Answered by [`LocalModelReply::Loaded`] or
    /// [`LocalModelReply::NotLoaded`].
    Load {
        /// Its file.
        file: GgufFile,
        /// Tokens that a text can have, what it goes on from included; `None`: as many as fit most machines.
        context_tokens: Option<u32>,
        /// Texts that are written side by side.
        sequences: u32,
    },
    /// Write a text.
    Write(LocalWrite),
    /// Give a call up.
    Cancel {
        /// The call.
        id: u64,
    },
}

/// A text that is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalWrite {
    /// By what the call is known.
    pub id: u64,
    /// Who goes first.
    pub lane: Lane,
    /// What was said so far, oldest first.
    pub messages: Vec<Message>,
    /// How the model chooses its words.
    pub sampling: SamplingParameters,
    /// What chance begins with.
    pub seed: u32,
    /// Longest text in tokens; `None`: as long as answers usually are.
    pub max_tokens: Option<u32>,
    /// The JSON schema that the text must fit; `None`: it is free text.
    pub schema: Option<String>,
}

/// What the process answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LocalModelReply {
    /// The model is in memory.
    Loaded {
        /// Tokens that a text can have, what it goes on from included.
        context_tokens: u32,
    },
    /// The model cannot be loaded; the process ends.
    NotLoaded(Error),
    /// This was written.
    Piece {
        /// The call.
        id: u64,
        /// Whole characters.
        text: String,
    },
    /// A text is done.
    Done {
        /// The call.
        id: u64,
        /// "stop" or "length".
        finish_reason: String,
        /// Tokens of what it goes on from.
        prompt_tokens: u64,
        /// Of these, the ones that were known from an earlier call.
        cached_tokens: u64,
        /// Tokens of the text.
        completion_tokens: u64,
    },
    /// There is no text, or no more of it.
    Failed {
        /// The call.
        id: u64,
        /// Why.
        error: Error,
    },
}
