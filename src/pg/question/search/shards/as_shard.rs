//! What does this database say, as a shard, to another one that searches a pipeline of it?

use std::ffi::CString;

use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::index::bm25;
use crate::pg::question::options::CallOptions;
use crate::pg::question::search::filter_sql::FilterSql;
use crate::pg::question::search::lexical_index::lexical_index;
use crate::pg::question::search::lookup::{LookupTerms, Sides};
use crate::pg::question::search::statement::Statements;
use crate::pg::question::search::{Search, SearchedPipeline};
use crate::pg::server::role::{LocalSettings, current_user, may_select_column};
use crate::pg::server::vector::Vector;
use crate::request::WrittenOptions;
use crate::retrieve::proximity::{MatchedText, PlacedWords};
use crate::retrieve::shard_search::{ShardCandidates, ShardRequest};

/// How frequent the words of a tsquery are in a pipeline of this database, for the one that has it as a shard.
///
/// Fails where it is called here for another database, which is when postgres_fdw has not sent the call, and where the
/// caller may not read the chunks.
///
/// # Safety
///
/// `words` is a tsquery that is not NULL.
pub unsafe fn own_statistics(
    pipeline: i32,
    database: i64,
    words: pg_sys::Datum,
) -> Result<Vec<f64>> {
    let found = own_pipeline(pipeline, database)?;
    // How frequent a word is says what texts say.
    pipeline::check_readable(&found)?;
    if ![&found.view, &found.chunk_table].iter().all(|it| may_select_column(it.oid, c"tsv")) {
        let message = format!("permission denied for the words of pipeline \"{}\"", found.name);
        return Err(Error::new(ErrorKind::Forbidden, message).hint(format!(
            "GRANT SELECT ON {}, {} TO {}.",
            found.view.sql,
            found.chunk_table.sql,
            pgrx::spi::quote_identifier(current_user())
        )));
    }
    let index = lexical_index(found.view.oid, found.source.oid);
    // SAFETY: by this function's contract.
    unsafe { bm25::word_figures(index, words) }
}

/// What a pipeline of this database puts forward for a request of the one that has it as a shard, as [`ShardCandidates`]
/// are sent. It is searched as the caller. `view`: a list of schema and name of the view that the other database reads.
///
/// Fails where it is called here for another database, where the request is none of this version, where the other
/// database reads the chunks of another pipeline, and where the caller may not read the chunks.
pub fn own_candidates(
    pipeline: i32,
    database: i64,
    view: &Value,
    request: &[u8],
) -> Result<Vec<u8>> {
    let pipeline = own_pipeline(pipeline, database)?;
    check_view(&pipeline, view)?;
    let request = ShardRequest::decode(request)?;
    let options = WrittenOptions::read(options_of(&request))?;
    let call = CallOptions::of(WrittenOptions::default(), options)?;
    let asked = call.with_defaults(&pipeline, WrittenOptions::default())?;
    Search::new(SearchedPipeline::new(pipeline, true), &asked, 1)?.put_forward(&request)?.encode()
}

/// The pipeline that the other database means. Fails where it means one of another database, and where there is none.
fn own_pipeline(pipeline: i32, database: i64) -> Result<Pipeline> {
    if database != database_number() {
        let message = "a pipeline of another database cannot be asked here";
        return Err(Error::new(ErrorKind::NotInState, message).hint(
            "The foreign server sends no functions of pg_rag: ALTER SERVER ... OPTIONS (SET extensions 'vector, pg_rag').",
        ));
    }
    pipeline::by_id(pipeline)?.filter(|found| !found.has_shards).ok_or_else(|| {
        let message = format!("there is no pipeline {pipeline}");
        Error::new(ErrorKind::UndefinedObject, message)
    })
}

/// An error where the view that the other database reads shows the chunks of another pipeline, as after names were
/// exchanged: candidates would be chunks of one, and texts those of the other.
fn check_view(pipeline: &Pipeline, view: &Value) -> Result<()> {
    let name = |at: usize| CString::new(view[at].as_str().unwrap_or_default()).unwrap_or_default();
    let named = [name(0), name(1)];
    // SAFETY: look-ups by names that end in 0.
    let found = unsafe {
        match pg_sys::get_namespace_oid(named[0].as_ptr(), true) {
            pg_sys::InvalidOid => pg_sys::InvalidOid,
            schema => pg_sys::get_relname_relid(named[1].as_ptr(), schema),
        }
    };
    if found == pipeline.view.oid {
        return Ok(());
    }
    let message = format!("{view} does not show the chunks of pipeline \"{}\"", pipeline.name);
    Err(Error::new(ErrorKind::UndefinedObject, message).hint(
        "The pipeline, or its view, was renamed. Have the foreign tables made anew: rag_alter_pipeline(..., shards => ...).",
    ))
}

