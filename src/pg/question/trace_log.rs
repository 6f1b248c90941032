//! `rag.trace_log` and `rag.feedback`.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use pgrx::Uuid;
use pgrx::datum::Interval;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::question::answer::Answer;
use crate::pg::ragd::classify;
use crate::pg::ragd::trace::TraceStep;
use crate::pg::server::guc::TraceLevel;
use crate::pg::server::json::Jsonb;
use crate::pg::server::sql::query;
use crate::pg::server::{random, role, sql, transaction};
use crate::protocol::ModelRef;
use crate::redact::json;
use crate::redact::redaction::Redaction;

/// What was asked, and what answered it.
pub struct TracedQuestion {
    /// The question's text.
    pub question: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// How the chunks were put to the answerer.
    pub strategy: String,
    /// 'extractive' or the foreign server that wrote.
    pub llm: String,
}

/// Keeps how an answer came about, for its role; the ID. `None` where nothing is to be kept, or
/// nothing can be: on a standby, and in a transaction that only reads.
pub fn keep(
    level: TraceLevel,
    asked: &TracedQuestion,
    answer: &Answer,
    steps: &[TraceStep],
) -> Result<Option<Uuid>> {
    if level == TraceLevel::Off || !transaction::can_write() {
        return Ok(None);
    }
    let is_full = level == TraceLevel::Full;
    let id = random::uuid()?;
    let sum = |figure: fn(&TraceStep) -> u64| {
        let sum = steps.iter().map(figure).fold(0, u64::saturating_add);
        i64::try_from(sum).unwrap_or(i64::MAX)
    };
    let words =
        if is_full { TracedWords::new(asked, answer, steps) } else { TracedWords::default() };
    let arguments = [
        id.into(),
        role::current_user().into(),
        asked.pipeline.as_str().into(),
        asked.strategy.as_str().into(),
        asked.llm.as_str().into(),
        words.question.as_deref().into(),
        words.answer.as_deref().into(),
        answer.supported.into(),
        answer.confidence.into(),
        words.citations.map(Jsonb).into(),
        Jsonb(words.steps.unwrap_or_else(|| steps_of(steps, false))).into(),
        sum(|step| step.usage.embedding_tokens).into(),
        sum(|step| step.usage.llm_calls).into(),
        sum(|step| step.usage.llm_tokens).into(),
        sum(|step| step.usage.cache_hits).into(),
        steps.iter().map(|step| step.usage.cost).sum::<f64>().into(),
        steps.iter().map(|step| step.ms).sum::<f64>().into(),
        sum(|step| step.usage.cached_tokens).into(),
    ];
    // Traces are not the caller's to write: what is there has happened.
    let statement = query!(trace.insert);
    role::as_superuser(|| sql::execute(statement, &arguments))?;
    Ok(Some(id))
}

fn steps_of(steps: &[TraceStep], is_full: bool) -> Value {
    steps.iter().map(|step| step.to_json(is_full)).collect()
}

/// What a trace has of the words of users and documents.
#[derive(Default)]
struct TracedWords {
    question: Option<String>,
    answer: Option<String>,
    citations: Option<Value>,
    steps: Option<Value>,
}

impl TracedWords {
    /// All of them; with placeholders where personal data are kept from a server that has read
    /// some of it, and where nothing says from which they are.
    fn new(asked: &TracedQuestion, answer: &Answer, steps: &[TraceStep]) -> TracedWords {
        let words = TracedWords {
            question: Some(asked.question.clone()),
            answer: answer.text.clone(),
            citations: Some(answer.citations.clone()),
            steps: Some(steps_of(steps, true)),
        };
        let hides_pii = steps.is_empty() || steps.iter().any(|step| step.hides_pii);
        if !hides_pii {
            return words;
        }
        let models = steps.iter().flat_map(|step| &step.redact_models);
        let models: HashSet<&ModelRef> = models.collect();
        let within = steps.iter().map(|step| step.redact_within).max().unwrap_or_default();
        // Words of which a model cannot say in time whose they are are not kept. The answer is there, and paid for.
        words.told_by(models, within).map(|redaction| words.redacted(redaction)).unwrap_or_default()
    }

