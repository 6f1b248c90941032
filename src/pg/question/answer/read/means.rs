//! What embeds sentences, and what sums up.

use crate::context::ContextOptions;
use crate::embed::calibration::Calibration;
use crate::embed::reader::SpanScores;
use crate::embed::{Embedder, EmbeddingKind, Spanned};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::generate::{Sampling, generate_all};
use crate::pg::ragd::llm::Llm;
use crate::prompt::messages::Message;
use crate::prompt::writer::Writer;

/// Longest summary or overview, in tokens.
const LONGEST: u32 = 1000;

/// Looks for the model when there is something to embed: not all ways of reading need it.
pub struct OnDemand<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// How it is called.
    pub context: CallContext,
}

impl Embedder for OnDemand<'_> {
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        Embedding::with_model(Some(self.model), self.context)?.embed(texts, kind)
    }

    fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
        Embedding::with_model(Some(self.model), self.context)?.embed_in_place(documents)
    }

    fn score_spans(&mut self, question: &str, passages: &[Spanned]) -> Result<Vec<SpanScores>> {
        Embedding::with_model(Some(self.model), self.context)?.score_spans(question, passages)
    }

    fn calibration(&mut self) -> Result<Calibration> {
        Embedding::with_model(Some(self.model), self.context)?.calibration()
    }
}

/// The language model of the answer sums up what it will read.
pub struct Summaries<'a> {
    llm: &'a Llm,
    context: CallContext,
    /// Calls that are left: one a summary, and one for the overview.
    left: u32,
}

impl<'a> Summaries<'a> {
    /// As many as `options` allow.
    pub fn new(llm: &'a Llm, options: &ContextOptions, context: CallContext) -> Summaries<'a> {
        Summaries { llm, context, left: options.max_summaries.saturating_add(1) }
    }
}

impl Writer for Summaries<'_> {
    fn write(&mut self, messages: &[Message]) -> Result<String> {
        Ok(self.write_all(vec![messages.to_vec()])?.concat())
    }

    fn write_all(&mut self, prompts: Vec<Vec<Message>>) -> Result<Vec<String>> {
        if prompts.is_empty() {
            return Ok(Vec::new());
        }
        let calls = u32::try_from(prompts.len()).unwrap_or(u32::MAX);
        self.left = self.left.checked_sub(calls).ok_or_else(|| {
            Error::new(ErrorKind::OutOfResources, "compression takes more calls than it may")
                .hint("Raise the option \"context.max_summaries\".")
        })?;
        let provider = self.llm.provider_for("a summary")?;
        let written =
            generate_all(provider, prompts, Sampling::probable(Some(LONGEST)), &self.context)?;
        written.into_iter().map(|it| Ok(it?.text)).collect()
    }
}
