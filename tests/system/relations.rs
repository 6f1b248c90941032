//! Relations between entities: what a language model extracts, an HTTP server on loopback, and over which rows paths go.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use postgres::Client;

use super::at_work::number;
use super::cluster::{Cluster, wait_for};
use super::documents::{assert_fails, count};
use super::http_server::{Reply, Request, Server};
use super::provider::server;
use super::random::Random;

/// Row policies that are tried; the setting of the environment makes them more.
const POLICIES: u64 = 40;

const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE band (id integer PRIMARY KEY, body text);
    INSERT INTO band VALUES
        (1, 'Later Steve Hillage joined the band Gong, whose founder was Daevid Allen.'),
        (2, 'The canteen serves soup from noon.');";

const CREATE: &str = r#"SELECT rag_create_pipeline('band', 'body', refresh => 'manual',
    options => '{"backfill": "now", "graph": {"entities": "rules", "extract": {"llm": "writer"}}}')"#;

const RUN: &str = "CALL rag_run('band')";

/// What the text states, what it does not, and a name that is not in the words.
const SAID: &str = r#"{"relations": [
    {"subject": "Steve Hillage", "predicate": "joined", "object": "Gong", "quote": "Steve Hillage joined the band Gong"},
    {"subject": "Steve Hillage", "predicate": "founded", "object": "Gong", "quote": "Steve Hillage founded Gong"},
    {"subject": "Steve Hillage", "predicate": "knows", "object": "Daevid Allen", "quote": "Later Steve Hillage joined"}]}"#;

fn extract(request: &Request) -> Reply {
    let text = request.text();
    assert!(text.contains("<<<source 1 "), "{text}");
    if text.contains("unspeakable") {
        return Reply::json(400, r#"{"error": {"message": "that is not decent"}}"#);
    }
    Reply::chat(if text.contains("Steve Hillage") { SAID } else { "There are none: []" })
}

const STATUS: &str =
    "SELECT concat_ws(' ', kind, llm, missing, done, empty, dropped) FROM rag.derivation_status";

fn text(client: &mut Client, query: &str) -> String {
    client.query_one(query, &[]).unwrap_or_else(|error| panic!("{query}: {error:?}")).get(0)
}

#[test]
fn relations_are_kept_with_the_words_that_state_them() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(extract);
    let mut client = cluster.connect();
    let guest = "CREATE ROLE guest; GRANT SELECT ON band TO guest;";
    client
        .batch_execute(&format!("{SETUP} {guest} {} {CREATE};", server("writer", &http)))
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(text(&mut client, STATUS), "extracted_relations writer 0 2 1 2");
    assert_eq!(http.requests().len(), 2);
    let edge = "SELECT concat_ws('; ', e ->> 'from', e ->> 'predicate', e ->> 'to', e ->> 'inverse', e ->> 'method',
            substr(b.body, (e -> 'span' ->> 0)::int + 1, (e -> 'span' ->> 1)::int - (e -> 'span' ->> 0)::int),
            substr(b.body, (e -> 'to_span' ->> 0)::int + 1, (e -> 'to_span' ->> 1)::int - (e -> 'to_span' ->> 0)::int))
        FROM rag_graph('Who joined Gong?', hops => 1, predicate => '{joined}'), jsonb_array_elements(edges) AS e
        JOIN band AS b ON b.id::text = e ->> 'source_key'";
    assert_eq!(
        text(&mut client, edge),
        "Gong; joined; Steve Hillage; true; llm; Steve Hillage joined the band Gong; Steve Hillage"
    );
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM rag_graph('Gong', predicate => '{founded}')"),
        0
    );

    // A text that moves costs nothing, and a new generation with the texts of the old one neither, also what has been found
    // in them since it was begun.
    for statement in [
        "UPDATE band SET id = 3 WHERE id = 1",
        RUN,
        "CREATE TABLE found AS SELECT * FROM band_rag_chunks_extracted; DELETE FROM band_rag_chunks_extracted",
        "SELECT rag_alter_pipeline('band', chunking => '{\"max_tokens\": 200}')",
        "INSERT INTO band_rag_chunks_extracted SELECT * FROM found",
        RUN,
    ] {
        client.batch_execute(statement).unwrap();
    }
    assert_eq!(count(&mut client, "SELECT count(subject) FROM band_rag_chunks_extracted"), 1);
    assert_eq!(text(&mut client, edge).split("; ").next(), Some("Gong"));
    assert_eq!(http.requests().len(), 2);

    // Who does not see the row sees nothing that it states.
    client
        .batch_execute(
            "ALTER TABLE band ENABLE ROW LEVEL SECURITY; CREATE POLICY others ON band USING (id < 3); SET ROLE guest",
        )
        .unwrap();
    assert_eq!(count(&mut client, "SELECT count(subject) FROM band_rag_chunks_extracted"), 0);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_graph('Gong', predicate => '{*}')"), 0);
    client
        .batch_execute(
            "RESET ROLE; REVOKE SELECT ON band_rag_chunks_extracted FROM guest; SET ROLE guest",
        )
        .unwrap();
    assert_fails(
        &mut client,
        "SELECT * FROM rag_graph('Gong', predicate => '{*}')",
        &["42501", "permission denied for the relations", "GRANT SELECT ON"],
    );
    client.batch_execute("RESET ROLE").unwrap();
}

