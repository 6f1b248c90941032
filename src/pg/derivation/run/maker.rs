//! What makes things of the items of a derivation, as the owner of its pipeline.

use pgrx::pg_sys;

use crate::error::Result;
use crate::pg::catalog::derivation;
use crate::pg::catalog::locking::{self, Chunks};
use crate::pg::catalog::owner::as_owner_of_all;
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::derivation::scheduler::DerivationKey;
use crate::pg::derivation::{Derivation, loaded, option_name};
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::llm::Llm;
use crate::pg::server::role;
use crate::pg::server::transaction::{Outcome, Transactions};
use crate::protocol::ProviderConfig;

/// What makes things of items.
pub struct Maker {
    /// What is made.
    pub derivation: Box<dyn Derivation>,
    /// The language model that writes; `None` where none does.
    pub provider: Option<ProviderConfig>,
    /// What embeds the texts that are made.
    pub embedding: Embedding,
    /// On whose behalf providers are called.
    pub owner: pg_sys::Oid,
}

/// Has a derivation get ready for a run, and remembers what is to be remembered then.
pub fn prepare(transactions: Transactions, key: DerivationKey) -> Outcome<()> {
    at_work(transactions, key, |_, _| {
        let prepared = in_source(key, |pipeline, relation, maker| {
            maker.derivation.prepare(pipeline, relation)
        })?;
        let state = prepared.flatten();
        state.map_or(Ok(()), |state| derivation::set_state(key.0, key.1, state))
    })
}

/// Does `work` as the owner of a pipeline, with the table of a derivation and what makes it; `None` where
/// one of them is gone.
pub fn in_source<T>(
    (id, kind): DerivationKey,
    work: impl FnOnce(&Pipeline, &str, Maker) -> Result<T>,
) -> Result<Option<T>> {
    let Some(pipeline) = pipeline::by_id(id)? else { return Ok(None) };
    let Some(stored) = derivation::of(id, kind)? else { return Ok(None) };
    let state = derivation::state(id, kind)?;
    as_owner_of_all(&pipeline, || {
        let (derivation, llm) = loaded(&stored, state)?;
        let provider = || -> Result<ProviderConfig> {
            let llm = Llm::or_default(llm.as_deref())?;
            llm.provider_for(option_name(kind)).cloned()
        };
        let asks = kind.asks_model() || llm.is_some();
        let provider = asks.then(provider).transpose()?;
        let context = CallContext::bulk().for_pipeline(id);
        let embedding = Embedding::with_model(Some(&pipeline.model), context)?;
        let maker = Maker { derivation, provider, embedding, owner: role::on_behalf_of() };
        work(&pipeline, &stored.relation.sql, maker).map(Some)
    })
}

/// Does `work` with a pipeline and the table of a derivation, if they are still there: the pipeline may
/// have been dropped, or another one may have taken its place.
pub fn at_work(
    transactions: Transactions,
    (id, kind): DerivationKey,
    mut work: impl FnMut(&Pipeline, &Relation) -> Result<()>,
) -> Outcome<()> {
    locking::at_work(transactions, id, Chunks::Written, |pipeline| {
        let Some(pipeline) = pipeline else { return Ok(()) };
        let Some(stored) = derivation::of(id, kind)? else { return Ok(()) };
        work(pipeline, &stored.relation)
    })
}
