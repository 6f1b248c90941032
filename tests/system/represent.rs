//! Summaries and questions of chunks, made by a language model: an HTTP server on loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{assert_fails, count};
use super::embedder::embeddings;
use super::http_server::{Reply, Request, Server};
use super::provider::server;

const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE rules (id integer PRIMARY KEY, body text);
    INSERT INTO rules VALUES
        (1, 'Section 7 b. Employees of grade 3 take the lift on the left.'),
        (2, 'Section 9. The canteen serves soup from noon.');";

/// Describes the passage that a request holds.
fn describe(request: &Request) -> Reply {
    let text = request.text();
    assert!(text.contains("<<<source 1 "), "{text}");
    Reply::chat(if text.contains("lift on the left") {
        "{\"summary\": \"Who may use which elevator.\", \"questions\": [\"Where do interns park their bicycles?\", \"Which elevator?\"]}"
    } else if text.contains("soup") {
        "I would rather not."
    } else {
        "{\"questions\": [\"What is new?\"]}"
    })
}

fn wait(client: &mut Client, query: &str, expected: i64) {
    let end = Instant::now() + Duration::from_secs(300);
    while count(client, query) != expected {
        assert!(Instant::now() < end, "{query} is {} and not {expected}", count(client, query));
        thread::sleep(Duration::from_millis(50));
    }
}

const DESCRIBED: &str = "SELECT count(DISTINCT content_hash) FROM rules_rag_chunks_representations";

fn best(client: &mut Client, question: &str) -> String {
    let query = "SELECT source_key FROM rag_retrieve($1, k => 1, mode => 'dense')";
    client.query_one(query, &[&question]).unwrap().get(0)
}

#[test]
fn a_chunk_is_found_by_the_questions_that_it_answers() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(describe);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute(
        "SELECT rag_create_pipeline('rules', 'body', options => '{\"represent\": {\"summary\": true, \"questions\": 1, \"llm\": \"writer\"}}')",
    ).unwrap();
    wait(&mut client, DESCRIBED, 2);
    let texts = "SELECT string_agg(concat_ws(' ', kind, no, content), '; ' ORDER BY kind, no) FROM rules_rag_chunks_representations";
    let found: String = client.query_one(texts, &[]).unwrap().get(0);
    assert_eq!(
        found,
        "none 1; question 1 Where do interns park their bicycles?; summary 1 Who may use which elevator."
    );
    let row = client.query_one("SELECT source_key, content FROM rag_retrieve('Where do interns park their bicycles?', k => 1, mode => 'dense')", &[]).unwrap();
    assert_eq!(row.get::<_, &str>(0), "1");
    assert!(row.get::<_, &str>(1).starts_with("Section 7 b."), "the chunk itself is returned");
    assert_eq!(http.requests().len(), 2);

    // A text that comes back costs nothing, a new one a call.
    client.batch_execute("DELETE FROM rules WHERE id = 2; INSERT INTO rules VALUES (3, 'Section 9. The canteen serves soup from noon.'), (4, 'A new rule.')").unwrap();
    wait(&mut client, DESCRIBED, 3);
    assert_eq!(http.requests().len(), 3);
    assert_eq!(best(&mut client, "What is new?"), "4");

    // Who may not see a row does not find it by what was made of it.
    client.batch_execute(
        "CREATE ROLE guest; GRANT SELECT ON rules, rules_rag, rules_rag_chunks, rules_rag_chunks_representations TO guest;
         ALTER TABLE rules ENABLE ROW LEVEL SECURITY; CREATE POLICY later_ones ON rules USING (id > 1); SET ROLE guest;",
    ).unwrap();
    assert_ne!(best(&mut client, "Where do interns park their bicycles?"), "1");
    assert_eq!(count(&mut client, DESCRIBED), 2);
    client.batch_execute("RESET ROLE").unwrap();

    // Another template describes anew; without the option the table goes.
    client
        .batch_execute("SELECT rag_template_set('represent', '{{ frame }} {{ chunk }}')")
        .unwrap();
    client.batch_execute("INSERT INTO rules VALUES (5, 'A newer rule.')").unwrap();
    wait(
        &mut client,
        "SELECT count(DISTINCT content_hash) FROM rules_rag_chunks_representations WHERE template = 'represent@1'",
        4,
    );
    client
        .batch_execute("SELECT rag_alter_pipeline('rules', options => '{\"represent\": false}')")
        .unwrap();
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM pg_class WHERE relname LIKE '%representations'"),
        0
    );
    assert_eq!(best(&mut client, "canteen soup"), "3");
}

