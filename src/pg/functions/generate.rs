//! `rag_generate`.

use pgrx::prelude::*;
use serde::Deserialize;

use crate::error::Result;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::ask;
use crate::pg::ragd::llm::Llm;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;
use crate::pg::server::options;
use crate::protocol::{GenerateRequest, Message};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct GenerateOptions {
    temperature: f32,
    max_tokens: Option<u32>,
    schema: Option<serde_json::Value>,
}

#[pg_extern(sql = false)]
fn rag_generate(
    prompt: Option<&str>,
    llm: Option<&str>,
    system: Option<&str>,
    options: Option<Jsonb>,
) -> Option<String> {
    let prompt = prompt?;
    let options: GenerateOptions = options::read(options).or_report();
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
    let GenerateOptions { temperature, max_tokens, schema } = options;
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
    let request = GenerateRequest { provider, messages, temperature, max_tokens, schema, lane };
    Ok(ask(request, &context)?.text)
}

fn message(role: &str, content: &str) -> Message {
    Message { role: role.to_owned(), content: content.to_owned() }
}
