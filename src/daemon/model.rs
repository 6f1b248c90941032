//! # From tokens to vectors
//!
//! ```text
//! (batch of token lists) → one vector each
//! ```
//!
//! A model is an ONNX graph and the rules of its manifest: which tokens make the vector and
//! whether it is scaled to length 1. Inputs are given by name; a graph that wants one that
//! isn't known here is refused when it is loaded, not when it first computes nonsense.

use ort::ep;
use ort::logging::LogLevel;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{
    HasSelectedOutputs, OutputSelector, RunOptions, Session, SessionInputValue, SessionOutputs,
};
use ort::value::{Outlet, Tensor, TensorElementType};

use super::runtime::Runtime;
use crate::embed::manifest::Manifest;
use crate::embed::pooling::{self, Pooling};
use crate::error::{Error, ErrorKind, Result};

/// Outputs that hold a vector a token, then those that hold one a text, best first.
const OUTPUTS: [&str; 3] = ["last_hidden_state", "token_embeddings", "sentence_embedding"];

/// A model in memory.
pub struct Model {
    name: String,
    session: Session,
    options: RunOptions<HasSelectedOutputs>,
    inputs: Vec<Input>,
    output: String,
    pooling: Pooling,
    normalize: bool,
    dimension: usize,
    pad_token: u32,
}

/// An input of the graph.
struct Input {
    name: String,
    role: Role,
    wide: bool,
}

/// What an input is for.
#[derive(Clone, Copy)]
enum Role {
    Tokens,
    Mask,
    Types,
}

impl Model {
    /// Loads the graph of `manifest`; `threads` work on a batch together.
    ///
    /// `name` is the model's name for messages, `pad_token` what fills short texts up.
    pub fn load(
        runtime: &Runtime,
        manifest: &Manifest,
        name: &str,
        pad_token: u32,
        threads: usize,
    ) -> Result<Model> {
        let session = open_session(runtime, manifest, threads)?;
        let inputs = session.inputs().iter().map(|input| Input::of(input, name));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let output = choose_output(&session, manifest, name)?;
        let options = RunOptions::new()
            .map_err(|error| failed(name, &error))?
            .with_outputs(OutputSelector::no_default().with(&output));
        Ok(Model {
            name: name.to_string(),
            options,
            inputs,
            output,
            session,
            pooling: manifest.pooling,
            normalize: manifest.normalize,
            dimension: manifest.dimension as usize,
            pad_token,
        })
    }

    /// The vectors of a batch of texts, each of one token at least, in their order.
    pub fn embed(&mut self, batch: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        let rows = Rows::of(batch);
        let inputs = self.inputs.iter().map(|input| input.fill(batch, &rows, self.pad_token));
        let inputs: Vec<(&str, SessionInputValue)> =
            inputs.collect::<ort::Result<Vec<_>>>().map_err(|error| failed(&self.name, &error))?;
        let outputs = self
            .session
            .run_with_options(inputs, &self.options)
            .map_err(|error| failed(&self.name, &error))?;
        let shape = Shape {
            name: &self.name,
            output: &self.output,
            pooling: self.pooling,
            dimension: self.dimension,
        };
        let mut vectors = shape.vectors(&outputs, batch, &rows)?;
        for vector in &mut vectors {
            if self.normalize {
                pooling::normalize(vector);
            }
            pooling::check_finite(vector, &self.name)?;
        }
        Ok(vectors)
    }
}

/// How many texts, and how long the longest is.
struct Rows {
    count: usize,
    length: usize,
}

impl Rows {
    fn of(batch: &[&[u32]]) -> Rows {
        Rows {
            count: batch.len(),
            length: batch.iter().map(|tokens| tokens.len()).max().unwrap_or(0),
        }
    }
}