/// What was made of a text is seen by whoever sees a row that has it. So it tells of no heading that another row has.
#[test]
fn headings_are_told_where_nobody_sees_the_same_text_under_others() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(|_| Reply::chat("{\"summary\": \"When to pay.\"}"));
    let mut client = cluster.connect();
    let setup = format!("CREATE EXTENSION pg_rag CASCADE; {}", server("writer", &http));
    client.batch_execute(&setup).unwrap();
    let mut check = |table: &str, security: &str, contextual: bool, expected: bool| {
        let statement = format!(
            "CREATE TABLE {table} (id integer PRIMARY KEY, body text);
             {security};
             INSERT INTO {table} VALUES
                 (1, E'# Merger with Acme\\n\\nSigned in May.\\n\\n## Terms\\n\\nThe sum of {table} is due in June.\\n'),
                 (2, E'# Rent of the house\\n\\nFor a year.\\n\\n## Terms\\n\\nThe sum of {table} is due in June.\\n');
             SELECT rag_create_pipeline('{table}', 'body', refresh => 'manual', chunking => '{{\"by\": \"markdown\"}}',
                 options => '{{\"contextual\": {contextual}, \"represent\": {{\"summary\": true, \"llm\": \"writer\"}}}}')"
        );
        client.batch_execute(&statement).unwrap();
        client.batch_execute(&format!("CALL rag_run('{table}')")).unwrap();
        let asked = http.requests();
        let texts = asked.iter().map(Request::text);
        let of_terms: Vec<_> =
            texts.filter(|text| text.contains(&format!("The sum of {table} "))).collect();
        assert_eq!(of_terms.len(), if contextual { 2 } else { 1 }, "{table}: one text, one call");
        let heads = ["Merger with Acme", "Rent of the house"];
        let tells = |text: &&str| heads.iter().any(|head| text.contains(head));
        assert_eq!(of_terms.iter().any(tells), expected, "{table}");
    };
    let hides = |table: &str| format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY");
    check("open_terms", "", false, true);
    check("hidden_terms", &hides("hidden_terms"), false, false);
    check("placed_terms", &hides("placed_terms"), true, true);
}

/// Says what is indecent, describes the rest.
fn decent(request: &Request) -> Reply {
    match request.text().contains("unspeakable") {
        true => Reply::json(400, r#"{"error": {"message": "that is not decent"}}"#),
        false => describe(request),
    }
}

const MANUAL: &str = r#"SELECT rag_create_pipeline('rules', 'body', refresh => 'manual',
    options => '{"represent": {"summary": true, "questions": 2, "llm": "writer"}}')"#;

const RUN: &str = "CALL rag_run('rules')";

const NONE: &str = "SELECT count(*) FROM rules_rag_chunks_representations WHERE kind = 'none'";

