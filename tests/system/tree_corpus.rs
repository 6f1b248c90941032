//! The tree over all documents of a pipeline: through changes, deletions and killed workers, under row-level security, and
//! in answers.

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::count;
use super::http_server::{Reply, Server};
use super::provider::server;
use super::tree::SETUP;

/// Trees over the reports, and one over them all.
fn create(refresh: &str, tree: &str) -> String {
    format!(
        "SELECT rag_create_pipeline('report', 'body', refresh => '{refresh}',
             chunking => '{{\"by\": \"markdown\", \"max_tokens\": 48, \"overlap\": 0}}', options => '{{\"tree\": {tree}}}')"
    )
}

const OVER_CORPUS: &str = "{\"over\": \"corpus\"}";

/// What `expression` says of the documents, each with its chunks and root, and of the tables.
fn of_documents(expression: &str) -> String {
    format!(
        "WITH document AS MATERIALIZED (
             SELECT array_agg(content_hash ORDER BY chunk_no) AS leaves, sha256(string_agg(content_hash, ''::bytea ORDER BY chunk_no)) AS root
             FROM report_rag_chunks GROUP BY source_id
         ), text AS MATERIALIZED (
             SELECT DISTINCT root, leaves FROM document
         ), corpus AS MATERIALIZED (
             SELECT * FROM report_rag_chunks_tree WHERE is_root AND documents > 1)
         SELECT {expression}"
    )
}

/// How many roots there are of all documents that are not to be, or are missing, or cover anything else than all documents.
const MISTAKEN_ROOTS: &str = "
    abs((SELECT count(*) FROM corpus) - (SELECT least(count(*), 2) / 2 FROM text))
    + (SELECT count(*) FROM corpus AS k
       WHERE k.documents <> (SELECT count(*) FROM text)
          OR (SELECT array_agg(l ORDER BY l) FROM unnest(k.leaves) AS l)
             <> (SELECT array_agg(l ORDER BY l) FROM text AS t CROSS JOIN unnest(t.leaves) AS l))";

/// Documents that are not in exactly one lowest cluster of documents.
const SCATTERED: &str = "
    (SELECT count(*) FROM text AS d
     WHERE (SELECT count(*) FROM text) > 1
       AND (SELECT count(*) FROM report_rag_chunks_tree AS t WHERE t.documents > 1 AND t.children @> ARRAY[d.root]) <> 1)";

/// Summaries that are part of neither a document's tree nor that of all.
const ORPHANS: &str = "
    (WITH RECURSIVE kept (node_hash) AS (
         (SELECT root FROM document UNION SELECT node_hash FROM corpus)
         UNION
         SELECT child FROM kept AS k JOIN report_rag_chunks_tree AS t USING (node_hash)
         CROSS JOIN LATERAL unnest(t.children) AS child WHERE t.level > 1)
     SELECT count(*) FROM report_rag_chunks_tree WHERE node_hash NOT IN (SELECT node_hash FROM kept))";

/// Summaries whose sentences do not stand where they say, one after the other.
const MISPLACED: &str = "
    (SELECT count(*) FROM report_rag_chunks_tree AS t
     WHERE NOT t.written
       AND t.content IS DISTINCT FROM (
         SELECT string_agg(substr(c.content, u.start + 1, u.stop - u.start), ' ' ORDER BY u.no)
         FROM ROWS FROM (unnest(t.span_leaves), unnest(t.span_starts), unnest(t.span_ends)) WITH ORDINALITY AS u (leaf, start, stop, no)
         CROSS JOIN LATERAL (SELECT c.content FROM report_rag_chunks AS c WHERE c.content_hash = t.leaves[u.leaf] LIMIT 1) AS c))";

/// What is noted and still to be done; and places of documents that are not there, or that have none.
const LEFT: &str = "
    (SELECT count(*) FROM rag.tree_change) + (SELECT count(*) FROM rag.tree_candidate)
    + (SELECT count(*) FROM report_rag_chunks_tree WHERE searched AND embedding IS NULL)
    + abs((SELECT count(*) FROM rag.tree_place) - (SELECT CASE WHEN (SELECT count(*) FROM text) > 1 THEN count(*) ELSE 0 END FROM document))";

