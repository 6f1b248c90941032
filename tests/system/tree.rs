//! Trees over documents: through changes, deletions and killed workers, under row-level security, and in answers.

use std::thread::{self, JoinHandle};

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{assert_fails, count};

/// A hundred documents of twelve chunks each.
pub const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE report (id integer PRIMARY KEY, body text, tenant integer DEFAULT 1);
    CREATE FUNCTION part(document integer, no integer) RETURNS text LANGUAGE sql
    RETURN format(E'# Part %s\\n\\nThe report number %s says in part %s that mill %s grinds wheat. It says what bread costs in street %s, too.',
                  no, document, no, no * 7 % 5, no);
    CREATE FUNCTION parts(document integer, first integer, last integer) RETURNS text LANGUAGE sql
    RETURN (SELECT string_agg(part(document, p), E'\\n\\n' ORDER BY p) FROM generate_series(first, last) AS p);
    INSERT INTO report SELECT d, parts(d, 1, 12) FROM generate_series(1, 100) AS d;";

const CREATE: &str = "SELECT rag_create_pipeline('report', 'body', chunking => '{\"by\": \"markdown\", \"max_tokens\": 48, \"overlap\": 0}',
                                                 options => '{\"tree\": {}}')";

/// Nodes that are part of no document's tree.
const ORPHANS: &str = "
    WITH RECURSIVE kept (node_hash) AS (
        SELECT sha256(string_agg(content_hash, ''::bytea ORDER BY chunk_no)) FROM report_rag_chunks GROUP BY source_id
        UNION
        SELECT child FROM kept AS k JOIN report_rag_chunks_tree AS t ON t.node_hash = k.node_hash
        CROSS JOIN LATERAL unnest(t.children) AS child WHERE t.level > 1)
    SELECT count(*) FROM report_rag_chunks_tree WHERE node_hash NOT IN (SELECT node_hash FROM kept)";

/// Documents whose root is not there.
const ROOTLESS: &str = "
    SELECT count(*) FROM (SELECT sha256(string_agg(content_hash, ''::bytea ORDER BY chunk_no)) AS root
                          FROM report_rag_chunks GROUP BY source_id) AS d
    WHERE NOT EXISTS (SELECT FROM report_rag_chunks_tree AS t WHERE t.node_hash = d.root)";

/// Documents, as hashing all of them finds their roots, that are known otherwise, or not; and summaries of which it is not
/// known whether they are roots.
const MISTAKEN: &str = "
    WITH document AS (
        SELECT min(chunk_id) FILTER (WHERE chunk_no = 0) AS first_chunk, sha256(string_agg(content_hash, ''::bytea ORDER BY chunk_no)) AS root
        FROM report_rag_chunks GROUP BY source_id)
    SELECT (SELECT count(*) FROM document AS d FULL JOIN rag.tree_root AS r USING (first_chunk, root)
            WHERE d.first_chunk IS NULL OR r.pipeline IS NULL)
         + (SELECT count(*) FROM report_rag_chunks_tree WHERE is_root <> (node_hash IN (SELECT root FROM document)))";

/// What is noted and still to be done.
const NOTED: &str =
    "SELECT (SELECT count(*) FROM rag.tree_change) + (SELECT count(*) FROM rag.tree_candidate)";

/// Runs that are under way, by their leases.
const RUNS: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND classid = 'rag.derivation'::regclass";

/// Sentences that do not stand where their summary says.
const MISPLACED: &str = "
    SELECT count(*) FROM report AS r CROSS JOIN rag_summary(r.id::text, 'report') AS s
    WHERE substr(r.body, s.start_char + 1, s.end_char - s.start_char) <> s.content";

/// A session with the documents as `change` leaves them, and their trees. Further work is done when it is asked for.
fn by_hand(cluster: &Cluster, change: &str) -> Client {
    let mut client = cluster.connect();
    let create = CREATE.replace("'body',", "'body', refresh => 'manual',");
    for statements in [SETUP, change, &create, "CALL rag_run('report')"] {
        client.batch_execute(statements).unwrap();
    }
    client
}

/// A session with the documents as `change` leaves them, whose trees workers make.
fn in_background(cluster: &Cluster, change: &str) -> Client {
    let mut client = cluster.connect();
    for statements in [SETUP, change, CREATE] {
        client.batch_execute(statements).unwrap();
    }
    client
}

/// Has everything done that is left to do, by a worker or here.
fn finish(client: &mut Client) {
    // What a worker has in hand is waited for only here.
    let done = client.query_one("SELECT rag_wait('report', '5 minutes')", &[]).unwrap();
    assert!(done.get::<_, bool>(0), "the rows wait");
    client.batch_execute("CALL rag_run('report')").unwrap();
}

