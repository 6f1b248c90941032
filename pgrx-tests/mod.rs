//! What runs inside a backend and what SQL alone cannot reach. Each test is a function that a session calls in a
//! transaction of its own, which is rolled back: `pgrx-tests/run.sh`.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;

use crate::error::{Error, ErrorKind};
use crate::pg::server::error::{raise, report};
use crate::pg::server::reserve::Reserve;
use crate::pg::server::sql;
use crate::pg::server::transaction::{Failure, in_subtransaction};
use crate::pg::server::vector::Vector;
use crate::scheduling::bisection::Cause;

/// A first row's first column.
fn one<T: FromDatum + IntoDatum>(statement: &str, arguments: &[DatumWithOid<'_>]) -> Option<T> {
    let rows = sql::rows(statement, arguments, |row| row.get::<T>(1)).expect("a statement");
    rows.into_iter().next().expect("a row")
}

fn run(statement: &str) {
    sql::execute(statement, &[]).expect("a statement");
}

#[pg_extern]
fn vectors_are_pgvectors_own() {
    let check = |elements: &[f32]| {
        let text = one::<String>("SELECT $1::text", &[Vector(elements.to_vec()).into()]);
        let back = one::<Vec<f32>>("SELECT $1::real[]", &[Vector(elements.to_vec()).into()]);
        let same = "SELECT $1::text::vector = $2 AND vector_dims($2) = $3";
        let arguments =
            [text.into(), Vector(elements.to_vec()).into(), (elements.len() as i32).into()];
        assert_eq!(one::<bool>(same, &arguments), Some(true), "{elements:?}");
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back.expect("elements")), bits(elements));
    };
    check(&[1.0]);
    check(&[0.0, -0.0, 1.5, -2.25]);
    check(&[f32::MAX, f32::MIN_POSITIVE, f32::EPSILON, 1e-45]);
    check(&(0..384).map(|i| i as f32 / 7.0).collect::<Vec<_>>());
    check(&vec![0.5; 16_000]);
}

#[pg_extern]
fn vectors_go_through_arrays() {
    let vectors: Vec<Vector> = (1..=3).map(|i| Vector(vec![i as f32; 5])).collect();
    let sum = "SELECT sum(v)::text FROM unnest($1::vector[]) AS v";
    assert_eq!(one::<String>(sum, &[vectors.into()]).as_deref(), Some("[6,6,6,6,6]"));
    let none: Vec<Vector> = Vec::new();
    assert_eq!(one::<i32>("SELECT cardinality($1::vector[])", &[none.into()]), Some(0));
}

#[pg_extern]
fn the_vector_type_is_found_again_after_it_was_made_anew() {
    let before = one::<String>("SELECT $1::text", &[Vector(vec![1.0]).into()]);
    run("DROP EXTENSION vector CASCADE");
    run("CREATE EXTENSION vector");
    assert_eq!(one::<String>("SELECT $1::text", &[Vector(vec![1.0]).into()]), before);
}

#[cfg(feature = "pg18")]
#[pg_extern]
fn explain_says_what_a_scan_of_texts_did() {
    run("CREATE TABLE texts (id integer, tsv tsvector)");
    run(
        "INSERT INTO texts SELECT i, to_tsvector('simple', 'common w' || i % 7 || ' v' || i % 1000)
        FROM generate_series(1, 20000) AS i",
    );
    run("CREATE INDEX texts_tsv ON texts USING rag_bm25 (tsv)");
    run("SET LOCAL enable_seqscan = off");
    let query = "EXPLAIN (ANALYZE, FORMAT JSON) SELECT id FROM texts
        ORDER BY tsv <@> rag_bm25_query('texts_tsv', 'common | v77') LIMIT 3";
    let plan = one::<pgrx::Json>(query, &[]).expect("a plan").0;
    let scan = &plan[0]["Plan"]["Plans"][0];
    let figure = |name: &str| scan[name].as_u64().unwrap_or_else(|| panic!("{name}: {plan}"));
    assert!((3..20_001).contains(&figure("Texts Scored")), "{plan}");
    assert!(figure("Blocks Decoded") > 0, "{plan}");
    assert!(figure("Blocks Skipped") > 0, "{plan}");
    assert_eq!(figure("Pending Texts Read"), 0, "{plan}");
    run("INSERT INTO texts SELECT i, 'common'::tsvector FROM generate_series(1, 5) AS i");
    let plan = one::<pgrx::Json>(query, &[]).expect("a plan").0;
    assert_eq!(plan[0]["Plan"]["Plans"][0]["Pending Texts Read"], 5, "{plan}");
}

