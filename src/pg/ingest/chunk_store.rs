//! A pipeline's chunk table: the store behind [`crate::pipeline::ingest`].
//!
//! To be used as the owner of the table.

use std::collections::{HashMap, HashSet};

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::spi::quote_literal;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::view::{self, ContentColumns, ViewColumn, content_columns};
use crate::pg::changes::keys::{KnownKey, SourceKey};
use crate::pg::derivation::column_relations::{ColumnRelationStore, SaidByRow, SaidName};
use crate::pg::derivation::mentions::MentionStore;
use crate::pg::derivation::tree::changes as tree_changes;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::transaction::has_one_snapshot;
use crate::pg::server::vector::Vector;
use crate::pipeline::{ChunkStore, Content, ContentHash, Document, StoredChunk, Vectors};
use crate::text::code::open_fences;

/// What surrounds a chunk's text and may change without it.
const AROUND: [&str; 6] =
    ["start_char", "end_char", "heading", "parent_start", "parent_end", "context_key"];

/// A chunk, by the number of its document, its number in that, and the hash of its text.
pub type ChunkPlace = (usize, i32, ContentHash);

/// Reads documents, keeps chunks.
pub struct SqlStore<'a> {
    pipeline: &'a Pipeline,
    /// Columns of the content view.
    pub columns: ContentColumns,
    vector: String,
}

impl<'a> SqlStore<'a> {
    /// The store of `pipeline`.
    pub fn of(pipeline: &'a Pipeline) -> Result<Self> {
        let columns = content_columns(pipeline)?;
        Ok(SqlStore { pipeline, columns, vector: sql::vector_schema()? })
    }

    /// The rows with these keys. One that is gone, or that the owner can't see, has no content.
    pub fn documents(&self, keys: &[SourceKey]) -> Result<Vec<Document>> {
        let statement = self.render(query!(chunk.documents_by_key), 1);
        let is_file = self.columns.content.type_oid == pg_sys::BYTEAOID;
        let chunking = &self.pipeline.chunking;
        let text = |text: String| match chunking.reads_html(&text) {
            true => Content::Html(text),
            false => Content::Text(text),
        };
        let found = sql::rows(&statement, &self.key_arrays(keys), |row| {
            let content = match is_file {
                true => row.get::<Vec<u8>>(2)?.map(Content::File),
                false => row.get::<String>(2)?.map(text),
            };
            let key: SourceKey = sql::required(row.get(1)?)?;
            Ok((key.clone(), Document { key, title: row.get(3)?, content }))
        })?;
        // An older snapshot shows a row that has been deleted since beside the one that has its key now.
        // Workers look at such a row again.
        if found.len() > keys.len() && !has_one_snapshot() {
            return Err(self.not_unique(found.into_iter().map(|(key, _)| key)));
        }
        let mut documents: HashMap<SourceKey, Document> = found.into_iter().collect();
        let gone = |key: &SourceKey| Document { key: key.clone(), title: None, content: None };
        let document = |key: &SourceKey| documents.remove(key).unwrap_or_else(|| gone(key));
        Ok(keys.iter().map(document).collect())
    }

    /// The error for a key that several rows have, the first of these.
    fn not_unique(&self, keys: impl Iterator<Item = SourceKey>) -> Error {
        let mut seen = HashSet::new();
        let twice = keys.into_iter().find(|key| !seen.insert(key.clone())).unwrap_or_default();
        let (source, key) = (&self.pipeline.source.sql, twice.join(", "));
        let message = format!("{source} has more than one row with the key ({key})");
        Error::new(ErrorKind::DuplicateObject, message)
            .hint("Make the key unique again, for instance with ALTER TABLE ... ADD PRIMARY KEY.")
    }

    /// A query for the keys of all rows of the source.
    pub fn all_keys(&self) -> String {
        self.render_keys(query!(chunk.source_keys_all))
    }

    /// A query for the keys of those rows of the source that have no chunk.
    pub fn missing_keys(&self) -> String {
        self.render_keys(query!(chunk.source_keys_missing))
    }

