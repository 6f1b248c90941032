//! A provider that embeds, on its bad days: work waits for it, transactions and rows do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::super::embedder::{embeddings, texts};
use super::super::http_server::{Reply, Request, Server};
use super::*;

/// A pipeline whose model is behind `http`.
fn pipeline(http: &Server, timeout: u32) -> String {
    format!(
        "{TABLE}
         CREATE SERVER far FOREIGN DATA WRAPPER rag_llm
             OPTIONS (base_url '{}', model 'm', timeout '{timeout}', max_retries '0');
         CREATE USER MAPPING FOR PUBLIC SERVER far OPTIONS (api_key 'sk-0123456789abcdef');
         SELECT rag_add_model('far', server => 'far', dimension => 64);
         {}",
        http.base_url(),
        PIPELINE.replace("chunking =>", "model => 'far', chunking =>")
    )
}

/// All that goes wrong, each time followed by an answer.
fn moody(turn: usize, request: &Request) -> Reply {
    match turn {
        0 => Reply::new(429).header("Retry-After", "1"),
        2 => Reply::json(500, "{\"error\": {\"message\": \"out of order\"}}"),
        4 => Reply::raw("I am no web server."),
        6 => embeddings(request).close_after(100),
        8 => Reply::json(200, "{\"data\": \"what data?\"}"),
        // Longer than is waited for, and nearly as long.
        10 => embeddings(request).delay(Duration::from_secs(10)),
        11 => embeddings(request).delay(Duration::from_millis(5500)),
        12 => Reply::json(503, "").header("Retry-After", "2"),
        _ => embeddings(request),
    }
}

#[test]
fn no_transaction_waits_for_a_provider() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let turn = Arc::new(AtomicUsize::new(0));
    let turns = Arc::clone(&turn);
    let http = Server::answer(move |request| moody(turns.fetch_add(1, Ordering::SeqCst), request));
    let mut client = cluster.connect();
    run(&mut client, &pipeline(&http, 6));
    let stop = Arc::new(AtomicBool::new(false));
    let (watching, mut watcher) = (Arc::clone(&stop), cluster.connect());
    let longest = thread::spawn(move || longest_transaction(&mut watcher, &watching));
    let begun = Instant::now();
    // So many that there are as many calls as there are moods.
    let mut rows = 0;
    while turn.load(Ordering::SeqCst) < 15 && begun.elapsed() < Duration::from_secs(300) {
        run(&mut client, &format!("INSERT INTO docs VALUES ({rows}, 't', 'Row {rows}.', 'en')"));
        rows += 1;
        thread::sleep(Duration::from_millis(50));
    }
    wait(&mut client, "docs");
    stop.store(true, Ordering::SeqCst);
    let (longest, samples) = longest.join().unwrap();
    println!(
        "{rows} rows by a moody provider in {} ms and {} calls; a worker's longest transaction of \
         {samples} samples: {} ms",
        begun.elapsed().as_millis(),
        http.requests().len(),
        longest.as_millis()
    );
    assert!(turn.load(Ordering::SeqCst) >= 15, "not all moods were met");
    assert!(longest < Duration::from_secs(5), "a transaction was open for {longest:?}");
    assert_none(&mut client, "SELECT l::text FROM rag.dead_letter AS l");
    assert_agree(&mut client, 64);
}

/// Looks every 100 ms for how long a worker's transaction, or its snapshot, is open.
fn longest_transaction(client: &mut Client, stop: &AtomicBool) -> (Duration, usize) {
    let query =
        "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8,
                        count(*) FILTER (WHERE backend_xmin IS NOT NULL AND xact_start IS NULL)
                 FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'";
    let (mut longest, mut samples, mut in_a_row) = (0.0_f64, 0, 0);
    while !stop.load(Ordering::SeqCst) {
        let row = client.query_one(query, &[]).unwrap();
        // The server reads the two one after the other, between which a transaction may end.
        in_a_row = if row.get::<_, i64>(1) == 0 { 0 } else { in_a_row + 1 };
        assert!(in_a_row < 5, "a snapshot without a transaction");
        longest = longest.max(row.get(0));
        samples += 1;
        thread::sleep(Duration::from_millis(100));
    }
    (Duration::from_secs_f64(longest.max(0.0)), samples)
}

/// A provider that refuses some texts, until it is told not to, and embeds the others.
fn choosy(accepts_all: &Arc<AtomicBool>) -> Server {
    let accepts_all = Arc::clone(accepts_all);
    Server::answer(move |request| {
        let refused = texts(request).iter().any(|text| text.contains("POISON"));
        match refused && !accepts_all.load(Ordering::SeqCst) {
            true => Reply::json(400, "{\"error\": {\"message\": \"not that text\"}}"),
            false => embeddings(request),
        }
    })
}