/// Waits until all trees are whole and nothing else is there. A worker may be at it beside what is done here, and
/// be about to end what it has begun.
fn check(client: &mut Client) {
    let unembedded =
        "SELECT count(*) FROM report_rag_chunks_tree WHERE searched AND embedding IS NULL";
    let left = |client: &mut Client| {
        [ROOTLESS, ORPHANS, MISTAKEN, NOTED, unembedded].map(|it| count(client, it))
    };
    let is_whole = wait_for(|| {
        finish(client);
        left(client) == [0; 5]
    });
    assert!(
        is_whole,
        "without a root, in no tree, mistaken, noted, not embedded: {:?}",
        left(client)
    );
}

#[test]
fn an_edit_in_a_hundred_documents_makes_few_summaries_anew() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = in_background(&cluster, "");
    check(&mut client);
    assert_eq!(count(&mut client, MISPLACED), 0);
    client
        .batch_execute("CREATE TABLE before AS SELECT node_hash FROM report_rag_chunks_tree")
        .unwrap();
    client
        .batch_execute("UPDATE report SET body = replace(body, 'in part 5 that', 'in part 5 now that') WHERE id = 42")
        .unwrap();
    check(&mut client);
    let new = "SELECT count(*) FROM report_rag_chunks_tree WHERE node_hash NOT IN (SELECT node_hash FROM before)";
    let made = count(&mut client, new);
    assert!((1..=6).contains(&made), "{made} summaries were made");
    assert_eq!(count(&mut client, MISPLACED), 0);
    // A new part at the beginning moves all chunks behind it.
    client
        .batch_execute("UPDATE report SET body = part(7, 99) || E'\\n\\n' || body WHERE id = 7")
        .unwrap();
    check(&mut client);
    let made = count(&mut client, new) - made;
    assert!((1..=6).contains(&made), "{made} summaries were made");
    // A change that rolls back makes none.
    client.batch_execute("BEGIN; UPDATE report SET body = 'Gone.'; ROLLBACK").unwrap();
    let before = count(&mut client, new);
    check(&mut client);
    assert_eq!(count(&mut client, new), before);
}

#[test]
fn nothing_is_left_of_what_is_gone() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = in_background(&cluster, "DELETE FROM report WHERE id > 12");
    for round in 1..10 {
        let change = match round % 3 {
            0 => format!("DELETE FROM report WHERE id = {round}"),
            1 => format!(
                "UPDATE report SET body = body || E'\\n\\n' || part({round}, 100) WHERE id % 4 = {}",
                round % 4
            ),
            _ => format!(
                "INSERT INTO report VALUES ({}, part({round}, 1) || E'\\n\\n' || part({round}, 2))",
                200 + round
            ),
        };
        client.batch_execute(&change).unwrap();
        if round % 4 == 0 {
            // Whoever is at work is ended, and somebody else goes on.
            client
                .batch_execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'")
                .unwrap();
        }
    }
    check(&mut client);
    assert_eq!(count(&mut client, MISPLACED), 0);
    client.batch_execute("DELETE FROM report WHERE id = 1").unwrap();
    // The chunks are there until a worker comes, and are not seen.
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_summary('1', 'report')"), 0);
    client.batch_execute("TRUNCATE report").unwrap();
    check(&mut client);
    assert_eq!(count(&mut client, "SELECT count(*) FROM report_rag_chunks_tree"), 0);
}