#[test]
fn other_predicates_are_asked_for_anew_and_without_the_key_nothing_is_left() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(extract);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {CREATE};", server("writer", &http))).unwrap();
    client.batch_execute(RUN).unwrap();
    client
        .batch_execute(
            r#"SELECT rag_alter_pipeline('band', options => '{"graph": {"entities": "rules", "extract": {"llm": "writer", "predicates": ["left"]}}}')"#,
        )
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), 4);
    assert_eq!(count(&mut client, "SELECT count(subject) FROM band_rag_chunks_extracted"), 0);
    // What is paid for is dropped only where that is said.
    for (option, tables) in [("", 1), (r#", "relations": {}"#, 1), (r#", "extract": false"#, 0)] {
        client
            .batch_execute(&format!(
                r#"SELECT rag_alter_pipeline('band', options => '{{"graph": {{"entities": "rules"{option}}}}}')"#
            ))
            .unwrap();
        let kept = "SELECT count(*) FROM pg_class WHERE relname LIKE '%_extracted'";
        assert_eq!(count(&mut client, kept), tables, "{option}");
    }
    assert_fails(
        &mut client,
        "SELECT * FROM rag_graph('Gong', predicate => '{*}')",
        &["22023", "has no relations", "rag_alter_pipeline"],
    );
}

#[test]
fn texts_are_read_for_one_generation_alone() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(extract);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {CREATE};", server("writer", &http))).unwrap();
    client.batch_execute(RUN).unwrap();
    // Whoever reads the old chunks keeps the new ones from their place.
    let mut reader = cluster.connect();
    reader.batch_execute("BEGIN; SELECT count(*) FROM band_rag_chunks").unwrap();
    for statement in [
        "SELECT rag_alter_pipeline('band', refresh => 'async')",
        "SELECT rag_alter_pipeline('band', chunking => '{\"max_tokens\": 200}')",
        "INSERT INTO band VALUES (3, 'Pierre Moerlen was the drummer of the band.')",
    ] {
        client.batch_execute(statement).unwrap();
    }
    let done = "SELECT done FROM rag.derivation_status WHERE generation = 1";
    assert!(wait_for(|| count(&mut client, done) == 3));
    let filled =
        "SELECT count(*) FROM rag.pipeline WHERE replaces IS NOT NULL AND stage <> 'filling'";
    assert!(wait_for(|| count(&mut client, filled) == 1));
    reader.batch_execute("COMMIT").unwrap();
    let new = "SELECT count(*) FROM rag.derivation_status WHERE generation = 2 AND state = 'live' AND missing = 0";
    assert!(wait_for(|| count(&mut client, new) == 1));
    assert_eq!(http.requests().len(), 3, "no text is paid for twice");
    let kept = "SELECT count(DISTINCT content_hash) FROM band_rag_chunks_extracted";
    assert_eq!(count(&mut client, kept), 3);
}