#[test]
fn a_refused_row_is_set_aside_and_delays_nobody() {
    let Some(cluster) = Cluster::start(&["rag.max_attempts = 2"]) else { return };
    let accepts_all = Arc::new(AtomicBool::new(false));
    let http = choosy(&accepts_all);
    let mut client = cluster.connect();
    run(&mut client, &pipeline(&http, 5));
    run(
        &mut client,
        "INSERT INTO docs VALUES (1, 't', 'POISON', 'en'), (2, 't', 'Fine.', 'en'), (3, 't', 'Fine too.', 'en');
         INSERT INTO docs VALUES (4, 't', 'Fine as well.', 'en')",
    );
    let neighbours = time_until(&mut client, "SELECT count(*) FROM docs_rag_chunks", 3);
    // While the row is tried again and again, new rows come.
    run(&mut client, "INSERT INTO docs VALUES (5, 't', 'A later row.', 'en')");
    let newcomer = time_until(&mut client, "SELECT count(*) FROM docs_rag_chunks", 4);
    let buried = time_until(&mut client, "SELECT count(*) FROM rag.dead_letter", 1);
    println!(
        "beside a refused row: its neighbours are done after {} ms, a newcomer after {} ms; it is \
         set aside after {} ms more, {} calls",
        neighbours.as_millis(),
        newcomer.as_millis(),
        buried.as_millis(),
        http.requests().len()
    );
    let row = client
        .query_one("SELECT key, attempts, sqlstate, message FROM rag.dead_letter", &[])
        .unwrap();
    assert_eq!(row.get::<_, Vec<String>>(0), ["1"]);
    assert_eq!((row.get::<_, i32>(1), row.get::<_, &str>(2)), (2, "38000"));
    assert!(row.get::<_, &str>(3).contains("not that text"), "{}", row.get::<_, &str>(3));
    assert_eq!(count(&mut client, "SELECT failed_rows FROM rag.pipeline_status"), 1);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.queue"), 0);
    assert_eq!(count(&mut client, "SELECT rag_retry('docs', '2')"), 0, "no such row");

    accepts_all.store(true, Ordering::SeqCst);
    assert_eq!(count(&mut client, "SELECT rag_retry('docs', '1')"), 1);
    wait(&mut client, "docs");
    assert_none(&mut client, "SELECT l::text FROM rag.dead_letter AS l");
    assert_agree(&mut client, 64);
    let limit = Duration::from_secs(20);
    assert!(neighbours < limit && newcomer < limit, "{neighbours:?}, {newcomer:?}");
}

#[test]
fn a_change_lets_a_row_be_tried_again() {
    let Some(cluster) = Cluster::start(&["rag.max_attempts = 1"]) else { return };
    let http = choosy(&Arc::default());
    let mut client = cluster.connect();
    run(&mut client, &pipeline(&http, 5));
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'Fine.', 'en'), (2, 't', 'POISON', 'en')");
    time_until(&mut client, "SELECT count(*) FROM rag.dead_letter", 1);
    run(&mut client, "UPDATE docs SET body = 'Fine now.' WHERE id = 2");
    wait(&mut client, "docs");
    assert_none(&mut client, "SELECT l::text FROM rag.dead_letter AS l");
    assert_agree(&mut client, 64);
}

#[test]
fn rag_wait_waits_for_a_change_that_came_during_the_call() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http =
        Server::answer(|request| match texts(request).iter().any(|text| text.contains("slow")) {
            true => embeddings(request).delay(Duration::from_secs(2)),
            false => embeddings(request),
        });
    let mut client = cluster.connect();
    run(&mut client, &pipeline(&http, 10));
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'The slow first text.', 'en')");
    time_until(&mut client, "SELECT count(*) FROM rag.queue WHERE lease IS NOT NULL", 1);
    run(&mut client, "UPDATE docs SET body = 'The second text.' WHERE id = 1");
    let mut other = cluster.connect();
    let helper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        // Somebody else than the worker that has the row in hand queues the change.
        run(&mut other, "CALL rag_run('docs')");
    });
    wait(&mut client, "docs");
    let content: String =
        client.query_one("SELECT min(content) FROM docs_rag_chunks", &[]).unwrap().get(0);
    helper.join().unwrap();
    assert_eq!(content, "The second text.", "what is found when rag_wait has returned");
}

#[test]
fn a_model_of_another_length_takes_over_when_its_provider_can() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    let is_well = Arc::new(AtomicBool::new(false));
    let well = Arc::clone(&is_well);
    let http = Server::answer(move |request| match well.load(Ordering::SeqCst) {
        true => embeddings(request),
        false => Reply::new(503),
    });
    let far = pipeline(&http, 5).replace(TABLE, "").replace(PIPELINE, "");
    let far = far.split("SELECT rag_create_pipeline").next().unwrap();
    run(&mut client, far);
    run(
        &mut client,
        "INSERT INTO docs SELECT i, 't', 'Row ' || i, 'en' FROM generate_series(1, 30) AS i",
    );
    wait(&mut client, "docs");
    run(&mut client, "SELECT rag_alter_pipeline('docs', model => 'far')");
    let waiting =
        "SELECT count(*) FROM rag.pipeline_status WHERE model = 'far' AND last_error LIKE '%503%'";
    time_until(&mut client, waiting, 1);
    // The old generation goes on as if there were no other.
    run(&mut client, "INSERT INTO docs VALUES (31, 't', 'Parking is behind the mill.', 'en')");
    time_until(
        &mut client,
        "SELECT count(*) FROM docs_rag_chunks WHERE source_id = 31 AND vector_dims(embedding) = 384",
        1,
    );
    let parking =
        "SELECT count(*) FROM rag_retrieve('Where is parking?', 'docs', 1) WHERE source_key = '31'";
    assert_eq!(count(&mut client, parking), 1);
    is_well.store(true, Ordering::SeqCst);
    time_until(
        &mut client,
        "SELECT count(*) FROM rag.pipeline WHERE model = 'far' AND name = 'docs'",
        1,
    );
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    assert_eq!(
        count(
            &mut client,
            "SELECT count(*) FROM docs_rag_chunks WHERE vector_dims(embedding) = 64"
        ),
        31
    );
    assert_eq!(count(&mut client, parking), 1);
}