#[test]
fn random_changes_leave_what_hashing_all_documents_finds() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = in_background(
        &cluster,
        "DELETE FROM report WHERE id > 20;
         SELECT setseed(0.4)",
    );
    for round in 0..40 {
        // Documents that are alike, begin alike, grow, shrink and go.
        let change = match round % 8 {
            0 => {
                "INSERT INTO report SELECT 1000 + (random() * 1000)::int, body FROM report ORDER BY random() LIMIT 1 ON CONFLICT DO NOTHING"
            }
            1 => "DELETE FROM report WHERE id = (SELECT id FROM report ORDER BY random() LIMIT 1)",
            2 => {
                "UPDATE report SET body = parts(1, 1, 1 + (random() * 20)::int) WHERE random() < 0.2"
            }
            3 => {
                "UPDATE report SET body = parts(2, 1 + (random() * 3)::int, 9) WHERE random() < 0.2"
            }
            4 => {
                "UPDATE report SET id = id + 5000 WHERE id = (SELECT id FROM report ORDER BY random() LIMIT 1)"
            }
            5 => "BEGIN; UPDATE report SET body = 'Gone.'; ROLLBACK",
            6 => {
                "UPDATE report SET body = '' WHERE id = (SELECT id FROM report ORDER BY random() LIMIT 1)"
            }
            _ => "UPDATE report SET body = replace(body, 'mill', 'windmill') WHERE random() < 0.1",
        };
        client.batch_execute(change).unwrap();
        if round % 10 == 9 {
            check(&mut client);
        }
    }
    // As a pipeline is of which nothing is known yet. Nobody is in a run meanwhile.
    client.batch_execute("SELECT rag_pause('report')").unwrap();
    assert!(wait_for(|| count(&mut client, RUNS) == 0));
    client
        .batch_execute(
            "BEGIN;
             LOCK TABLE report_rag_chunks;
             UPDATE rag.derivation SET state = NULL;
             DELETE FROM rag.tree_root;
             UPDATE report_rag_chunks_tree SET is_root = false;
             COMMIT;
             SELECT rag_resume('report')",
        )
        .unwrap();
    check(&mut client);
    client.batch_execute("TRUNCATE report").unwrap();
    check(&mut client);
    client
        .batch_execute("SELECT rag_alter_pipeline('report', options => '{\"tree\": false}')")
        .unwrap();
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM rag.tree_root") + count(&mut client, NOTED),
        0
    );
}

#[test]
fn a_change_that_commits_during_a_run_is_followed_by_the_next_one() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = by_hand(&cluster, "DELETE FROM report WHERE id > 3");
    // What who stores chunks does, in a transaction that outlives the run and has an earlier number.
    let mut storing = cluster.connect();
    storing
        .batch_execute(
            "BEGIN;
             DELETE FROM report_rag_chunks WHERE source_id = 2 AND chunk_no > 3;
             INSERT INTO rag.tree_change
             SELECT p.id, nextval('rag.change'), c.chunk_id FROM rag.pipeline AS p, report_rag_chunks AS c WHERE c.source_id = 2 AND c.chunk_no = 0",
        )
        .unwrap();
    client.batch_execute("UPDATE report SET body = part(3, 50) WHERE id = 3").unwrap();
    client.batch_execute("CALL rag_run('report')").unwrap();
    assert_eq!(count(&mut client, NOTED), 0);
    storing.batch_execute("COMMIT").unwrap();
    assert_eq!(count(&mut client, ROOTLESS), 1);
    client.batch_execute("CALL rag_run('report')").unwrap();
    assert_eq!([ROOTLESS, ORPHANS, MISTAKEN, NOTED].map(|it| count(&mut client, it)), [0; 4]);
}

/// Has `tree` hold for the pipeline, in a session of its own.
fn altering(cluster: &Cluster, tree: &str) -> JoinHandle<()> {
    let mut client = cluster.connect();
    let alter = format!("SELECT rag_alter_pipeline('report', options => '{{\"tree\": {tree}}}')");
    thread::spawn(move || client.batch_execute(&alter).unwrap())
}

/// Waits until a session waits for such a lock on the chunks; whether one does.
fn is_waited_for(client: &mut Client, mode: &str) -> bool {
    let waiting = format!(
        "SELECT count(*) FROM pg_locks WHERE relation = 'report_rag_chunks'::regclass AND mode = '{mode}' AND NOT granted"
    );
    wait_for(|| count(client, &waiting) > 0)
}

#[test]
fn trees_are_taken_away_during_a_run() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = by_hand(&cluster, "DELETE FROM report WHERE id > 3");
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.tree_root"), 3);
    // What a run does: it holds the chunks, and forgets rows of its own.
    let mut running = cluster.connect();
    running
        .batch_execute(
            "SET lock_timeout = '30s'; BEGIN; LOCK TABLE report_rag_chunks IN ACCESS SHARE MODE",
        )
        .unwrap();
    let altered = altering(&cluster, "false");
    assert!(is_waited_for(&mut client, "AccessExclusiveLock"));
    running.batch_execute("DELETE FROM rag.tree_root; COMMIT").unwrap();
    altered.join().unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.tree_root"), 0);
    assert_eq!(count(&mut client, NOTED), 0);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.derivation"), 0);
}

