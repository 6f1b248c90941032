//! Which pipeline a question goes to, where the caller leaves that open.

use pgrx::prelude::*;

use super::options::CallOptions;
use super::rewrite::RewriteModel;
use super::search::SearchedPipeline;
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::{description, pipeline, stranger, template};
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::retrieve::RetrieveOptions;
use crate::rewrite::route::{self, AUTO, Choice, Route, TEMPLATE};

/// The pipeline that is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChosenPipeline {
    /// Its name; `None` for the only one.
    pub name: Option<String>,
    /// Whether the caller named it.
    pub is_named: bool,
}

impl ChosenPipeline {
    /// What the caller says, where that is not left open.
    pub fn by_caller(name: Option<&str>) -> Self {
        ChosenPipeline { name: name.map(str::to_owned), is_named: name.is_some() }
    }

    /// The pipeline itself.
    pub fn searched(&self) -> Result<SearchedPipeline> {
        let pipeline = pipeline::resolve(self.name.as_deref())?;
        Ok(SearchedPipeline { pipeline, is_named: self.is_named })
    }
}

/// The pipeline that is asked: `name`, unless that is 'auto', or there is none and the option
/// `route` is given. A NOTICE says which one was chosen, of those that run no code of roles that
/// the caller has no reason to trust. The call and the settings say how, and no pipeline does.
pub fn pipeline_for(
    name: Option<&str>,
    question: &str,
    call: &CallOptions,
) -> Result<ChosenPipeline> {
    let (options, llm) = (&call.options.retrieve, call.options.llm.as_deref());
    if !is_open(name, options) {
        return Ok(ChosenPipeline::by_caller(name));
    }
    let choices = choices()?;
    let place = match (choices.len(), options.route.unwrap_or_default()) {
        // Which is an error that says so, or the only one.
        (0 | 1, _) => 0,
        (_, Route::Similarity) => nearest(question, &choices)?,
        (_, Route::Llm) => {
            let llm = RewriteModel::named("route \"llm\"", &options.rewrite, llm)?;
            route::ask(
                question,
                &choices,
                &template::find(TEMPLATE)?,
                &mut llm.writer(CallContext::query()),
            )?
        }
    };
    let chosen = choices.into_iter().nth(place).map(|choice| choice.name);
    if let Some(name) = &chosen {
        notice!("pipeline \"{name}\" was chosen");
    }
    Ok(ChosenPipeline { name: chosen, is_named: false })
}

/// What can be chosen; an error where there are pipelines and none of them can.
fn choices() -> Result<Vec<Choice>> {
    let (mut choices, mut others) = (Vec::new(), Vec::new());
    for (id, choice) in description::choices()? {
        match stranger::runs_no_code(id)? {
            true => choices.push(choice),
            false => others.push(choice.name),
        }
    }
    if choices.is_empty() && !others.is_empty() {
        return Err(Error::new(ErrorKind::Forbidden, "there is no pipeline that can be chosen")
            .detail("What may run code of a role that you do not trust is asked only by its name.")
            .hint(format!("Add pipeline => with one of: {}.", others.join(", "))));
    }
    Ok(choices)
}

/// Whether the pipeline depends on the question.
pub fn is_open(name: Option<&str>, options: &RetrieveOptions) -> bool {
    name.map_or(options.route.is_some(), |name| name == AUTO)
}

fn nearest(question: &str, choices: &[Choice]) -> Result<usize> {
    let mut embedding = Embedding::with_model(None, CallContext::query())?;
    let asked = embedding.embed(&[question.to_owned()], EmbeddingKind::Query)?;
    // One at a time, so that the session remembers each.
    let mut describe = |it: &Choice| -> Result<Vec<f32>> {
        Ok(embedding
            .embed(std::slice::from_ref(&it.description), EmbeddingKind::Passage)?
            .swap_remove(0))
    };
    let descriptions = choices.iter().map(&mut describe).collect::<Result<Vec<_>>>()?;
    Ok(route::nearest(&asked[0], &descriptions).unwrap_or_default())
}