/// Waits until all trees are whole and nothing else is there.
fn check(client: &mut Client) {
    let left = |client: &mut Client| {
        [MISTAKEN_ROOTS, SCATTERED, ORPHANS, MISPLACED, LEFT]
            .map(|it| count(client, &of_documents(it)))
    };
    let is_whole = wait_for(|| {
        // What a worker has in hand is waited for only here.
        let wait =
            "SELECT rag_wait('report', '5 minutes') FROM rag.pipeline WHERE refresh = 'async'";
        let done = client.query_opt(wait, &[]).unwrap();
        assert!(done.is_none_or(|row| row.get(0)), "the rows wait");
        client.batch_execute("CALL rag_run('report')").unwrap();
        left(client) == [0; 5]
    });
    assert!(is_whole, "roots, scattered, in no tree, misplaced, left: {:?}", left(client));
}

fn begin(cluster: &Cluster, change: &str, refresh: &str) -> Client {
    let mut client = cluster.connect();
    for statements in [SETUP, change, &create(refresh, OVER_CORPUS)] {
        client.batch_execute(statements).unwrap();
    }
    check(&mut client);
    client
}

#[test]
fn an_edit_in_a_hundred_documents_makes_few_summaries_anew() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = begin(&cluster, "", "manual");
    let edits = [
        // In the middle of a document, at its beginning, and all of it but its key.
        "UPDATE report SET body = replace(body, 'in part 5 that', 'in part 5 now that') WHERE id = 42",
        "UPDATE report SET body = replace(body, 'in part 1 that', 'in part 1 now that') WHERE id = 77",
        "UPDATE report SET body = 'The parrot of the harbour master speaks five languages.' WHERE id = 13",
    ];
    for edit in edits {
        client
            .batch_execute(
                "CREATE TEMP TABLE before AS SELECT node_hash FROM report_rag_chunks_tree",
            )
            .unwrap();
        client.batch_execute(edit).unwrap();
        check(&mut client);
        let new = "SELECT count(*) FROM report_rag_chunks_tree WHERE node_hash NOT IN (SELECT node_hash FROM before)";
        let made = count(&mut client, new);
        assert!((1..=6).contains(&made), "{made} summaries were made: {edit}");
        client.batch_execute("DROP TABLE before").unwrap();
    }
    // What a run that was ended has left without a vector is embedded first.
    client
        .batch_execute(
            "UPDATE report_rag_chunks_tree SET embedding = NULL WHERE is_root AND documents = 1;
             INSERT INTO rag.tree_change SELECT id, nextval('rag.change'), 9223372036854775807 FROM rag.pipeline",
        )
        .unwrap();
    client.batch_execute("CALL rag_run('report')").unwrap();
    assert_eq!(count(&mut client, &of_documents(LEFT)), 0);
    // The option is taken back, and comes again.
    let alter = |tree: &str| {
        format!("SELECT rag_alter_pipeline('report', options => '{{\"tree\": {tree}}}')")
    };
    client.batch_execute(&alter("{}")).unwrap();
    client.batch_execute("CALL rag_run('report')").unwrap();
    let over_several = "SELECT count(*) FROM report_rag_chunks_tree WHERE documents > 1";
    let places = "SELECT count(*) FROM rag.tree_place";
    assert_eq!([over_several, places].map(|it| count(&mut client, it)), [0; 2]);
    client.batch_execute(&alter(OVER_CORPUS)).unwrap();
    check(&mut client);
}

