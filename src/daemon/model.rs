//! # From tokens to vectors and scores
//!
//! ```text
//! (batch of token lists) → numbers for each
//! ```
//!
//! A model is an ONNX graph and the rules of its manifest: what it is for, which tokens make
//! the vector and whether it is scaled to length 1. What is read of its output is the subject
//! of `output.rs`. Inputs are given by name; a graph that wants one that
//! isn't known here is refused when it is loaded, not when it first computes nonsense.
//!
//! A model without a graph is in `static_model.rs`.

use std::ops::Range;
use std::sync::Arc;

use ort::ep;
use ort::logging::LogLevel;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{HasSelectedOutputs, OutputSelector, RunOptions, Session, SessionInputValue};
use ort::value::{Outlet, Tensor, TensorElementType};

use super::output::ModelOutput;
use super::runtime::{Runtime, kind_of_failure};
use super::static_model::StaticModel;
use crate::embed::manifest::Manifest;
use crate::embed::pooling;
use crate::error::{Error, ErrorKind, Result};
use crate::rerank::late_interaction::TokenQuery;

/// What runs batches of texts.
pub enum ModelInMemory {
    /// A graph.
    Graph(Box<OnnxModel>),
    /// A table of vectors.
    Table(StaticModel),
}

impl ModelInMemory {
    /// The name by which the model was loaded.
    pub fn name(&self) -> &str {
        match self {
            ModelInMemory::Graph(model) => model.name(),
            ModelInMemory::Table(model) => model.name(),
        }
    }

    /// What is read of each of a batch of texts, in their order.
    pub fn run(&mut self, batch: &[&ModelText]) -> Result<Vec<Vec<f32>>> {
        match self {
            ModelInMemory::Graph(model) => model.run(batch),
            ModelInMemory::Table(model) => model.run(batch),
        }
    }
}

/// A graph in memory.
pub struct OnnxModel {
    name: String,
    session: Session,
    options: RunOptions<HasSelectedOutputs>,
    inputs: Vec<ModelInput>,
    output: ModelOutput,
    pad_token: u32,
}

/// A text, or a pair of them, as a model gets it.
pub struct ModelText {
    /// Its tokens, one at least.
    pub tokens: Vec<u32>,
    /// Where the second of a pair begins; the number of tokens if there is none.
    pub second: usize,
    /// What is read of the model's output for it.
    pub reading: EmbeddingOutput,
}

/// What is read of what an embedding model gives for a text; a reranker gives a score, and a token classifier labels.
#[derive(Clone)]
pub enum EmbeddingOutput {
    /// The text's vector.
    Pooled,
    /// The vectors of its tokens, one after the other.
    Tokens,
    /// The vectors of runs of its tokens, one after the other.
    Spans(Vec<Range<usize>>),
    /// How well its tokens match those of a question.
    Match(Arc<TokenQuery>),
    /// The score of a pair.
    Score,
    /// What a reader says of runs of its tokens, one after the other.
    SpanScores(Vec<Range<usize>>),
    /// The numbers of the labels that a token classifier gives a run of its tokens.
    Labels(Range<usize>),
}

/// An input of the graph.
struct ModelInput {
    name: String,
    role: InputRole,
    wide: bool,
}

/// What an input is for.
#[derive(Clone, Copy)]
enum InputRole {
    Tokens,
    Mask,
    Types,
}

impl OnnxModel {
    /// Loads the graph of `manifest`; `threads` work on a batch together.
    ///
    /// `name` is the model's name for messages, `pad_token` what fills short texts up.
    pub fn load(
        runtime: &Runtime,
        manifest: &Manifest,
        name: &str,
        pad_token: u32,
        threads: usize,
    ) -> Result<OnnxModel> {
        let session = open_session(runtime, manifest, threads)?;
        let inputs = session.inputs().iter().map(|input| ModelInput::of(input, name));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let output = ModelOutput::choose(&session, manifest, name)?;
        let options = RunOptions::new()
            .map_err(|error| failed(name, &error))?
            .with_outputs(OutputSelector::no_default().with(&output.name));
        Ok(OnnxModel { name: name.to_string(), options, inputs, output, session, pad_token })
    }

    /// The name by which the model was loaded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is read of each of a batch of texts, in their order.
    pub fn run(&mut self, batch: &[&ModelText]) -> Result<Vec<Vec<f32>>> {
        let rows = ModelRows::of(batch);
        let inputs = self.inputs.iter().map(|input| input.fill(batch, &rows, self.pad_token));
        let inputs: Vec<(&str, SessionInputValue)> =
            inputs.collect::<ort::Result<Vec<_>>>().map_err(|error| failed(&self.name, &error))?;
        let outputs = self
            .session
            .run_with_options(inputs, &self.options)
            .map_err(|error| failed(&self.name, &error))?;
        let read = self.output.read(&self.name, &outputs, batch, &rows)?;
        for numbers in &read {
            pooling::check_finite(numbers, &self.name)?;
        }
        Ok(read)
    }
}

