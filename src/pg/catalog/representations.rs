//! What is made of a pipeline's chunks beside them: `represent` and `representations` of
//! `rag.pipeline`.

use serde_json::Value as Json;

use super::pipeline::Relation;
use crate::error::Result;
use crate::pg::server::json::Jsonb;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::query;
use crate::pg::server::{prepared, sql};
use crate::representation::RepresentOptions;

/// What is wanted, and where it is kept.
pub struct Representation {
    /// What a language model is to write of each chunk.
    pub wanted: RepresentOptions,
    /// `wanted` as the catalog stores it, in JSON.
    pub option: Json,
    /// The table of summaries and questions.
    pub relation: Relation,
}

/// What is made of the chunks of a pipeline, and where it is kept; `None` if nothing is.
pub fn of(pipeline: i32) -> Result<Option<Representation>> {
    let statement = query!(representations.find);
    let found = prepared::rows(statement, &[pipeline.into()], |row| {
        let option = sql::required(row.get::<Jsonb>(1)?)?.0;
        let relation =
            Relation { oid: sql::required(row.get(2)?)?, sql: sql::required(row.get(3)?)? };
        Ok((option, relation))
    })?;
    let Some((option, relation)) = found.into_iter().next() else { return Ok(None) };
    Ok(Some(Representation { wanted: RepresentOptions::read(&option)?, option, relation }))
}

/// Keeps what is wanted of a pipeline that is the caller's; `relation` is the name of the table.
pub fn set(pipeline: i32, option: Option<&Json>, relation: Option<&str>) -> Result<()> {
    let statement = query!(representations.set);
    let option = option.map(|option| Jsonb(option.clone()));
    as_superuser(|| sql::execute(statement, &[pipeline.into(), option.into(), relation.into()]))
        .map(drop)
}

/// Pipelines whose chunks are described, each with a text that changes when there may be more to
/// do; only that of `only` if given.
pub fn pipelines(only: Option<i32>) -> Result<Vec<(i32, String)>> {
    let statement = query!(representations.pipelines);
    sql::rows(statement, &[only.into()], |row| {
        Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
    })
}
