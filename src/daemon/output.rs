//! # What does the output of a model say of each text?
//!
//! ```text
//! tensor → vectors of texts, vectors of tokens, or scores
//! ```
//!
//! An embedding model gives a vector a token, or one a text that it has pooled itself; a
//! reranker one or two numbers a pair, or, if it is a reader, four a token; a token classifier one a
//! label and token.

use ort::session::{Session, SessionOutputs};

use super::model::{EmbeddingOutput, ModelRows, ModelText, unsupported};
use crate::embed::manifest::{Manifest, ModelTask};
use crate::embed::pooling::{self, Pooling};
use crate::embed::reader::{LOGITS, SpanScores, relevance};
use crate::error::{Error, ErrorKind, Result};
use crate::rerank::cross_encoder::{probability, probability_of};
use crate::text::token_labels::TokenLabels;

/// Outputs that hold a vector a token, then those that hold one a text, best first.
const VECTORS: [&str; 3] = ["last_hidden_state", "token_embeddings", "sentence_embedding"];

/// The output of a reader.
const READINGS: &str = "token_logits";

/// Outputs that hold numbers a token, then those that hold them a pair.
const SCORES: [&str; 2] = [READINGS, "logits"];

/// The output of a token classifier, with a number a token and label.
const LABELS: [&str; 1] = ["logits"];

/// The output that is used, and how it is read.
pub struct ModelOutput {
    /// Its name in the graph.
    pub name: String,
    task: ModelTask,
    entailment: Option<usize>,
    /// How many labels a token may have, of a token classifier.
    labels: usize,
    pooling: Pooling,
    normalize: bool,
    dimension: usize,
}

impl ModelOutput {
    /// The output to use, which is checked as far as the graph says what it is.
    pub fn choose(session: &Session, manifest: &Manifest, model: &str) -> Result<ModelOutput> {
        let outputs = session.outputs();
        let wanted = match manifest.task {
            ModelTask::Embed => &VECTORS[..],
            ModelTask::Rerank => &SCORES[..],
            ModelTask::ClassifyTokens => &LABELS[..],
        };
        let chosen = wanted
            .iter()
            .find_map(|name| outputs.iter().find(|output| output.name() == *name))
            .or(outputs.first())
            .ok_or_else(|| unsupported(model, "has no outputs"))?;
        let output = ModelOutput {
            name: chosen.name().to_string(),
            task: manifest.task,
            entailment: manifest.entailment,
            labels: manifest.labels.as_ref().map_or(0, TokenLabels::count),
            pooling: manifest.pooling,
            normalize: manifest.normalize,
            dimension: manifest.dimension as usize,
        };
        match chosen.dtype().tensor_shape().map(|shape| &shape[..]) {
            Some(shape) if shape.last().is_some_and(|last| *last >= 0) => {
                output.check_width(model, shape)?;
            }
            _ => {}
        }
        Ok(output)
    }

    /// What is read of each text of a batch. `model` is the model's name for messages.
    pub fn read(
        &self,
        model: &str,
        outputs: &SessionOutputs,
        batch: &[&ModelText],
        rows: &ModelRows,
    ) -> Result<Vec<Vec<f32>>> {
        let value = outputs
            .get(&self.name)
            .ok_or_else(|| unsupported(model, &format!("gave no output \"{}\"", self.name)))?;
        let (shape, numbers) = value.try_extract_tensor::<f32>().map_err(|_| {
            let what = format!("gives \"{}\" as {}, not as f32", self.name, value.dtype());
            unsupported(model, &what).hint("Use an ONNX file with 32-bit output.")
        })?;
        self.check_width(model, shape)?;
        let (count, length) = (rows.count as i64, rows.length as i64);
        match (self.task, &shape[..]) {
            (ModelTask::Rerank, [texts, tokens, _])
                if self.is_reader() && *texts == count && *tokens == length =>
            {
                let texts = numbers.chunks_exact(rows.length * LOGITS).zip(batch);
                texts.map(|(logits, text)| read_tokens(model, logits, text)).collect()
            }
            (ModelTask::Rerank, [texts] | [texts, _]) if *texts == count => {
                let labels = numbers.len() / rows.count;
                Ok(numbers.chunks_exact(labels).map(|logits| vec![self.score(logits)]).collect())
            }
            (ModelTask::Embed, [texts, _]) if *texts == count => {
                let texts = numbers.chunks_exact(self.dimension).zip(batch);
                texts.map(|(vector, text)| self.pooled(model, vector, text)).collect()
            }
            (ModelTask::Embed, [texts, tokens, _]) if *texts == count && *tokens == length => {
                let texts = numbers.chunks_exact(rows.length * self.dimension).zip(batch);
                Ok(texts.map(|(hidden, text)| self.of_tokens(hidden, text)).collect())
            }
            (ModelTask::ClassifyTokens, [texts, tokens, _])
                if *texts == count && *tokens == length =>
            {
                let texts = numbers.chunks_exact(rows.length * self.labels).zip(batch);
                texts.map(|(logits, text)| self.token_labels(model, logits, text)).collect()
            }
            _ => Err(unsupported(model, &format!("gave an output of shape {shape}"))),
        }
    }