#[test]
fn random_changes_and_killed_workers_leave_one_tree_over_all() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = begin(
        &cluster,
        "DELETE FROM report WHERE id > 20;
         SELECT setseed(0.4)",
        "async",
    );
    for round in 0..32 {
        // Documents that say the same, grow, shrink, are of one chunk or of none, and go.
        let change = match round % 8 {
            0 => {
                "INSERT INTO report SELECT 1000 + (random() * 1000)::int, body FROM report ORDER BY random() LIMIT 2 ON CONFLICT DO NOTHING"
            }
            1 => "DELETE FROM report WHERE id IN (SELECT id FROM report ORDER BY random() LIMIT 2)",
            2 => {
                "UPDATE report SET body = parts(id, 1, 1 + (random() * 20)::int) WHERE random() < 0.2"
            }
            3 => {
                "UPDATE report SET body = parts(2, 1 + (random() * 3)::int, 4) WHERE random() < 0.2"
            }
            4 => {
                "UPDATE report SET id = id + 5000 WHERE id = (SELECT id FROM report ORDER BY random() LIMIT 1)"
            }
            5 => {
                "INSERT INTO report VALUES (3000 + (random() * 1000)::int, part(9, 9)) ON CONFLICT DO NOTHING"
            }
            6 => {
                "UPDATE report SET body = '' WHERE id = (SELECT id FROM report ORDER BY random() LIMIT 1)"
            }
            _ => "UPDATE report SET body = replace(body, 'mill', 'windmill') WHERE random() < 0.1",
        };
        client.batch_execute(change).unwrap();
        if round % 3 == 0 {
            // Whoever is at work is ended, and somebody else goes on.
            client
                .batch_execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'")
                .unwrap();
        }
        if round % 8 == 7 {
            check(&mut client);
        }
    }
    // Down to two, one and none.
    for left in [2, 1, 0] {
        let delete = format!(
            "DELETE FROM report WHERE id NOT IN (SELECT id FROM report ORDER BY length(body) DESC, id LIMIT {left})"
        );
        client.batch_execute(&delete).unwrap();
        check(&mut client);
    }
    assert_eq!(count(&mut client, "SELECT count(*) FROM report_rag_chunks_tree"), 0);
    client
        .batch_execute("SELECT rag_alter_pipeline('report', options => '{\"tree\": false}')")
        .unwrap();
    let known =
        "SELECT (SELECT count(*) FROM rag.tree_root) + (SELECT count(*) FROM rag.tree_place)";
    assert_eq!(count(&mut client, known), 0);
}

/// Summaries that are read for a question: how many of several documents, and how many of one.
const READ: &str = r#"
    CREATE FUNCTION summaries(question text, options jsonb) RETURNS TABLE (summary_id bigint, leaves jsonb) LANGUAGE sql
    AS $$ SELECT (c ->> 'summary_id')::bigint, c -> 'leaves'
          FROM rag_answer_details(question, 'report', options => options) AS a, jsonb_array_elements(a.context) AS c
          WHERE c ? 'summary_id' $$;
    CREATE FUNCTION number(node bytea) RETURNS bigint LANGUAGE sql
    RETURN ('x' || encode(substr(node, 1, 8), 'hex'))::bit(64)::bigint & 9223372036854775807;"#;