#[cfg(feature = "pg18")]
#[pg_extern]
fn explain_says_what_a_scan_did() {
    run("CREATE TABLE points (id integer, v vector(3))");
    run(
        "INSERT INTO points SELECT i, ARRAY[i, sin(i), cos(i)]::vector FROM generate_series(1, 5000) AS i",
    );
    run("CREATE INDEX ON points USING rag_hnsw (v vector_l2_ops)");
    run("SET LOCAL enable_seqscan = off");
    let query = "EXPLAIN (ANALYZE, FORMAT JSON)
        SELECT id FROM points ORDER BY v <-> '[2500, 0, 0]' LIMIT 3";
    let plan = one::<pgrx::Json>(query, &[]).expect("a plan").0;
    let scan = &plan[0]["Plan"]["Plans"][0];
    let figure = |name: &str| scan[name].as_u64().unwrap_or_else(|| panic!("{name}: {plan}"));
    assert!((3..100).contains(&figure("Rows Rescored")), "{plan}");
    assert!((40..500).contains(&figure("Nodes Visited")), "{plan}");
    assert!((40..5000).contains(&figure("Distances Computed")), "{plan}");
    run("CREATE INDEX ON points USING rag_hnsw (v vector_cosine_ops, id)");
    let filtered = "EXPLAIN (ANALYZE, FORMAT JSON) SELECT id FROM points
        WHERE id IN (7, 8, 9) ORDER BY v <=> '[2500, 0, 0]' LIMIT 3";
    let plan = one::<pgrx::Json>(filtered, &[]).expect("a plan").0;
    let scan = &plan[0]["Plan"]["Plans"][0];
    assert_eq!(scan["Index Cond"], "(id = ANY ('{7,8,9}'::integer[]))", "{plan}");
    assert_eq!(scan["Distances Computed"], 3, "{plan}");
    let query = query.replace("ANALYZE, ", "");
    let plan = one::<pgrx::Json>(&query, &[]).expect("a plan").0;
    assert!(plan[0]["Plan"]["Plans"][0]["Nodes Visited"].is_null(), "{plan}");
}

#[pg_extern]
fn a_block_beyond_the_end_of_an_index_is_damage() {
    use crate::pages::{Store, StoreMut};
    use crate::pg::index::opened_index::OpenedIndex;

    run("CREATE TABLE texts (tsv tsvector)");
    run("CREATE INDEX texts_tsv ON texts USING rag_bm25 (tsv)");
    let oid = one::<pg_sys::Oid>("SELECT 'texts_tsv'::regclass::oid", &[]).expect("an index");
    let index = OpenedIndex::new(oid, c"rag_bm25").expect("an index");
    let pages = index.pages();
    let blocks = pages.blocks().expect("their number");
    for block in [blocks, 4_278_190_109, u32::MAX - 1, u32::MAX] {
        let read = pages.read(block, |_| ());
        let written = pages.write(block, |_| Ok(false)).map(drop);
        for outcome in [read, written] {
            let error = outcome.expect_err("an error");
            assert_eq!(error.kind(), ErrorKind::IndexCorrupted, "{error}");
            let said = format!("index \"texts_tsv\" is corrupted: it has no block {block}");
            assert_eq!(error.message(), said);
        }
    }
    // One that was added since is there.
    assert_eq!(pages.append(|_, _| ()), Ok(blocks));
    for pages in [pages, index.pages()] {
        assert_eq!(pages.read(blocks, |_| ()), Ok(()));
    }
}