#[test]
fn a_text_that_is_refused_keeps_no_other_waiting() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(extract);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client
        .batch_execute(&format!(
            "INSERT INTO band SELECT n, 'It is unspeakable, row ' || n FROM generate_series(3, 9) AS n; {CREATE}"
        ))
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(text(&mut client, STATUS), "extracted_relations writer 0 9 8 2");
    assert_eq!(count(&mut client, "SELECT count(subject) FROM band_rag_chunks_extracted"), 1);
    let calls = http.requests().len();
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), calls, "nothing is asked twice");
    for (option, part) in [
        (r#"{"llm": "extractive"}"#, "Name a foreign server"),
        (r#"{"llm": "writer", "template": "nowhere"}"#, "nowhere"),
    ] {
        let alter = format!(
            r#"SELECT rag_alter_pipeline('band', options => '{{"graph": {{"entities": "rules", "extract": {option}}}}}')"#
        );
        assert_fails(&mut client, &alter, &[part]);
    }
    assert_fails(
        &mut client,
        "SELECT rag_alter_pipeline('band', refresh => 'sync')",
        &["22023", "extract", "is not for pipelines with refresh => 'sync'"],
    );
}

#[test]
fn a_text_about_which_no_reply_can_be_read_is_asked_about_again() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let (calls, is_cut) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
    let (counted, cuts) = (calls.clone(), is_cut.clone());
    let http = Server::answer(move |request| {
        let text = request.text();
        let about_gong = text.contains("Steve Hillage");
        // About the canteen the first reply is cut, and about Gong every one.
        let is_first = counted.fetch_add(usize::from(!about_gong), Ordering::SeqCst) == 0;
        match about_gong {
            true if cuts.load(Ordering::SeqCst) => Reply::chat(&SAID[..SAID.len() / 2]),
            true => Reply::chat(SAID),
            false if is_first => Reply::chat(r#"{"relations": ["#),
            false => Reply::chat(r#"{"relations": []}"#),
        }
    });
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {CREATE};", server("writer", &http))).unwrap();
    client.batch_execute(RUN).unwrap();
    let status =
        "SELECT concat_ws(' ', missing, done, empty, unreadable) FROM rag.derivation_status";
    assert_eq!(text(&mut client, status), "0 2 1 1");
    assert_eq!(http.requests().len(), 4, "each is asked about again once");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    let kept = "SELECT string_agg(concat_ws(' ', no, unreadable), ';' ORDER BY unreadable) FROM band_rag_chunks_extracted";
    assert_eq!(text(&mut client, kept), "0 f;0 t");
    // By itself nothing is asked any more, and by rag_retry what could not be read.
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), 4);
    assert_eq!(count(&mut client, "SELECT rag_retry('band', '1')"), 0, "of a row nothing failed");
    assert_eq!(count(&mut client, "SELECT rag_retry('band')"), 1);
    assert_eq!(text(&mut client, "SELECT state FROM rag.derivation_status"), "waiting");
    is_cut.store(false, Ordering::SeqCst);
    client.batch_execute(RUN).unwrap();
    assert_eq!(text(&mut client, status), "0 2 1 0");
    assert_eq!(http.requests().len(), 5);
    assert_eq!(count(&mut client, "SELECT count(subject) FROM band_rag_chunks_extracted"), 1);
    assert_eq!(count(&mut client, "SELECT rag_retry('band')"), 0);
    // A worker that had nothing left to do begins again.
    client
        .batch_execute("UPDATE band_rag_chunks_extracted SET unreadable = true WHERE no = 0; SELECT rag_alter_pipeline('band', refresh => 'async')")
        .unwrap();
    let live = "SELECT count(*) FROM rag.derivation_status WHERE state = 'live'";
    assert!(wait_for(|| count(&mut client, live) == 1));
    assert_eq!(count(&mut client, "SELECT rag_retry('band')"), 1);
    assert!(wait_for(|| http.requests().len() == 6));
    assert!(wait_for(|| count(&mut client, live) == 1));
}

/// Rows of a graph, each of which says that a node is linked to another, and names both.
const NODES: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE link (id integer PRIMARY KEY, one text, other text, body text);
    INSERT INTO link SELECT n, one, other, 'It is known that Node ' || one || ' has met Node ' || other || ' there.'
    FROM (SELECT n, 'N' || n % 17 || 'x' AS one, 'N' || (n * 7 + n / 17) % 23 || 'x' AS other FROM generate_series(1, 60) AS n) AS l
    WHERE one <> other;
    CREATE ROLE guest; GRANT SELECT ON link TO guest;
    ALTER TABLE link ENABLE ROW LEVEL SECURITY;
    CREATE POLICY seen ON link USING (id = ANY (current_setting('graph.seen')::int[]));";