#[test]
fn a_chunk_that_is_refused_keeps_no_other_waiting() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(decent);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client
        .batch_execute(
            "INSERT INTO rules SELECT n, 'It is unspeakable, rule ' || n FROM generate_series(3, 9) AS n",
        )
        .unwrap();
    client.batch_execute(&format!("{MANUAL}; DELETE FROM rules WHERE id < 3")).unwrap();
    // All of them are refused, and yet there is nothing wrong with the provider.
    client.batch_execute(RUN).unwrap();
    assert_eq!(count(&mut client, DESCRIBED), 7);
    assert_eq!(count(&mut client, NONE), 7);
    let status = "SELECT last_sqlstate FROM rag.pipeline_status";
    let last: String = client.query_one(status, &[]).unwrap().get(0);
    assert_eq!(last, "38000");
    let calls = http.requests().len();
    client
        .batch_execute(
            "INSERT INTO rules VALUES (1, 'Employees of grade 3 take the lift on the left.'),
                 (2, 'The canteen serves soup from noon.'), (10, 'It is unspeakable as well.')",
        )
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(count(&mut client, DESCRIBED), 10);
    assert_eq!(best(&mut client, "Where do interns park their bicycles?"), "1");
    let asked: Vec<bool> =
        http.requests()[calls..].iter().map(|it| it.text().contains("unspeakable")).collect();
    assert_eq!(asked.iter().filter(|is| **is).count(), 1, "none is asked about again: {asked:?}");

    // A provider that refuses everything is out of order: nothing is said of the chunks.
    let broken = Server::play([Reply::json(400, "{}")]);
    let elsewhere = format!("ALTER SERVER writer OPTIONS (SET base_url '{}')", broken.base_url());
    client.batch_execute(&elsewhere).unwrap();
    client.batch_execute("INSERT INTO rules VALUES (11, 'A new rule.')").unwrap();
    for _ in 0..2 {
        assert_fails(&mut client, RUN, &["38000", "writer", "400"]);
    }
    assert_eq!(count(&mut client, DESCRIBED), 10);
    // Who is busy is not called before it says so.
    let busy = Server::play([Reply::new(429).header("Retry-After", "3600")]);
    let elsewhere = format!("ALTER SERVER writer OPTIONS (SET base_url '{}')", busy.base_url());
    client.batch_execute(&elsewhere).unwrap();
    for _ in 0..2 {
        assert_fails(&mut client, RUN, &["53000", "writer"]);
    }
    assert_eq!(busy.requests().len(), 1);
    assert_eq!(count(&mut client, DESCRIBED), 10);
}

/// Is too late where something takes ages, describes the rest.
fn slow(request: &Request) -> Reply {
    match request.text().contains("takes ages") {
        true => Reply::json(200, "{}").delay(Duration::from_secs(600)),
        false => describe(request),
    }
}

#[test]
fn a_chunk_that_always_times_out_keeps_no_other_waiting_for_good() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(slow);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client
        .batch_execute(
            "ALTER SERVER writer OPTIONS (SET timeout '5', SET max_retries '0');
             INSERT INTO rules VALUES (0, 'To read this takes ages.')",
        )
        .unwrap();
    client.batch_execute(&format!("{MANUAL}; DELETE FROM rules WHERE id = 2")).unwrap();
    for _ in 0..2 {
        assert_fails(&mut client, RUN, &["39000", "writer"]);
        assert_eq!(count(&mut client, NONE), 0, "it may have been the provider");
    }
    client.batch_execute(RUN).unwrap();
    assert_eq!((count(&mut client, DESCRIBED), count(&mut client, NONE)), (2, 1));
}

#[test]
fn what_was_paid_for_is_kept_while_nobody_embeds_it() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let is_down = Arc::new(AtomicBool::new(false));
    let (goes_down, down) = (Arc::clone(&is_down), Arc::clone(&is_down));
    let writer = Server::answer(move |request| {
        goes_down.store(true, Ordering::SeqCst);
        describe(request)
    });
    let embedder = Server::answer(move |request| {
        let is_refused = request.text().contains("bicycles");
        match down.load(Ordering::SeqCst) {
            true => Reply::json(500, "{}"),
            false if is_refused => Reply::json(400, r#"{"error": {"message": "no bicycles"}}"#),
            false => embeddings(request),
        }
    });
    let mut client = cluster.connect();
    client
        .batch_execute(&format!(
            "{SETUP} {} {} ALTER SERVER embedder OPTIONS (SET max_retries '0');
             SELECT rag_add_model('far', server => 'embedder');",
            server("writer", &writer),
            server("embedder", &embedder)
        ))
        .unwrap();
    client.batch_execute(&MANUAL.replace("refresh =>", "model => 'far', refresh =>")).unwrap();
    assert_fails(&mut client, RUN, &["38000", "embedder", "500"]);
    let texts = "SELECT count(*) FROM rules_rag_chunks_representations WHERE content IS NOT NULL";
    assert_eq!(count(&mut client, texts), 3, "they have been paid for");
    assert_eq!(count(&mut client, &format!("{texts} AND embedding IS NOT NULL")), 0);
    let calls = writer.requests().len();
    is_down.store(false, Ordering::SeqCst);
    client.batch_execute(RUN).unwrap();
    assert_eq!(writer.requests().len(), calls, "nothing is written twice");
    // One of the texts is refused. The others have their vectors, and the chunk is described.
    assert_eq!(count(&mut client, texts), 2);
    assert_eq!(count(&mut client, &format!("{texts} AND embedding IS NOT NULL")), 2);
    assert_eq!(count(&mut client, DESCRIBED), 2);
    client.batch_execute(RUN).unwrap();
    assert_eq!(writer.requests().len(), calls);
}

