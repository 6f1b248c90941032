//! Texts that language models write.

use std::time::{Duration, Instant};

use super::call_context::CallContext;
use crate::answer::strategy::ModelReply;
use crate::error::{Error, Result};
use crate::pg::ragd::{cache, client, trace};
use crate::pg::server::error::unexpected;
use crate::protocol::{
    CallLimits, GenerateMany, GenerateRequest, Generated, Lane, Message, ProviderConfig,
    RedactionPolicy, Request, Response, SamplingParameters,
};

/// How a reply is chosen, and what it may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampling {
    /// How the model chooses its words; by default the most probable reply.
    pub parameters: SamplingParameters,
    /// Longest reply, in tokens.
    pub max_tokens: Option<u32>,
    /// Longest time, in milliseconds; `None`: the provider's own.
    pub within_ms: Option<u64>,
}

impl Sampling {
    /// The most probable reply of at most so many tokens.
    pub fn probable(max_tokens: Option<u32>) -> Sampling {
        Sampling { max_tokens, ..Sampling::default() }
    }
}

/// Has a provider write that the current role may use.
pub fn generate(
    provider: &ProviderConfig,
    messages: Vec<Message>,
    sampling: Sampling,
    context: &CallContext,
) -> Result<Generated> {
    ask(request(provider, messages, sampling, context.lane), context)
}

/// Has a provider write, or recalls what it has written before.
pub fn ask(request: GenerateRequest, context: &CallContext) -> Result<Generated> {
    withhold(&request);
    let named = format!("{} {}", request.provider.name, request.provider.model);
    let write = || match call(&request, context.pipeline)? {
        Response::Text(text) => Ok(text),
        other => Err(unexpected(&other)),
    };
    let outcome =
        trace::step("generate", || named, || cache::written(context.caching, &request, write));
    withhold_found(&request.provider, outcome.as_ref());
    outcome
}

/// Has a language model write. A call that goes behind others is sent away by a provider that is
/// busy, and made again when the provider says, as long as a call may take.
fn call(request: &GenerateRequest, pipeline: i32) -> Result<Response> {
    let end = Instant::now() + Duration::from_millis(request.provider.allowed_ms());
    let is_bulk = request.lane == Lane::Bulk;
    loop {
        let outcome = client::call_for(pipeline, &Request::Generate(request.clone()));
        let delay = outcome.as_ref().err().and_then(Error::retry_delay);
        match delay.filter(|delay| is_bulk && Instant::now() + *delay < end) {
            Some(delay) => client::pause(delay),
            None => return outcome,
        }
    }
}

/// Has a provider write several texts at once, in their order. A call that fails does not keep the
/// others from their text.
pub fn generate_all(
    provider: &ProviderConfig,
    prompts: Vec<Vec<Message>>,
    sampling: Sampling,
    context: &CallContext,
) -> Result<Vec<Result<Generated>>> {
    let lane = context.lane;
    if prompts.len() == 1 {
        let one = |messages| ask(request(provider, messages, sampling, lane), context);
        return Ok(prompts.into_iter().map(one).collect());
    }
    let within_ms = sampling.within_ms;
    let sampling = Sampling { within_ms: None, ..sampling };
    let request = |messages| request(provider, messages, sampling, lane);
    let requests: Vec<GenerateRequest> = prompts.into_iter().map(request).collect();
    requests.iter().for_each(withhold);
    let named = format!("{} {}, {} at once", provider.name, provider.model, requests.len());
    let write = |requests| {
        let together = Request::GenerateMany(GenerateMany { requests, within_ms });
        match client::call_for(context.pipeline, &together)? {
            Response::Texts(texts) => Ok(texts),
            other => Err(unexpected(&other)),
        }
    };
    let generated =
        trace::step("generate", || named, || cache::all_written(context.caching, requests, write))?;
    generated.iter().for_each(|one| withhold_found(provider, one.as_ref()));
    Ok(generated)
}

/// Has later calls for the same answer keep from the provider what is kept from it here. Rules find it in the session and
/// not only in ragd, which remembers nothing, since a reply that is given again comes without a call.
pub fn withhold(request: &GenerateRequest) {
    let GenerateRequest { provider, messages, tools, .. } = request;
    if provider.special.redact == RedactionPolicy::Nothing {
        return;
    }
    let said = messages.iter().map(|message| &message.content);
    let results = tools.iter().flat_map(|used| &used.turns).flat_map(|turn| &turn.results);
    let mut interrupt = || {
        pgrx::check_for_interrupts!();
    };
    provider.special.withheld.learn(said.chain(results).map(String::as_str), &mut interrupt);
}

/// Has later calls for the same answer keep from the provider what was found in ragd for this call, by a model that finds
/// names; where the call has failed, too: of a stream that broke off, the beginning may be the answer, and part of a
/// conversation.
pub fn withhold_found(provider: &ProviderConfig, outcome: Result<&Generated, &Error>) {
    let withheld = &provider.special.withheld;
    match outcome {
        Ok(generated) => withheld.add(generated.withheld.clone()),
        Err(error) => withheld.add_of_error(error),
    }
}

/// An error where `schema` is no JSON schema. ragd looks at it, as it does before an answer is asked for.
pub fn check_schema(schema: &str) -> Result<()> {
    match client::call(&Request::CheckSchema(schema.to_owned()))? {
        Response::ValidSchema => Ok(()),
        other => Err(unexpected(&other)),
    }
}

/// What was written, as strategies know it.
pub fn said(generated: Generated) -> ModelReply {
    ModelReply {
        text: generated.text,
        finish_reason: generated.finish_reason,
        prompt_tokens: generated.prompt_tokens,
        cached_tokens: generated.cached_tokens,
        completion_tokens: generated.completion_tokens,
        attempts: generated.attempts,
        tools: generated.tools,
    }
}

/// A request that a provider write.
pub fn request(
    provider: &ProviderConfig,
    messages: Vec<Message>,
    sampling: Sampling,
    lane: Lane,
) -> GenerateRequest {
    let Sampling { parameters: sampling, max_tokens, within_ms } = sampling;
    let limits = CallLimits { within_ms, ..provider.limits };
    let provider = ProviderConfig { limits, ..provider.clone() };
    let (schema, tools) = (None, None);
    GenerateRequest { provider, messages, sampling, max_tokens, schema, tools, lane }
}