#[test]
fn no_path_goes_through_a_hidden_row_whatever_the_policy() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(NODES).unwrap();
    client
        .batch_execute(
            r#"SELECT rag_create_pipeline('link', 'body', metadata => ARRAY['one', 'other'], options => '{"backfill": "now", "graph":
               {"entities": "rules", "relations": {"other": {"predicate": "met", "subject": "one"}}}}')"#,
        )
        .unwrap();
    let rows = client.query("SELECT id, one, other FROM link ORDER BY id", &[]).unwrap();
    let links: Vec<(i32, String, String)> =
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    client.batch_execute("SET ROLE guest").unwrap();
    let mut random = Random(number("PG_RAG_POLICY_SEED", 7));
    for policy in 0..number("PG_RAG_POLICIES", POLICIES) {
        let share = 1 + random.below(9);
        let seen: Vec<&(i32, String, String)> =
            links.iter().filter(|_| random.below(10) < share).collect();
        let start = &links[random.below(links.len())].1;
        let keys: Vec<String> = seen.iter().map(|(id, ..)| id.to_string()).collect();
        client.batch_execute(&format!("SET graph.seen = '{{{}}}'", keys.join(","))).unwrap();
        for (text, predicate) in [(start.clone(), "'{met}'"), (format!("Node {start}"), "NULL")] {
            let hidden = format!(
                "SELECT count(*) FROM rag_graph('{text}', hops => 4, k => 1000, predicate => {predicate}), jsonb_array_elements(edges) AS e
                 WHERE (e ->> 'source_key')::int <> ALL (current_setting('graph.seen')::int[])"
            );
            assert_eq!(count(&mut client, &hidden), 0, "policy {policy}: {keys:?} from {text}");
        }
        // What is one hop away is all that seen rows say, no less.
        let near = format!(
            "SELECT coalesce(string_agg(DISTINCT entities[2], ' '), '') FROM rag_graph('{start}', hops => 1, k => 1000, predicate => '{{*}}')"
        );
        let found: BTreeSet<String> =
            text(&mut client, &near).split_whitespace().map(str::to_owned).collect();
        let mut expected = BTreeSet::new();
        for (_, one, other) in &seen {
            if one == start {
                expected.insert(other.clone());
            }
            if other == start {
                expected.insert(one.clone());
            }
        }
        assert_eq!(found, expected, "policy {policy}: {keys:?} from {start}");
        let retrieved = format!(
            "SELECT count(*) FROM rag_retrieve('Whom has Node {start} met?', k => 60) WHERE source_key::int <> ALL (current_setting('graph.seen')::int[])"
        );
        assert_eq!(count(&mut client, &retrieved), 0, "policy {policy}: {keys:?} from {start}");
    }
}

/// Picks what the question asks for, and answers from the rows of the paths.
fn pick_and_answer(request: &Request) -> Reply {
    let text = request.text();
    Reply::chat(if text.contains("Predicates: ") {
        assert!(text.contains("worked_on (as in: ") && !text.contains("Gemini"), "{text}");
        r#"{"entities": ["Zstandard"], "predicates": ["uses", "worked_on"]}"#
    } else {
        assert!(text.contains("Ada Berg worked_on Apollo"), "{text}");
        "Ada Berg worked on it [1]."
    })
}

#[test]
fn a_question_is_answered_from_paths_over_relations() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(pick_and_answer);
    let mut client = cluster.connect();
    client
        .batch_execute(&format!(
            r#"CREATE EXTENSION pg_rag CASCADE;
               CREATE TABLE report (id integer PRIMARY KEY, body text, engineer text, project text, library text);
               INSERT INTO report VALUES
                   (1, 'The parser was written anew.', 'Ada Berg', 'Apollo', 'Zstandard'),
                   (2, 'The importer reads archives.', 'Cleo Diaz', 'Gemini', 'Zstandard');
               CREATE ROLE guest; GRANT SELECT ON report TO guest;
               ALTER TABLE report ENABLE ROW LEVEL SECURITY; CREATE POLICY seen ON report USING (id < 2);
               {}
               GRANT USAGE ON FOREIGN SERVER writer TO guest;
               SELECT rag_create_pipeline('report', 'body', metadata => ARRAY['engineer', 'project', 'library'],
                   options => '{{"backfill": "now", "graph": {{"entities": "rules", "relations": {{
                       "project": {{"predicate": "worked_on", "subject": "engineer"}},
                       "library": {{"predicate": "uses", "subject": "project"}}}}}}}}');
               SET ROLE guest"#,
            server("writer", &http)
        ))
        .unwrap();
    // What the caller does not see is in no prompt.
    let answer = "SELECT concat_ws('; ', answer, usage ->> 'strategy', citations -> 0 ->> 'source_key')
        FROM rag_answer_details('Which engineers worked on the project that uses the library Zstandard?', strategy => 'graph', llm => 'writer')";
    assert!(text(&mut client, answer).starts_with("Ada Berg worked on it [1].; graph"));
    assert_eq!(http.requests().len(), 2);
    client.batch_execute("RESET ROLE; SELECT rag_alter_pipeline('report', options => '{\"graph\": {\"entities\": \"rules\"}}'); SET ROLE guest").unwrap();
    assert_fails(
        &mut client,
        "SELECT rag_answer('Who?', strategy => 'graph', llm => 'writer')",
        &["22023", "has no relations"],
    );
}

