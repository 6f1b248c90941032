//! What a pipeline is to say of its questions: is there what it names?

use serde_json::Value;

use super::answer::verifier::Verifier;
use super::answer::{self, examples};
use super::options::CallOptions;
use super::route;
use super::search::{Search, SearchedPipeline};
use crate::answer::shown::check_link_template;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::catalog::{model, question_defaults, template};
use crate::pg::ragd::generate::check_schema;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::rerank::Reranker;
use crate::prompt::messages;
use crate::request::{QuestionOptions, WrittenOptions};
use crate::rerank::LLM;
use crate::text_to_sql::options::{SqlOptions, TEMPLATE};
use crate::{rewrite, text_to_sql};

/// Keeps `defaults` of a pipeline that is the caller's, if there is all that they name; empty ones take them
/// away.
pub fn store(pipeline: &Pipeline, defaults: WrittenOptions) -> Result<()> {
    check(pipeline, &defaults).map_err(question_defaults::in_defaults)?;
    question_defaults::store(pipeline.id, defaults)
}

/// An error where `defaults` of a pipeline name what there is not, or what cannot be used in its place. Those that the
/// strategy does not read are for calls with another.
pub fn check(pipeline: &Pipeline, defaults: &WrittenOptions) -> Result<()> {
    let call = CallOptions::of(WrittenOptions::default(), defaults.clone())?;
    let mut asked = call.with_defaults(pipeline, WrittenOptions::default())?;
    check_names(pipeline, &asked.options)?;
    check_templates(&asked.options)?;
    if let Some(schema) = &asked.options.answer.schema {
        check_schema(&Value::Object(schema.clone()).to_string())?;
    }
    // What asks a language model depends on the setting rag.llm, and so on who asks.
    (asked.options.retrieve.rewrite.way, asked.options.retrieve.rerank) = (None, None);
    let searched = SearchedPipeline::new(pipeline.clone(), true);
    let search = Search::new(searched, &asked, 1)?;
    answer::check_columns(&asked, search.metadata())?;
    check_cited(&asked.options, search.metadata())
}

/// An error for a server or a model that there is not.
fn check_names(pipeline: &Pipeline, options: &QuestionOptions) -> Result<()> {
    let QuestionOptions { llm, retrieve, context, answer, verify, .. } = options;
    for name in [llm, &retrieve.rewrite.llm, &verify.llm].into_iter().flatten() {
        Llm::named(name)?;
    }
    for name in answer.fallback.names() {
        route::check_there(name)?;
    }
    if let Some(name) = &context.tokenizer {
        model::find(Some(name))?;
    }
    if let Some(name) = retrieve.reranker().filter(|name| *name != LLM) {
        Reranker::named(name, Some(&pipeline.model), None)?.check()?;
    }
    if let Some(name) = verify.by.as_deref().filter(|name| *name != LLM) {
        Verifier::named(Some(name), &Llm::Extractive)?;
    }
    Ok(())
}

/// An error for a template that there is not, or that does not fit its place.
fn check_templates(options: &QuestionOptions) -> Result<()> {
    let QuestionOptions { retrieve, answer, .. } = options;
    if let Some(name) = &retrieve.rewrite.template {
        rewrite::check_template(&template::find(name)?)?;
    }
    let named = answer.template.as_deref().map(template::find).transpose()?;
    if let Some(template) = &named {
        messages::check_template(template)?;
    }
    if answer.own_knowledge {
        answer::check_words_for_own_knowledge(named.as_ref())?;
    }
    examples::check(named.as_ref(), answer)?;
    let sql = SqlOptions::of_answer(answer.sql.clone())?;
    match sql.template == TEMPLATE {
        true => Ok(()),
        false => text_to_sql::prompt::check_template(&template::find(&sql.template)?),
    }
}

/// An error for a column of which citations are made that there is not.
fn check_cited(options: &QuestionOptions, columns: &[ViewColumn]) -> Result<()> {
    let cite = &options.cite;
    let named =
        [("cite.link_column", &cite.link_column), ("cite.source_column", &cite.source_column)];
    for (option, name) in named {
        let Some(name) = name else { continue };
        if !columns.iter().any(|column| column.bare() == *name) {
            return Err(Error::new(
                ErrorKind::UndefinedObject,
                format!("option \"{option}\" names \"{name}\", which is no metadata column of the pipeline"),
            )
            .hint("rag_create_pipeline(..., metadata => ARRAY['url']) declares one."));
        }
    }
    let columns: Vec<String> = columns.iter().map(ViewColumn::bare).collect();
    match &cite.link_template {
        Some(template) => check_link_template(template, &columns),
        None => Ok(()),
    }
}
