//! Servers of the api `local`: a language model that ragd runs itself.

use super::OptionList;
use crate::error::{Error, Result};
use crate::pg::catalog::model;
use crate::protocol::{GgufFile, LOCAL_API, ProviderConfig, Special, USUAL_LOCAL_CONTEXT};

/// What says how a host is reached, which a model on this machine has none of.
const OF_HOSTS: [&str; 6] =
    ["base_url", "connect_timeout", "max_retries", "key_header", "proxy", "ca_file"];

/// Tokens of chunks that a model on this machine reads for an answer where nothing else is said. Two cores read some 100
/// tokens a second with a model of 1.5 billion parameters in 4 bits.
pub const USUAL_READING: u32 = 800;

/// Fails where a server of this api says how a host is reached.
pub fn check(options: &OptionList) -> Result<()> {
    if options.text("api").as_deref() != Some(LOCAL_API) {
        return Ok(());
    }
    match OF_HOSTS.iter().find(|name| options.text(name).is_some()) {
        None => Ok(()),
        Some(name) => Err(Error::invalid(format!("api 'local' has no option {name}"))
            .hint("The model runs on this machine, and no host is called.")),
    }
}

/// The file of the model, where `api` is that of local ones.
pub fn file(api: &str, model: &str) -> Result<Option<GgufFile>> {
    (api == LOCAL_API).then(|| model::find_local(model)).transpose()
}

/// What stands for the address of a host where things are remembered by it.
pub fn address(special: &Special) -> String {
    let digest = special.file.as_ref().map(|file| file.digest.as_str()).unwrap_or_default();
    format!("{LOCAL_API}:{digest}")
}

/// Most tokens of a call, the answer included; `None` where the model is not a local one.
pub fn window(config: &ProviderConfig) -> Option<u32> {
    let Special { file, num_ctx, .. } = &config.special;
    let wanted = num_ctx.unwrap_or(USUAL_LOCAL_CONTEXT);
    file.as_ref().map(|file| wanted.min(file.trained_tokens))
}
