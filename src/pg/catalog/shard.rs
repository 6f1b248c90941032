//! `rag.shard`: of which pipelines in other databases a pipeline's chunks are, and how many of each.

use pgrx::pg_sys;
use pgrx::spi::{SpiHeapTupleData, quote_identifier};

use super::pipeline::{Pipeline, Relation};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::role::{as_superuser, by_policies};
use crate::pg::server::sql::query;
use crate::pg::server::{prepared, sql};

/// Bits of a chunk's number that are its number on its server; those above are the number of the shard. A program
/// whose numbers are floating ones can tell all chunks of 511 shards apart.
pub const OWN_BITS: u32 = 44;

/// A pipeline of another database whose chunks belong to a pipeline here.
#[derive(Clone, Debug)]
pub struct Shard {
    /// Its number in the pipeline, from 1.
    pub number: i32,
    /// The foreign server's name.
    pub server: String,
    /// The pipeline's name there.
    pub remote: String,
    /// The foreign table of its chunks.
    pub relation: Relation,
    /// Schema of the view there that this table reads.
    pub schema: String,
    /// Name of that view.
    pub view: String,
    /// The foreign table of what its server says of it.
    pub description: Relation,
}

impl Shard {
    /// What users call it: the server and the pipeline there.
    pub fn name(&self) -> String {
        name(&self.server, &self.remote)
    }

    /// What is added to the number that a chunk has on its server.
    pub fn offset(&self) -> i64 {
        offset(self.number)
    }

    /// What is one past the greatest number that a chunk of this shard can have.
    pub fn end(&self) -> i64 {
        offset(self.number + 1)
    }
}

/// What users call a pipeline on a server.
pub fn name(server: &str, pipeline: &str) -> String {
    format!("{}.{}", quote_identifier(server), quote_identifier(pipeline))
}

/// What is added to the numbers of the chunks of the shard that has this number.
pub fn offset(number: i32) -> i64 {
    i64::from(number) << OWN_BITS
}

/// The number of the shard that a chunk is of.
pub fn number_of(chunk_id: i64) -> i32 {
    (chunk_id >> OWN_BITS) as i32
}

/// The shards of a pipeline in their order; none of one that has its chunks here.
///
/// Fails where a foreign table is not there any more: an answer must not be without a shard in silence.
pub fn of(pipeline: &Pipeline) -> Result<Vec<Shard>> {
    if !pipeline.has_shards {
        return Ok(Vec::new());
    }
    let read = |row: &SpiHeapTupleData<'_>| {
        let number: i32 = sql::required(row.get(1)?)?;
        let remote: String = sql::required(row.get(3)?)?;
        let tables = relation(row.get(4)?, row.get(5)?).zip(relation(row.get(6)?, row.get(7)?));
        let view = row.get::<String>(8)?.zip(row.get::<String>(9)?);
        Ok(match row.get::<String>(2)?.zip(tables).zip(view) {
            Some(((server, (relation, description)), (schema, view))) => {
                Ok(Shard { number, server, remote, relation, schema, view, description })
            }
            None => Err(remote),
        })
    };
    let found = by_policies(|| prepared::rows(query!(shard.of), &[pipeline.id.into()], read))?;
    let whole = found.into_iter().map(|shard| shard.map_err(|remote| torn(pipeline, &remote)));
    whole.collect()
}

/// The foreign tables of a pipeline that are there, also where others of them are not; none of one that has its
/// chunks here.
pub fn tables(pipeline: &Pipeline) -> Result<Vec<Relation>> {
    if !pipeline.has_shards {
        return Ok(Vec::new());
    }
    by_policies(|| {
        prepared::rows(query!(shard.tables), &[pipeline.id.into()], |row| {
            Ok(Relation { oid: sql::required(row.get(1)?)?, sql: sql::required(row.get(2)?)? })
        })
    })
}

fn relation(oid: Option<pg_sys::Oid>, sql: Option<String>) -> Option<Relation> {
    oid.zip(sql).map(|(oid, sql)| Relation { oid, sql })
}

fn torn(pipeline: &Pipeline, remote: &str) -> Error {
    let name = &pipeline.name;
    let message =
        format!("a foreign table of \"{remote}\", a shard of pipeline \"{name}\", is not there");
    Error::new(ErrorKind::UndefinedObject, message)
        .hint("Have the tables made anew with rag_alter_pipeline(..., shards => ...).")
}

/// Adds a shard to a pipeline; its foreign tables by their names in SQL.
pub fn insert(
    pipeline: i32,
    number: i32,
    remote: &str,
    (relation, description): (&str, &str),
) -> Result<()> {
    let arguments =
        [pipeline.into(), number.into(), remote.into(), relation.into(), description.into()];
    as_superuser(|| sql::execute(query!(shard.insert), &arguments)).map(drop)
}

/// Takes all shards of a pipeline out of the catalog, and has the next ones belong to its next generation, whose
/// first foreign table has this name in SQL.
pub fn replace_all(pipeline: i32, first: &str) -> Result<()> {
    as_superuser(|| {
        sql::execute(query!(shard.delete), &[pipeline.into()])?;
        sql::execute(query!(shard.next_generation), &[pipeline.into(), first.into()])
    })
    .map(drop)
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use super::*;

    #[pg_extern]
    fn a_chunk_knows_its_shard() {
        for number in [1, 2, 256] {
            assert_eq!(number_of(offset(number)), number);
            assert_eq!(number_of(offset(number) + 1_000_000_000_000), number);
            assert_eq!(number_of(offset(number + 1) - 1), number);
        }
        assert_eq!(number_of(17), 0);
        // What a program with floating numbers tells apart.
        assert!(offset(511) + (1 << OWN_BITS) <= 1 << 53);
    }

    #[pg_extern]
    fn names_are_written_as_in_sql() {
        assert_eq!(name("srv1", "docs"), "srv1.docs");
        assert_eq!(name("East Coast", "Docs"), "\"East Coast\".\"Docs\"");
    }
}
