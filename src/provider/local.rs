//! Language models that run on this machine: who is asked to write, where no host is called.

use super::provider_state::ProviderMemory;
use super::sampling::check_temperature;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{GenerateRequest, Generated};

/// Has local models write.
pub trait LocalModels: Send + Sync {
    /// Has the model of `request` write, and passes each piece to `hear` as soon as it is there; gives all of it. An error
    /// of `hear` ends the call, as does `gone`, which says whether the client has left.
    ///
    /// Fails with [`ErrorKind::ProviderTimeout`] where a limit of the server's options is reached, with
    /// [`ErrorKind::ProviderRefused`] where the prompt is longer than the model reads, and with
    /// [`ErrorKind::ProviderFailed`] where the model's process ends in the middle of a text.
    fn write(
        &self,
        request: &GenerateRequest,
        gone: &dyn Fn() -> bool,
        hear: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<Generated>;
}

/// Has the model of `request` write, as [`LocalModels::write`] says. Fails with [`ErrorKind::InvalidParameter`] where it
/// cannot be sampled so.
pub fn write(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<Generated> {
    check_temperature(request.sampling.temperature)?;
    let none = || Error::new(ErrorKind::NotInState, "no local language models are run here");
    memory.local_models().ok_or_else(none)?.write(request, gone, hear)
}