/// The functions of an index's other columns are those of the table's owner, and no query names them.
#[pg_extern]
fn a_scan_computes_no_column_of_an_index_but_the_vector() {
    run("CREATE TABLE points (id integer, v vector(3))");
    run("INSERT INTO points SELECT i, ARRAY[i, 1, 2]::vector FROM generate_series(1, 50) AS i");
    run("CREATE SEQUENCE public.calls");
    run("CREATE FUNCTION counted(id integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS \
         'BEGIN PERFORM nextval(''public.calls''); RETURN id % 3; END'");
    run("CREATE INDEX points_whole ON points USING rag_hnsw (v vector_l2_ops, counted(id))");
    run("CREATE INDEX points_part ON points \
         USING rag_hnsw ((subvector(v, 1, 2)::vector(2)) vector_l2_ops, id, counted(id))");
    run("SET LOCAL enable_seqscan = off");
    let calls = || one::<i64>("SELECT last_value FROM public.calls", &[]);
    let before = calls();
    assert!(before >= Some(100), "the indexes hold what the function says");
    let orders = [
        ("points_whole", "v <-> '[7.2, 1, 2]'"),
        ("points_part", "subvector(v, 1, 2)::vector(2) <-> '[7.2, 1]'"),
    ];
    for (index, order) in orders {
        let near = format!("SELECT id FROM points ORDER BY {order} LIMIT 3");
        let plan = one::<pgrx::Json>(&format!("EXPLAIN (FORMAT JSON) {near}"), &[]);
        let plan = plan.expect("a plan").0;
        assert!(plan.to_string().contains(index), "{plan}");
        let found = format!("SELECT string_agg(id::text, ' ') FROM ({near}) AS near");
        assert_eq!(one::<String>(&found, &[]).as_deref(), Some("7 8 6"), "{index}");
        assert_eq!(calls(), before, "{index}");
    }
}

/// A scan on the inner side of a join begins anew for each row of the outer one.
#[cfg(any(feature = "pg17", feature = "pg18"))]
#[pg_extern]
fn the_lists_of_a_scan_that_begins_anew_take_no_memory() {
    run("CREATE TABLE points (tenant integer, v vector(3))");
    run("INSERT INTO points SELECT i % 10, ARRAY[i, 1, 2]::vector FROM generate_series(1, 100) i");
    run("CREATE INDEX points_v ON points USING rag_hnsw (v vector_l2_ops, tenant)");
    run("SET LOCAL enable_seqscan = off");
    run("SET LOCAL enable_sort = off");
    let found = "SELECT count(*) FROM generate_series(1, 4000) AS n CROSS JOIN LATERAL (
        SELECT 1 FROM points WHERE tenant = ANY (array_fill(n % 10, ARRAY[200]))
        ORDER BY v <-> '[7, 1, 2]' LIMIT 1) AS nearest";
    let plan = one::<pgrx::Json>(&format!("EXPLAIN (FORMAT JSON) {found}"), &[]);
    let plan = plan.expect("a plan").0;
    assert!(plan.to_string().contains("Index Cond"), "{plan}");
    assert_eq!(one::<i64>(found, &[]), Some(4000));
    // The second is computed after the first, while the memory of the statement is still there.
    let bytes = format!(
        "SELECT ((({found}) - 4000) + (SELECT sum(used_bytes) FROM pg_backend_memory_contexts
            WHERE name = 'ExecutorState'))::bigint"
    );
    let bytes = one::<i64>(&bytes, &[]).expect("bytes");
    assert!((1..4 << 20).contains(&bytes), "{bytes} bytes after 4000 lists of 200");
}

