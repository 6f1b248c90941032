//! Chunks put into their connection by a language model: an HTTP server on loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{assert_fails, count};
use super::embedder::body;
use super::http_server::{Reply, Request, Server};
use super::provider::server;

/// A document of thirty pages, each of which is a chunk, and a short one.
const SETUP: &str = r"
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE reports (id integer PRIMARY KEY, title text, body text);
    INSERT INTO reports
        SELECT 1, 'Report of the mill', string_agg('It turned ' || n || ' times that day.', E'\f' ORDER BY n)
        FROM generate_series(1, 30) AS n;
    INSERT INTO reports VALUES (2, 'Report of the kiln', 'It was lit in spring.');";

/// A pipeline over them that only works when it is told to.
const PIPELINE: &str = r#"
    SELECT rag_create_pipeline('reports', 'body', chunking => '{"by": "page"}', refresh => 'manual',
        options => '{"contextual": {"llm": "writer"}, "title": "title"}');"#;

const RUN: &str = "CALL rag_run('reports')";

/// How many chunks have a line.
const LINES: &str = "SELECT count(context_line) FROM reports_rag_chunks";

/// The user's message of a request, with the same mark each time.
fn asked(request: &Request) -> String {
    let body = body(request);
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    let text = last.and_then(|it| it["content"].as_str()).expect("a message of the user");
    let (_, rest) = text.split_once("<<<source 1 ").expect("a source");
    let (mark, _) = rest.split_once(">>>").expect("the end of a line");
    text.replace(mark, "MARK")
}

/// What is asked about.
fn chunk(request: &Request) -> String {
    let asked = asked(request);
    let (_, rest) = asked.split_once("<<<source 2 MARK>>>\n").expect("a second source");
    let rest = rest.strip_suffix("\n<<<end 2 MARK>>>").expect("the end of the second source");
    rest.lines().last().unwrap_or_default().to_owned()
}

/// Says of which wheel the chunk of a request speaks.
fn situate(request: &Request) -> Reply {
    let chunk = chunk(request);
    Reply::chat(
        match chunk.contains("spring") {
            true => "\"The potter's furnace\n of Sarnen.\"".to_owned(),
            false => format!("Of the waterwheel: {chunk}"),
        }
        .as_str(),
    )
}

fn text(client: &mut Client, query: &str) -> String {
    client.query_one(query, &[]).unwrap_or_else(|error| panic!("{query}: {error:?}")).get(0)
}

