//! A filter of a search becomes a condition of the vector index where the index can evaluate it, and a filter of the
//! rows that the index gives elsewhere. Where PostgreSQL has no auto_explain, the test is skipped, with a word.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::describe;
use super::shard_cluster::listening;

/// Sentences with values of three types, of which the index evaluates different conditions.
const ROOMS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text, year integer, day date);
    INSERT INTO docs
    SELECT n, 'Room ' || n || ' is on floor ' || n % 9 || '.', (ARRAY['en', 'de', 'fr', NULL])[1 + n % 4],
           2000 + n % 10, '2026-01-01'::date + n
    FROM generate_series(1, 96) AS n;
    SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang', 'year', 'day'], refresh => 'sync');";

/// Tells the session the plans of the statements that a function runs.
const TELL_PLANS: &str = "
    SET auto_explain.log_min_duration = 0;
    SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_level = notice;";

/// The rows come in the order of the index.
const BY_INDEX: &str = "
    SET enable_indexscan = on; SET enable_indexonlyscan = on;
    SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;";

/// All rows are read and sorted.
const BY_TABLE: &str = "
    SET enable_indexscan = off; SET enable_indexonlyscan = off;
    SET enable_seqscan = on; SET enable_sort = on; SET enable_bitmapscan = off;";

/// All chunks that a filter keeps. A search that wants fewer finds the nearest by approximation.
const KEPT: &str = "
    SELECT source_key, score
    FROM rag_retrieve('Where is a room?', k => 96, mode => 'dense', filter => $1::text::jsonb,
                      options => '{\"retrieve\": {\"candidates\": 96}}')
    ORDER BY rank";

/// What a scan by the vector index tests: inside the index, and on the rows that it gives.
#[derive(Debug, Default, PartialEq)]
struct ScanConditions {
    index_cond: Option<String>,
    filter: Option<String>,
}

impl ScanConditions {
    /// Those of the only such scan in some plans; `None` where there is none.
    fn of(plans: &[String]) -> Option<ScanConditions> {
        let scan = "Index Scan using docs_rag_chunks_embedding_idx";
        let scans: Vec<&str> =
            plans.iter().filter_map(|plan| Some(plan.split_once(scan)?.1)).collect();
        assert!(scans.len() < 2, "{scans:#?}");
        let node = scans.first()?.split("->").next().unwrap_or_default();
        let condition = |label: &str| {
            node.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::to_owned)
        };
        Some(ScanConditions {
            index_cond: condition("Index Cond: "),
            filter: condition("Filter: "),
        })
    }
}

fn kept(client: &mut Client, filter: &str) -> Vec<(String, f64)> {
    let rows = client.query(KEPT, &[&filter]);
    let rows = rows.unwrap_or_else(|error| panic!("{filter}: {}", describe(&error)));
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[test]
fn a_filter_on_metadata_is_a_condition_of_the_index_where_that_can_evaluate_it() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    cluster.connect().batch_execute(ROOMS).unwrap();
    let (mut client, heard) = listening(&cluster);
    if let Err(error) = client.batch_execute("LOAD 'auto_explain'") {
        let error = describe(&error);
        assert!(error.starts_with("58P01"), "{error}");
        eprintln!("skipped: this PostgreSQL has no auto_explain");
        return;
    }
    client.batch_execute(TELL_PLANS).unwrap();
    let version = client.query_one("SELECT current_setting('server_version_num')::integer", &[]);
    // Before, the planner gives a list to no index that is to give an order.
    let takes_lists = version.unwrap().get::<_, i32>(0) >= 170_000;
    // The filter, whether it is a condition of the index, how the plan writes it, and how many rows it keeps.
    let filters = [
        (r#"{"lang": "de"}"#, true, "(lang = 'de'::text)", 24),
        (r#"{"year": 2004}"#, true, "(year = 2004)", 10),
        (r#"{"year": {"between": [2003, 2005]}}"#, true, "((year >= 2003) AND (year <= 2005))", 30),
        (r#"{"day": {"lt": "2026-02-01"}}"#, true, "(day < ", 30),
        (
            r#"{"lang": "de", "year": {"gte": 2005}}"#,
            true,
            "((lang = 'de'::text) AND (year >= 2005))",
            14,
        ),
        (r#"{"lang": null}"#, true, "(lang IS NULL)", 24),
        (r#"{"lang": ["de", "fr"]}"#, takes_lists, "(lang = ANY ('{de,fr}'::text[]))", 48),
        (r#"{"year": [2003, 2007]}"#, takes_lists, "(year = ANY ('{2003,2007}'::integer[]))", 19),
        (r#"{"$or": [{"lang": "de"}, {"year": 2004}]}"#, false, " OR ", 34),
        (r#"{"not": {"lang": "de"}}"#, false, "((lang = 'de'::text) IS NOT TRUE)", 72),
        (r#"{"lang": {"like": "d%"}}"#, false, "(lang ~~ 'd%'::text)", 24),
    ];
    for (filter, is_of_index, written, number) in filters {
        client.batch_execute(BY_TABLE).unwrap();
        heard.lock().unwrap().clear();
        let by_table = kept(&mut client, filter);
        let plans = heard.lock().unwrap().clone();
        assert_eq!(ScanConditions::of(&plans), None, "{filter}");
        assert!(
            plans.iter().any(|plan| plan.contains("Seq Scan on docs_rag_chunks")),
            "{plans:#?}"
        );
        client.batch_execute(BY_INDEX).unwrap();
        heard.lock().unwrap().clear();
        let by_index = kept(&mut client, filter);
        let plans = heard.lock().unwrap().clone();
        let scan = ScanConditions::of(&plans).unwrap_or_else(|| panic!("{filter}: {plans:#?}"));
        let (tested, other) = match is_of_index {
            true => (&scan.index_cond, &scan.filter),
            false => (&scan.filter, &scan.index_cond),
        };
        let is_tested = tested.as_ref().is_some_and(|condition| condition.contains(written));
        assert!(is_tested && other.is_none(), "{filter}: {scan:?}");
        assert_eq!(by_index.len(), number, "{filter}");
        assert_eq!(by_index, by_table, "{filter}");
    }
}
