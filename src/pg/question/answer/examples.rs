//! Answers of the past that a language model is shown as examples: those that readers liked, and those of an evaluation set.
//!
//! Both are read as the caller, so that row-level security holds. One role may ask for many users, whom a setting or a filter
//! tells apart. So an answer is taken only if all of it is cited, and all that it cites is found through the view of its
//! pipeline now, within the filter of the call. An example is an instruction in all but name, so a superuser is shown only
//! those of roles whom it trusts.

use std::collections::HashSet;

use pgrx::spi::SpiHeapTupleData;

use super::write;
use crate::answer::citation::Citation;
use crate::answer::example::{self, ExampleAnswer, cites_throughout, fitting, is_plain};
use crate::answer::options::AnswerOptions;
use crate::error::{Error, Result};
use crate::pg::catalog::evaluation;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::question::options::AskedOptions;
use crate::pg::ragd::hybrid_score::nearest;
use crate::pg::server::json::Jsonb;
use crate::pg::server::role;
use crate::pg::server::sql::{self, query, required};
use crate::prompt::template::Template;
use crate::source::{ChunkSpan, Place};

/// Most answers that are looked at, the best liked and newest, and most cases of an evaluation set.
const MOST_LOOKED_AT: i64 = 1000;

/// The option that names an evaluation set.
const SET: &str = "answer.example_set";

/// The examples that are shown with `question`, the nearest last; none unless the options say how many, and none beside an
/// answer in a form, which they are not in.
///
/// Fails where the call names an evaluation set that the caller does not have. One that the defaults of a pipeline name is for
/// those who have it.
pub fn chosen(
    question: &str,
    search: &FederatedSearch,
    asked: &AskedOptions,
) -> Result<Vec<String>> {
    let options = &asked.options.answer;
    if !are_wanted(options) {
        return Ok(Vec::new());
    }
    let mut pairs = still_found(liked(&search.pipelines())?, search)?;
    let mut interrupt = || {
        pgrx::check_for_interrupts!();
    };
    pairs.retain(|pair| is_plain(&pair.answer) && cites_throughout(&pair.answer, &mut interrupt));
    if let Some(set) = set(asked)? {
        pairs.extend(of_set(&set)?);
    }
    // What was answered to the question itself is no example of how, but what, and may be out of date.
    let mut seen = HashSet::from([folded(question), folded(&example::asked(question))]);
    pairs.retain(|pair| seen.insert(folded(&pair.question)));
    Ok(fitting(&nearest(question, pairs, |pair| &pair.question)?, options.examples as usize))
}

/// An error where examples are wanted in the template that is `named`, or the usual one, and it has no place for them.
pub fn check(named: Option<&Template>, options: &AnswerOptions) -> Result<()> {
    if !are_wanted(options) {
        return Ok(());
    }
    let template = write::template_or_usual(named)?;
    match template.variables().any(|name| name == "examples") {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "template \"{}\" has no place for examples",
            template.name
        ))
        .hint("Use the variable examples in it, outside of system messages, or a template that comes with pg_rag.")),
    }
}

fn are_wanted(options: &AnswerOptions) -> bool {
    options.examples > 0 && options.schema.is_none()
}

/// Answers that were liked, of these pipelines or of some of them together, each with the chunks that it cites. Those that cite
/// nothing, or anything but chunks, are left out: nothing says who may read them.
fn liked(pipelines: &[String]) -> Result<Vec<(ExampleAnswer, Vec<ChunkSpan>)>> {
    let names: Vec<String> = pipelines.iter().cloned().chain([pipelines.join(", ")]).collect();
    let arguments = [role::current_role().into(), names.into(), MOST_LOOKED_AT.into()];
    let read = |row: &SpiHeapTupleData<'_>| {
        let question: String = required(row.get(1)?)?;
        let pair = ExampleAnswer::liked(&question, required(row.get(2)?)?);
        let Jsonb(citations) = required(row.get::<Jsonb>(3)?)?;
        Ok((pair, citations))
    };
    let found = role::by_policies(|| sql::rows(query!(trace.liked), &arguments, read))?;
    let cited = |(pair, citations)| {
        let citations = serde_json::from_value::<Vec<Citation>>(citations).ok()?;
        let span = |citation: Citation| match citation.place {
            Place::Chunk(span) => Some(span),
            Place::Row(_) => None,
        };
        let spans = citations.into_iter().map(span).collect::<Option<Vec<ChunkSpan>>>()?;
        (!spans.is_empty()).then_some((pair, spans))
    };
    Ok(found.into_iter().filter_map(cited).collect())
}

/// Those of the pairs whose citations `search` may still find, all of them.
fn still_found(
    pairs: Vec<(ExampleAnswer, Vec<ChunkSpan>)>,
    search: &FederatedSearch,
) -> Result<Vec<ExampleAnswer>> {
    let cited: Vec<&ChunkSpan> = pairs.iter().flat_map(|(_, spans)| spans).collect();
    let mut found = search.still_found(&cited)?.into_iter();
    let mut kept = Vec::new();
    for (pair, spans) in pairs {
        // All of them are taken, so that the next pair's come first.
        let missing = found.by_ref().take(spans.len()).filter(|is_found| !is_found).count();
        if missing == 0 {
            kept.push(pair);
        }
    }
    Ok(kept)
}

/// The evaluation set that the options name, if the caller has it.
fn set(asked: &AskedOptions) -> Result<Option<String>> {
    let Some(name) = &asked.options.answer.example_set else { return Ok(None) };
    if !asked.is_said_by_call(SET) && !evaluation::exists(name)? {
        return Ok(None);
    }
    evaluation::resolve(Some(name)).map(Some)
}

/// Questions of an evaluation set with an answer that is expected.
fn of_set(set: &str) -> Result<Vec<ExampleAnswer>> {
    let arguments = [set.into(), role::current_role().into(), MOST_LOOKED_AT.into()];
    role::by_policies(|| {
        sql::rows(query!(evaluation.answered_cases), &arguments, |row| {
            Ok(ExampleAnswer { question: required(row.get(1)?)?, answer: required(row.get(2)?)? })
        })
    })
}

fn folded(question: &str) -> String {
    question.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