/// How many texts, and how long the longest is.
pub struct ModelRows {
    /// The number of texts.
    pub count: usize,
    /// Tokens of the longest.
    pub length: usize,
}

impl ModelRows {
    /// The rows of a batch of these texts.
    pub fn of(batch: &[&ModelText]) -> ModelRows {
        ModelRows {
            count: batch.len(),
            length: batch.iter().map(|text| text.tokens.len()).max().unwrap_or(0),
        }
    }

    /// Tokens of all rows, padding included.
    pub fn tokens(&self) -> usize {
        self.count * self.length
    }
}

impl ModelInput {
    fn of(outlet: &Outlet, model: &str) -> Result<ModelInput> {
        let role = match outlet.name() {
            "input_ids" => InputRole::Tokens,
            "attention_mask" => InputRole::Mask,
            "token_type_ids" => InputRole::Types,
            other => return Err(unsupported(model, &format!("wants the input \"{other}\""))),
        };
        let wide = match outlet.dtype().tensor_type() {
            Some(TensorElementType::Int64) => true,
            Some(TensorElementType::Int32) => false,
            _ => {
                let what = format!("wants \"{}\" as {}", outlet.name(), outlet.dtype());
                return Err(unsupported(model, &what));
            }
        };
        Ok(ModelInput { name: outlet.name().to_string(), role, wide })
    }

    fn fill(
        &self,
        batch: &[&ModelText],
        rows: &ModelRows,
        pad_token: u32,
    ) -> ort::Result<(&str, SessionInputValue<'static>)> {
        let shape = [rows.count, rows.length];
        let values = self.values(batch, rows, pad_token);
        let value = if self.wide {
            let values: Vec<i64> = values.map(i64::from).collect();
            SessionInputValue::from(Tensor::from_array((shape, values))?)
        } else {
            let values: Vec<i32> = values.map(|value| value as i32).collect();
            SessionInputValue::from(Tensor::from_array((shape, values))?)
        };
        Ok((&self.name, value))
    }

    /// The numbers of this input, row after row.
    fn values<'a>(
        &self,
        batch: &'a [&ModelText],
        rows: &ModelRows,
        pad_token: u32,
    ) -> impl Iterator<Item = u32> + 'a {
        let (role, length) = (self.role, rows.length);
        batch.iter().flat_map(move |text| {
            let tokens = &text.tokens;
            (0..length).map(move |at| match role {
                InputRole::Tokens => tokens.get(at).copied().unwrap_or(pad_token),
                InputRole::Mask => u32::from(at < tokens.len()),
                InputRole::Types => u32::from((text.second..tokens.len()).contains(&at)),
            })
        })
    }
}

fn open_session(runtime: &Runtime, manifest: &Manifest, threads: usize) -> Result<Session> {
    let environment = runtime.environment()?;
    let path = manifest.file_path();
    let failed = |error: String| {
        let message = format!("cannot load \"{}\": {error}", path.display());
        Error::new(kind_of_failure(&error, ErrorKind::FileCorrupted), message)
    };
    let builder = Session::builder(&environment).map_err(|error| failed(error.to_string()))?;
    let mut builder = configure(builder, threads).map_err(|error| failed(error.to_string()))?;
    builder.commit_from_file(&path).map_err(|error| failed(error.to_string()))
}

/// How long a thread of ONNX Runtime looks for more work before it sleeps, in microseconds.
///
/// Its default, a millisecond, is for machines of its own: beside busy sessions the threads
/// spin while the one they wait for is not running, and a short query took 22 ms where it
/// takes 9 with this. Never spinning costs as much, since a run has about a hundred steps
/// and a thread would be woken for each.
const SPIN_US: &str = "20";

/// Shapes differ from batch to batch, so planned memory patterns would be made and thrown
/// away, and an arena would keep the largest batch's memory for ever.
fn configure(
    builder: SessionBuilder,
    threads: usize,
) -> Result<SessionBuilder, Box<dyn std::error::Error>> {
    let builder = builder
        .with_execution_providers([ep::CPU::default().with_arena_allocator(false).build()])?
        .with_memory_pattern(false)?
        .with_intra_threads(threads)?
        .with_config_entry("session.intra_op.spin_duration_us", SPIN_US)?
        .with_inter_threads(1)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_log_level(LogLevel::Error)?;
    Ok(builder)
}

fn failed(model: &str, error: &ort::Error) -> Error {
    let kind = kind_of_failure(error.message(), ErrorKind::Internal);
    Error::new(kind, format!("model \"{model}\" failed: {error}"))
}

/// An error that names the model and what this version cannot do with it.
pub fn unsupported(model: &str, what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("model \"{model}\" {what}"))
}