#[test]
fn chunks_that_are_stored_while_trees_are_switched_on_are_followed() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = by_hand(&cluster, "DELETE FROM report WHERE id > 3");
    // The index of the chunks stays, so that none is made below.
    altering(&cluster, "false").join().unwrap();
    // Who stores chunks and has seen that there are no trees leaves no mark.
    let mut storing = cluster.connect();
    storing
        .batch_execute("BEGIN; DELETE FROM report_rag_chunks WHERE source_id = 2 AND chunk_no > 3")
        .unwrap();
    let altered = altering(&cluster, "{}");
    assert!(is_waited_for(&mut client, "ShareRowExclusiveLock"));
    storing.batch_execute("COMMIT").unwrap();
    altered.join().unwrap();
    client.batch_execute("CALL rag_run('report')").unwrap();
    assert_eq!([ROOTLESS, ORPHANS, MISTAKEN, NOTED].map(|it| count(&mut client, it)), [0; 4]);
}

#[test]
fn a_run_reads_what_has_changed_and_no_other_document() {
    let Some(cluster) = Cluster::start(&["autovacuum = off"]) else { return };
    let mut client = by_hand(
        &cluster,
        "DELETE FROM report WHERE id > 1;
         INSERT INTO report SELECT n, format('Note %s is short.', n) FROM generate_series(2, 2000) AS n",
    );
    assert_eq!(count(&mut client, ROOTLESS), 0);
    client
        .batch_execute("VACUUM (ANALYZE) report, report_rag_chunks, report_rag_chunks_tree, rag.tree_root, rag.tree_change, rag.tree_candidate")
        .unwrap();
    let read = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_all_tables
                WHERE relid IN ('report_rag_chunks'::regclass, 'report_rag_chunks_tree'::regclass, 'rag.tree_root'::regclass)";
    let rows_read = |client: &mut Client| {
        client.batch_execute("SELECT pg_stat_force_next_flush()").unwrap();
        count(client, read)
    };
    let before = rows_read(&mut client);
    client
        .batch_execute("UPDATE report SET body = replace(body, 'in part 5 that', 'in part 5 now that') WHERE id = 1")
        .unwrap();
    // Small tables are read as a whole where that costs as little.
    client.batch_execute("SET enable_seqscan = off").unwrap();
    client.batch_execute("CALL rag_run('report')").unwrap();
    client.batch_execute("RESET enable_seqscan").unwrap();
    let made = rows_read(&mut client) - before;
    assert!(made < 1000, "{made} rows of chunks and summaries were read");
    assert_eq!([ROOTLESS, ORPHANS, MISTAKEN, NOTED].map(|it| count(&mut client, it)), [0; 4]);
}

#[test]
fn from_the_root_down_an_unlimited_beam_finds_the_nearest_of_all_levels() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = in_background(
        &cluster,
        "DELETE FROM report WHERE id > 30; INSERT INTO report VALUES (500, 'The mill of the valley is closed.')",
    );
    check(&mut client);
    // A document that becomes part of another, and one that becomes a part of what it was.
    client
        .batch_execute(
            "UPDATE report SET body = (SELECT string_agg(part(3, p), E'\n\n' ORDER BY p) FROM generate_series(1, 5) AS p) WHERE id = 3;
             UPDATE report SET body = body || E'\n\n' || part(4, 13) WHERE id = 4",
        )
        .unwrap();
    check(&mut client);
    client
        .batch_execute(
            r#"CREATE FUNCTION summaries(question text, beam integer) RETURNS jsonb LANGUAGE sql
               RETURN (SELECT jsonb_agg(c -> 'summary_id')
                       FROM rag_answer_details(question, 'report', options => jsonb_build_object('retrieve',
                                jsonb_build_object('tree', 'on', 'tree_beam', beam))) AS a,
                            jsonb_array_elements(a.context) AS c WHERE c ? 'summary_id');
               CREATE FUNCTION nearest(question text) RETURNS jsonb LANGUAGE sql
               RETURN (SELECT jsonb_agg((('x' || encode(substr(n.node_hash, 1, 8), 'hex'))::bit(64)::bigint & 9223372036854775807) ORDER BY n.distance)
                       FROM (SELECT t.node_hash, t.embedding <=> e.vector AS distance
                             FROM (SELECT rag_embed(question) AS vector) AS e, report_rag_chunks_tree AS t
                             WHERE t.embedding IS NOT NULL ORDER BY 2 LIMIT 3) AS n)"#,
        )
        .unwrap();
    let questions = "unnest(ARRAY['the bread of report 7', 'What does bread cost in street 11?', 'the mills in report 3', 'wheat']) AS q";
    let other = format!(
        "SELECT count(*) FROM {questions} WHERE summaries(q, 10000) IS DISTINCT FROM nearest(q)"
    );
    assert_eq!(count(&mut client, &other), 0);
    // One of each level: a root, and one of its children where it has any.
    let narrow = format!(
        "SELECT count(*) FROM {questions} WHERE jsonb_array_length(summaries(q, 1)) NOT BETWEEN 1 AND 3"
    );
    assert_eq!(count(&mut client, &narrow), 0);
    // A row that is hidden hides its root, and what is reached from there alone.
    client
        .batch_execute(
            "CREATE ROLE guest; GRANT SELECT ON report TO guest;
             GRANT SELECT ON report_rag, report_rag_chunks, report_rag_chunks_tree TO guest;
             ALTER TABLE report ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON report USING (id % 2 = 0);
             GRANT EXECUTE ON FUNCTION summaries, nearest TO guest; SET ROLE guest",
        )
        .unwrap();
    let seen = format!(
        "SELECT count(*) FROM {questions} WHERE summaries(q, 10000) IS DISTINCT FROM nearest(q) OR summaries(q, 10000) IS NULL"
    );
    assert_eq!(count(&mut client, &seen), 0);
}

