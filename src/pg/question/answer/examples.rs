//! Answers of the past that a language model is shown as examples: those that readers liked, and those of an evaluation set.
//!
//! Both are read as the caller, so that row-level security holds. An example is an instruction in all but name, so of
//! what a superuser sees only answers are taken that roles were given whom a superuser trusts.

use std::collections::HashSet;

use crate::answer::example::{ExampleAnswer, fitting};
use crate::answer::options::AnswerOptions;
use crate::error::{Error, Result};
use crate::pg::catalog::evaluation;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::server::role;
use crate::pg::server::sql::{self, query, required};
use crate::pg::text_to_sql::relevance;
use crate::prompt::template::Template;
use crate::text_to_sql::lexical::{AskedWords, WeighedWords};

/// Most answers that are looked at, the best liked and newest, and most cases of an evaluation set.
const MOST_LOOKED_AT: i64 = 1000;

/// The examples that are shown with `question`, asked of these pipelines, the nearest last; none unless `options` say how
/// many.
pub fn chosen(
    question: &str,
    pipelines: &[String],
    options: &AnswerOptions,
) -> Result<Vec<String>> {
    if options.examples == 0 {
        return Ok(Vec::new());
    }
    let mut pairs = liked(pipelines)?;
    if let Some(set) = &options.example_set {
        pairs.extend(of_set(&evaluation::resolve(Some(set))?)?);
    }
    // What was answered to the question itself is no example of how, but what, and may be out of date.
    let mut seen = HashSet::from([folded(question)]);
    pairs.retain(|pair| seen.insert(folded(&pair.question)));
    Ok(fitting(&nearest(question, pairs)?, options.examples as usize))
}

/// An error where examples are wanted in a template that has no place for them.
pub fn check(template: Option<&Template>, options: &AnswerOptions) -> Result<()> {
    let lacks = |it: &&Template| it.variables().all(|name| name != "examples");
    match template.filter(|_| options.examples > 0).filter(lacks) {
        None => Ok(()),
        Some(Template { name, .. }) => {
            Err(Error::invalid(format!("template \"{name}\" has no place for examples"))
                .hint("Use the variable examples in it, outside of system messages, or a template that comes with pg_rag."))
        }
    }
}

/// Answers from these pipelines that were liked.
fn liked(pipelines: &[String]) -> Result<Vec<ExampleAnswer>> {
    let names: Vec<String> = pipelines.iter().cloned().chain([pipelines.join(", ")]).collect();
    let arguments = [role::current_role().into(), names.into(), MOST_LOOKED_AT.into()];
    sql::rows(query!(trace.liked), &arguments, |row| {
        Ok(ExampleAnswer { question: required(row.get(1)?)?, answer: required(row.get(2)?)? })
    })
}

/// Questions of an evaluation set with an answer that is expected.
fn of_set(set: &str) -> Result<Vec<ExampleAnswer>> {
    sql::rows(query!(evaluation.answered_cases), &[set.into(), MOST_LOOKED_AT.into()], |row| {
        Ok(ExampleAnswer { question: required(row.get(1)?)?, answer: required(row.get(2)?)? })
    })
}

/// The pairs by their questions, the most like `question` first.
fn nearest(question: &str, pairs: Vec<ExampleAnswer>) -> Result<Vec<ExampleAnswer>> {
    if pairs.len() < 2 {
        return Ok(pairs);
    }
    let words: Vec<WeighedWords> =
        pairs.iter().map(|pair| WeighedWords::of_text(&pair.question)).collect();
    let sentence = |place: usize| pairs[place].question.clone();
    let (asked, context) = (AskedWords::of(question), CallContext::query());
    let scores = relevance::scores(question, &asked, &words, &sentence, &context)?;
    let mut scored: Vec<(f64, ExampleAnswer)> = scores.into_iter().zip(pairs).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(scored.into_iter().map(|(_, pair)| pair).collect())
}

fn folded(question: &str) -> String {
    question.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
