//! `rag_generate`.

use pgrx::JsonB;
use pgrx::prelude::*;
use serde::Deserialize;

use super::options;
use crate::daemon::protocol::{GenerateRequest, Generated, Message, Request, Response};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::error::{OrReport, unexpected};
use crate::pg::{client, guc, provider};

/// Name of the answerer that needs no language model.
pub const EXTRACTIVE: &str = "extractive";

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Options {
    temperature: f32,
    max_tokens: Option<u32>,
}

#[pg_extern(sql = false)]
fn rag_generate(
    prompt: Option<&str>,
    llm: Option<&str>,
    system: Option<&str>,
    options: Option<JsonB>,
) -> Option<String> {
    let prompt = prompt?;
    let options: Options = options::read(options).or_report();
    let mut messages = Vec::new();
    if let Some(system) = system {
        messages.push(message("system", system));
    }
    messages.push(message("user", prompt));
    let llm = llm.map_or_else(guc::llm, str::to_owned);
    Some(generate(&llm, messages, options.temperature, options.max_tokens).or_report().text)
}

fn message(role: &str, content: &str) -> Message {
    Message { role: role.to_owned(), content: content.to_owned() }
}

/// Has the foreign server `llm` write.
pub fn generate(
    llm: &str,
    messages: Vec<Message>,
    temperature: f32,
    max_tokens: Option<u32>,
) -> Result<Generated> {
    if llm == EXTRACTIVE {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "the built-in answerer \"extractive\" cannot write free text",
        )
        .hint("CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name."));
    }
    let provider = provider::config(llm)?;
    let request = GenerateRequest { provider, messages, temperature, max_tokens };
    match client::call(&Request::Generate(request))? {
        Response::Text(text) => Ok(text),
        other => Err(unexpected(&other)),
    }
}
