//! An answer that was given lately to a question that means the same.
//!
//! Whatever was retrieved for the new question was retrieved as its caller. So an earlier answer is
//! taken only if all that was read for it has been found for this question too, word for word, with
//! what stands above it: a model may say what it read without citing it. No role learns what it may
//! not read, and nothing that has changed since is given again.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{Writing, write};
use crate::answer::draft::Draft;
use crate::answer::reuse::{QuestionLikeness, cited, is_whole, renumbered};
use crate::answer::strategy::PendingAnswer;
use crate::context::Reading;
use crate::embed::calibration::QuestionThresholds;
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::Result;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::{cache, trace, usage};
use crate::pg::server::guc::Caching;
use crate::pg::server::random;
use crate::prompt::messages::as_sent;
use crate::protocol::{ProviderConfig, RecalledText};
use crate::redact::PiiKind;
use crate::redact::withheld::WithheldValues;
use crate::source::SourceId;

/// An answer that is remembered.
#[derive(Serialize, Deserialize)]
struct CachedAnswer {
    question: String,
    text: String,
    /// The sources that were read for it, in the order of their numbers: ID and what was sent.
    read: Vec<(SourceId, String)>,
    /// What of its text was not sent.
    withheld: BTreeMap<String, PiiKind>,
}

/// A question whose answer may be known, or is to be kept.
pub struct SemanticLookup {
    question: String,
    scope: String,
    vector: Vec<f32>,
    thresholds: QuestionThresholds,
    /// What is kept from the provider.
    withheld: WithheldValues,
}

impl SemanticLookup {
    /// What the call `pending` shall answer; `None` where nothing is to be remembered. Only answers
    /// that take one call are given again, and none that has a form: numbers in its arrays would be taken for
    /// markers.
    pub fn new(
        question: &str,
        pending: &PendingAnswer,
        search: &FederatedSearch,
        writing: &Writing,
        provider: &ProviderConfig,
    ) -> Result<Option<SemanticLookup>> {
        let is_reused = pending.is_only_call() && pending.form.is_none();
        if search.context.caching != Caching::Semantic || !is_reused {
            return Ok(None);
        }
        Ok(Some(SemanticLookup {
            question: question.to_owned(),
            scope: scope(question, search, writing, provider)?,
            vector: vector(question, search)?,
            thresholds: thresholds(search, writing)?,
            withheld: provider.special.withheld.clone(),
        }))
    }

    /// The answer that was given to a question like this one, if it stands on what was read now.
    pub fn find(&self, readings: &[Reading]) -> Result<Option<String>> {
        let find = || Ok(cache::recall(&self.scope, &self.vector, self.thresholds.least()));
        for RecalledText { text, cosine } in trace::found("recall", String::new, find)? {
            let Ok(kept) = serde_json::from_str::<CachedAnswer>(&text) else { continue };
            let likeness = QuestionLikeness::of(&kept.question, &self.question);
            if !likeness.allows(cosine, &self.thresholds) {
                continue;
            }
            if let Some(text) = fitted(&kept, readings) {
                usage::note_cache_hit();
                self.withheld.add(kept.withheld);
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Keeps an answer for questions like this one.
    pub fn keep(self, draft: &Draft) {
        if let Some(kept) = kept(&self.question, draft, &self.withheld) {
            cache::keep(self.scope, self.vector, kept);
        }
    }
}

/// All that decides an answer besides the question and what was found.
fn scope(
    question: &str,
    search: &FederatedSearch,
    writing: &Writing,
    provider: &ProviderConfig,
) -> Result<String> {
    let generations = search.generations();
    let template = write::template_of(writing)?;
    let Writing { sampling, max_tokens, own_knowledge, examples, .. } = writing;
    // Two questions about two persons may have one vector then, and no rule tells them apart.
    let is_hidden = embedding(search)?.redacts_by_model();
    let alone = if is_hidden { Some(question) } else { None };
    Ok(cache::of_caller(&format!(
        "answer {generations:?} {provider:?} {template:?} {sampling:?} {max_tokens:?} {own_knowledge} {examples:?} {alone:?}"
    )))
}

fn embedding(search: &FederatedSearch) -> Result<Embedding> {
    Embedding::with_model(Some(search.model()), search.context)
}

fn vector(question: &str, search: &FederatedSearch) -> Result<Vec<f32>> {
    let mut embedding = embedding(search)?;
    Ok(embedding.embed(&[question.to_owned()], EmbeddingKind::Query)?.swap_remove(0))
}

/// From which cosines on questions mean the same: those of the embedding model, or what the caller wants.
fn thresholds(search: &FederatedSearch, writing: &Writing) -> Result<QuestionThresholds> {
    let fitted = embedding(search)?.calibration()?.questions.unwrap_or_default();
    Ok(writing.cache_similarity.map_or(fitted, |it| fitted.with(it)))
}

/// The text with the numbers of what was found now; `None` where something that was read for it was not found.
fn fitted(kept: &CachedAnswer, readings: &[Reading]) -> Option<String> {
    let places: HashMap<(SourceId, String), u32> = readings.iter().map(sent).zip(1..).collect();
    let place =
        |(number, read): (u32, &(SourceId, String))| places.get(read).map(|place| (number, *place));
    let numbers = (1..).zip(&kept.read).map(place).collect::<Option<BTreeMap<u32, u32>>>()?;
    renumbered(&kept.text, &numbers)
}

/// A source as it is sent, whatever its number.
fn sent(reading: &Reading) -> (SourceId, String) {
    (reading.source.id(), as_sent(1, &reading.prompt_source()))
}

/// A whole answer that cites, and nothing else than what was read.
fn kept(question: &str, draft: &Draft, withheld: &WithheldValues) -> Option<String> {
    let cited = cited(&draft.text);
    let is_read = |number: &u32| (1..=draft.readings.len()).contains(&(*number as usize));
    if !draft.supported || cited.is_empty() || !cited.iter().all(is_read) {
        return None;
    }
    // What was cut short is worth another try; what holds a mark of this call means nothing later.
    if !is_whole(&draft.usage) || random::has_nonce(&draft.text) {
        return None;
    }
    let read = draft.readings.iter().map(sent).collect();
    let withheld = withheld.within(&[draft.text.as_str()]);
    let (question, text) = (question.to_owned(), draft.text.clone());
    serde_json::to_string(&CachedAnswer { question, text, read, withheld }).ok()
}