#[test]
fn a_hidden_leaf_hides_the_summaries_above_it() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = begin(
        &cluster,
        "DELETE FROM report WHERE id > 24; UPDATE report SET tenant = 2 WHERE id = 17;
         CREATE ROLE guest; GRANT SELECT ON report TO guest;
         ALTER TABLE report ENABLE ROW LEVEL SECURITY;
         CREATE POLICY seen ON report USING (tenant = ANY (current_setting('tree.tenants')::int[]))",
        "manual",
    );
    client.batch_execute(READ).unwrap();
    let over_several = "SELECT count(*) FROM report_rag_chunks_tree WHERE documents > 1";
    let all = count(&mut client, over_several);
    let hidden = "SELECT count(*) FROM report_rag_chunks_tree AS t
                  WHERE documents > 1 AND leaves && (SELECT array_agg(content_hash) FROM report_rag_chunks WHERE source_id = 17)";
    let above = count(&mut client, hidden);
    assert!(all > above && above > 1, "{above} of {all}");
    // One of several documents is read, and none that is hidden: below it what is seen of the documents.
    let read = "SELECT count(*) FROM summaries('Summarise what the reports say of bread.', '{}') AS s
                WHERE (SELECT documents FROM report_rag_chunks_tree WHERE number(node_hash) = s.summary_id) > 1";
    let of_hidden = |options: &str| {
        format!("SELECT count(*) FROM summaries('Summarise what the reports say of bread.', '{options}') AS s,
                                      jsonb_array_elements(s.leaves) AS l WHERE l ->> 'source_key' = '17'")
    };
    let from_the_root = "SELECT count(*) FROM summaries('Overview of the mills', '{\"retrieve\": {\"tree_beam\": 1}}')";
    client.batch_execute("SET tree.tenants = '{1,2}'; SET ROLE guest").unwrap();
    assert_eq!(count(&mut client, over_several), all);
    assert_eq!(count(&mut client, read), 1);
    assert!(count(&mut client, from_the_root) > 0);
    client.batch_execute("SET tree.tenants = '{1}'").unwrap();
    assert_eq!(count(&mut client, over_several), all - above);
    for options in ["{}", r#"{"retrieve": {"tree_beam": 10000}}"#] {
        assert_eq!(count(&mut client, &of_hidden(options)), 0);
    }
    // Whom the root of all is hidden from begins with those of documents.
    assert!(count(&mut client, from_the_root) > 0);
    // A filter hides as a policy does: nothing is read that covers a document of another number.
    client.batch_execute("RESET ROLE").unwrap();
    let odd = r#"{"retrieve": {"filter": {"id": [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]}}}"#;
    let of_others = format!(
        "SELECT count(*) FROM summaries('Summarise what the reports say of bread.', '{odd}') AS s
         JOIN report_rag_chunks_tree AS t ON number(t.node_hash) = s.summary_id
         WHERE t.leaves && (SELECT array_agg(content_hash) FROM report_rag_chunks WHERE source_id % 2 = 0)"
    );
    assert_eq!(count(&mut client, &of_others), 0);
}

/// The summaries that are nearest to a question, by their numbers: of all levels, in order, and of those on the way down
/// from the root of all to the nearest child each.
const NEAREST: &str = "
    CREATE FUNCTION nearest(question text) RETURNS bigint[] LANGUAGE sql
    RETURN (SELECT array_agg(number(n.node_hash) ORDER BY n.distance)
            FROM (SELECT t.node_hash, t.embedding <=> e.vector AS distance
                  FROM (SELECT rag_embed(question) AS vector) AS e, report_rag_chunks_tree AS t
                  WHERE t.embedding IS NOT NULL ORDER BY 2 LIMIT 3) AS n);
    CREATE FUNCTION followed(question text) RETURNS bigint[] LANGUAGE sql
    RETURN (WITH RECURSIVE way AS (
                SELECT t.node_hash, t.level, t.children, e.vector, 1 - (t.embedding <=> e.vector) AS similarity
                FROM (SELECT rag_embed(question) AS vector) AS e, report_rag_chunks_tree AS t
                WHERE t.is_root AND t.documents > 1
                UNION ALL
                (SELECT t.node_hash, t.level, t.children, w.vector, 1 - (t.embedding <=> w.vector) AS similarity
                 FROM way AS w CROSS JOIN LATERAL unnest(w.children) AS child (hash)
                 JOIN report_rag_chunks_tree AS t ON t.node_hash = child.hash
                 WHERE w.level > 1 AND t.embedding IS NOT NULL
                 ORDER BY similarity DESC, t.node_hash LIMIT 1))
            SELECT array_agg(number(n.node_hash) ORDER BY number(n.node_hash))
            FROM (SELECT node_hash FROM way ORDER BY similarity DESC, node_hash LIMIT 3) AS n);";