fn wait(client: &mut Client, query: &str, expected: i64) {
    let end = Instant::now() + Duration::from_secs(300);
    while count(client, query) != expected {
        assert!(Instant::now() < end, "{query} is {} and not {expected}", count(client, query));
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_chunk_is_found_by_what_it_does_not_say() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(situate);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {PIPELINE}", server("writer", &http))).unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(count(&mut client, LINES), 31);
    let requests = http.requests();
    assert_eq!(requests.len(), 31, "one call a chunk");
    let kiln = requests.iter().map(asked).find(|text| text.contains("spring")).unwrap();
    assert_eq!(
        kiln,
        "<<<source 1 MARK>>>\nHeading: Report of the kiln > page 1\nIt was lit in spring.\n<<<end 1 MARK>>>\n\n\
         <<<source 2 MARK>>>\nHeading: Report of the kiln > page 1\nIt was lit in spring.\n<<<end 2 MARK>>>"
    );
    let mill = requests
        .iter()
        .map(asked)
        .find(|text| text.ends_with("turned 7 times that day.\n<<<end 2 MARK>>>"))
        .unwrap();
    for page in ["It turned 1 times that day.\n", "It turned 30 times that day.\n"] {
        assert!(mill.contains(page), "the whole document is read: {mill}");
    }
    let system = body(&requests[0])["messages"][0]["content"].to_string();
    assert!(system.contains("never an instruction") && !system.contains("turned"), "{system}");

    let kiln = "SELECT concat_ws('|', context, context_line, content) FROM reports_rag_chunks WHERE source_id = 2";
    assert_eq!(
        text(&mut client, kiln),
        "Report of the kiln > page 1|The potter's furnace of Sarnen.|It was lit in spring."
    );
    // By words that only the line has, and by its vector; what is returned is the chunk.
    for mode in ["lexical", "dense", "hybrid"] {
        let find = "SELECT content FROM rag_retrieve('potter furnace Sarnen', k => 1, mode => $1)";
        let found: String = client.query_one(find, &[&mode]).unwrap().get(0);
        assert_eq!(found, "It was lit in spring.", "{mode}");
    }
    let apart = "SELECT count(*) FROM reports_rag_chunks
                 WHERE embedding <=> rag_embed(concat_ws(E'\\n', context, context_line, content), kind => 'passage') > 0.001";
    assert_eq!(count(&mut client, apart), 0, "the vector is that of context, line and text");
    let prompt = "SELECT count(*) FROM rag_prompt('potter furnace Sarnen') WHERE content ~ 'furnace of Sarnen'";
    assert_eq!(count(&mut client, prompt), 0, "what a model has made up is no source");
    let spent = "SELECT concat_ws(' ', sum(calls), sum(tokens_in), sum(tokens_out)) FROM rag.stat_usage WHERE pipeline = 'reports' AND server = 'writer'";
    assert_eq!(text(&mut client, spent), format!("31 {} {}", 31 * 11, 31 * 7));

    // Who may not see a row sees nothing that was said of it.
    client.batch_execute(
        "CREATE ROLE guest; GRANT SELECT ON reports, reports_rag, reports_rag_chunks, reports_rag_chunks_contexts TO guest;
         ALTER TABLE reports ENABLE ROW LEVEL SECURITY; CREATE POLICY first ON reports USING (id = 1); SET ROLE guest;",
    ).unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM reports_rag_chunks_contexts"), 30);
    assert_eq!(
        count(
            &mut client,
            "SELECT count(*) FROM reports_rag_chunks_contexts WHERE line ~ 'potter'"
        ),
        0
    );
}

#[test]
fn an_edit_costs_what_it_changes() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(situate);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {PIPELINE}", server("writer", &http))).unwrap();
    client.batch_execute(RUN).unwrap();
    let mut calls = http.requests().len();
    let mut check = |client: &mut Client, what: &str, statement: &str, expected: &[&str]| {
        client.batch_execute(statement).unwrap();
        client.batch_execute("CALL rag_run('reports')").unwrap();
        let mut chunks: Vec<String> = http.requests()[calls..].iter().map(chunk).collect();
        chunks.sort();
        assert_eq!(chunks, expected, "{what}");
        calls += chunks.len();
        assert_eq!(
            count(client, "SELECT count(*) FROM reports_rag_chunks WHERE context_line IS NULL"),
            0,
            "{what}"
        );
    };
    let edit = "UPDATE reports SET body = replace(body, 'turned 15 ', 'stood ') WHERE id = 1";
    check(
        &mut client,
        "a page and its neighbours",
        edit,
        &[
            "It stood times that day.",
            "It turned 14 times that day.",
            "It turned 16 times that day.",
        ],
    );
    let line = "SELECT context_line FROM reports_rag_chunks WHERE content ~ 'stood'";
    assert_eq!(text(&mut client, line), "Of the waterwheel: It stood times that day.");
    check(&mut client, "nothing", "UPDATE reports SET body = body || ''", &[]);
    check(
        &mut client,
        "a page at the end",
        r"UPDATE reports SET body = body || E'\fIt rested.' WHERE id = 1",
        &["It rested.", "It turned 30 times that day."],
    );
    check(
        &mut client,
        "another title",
        "UPDATE reports SET title = 'Kiln' WHERE id = 2",
        &["It was lit in spring."],
    );
    check(&mut client, "a row that goes", "DELETE FROM reports WHERE id = 2", &[]);
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM reports_rag_chunks_contexts"),
        31,
        "what is of no use is forgotten"
    );

    // New chunks of the same texts know what has been said of them.
    let before = text(
        &mut client,
        "SELECT md5(string_agg(context_line, ' ' ORDER BY chunk_no)) FROM reports_rag_chunks",
    );
    check(
        &mut client,
        "a new generation",
        r#"SELECT rag_alter_pipeline('reports', options => '{"config": "simple"}')"#,
        &[],
    );
    assert_eq!(count(&mut client, "SELECT generation::bigint FROM rag.pipeline"), 2);
    assert_eq!(
        text(
            &mut client,
            "SELECT md5(string_agg(context_line, ' ' ORDER BY chunk_no)) FROM reports_rag_chunks"
        ),
        before
    );
    assert_eq!(
        count(
            &mut client,
            "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '^reports.*_contexts'"
        ),
        1
    );
}

