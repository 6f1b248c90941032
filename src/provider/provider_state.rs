//! What ragd remembers of providers from one call to the next.
//!
//! None of it matters: without it, a call or two too many would be made.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::circuit_breaker::{CircuitBreakers, Health};
use super::cooldown::{Cooldowns, ProviderId};
use super::limit::Gate;
use super::local::LocalModels;
use super::retry::random;
use super::schema::Manner;
use super::support::{AcceptedManners, ModelOfProvider};
use crate::lock::locked;

/// Models that are remembered; beyond that all are forgotten, which is simpler than choosing.
const MOST_MODELS: usize = 1000;

/// Which providers want to be left alone, which are down, which calls they have, which models are
/// asked for shorter vectors, and which refuse to be asked for a form or offered tools.
#[derive(Default)]
pub struct ProviderMemory {
    pauses: Mutex<Cooldowns>,
    breakers: Mutex<CircuitBreakers>,
    gate: Gate,
    shortened: Mutex<HashSet<Shortened>>,
    manners: Mutex<AcceptedManners<Manner>>,
    /// Those that have accepted to be offered no tools.
    toolless: Mutex<AcceptedManners<()>>,
    local_models: Option<Arc<dyn LocalModels>>,
}

/// A model whose vectors have another length than is wanted unless one asks.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Shortened {
    /// The provider of the model.
    pub provider: ProviderId,
    /// What it is called there.
    pub model: String,
    /// The length that is wanted.
    pub dimension: u32,
}

impl ProviderMemory {
    /// Nothing is known yet, and `models` write where a local model is asked.
    pub fn with_local_models(models: Arc<dyn LocalModels>) -> ProviderMemory {
        ProviderMemory { local_models: Some(models), ..ProviderMemory::default() }
    }

    /// What has local models write, if there is anything.
    pub fn local_models(&self) -> Option<&dyn LocalModels> {
        self.local_models.as_deref()
    }

    /// The provider is busy and asked for so long; for how long it is left alone.
    pub fn refused(&self, provider: ProviderId, asked: Option<Duration>) -> Duration {
        locked(&self.pauses).refused(provider, asked, Instant::now(), random())
    }

    /// The provider has answered.
    pub fn answered(&self, provider: &ProviderId) {
        locked(&self.pauses).answered(provider, Instant::now());
    }

    /// How much longer the provider is left alone.
    pub fn pause_left(&self, provider: &ProviderId) -> Option<Duration> {
        locked(&self.pauses).left(provider, Instant::now())
    }

    /// Whether the provider may be called; if it is down, how long it is left alone. What becomes
    /// of the call has to be reported.
    pub fn attend(&self, provider: ProviderId) -> Result<Attempt<'_>, Duration> {
        locked(&self.breakers).admit(&provider, Instant::now())?;
        Ok(Attempt { memory: self, provider, health: Health::Unknown })
    }

    /// Where calls wait for their turn.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How a form is asked for there.
    pub fn manner(&self, asked: &ModelOfProvider) -> Manner {
        locked(&self.manners).of(asked, Instant::now()).unwrap_or_default()
    }

    /// Notes that a form was asked for in that `manner`, after another was refused.
    pub fn note_manner(&self, asked: ModelOfProvider, manner: Manner) {
        locked(&self.manners).accepted(asked, manner, Instant::now());
    }

    /// Whether tools may be offered there, as far as is known.
    pub fn may_have_tools(&self, asked: &ModelOfProvider) -> bool {
        locked(&self.toolless).of(asked, Instant::now()).is_none()
    }

    /// Notes that tools were refused there.
    pub fn note_no_tools(&self, asked: ModelOfProvider) {
        locked(&self.toolless).accepted(asked, (), Instant::now());
    }

    /// Whether `model` was found to give the wanted length only if asked.
    pub fn is_shortened(&self, model: &Shortened) -> bool {
        locked(&self.shortened).contains(model)
    }

    /// `model` gave the wanted length, `asked` or not.
    pub fn note_length(&self, model: Shortened, asked: bool) {
        let mut shortened = locked(&self.shortened);
        if !asked {
            shortened.remove(&model);
            return;
        }
        if shortened.len() >= MOST_MODELS {
            shortened.clear();
        }
        shortened.insert(model);
    }
}

/// A call of a provider, of which is remembered what became of it.
pub struct Attempt<'a> {
    memory: &'a ProviderMemory,
    provider: ProviderId,
    /// What became of the call.
    pub health: Health,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        locked(&self.memory.breakers).note(self.provider, self.health, Instant::now());
    }
}
