//! # provider: who writes the answer?
//!
//! ```text
//! (messages, provider, key) → text, why it ends, tokens read and written
//! ```
//!
//! One file per wire protocol; what all of them need stands beside:
//!
//! * [`mod@key`] finds the key and keeps it out of every message,
//! * [`call`] makes one HTTP call that can be given up at any moment,
//! * [`retry`] decides whether a call that failed is made again, and when,
//! * [`trouble`] says in words what went wrong and what can be done.
//!
//! All of it runs in ragd and blocks the thread of the connection that asked. That is
//! fine: the thread does nothing else, and looks every 50 ms whether somebody still waits.

mod call;
mod key;
mod openai;
mod retry;
mod trouble;

use crate::daemon::protocol::{GenerateRequest, Generated, PROVIDER_APIS};
use crate::error::{Error, ErrorKind, Result};

/// Has the provider of `request` write an answer.
///
/// `gone` says whether whoever asked has left; then the call is given up within 50 ms, its
/// connection closed, and an error returned that nobody reads. Fails with
/// [`ErrorKind::ProviderTimeout`] where a limit of the provider's configuration is reached,
/// with [`ErrorKind::ProviderFailed`] where the provider refuses or answers nonsense. No
/// error holds the key.
pub fn generate(request: &GenerateRequest, gone: &dyn Fn() -> bool) -> Result<Generated> {
    let provider = &request.provider;
    match provider.api.as_str() {
        "openai" => openai::generate(request, gone),
        other => Err(Error::new(
            ErrorKind::Unsupported,
            format!("provider \"{}\" has the unknown api \"{other}\"", provider.name),
        )
        .hint(format!("Known apis: {}.", PROVIDER_APIS.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::protocol::{KeySource, ProviderConfig};

    #[test]
    fn unknown_api_names_the_known_ones() {
        let error = generate(&request("smoke-signals"), &|| false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.message(), "provider \"p\" has the unknown api \"smoke-signals\"");
        assert_eq!(error.hint_text(), Some("Known apis: openai."));
    }

    #[test]
    fn every_published_api_is_known() {
        for api in PROVIDER_APIS {
            let error = generate(&request(api), &|| true).unwrap_err();
            assert_ne!(error.kind(), ErrorKind::Unsupported, "{api}: {error}");
        }
    }

    fn request(api: &str) -> GenerateRequest {
        GenerateRequest {
            provider: ProviderConfig {
                name: "p".into(),
                api: api.into(),
                base_url: "http://127.0.0.1:9/v1".into(),
                model: "m".into(),
                api_key: KeySource::None,
                connect_timeout_ms: 1000,
                timeout_ms: 1000,
                max_retries: 0,
            },
            messages: vec![],
            temperature: 0.0,
            max_tokens: None,
        }
    }
}
