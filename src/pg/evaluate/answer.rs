//! What an answer is worth: by words, vectors and judgements, or by a language model.

use std::cell::Cell;
use std::slice::from_ref;

use pgrx::prelude::*;
use serde::Deserialize;

use super::options::{EvalOptions, JudgeOfAnswers};
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{Error, ErrorKind, Result};
use crate::eval::answer::{bare, correctness, is_exact, token_f1};
use crate::eval::citing::citing;
use crate::eval::containment::holds_any;
use crate::eval::context::best_similarity;
use crate::eval::judge;
use crate::eval::judgement::Judgements;
use crate::eval::measure::{EvalMetric, Measure, Scores};
use crate::eval::score::{self, RankedChunk};
use crate::pg::catalog::evaluation::Case;
use crate::pg::catalog::template;
use crate::pg::question::answer::Answer;
use crate::pg::question::answer::verifier::Verifier;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::generate::{Sampling, generate};
use crate::pg::server::random;
use crate::prompt::messages::PromptSource;
use crate::protocol::ProviderConfig;
use crate::representation::{self, RepresentOptions};
use crate::source::ChunkSpan;
use crate::verify::Verdict;

/// Questions that a language model writes for an answer; as many as RAGAS.
const QUESTIONS: u32 = 3;

/// What judges answers.
pub struct AnswerJudge {
    /// A language model, if one does.
    llm: Option<ProviderConfig>,
    /// Replies that could not be read.
    unread: Cell<u32>,
}

/// A source that was read, as an answer tells it.
#[derive(Deserialize)]
struct ReadSource {
    /// Where it stands, if it is a chunk: only chunks are judged.
    #[serde(flatten)]
    span: Option<ChunkSpan>,
    content: String,
}

impl ReadSource {
    fn ranked(&self) -> Option<RankedChunk<'_>> {
        let ChunkSpan { chunk_id, source_key, chunk_no, start_char, end_char, .. } =
            self.span.as_ref()?;
        let chunk = (*chunk_id, *chunk_no);
        Some(RankedChunk::new(source_key, chunk, *start_char..*end_char, &self.content))
    }
}

impl AnswerJudge {
    /// Fails where a language model is to judge and there is none.
    pub fn new(options: &EvalOptions) -> Result<AnswerJudge> {
        let llm = match options.judge {
            JudgeOfAnswers::Words => None,
            JudgeOfAnswers::Llm => Some(options.judging_llm("answers", "the judge words")?),
        };
        Ok(AnswerJudge { llm, unread: Cell::new(0) })
    }

    /// A warning if replies could not be read.
    pub fn warn(&self) {
        if let (Some(llm), count @ 1..) = (&self.llm, self.unread.get()) {
            warning!(
                "{count} of the replies of \"{}\" about answers could not be read; those answers lack the scores",
                llm.name
            );
        }
    }

    /// The scores of `answer`, where `judgements` of the case have keys as a search shows them.
    pub fn scores(&self, case: &Case, judgements: &Judgements, answer: &Answer) -> Result<Scores> {
        let read: Vec<ReadSource> =
            serde_json::from_value(answer.context.clone()).map_err(|error| {
                Error::new(ErrorKind::Internal, format!("a context cannot be read: {error}"))
            })?;
        let mut scores = Vec::new();
        told(answer, &mut scores);
        let abstains = answer.supported == Some(false);
        let said = answer.text.as_deref().unwrap_or_default();
        let text = bare(said);
        let mut embedding = Embedding::with_model(None, CallContext::bulk())?;
        scores.push((
            EvalMetric::AnswerRelevance,
            match abstains || text.trim().is_empty() {
                true => Some(0.0),
                false => self.relevance(case, &text, &mut embedding)?,
            },
        ));
        if !case.answers.is_empty() {
            let text = if abstains { "" } else { text.as_str() };
            scores.extend(correct(case, text, &mut embedding)?);
        }
        if !abstains {
            scores.extend(cites(said, &read));
        }
        let place = |number: &usize| number.checked_sub(1).and_then(|at| read.get(at));
        let in_order: Vec<&ReadSource> = answer.reading_order.iter().filter_map(place).collect();
        let (precision, recall) = self.context(case, judgements, &in_order)?;
        scores.push((EvalMetric::ContextPrecision, precision));
        scores.push((EvalMetric::ContextRecall, recall));
        let known = scores.into_iter().filter_map(|(it, value)| Some((Measure::of(it), value?)));
        Ok(known.collect())
    }

    /// How near the answer comes to the question: itself, or the questions that it answers.
    fn relevance(&self, case: &Case, text: &str, embedding: &mut Embedding) -> Result<Option<f64>> {
        let question = embedding.embed(from_ref(&case.question), EmbeddingKind::Query)?;
        let Some(llm) = &self.llm else {
            let answer = embedding.embed(&[text.to_owned()], EmbeddingKind::Passage)?;
            return Ok(best_similarity(&question, &answer).map(|it| it.max(0.0)));
        };
        let wanted = RepresentOptions { questions: QUESTIONS, ..RepresentOptions::default() };
        let source = PromptSource { content: text.to_owned(), ..PromptSource::default() };
        let template = template::find(representation::TEMPLATE)?;
        let messages = representation::messages(&template, &source, &wanted, &random::nonce()?)?;
        let reply = generate(llm, messages, Sampling::default(), &CallContext::bulk())?;
        let Ok(texts) = representation::texts(&reply.text, &wanted) else {
            self.unread.set(self.unread.get() + 1);
            return Ok(None);
        };
        let asked: Vec<String> = texts.into_iter().map(|it| it.content).collect();
        let asked = embedding.embed(&asked, EmbeddingKind::Query)?;
        let near = asked.iter().filter_map(|it| best_similarity(&question, from_ref(it)));
        Ok(Some(near.map(|it| it.max(0.0)).sum::<f64>() / asked.len().max(1) as f64))
    }

