//! `rag_generate`.

use pgrx::prelude::*;
use serde::Deserialize;

use crate::answer::preset::settled;
use crate::error::Result;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::ask;
use crate::pg::ragd::llm::Llm;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;
use crate::pg::server::options;
use crate::prompt::sampling::{SamplingOptions, SamplingPreset, check_max_tokens};
use crate::protocol::{GenerateRequest, Message};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct GenerateOptions {
    preset: Option<SamplingPreset>,
    temperature: Option<f32>,
    top_p: Option<f32>,
    top_k: Option<u32>,
    frequency_penalty: Option<f32>,
    presence_penalty: Option<f32>,
    max_tokens: Option<u32>,
    schema: Option<serde_json::Value>,
}

impl GenerateOptions {
    fn sampling(&self) -> SamplingOptions {
        SamplingOptions {
            preset: self.preset,
            temperature: self.temperature,
            top_p: self.top_p,
            top_k: self.top_k,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
        }
    }
}

#[pg_extern(sql = false)]
fn rag_generate(
    prompt: Option<&str>,
    llm: Option<&str>,
    system: Option<&str>,
    options: Option<Jsonb>,
) -> Option<String> {
    let prompt = prompt?;
    let mut options: GenerateOptions = options::read(options).or_report();
    options.preset = options.preset.map(|preset| settled(preset, prompt));
    let mut messages = Vec::new();
    if let Some(system) = system {
        messages.push(message("system", system));
    }
    messages.push(message("user", prompt));
    let written = Llm::or_default(llm).and_then(|llm| write(llm, messages, options));
    Some(written.or_report())
}

/// The text that `llm` writes; JSON where `options` have a schema.
fn write(llm: Llm, messages: Vec<Message>, options: GenerateOptions) -> Result<String> {
    let sampling = options.sampling().parameters("")?;
    let GenerateOptions { max_tokens, schema, .. } = options;
    check_max_tokens("", max_tokens)?;
    let schema = schema.map(|schema| schema.to_string());
    let provider = llm
        .provider_for("rag_generate")
        .map_err(|error| {
            error.hint(
                "CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name.",
            )
        })?
        .clone();
    let context = CallContext::query();
    let lane = context.lane;
    let tools = None;
    #[rustfmt::skip]
    let request = GenerateRequest { provider, messages, sampling, max_tokens, schema, tools, lane };
    Ok(ask(request, &context)?.text)
}

fn message(role: &str, content: &str) -> Message {
    Message { role: role.to_owned(), content: content.to_owned() }
}
