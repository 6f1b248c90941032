//! Where is a provider, how may it be reached, and how much may it be asked?
//!
//! Options of a foreign server and settings of the administrator, on their way to ragd, which
//! keeps none of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ModelRef;
use crate::redact::withheld::WithheldValues;

/// The wire protocols that [`ProviderConfig::api`] can name.
pub const PROVIDER_APIS: &[&str] =
    &["openai", "anthropic", "ollama", "gemini", "cohere", "voyage", LOCAL_API];

/// The protocol of models that ragd runs itself, in a process of their own. No host is called.
pub const LOCAL_API: &str = "local";

/// Tokens of a text of a local model where its server's num_ctx says nothing, what it goes on from included: on a
/// processor, reading more than that takes minutes.
pub const USUAL_LOCAL_CONTEXT: u32 = 4096;

/// Where a provider is and how to speak to it; the options of a foreign server and its
/// user mapping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderConfig {
    /// The foreign server's name, for messages.
    pub name: String,
    /// The wire protocol, one of [`PROVIDER_APIS`].
    pub api: String,
    /// Up to and including the version: `https://host/v1`.
    pub base_url: String,
    /// The model to ask for.
    pub model: String,
    /// Where the key is.
    pub api_key: KeySource,
    /// Limit for connecting, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Limit for the whole call, retries included.
    pub timeout_ms: u64,
    /// How often a call that failed for a passing reason is made again.
    pub max_retries: u32,
    /// Settings that only some protocols or servers have.
    pub special: Special,
    /// How much it is asked, over all sessions.
    pub limits: CallLimits,
    /// How it is reached.
    pub network: Network,
}

#[cfg(test)]
impl ProviderConfig {
    /// A provider at an address where no server listens.
    pub fn unreachable() -> ProviderConfig {
        ProviderConfig {
            name: "p".into(),
            api: "openai".into(),
            base_url: "http://127.0.0.1:9/v1".into(),
            model: "m".into(),
            api_key: KeySource::None,
            connect_timeout_ms: 1000,
            timeout_ms: 1000,
            max_retries: 0,
            special: Special::default(),
            limits: CallLimits::default(),
            network: Network::default(),
        }
    }
}

/// Settings that only some protocols or servers have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Special {
    /// The header that holds the key alone; `None`: as the protocol has it.
    pub key_header: Option<String>,
    /// How long a prompt the model is to be loaded for, in tokens; only Ollama and local models.
    pub num_ctx: Option<u32>,
    /// The file of a local model; only [`LOCAL_API`].
    pub file: Option<GgufFile>,
    /// How the model is offered what it may call.
    pub tools: ToolCalling,
    /// What of the texts is not sent.
    pub redact: RedactionPolicy,
    /// The token classifier that finds personal data beside the rules; only with [`RedactionPolicy::Pii`].
    pub redact_model: Option<ModelRef>,
    /// How much of the limit of the call under way that classifier has taken, in milliseconds. It stays where it was
    /// measured, and is 0 in what is sent.
    #[serde(skip)]
    pub redact_took_ms: u64,
    /// What earlier calls for the same answer have not sent; only with [`RedactionPolicy::Pii`].
    pub withheld: WithheldValues,
}

/// What of the texts that are to be sent is replaced by placeholders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RedactionPolicy {
    /// Texts are sent as they are.
    #[default]
    Nothing,
    /// Personal data, as far as [`redact`](crate::redact) knows them.
    Pii,
}

/// How a model is offered what it may call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolCalling {
    /// As tools of the protocol; where it or the model knows none, as JSON.
    #[default]
    Native,
    /// As JSON of a schema.
    Json,
}

impl ProviderConfig {
    /// How long all of the call may take, in milliseconds: as long as the server allows, or as there is time for an answer
    /// where that is less.
    #[must_use]
    pub fn allowed_ms(&self) -> u64 {
        self.limits.within_ms.map_or(self.timeout_ms, |left| left.min(self.timeout_ms))
    }

    /// What is left for the call itself of [`allowed_ms`](Self::allowed_ms).
    #[must_use]
    pub fn call_ms(&self) -> u64 {
        self.allowed_ms().saturating_sub(self.special.redact_took_ms)
    }