#[pg_extern]
fn a_check_of_an_index_asks_for_its_memory_first() {
    use crate::hnsw::check::check;
    use crate::pg::index::opened_index::OpenedIndex;

    run("CREATE TABLE points (v vector(3))");
    run("INSERT INTO points SELECT ARRAY[i, 1, 2]::vector FROM generate_series(1, 100) AS i");
    run("CREATE INDEX points_v ON points USING rag_hnsw (v vector_l2_ops)");
    let oid = one::<pg_sys::Oid>("SELECT 'points_v'::regclass::oid", &[]).expect("an index");
    let index = OpenedIndex::new(oid, c"rag_hnsw").expect("an index");
    let pages = index.pages();
    let problems = || check(&pages).map(|(problems, _)| problems.len());
    assert_eq!(problems(), Ok(0));
    let error = without_more_memory(problems).expect_err("an error");
    assert_eq!(error.kind(), ErrorKind::OutOfResources, "{error}");
}

/// Most pages are found by where the session saw them last, without PostgreSQL's help.
#[pg_extern]
fn pages_of_an_index_that_are_found_by_hints_are_counted() {
    use crate::pages::Store;
    use crate::pg::index::opened_index::OpenedIndex;

    run("CREATE TABLE points (v vector(3))");
    run("INSERT INTO points SELECT ARRAY[i, 1, 2]::vector FROM generate_series(1, 100) AS i");
    run("CREATE INDEX points_v ON points USING rag_hnsw (v vector_l2_ops)");
    let oid = one::<pg_sys::Oid>("SELECT 'points_v'::regclass::oid", &[]).expect("an index");
    let index = OpenedIndex::new(oid, c"rag_hnsw").expect("an index");
    let pages = index.pages();
    let look = |times: usize| {
        (0..times).for_each(|_| pages.read(1, |_| ()).expect("a page"));
        // SAFETY: the index is open, and some of the looks were ordinary ones, with which its statistics begin.
        let statistics = unsafe { (*index.relation()).pgstat_info.as_ref() };
        blocks_fetched(statistics.expect("statistics"))
    };
    let before = look(200);
    assert_eq!(look(1000) - before, 1000);
}

fn blocks_fetched(statistics: &pg_sys::PgStat_TableStatus) -> i64 {
    #[cfg(feature = "pg15")]
    return statistics.t_counts.t_blocks_fetched;
    #[cfg(not(feature = "pg15"))]
    return statistics.counts.blocks_fetched;
}