    /// The keys of rows of the source that have none, as far as they are known, each once. No more than `most` such rows
    /// are looked at.
    pub fn keyless(&self, most: i64) -> Result<Vec<KnownKey>> {
        // PostgreSQL finds that out by itself from version 17 on; others would read all rows.
        if !self.may_lack_keys()? {
            return Ok(Vec::new());
        }
        let statement = self.render_keys(query!(chunk.source_keys_none));
        sql::rows(&statement, &[most.into()], |row| sql::required(row.get::<KnownKey>(1)?))
    }

    /// Whether constraints leave it open that a row has no key.
    fn may_lack_keys(&self) -> Result<bool> {
        let columns = view::source_key_names(self.pipeline);
        let arguments = [self.pipeline.source.oid.into(), columns.into()];
        let found = sql::rows(query!(chunk.nullable_keys), &arguments, |_| Ok(()))?;
        Ok(!found.is_empty())
    }

    /// Drops the chunks of rows that are in the source no more; how many.
    pub fn forget_gone(&self) -> Result<usize> {
        if !tree_changes::are_followed(self.pipeline.id)? {
            return sql::execute(&self.render_keys(query!(chunk.forget_gone)), &[]);
        }
        let statement = self.render_keys(query!(chunk.forget_gone_of_trees));
        let gone = sql::changed_rows(&statement, &[], |row| {
            let first_chunks = row.get::<Vec<i64>>(2)?.unwrap_or_default();
            Ok((sql::required(row.get::<i64>(1)?)?, first_chunks))
        })?;
        let (count, first_chunks) = gone.into_iter().next().unwrap_or_default();
        tree_changes::mark(self.pipeline.id, &first_chunks)?;
        Ok(count as usize)
    }

    fn render_keys(&self, template: &str) -> String {
        let keys = view::source_keys(self.pipeline);
        // The type's own output, as for a changed row; a cast may give something else.
        let text = |key: &String| format!("pg_catalog.format('%s', s.{key})");
        let known = |key: &String| render(query!(chunk.known_key), &[("column", key)]);
        let is_null = |key: &String| format!("s.{key} IS NULL");
        let pairs = self.columns.keys.iter().zip(&keys);
        let equal =
            pairs.map(|(key, source)| format!("s.{source} {} c.{}", key.equality(), key.name));
        render(
            template,
            &[
                ("keys", &keys.iter().map(text).collect::<Vec<_>>().join(", ")),
                ("known_keys", &keys.iter().map(known).collect::<Vec<_>>().join(", ")),
                ("has_no_key", &keys.iter().map(is_null).collect::<Vec<_>>().join(" OR ")),
                ("source", &self.pipeline.source.sql),
                ("chunk_table", &self.pipeline.chunk_table.sql),
                ("key_join", &equal.collect::<Vec<_>>().join(" AND ")),
            ],
        )
    }

    fn render(&self, template: &str, first_key: usize) -> String {
        self.render_with(template, first_key, &[])
    }

    /// A statement over the chunks, with values of its own beside those that all have.
    fn render_with(&self, template: &str, first_key: usize, own: &[(&str, &str)]) -> String {
        let keys = &self.columns.keys;
        let metadata = |prefix: &str| {
            let names = self.columns.metadata.iter().map(|c| format!(", {prefix}{}", c.name));
            names.collect::<String>()
        };
        let around = |prefix: &str| {
            let names = AROUND.into_iter();
            let names = names.chain(self.columns.metadata.iter().map(|c| c.name.as_str()));
            names.map(|name| format!("{prefix}{name}")).collect::<Vec<_>>().join(", ")
        };
        let all: &[(&str, &str)] = &[
            ("title", &self.title()),
            ("chunk_table", &self.pipeline.chunk_table.sql),
            ("content_view", &self.pipeline.content_view.sql),
            ("vector", &self.vector),
            ("model", &quote_literal(&self.pipeline.model)),
            ("key_names", &joined(keys, ", ", |key| key.name.clone())),
            ("key_texts", &joined(keys, ", ", |key| format!("d.{}", key.name))),
            ("view_keys", &joined(keys, ", ", |key| format!("v.{}", key.name))),
            ("chunk_match", &key_match(keys, "c")),
            ("view_match", &key_match(keys, "v")),
            ("view_keys_known", &keys_known(keys, first_key)),
            ("unnest_keys", &unnest(keys.len(), first_key)),
            ("metadata", &metadata("v.")),
            ("metadata_names", &metadata("")),
            ("around", &around("")),
            ("old_around", &around("c.")),
            ("new_around", &around("EXCLUDED.")),
        ];
        render(template, &[all, own].concat())
    }