/// Options for a beam of one, for one of all that there is, and for none.
const ONE: &str = r#"{"retrieve": {"tree": "on", "tree_beam": 1}}"#;
const UNLIMITED: &str = r#"{"retrieve": {"tree": "on", "tree_beam": 10000}}"#;
const NO_BEAM: &str = r#"{"retrieve": {"tree": "on"}}"#;

#[test]
fn from_the_root_down_an_unlimited_beam_finds_the_nearest_of_all_levels() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = begin(&cluster, "DELETE FROM report WHERE id > 30", "manual");
    client.batch_execute(&format!("{READ} {NEAREST}")).unwrap();
    let questions = "unnest(ARRAY['the bread of report 7', 'What does bread cost in street 11?', 'the mills in report 3', 'wheat']) AS q";
    let other = format!(
        "SELECT count(*) FROM {questions}
         WHERE ARRAY(SELECT summary_id FROM summaries(q, '{UNLIMITED}')) IS DISTINCT FROM nearest(q)"
    );
    assert_eq!(count(&mut client, &other), 0);
    // One of each level: begun at the root of all, what is nearest is not reached where a cluster above it is not.
    let astray = |options: &str| {
        format!(
            "SELECT count(*) FROM {questions}
             WHERE ARRAY(SELECT summary_id FROM summaries(q, '{options}') ORDER BY 1) IS DISTINCT FROM followed(q)"
        )
    };
    assert_eq!(count(&mut client, &astray(ONE)), 0);
    for options in [UNLIMITED, NO_BEAM] {
        assert!(count(&mut client, &astray(options)) > 0, "{options}");
    }
    // What is read for the whole lies on one way down: of any two summaries, one covers what the other does.
    let questions =
        "unnest(ARRAY['Overview of the mills', 'Summarise what the reports say of bread.']) AS q";
    let on_one_way = format!(
        "WITH read AS MATERIALIZED (
             SELECT q, c.number, c.content FROM {questions}, rag_context(q, 'report', options => '{ONE}') AS c
             WHERE c.chunk_id IS NULL)
         SELECT count(*) FILTER (WHERE NOT EXISTS (
                    SELECT FROM report_rag_chunks_tree AS t
                    JOIN report_rag_chunks_tree AS u ON t.leaves @> u.leaves OR u.leaves @> t.leaves
                    WHERE t.content = one.content AND u.content = other.content)),
                count(*)
         FROM read AS one JOIN read AS other ON other.q = one.q AND other.number > one.number"
    );
    let row = client.query_one(on_one_way.as_str(), &[]).unwrap();
    let (apart, pairs): (i64, i64) = (row.get(0), row.get(1));
    assert!(apart == 0 && pairs > 0, "{apart} of {pairs} pairs");
    // A wider beam reads something else, and so does a search without one.
    let read = |options: &str| {
        format!(
            "ARRAY(SELECT c.content FROM rag_context(q, 'report', options => '{options}') AS c WHERE c.chunk_id IS NULL ORDER BY 1)"
        )
    };
    for options in [UNLIMITED, NO_BEAM] {
        let differ = format!(
            "SELECT count(*) FROM {questions} WHERE {} IS DISTINCT FROM {}",
            read(ONE),
            read(options)
        );
        assert!(count(&mut client, &differ) > 0, "{options}");
    }
}