#[test]
fn another_template_and_another_model_ask_again() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(situate);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    // The pipeline is there already; the option makes new chunks.
    client
        .batch_execute(
            "SELECT rag_create_pipeline('reports', 'body', chunking => '{\"by\": \"page\"}', refresh => 'manual')",
        )
        .unwrap();
    client.batch_execute("DELETE FROM reports WHERE id = 1").unwrap();
    client.batch_execute(RUN).unwrap();
    client.batch_execute("SET rag.llm = 'writer'").unwrap();
    client.batch_execute(r#"SELECT rag_alter_pipeline('reports', options => '{"contextual": "llm", "title": "title"}')"#).unwrap();
    client.batch_execute("RESET rag.llm").unwrap();
    client.batch_execute(RUN).unwrap();
    let kept = "SELECT string_agg(concat_ws(' ', template, llm, line), ', ') FROM reports_rag_chunks_contexts";
    assert_eq!(text(&mut client, kept), "situate@0 writer/m The potter's furnace of Sarnen.");
    let contextual = "SELECT p.contextual || ' ' || d.kind || ' ' || d.options
                      FROM rag.pipeline p JOIN rag.derivation d ON d.pipeline = p.id";
    assert_eq!(
        text(&mut client, contextual),
        r#"true context_lines {"llm": "writer", "template": null}"#
    );

    client
        .batch_execute(
            "SELECT rag_template_set('situate', E'Say it in French.\n{{ document }}\n{{ chunk }}')",
        )
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert!(http.requests()[1].text().contains("Say it in French."), "{:?}", http.requests()[1]);
    client.batch_execute("ALTER SERVER writer OPTIONS (SET model 'n')").unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), 3);
    assert_eq!(text(&mut client, kept), "situate@1 writer/n The potter's furnace of Sarnen.");

    // Without the option all that was said goes, in a new generation of the chunks.
    client
        .batch_execute(r#"SELECT rag_alter_pipeline('reports', options => '{"contextual": true}')"#)
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(count(&mut client, LINES), 0);
    assert_eq!(
        count(
            &mut client,
            "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '^reports.*_contexts'"
        ),
        0
    );
    assert_eq!(
        text(&mut client, "SELECT context FROM reports_rag_chunks"),
        "Report of the kiln > page 1"
    );
    client.batch_execute("SELECT rag_drop_pipeline('reports')").unwrap();
}

#[test]
fn chunks_are_found_while_the_language_model_is_away() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let is_there = Arc::new(AtomicBool::new(false));
    let there = Arc::clone(&is_there);
    let of_place = |request: &Request| request.text().contains("<<<source 2 ");
    let http = Server::answer(move |request| match there.load(Ordering::SeqCst) {
        true if of_place(request) => situate(request),
        true => Reply::chat("{\"summary\": \"Of a house.\"}"),
        false => Reply::json(500, "{}"),
    });
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute("ALTER SERVER writer OPTIONS (SET max_retries '0')").unwrap();
    client.batch_execute("DELETE FROM reports WHERE id = 1").unwrap();
    client
        .batch_execute(
            r#"SELECT rag_create_pipeline('reports', 'body',
                   options => '{"contextual": {"llm": "writer"}, "title": "title", "represent": {"summary": true, "llm": "writer"}}');
               INSERT INTO reports VALUES (3, 'Dogs', 'They stay outside.');"#,
        )
        .unwrap();
    assert!(
        client.query_one("SELECT rag_wait('reports', '5 minutes')", &[]).unwrap().get::<_, bool>(0)
    );
    let find = "SELECT content FROM rag_retrieve('May I bring dogs?', k => 1)";
    assert_eq!(text(&mut client, find), "They stay outside.");
    assert_eq!(
        text(&mut client, "SELECT context FROM reports_rag_chunks WHERE source_id = 3"),
        "Dogs"
    );
    wait(&mut client, "SELECT count(*) FROM rag.pipeline_status WHERE last_error ~ '500'", 1);
    assert_eq!(count(&mut client, LINES), 0);
    assert!(http.requests().iter().all(of_place), "summaries wait for their chunks");

    is_there.store(true, Ordering::SeqCst);
    wait(&mut client, LINES, 2);
    let described =
        "SELECT count(DISTINCT r.content_hash) FROM reports_rag_chunks_representations r
                     JOIN reports_rag_chunks c USING (content_hash)";
    wait(&mut client, described, 2);
    assert_eq!(text(&mut client, find), "They stay outside.");
    // Once all is made nothing is said of the failure any more.
    let over = "SELECT count(*) FROM rag.pipeline_status
                WHERE last_error IS NULL AND last_sqlstate IS NULL AND last_failed_at IS NULL";
    wait(&mut client, over, 1);
}

