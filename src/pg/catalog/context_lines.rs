//! Which language model says in which connection a pipeline's chunks stand: `context_llm` and
//! `contexts` of `rag.pipeline`.

use serde_json::json;

use super::pipeline::Relation;
use crate::contextual::ContextualOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::json::Jsonb;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::query;
use crate::pg::server::{prepared, sql};

/// Which model says it, and where that is kept.
pub struct ContextLines {
    /// Which model says it, and how it is asked.
    pub wanted: ContextualOptions,
    /// The table of what has been said.
    pub relation: Relation,
}

/// Which model says in which connection the chunks of a pipeline stand, and where that is kept;
/// `None` if none does.
pub fn of(pipeline: i32) -> Result<Option<ContextLines>> {
    let statement = query!(contexts.find);
    let found = prepared::rows(statement, &[pipeline.into()], |row| {
        let option = sql::required(row.get::<Jsonb>(1)?)?.0;
        let relation =
            Relation { oid: sql::required(row.get(2)?)?, sql: sql::required(row.get(3)?)? };
        Ok((option, relation))
    })?;
    let Some((option, relation)) = found.into_iter().next() else { return Ok(None) };
    let wanted = serde_json::from_value(option)
        .map_err(|error| Error::new(ErrorKind::DataCorrupted, format!("context_llm: {error}")))?;
    Ok(Some(ContextLines { wanted, relation }))
}

/// Keeps which model says it, for a pipeline of the caller's; `relation` is the name of the table.
pub fn set(pipeline: i32, wanted: &ContextualOptions, relation: &str) -> Result<()> {
    let statement = query!(contexts.set);
    let option = Jsonb(json!(wanted));
    as_superuser(|| sql::execute(statement, &[pipeline.into(), option.into(), relation.into()]))
        .map(drop)
}

/// Pipelines whose chunks are put into their connection, each with a text that changes when there
/// may be more to do; only that of `only` if given.
pub fn pipelines(only: Option<i32>) -> Result<Vec<(i32, String)>> {
    let statement = query!(contexts.pipelines);
    sql::rows(statement, &[only.into()], |row| {
        Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
    })
}
