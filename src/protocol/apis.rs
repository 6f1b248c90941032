//! Which wire protocols are there, and what can be asked in each?
//!
//! Sessions and ragd look here, so that a wish that no protocol can fulfil fails before it is sent.

use super::{LOCAL_API, PROVIDER_APIS, ProviderConfig};
use crate::error::{Error, ErrorKind, Result};

/// What a provider can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Writing answers.
    Generate,
    /// Vectors of texts.
    Embed,
    /// Scores of passages.
    Rerank,
}

impl Ability {
    /// The protocols in which it can be asked for.
    #[must_use]
    pub const fn apis(self) -> &'static [&'static str] {
        match self {
            Ability::Generate => &["openai", "anthropic", "ollama", "gemini", "cohere", LOCAL_API],
            Ability::Embed => &["openai", "ollama", "gemini", "cohere", "voyage"],
            Ability::Rerank => &["openai", "cohere", "voyage"],
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Ability::Generate => "write",
            Ability::Embed => "embed",
            Ability::Rerank => "rerank",
        }
    }
}

/// Fails if the protocol of `provider` is unknown or has no words for `ability`.
pub fn check(provider: &ProviderConfig, ability: Ability) -> Result<()> {
    let ProviderConfig { name, api, .. } = provider;
    if ability.apis().contains(&api.as_str()) {
        return Ok(());
    }
    if !PROVIDER_APIS.contains(&api.as_str()) {
        let message = format!("provider \"{name}\" has the unknown api \"{api}\"");
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint(format!("Known apis: {}.", PROVIDER_APIS.join(", "))));
    }
    let verb = ability.verb();
    let message = format!("provider \"{name}\" cannot {verb}: its api \"{api}\" has no such call");
    Err(Error::new(ErrorKind::Unsupported, message)
        .hint(format!("Apis that can {verb}: {}.", ability.apis().join(", "))))
}

/// Where the protocol `api` is spoken unless the foreign server says otherwise.
///
/// None for `openai`: many servers speak it, and texts must not go to one that was not named.
#[must_use]
pub fn default_base_url(api: &str) -> Option<&'static str> {
    Some(match api {
        "anthropic" => "https://api.anthropic.com/v1",
        "ollama" => "http://127.0.0.1:11434/api",
        "gemini" => "https://generativelanguage.googleapis.com/v1beta",
        "cohere" => "https://api.cohere.com/v2",
        "voyage" => "https://api.voyageai.com/v1",
        _ => return None,
    })
}
