//! # provider: what writes the answer, embeds the texts or ranks the passages, elsewhere?
//!
//! ```text
//! (messages, provider, key) → text, why it ends, tokens read and written
//! (texts, provider, key)    → one vector a text, tokens read
//! (passages, provider, key) → one score a passage
//! ```
//!
//! One file or folder per wire protocol, which holds nothing but its words:
//! [`openai`], [`anthropic`], [`ollama`], [`gemini`], [`cohere`], [`voyage`]. [`local`] has a model on this machine
//! write, with no wire.
//!
//! What they are the words of:
//!
//! * [`chat`] has a model write, [`turns`] says which role speaks when,
//! * [`schema`] insists on the form of an answer, [`tools`] offers what may be called instead, [`support`] knows which
//!   servers refuse either,
//! * [`embeddings`] has texts embedded, [`batch`] cuts many texts into calls,
//! * [`rerank`] has passages compared with a question.
//!
//! What all of them need:
//!
//! * [`caller`] asks a question until there is an answer or none will come,
//! * [`dialect`] says how the key is sent,
//! * [`mod@key`] finds the key and keeps it out of every message,
//! * [`call`] makes one HTTP call that can be given up at any moment,
//! * [`agent`] knows by which way a host is reached, and [`host`] which hosts may be called,
//! * [`stream`] reads an answer while it is written, [`surrogate`] mends half a character in it,
//! * [`retry`] decides whether a call that failed is made again, and when,
//! * [`cooldown`] says how long a provider that is busy is left alone, by all sessions,
//! * [`limit`] says which call is next where calls are limited, [`circuit_breaker`] which provider is down,
//! * [`provider_state`] holds the cooldowns and what else is known of providers,
//! * [`errors`] says in words what went wrong and what can be done,
//! * [`client_aid`] is what this machine does beside a call,
//! * [`redaction`] keeps personal data from those who shall not have them.
//!
//! All of it runs in ragd and blocks the thread of the connection that asked. That is fine: the
//! thread does nothing else, and looks every 50 ms whether its client still waits.

mod agent;
mod anthropic;
mod batch;
mod call;
mod caller;
mod chat;
mod circuit_breaker;
pub mod client_aid;
mod cohere;
mod cooldown;
mod dialect;
mod embeddings;
mod errors;
mod gemini;
mod host;
mod key;
mod limit;
pub mod local;
mod ollama;
mod openai;
mod provider_state;
mod redaction;
mod rerank;
mod retry;
mod sampling;
pub mod schema;
mod stream;
mod support;
mod surrogate;
mod tools;
mod turns;
mod voyage;

use std::collections::BTreeMap;

pub use embeddings::Embedded;
pub use provider_state::ProviderMemory;

use self::client_aid::{ClientAid, NameFinder};
use self::redaction::Redactor;
use crate::error::Result;
use crate::protocol::apis::{self, Ability};
use crate::protocol::{EmbedRequest, GenerateRequest, Generated, LOCAL_API, RerankRequest};
use crate::redact::PiiKind;

/// Has the provider of `request` write an answer, in the form that it asks for, or call one of its tools.
///
/// `aid` checks whether what it writes has that form, and finds names that are not to be sent. `gone` says whether the client has left; then the call is given up within 50 ms, its connection
/// closed, and an error returned that is never read. Fails with
/// [`ErrorKind::ProviderTimeout`](crate::error::ErrorKind::ProviderTimeout) where a limit of the
/// provider's configuration is reached, with
/// [`ErrorKind::ProviderFailed`](crate::error::ErrorKind::ProviderFailed) where the provider
/// refuses, answers nonsense, or twice in another form. No error holds the key.
pub fn generate(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    aid: &dyn ClientAid,
    gone: &dyn Fn() -> bool,
) -> Result<Generated> {
    apis::check(&request.provider, Ability::Generate)?;
    let redactor = Redactor { names: aid, gone };
    let write = |request: &GenerateRequest| {
        redactor.around(request, |request| write(request, memory, gone))
    };
    match (&request.tools, &request.schema) {
        (Some(used), _) => tools::written(request, used, aid, write),
        (None, None) => write(request),
        (None, Some(schema)) => schema::insist(schema, request, aid, write),
    }
}

