//! The graph of a pipeline's entities: walks and paths over it, row-level security, locks and cancel.

use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{assert_fails, count};

/// A table that names a few musicians.
pub const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE band (id integer PRIMARY KEY, body text, tenant integer DEFAULT 1);
    INSERT INTO band VALUES
        (1, 'In 1969 the guitarist Steve Hillage played with Arzachel.'),
        (2, 'Later Steve Hillage joined the band Gong, whose founder was Daevid Allen.'),
        (3, 'Daevid Allen was born in Melbourne.');";

const CREATE: &str = "SELECT rag_create_pipeline('band', 'body', options => '{\"graph\": {\"entities\": \"rules\"}}')";

/// A pipeline over it with a graph, of which a column says who plays for whom.
pub const CREATE_SAYING: &str = "SELECT rag_create_pipeline('band', 'body', metadata => ARRAY['tenant'], options => '{\"graph\": {\"entities\": \"rules\", \"relations\": {\"tenant\": \"plays_for\"}}}')";

/// Waits until all rows are embedded.
pub fn wait(client: &mut Client) {
    let done = client.query_one("SELECT rag_wait('band', '5 minutes')", &[]).expect("a row");
    assert!(done.get::<_, bool>(0), "rows wait");
}

#[test]
fn a_graph_is_given_to_a_pipeline_that_has_chunks() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client.batch_execute("SELECT rag_create_pipeline('band', 'body')").unwrap();
    wait(&mut client);
    let embedded = "SELECT sum(chunks_embedded)::bigint FROM rag.activity";
    let before = count(&mut client, embedded);
    client
        .batch_execute("SELECT rag_alter_pipeline('band', options => '{\"graph\": {\"entities\": \"rules\"}}')")
        .unwrap();
    wait(&mut client);
    assert_eq!(
        count(
            &mut client,
            "SELECT count(*) FROM band_rag_chunks_mentions WHERE norm = 'steve hillage'"
        ),
        2
    );
    assert_eq!(count(&mut client, embedded), before, "nothing is embedded again");
    // A transaction that rolls back leaves nothing.
    client
        .batch_execute(
            "BEGIN; SELECT rag_alter_pipeline('band', options => '{\"graph\": false}'); ROLLBACK",
        )
        .unwrap();
    assert!(count(&mut client, "SELECT count(*) FROM rag_graph('Gong')") > 0);
}

/// The rows that a question comes to by what it names, and those that a plain join finds by name, short and long form.
const COME_TO: &str = "
    SELECT coalesce(string_agg(source_key, ' ' ORDER BY source_key::int), '')
    FROM rag_retrieve($1, k => 100) WHERE via IS NOT NULL";
const JOINED: &str = "
    WITH name AS (
        SELECT lower($1) AS norm
        UNION SELECT alias_of FROM band_rag_chunks_mentions WHERE norm = lower($1)
        UNION SELECT norm FROM band_rag_chunks_mentions WHERE alias_of = lower($1)
    ), named AS (
        SELECT DISTINCT c.source_id
        FROM name JOIN band_rag_chunks_mentions AS m USING (norm) JOIN band_rag_chunks AS c USING (chunk_id)
    )
    SELECT CASE WHEN count(*) > 50 THEN '' ELSE coalesce(string_agg(source_id::text, ' ' ORDER BY source_id), '') END
    FROM named";

#[test]
fn a_walk_comes_to_the_rows_that_a_plain_join_finds() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client
        .batch_execute(
            "DELETE FROM band;
             INSERT INTO band SELECT n, CASE
                 WHEN n <= 60 THEN 'it is said that Frequent Traveller slept.'
                 WHEN n % 3 = 0 THEN 'it is said that the World Health Organization (WHO) paid.'
                 WHEN n % 3 = 1 THEN 'it is said that WHO slept.'
                 ELSE 'it is said that the World Health Organization walked.' END
             FROM generate_series(1, 80) AS n;
             INSERT INTO band SELECT n, 'it is said that Rare Bird sang.' FROM generate_series(81, 130) AS n;
             INSERT INTO band SELECT n, CASE
                 WHEN n = 131 THEN 'it is said that the Common Blue Finch (CBF) sang.'
                 WHEN n % 2 = 0 THEN 'it is said that CBF slept.'
                 ELSE 'it is said that the Common Blue Finch walked.' END
             FROM generate_series(131, 190) AS n;",
        )
        .unwrap();
    client.batch_execute(CREATE).unwrap();
    wait(&mut client);
    let names = [
        ("WHO", 20),
        ("World Health Organization", 20),
        ("Rare Bird", 50),
        ("Frequent Traveller", 0),
        // Few by each of its names, and too many by both.
        ("CBF", 0),
        ("Common Blue Finch", 0),
    ];
    for (name, rows) in names {
        let [come_to, joined]: [String; 2] =
            [COME_TO, JOINED].map(|query| client.query_one(query, &[&name]).unwrap().get(0));
        assert_eq!(come_to, joined, "{name}");
        assert_eq!(joined.split_whitespace().count(), rows, "{name}");
    }
    client
        .batch_execute(
            "INSERT INTO band VALUES (191, 'Später spielte Zoë Müller mit Ünal Çelik.'), (192, 'Heute sang Zoë Müller.')",
        )
        .unwrap();
    wait(&mut client);
    let by_name = "SELECT count(*) FROM rag_retrieve('Mit wem spielte Ünal Çelik?', k => 100)
                   WHERE source_key = '192' AND via = ARRAY['Zoë Müller']";
    assert_eq!(count(&mut client, by_name), 1);
}