impl Input {
    fn of(outlet: &Outlet, model: &str) -> Result<Input> {
        let role = match outlet.name() {
            "input_ids" => Role::Tokens,
            "attention_mask" => Role::Mask,
            "token_type_ids" => Role::Types,
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
        Ok(Input { name: outlet.name().to_string(), role, wide })
    }

    fn fill(
        &self,
        batch: &[&[u32]],
        rows: &Rows,
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
        batch: &'a [&[u32]],
        rows: &Rows,
        pad_token: u32,
    ) -> impl Iterator<Item = u32> + 'a {
        let (role, length) = (self.role, rows.length);
        batch.iter().flat_map(move |tokens| {
            (0..length).map(move |at| match role {
                Role::Tokens => tokens.get(at).copied().unwrap_or(pad_token),
                Role::Mask => u32::from(at < tokens.len()),
                Role::Types => 0,
            })
        })
    }
}

/// What an output must look like to be understood.
struct Shape<'a> {
    name: &'a str,
    output: &'a str,
    pooling: Pooling,
    dimension: usize,
}

impl Shape<'_> {
    fn vectors(
        &self,
        outputs: &SessionOutputs,
        batch: &[&[u32]],
        rows: &Rows,
    ) -> Result<Vec<Vec<f32>>> {
        let value = outputs.get(self.output).ok_or_else(|| {
            unsupported(self.name, &format!("gave no output \"{}\"", self.output))
        })?;
        let (shape, numbers) = value.try_extract_tensor::<f32>().map_err(|_| {
            let what = format!("gives \"{}\" as {}, not as f32", self.output, value.dtype());
            unsupported(self.name, &what).hint("Use an ONNX file with 32-bit output.")
        })?;
        self.check_dimension(shape)?;
        let (count, length) = (rows.count as i64, rows.length as i64);
        match shape[..] {
            [texts, _] if texts == count => {
                Ok(numbers.chunks_exact(self.dimension).map(<[f32]>::to_vec).collect())
            }
            [texts, tokens, _] if texts == count && tokens == length => {
                let texts = numbers.chunks_exact(rows.length * self.dimension).zip(batch);
                Ok(texts
                    .map(|(hidden, tokens)| self.pooling.pool(hidden, tokens.len(), self.dimension))
                    .collect())
            }
            _ => Err(unsupported(self.name, &format!("gave an output of shape {shape}"))),
        }
    }

    fn check_dimension(&self, shape: &[i64]) -> Result<()> {
        match shape.last() {
            Some(&last) if last == self.dimension as i64 => Ok(()),
            last => Err(Error::new(
                ErrorKind::DimensionMismatch,
                format!(
                    "model \"{}\" gave vectors of {} dimensions, its config.json says {}",
                    self.name,
                    last.copied().unwrap_or(0),
                    self.dimension
                ),
            )),
        }
    }
}

fn open_session(runtime: &Runtime, manifest: &Manifest, threads: usize) -> Result<Session> {
    let environment = runtime.environment()?;
    let path = manifest.onnx_path();
    let failed = |error: String| {
        let message = format!("cannot load \"{}\": {error}", path.display());
        Error::new(ErrorKind::FileCorrupted, message)
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

/// The output to use, which is checked as far as the graph says what it is.
fn choose_output(session: &Session, manifest: &Manifest, name: &str) -> Result<String> {
    let outputs = session.outputs();
    let output = OUTPUTS
        .iter()
        .find_map(|wanted| outputs.iter().find(|output| output.name() == *wanted))
        .or(outputs.first())
        .ok_or_else(|| unsupported(name, "has no outputs"))?;
    let shape = Shape {
        name,
        output: output.name(),
        pooling: manifest.pooling,
        dimension: manifest.dimension as usize,
    };
    match output.dtype().tensor_shape().map(|shape| &shape[..]) {
        Some(dimensions) if dimensions.last().is_some_and(|last| *last >= 0) => {
            shape.check_dimension(dimensions)?;
        }
        _ => {}
    }
    Ok(output.name().to_string())
}

fn failed(model: &str, error: &ort::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("model \"{model}\" failed: {error}"))
}

fn unsupported(model: &str, what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("model \"{model}\" {what}"))
}