/// The options with which a request is answered. Defaults of the pipeline do not count.
fn options_of(request: &ShardRequest) -> Value {
    let mode = match (&request.vector, &request.words) {
        (Some(_), Some(_)) => "hybrid",
        (Some(_), None) => "dense",
        (None, _) => "lexical",
    };
    json!({"retrieve": {
        "mode": mode, "closeness": request.terms.is_some(), "graph": "off", "tree": "off",
    }})
}

impl Search {
    /// What this search puts forward for a request.
    ///
    /// postgres_fdw's transactions see one snapshot. So where another generation of chunks has taken the place of the one
    /// that it shows, this is a serialization failure.
    fn put_forward(&self, request: &ShardRequest) -> Result<ShardCandidates> {
        let Some(_locked) = self.searched.lock() else {
            return self.renewed()?.put_forward(request);
        };
        let mut settings = LocalSettings::new();
        settings.set_reading(&request.settings);
        let filter = FilterSql::new(request.filters()?.iter(), &self.columns)?;
        self.searched.reading(|| {
            let statistics = Some(request.statistics.as_slice());
            let statements = Statements { statistics, ..Statements::new(self, &filter) };
            let question = request.terms.clone().unwrap_or_default();
            let vector = request.vector.clone().map(Vector);
            let asked = LookupTerms { vector, words: request.words.clone(), question };
            let Sides { dense, lexical, texts } =
                self.sides(&statements, &asked, request.most.into())?;
            let matched =
                texts.of.iter().map(|(key, text)| (*key, MatchedText::new(&texts.question, text)));
            let first = dense.first().into_iter().chain(lexical.first()).map(|one| one.chunk_id);
            let best = first.filter_map(|key| Some((key, PlacedWords::new(texts.of.get(&key)?))));
            let (texts, best) = (matched.collect(), best.collect());
            Ok(ShardCandidates { dense, lexical, texts, best })
        })
    }
}