/// Summaries that an answer has read.
const READ: &str = "
    SELECT count(*) FROM rag_answer_details('Summarise what the reports say of bread.', 'report') AS a,
                         jsonb_array_elements(a.context) AS c WHERE c ? 'summary_id'";

/// Whether a question for the whole is answered by quoting what sums up.
const QUOTED: &str = "
    SELECT count(*) FROM rag_answer_details('Summarise the reports.', 'report')
    WHERE supported AND confidence IS NULL AND answer <> ''";

/// How many citations of the row with this key stand in an answer to a question for the whole.
fn cited(key: &str) -> String {
    format!(
        "SELECT count(*) FROM rag_answer_details('Summarise the reports.', 'report') AS a,
                jsonb_array_elements(a.citations) AS c WHERE c ->> 'source_key' = '{key}'"
    )
}

#[test]
fn a_hidden_leaf_hides_the_summary() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    // The second document is the beginning of the first: they share chunks, and perhaps a node.
    let mut client = in_background(
        &cluster,
        "DELETE FROM report WHERE id > 1;
         INSERT INTO report SELECT 2, string_agg(part(1, p), E'\\n\\n' ORDER BY p), 2 FROM generate_series(1, 5) AS p;
         CREATE ROLE guest; GRANT SELECT ON report TO guest;
         ALTER TABLE report ENABLE ROW LEVEL SECURITY;
         CREATE POLICY seen ON report USING (tenant = current_setting('tree.tenant')::int)",
    );
    check(&mut client);
    assert!(count(&mut client, READ) > 0);
    assert_eq!(count(&mut client, QUOTED), 1);
    client.batch_execute("SET tree.tenant = 2; SET ROLE guest").unwrap();
    let beyond = "SELECT count(*) FROM report_rag_chunks_tree AS t
                  WHERE EXISTS (SELECT FROM unnest(t.leaves) AS l WHERE l NOT IN (SELECT content_hash FROM report_rag_chunks))";
    assert_eq!(count(&mut client, beyond), 0);
    assert!(count(&mut client, "SELECT count(*) FROM report_rag_chunks_tree") > 0);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_summary('1', 'report')"), 0);
    assert!(count(&mut client, "SELECT count(*) FROM rag_summary('2', 'report')") > 0);
    let of_other = "
        SELECT count(*) FROM rag_answer_details('Summarise what the reports say of bread.', 'report') AS a,
                             jsonb_array_elements(a.context) AS c, jsonb_array_elements(c -> 'leaves') AS l
        WHERE l ->> 'source_key' = '1'";
    assert_eq!(count(&mut client, of_other), 0);
    // What is quoted without a language model is a summary of what the caller sees, too.
    assert_eq!(count(&mut client, QUOTED), 1);
    assert!(count(&mut client, &cited("2")) > 0);
    assert_eq!(count(&mut client, &cited("1")), 0);
    client.batch_execute("SET tree.tenant = 3").unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM report_rag_chunks_tree"), 0);
    assert_eq!(count(&mut client, READ), 0);
    assert_eq!(count(&mut client, QUOTED), 0);
    client.batch_execute("RESET ROLE").unwrap();
    // Who has no right on the trees is answered without them.
    client
        .batch_execute("CREATE ROLE later; GRANT SELECT ON report, report_rag, report_rag_chunks TO later; SET tree.tenant = 1; SET ROLE later")
        .unwrap();
    assert_eq!(count(&mut client, READ), 0);
    assert_fails(
        &mut client,
        "SELECT * FROM rag_summary('1', 'report')",
        &["42501", "permission denied for the tree", "GRANT SELECT ON"],
    );
}
