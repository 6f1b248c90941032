//! Language models by name: the built-in answerer, or one behind a provider.

use super::provider::{self, Capacity};
use crate::error::Result;
use crate::extract::{EXTRACTIVE, needs_language_model};
use crate::pg::server::guc;
use crate::pg::server::role::calls_with_rights_of_another;
use crate::protocol::{LOCAL_API, ProviderConfig};
use crate::redact::withheld::WithheldValues;

/// What writes answers. A name is looked up once; from then on its server, key and prices are known.
pub enum Llm {
    /// The built-in answerer, which quotes and writes no text of its own.
    Extractive,
    /// A language model behind a foreign server.
    Provider(Box<Provider>),
}

/// A language model behind a foreign server that the current role may use.
pub struct Provider {
    /// How it is reached.
    pub config: ProviderConfig,
    /// How much it reads.
    pub capacity: Capacity,
}

impl Llm {
    /// The one called `name`: 'extractive' or a foreign server.
    ///
    /// Fails where there is no such server, its options are incomplete, or the current role has no USAGE on
    /// it.
    pub fn named(name: &str) -> Result<Llm> {
        if name == EXTRACTIVE {
            return Ok(Llm::Extractive);
        }
        let (config, capacity) = provider::language_model(name)?;
        Ok(Llm::Provider(Box::new(Provider { config, capacity })))
    }

    /// The one called `name`, or that of the setting `rag.llm`.
    ///
    /// In a function with SECURITY DEFINER, whoever calls it has made the setting. So there it fails if the setting names
    /// a server to which a stranger would have the rows of the function's owner sent.
    pub fn or_default(name: Option<&str>) -> Result<Llm> {
        match name {
            Some(name) => Llm::named(name),
            None => {
                let name = guc::llm();
                if name != EXTRACTIVE && calls_with_rights_of_another() {
                    provider::check_choice_of_caller(&name)?;
                }
                Llm::named(&name)
            }
        }
    }

    /// The same, which keeps these values from its provider, and adds to them what it keeps from it.
    #[must_use]
    pub fn withholding(mut self, values: &WithheldValues) -> Llm {
        if let Llm::Provider(provider) = &mut self {
            provider.config.special.withheld = values.clone();
        }
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Llm::Extractive => EXTRACTIVE,
            Llm::Provider(provider) => &provider.config.name,
        }
    }

    /// Whether it is the built-in answerer.
    pub fn is_extractive(&self) -> bool {
        matches!(self, Llm::Extractive)
    }

    /// Whether it runs on this machine, in a process of ragd's.
    pub fn is_local(&self) -> bool {
        matches!(self, Llm::Provider(provider) if provider.config.api == LOCAL_API)
    }

    /// How much it reads; `None` for the built-in answerer, which reads all.
    pub fn capacity(&self) -> Option<&Capacity> {
        match self {
            Llm::Extractive => None,
            Llm::Provider(provider) => Some(&provider.capacity),
        }
    }

    /// How it is reached; an error where `what` needs a language model and this is none.
    pub fn provider_for(&self, what: &str) -> Result<&ProviderConfig> {
        match self {
            Llm::Extractive => Err(needs_language_model(what)),
            Llm::Provider(provider) => Ok(&provider.config),
        }
    }
}