fn write(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
) -> Result<Generated> {
    match request.provider.api.as_str() {
        "anthropic" => chat::generate::<anthropic::Messages>(request, memory, gone),
        "ollama" => chat::generate::<ollama::chat::OllamaChat>(request, memory, gone),
        "gemini" => chat::generate::<gemini::chat::GenerateContent>(request, memory, gone),
        "cohere" => chat::generate::<cohere::chat::CohereChat>(request, memory, gone),
        LOCAL_API => local::write(request, memory, gone, &mut |_| Ok(())),
        _ => openai::chat::generate(request, memory, gone),
    }
}

/// Has the provider of `request` write an answer, and passes each piece to `hear` as soon as it is
/// there; gives all of it. An error of `hear` ends the call.
///
/// Fails as [`generate`] does, perhaps after some pieces; and with
/// [`ErrorKind::ProviderTimeout`](crate::error::ErrorKind::ProviderTimeout) where none comes within
/// `first_token_timeout`. An answer of a provider that does not stream, or that must have a form,
/// comes as one piece.
pub fn generate_stream(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    aid: &dyn ClientAid,
    gone: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<Generated> {
    apis::check(&request.provider, Ability::Generate)?;
    if request.schema.is_some() {
        // It is not known before its end whether an answer has the form that it should have.
        let generated = generate(request, memory, aid, gone)?;
        hear(&generated.text)?;
        return Ok(generated);
    }
    let redactor = Redactor { names: aid, gone };
    redactor.around_stream(request, hear, |request, hear| write_stream(request, memory, gone, hear))
}

fn write_stream(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<Generated> {
    match request.provider.api.as_str() {
        "anthropic" => chat::generate_stream::<anthropic::Messages>(request, memory, gone, hear),
        "ollama" => chat::generate_stream::<ollama::chat::OllamaChat>(request, memory, gone, hear),
        "gemini" => {
            chat::generate_stream::<gemini::chat::GenerateContent>(request, memory, gone, hear)
        }
        LOCAL_API => local::write(request, memory, gone, hear),
        "cohere" => chat::generate_stream::<cohere::chat::CohereChat>(request, memory, gone, hear),
        _ => openai::chat::generate_stream(request, memory, gone, hear),
    }
}

/// Has the provider of `request` embed texts: vectors of length 1, all as long as is wanted,
/// in the order of the texts.
///
/// Fails as [`generate`] does; and, for the lane Bulk, with
/// [`ErrorKind::ProviderBusy`](crate::error::ErrorKind::ProviderBusy) and the time to wait where
/// the provider says that it is busy or said so a while ago. An error that comes after some of
/// several calls have brought their vectors is given beside these.
pub fn embed(
    request: &EmbedRequest,
    memory: &ProviderMemory,
    names: &dyn NameFinder,
    gone: &dyn Fn() -> bool,
) -> Result<Embedded> {
    apis::check(&request.provider, Ability::Embed)?;
    let hides = redaction::hides(&request.provider);
    let redactor = Redactor { names, gone };
    let hidden = hides.then(|| redactor.to_embed(request)).transpose()?;
    let request = hidden.as_ref().unwrap_or(request);
    match request.provider.api.as_str() {
        "ollama" => embeddings::embed::<ollama::embeddings::OllamaEmbed>(request, memory, gone),
        "gemini" => embeddings::embed::<gemini::embeddings::GeminiEmbed>(request, memory, gone),
        "cohere" => embeddings::embed::<cohere::embeddings::CohereEmbed>(request, memory, gone),
        "voyage" => embeddings::embed::<voyage::VoyageEmbed>(request, memory, gone),
        _ => embeddings::embed::<openai::embeddings::OpenAiEmbed>(request, memory, gone),
    }
}

/// What a provider says of passages.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedPassages {
    /// One a passage, from 0 to 1, greater is better.
    pub scores: Vec<f32>,
    /// Personal data that were found in question and passages and not sent, but for those that
    /// [`Special::withheld`](crate::protocol::Special::withheld) has already.
    pub withheld: BTreeMap<String, PiiKind>,
}

/// Has the provider of `request` compare passages with a question. Fails as [`generate`] does.
pub fn rerank(
    request: &RerankRequest,
    memory: &ProviderMemory,
    names: &dyn NameFinder,
    gone: &dyn Fn() -> bool,
) -> Result<RankedPassages> {
    apis::check(&request.provider, Ability::Rerank)?;
    if !redaction::hides(&request.provider) {
        let scores = rerank::rerank(request, memory, gone)?;
        return Ok(RankedPassages { scores, withheld: BTreeMap::new() });
    }
    let (hidden, withheld) = Redactor { names, gone }.to_rerank(request)?;
    let scores = rerank::rerank(&hidden, memory, gone);
    let scores = scores.map_err(|error| redaction::with_values(error, &withheld))?;
    Ok(RankedPassages { scores, withheld })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::EmbeddingKind;
    use crate::error::{Error, ErrorKind};
    use crate::protocol::{Lane, PROVIDER_APIS, ProviderConfig};

    const ABILITIES: [Ability; 3] = [Ability::Generate, Ability::Embed, Ability::Rerank];

    #[test]
    fn unknown_api_names_the_known_ones() {
        for error in errors("smoke-signals") {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert_eq!(error.message(), "provider \"p\" has the unknown api \"smoke-signals\"");
            let known = "Known apis: openai, anthropic, ollama, gemini, cohere, voyage, local.";
            assert_eq!(error.hint_text(), Some(known));
        }
    }

    #[test]
    fn what_an_api_cannot_do_names_those_that_can() {
        let [written, _, _] = errors("voyage");
        let said = "provider \"p\" cannot write: its api \"voyage\" has no such call";
        assert_eq!((written.kind(), written.message()), (ErrorKind::Unsupported, said));
        let [_, embedded, ranked] = errors("anthropic");
        let able = "Apis that can embed: openai, ollama, gemini, cohere, voyage.";
        assert_eq!((embedded.kind(), embedded.hint_text()), (ErrorKind::Unsupported, Some(able)));
        let able = "Apis that can rerank: openai, cohere, voyage.";
        assert_eq!((ranked.kind(), ranked.hint_text()), (ErrorKind::Unsupported, Some(able)));
    }

    #[test]
    fn every_published_ability_is_there() {
        for api in PROVIDER_APIS {
            for (error, ability) in errors(api).into_iter().zip(ABILITIES) {
                let is_refused = error.kind() == ErrorKind::Unsupported;
                assert_eq!(is_refused, !ability.apis().contains(api), "{api} {ability:?}: {error}");
            }
        }
        let known = |api: &&str| PROVIDER_APIS.contains(api);
        assert!(ABILITIES.iter().all(|ability| ability.apis().iter().all(known)));
    }

    /// The errors of an address where no server listens and no client waits.
    fn errors(api: &str) -> [Error; 3] {
        let provider = ProviderConfig { api: api.into(), ..ProviderConfig::unreachable() };
        let written = GenerateRequest::empty(provider.clone());
        let texts = vec!["text".to_string()];
        let (query, passages) = ("text".to_string(), texts.clone());
        let ranked = RerankRequest { provider: provider.clone(), query, passages };
        let (dimension, lane, kind) = (None, Lane::Bulk, EmbeddingKind::Query);
        let embedded = EmbedRequest { provider, dimension, lane, kind, texts };
        let (memory, gone) = (ProviderMemory::default(), || true);
        [
            generate(&written, &memory, &schema::Unlimited, &gone).unwrap_err(),
            embed(&embedded, &memory, &schema::Unlimited, &gone).unwrap_err(),
            rerank(&ranked, &memory, &schema::Unlimited, &gone).unwrap_err(),
        ]
    }
}