    /// What a row of the content view is called, as SQL.
    fn title(&self) -> String {
        let title = self.columns.title.as_ref().map(|title| format!("v.{}", title.name));
        title.unwrap_or_else(|| "NULL::text".to_owned())
    }

    /// One text array a key column, over the documents.
    fn key_arrays<'b>(&self, keys: &[SourceKey]) -> Vec<DatumWithOid<'b>> {
        let column = |column: usize| {
            let texts = keys.iter().map(|key| key.get(column).map_or("", String::as_str));
            texts.collect::<Vec<_>>().into()
        };
        (0..self.columns.keys.len()).map(column).collect()
    }

    /// Adds what those of `chunks` name that have been stored now, if the pipeline has a graph.
    fn keep_mentions(&self, keys: &[SourceKey], chunks: &[StoredChunk]) -> Result<()> {
        let Some(store) = MentionStore::of(self.pipeline)? else { return Ok(()) };
        let values = [("mentions", store.table())];
        let statement = self.render_with(query!(chunk.without_mentions), 1, &values);
        let without = sql::rows(&statement, &self.key_arrays(keys), |row| {
            let document: i64 = sql::required(row.get(1)?)?;
            let place = (document as usize - 1, sql::required(row.get::<i32>(2)?)?);
            Ok((place, sql::required(row.get::<i64>(3)?)?))
        })?;
        let places: HashMap<(usize, i32), &StoredChunk> =
            chunks.iter().map(|chunk| ((chunk.document, chunk.chunk_no), chunk)).collect();
        let open = fences_before(chunks);
        let chunk =
            |(place, chunk_id)| Some((chunk_id, *places.get(&place)?, open.get(&place).copied()));
        store.keep(&without.into_iter().filter_map(chunk).collect::<Vec<_>>())
    }

    /// Keeps what the columns of these rows say, if the pipeline has them say anything.
    fn keep_relations(&self, keys: &[SourceKey]) -> Result<()> {
        let store = ColumnRelationStore::of(self.pipeline, &self.columns, &self.title())?;
        let Some(store) = store else { return Ok(()) };
        let statement = self.render_with(query!(chunk.said), 1, &[("said", &store.said())]);
        let said = sql::rows(&statement, &self.key_arrays(keys), |row| {
            Ok(SaidByRow {
                chunk_id: sql::required(row.get(1)?)?,
                place: row.get(2)?,
                subject: SaidName { name: row.get(3)?, row: row.get(4)? },
                object: SaidName { name: row.get(5)?, row: row.get(6)? },
            })
        })?;
        store.keep(&said)
    }

    /// The chunks of these documents that name something already.
    pub fn named(
        &self,
        documents: &[Document],
        store: &MentionStore,
    ) -> Result<HashSet<ChunkPlace>> {
        let statement = self.render_with(query!(chunk.named), 1, &[("mentions", store.table())]);
        let named = sql::rows(&statement, &self.key_arrays(&keys_of(documents)), |row| {
            let document: i64 = sql::required(row.get(1)?)?;
            let (chunk_no, hash) = (sql::required(row.get::<i32>(2)?)?, row.get::<Vec<u8>>(3)?);
            Ok((document as usize - 1, chunk_no, sql::required(hash)?))
        })?;
        let place = |(document, chunk_no, hash): (usize, i32, Vec<u8>)| {
            Some((document, chunk_no, hash.try_into().ok()?))
        };
        Ok(named.into_iter().filter_map(place).collect())
    }

    /// The first chunks of these rows, if the pipeline has trees, which know documents by them.
    fn first_chunks(&self, keys: &[SourceKey], has_tree: bool) -> Result<Vec<i64>> {
        if !has_tree {
            return Ok(Vec::new());
        }
        let statement = self.render(query!(chunk.first_chunks), 1);
        sql::rows(&statement, &self.key_arrays(keys), |row| sql::required(row.get::<i64>(1)?))
    }