    /// Precision and recall of what was read.
    fn context(
        &self,
        case: &Case,
        judgements: &Judgements,
        read: &[&ReadSource],
    ) -> Result<(Option<f64>, Option<f64>)> {
        if let Some(llm) = &self.llm {
            return Ok((self.useful(llm, case, read)?, self.attributed(llm, case, read)?));
        }
        let found: Vec<RankedChunk<'_>> = read.iter().filter_map(|it| it.ranked()).collect();
        if let Some((precision, recall)) = score::context(judgements, &found) {
            return Ok((Some(precision), Some(recall)));
        }
        if case.answers.is_empty() {
            return Ok((None, None));
        }
        let holds: Vec<bool> =
            read.iter().map(|it| holds_any(&it.content, &case.answers)).collect();
        let recall = f64::from(u8::from(holds.contains(&true)));
        Ok((Some(score::context_precision(&holds)), Some(recall)))
    }

    /// The precision of a context that `llm` grades.
    fn useful(
        &self,
        llm: &ProviderConfig,
        case: &Case,
        read: &[&ReadSource],
    ) -> Result<Option<f64>> {
        if read.is_empty() {
            return Ok(Some(0.0));
        }
        let source = |it: &&ReadSource| PromptSource {
            content: it.content.clone(),
            ..PromptSource::default()
        };
        let sources: Vec<PromptSource> = read.iter().map(source).collect();
        let messages = judge::messages(&case.question, &sources, &random::nonce()?);
        let reply = generate(llm, messages, Sampling::default(), &CallContext::bulk())?;
        let useful = judge::useful(&reply.text, read.len());
        if useful.is_none() {
            self.unread.set(self.unread.get() + 1);
        }
        Ok(useful.map(|useful| score::context_precision(&useful)))
    }

    /// The share of the claims of the first expected answer that `llm` finds in the context.
    fn attributed(
        &self,
        llm: &ProviderConfig,
        case: &Case,
        read: &[&ReadSource],
    ) -> Result<Option<f64>> {
        let Some(expected) = case.answers.first() else { return Ok(None) };
        let contexts: Vec<&str> = read.iter().map(|it| it.content.as_str()).collect();
        if contexts.is_empty() {
            return Ok(Some(0.0));
        }
        let verifier = Verifier::Llm(Box::new(llm.clone()));
        let checked =
            verifier.compare(&case.question, &bare(expected), &contexts, &CallContext::bulk())?;
        if checked.unread {
            self.unread.set(self.unread.get() + 1);
            return Ok(None);
        }
        let is_found = |verdict: &Verdict| *verdict == Verdict::Supported;
        let found = checked.claims.iter().filter(|claim| is_found(&claim.verdict)).count();
        Ok((!checked.claims.is_empty()).then(|| found as f64 / checked.claims.len() as f64))
    }
}

type KnownScore = Vec<(EvalMetric, Option<f64>)>;

/// What an answer says of itself.
fn told(answer: &Answer, scores: &mut KnownScore) {
    let flag = |is: bool| Some(f64::from(u8::from(is)));
    scores.push((EvalMetric::Abstention, flag(answer.supported == Some(false))));
    scores.push((EvalMetric::NeedsReview, flag(answer.needs_review)));
    scores.push((EvalMetric::Faithfulness, answer.faithfulness.map(f64::from)));
    let claims = answer.claims.as_array().map(Vec::as_slice).unwrap_or_default();
    let supported = claims.iter().filter(|claim| claim["verdict"] == "supported").count();
    let share = answer.faithfulness.map(|_| supported as f64 / claims.len().max(1) as f64);
    scores.push((EvalMetric::ClaimsSupported, share));
}

/// How near `text` comes to the expected answers; an empty one is as far as can be.
fn correct(case: &Case, text: &str, embedding: &mut Embedding) -> Result<KnownScore> {
    let similarity = match text.trim().is_empty() {
        true => 0.0,
        false => {
            let expected = embedding.embed(&case.answers, EmbeddingKind::Passage)?;
            let answer = embedding.embed(&[text.to_owned()], EmbeddingKind::Passage)?;
            best_similarity(&expected, &answer).unwrap_or_default().max(0.0)
        }
    };
    let f1 = token_f1(text, &case.answers);
    let flag = |is: bool| Some(f64::from(u8::from(is)));
    Ok(vec![
        (EvalMetric::ExactMatch, flag(is_exact(text, &case.answers))),
        (EvalMetric::TokenF1, Some(f1)),
        (EvalMetric::SemanticSimilarity, Some(similarity)),
        (EvalMetric::AnswerCorrectness, Some(correctness(f1, similarity))),
        (EvalMetric::AnswerHolds, flag(holds_any(text, &case.answers))),
    ])
}

fn cites(answer: &str, read: &[ReadSource]) -> KnownScore {
    let interrupt = &mut || {
        check_for_interrupts!();
    };
    let contexts: Vec<&str> = read.iter().map(|it| it.content.as_str()).collect();
    let found = citing(answer, &contexts, interrupt);
    vec![
        (EvalMetric::CitationRecall, found.map(|it| it.recall)),
        (EvalMetric::CitationPrecision, found.map(|it| it.precision)),
    ]
}