    /// Whether the call is cut short by the time that there is for an answer, and not by the server's limit.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.allowed_ms() < self.timeout_ms
    }

    /// The limit that [`allowed_ms`](Self::allowed_ms) comes from, in words for a message: "timeout of 60000 ms", or
    /// "the 450 ms that budget.seconds leaves to this call, with timeout of 60000 ms".
    #[must_use]
    pub fn timeout_in_words(&self) -> String {
        let timeout = format!("timeout of {} ms", self.timeout_ms);
        match self.is_cut_short() {
            false => timeout,
            true => {
                let left = self.allowed_ms();
                format!("the {left} ms that budget.seconds leaves to this call, with {timeout}")
            }
        }
    }

    /// What is to be raised for the call to take longer, in words for a hint: "timeout of server "NAME"", or "budget.seconds
    /// of the answer".
    #[must_use]
    pub fn limit_to_raise(&self) -> String {
        match self.is_cut_short() {
            false => format!("timeout of server \"{}\"", self.name),
            true => "budget.seconds of the answer".to_owned(),
        }
    }

    /// Whether the model is to be offered tools in the way of its protocol. A local one is held to JSON by a grammar.
    #[must_use]
    pub fn offers_tools(&self) -> bool {
        self.api != LOCAL_API && self.special.tools == ToolCalling::Native
    }
}

/// The file of a local model, as it was registered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GgufFile {
    /// Its path.
    pub path: String,
    /// Hex SHA-256 of its bytes.
    pub digest: String,
    /// The longest text that it was trained on, in tokens.
    pub trained_tokens: u32,
}

/// Where a provider's key is. Never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeySource {
    /// The server wants none.
    None,
    /// The key stands in the user mapping itself.
    Inline(String),
    /// The key stands in a file that ragd reads; its path.
    File(String),
    /// The key stands in ragd's environment; the variable's name.
    Environment(String),
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeySource::None => "None",
            KeySource::Inline(_) => "Inline(..)",
            KeySource::File(_) => "File(..)",
            KeySource::Environment(_) => "Environment(..)",
        })
    }
}

/// How much a provider is asked, over all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLimits {
    /// Longest wait for the first piece of a streamed answer; `None`: the limit of the whole call.
    pub first_token_timeout_ms: Option<u64>,
    /// What is left of the time for an answer that the call is part of; `None`: an answer may take any time.
    pub within_ms: Option<u64>,
    /// Most calls at a time.
    pub max_concurrency: Option<u32>,
    /// Most calls that begin within a minute.
    pub requests_per_minute: Option<u32>,
}

/// By which way a provider is reached, and on which hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// An HTTP proxy as `http://host:port`; `None`: the one that ragd's environment names.
    pub proxy: Option<String>,
    /// A file of certificates in PEM that are trusted in the place of the usual authorities.
    pub ca_file: Option<String>,
    /// Hosts that may be called.
    pub hosts: HostRules,
    /// The number of the role that has chosen all of this, the owner of the foreign server. Roles are
    /// those of all databases. What is learned on one role's way is not held against another's.
    pub owner: u32,
}

/// Which hosts may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRules {
    /// Which addresses besides the public ones.
    pub private: PrivateHosts,
    /// Names, `*.example.com` for all below one; none: all.
    pub allowed: Vec<String>,
}

/// Which addresses are allowed that are not of the public Internet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrivateHosts {
    /// No address is allowed but those of the public Internet.
    None,
    /// The addresses of the machine itself are allowed, too.
    #[default]
    Loopback,
    /// All addresses are allowed.
    All,
}

/// Whether the port that `authority`, a host with perhaps a port, names can be one: from 1 to 65535.
/// Without one there is nothing to object to.
#[must_use]
pub fn has_fit_port(authority: &str) -> bool {
    // An IPv6 address has colons of its own, in brackets.
    let rest = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    let Some((_, port)) = rest.split_once(':') else { return true };
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    is_number && port.parse::<u16>().is_ok_and(|port| port > 0)
}

impl PrivateHosts {
    /// The value of the setting `rag.allow_private_hosts`.
    pub fn name(self) -> &'static str {
        match self {
            PrivateHosts::None => "none",
            PrivateHosts::Loopback => "loopback",
            PrivateHosts::All => "all",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_from_1_to_65535() {
        for fit in ["host", "host:1", "host:65535", "[::1]", "[::1]:8080", "127.0.0.1:080"] {
            assert!(has_fit_port(fit), "{fit}");
        }
        for unfit in ["host:0", "host:65536", "host:99999", "host:", "host:+1", "host:x", "[::1]:0"]
        {
            assert!(!has_fit_port(unfit), "{unfit}");
        }
        assert!(!has_fit_port("host:1:2") && !has_fit_port("host:18446744073709551617"));
    }
}
