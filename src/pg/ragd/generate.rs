//! Texts that language models write.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::pg::ragd::{cache, client, trace};
use crate::pg::server::error::unexpected;
use crate::protocol::{
    GenerateMany, GenerateRequest, Generated, Lane, Message, ProviderConfig, Request, Response,
};

thread_local! {
    static LANE: Cell<Lane> = const { Cell::new(Lane::Query) };
}

/// While it lives, calls of language models wait behind those for whose answers users wait.
pub struct BehindQueries(Lane);

impl BehindQueries {
    /// Puts the calls of this process behind from now on.
    pub fn people() -> BehindQueries {
        BehindQueries(LANE.replace(Lane::Bulk))
    }
}

impl Drop for BehindQueries {
    fn drop(&mut self) {
        LANE.set(self.0);
    }
}

/// Has a provider write that the current role may use.
pub fn generate(
    provider: ProviderConfig,
    messages: Vec<Message>,
    temperature: f32,
    max_tokens: Option<u32>,
) -> Result<Generated> {
    let (schema, lane) = (None, LANE.get());
    ask(GenerateRequest { provider, messages, temperature, max_tokens, schema, lane })
}

/// Has a provider write, or recalls what it has written before.
pub fn ask(request: GenerateRequest) -> Result<Generated> {
    let named = format!("{} {}", request.provider.name, request.provider.model);
    let write = || match call(&request)? {
        Response::Text(text) => Ok(text),
        other => Err(unexpected(&other)),
    };
    trace::step("generate", || named, || cache::written(&request, write))
}

/// Has a language model write. A call that goes behind others is sent away by a provider that is
/// busy, and made again when the provider says, as long as a call may take.
fn call(request: &GenerateRequest) -> Result<Response> {
    let end = Instant::now() + Duration::from_millis(request.provider.timeout_ms);
    let is_bulk = request.lane == Lane::Bulk;
    loop {
        let outcome = client::call(&Request::Generate(request.clone()));
        let delay = outcome.as_ref().err().and_then(Error::retry_delay);
        match delay.filter(|delay| is_bulk && Instant::now() + *delay < end) {
            Some(delay) => client::pause(delay),
            None => return outcome,
        }
    }
}

/// Has a provider write several texts at once, in their order; within so many milliseconds, or in
/// the provider's own time. A call that fails does not keep the others from their text.
pub fn generate_all_by(
    provider: &ProviderConfig,
    prompts: Vec<Vec<Message>>,
    (temperature, max_tokens): (f32, Option<u32>),
    within_ms: Option<u64>,
) -> Result<Vec<Result<Generated>>> {
    let sampling = (temperature, max_tokens);
    if prompts.len() == 1 {
        let one = |messages| ask(request_within(provider, messages, sampling, within_ms));
        return Ok(prompts.into_iter().map(one).collect());
    }
    let request = |messages| request_within(provider, messages, sampling, None);
    let requests: Vec<GenerateRequest> = prompts.into_iter().map(request).collect();
    let named = format!("{} {}, {} at once", provider.name, provider.model, requests.len());
    let write = |requests| match client::call(&Request::GenerateMany(GenerateMany {
        requests,
        within_ms,
    }))? {
        Response::Texts(texts) => Ok(texts),
        other => Err(unexpected(&other)),
    };
    trace::step("generate", || named, || cache::all_written(requests, write))
}

/// A request that a provider write, within so many milliseconds or in the provider's own time.
pub fn request_within(
    provider: &ProviderConfig,
    messages: Vec<Message>,
    (temperature, max_tokens): (f32, Option<u32>),
    within_ms: Option<u64>,
) -> GenerateRequest {
    let timeout_ms = within_ms.map_or(provider.timeout_ms, |it| it.min(provider.timeout_ms));
    let provider = ProviderConfig { timeout_ms, ..provider.clone() };
    let (schema, lane) = (None, Lane::Query);
    GenerateRequest { provider, messages, temperature, max_tokens, schema, lane }
}
