//! # context: what does the model get to read?
//!
//! ```text
//! (question, ranked sources, template) → messages
//! ```
//!
//! [`assemble`] chooses what is read of the sources that were found: it leaves out what repeats
//! another one ([`deduplication`]), makes the others shorter ([`compress`]), keeps what the model can
//! take ([`budget`]) and puts it in order ([`order`]). [`template`](crate::prompt::template) says in which words the model
//! is asked, and [`messages`](crate::prompt::messages) puts text that is not trusted between lines that its writers could not
//! know. [`step`] does so for an answer that is written in several calls, and [`fit`] sees to it
//! that each of them can be read.

pub mod assemble;
pub mod budget;
pub mod compress;
pub mod deduplication;
pub mod excerpt;
pub mod fit;
pub mod headers;
pub mod options;
pub mod order;
pub mod step;

pub use options::ContextOptions;

use self::headers::ChunkHeader;
use crate::embed::Embedder;
use crate::error::Result;
use crate::prompt::messages::PromptSource;
use crate::prompt::template::Template;
use crate::prompt::tokens::Counter;
use crate::prompt::writer::Writer;
use crate::source::Source;

/// A source that is read for an answer, which cites it by its place among all that are.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The source as it was found. What an answer says is looked up in all of its originals.
    pub source: Source,
    /// What of it is shown to a language model: all, parts with marks between them, or what a
    /// language model made of it.
    pub shown: String,
    /// What stands above it.
    pub header: ChunkHeader,
    /// What stands before it: an overview of all that is read.
    pub overview: Option<String>,
    /// Whether it stands once more behind the others.
    pub repeats: bool,
}

impl Reading {
    /// All of a source.
    #[must_use]
    pub fn whole(source: Source) -> Reading {
        let header = headers::header(&source, None);
        let shown = source.content().to_owned();
        Reading { shown, source, header, overview: None, repeats: false }
    }

    /// The source as a language model reads it.
    #[must_use]
    pub fn prompt_source(&self) -> PromptSource {
        let ChunkHeader { heading, values } = self.header.clone();
        let (content, overview) = (self.shown.clone(), self.overview.clone());
        PromptSource { heading, metadata: values, content, overview, repeats: self.repeats }
    }
}

/// What choosing takes from elsewhere.
pub struct Means<'a> {
    /// Counts tokens.
    pub counter: &'a mut dyn Counter,
    /// Tells how near sentences are to the question.
    pub embedder: &'a mut dyn Embedder,
    /// Sums up texts.
    pub writer: &'a mut dyn Writer,
    /// Gives some random letters, new for each call of the writer.
    pub nonce: &'a mut dyn FnMut() -> Result<String>,
    /// Finds a template by its name.
    pub templates: &'a dyn Fn(&str) -> Result<Template>,
}