    /// What these models find in the words. Fails where they need longer than `within`.
    fn told_by(&self, models: HashSet<&ModelRef>, within: Duration) -> Result<Redaction> {
        let mut redaction = Redaction::default();
        if models.is_empty() {
            return Ok(redaction);
        }
        let plain = [&self.question, &self.answer].into_iter().flatten().map(String::as_str);
        let nested = [&self.citations, &self.steps].into_iter().flatten().flat_map(json::strings);
        let texts: BTreeSet<&str> = plain.chain(nested).collect();
        let texts: Vec<&str> = texts.into_iter().collect();
        let begun = Instant::now();
        let mut watch = || match begun.elapsed() >= within {
            true => Err(too_slow(within)),
            false => Ok(()),
        };
        for (text, found) in classify::personal_data(models, &texts, &mut watch)? {
            redaction.tell(text, found);
        }
        Ok(redaction)
    }

    fn redacted(mut self, mut redaction: Redaction) -> TracedWords {
        let redaction = &mut redaction;
        let look: &mut dyn FnMut() = &mut || {
            pgrx::check_for_interrupts!();
        };
        for text in [&self.question, &self.answer].into_iter().flatten() {
            redaction.learn(text, look);
        }
        for document in [&self.citations, &self.steps].into_iter().flatten() {
            json::learn(redaction, document, look);
        }
        for text in [&mut self.question, &mut self.answer].into_iter().flatten() {
            *text = redaction.replace(text, look);
        }
        for document in [&mut self.citations, &mut self.steps].into_iter().flatten() {
            json::replace(redaction, document, look);
        }
        self
    }
}

fn too_slow(within: Duration) -> Error {
    let seconds = within.as_secs_f64();
    let message = format!("personal data of a trace were not found within {seconds} s");
    Error::new(ErrorKind::ProviderTimeout, message)
}

/// Keeps what the caller thinks of an answer, of which the trace must be the caller's.
pub fn give_feedback(trace: Uuid, score: f32, comment: Option<&str>) -> Result<()> {
    if !(0.0..=1.0).contains(&score) {
        return Err(Error::invalid(format!("score must be between 0 and 1: {score}"))
            .hint("1 is a good answer, 0 is a bad one."));
    }
    let find = query!(trace.is_seen);
    // Also one that the statement under way has written.
    let seen = role::by_policies(|| {
        sql::changed_rows(find, &[trace.into()], |row| sql::required(row.get::<bool>(1)?))
    })?;
    let unknown = || {
        let message = format!("trace {trace} does not exist, or is of another role");
        Error::new(ErrorKind::UndefinedObject, message)
            .hint("SET rag.trace = 'summary', and take the trace_id of rag_answer_details.")
    };
    if !seen.contains(&true) {
        return Err(unknown());
    }
    let arguments = [trace.into(), role::current_user().into(), score.into(), comment.into()];
    let statement = query!(trace.insert_feedback);
    // It may just have been purged.
    match role::as_superuser(|| sql::execute(statement, &arguments))? {
        0 => Err(unknown()),
        _ => Ok(()),
    }
}

/// Deletes traces of the caller's that are older than so long; how many.
pub fn purge(older_than: Interval) -> Result<i64> {
    let arguments = [role::current_role().into(), older_than.into()];
    let statement = query!(trace.purge);
    role::as_superuser(|| sql::changed_number(statement, &arguments))
}

/// Deletes a trace of the caller's; whether it was there.
pub fn delete(trace: Uuid) -> Result<bool> {
    let arguments = [role::current_role().into(), trace.into()];
    let statement = query!(trace.delete);
    Ok(role::as_superuser(|| sql::execute(statement, &arguments))? > 0)
}
