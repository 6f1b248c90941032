//! What is a model for? Its `config.json` says it, by the head that it has.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model_file::{corrupted, number, unsupported};
use crate::error::Result;
use crate::text::token_labels::TokenLabels;

/// Labels of a reranker: relevant, or irrelevant and relevant.
const MOST_LABELS: u64 = 2;

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ModelTask {
    /// The model gives a vector for a text.
    Embed,
    /// The model reads two texts together and gives a score.
    Rerank,
    /// The model gives each token of a text a label, by which names are found.
    ClassifyTokens,
}

impl ModelTask {
    /// The name that is stored.
    pub fn name(self) -> &'static str {
        match self {
            ModelTask::Embed => "embed",
            ModelTask::Rerank => "rerank",
            ModelTask::ClassifyTokens => "token_classification",
        }
    }

    /// What a model of this task is, with its article, as errors say it.
    pub fn noun(self) -> &'static str {
        match self {
            ModelTask::Embed => "an embedding model",
            ModelTask::Rerank => "a reranker",
            ModelTask::ClassifyTokens => "a token classifier",
        }
    }

    /// The task of this name, if there is one.
    pub fn named(name: &str) -> Option<ModelTask> {
        let all = [ModelTask::Embed, ModelTask::Rerank, ModelTask::ClassifyTokens];
        all.into_iter().find(|task| task.name() == name)
    }
}

/// What the `config.json` at `path` says that its model is for. A model with a head that classifies texts reads pairs, and
/// one that says nothing is taken for an embedding model.
pub(super) fn task(path: &Path, config: &Value) -> Result<ModelTask> {
    let architectures = config["architectures"].as_array().into_iter().flatten();
    let names: Vec<&str> = architectures.filter_map(Value::as_str).collect();
    if names.iter().any(|name| name.ends_with("ForTokenClassification")) {
        return Ok(ModelTask::ClassifyTokens);
    }
    if !names.iter().any(|name| name.ends_with("ForSequenceClassification")) {
        return Ok(ModelTask::Embed);
    }
    let labels = number(config, "num_labels")
        .or_else(|| config["id2label"].as_object().map(|labels| labels.len() as u64));
    match labels {
        Some(labels) if labels > MOST_LABELS && entailment(config).is_none() => {
            Err(unsupported(path, &format!("a classification into {labels} labels"))
                .hint("A reranker has one label, or two: irrelevant and relevant. A model of natural language inference has one that is called entailment."))
        }
        _ => Ok(ModelTask::Rerank),
    }
}

/// Which label says that one text follows from the other.
pub(super) fn entailment(config: &Value) -> Option<usize> {
    let labels = config["id2label"].as_object()?;
    let is_it = |label: &Value| {
        label.as_str().is_some_and(|label| label.to_lowercase().starts_with("entail"))
    };
    let (number, _) = labels.iter().find(|(_, label)| is_it(label))?;
    number.parse().ok().filter(|number| *number < labels.len())
}

/// The labels of tokens that the `config.json` at `path` names.
pub(super) fn token_labels(path: &Path, config: &Value) -> Result<TokenLabels> {
    let missing = || corrupted(path, "it has no \"id2label\", which names the labels of tokens");
    let labels = config["id2label"].as_object().filter(|it| !it.is_empty()).ok_or_else(missing)?;
    let name = |number: usize| labels.get(&number.to_string()).and_then(Value::as_str);
    let names: Option<Vec<&str>> = (0..labels.len()).map(name).collect();
    let gap = || corrupted(path, "the numbers of \"id2label\" do not count from 0");
    TokenLabels::read(&names.ok_or_else(gap)?).map_err(|what| {
        unsupported(path, &what)
            .hint("Labels are O and the kinds of names, such as B-PER and I-PER.")
    })
}
