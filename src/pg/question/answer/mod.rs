//! A question gets its answer: retrieve, choose what is read, have the answer written, check it.
//!
//! ```text
//! examples         answers of the past that a language model is shown
//! read             what is shown of the sources that were found
//! extract          the built-in answerer
//! write            a language model, in the way of a strategy
//! tools            what the strategy works with
//! kept             what it has replied about chunks that are still the same
//! semantic_cache   what it wrote for a question that means the same
//! checks           is it so?
//! verifier         what says whether it is
//! whole            what is quoted where the question asks for the whole
//! stream           all of this, passed on while it is written
//! abandoned        streams that are not read to their end
//! ```

mod abandoned;
mod checks;
pub mod examples;
mod extract;
mod kept;
mod read;
mod semantic_cache;
mod stream;
mod tools;
pub mod verifier;
mod whole;
mod write;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use checks::CheckOptions;
pub use read::{check_columns, check_compression, fitting_examples};
pub use stream::{AnswerStream, Record, stream};
pub use write::messages;

use self::tools::around;
use self::whole::WholeFindings;
use super::federation::FederatedSearch;
use crate::answer::draft::Draft;
use crate::answer::form::AnswerForm;
use crate::answer::strategy::{AnswerStrategy, ReadingCalls, StrategyOptions, StrategySources};
use crate::context::{ContextOptions, Reading};
use crate::error::{Error, Result};
use crate::extract::needs_language_model;
use crate::graph::communities::rank::CommunityQuest;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace;
use crate::prompt::sampling::SamplingParameters;
use crate::prompt::template::Template;
use crate::text_to_sql::options::SqlOptions;

/// Which model writes, and under which conditions.
pub struct Writing {
    /// What writes.
    pub llm: Llm,
    /// In how many calls.
    pub strategy: &'static AnswerStrategy,
    /// How the strategy goes about it.
    pub strategy_options: StrategyOptions,
    /// How the strategies `sql` and `agent` have queries written and run.
    pub sql: SqlOptions,
    /// Names of the functions that the strategy `agent` may call; `None`: all that the caller may.
    pub tools: Option<Vec<String>>,
    /// The template of the prompt; `None`: that of the pipeline, or the usual one.
    pub template: Option<Template>,
    /// The form of the answer; `None`: it is free text.
    pub form: Option<AnswerForm>,
    /// Whether the language model may use what it knows itself.
    pub own_knowledge: bool,
    /// Questions of the past with answers, which a language model is shown as examples.
    pub examples: Vec<String>,
    /// Confidence below which the extractive answerer abstains.
    pub min_confidence: Option<f32>,
    /// Most sentences of an extractive answer.
    pub max_sentences: Option<usize>,
    /// Most chunks that a reader reads for an extractive answer; `None`: as many as suit it.
    pub most_read: Option<u32>,
    /// How a language model chooses its words.
    pub sampling: SamplingParameters,
    /// Longest answer of a language model, in tokens.
    pub max_tokens: Option<u32>,
    /// Cosine from which on two questions in the same words mean the same; `None`: that of the embedding model.
    pub cache_similarity: Option<f32>,
    /// What is read of the sources.
    pub context: ContextOptions,
    /// How it is checked and shown.
    pub trust: CheckOptions,
}

/// An answer and what it stands on.
pub struct Answer {
    /// The text with its markers [n]; `None` where the documents hold no answer in the form that was asked for.
    pub text: Option<String>,
    /// Whether the documents hold the answer.
    pub supported: Option<bool>,
    /// Probability that they do, where the answerer gives one.
    pub confidence: Option<f32>,
    /// One object a citation; markers that point to nothing have only a marker and a position.
    pub citations: Value,
    /// The sources that were read, in the order of their numbers.
    pub context: Value,
    /// Those numbers in the order in which the sources were read.
    pub reading_order: Vec<usize>,
    /// The language model or answerer, tokens and times.
    pub usage: Value,
    /// One object a claim, with what its sources say of it.
    pub claims: Value,
    /// How well the sources say what the answer says, from 0 to 1; `None` where that was not
    /// verified.
    pub faithfulness: Option<f32>,
    /// Whether the answer ought to be reviewed.
    pub needs_review: bool,
    /// Whether what a language model has written is kept back, because it is too doubtful.
    pub is_kept_back: bool,
    /// Whether the text is JSON of a schema, and not free text.
    pub has_form: bool,
}

/// Answers `question` from the pipeline that `search` searches.
pub fn ask(question: &str, search: &FederatedSearch, writing: &Writing) -> Result<Answer> {
    let start = Instant::now();
    let (draft, retrieving) = match &writing.llm {
        Llm::Extractive => extracted(question, search, writing)?,
        Llm::Provider(llm) => write::write(question, search, writing, &llm.config)?,
    };
    let mut answer = judged(question, draft, writing, (search.model(), search.context))?;
    note_times(
        &mut answer,
        writing.llm.name(),
        retrieving,
        start.elapsed().saturating_sub(retrieving),
    );
    Ok(answer)
}

/// Adds which model wrote, and how long was searched and written.
fn note_times(answer: &mut Answer, llm: &str, retrieving: Duration, writing: Duration) {
    answer.usage["llm"] = json!(llm);
    answer.usage["retrieve_ms"] = milliseconds(retrieving);
    answer.usage["answer_ms"] = milliseconds(writing);
}

/// An error where the strategy needs a language model, and `llm` is the built-in answerer.
pub fn check_strategy(strategy: &AnswerStrategy, llm: &Llm) -> Result<()> {
    if strategy.is_for_extractive || !llm.is_extractive() {
        return Ok(());
    }
    let what = format!("strategy \"{}\"", strategy.name);
    Err(needs_language_model(&what).hint(
        "CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name. The strategies 'auto', 'compact', 'global' and 'local' need none.",
    ))
}