/// A number that no other database has, but for copies of the server: the server's identifier with the database's OID in
/// its upper half.
pub fn database_number() -> i64 {
    // SAFETY: reads what the process knows of its server and database.
    unsafe {
        pg_sys::GetSystemIdentifier() as i64 ^ (i64::from(pg_sys::MyDatabaseId.to_u32()) << 32)
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::datum::DatumWithOid;
    use pgrx::pg_extern;

    use super::*;
    use crate::pg::server::sql;
    use crate::retrieve::fusion::FusedCandidate;
    use crate::retrieve::proximity::QuestionTerms;

    const STATISTICS: [f64; 6] = [0.9, 0.4, 1000.0, 9000.0, 20.0, 3.0];

    /// A pipeline of 40 rows, each with a chunk and a vector of its own; its id.
    fn pipeline() -> i32 {
        for statement in [
            "CREATE TABLE shard_docs (id integer PRIMARY KEY, body text)",
            "INSERT INTO shard_docs SELECT i, 'mill ' || i % 3 || CASE WHEN i % 2 = 0 THEN ' rye' ELSE '' END
             FROM generate_series(1, 40) AS i",
            r#"SELECT rag_create_pipeline('shard_docs', 'body', refresh => 'manual', options => '{"backfill": "background"}')"#,
            "INSERT INTO shard_docs_rag_chunks
                 (source_id, chunk_no, content, start_char, end_char, token_count, content_hash, model, embedding)
             SELECT d.id, 0, d.body, 0, length(d.body), 3, sha256(d.body::bytea), p.model, v.vector
             FROM shard_docs AS d, rag.pipeline AS p CROSS JOIN LATERAL (
                 SELECT array_agg(sin(d.id * i)::real ORDER BY i)::vector FROM generate_series(1, 384) AS i) AS v (vector)
             WHERE p.name = 'shard_docs' AND d.id > 0",
        ] {
            sql::execute(statement, &[]).expect(statement);
        }
        let id = "SELECT id FROM rag.pipeline WHERE name = 'shard_docs'";
        sql::rows(id, &[], |row| sql::required(row.get(1)?)).expect(id)[0]
    }

    fn request() -> ShardRequest {
        let terms = QuestionTerms::new(vec![(1, b"mill".to_vec()), (2, b"rye".to_vec())]);
        ShardRequest {
            vector: Some((1..=384).map(|i| (7.3 * i as f32).sin()).collect()),
            words: Some("'mill' | 'rye'".to_owned()),
            statistics: STATISTICS.to_vec(),
            terms: Some(terms),
            filters: vec![r#"{"id": {"gt": 4}}"#.to_owned()],
            settings: Vec::new(),
            most: 12,
        }
    }

    fn view() -> Value {
        json!(["public", "shard_docs_rag"])
    }

    fn candidates(pipeline: i32, request: &ShardRequest) -> ShardCandidates {
        let sent = request.encode().expect("a request");
        let found = own_candidates(pipeline, database_number(), &view(), &sent);
        let found = found.expect("candidates");
        ShardCandidates::decode(&found, request.most).expect("candidates")
    }

    /// Keys and scores in their order, without an index and without a search.
    fn expected(score: &str, condition: &str, arguments: &[DatumWithOid<'_>]) -> Vec<(i64, f64)> {
        let statement = format!(
            "SELECT chunk_id, {score} FROM shard_docs_rag_chunks WHERE source_id > 4 AND {condition}
             ORDER BY 2 DESC, chunk_id LIMIT 12"
        );
        let row = |row: &pgrx::spi::SpiHeapTupleData<'_>| {
            Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
        };
        sql::rows(&statement, arguments, row).expect("rows")
    }

    fn assert_are(
        side: &[FusedCandidate],
        score: impl Fn(&FusedCandidate) -> Option<f64>,
        expected: &[(i64, f64)],
    ) {
        let keys: Vec<i64> = side.iter().map(|one| one.chunk_id).collect();
        assert_eq!(keys, expected.iter().map(|(key, _)| *key).collect::<Vec<_>>());
        for (one, (_, expected)) in side.iter().zip(expected) {
            let score = score(one).expect("a score");
            assert!((score - expected).abs() < 1e-9, "{score} {expected}");
        }
    }

    #[pg_extern]
    fn a_shard_puts_forward_what_its_tables_have() {
        let pipeline = pipeline();
        let request = request();
        let found = candidates(pipeline, &request);
        let vector = request.vector.clone().map(Vector);
        let nearest = expected("1 - (embedding <=> $1)", "true", &[vector.into()]);
        assert_are(&found.dense, |one| one.similarity, &nearest);
        let words = request.words.clone();
        let score = "-(tsv OPERATOR(rag.<@>) ROW(NULL, $1::tsquery, $2)::rag.bm25_weighted_query)";
        let arguments = [words.into(), STATISTICS.to_vec().into()];
        let best = expected(score, "tsv @@ $1::tsquery", &arguments);
        assert_are(&found.lexical, |one| one.lexical, &best);
        // Of each candidate both is known, and how its text matches.
        let all = || found.dense.iter().chain(&found.lexical);
        assert!(all().all(|one| one.similarity.is_some() && one.lexical.is_some()));
        assert!(all().all(|one| found.texts.contains_key(&one.chunk_id)));
        for side in [&found.dense, &found.lexical] {
            assert!(found.best.contains_key(&side[0].chunk_id), "{:?}", found.best);
        }
    }

    #[pg_extern]
    fn a_shard_looks_up_what_is_asked() {
        let pipeline = pipeline();
        let whole = candidates(pipeline, &request());
        let keys = |side: &[FusedCandidate]| side.iter().map(|it| it.chunk_id).collect::<Vec<_>>();
        let dense = ShardRequest { words: None, terms: None, ..request() };
        let dense = ShardRequest { statistics: STATISTICS[..4].to_vec(), ..dense };
        let found = candidates(pipeline, &dense);
        assert_eq!(keys(&found.dense), keys(&whole.dense));
        assert!(found.lexical.is_empty() && found.texts.is_empty());
        let lexical = ShardRequest { vector: None, terms: None, most: 5, ..request() };
        let found = candidates(pipeline, &lexical);
        assert_eq!(keys(&found.lexical), keys(&whole.lexical)[..5]);
        assert!(found.dense.is_empty() && found.texts.is_empty());
        // All filters must hold.
        let filters = vec![r#"{"id": {"gt": 4}}"#.to_owned(), r#"{"id": {"lt": 5}}"#.to_owned()];
        let nothing = ShardRequest { filters, ..request() };
        assert_eq!(candidates(pipeline, &nothing), ShardCandidates::default());
    }

    #[pg_extern]
    fn a_shard_does_not_mix_up_pipelines() {
        let pipeline = pipeline();
        for view in
            [json!(["public", "shard_docs"]), json!(["nowhere", "shard_docs_rag"]), json!({})]
        {
            let sent = request().encode().expect("a request");
            let refused = own_candidates(pipeline, database_number(), &view, &sent);
            let refused = refused.expect_err("refused");
            assert!(refused.to_string().contains("does not show the chunks"), "{refused}");
        }
    }

    #[pg_extern]
    fn a_shard_shows_nothing_to_who_may_not_read() {
        let pipeline = pipeline();
        let sent = request().encode().expect("a request");
        for statement in ["CREATE ROLE shard_clerk", "SET LOCAL ROLE shard_clerk"] {
            sql::execute(statement, &[]).expect(statement);
        }
        let refused = own_candidates(pipeline, database_number(), &view(), &sent);
        let refused = refused.expect_err("refused");
        let expected = format!("there is no pipeline {pipeline}");
        assert!(refused.to_string().contains(&expected), "{refused}");
    }
}