#[test]
fn descriptions_follow_their_pipeline() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(describe);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute("SELECT rag_create_pipeline('rules', 'body', refresh => 'manual', options => '{\"backfill\": \"now\"}')").unwrap();
    client.batch_execute("SELECT rag_alter_pipeline('rules', options => '{\"represent\": {\"questions\": 2, \"llm\": \"writer\"}}')").unwrap();
    client.batch_execute("CALL rag_run('rules')").unwrap();
    assert_eq!(count(&mut client, DESCRIBED), 2);
    // A new generation has a table of its own, and the old one goes with its chunks.
    client
        .batch_execute("SELECT rag_alter_pipeline('rules', chunking => '{\"max_tokens\": 64}')")
        .unwrap();
    client.batch_execute("CALL rag_run('rules')").unwrap();
    let tables =
        "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE '%representations'";
    assert_eq!(count(&mut client, tables), 1);
    assert_eq!(count(&mut client, DESCRIBED), 2, "it has the name of the old one");
    assert_eq!(best(&mut client, "Where do interns park their bicycles?"), "1");
    // What is taken away while a new generation is made is not there with it.
    for statement in [
        "SELECT rag_alter_pipeline('rules', chunking => '{\"max_tokens\": 100}')",
        "SELECT rag_alter_pipeline('rules', options => '{\"represent\": false}')",
        "CALL rag_run('rules')",
    ] {
        client.batch_execute(statement).unwrap();
    }
    assert_eq!(count(&mut client, tables), 0);
    client.batch_execute("SELECT rag_drop_pipeline('rules')").unwrap();
    assert_eq!(count(&mut client, tables), 0);
}

#[test]
fn a_language_model_that_is_away_keeps_nobody_waiting() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::json(500, "{}")]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute("ALTER SERVER writer OPTIONS (SET max_retries '0')").unwrap();
    client.batch_execute(
        "SELECT rag_create_pipeline('rules', 'body', options => '{\"represent\": {\"summary\": true, \"llm\": \"writer\"}}');
         INSERT INTO rules VALUES (3, 'Dogs stay outside.');",
    ).unwrap();
    assert!(
        client.query_one("SELECT rag_wait('rules', '5 minutes')", &[]).unwrap().get::<_, bool>(0)
    );
    assert_eq!(best(&mut client, "May I bring my dog?"), "3");
    wait(&mut client, "SELECT count(*) FROM rag.activity WHERE last_error ~ '500'", 1);
    assert_eq!(count(&mut client, DESCRIBED), 0);

    for (statement, parts) in [
        (
            "SELECT rag_alter_pipeline('rules', options => '{\"represent\": {}}')",
            ["22023", "neither a summary nor questions"],
        ),
        (
            "SELECT rag_alter_pipeline('rules', options => '{\"represent\": {\"summary\": true}}')",
            ["0A000", "needs a language model"],
        ),
        (
            "SELECT rag_alter_pipeline('rules', options => '{\"represent\": {\"summary\": true, \"llm\": \"nowhere\"}}')",
            ["42704", "nowhere"],
        ),
        ("SELECT rag_alter_pipeline('rules', refresh => 'sync')", ["22023", "refresh => 'sync'"]),
    ] {
        assert_fails(&mut client, statement, &parts);
    }
}
