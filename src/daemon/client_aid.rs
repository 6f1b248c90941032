//! What ragd does for the client of a call to a provider, beside the call: forms are checked in a process of their own,
//! names are found by a token classifier.

use std::sync::Arc;
use std::time::Instant;

use super::classify::names;
use super::parse::Parsers;
use super::registry::Registry;
use super::worker::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::provider::client_aid::{NameFinder, NameSearch};
use crate::provider::schema::{SchemaCheck, SchemaFit};
use crate::text::token_labels::LabelledSpan;

/// What is there for one client.
pub struct AidOfClient<'a> {
    /// The processes that check forms.
    pub parsers: &'a Parsers,
    /// The models that find names.
    pub registry: &'a Registry,
    /// Who waits.
    pub client: &'a Client,
}

impl SchemaCheck for AidOfClient<'_> {
    fn check(&self, schema: &str, answer: Option<&str>) -> Result<SchemaFit> {
        self.parsers.for_client(self.client).check(schema, answer)
    }
}

impl NameFinder for AidOfClient<'_> {
    fn names(&self, search: &NameSearch<'_>) -> Result<Vec<Vec<LabelledSpan>>> {
        let NameSearch { model, lane, texts, within } = *search;
        let deadline = Instant::now() + within;
        let is_alive = Arc::clone(&self.client.is_alive);
        let waits = move || is_alive() && Instant::now() < deadline;
        let client = Client { role: self.client.role, is_alive: Arc::new(waits) };
        let found =
            self.registry.model(model).and_then(|loaded| names(&loaded, lane, texts, &client));
        found.map_err(|error| match Instant::now() >= deadline && self.client.is_alive() {
            true => too_slow(&model.name, within.as_secs_f64()),
            false => error,
        })
    }
}

fn too_slow(model: &str, seconds: f64) -> Error {
    let message = format!("model \"{model}\" has not found the personal data within {seconds} s");
    Error::new(ErrorKind::ProviderTimeout, message)
}
