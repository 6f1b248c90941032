//! How does a protocol send its key?

use super::key::ApiKey;
use crate::protocol::ProviderConfig;

/// What all calls of a protocol have in common.
#[derive(Debug)]
pub struct Dialect {
    /// The header that holds the key alone; `None`: `Authorization`, behind "Bearer".
    pub key_header: Option<&'static str>,
    /// Headers that go with each call.
    pub headers: &'static [(&'static str, &'static str)],
    /// How an address usually ends, for hints.
    pub base_url_end: &'static str,
}

impl Dialect {
    /// The headers of a call to `provider` with `key`. A header that the server's options name
    /// takes the place of the protocol's own.
    pub fn headers(&self, provider: &ProviderConfig, key: &ApiKey) -> Vec<(String, String)> {
        let fixed = self.headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let named = provider.special.key_header.as_deref().or(self.key_header);
        let with_key = match named {
            Some(name) => key.bare().map(|key| (name.to_string(), key.to_string())),
            None => key.bearer().map(|value| ("Authorization".to_string(), value)),
        };
        fixed.chain(with_key).collect()
    }
}