/// An error where the answer is to have a form, and `llm` is the built-in answerer.
pub fn check_form(form: Option<&AnswerForm>, llm: &Llm) -> Result<()> {
    match form {
        Some(_) if llm.is_extractive() => {
            Err(needs_language_model("an answer in the form of a schema").hint(
                "CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name, or leave out the option \"answer.schema\".",
            ))
        }
        _ => Ok(()),
    }
}

/// An error where own knowledge is wanted of the built-in answerer, which has none, or of a template that has no words
/// for it.
pub fn check_own_knowledge(template: Option<&Template>, llm: &Llm) -> Result<()> {
    if llm.is_extractive() {
        return Err(needs_language_model("own knowledge").hint(
            "CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name, or leave out the option \"answer.own_knowledge\".",
        ));
    }
    check_words_for_own_knowledge(template)
}

/// An error where own knowledge is wanted of a template that has no words for it.
pub fn check_words_for_own_knowledge(template: Option<&Template>) -> Result<()> {
    match template.filter(|it| it.variables().all(|name| name != "own_knowledge")) {
        None => Ok(()),
        Some(Template { name, .. }) => Err(Error::invalid(format!(
            "template \"{name}\" has no words for own knowledge"
        ))
        .hint(
            "Use the variable own_knowledge in it, or one of the templates standard and concise.",
        )),
    }
}

/// What the built-in answerer says, and how long was searched.
fn extracted(
    question: &str,
    search: &FederatedSearch,
    writing: &Writing,
) -> Result<(Draft, Duration)> {
    let start = Instant::now();
    let (mut found, strategy) = match writing.strategy.sources(&writing.strategy_options) {
        StrategySources::Communities(quest) => return digested(question, search, writing, quest),
        StrategySources::Surroundings(quest) => {
            let mut sources = around::surroundings(question, quest, search)?.sources;
            // What the columns of a row say is no sentence that could be quoted.
            sources.retain(|it| it.chunk().is_some());
            (WholeFindings::of_fact(sources), writing.strategy.name)
        }
        StrategySources::Found => {
            (whole::looked_up(question, search.sources(question)?, search)?, "compact")
        }
    };
    let retrieving = start.elapsed();
    let sources = std::mem::take(&mut found.sources);
    let readings = read::read(question, sources, search, writing, ReadingCalls::One)?;
    let models = (search.model(), search.context);
    let extract = || -> Result<Draft> {
        let quoted = |readings: &[Reading]| extract::quoted(readings, &found.paragraphs, writing);
        if let Some(draft) = found.are_meant.then(|| quoted(&readings)).flatten() {
            return Ok(draft);
        }
        let draft = extract::extract(question, readings, models, writing)?;
        let is_answer = draft.supported && found.is_answered_by(&draft.text);
        let quoted = (!is_answer).then(|| quoted(&draft.readings)).flatten();
        Ok(quoted.unwrap_or(draft))
    };
    let mut draft = trace::step("extract", String::new, extract)?;
    draft.usage["strategy"] = json!(strategy);
    Ok((draft, retrieving))
}

/// What stands for each of the communities that the question finds, and how long was searched.
fn digested(
    question: &str,
    search: &FederatedSearch,
    writing: &Writing,
    quest: CommunityQuest,
) -> Result<(Draft, Duration)> {
    let start = Instant::now();
    let communities = around::communities(question, quest, search, writing)?;
    let retrieving = start.elapsed();
    let (mut readings, mut groups) = (Vec::new(), Vec::with_capacity(communities.len()));
    for sources in communities {
        let first = readings.len();
        readings.extend(read::read(question, sources, search, writing, ReadingCalls::Several)?);
        groups.push(first..readings.len());
    }
    let digest = || Ok(extract::digested(readings, &groups, writing));
    let mut draft = trace::step("extract", String::new, digest)?;
    draft.usage["strategy"] = json!(writing.strategy.name);
    Ok((draft, retrieving))
}

/// The answer of a draft once it is checked, or what stands in its place; with the name of the embedding model.
fn judged(
    question: &str,
    draft: Draft,
    writing: &Writing,
    models: (&str, CallContext),
) -> Result<Answer> {
    let readings = writing.trust.has_substitute().then(|| draft.readings.clone());
    let check = || checks::checked(question, draft, &writing.trust, &models.1);
    let answer = trace::step("verify", String::new, check)?;
    match readings.filter(|_| answer.is_kept_back) {
        Some(readings) => substitute(question, answer, readings, models, writing),
        None => Ok(answer),
    }
}

/// What the built-in answerer says of what the language model has read, in the place of the answer that is kept back.
fn substitute(
    question: &str,
    kept_back: Answer,
    readings: Vec<Reading>,
    models: (&str, CallContext),
    writing: &Writing,
) -> Result<Answer> {
    let extract = || extract::extract(question, readings, models, writing);
    let mut draft = trace::step("extract", String::new, extract)?;
    let Answer { usage, claims, confidence, .. } = kept_back;
    draft.usage = usage;
    draft.usage["kept_back"] = json!({"confidence": confidence, "claims": claims});
    checks::checked(question, draft, &writing.trust, &models.1)
}

/// What is read, the tokens of each as it is sent, and last those of the overview before it.
pub fn context(
    question: &str,
    search: &FederatedSearch,
    writing: &Writing,
) -> Result<(Vec<Reading>, Vec<usize>)> {
    let readings =
        read::read(question, search.sources(question)?, search, writing, ReadingCalls::One)?;
    let sizes = read::sizes(&readings, search, writing)?;
    Ok((readings, sizes))
}

fn milliseconds(time: Duration) -> Value {
    json!((time.as_secs_f64() * 1e4).round() / 10.0)
}
