//! Tokens, counted by ragd.

use crate::error::Result;
use crate::pg::catalog::model;
use crate::pg::question::answer::Writing;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::ragd::client;
use crate::pg::server::error::unexpected;
use crate::prompt::tokens::{Counter, estimate};
use crate::protocol::{ModelRef, Request, Response};

/// A tokenizer of ragd's.
pub struct Tokens {
    model: ModelRef,
    /// Whether it is the language model's own.
    is_own: bool,
}

impl Tokens {
    /// The tokenizer that the options or the server name, which is the language model's own; or
    /// else that of the pipeline, for an estimate.
    pub fn of(search: &FederatedSearch, writing: &Writing) -> Result<Tokens> {
        let of_server = || writing.llm.capacity()?.tokenizer.as_deref();
        let own = writing.context.tokenizer.as_deref().or_else(of_server);
        let name = own.unwrap_or(search.model());
        Ok(Tokens { model: model::find(Some(name))?.reference, is_own: own.is_some() })
    }
}

impl Counter for Tokens {
    fn count(&mut self, texts: &[String]) -> Result<Vec<usize>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let request = Request::CountTokens { model: self.model.clone(), texts: texts.to_vec() };
        let counts = match client::call(&request)? {
            Response::Counts(counts) if counts.len() == texts.len() => counts,
            other => return Err(unexpected(&other)),
        };
        let counted = texts.iter().zip(counts).map(|(text, count)| match self.is_own {
            true => count as usize,
            false => estimate(text, count as usize),
        });
        Ok(counted.collect())
    }
}
