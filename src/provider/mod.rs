//! # provider: who writes the answer, or embeds the texts, elsewhere?
//!
//! ```text
//! (messages, provider, key) → text, why it ends, tokens read and written
//! (texts, provider, key)    → one vector a text, tokens read
//! ```
//!
//! One file per wire protocol; what all of them need stands beside:
//!
//! * [`caller`] asks a question until there is an answer or none will come,
//! * [`mod@key`] finds the key and keeps it out of every message,
//! * [`call`] makes one HTTP call that can be given up at any moment,
//! * [`retry`] decides whether a call that failed is made again, and when,
//! * [`pause`] says how long a provider that is busy is left alone, by all sessions,
//! * [`memory`] holds the pauses and what else is known of providers,
//! * [`batch`] cuts many texts into calls,
//! * [`trouble`] says in words what went wrong and what can be done.
//!
//! All of it runs in ragd and blocks the thread of the connection that asked. That is
//! fine: the thread does nothing else, and looks every 50 ms whether somebody still waits.

mod batch;
mod call;
mod caller;
mod key;
mod memory;
mod openai;
mod pause;
mod retry;
mod trouble;

pub use memory::Memory;
pub use openai::embeddings::Embedded;

use crate::daemon::protocol::{
    EmbedRequest, GenerateRequest, Generated, PROVIDER_APIS, ProviderConfig,
};
use crate::error::{Error, ErrorKind, Result};

/// Has the provider of `request` write an answer.
///
/// `gone` says whether whoever asked has left; then the call is given up within 50 ms, its
/// connection closed, and an error returned that nobody reads. Fails with
/// [`ErrorKind::ProviderTimeout`] where a limit of the provider's configuration is reached,
/// with [`ErrorKind::ProviderFailed`] where the provider refuses or answers nonsense. No
/// error holds the key.
pub fn generate(
    request: &GenerateRequest,
    memory: &Memory,
    gone: &dyn Fn() -> bool,
) -> Result<Generated> {
    match request.provider.api.as_str() {
        "openai" => openai::chat::generate(request, memory, gone),
        _ => Err(unknown_api(&request.provider)),
    }
}

/// Has the provider of `request` embed texts: vectors of length 1, all as long as is wanted,
/// in the order of the texts.
///
/// Fails as [`generate`] does; and, for the lane Bulk, with [`ErrorKind::ProviderBusy`] and
/// the time to wait where the provider says that it is busy or said so a while ago.
pub fn embed(request: &EmbedRequest, memory: &Memory, gone: &dyn Fn() -> bool) -> Result<Embedded> {
    match request.provider.api.as_str() {
        "openai" => openai::embeddings::embed(request, memory, gone),
        _ => Err(unknown_api(&request.provider)),
    }
}

fn unknown_api(provider: &ProviderConfig) -> Error {
    let ProviderConfig { name, api, .. } = provider;
    let message = format!("provider \"{name}\" has the unknown api \"{api}\"");
    Error::new(ErrorKind::Unsupported, message)
        .hint(format!("Known apis: {}.", PROVIDER_APIS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::protocol::{KeySource, Lane};

    #[test]
    fn unknown_api_names_the_known_ones() {
        for error in errors("smoke-signals", false) {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert_eq!(error.message(), "provider \"p\" has the unknown api \"smoke-signals\"");
            assert_eq!(error.hint_text(), Some("Known apis: openai."));
        }
    }

    #[test]
    fn every_published_api_is_known() {
        for api in PROVIDER_APIS {
            for error in errors(api, true) {
                assert_ne!(error.kind(), ErrorKind::Unsupported, "{api}: {error}");
            }
        }
    }

    fn errors(api: &str, gone: bool) -> [Error; 2] {
        let provider = ProviderConfig {
            name: "p".into(),
            api: api.into(),
            base_url: "http://127.0.0.1:9/v1".into(),
            model: "m".into(),
            api_key: KeySource::None,
            connect_timeout_ms: 1000,
            timeout_ms: 1000,
            max_retries: 0,
        };
        let written = GenerateRequest {
            provider: provider.clone(),
            messages: vec![],
            temperature: 0.0,
            max_tokens: None,
        };
        let texts = vec!["text".into()];
        let embedded = EmbedRequest { provider, dimension: None, lane: Lane::Bulk, texts };
        let memory = Memory::default();
        [
            generate(&written, &memory, &|| gone).unwrap_err(),
            embed(&embedded, &memory, &|| gone).unwrap_err(),
        ]
    }
}