#[test]
fn a_text_of_many_chunks_is_read_once_and_some_of_them_are_looked_at() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(extract);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client
        .batch_execute(&format!(
            "INSERT INTO band SELECT n, b.body FROM band AS b, generate_series(3, 152) AS n WHERE b.id = 1; {CREATE}"
        ))
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), 2);
    let chunks = "SELECT (edges -> 0 ->> 'chunks')::bigint FROM rag_graph('Gong', hops => 1, predicate => '{joined}')";
    assert_eq!(count(&mut client, chunks), 100);
}

/// Picks what there is not, and quotes what it is told.
fn pick_nothing_known(request: &Request) -> Reply {
    let text = request.text();
    Reply::chat(if text.contains("Predicates: ") {
        for seen in ["uses (as in: Apollo uses Zstandard)", "reviewed_by (as in: Apollo"] {
            assert!(text.contains(seen), "{seen} in {text}");
        }
        for hidden in ["managed_by", "Secret", "Library 1"] {
            assert!(!text.contains(hidden), "{hidden} in {text}");
        }
        r#"{"entities": ["The Nameless One"], "predicates": ["uses"]}"#
    } else {
        assert!(text.contains("Apollo uses Zstandard") && !text.contains("Library 1"), "{text}");
        "It uses Zstandard [1]."
    })
}

#[test]
fn what_the_filter_hides_is_as_if_it_were_not_there() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(pick_nothing_known);
    let mut client = cluster.connect();
    client
        .batch_execute(&format!(
            r#"CREATE EXTENSION pg_rag CASCADE;
               CREATE TABLE report (id integer PRIMARY KEY, body text, tenant text, project text, libraries text[], manager text, reviewer text);
               INSERT INTO report
               SELECT n, 'It is about a parser, number ' || n || '.', 'b', 'Apollo', array_agg('Library ' || n || ' ' || i), 'Secret Person'
               FROM generate_series(1, 8) AS n, generate_series(1, 256) AS i GROUP BY n;
               INSERT INTO report VALUES (9, 'It is about the archives.', 'b', 'Apollo', '{{Zstandard}}', NULL, NULL),
                   (10, 'It is about the archives as well.', 'a', 'Apollo', '{{Zstandard}}', NULL, 'Ben Cole');
               {}
               SELECT rag_create_pipeline('report', 'body', metadata => ARRAY['tenant', 'project', 'libraries', 'manager', 'reviewer'],
                   options => '{{"backfill": "now", "graph": {{"entities": "rules", "relations": {{
                       "libraries": {{"predicate": "uses", "subject": "project"}},
                       "reviewer": {{"predicate": "reviewed_by", "subject": "project"}},
                       "manager": {{"predicate": "managed_by", "subject": "project"}}}}}}}}')"#,
            server("writer", &http)
        ))
        .unwrap();
    // The relation is said by a hidden row as well, which comes first, as do more hidden ones than are looked at; and what the
    // model picks is not there.
    let answer = "SELECT concat_ws('; ', answer, citations -> 0 ->> 'key')
        FROM rag_answer_details('What does Apollo use?', strategy => 'graph', llm => 'writer', filter => '{\"tenant\": \"a\"}')";
    assert_eq!(text(&mut client, answer), "It uses Zstandard [1].; 10");
    assert_eq!(http.requests().len(), 2);
}