#[test]
fn a_theme_of_several_documents_is_answered_from_what_sums_them_up() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    let subjects = "unnest(ARRAY['bicycles', 'canteens', 'lightning', 'passports', 'orchards']) WITH ORDINALITY AS s (subject, no)";
    client
        .batch_execute(&format!(
            "CREATE EXTENSION pg_rag CASCADE;
             CREATE TABLE report (id integer PRIMARY KEY, body text);
             CREATE FUNCTION report(subject text, parts integer, year integer) RETURNS text LANGUAGE sql
             RETURN (SELECT string_agg(format(E'# Part %s\n\nRule %s of %s on %s says what everybody has to know of %s. It holds for all who work here.',
                                              p, p, year, subject, subject), E'\n\n' ORDER BY p)
                     FROM generate_series(1, parts) AS p);
             -- Six documents of two parts each about a subject, and one long one about another.
             INSERT INTO report SELECT no * 10 + d, report(subject, 2, (2000 + d)::integer) FROM {subjects}, generate_series(1, 6) AS d;
             INSERT INTO report VALUES (1, report('volcanoes', 14, 1999));
             {READ}"
        ))
        .unwrap();
    client.batch_execute(&create("manual", OVER_CORPUS)).unwrap();
    client.batch_execute("CALL rag_run('report')").unwrap();
    // Of a subject of several documents one summary is read of these, and of no more documents than have to be.
    let read = |subject: &str| {
        format!(
            "SELECT coalesce(max(t.documents) FILTER (WHERE t.documents > 1), 0)::bigint
             FROM summaries('Summarise the rules on {subject}.', '{{}}') AS s
             JOIN report_rag_chunks_tree AS t ON number(t.node_hash) = s.summary_id"
        )
    };
    for subject in ["bicycles", "canteens", "lightning", "passports", "orchards"] {
        let documents = count(&mut client, &read(subject));
        assert!((2..=8).contains(&documents), "{documents} documents: {subject}");
        let about = format!(
            "SELECT count(*) FROM summaries('Summarise the rules on {subject}.', '{{}}') AS s
             JOIN report_rag_chunks_tree AS t ON number(t.node_hash) = s.summary_id
             WHERE t.documents > 1 AND t.content LIKE '%{subject}%'"
        );
        assert_eq!(count(&mut client, &about), 1, "{subject}");
    }
    // One document has most of what is found: that is summed up as without a tree over all.
    assert_eq!(count(&mut client, &read("volcanoes")), 0);
    // From whom one row is hidden, the summaries are hidden that cover it, and no others.
    client
        .batch_execute(
            "CREATE ROLE guest; GRANT SELECT ON report, report_rag, report_rag_chunks, report_rag_chunks_tree TO guest;
             ALTER TABLE report ENABLE ROW LEVEL SECURITY; CREATE POLICY others ON report USING (id <> 21);
             SET ROLE guest",
        )
        .unwrap();
    let root = "SELECT count(*) FROM report_rag_chunks_tree WHERE is_root AND documents > 1";
    assert_eq!(count(&mut client, root), 0);
    let others = ["bicycles", "lightning", "passports", "orchards"];
    let read_of: Vec<i64> = others.iter().map(|it| count(&mut client, &read(it))).collect();
    assert!(read_of.iter().filter(|it| **it > 1).count() >= 3, "{read_of:?}");
}

#[test]
fn a_language_model_writes_the_tree_over_all_and_is_asked_once() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(|request| {
        assert!(request.text().contains("<<<source 2 "), "{}", request.text());
        Reply::chat("Digest: mills grind,\n and bread costs money.")
    });
    let mut client = cluster.connect();
    client
        .batch_execute(&format!(
            "{SETUP} {} DELETE FROM report WHERE id > 30; INSERT INTO report VALUES (101, 'The mill of the valley is closed.')",
            server("writer", &http)
        ))
        .unwrap();
    let tree = "{\"summary\": \"llm\", \"llm\": \"writer\", \"over\": \"corpus\"}";
    client.batch_execute(&create("manual", tree)).unwrap();
    check(&mut client);
    let calls = http.requests().len() as i64;
    let written = "SELECT count(*) FROM report_rag_chunks_tree WHERE written";
    assert_eq!(count(&mut client, written), calls);
    let over_several = "SELECT count(*) FROM report_rag_chunks_tree WHERE documents > 1 AND written AND embedding IS NOT NULL";
    assert!(count(&mut client, over_several) >= 5);
    client
        .batch_execute("UPDATE report SET body = replace(body, 'in part 1 that', 'in part 1 now that') WHERE id = 7")
        .unwrap();
    check(&mut client);
    let again = http.requests().len() as i64 - calls;
    assert!((1..=6).contains(&again), "{again} calls for an edit");
    assert_eq!(count(&mut client, written), calls);
}