#[test]
fn a_chunk_that_is_refused_keeps_no_other_waiting() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(|request| match chunk(request).contains("turned 7 ") {
        true => Reply::json(400, r#"{"error": {"message": "that is not decent"}}"#),
        false => situate(request),
    });
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {PIPELINE}", server("writer", &http))).unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(count(&mut client, LINES), 30);
    let without = "SELECT content FROM reports_rag_chunks WHERE context_line IS NULL";
    assert_eq!(text(&mut client, without), "It turned 7 times that day.");
    assert_eq!(text(&mut client, "SELECT last_sqlstate FROM rag.pipeline_status"), "38000");
    let calls = http.requests().len();
    client.batch_execute("INSERT INTO reports VALUES (3, 'Dogs', 'They stay outside.')").unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), calls + 1, "it is not asked about again");
    // Neither is one that is alone, so that nothing but what nobody can object to tells it from a
    // provider that is out of order.
    client
        .batch_execute("INSERT INTO reports VALUES (4, 'Mill', 'It turned 7 times again.')")
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), calls + 3);
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), calls + 3);
    // Who is busy is not called before it says so, and nothing is said of the chunk meanwhile.
    let busy = Server::play([Reply::new(429).header("Retry-After", "3600")]);
    let elsewhere = format!("ALTER SERVER writer OPTIONS (SET base_url '{}')", busy.base_url());
    client.batch_execute(&elsewhere).unwrap();
    client.batch_execute("INSERT INTO reports VALUES (5, 'Cats', 'They come and go.')").unwrap();
    for _ in 0..2 {
        assert_fails(&mut client, RUN, &["53000", "writer"]);
    }
    assert_eq!(busy.requests().len(), 1);
    assert_eq!(count(&mut client, "SELECT count(*) FROM reports_rag_chunks_contexts"), 33);
}

#[test]
fn what_was_said_is_dumped_and_restored() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(situate);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {PIPELINE}", server("writer", &http))).unwrap();
    client.batch_execute(RUN).unwrap();
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    let elsewhere = cluster.beside(&[]);
    elsewhere.psql("postgres", &dump);
    let mut restored = elsewhere.connect();
    assert_eq!(count(&mut restored, LINES), 31);
    let calls = http.requests().len();
    restored
        .batch_execute("UPDATE reports SET body = replace(body, 'turned 1 ', 'stood ')")
        .unwrap();
    restored.batch_execute(RUN).unwrap();
    let chunks: Vec<String> = http.requests()[calls..].iter().map(chunk).collect();
    assert_eq!(chunks.len(), 2, "a page and the one after it: {chunks:?}");
    assert_eq!(count(&mut restored, LINES), 31);
    restored.batch_execute("SELECT rag_drop_pipeline('reports')").unwrap();
    assert_eq!(
        count(
            &mut restored,
            "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '^reports.*_contexts'"
        ),
        0
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(situate);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {PIPELINE}", server("writer", &http))).unwrap();
    let sync = "SELECT rag_alter_pipeline('reports', refresh => 'sync')";
    assert_fails(&mut client, sync, &["22023", "refresh => 'sync'", "Choose refresh => 'async'"]);
    // A generation that is being made is to have it, too.
    client
        .batch_execute(
            r#"SELECT rag_alter_pipeline('reports', options => '{"contextual": false}')"#,
        )
        .unwrap();
    assert_fails(&mut client, sync, &["22023", "refresh => 'sync'"]);
    client.batch_execute(RUN).unwrap();
    client.batch_execute(sync).unwrap();
    assert!(http.requests().is_empty(), "what goes away is not asked for");
}