    fn is_reader(&self) -> bool {
        self.task == ModelTask::Rerank && self.name == READINGS
    }

    /// What is read of the numbers of a pair.
    fn score(&self, logits: &[f32]) -> f32 {
        match self.entailment {
            Some(at) => probability_of(at, logits),
            None => probability(logits),
        }
    }

    /// What is read of a text of which the graph gives one vector.
    fn pooled(&self, model: &str, vector: &[f32], text: &ModelText) -> Result<Vec<f32>> {
        match text.reading {
            EmbeddingOutput::Pooled => Ok(self.scaled(vector.to_vec())),
            _ => Err(unsupported(model, "gives one vector a text and none a token")
                .hint("What looks at tokens needs a model with the output last_hidden_state.")),
        }
    }

    /// What is read of a text of which the graph gives a vector a token.
    fn of_tokens(&self, hidden: &[f32], text: &ModelText) -> Vec<f32> {
        let (length, dimension) = (text.tokens.len(), self.dimension);
        let tokens = &hidden[..length * dimension];
        match &text.reading {
            EmbeddingOutput::Pooled => self.scaled(self.pooling.pool(hidden, length, dimension)),
            EmbeddingOutput::Spans(spans) => spans
                .iter()
                .flat_map(|span| {
                    let tokens = &tokens[span.start * dimension..span.end * dimension];
                    self.scaled(self.pooling.pool(tokens, span.len(), dimension))
                })
                .collect(),
            EmbeddingOutput::Match(query) => vec![query.score(tokens)],
            EmbeddingOutput::Tokens
            | EmbeddingOutput::Score
            | EmbeddingOutput::SpanScores(_)
            | EmbeddingOutput::Labels(_) => tokens.to_vec(),
        }
    }

    /// The numbers of the labels that the tokens of a text have.
    fn token_labels(&self, model: &str, logits: &[f32], text: &ModelText) -> Result<Vec<f32>> {
        let EmbeddingOutput::Labels(tokens) = &text.reading else {
            return Err(unsupported(model, "is a token classifier and gives labels alone"));
        };
        let logits = &logits[tokens.start * self.labels..tokens.end * self.labels];
        Ok(logits.chunks_exact(self.labels).map(best_label).collect())
    }

    fn scaled(&self, mut vector: Vec<f32>) -> Vec<f32> {
        if self.normalize {
            pooling::normalize(&mut vector);
        }
        vector
    }

    fn check_width(&self, model: &str, shape: &[i64]) -> Result<()> {
        let width = shape.last().copied().unwrap_or(0);
        match self.task {
            ModelTask::Rerank if self.is_reader() && width == LOGITS as i64 => Ok(()),
            ModelTask::Rerank if self.is_reader() => {
                let what = format!("gives {width} numbers a token, not {LOGITS}");
                Err(unsupported(model, &what))
            }
            ModelTask::Rerank if self.entailment.is_some_and(|at| width > at as i64) => Ok(()),
            ModelTask::Rerank if shape.len() < 2 || (1..=2).contains(&width) => Ok(()),
            ModelTask::Rerank => {
                let what = format!("gives {width} numbers a pair, not one or two");
                Err(unsupported(model, &what))
            }
            ModelTask::ClassifyTokens if width == self.labels as i64 => Ok(()),
            ModelTask::ClassifyTokens => {
                let labels = self.labels;
                let what =
                    format!("gives {width} numbers a token, its config.json has {labels} labels");
                Err(unsupported(model, &what))
            }
            ModelTask::Embed if width == self.dimension as i64 => Ok(()),
            ModelTask::Embed => Err(Error::new(
                ErrorKind::DimensionMismatch,
                format!(
                    "model \"{model}\" gave vectors of {width} dimensions, its config.json says {}",
                    self.dimension
                ),
            )),
        }
    }
}

/// The number of the label with the greatest logit, the first of equal ones; NaN where one of them is no number.
fn best_label(logits: &[f32]) -> f32 {
    if logits.iter().any(|logit| logit.is_nan()) {
        return f32::NAN;
    }
    let mut best = 0;
    for (label, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = label;
        }
    }
    best as f32
}

/// What is read of the logits of a question with a passage.
fn read_tokens(model: &str, logits: &[f32], text: &ModelText) -> Result<Vec<f32>> {
    match &text.reading {
        EmbeddingOutput::Score => Ok(vec![probability(&[relevance(logits)])]),
        EmbeddingOutput::SpanScores(spans) => {
            Ok(spans.iter().flat_map(|span| SpanScores::of(logits, span).numbers()).collect())
        }
        _ => Err(unsupported(model, "is a reader and gives no vectors")),
    }
}