/// Has a transaction that has read the table `first` go on with all of a pipeline over `band` that has a graph with relations,
/// while `alteration`, arguments of `rag_alter_pipeline`, waits for that table; and has the alteration be done then.
pub fn assert_waits_without_locks(cluster: &Cluster, first: &str, alteration: &str) {
    let mut client = cluster.connect();
    let mut reader = cluster.connect();
    let begin = format!("SET lock_timeout = '20s'; BEGIN; SELECT FROM {first}");
    reader.batch_execute(&begin).unwrap();
    let mut other = cluster.connect();
    let pid: i32 = other.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let statement = format!("SELECT rag_alter_pipeline('band', {alteration})");
    let altering = std::thread::spawn(move || other.batch_execute(&statement));
    let waiting = format!("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = {pid}");
    assert!(wait_for(|| count(&mut client, &waiting) == 1), "{alteration}");
    for relation in ["band_rag_chunks_relations", "band_rag_chunks_mentions", "band_rag", "band"] {
        reader.batch_execute(&format!("SELECT FROM {relation}")).unwrap();
    }
    reader.batch_execute("INSERT INTO band VALUES (9, 'It was Gong.'); COMMIT").unwrap();
    let altered = altering.join().expect("no panic");
    altered.unwrap_or_else(|error| panic!("{alteration}: {error:?}"));
}

#[test]
fn a_graph_that_is_dropped_keeps_no_lock_while_it_waits_for_one() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let begin = |client: &mut Client| {
        client.batch_execute(CREATE_SAYING).unwrap();
        wait(client);
        // A successor that nobody fills.
        client
            .batch_execute(
                "SELECT rag_alter_pipeline('band', refresh => 'manual', chunking => '{\"max_tokens\": 100}')",
            )
            .unwrap();
    };
    // Relations alone go, and the successor with all that is made of it.
    let replaced =
        r#"options => '{"graph": {"entities": "rules"}}', chunking => '{"max_tokens": 90}'"#;
    for alteration in [replaced, "refresh => 'sync', chunking => '{\"max_tokens\": 90}'"] {
        begin(&mut client);
        assert_waits_without_locks(&cluster, "band_rag_chunks_2_mentions", alteration);
        client
            .batch_execute("SELECT rag_drop_pipeline('band'); DELETE FROM band WHERE id = 9")
            .unwrap();
    }
    begin(&mut client);
    let alteration = "options => '{\"graph\": false}'";
    assert_waits_without_locks(&cluster, "band_rag_chunks_2_mentions", alteration);
    let left = "SELECT count(*) FROM pg_class WHERE relname ~ '_(mentions|relations)$' AND relname LIKE 'band%'";
    assert_eq!(count(&mut client, left), 0);
}

#[test]
fn no_walk_goes_through_a_hidden_row() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client
        .batch_execute(
            "CREATE ROLE guest; GRANT SELECT ON band TO guest;
             INSERT INTO band SELECT n, 'It is said that Node N' || n || 'x met Node N' || n + 1 || 'x.', n
             FROM generate_series(10, 29) AS n;
             ALTER TABLE band ENABLE ROW LEVEL SECURITY;
             CREATE POLICY seen ON band USING (tenant % current_setting('graph.part')::int <> 0)",
        )
        .unwrap();
    client.batch_execute(CREATE).unwrap();
    wait(&mut client);
    for part in 2..12 {
        client.batch_execute(&format!("SET graph.part = {part}; SET ROLE guest")).unwrap();
        // Each hop is proved by a row that is seen, so a path ends before the first hidden one.
        let proofs = format!(
            "SELECT count(*) FROM rag_graph('Node N11x', hops => 4, k => 100), jsonb_array_elements(edges) AS e
             WHERE (e ->> 'source_key')::int % {part} = 0"
        );
        assert_eq!(count(&mut client, &proofs), 0);
        let found = format!(
            "SELECT count(*) FROM rag_retrieve('Whom has Node N11x met?', k => 30) WHERE source_key::int >= 10 AND source_key::int % {part} = 0"
        );
        assert_eq!(count(&mut client, &found), 0);
        client.batch_execute("RESET ROLE").unwrap();
    }
    // Who has no right on the mentions searches without them.
    client
        .batch_execute("CREATE ROLE later; GRANT SELECT ON band, band_rag, band_rag_chunks TO later; SET graph.part = 1000; SET ROLE later")
        .unwrap();
    assert_eq!(
        count(&mut client, "SELECT count(via) FROM rag_retrieve('Where is Steve Hillage?')"),
        0
    );
    assert_fails(
        &mut client,
        "SELECT * FROM rag_graph('Gong')",
        &["42501", "permission denied for the graph", "GRANT SELECT ON"],
    );
}

#[test]
fn a_search_over_the_graph_ends_when_it_is_cancelled() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client.batch_execute(CREATE).unwrap();
    wait(&mut client);
    let token = client.cancel_token();
    let started = Instant::now();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        token.cancel_query(postgres::NoTls)
    });
    let many = "SELECT count(*) FROM generate_series(1, 10000000) AS n, rag_graph(repeat('Steve Hillage ', 1000) || n, hops => 4)";
    let error = client.query(many, &[]).unwrap_err();
    canceller.join().expect("no panic").expect("a request");
    assert_eq!(error.code().map(|it| it.code()), Some("57014"));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}