#[pg_extern]
fn each_kind_of_error_has_an_sqlstate() {
    let kinds = [
        (ErrorKind::InvalidParameter, PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE),
        (ErrorKind::NullNotAllowed, PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED),
        (ErrorKind::UndefinedObject, PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT),
        (ErrorKind::DuplicateObject, PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT),
        (ErrorKind::WrongObjectType, PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE),
        (ErrorKind::Ambiguous, PgSqlErrorCode::ERRCODE_AMBIGUOUS_PARAMETER),
        (ErrorKind::Unsupported, PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED),
        (ErrorKind::Forbidden, PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE),
        (ErrorKind::DimensionMismatch, PgSqlErrorCode::ERRCODE_DATA_EXCEPTION),
        (ErrorKind::FileUnavailable, PgSqlErrorCode::ERRCODE_UNDEFINED_FILE),
        (ErrorKind::FileCorrupted, PgSqlErrorCode::ERRCODE_CONFIG_FILE_ERROR),
        (ErrorKind::ModelFailed, PgSqlErrorCode::ERRCODE_CONFIG_FILE_ERROR),
        (ErrorKind::DataCorrupted, PgSqlErrorCode::ERRCODE_PROTOCOL_VIOLATION),
        (ErrorKind::DaemonUnavailable, PgSqlErrorCode::ERRCODE_CANNOT_CONNECT_NOW),
        (ErrorKind::DaemonLost, PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE),
        (ErrorKind::DaemonHung, PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE),
        (ErrorKind::OutOfResources, PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES),
        (ErrorKind::ProviderFailed, PgSqlErrorCode::ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
        (ErrorKind::ProviderTimeout, PgSqlErrorCode::ERRCODE_EXTERNAL_ROUTINE_INVOCATION_EXCEPTION),
        (ErrorKind::ProviderBusy, PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES),
        (ErrorKind::Internal, PgSqlErrorCode::ERRCODE_INTERNAL_ERROR),
    ];
    for (kind, code) in kinds {
        let error = Error::new(kind, "what went wrong").detail("facts").hint("advice");
        let caught = PgTryBuilder::new(|| -> [Option<String>; 3] { report(&error) })
            .catch_when(code, parts)
            .execute();
        assert_eq!(caught, PARTS.map(|part| Some(part.to_owned())), "{kind:?}");
    }
}

/// Message, detail and hint of the errors of tests.
const PARTS: [&str; 3] = ["what went wrong", "facts", "advice"];

/// Message, detail and hint of an error.
fn parts(caught: CaughtError) -> [Option<String>; 3] {
    match caught {
        CaughtError::ErrorReport(report) => [
            Some(report.message().to_owned()),
            report.detail().map(str::to_owned),
            report.hint().map(str::to_owned),
        ],
        other => other.rethrow(),
    }
}

/// A shard's error is caught in a subtransaction where a `partial` answer would do without the shard.
#[pg_extern]
fn an_error_caught_in_a_subtransaction_keeps_detail_and_hint() {
    let in_sql = || {
        let statement =
            "DO $$BEGIN RAISE division_by_zero USING MESSAGE = 'what went wrong', DETAIL = 'facts',
                         HINT = 'advice'; END$$";
        sql::execute(statement, &[]).map(drop)
    };
    let here = || {
        let error = Error::new(ErrorKind::Forbidden, "what went wrong");
        Err(error.detail("facts").hint("advice"))
    };
    let failures = [
        (in_subtransaction(in_sql), PgSqlErrorCode::ERRCODE_DIVISION_BY_ZERO),
        (in_subtransaction(here), PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE),
    ];
    for (outcome, code) in failures {
        let failure = outcome.expect_err("a failure");
        let caught = PgTryBuilder::new(|| -> [Option<String>; 3] { raise(&failure) })
            .catch_when(code, parts)
            .execute();
        assert_eq!(caught, PARTS.map(|part| Some(part.to_owned())), "{code:?}");
    }
}

/// What a row can do nothing about uses up none of its attempts.
#[pg_extern]
fn what_the_server_lacks_is_the_fault_of_no_row() {
    let raised = |code: &str| {
        let statement = format!("DO $$BEGIN RAISE 'no' USING ERRCODE = '{code}'; END$$");
        let outcome = in_subtransaction(|| sql::execute(&statement, &[]).map(drop));
        let failure = outcome.expect_err("a failure");
        assert_eq!(failure.sqlstate, code);
        failure
    };
    // What is repeated soon would fail soon, a build of an index after much work, but for locks.
    let of_system = ["53000", "53100", "53200", "53300", "53400", "58000", "58030", "RG001"];
    for code in of_system.into_iter().chain(["55P03", "40P01"]) {
        let (failure, expected) = (raised(code), (Cause::Passing, of_system.contains(&code)));
        assert_eq!((failure.cause, failure.is_of_system()), expected, "{code}");
    }
    // A content expression may read a file for each row.
    for code in ["58P01", "22000", "54000", "P0001", "XX000"] {
        assert_eq!(raised(code).cause, Cause::Row, "{code}");
    }
    let said = |kind| Failure::from(Error::new(kind, "what went wrong")).cause;
    for kind in [
        ErrorKind::FileUnavailable,
        ErrorKind::FileCorrupted,
        ErrorKind::OutOfResources,
        ErrorKind::DaemonUnavailable,
        ErrorKind::DaemonLost,
        ErrorKind::ProviderBusy,
        ErrorKind::RoleBudgetSpent,
    ] {
        assert_eq!(said(kind), Cause::Passing, "{kind:?}");
    }
    for kind in [ErrorKind::DocumentUnreadable, ErrorKind::DocumentLimit, ErrorKind::Internal] {
        assert_eq!(said(kind), Cause::Row, "{kind:?}");
    }
    // It is the row's or the model's, and others tell which.
    for kind in [ErrorKind::ModelFailed, ErrorKind::DaemonHung, ErrorKind::ProviderFailed] {
        assert_eq!(said(kind), Cause::Provider, "{kind:?}");
    }
}

#[pg_extern]
fn a_placeholder_is_filled_once_and_braces_stay() {
    let render = |values| sql::render("SELECT '{a}', {b}", values);
    assert_eq!(render(&[("a", "{b}"), ("b", "2"), ("c", "3")]), "SELECT '{b}', 2");
    assert_eq!(sql::render("{a", &[("a", "1")]), "{a");
}

#[pg_extern]
fn transition_tables_are_those_of_the_innermost_trigger() {
    run("CREATE TABLE outside (id integer PRIMARY KEY, body text)");
    run("CREATE TABLE inside (id integer PRIMARY KEY, body text)");
    // Before pg_rag's own trigger in the order of names, so that the other table's capture
    // runs between this statement and this table's capture.
    run("CREATE FUNCTION pass_on() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN INSERT INTO inside SELECT id + 10, body || '' inside'' FROM fresh; RETURN NULL; END'");
    run("CREATE TRIGGER a AFTER INSERT ON outside REFERENCING NEW TABLE AS fresh \
         FOR EACH STATEMENT EXECUTE FUNCTION pass_on()");
    run("SELECT rag_create_pipeline('outside', 'body', refresh => 'sync')");
    run("SELECT rag_create_pipeline('inside', 'body', refresh => 'sync')");
    run("INSERT INTO outside VALUES (1, 'one'), (2, 'two')");
    let chunks = |table| {
        let statement =
            format!("SELECT string_agg(content, ', ' ORDER BY source_id) FROM {table}_rag_chunks");
        one::<String>(&statement, &[])
    };
    assert_eq!(chunks("outside").as_deref(), Some("one, two"));
    assert_eq!(chunks("inside").as_deref(), Some("one inside, two inside"));
}

#[cfg(any(feature = "pg17", feature = "pg18"))]
#[pg_extern]
fn another_expression_of_a_generated_column_has_all_rows_looked_at() {
    let asked_about_all = || {
        let statement = "SELECT i.kind FROM rag.intake AS i WHERE i.kind = 'all'";
        sql::changed_rows(statement, &[], |_| Ok(())).expect("rows").len()
    };
    run("CREATE TABLE articles (id integer PRIMARY KEY, head text, size integer,
             body text GENERATED ALWAYS AS (head || '.') STORED,
             digits integer GENERATED ALWAYS AS (size + 1) STORED)");
    run("SELECT rag_create_pipeline('articles', 'body', refresh => 'manual')");
    assert_eq!(asked_about_all(), 1, "the rows of a new pipeline");
    run("ALTER TABLE articles ALTER COLUMN digits SET EXPRESSION AS (size + 2)");
    assert_eq!(asked_about_all(), 1, "a column that the pipeline does not read");
    run("ALTER TABLE articles ALTER COLUMN body SET EXPRESSION AS (head || '!')");
    assert_eq!(asked_about_all(), 2);
}

#[pg_extern]
fn a_failed_change_leaves_no_trace_in_the_session() {
    run("CREATE TABLE docs (id integer PRIMARY KEY, body text)");
    run("SELECT rag_create_pipeline('docs', 'body', refresh => 'sync')");
    let identity = "SELECT current_user || ' ' || current_setting('search_path')";
    let before = one::<String>(identity, &[]);
    run("UPDATE rag.pipeline SET model = 'nowhere'");
    run("DO $$BEGIN INSERT INTO docs VALUES (1, 'lost'); RAISE 'it did not fail'; \
         EXCEPTION WHEN undefined_object THEN NULL; END$$");
    assert_eq!(one::<String>(identity, &[]), before);
    run("UPDATE rag.pipeline SET model = 'all-minilm-l6-v2'");
    run("INSERT INTO docs VALUES (2, 'kept')");
    let chunks = "SELECT string_agg(content, ', ') FROM docs_rag_chunks";
    assert_eq!(one::<String>(chunks, &[]).as_deref(), Some("kept"));
}

/// A role sees what was made of chunks where it sees all of them.
#[pg_extern]
fn a_leaf_that_is_hidden_hides_what_was_made_of_it() {
    use crate::pg::catalog::derivation::DerivationKind;
    use crate::pg::catalog::pipeline;
    use crate::pg::derivation::table::{self, TableForm};

    run("CREATE TABLE rules (id integer PRIMARY KEY, body text, is_open boolean)");
    run("INSERT INTO rules VALUES (1, 'First.', true), (2, 'Second.', true), (3, 'Third.', false)");
    run("SELECT rag_create_pipeline('rules', 'body', refresh => 'sync')");
    let form = TableForm {
        kind: DerivationKind::Tree,
        definition: "CREATE TABLE {table} (name text, leaves bytea[])",
        leaves: ("leaves", "content_hash"),
        comments: "COMMENT ON TABLE {table} IS 'summaries of several chunks'",
    };
    let rules = pipeline::resolve(Some("rules")).expect("the pipeline");
    let trees = table::create(&rules, &form, &[]).expect("a table");
    run(&format!(
        "INSERT INTO {trees}
         SELECT name, (SELECT array_agg(content_hash) FROM rules_rag_chunks WHERE source_id = ANY (ids))
         FROM (VALUES ('first', ARRAY[1]), ('both', ARRAY[1, 2]), ('mixed', ARRAY[1, 3]),
                      ('third', ARRAY[3]), ('all', ARRAY[1, 2, 3])) AS v (name, ids)"
    ));
    run(&format!("INSERT INTO {trees} VALUES ('gone', ARRAY['\\x00'::bytea])"));
    let visible = format!("SELECT string_agg(name, ' ' ORDER BY name) FROM {trees}");
    assert_eq!(one::<String>(&visible, &[]).as_deref(), Some("all both first gone mixed third"));
    run("CREATE ROLE leaf_reader");
    run(&format!("GRANT SELECT ON rules, rules_rag_chunks, {trees} TO leaf_reader"));
    run("ALTER TABLE rules ENABLE ROW LEVEL SECURITY");
    run("CREATE POLICY open_ones ON rules USING (is_open)");
    run("SET ROLE leaf_reader");
    assert_eq!(one::<String>(&visible, &[]).as_deref(), Some("both first"));
    run("RESET ROLE");
    run("UPDATE rules SET is_open = NOT is_open");
    run("SET ROLE leaf_reader");
    assert_eq!(one::<String>(&visible, &[]).as_deref(), Some("third"));
    run("RESET ROLE");
}

/// Has the system refuse more memory to this process, for as long as `work` takes.
fn without_more_memory<T>(work: impl FnOnce() -> T) -> T {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process's figures");
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).expect("its size");
    let kilobytes: u64 = size.trim().trim_end_matches(" kB").parse().expect("kilobytes");
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: reads and sets a limit of this process.
    unsafe { assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &raw mut limit), 0) };
    let less = libc::rlimit { rlim_cur: 1024 * kilobytes, ..limit };
    // SAFETY: as above.
    unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const less), 0) };
    let result = work();
    // SAFETY: as above.
    unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0) };
    result
}

#[pg_extern]
fn a_refused_allocation_of_a_build_is_met_from_the_reserve() {
    const BLOCKS: usize = 256;
    const BYTES: usize = 64 << 10;
    let reserve = Reserve::take().expect("memory");
    let mut blocks = Vec::with_capacity(BLOCKS);
    let is_needed = without_more_memory(|| {
        let mut fill = || {
            blocks.push(vec![1u8; BYTES]);
            reserve.look().is_err()
        };
        (0..BLOCKS).any(|_| fill())
    });
    assert!(is_needed, "{} blocks were given without it", blocks.len());
    drop((reserve, blocks));
    let next = Reserve::take().expect("memory");
    assert!(next.look().is_ok());
    assert!(Reserve::take().is_ok_and(|within| within.look().is_ok()));
}