    /// Locks the chunks of these rows until the end of the transaction. What another transaction has made of them is
    /// committed by then.
    pub fn lock(&self, keys: &[SourceKey]) -> Result<()> {
        let statement = self.render(query!(chunk.lock), 1);
        sql::changed_rows(&statement, &self.key_arrays(keys), |_| Ok(())).map(drop)
    }

    /// Drops the chunks of these rows that are not among `chunks`; how many.
    fn forget_other(&self, keys: &[SourceKey], chunks: &[StoredChunk]) -> Result<usize> {
        let statement = self.render(query!(chunk.forget_other), 4);
        let mut arguments: Vec<DatumWithOid<'_>> = vec![
            integers(chunks, |chunk| chunk.document as i32 + 1).into(),
            integers(chunks, |chunk| chunk.chunk_no).into(),
            chunks.iter().map(|chunk| chunk.hash.as_slice()).collect::<Vec<_>>().into(),
        ];
        arguments.extend(self.key_arrays(keys));
        sql::execute(&statement, &arguments)
    }

    /// Adds chunks, and has those that are there be as they are to be; how many.
    fn put(&self, keys: &[SourceKey], chunks: &[StoredChunk]) -> Result<usize> {
        if chunks.is_empty() {
            return Ok(0);
        }
        let statement = self.render(query!(chunk.insert), 15);
        let mut arguments: Vec<DatumWithOid<'_>> = vec![
            integers(chunks, |chunk| chunk.document as i32 + 1).into(),
            integers(chunks, |chunk| chunk.chunk_no).into(),
            chunks.iter().map(|c| c.chunk.content.as_str()).collect::<Vec<_>>().into(),
            integers(chunks, |chunk| chunk.chunk.start_char as i32).into(),
            integers(chunks, |chunk| chunk.chunk.end_char as i32).into(),
            chunks.iter().map(|c| c.chunk.heading.as_deref()).collect::<Vec<_>>().into(),
            parents(chunks, |(start, _)| start).into(),
            parents(chunks, |(_, end)| end).into(),
            chunks.iter().map(|c| c.context.as_deref()).collect::<Vec<_>>().into(),
            chunks.iter().map(|c| c.line.as_deref()).collect::<Vec<_>>().into(),
            chunks
                .iter()
                .map(|c| c.place.as_ref().map(|it| it.as_slice()))
                .collect::<Vec<_>>()
                .into(),
            integers(chunks, |chunk| chunk.chunk.token_count as i32).into(),
            chunks.iter().map(|chunk| chunk.hash.as_slice()).collect::<Vec<_>>().into(),
            chunks.iter().map(|chunk| Vector(chunk.vector.clone())).collect::<Vec<_>>().into(),
        ];
        arguments.extend(self.key_arrays(keys));
        sql::execute(&statement, &arguments)
    }
}

impl ChunkStore for SqlStore<'_> {
    fn known_vectors(&mut self, documents: &[Document]) -> Result<Vectors> {
        let statement = self.render(query!(chunk.known), 1);
        let known = sql::rows(&statement, &self.key_arrays(&keys_of(documents)), |row| {
            let hash: Vec<u8> = sql::required(row.get(1)?)?;
            Ok((hash, sql::required(row.get::<Vec<f32>>(2)?)?))
        })?;
        Ok(known.into_iter().filter_map(|(hash, v)| Some((hash.try_into().ok()?, v))).collect())
    }

    fn replace(&mut self, documents: &[Document], chunks: &[StoredChunk]) -> Result<()> {
        let keys = keys_of(documents);
        let has_tree = tree_changes::are_followed(self.pipeline.id)?;
        let mut first_chunks = self.first_chunks(&keys, has_tree)?;
        let changed = self.forget_other(&keys, chunks)? + self.put(&keys, chunks)?;
        if !chunks.is_empty() {
            self.keep_mentions(&keys, chunks)?;
            self.keep_relations(&keys)?;
        }
        if changed > 0 && has_tree {
            // Of a document that begins otherwise the tree that it had, and the one that it is to have.
            first_chunks.extend(self.first_chunks(&keys, has_tree)?);
            first_chunks.sort_unstable();
            first_chunks.dedup();
            tree_changes::mark(self.pipeline.id, &first_chunks)?;
        }
        Ok(())
    }
}

