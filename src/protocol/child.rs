//! # child: what do ragd and its child processes say to each other?
//!
//! ```text
//! a job on standard input → its outcome on standard output
//! ```

use serde::{Deserialize, Serialize};

use crate::chunk::ChunkingOptions;
use crate::error::Error;
use crate::parse::{ParseLimits, ParseOptions, Part};

/// What ragd gives to a child process, which does one thing and leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChildJob<'a> {
    /// Read a document. Answered by a [`ParseOutcome`].
    #[serde(borrow)]
    Parse(ParseJob<'a>),
    /// Find where a text may be cut. Answered by a [`Plan`](crate::chunk::CutPlan).
    Plan {
        /// The text to be cut.
        text: &'a str,
        /// How it is cut.
        options: ChunkingOptions,
    },
    /// Check whether an answer fits a JSON schema. Answered by a [`SchemaOutcome`].
    CheckSchema {
        /// The schema.
        schema: &'a str,
        /// The answer; `None`: only the schema is looked at.
        answer: Option<&'a str>,
    },
}

/// What the child process answers: the JSON of an answer that fits, what is wrong with one that does not,
/// or why there is no such schema.
pub type SchemaOutcome = std::result::Result<std::result::Result<String, Vec<String>>, Error>;

/// What a child process is to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseJob<'a> {
    /// The file's bytes.
    #[serde(with = "serde_bytes")]
    pub bytes: &'a [u8],
    /// Its MIME type.
    pub mime: Option<&'a str>,
    /// How it is read.
    pub options: ParseOptions,
    /// How much it may be.
    pub limits: ParseLimits,
}

/// What the child process answers: the parts, or why there are none.
pub type ParseOutcome = std::result::Result<Vec<Part>, Error>;
