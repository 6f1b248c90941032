//! The option `tree` of a pipeline: what it may be, and what is done where it changes.

use pgrx::notice;
use serde_json::{Value as Json, json};

use super::{FORM, KIND, changes, document_keys};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::{derivation, locking};
use crate::pg::derivation::{check_refresh, table, writer_named};
use crate::pg::server::sql::{self, query, render};
use crate::tree::MOST_LEAVES;
use crate::tree::options::{SummaryMethod, TreeOptions, TreeScope};
use crate::tree::written::{self, TEMPLATE};

/// Has `option` hold for a pipeline of the caller, and for its successor: an object, or `false` or null for no trees.
pub fn alter(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let option = match TreeOptions::read(option)? {
        Some(wanted) => Some(complete(pipeline, option, wanted)?),
        None => None,
    };
    for one in table::generations(pipeline)? {
        let current = derivation::of(one.id, KIND)?;
        if let (Some(it), Some(new)) = (&current, &option)
            && is_written(&it.options)?
            && !is_written(new)?
        {
            let summaries = forget_written(&one, &it.relation.sql)?;
            if summaries > 0 {
                let name = &one.name;
                notice!(
                    "{summaries} summaries that a language model has written for pipeline \"{name}\" are dropped"
                );
            }
        }
    }
    let current = derivation::of(pipeline.id, KIND)?.map(|it| it.options);
    if let Some(option) = option.as_ref().filter(|it| current.as_ref() != Some(*it)) {
        announce_calls(pipeline, option)?;
    }
    table::alter(pipeline, KIND, option.as_ref(), |one, option| create(one, option).map(drop))?;
    if option.is_none() {
        // Whoever marks documents or makes trees has a lock on the chunks: now that all is locked, nobody waits for a row.
        table::generations(pipeline)?.iter().try_for_each(|one| changes::forget(one.id))?;
    }
    Ok(())
}

/// Drops what a language model has written for a pipeline; how many summaries.
fn forget_written(pipeline: &Pipeline, tree: &str) -> Result<usize> {
    let forget = render(query!(tree.forget_written), &[("tree", tree)]);
    let summaries = as_owner(pipeline, || sql::execute(&forget, &[]))?;
    // They are missing from now on, also if the same language model is to write again before a run has seen that.
    derivation::forget_state(pipeline.id, KIND)?;
    Ok(summaries)
}

/// Makes the table of a pipeline's trees; its name in SQL.
fn create(pipeline: &Pipeline, option: &Json) -> Result<String> {
    // Who stores chunks at this moment may have seen no trees, and marks nothing. Those chunks are there once it has ended,
    // and who comes later sees the trees.
    locking::lock_against_writers(&pipeline.chunk_table)?;
    table::create_embedded(pipeline, &FORM, option)?;
    let made = derivation::of(pipeline.id, KIND)?
        .ok_or_else(|| Error::new(ErrorKind::Internal, "the table of trees is not there"))?;
    let tree = made.relation.sql;
    sql::execute(&render(query!(tree.create_indexes), &[("tree", &tree)]), &[])?;
    Ok(tree)
}

/// An error where what is wanted cannot be; else the option with the name of the language model that writes, if one does,
/// so that it does not depend on the role that embeds.
fn complete(pipeline: &Pipeline, option: &Json, wanted: TreeOptions) -> Result<Json> {
    check_refresh(KIND, pipeline.refresh)?;
    let mut option = option.clone();
    if wanted.summary == SummaryMethod::Llm {
        let template = wanted.template.as_deref().unwrap_or(TEMPLATE);
        let example = "{\"summary\": \"llm\", \"llm\": \"...\"}";
        let llm = writer_named(KIND, template, wanted.llm, example)?;
        option["llm"] = json!(llm);
    }
    Ok(option)
}

fn is_written(option: &Json) -> Result<bool> {
    Ok(TreeOptions::read(option)?.is_some_and(|it| it.summary == SummaryMethod::Llm))
}

fn is_over_corpus(option: &Json) -> Result<bool> {
    Ok(TreeOptions::read(option)?.is_some_and(|it| it.over == TreeScope::Corpus))
}

/// Says how many calls the summaries of all documents take, where a language model is to write them.
fn announce_calls(pipeline: &Pipeline, option: &Json) -> Result<()> {
    if !is_written(option)? {
        return Ok(());
    }
    let keys = document_keys(pipeline)?;
    let values = [("chunk_table", pipeline.chunk_table.sql.as_str()), ("keys", &keys)];
    let statement = render(query!(tree.lengths), &values);
    let lengths = as_owner(pipeline, || {
        sql::rows(&statement, &[(MOST_LEAVES as i64).into()], |row| {
            Ok((sql::required(row.get::<i64>(1)?)?, sql::required(row.get::<i64>(2)?)?))
        })
    })?;
    let all = || lengths.iter();
    let of = |members: i64| written::summaries(members as usize) as i64;
    let documents: i64 =
        all().filter(|(chunks, _)| *chunks > 1).map(|(_, documents)| documents).sum();
    let mut calls: i64 = all().map(|(chunks, documents)| of(*chunks) * documents).sum();
    let chunks: i64 = all().map(|(chunks, documents)| chunks * documents).sum();
    if is_over_corpus(option)? && chunks <= MOST_LEAVES as i64 {
        calls += of(all().map(|(_, documents)| documents).sum());
    }
    if calls > 0 {
        let (name, llm) = (&pipeline.name, option["llm"].as_str().unwrap_or_default());
        notice!(
            "calls of {llm} for the trees of pipeline \"{name}\": about {calls}; documents of more than one chunk: {documents}"
        );
    }
    Ok(())
}

/// Has a new pipeline, which has no chunks yet, keep what `option` says, if that is anything.
pub fn create_if_wanted(pipeline: &Pipeline, option: &Json) -> Result<()> {
    match TreeOptions::read(option)? {
        Some(_) => alter(pipeline, option),
        None => Ok(()),
    }
}

/// Gives a successor what the pipeline has whose place it is to take, with what a language model has written.
pub fn inherit(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    let Some(it) = derivation::of(old.id, KIND)? else { return Ok(()) };
    let tree = create(successor, &it.options)?;
    let values = [("tree", tree.as_str()), ("old", &it.relation.sql)];
    let inherit = render(query!(tree.inherit), &values);
    as_owner(successor, || sql::execute(&inherit, &[])).map(drop)
}