/// The fences of code that are open where chunks begin, by their documents and their numbers in these.
fn fences_before(chunks: &[StoredChunk]) -> HashMap<(usize, i32), &str> {
    let mut found = HashMap::new();
    for document in chunks.chunk_by(|one, next| one.document == next.document) {
        let pieces = document.iter().map(|it| (it.chunk.start_char, it.chunk.content.as_str()));
        let pieces: Vec<(u32, &str)> = pieces.collect();
        let open = document.iter().zip(open_fences(&pieces));
        found.extend(open.filter_map(|(it, open)| Some(((it.document, it.chunk_no), open?))));
    }
    found
}

fn keys_of(documents: &[Document]) -> Vec<SourceKey> {
    documents.iter().map(|document| document.key.clone()).collect()
}

fn integers(chunks: &[StoredChunk], value: fn(&StoredChunk) -> i32) -> Vec<i32> {
    chunks.iter().map(value).collect()
}

fn parents(chunks: &[StoredChunk], value: fn((u32, u32)) -> u32) -> Vec<Option<i32>> {
    chunks.iter().map(|chunk| chunk.chunk.parent.map(|parent| value(parent) as i32)).collect()
}

/// Rows of `relation` whose key is that of `d`, where keys are text.
fn key_match(keys: &[ViewColumn], relation: &str) -> String {
    joined(keys, " AND ", |key| {
        let (ViewColumn { name, sql_type, .. }, equal) = (key, key.equality());
        format!("{relation}.{name} {equal} d.{name}::{sql_type}")
    })
}

/// Rows of the view `v` with key columns that are among the parameters from `first` on. There are no
/// arrays of arrays, so a key that is an array is not looked at.
fn keys_known(keys: &[ViewColumn], first: usize) -> String {
    let known = (first..).zip(keys).map(|(parameter, key)| {
        let (ViewColumn { name, sql_type, .. }, equal) = (key, key.equality());
        match sql_type.ends_with("[]") {
            true => "true".to_owned(),
            false => format!("v.{name} {equal} ANY (${parameter}::text[]::{sql_type}[])"),
        }
    });
    known.collect::<Vec<_>>().join(" AND ")
}

fn unnest(columns: usize, first: usize) -> String {
    let parameters: Vec<String> = (first..first + columns)
        .map(|parameter| format!("pg_catalog.unnest(${parameter}::text[])"))
        .collect();
    parameters.join(", ")
}

fn joined(columns: &[ViewColumn], separator: &str, form: impl Fn(&ViewColumn) -> String) -> String {
    columns.iter().map(form).collect::<Vec<_>>().join(separator)
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use super::*;
    use crate::pg::catalog::pipeline;

    fn run(statement: &str) {
        sql::execute(statement, &[]).expect(statement);
    }

    /// How often this transaction has read all of the table.
    fn scans() -> i64 {
        let statement = "SELECT pg_catalog.pg_stat_get_xact_numscans('keyed'::regclass)";
        sql::rows(statement, &[], |row| sql::required(row.get(1)?)).expect(statement)[0]
    }

    #[pg_extern]
    fn rows_without_a_key_are_looked_for_only_where_there_may_be_some() {
        run("CREATE TABLE keyed (id integer NOT NULL UNIQUE, body text)");
        run("INSERT INTO keyed VALUES (1, 'The mill grinds wheat.')");
        run(
            r#"SELECT rag_create_pipeline('keyed', 'body', refresh => 'manual', options => '{"backfill": "background"}')"#,
        );
        run("SET LOCAL enable_indexscan = off");
        run("SET LOCAL enable_bitmapscan = off");
        let pipeline = pipeline::resolve(Some("keyed")).expect("a pipeline");
        let keyless = || SqlStore::of(&pipeline).and_then(|store| store.keyless(9)).expect("keys");
        let before = scans();
        assert_eq!(keyless(), Vec::<KnownKey>::new());
        assert_eq!(scans(), before);
        run("ALTER TABLE keyed ALTER COLUMN id DROP NOT NULL");
        run("ALTER TABLE keyed DISABLE TRIGGER USER");
        run("INSERT INTO keyed VALUES (NULL, 'The canal is closed.')");
        let of_nobody: KnownKey = vec![None];
        assert_eq!(keyless(), [of_nobody]);
        assert!(scans() > before);
    }
}
