//! Workers: idle they cost nothing, a commit wakes them, and they leave when they are asked to.

use super::super::cluster::wait_for;
use super::super::process;
use super::removal::without_workers;
use super::*;

#[test]
fn an_idle_worker_uses_no_processor_time() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'One.', 'en')");
    wait(&mut client, "docs");
    let [worker] = workers(&mut client)[..] else { panic!("no worker, or several") };
    process::until_quiet(&[worker]);
    let before = process::ticks(worker);
    std::thread::sleep(Duration::from_secs(3));
    let ticks = process::ticks(worker) - before;
    println!("idle for 3 s: a worker uses {} ms of processor time", ticks * 10);
    assert!(ticks <= 3, "{ticks} ticks");
}

#[test]
fn a_commit_is_found_soon() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    let mut watcher = cluster.connect();
    let found =
        watcher.prepare("SELECT count(*) FROM docs_rag_chunks WHERE source_id = $1").unwrap();
    let mut times: Vec<Duration> = (0..30)
        .map(|id| {
            run(
                &mut client,
                &format!(
                    "INSERT INTO docs VALUES ({id}, 't', 'A row of few words, number {id}.', 'en')"
                ),
            );
            let begun = Instant::now();
            while watcher.query_one(&found, &[&id]).unwrap().get::<_, i64>(0) == 0 {
                assert!(
                    begun.elapsed() < Duration::from_secs(300),
                    "row {id}: {:?}",
                    status(&mut client)
                );
                std::thread::sleep(Duration::from_millis(1));
            }
            let time = begun.elapsed();
            // The worker sleeps again.
            std::thread::sleep(Duration::from_millis(50));
            time
        })
        .collect();
    let first = times[0];
    times.sort();
    println!(
        "commit to searchable: the first {} ms, p50 {} ms, longest {} ms",
        first.as_millis(),
        times[15].as_millis(),
        times[29].as_millis()
    );
}

#[test]
fn one_worker_serves_all_databases() {
    let Some((cluster, mut client)) = start(&["rag.max_workers = 1"]) else { return };
    without_sessions(&mut client);
    drop(client);
    let databases = ["one", "two", "three", "four"];
    let mut maintenance = cluster.connect_to("template1");
    databases.iter().for_each(|name| {
        run(&mut maintenance, &format!("CREATE DATABASE {name} TEMPLATE postgres"))
    });
    let mut clients: Vec<Client> = databases.iter().map(|name| cluster.connect_to(name)).collect();
    let rows =
        "INSERT INTO docs SELECT i, 't', 'Row ' || i, 'en' FROM generate_series(1, 100) AS i";
    let begun = Instant::now();
    clients.iter_mut().for_each(|client| run(client, rows));
    for (client, name) in clients.iter_mut().zip(databases) {
        time_until(client, "SELECT count(*) FROM docs_rag_chunks", 100);
        println!("database {name} is served after {} ms", begun.elapsed().as_millis());
        let most = count(
            &mut maintenance,
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'",
        );
        assert!(most <= 1, "{most} workers");
    }
    clients.iter_mut().for_each(|client| assert_agree(client, 64));
}

/// A worker that others wait for comes back for what can be tried again later.
#[test]
fn nothing_postponed_is_forgotten() {
    let Some((cluster, mut client)) = start(&["rag.max_workers = 1"]) else { return };
    without_sessions(&mut client);
    drop(client);
    let mut maintenance = cluster.connect_to("template1");
    run(&mut maintenance, "CREATE DATABASE other TEMPLATE postgres");
    let mut client = cluster.connect();
    run(
        &mut client,
        "UPDATE rag.pipeline SET not_before = clock_timestamp() + interval '5 s';
         INSERT INTO docs VALUES (1, 't', 'Later.', 'en')",
    );
    let begun = Instant::now();
    let mut other = cluster.connect_to("other");
    std::thread::sleep(Duration::from_secs(1));
    for id in 1..=4 {
        run(&mut other, &format!("INSERT INTO docs VALUES ({id}, 't', 'Now.', 'en')"));
        std::thread::sleep(Duration::from_millis(500));
    }
    time_until(&mut other, "SELECT count(*) FROM docs_rag_chunks", 4);
    let here = begun.elapsed();
    time_until(&mut client, "SELECT count(*) FROM docs_rag_chunks", 1);
    println!(
        "beside a row that is postponed for 5 s, those of another database are done after {} ms; it after {} ms",
        here.as_millis(),
        begun.elapsed().as_millis()
    );
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}

/// A worker reads contents through views, which a database may keep its sessions from.
#[test]
fn a_database_that_restricts_views_has_workers_all_the_same() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    let known = "SELECT count(*) FROM pg_settings WHERE name = 'restrict_nonsystem_relation_kind'";
    if count(&mut client, known) == 0 {
        println!("skipped: this version of PostgreSQL restricts no views");
        return;
    }
    run(&mut client, "ALTER DATABASE postgres SET restrict_nonsystem_relation_kind = 'view'");
    without_sessions(&mut client);
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'A row.', 'en')");
    wait(&mut client, "docs");
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 1);
    assert_none(&mut client, "SELECT message FROM rag.dead_letter");
}

/// Makes the database one that can be copied.
fn without_sessions(client: &mut Client) {
    run(
        client,
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'",
    );
}

#[test]
fn a_database_can_be_dropped() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut maintenance = cluster.connect();
    for (state, paragraph_count) in [("idle", 1), ("at work", 400)] {
        run(&mut maintenance, "CREATE DATABASE doomed");
        let mut client = cluster.connect_to("doomed");
        run(&mut client, &format!("{TABLE} {PIPELINE}"));
        let text = paragraphs(paragraph_count);
        client.execute("INSERT INTO docs VALUES (1, 't', $1, 'en')", &[&text]).unwrap();
        match state {
            "idle" => wait(&mut client, "docs"),
            _ => drop(time_until(
                &mut client,
                "SELECT count(*) FROM rag.queue WHERE lease IS NOT NULL",
                1,
            )),
        }
        assert_eq!(workers(&mut client).len(), 1, "a worker");
        drop(client);
        let begun = Instant::now();
        run(&mut maintenance, "DROP DATABASE doomed");
        println!("DROP DATABASE with a worker {state}: {} ms", begun.elapsed().as_millis());
        assert!(begun.elapsed() < Duration::from_secs(10), "{state}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_worker_ends_when_it_is_told_to() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'One.', 'en')");
    wait(&mut client, "docs");
    let idle = terminate(&mut client);
    // In the middle of a document of several seconds.
    client.execute("INSERT INTO docs VALUES (2, 't', $1, 'en')", &[&paragraphs(600)]).unwrap();
    time_until(&mut client, "SELECT count(*) FROM rag.queue WHERE lease IS NOT NULL", 1);
    std::thread::sleep(Duration::from_millis(300));
    let busy = terminate(&mut client);
    println!("pg_terminate_backend: idle {} ms, at work {} ms", idle.as_millis(), busy.as_millis());
    assert!(idle.max(busy) < Duration::from_secs(5), "{idle:?}, {busy:?}");
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.queue"), 1, "the row is still queued");
    // Nobody is refused meanwhile.
    run(&mut client, "INSERT INTO docs VALUES (3, 't', 'Three.', 'en')");
    time_until(&mut client, "SELECT count(*) FROM docs_rag_chunks WHERE source_id = 3", 1);
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
}

/// Ends the worker; how long it takes.
fn terminate(client: &mut Client) -> Duration {
    let [worker] = workers(client)[..] else { panic!("no worker, or several") };
    let begun = Instant::now();
    let ended =
        client.query_one("SELECT pg_terminate_backend($1, 10000)", &[&(worker as i32)]).unwrap();
    assert!(ended.get::<_, bool>(0), "the worker goes on");
    begun.elapsed()
}

#[test]
fn rows_of_an_ended_worker_are_taken_up_soon() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    client.execute("INSERT INTO docs VALUES (1, 't', $1, 'en')", &[&paragraphs(200)]).unwrap();
    time_until(&mut client, "SELECT count(*) FROM rag.queue WHERE lease IS NOT NULL", 1);
    terminate(&mut client);
    // Nobody commits or waits, which would start another one.
    let done = time_until(&mut client, "SELECT count(*) FROM rag.queue", 0);
    println!("a batch whose worker was ended is done after {} ms", done.as_millis());
    assert_agree(&mut client, 64);
}

#[test]
fn work_goes_on_after_a_restart() {
    let Some((mut cluster, mut client)) = start(&[]) else { return };
    for (round, signal) in ["INT", "QUIT"].into_iter().enumerate() {
        without_workers(&cluster, &mut client);
        let id = round * 10;
        run(
            &mut client,
            &format!(
                "INSERT INTO docs SELECT i, 't', 'Before the restart.', 'en' FROM generate_series({id}, {id} + 3) AS i"
            ),
        );
        drop(client);
        cluster.configure(&["rag.max_workers = 2"]);
        cluster.stop(signal);
        cluster.boot();
        client = cluster.connect();
        let begun = Instant::now();
        if round == 0 {
            run(&mut client, "INSERT INTO docs VALUES (5, 't', 'The next commit.', 'en')");
            time_until(&mut client, "SELECT count(*) FROM docs_rag_chunks", 5);
        } else {
            wait(&mut client, "docs");
        }
        println!(
            "{signal}: what was left is done {} ms after the next call",
            begun.elapsed().as_millis()
        );
        assert_agree(&mut client, 64);
    }
}

/// A content that waits for the test, and fails when it is made for the first time.
const FAILS_ONCE: &str = "
    SELECT rag_drop_pipeline('docs');
    CREATE SEQUENCE made;
    CREATE FUNCTION content(text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(1);
        IF nextval('public.made') = 1 THEN RAISE 'the first attempt'; END IF;
        RETURN $1;
    END $$;
    SELECT rag_create_pipeline('docs', 'public.content(body)', metadata => '{lang}', chunking => '{\"max_tokens\": 64}');
    SELECT pg_advisory_lock(1);
    INSERT INTO docs VALUES (1, 't', 'The content.', 'en');";

#[test]
fn a_row_that_changes_during_its_last_attempt_is_not_given_up() {
    let Some((_cluster, mut client)) = start(&["rag.max_attempts = 1"]) else { return };
    run(&mut client, FAILS_ONCE);
    let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    time_until(&mut client, waiting, 1);
    // As another worker notes it that finds the row changed again.
    run(
        &mut client,
        "UPDATE rag.queue SET change = nextval('rag.change'), changed_at = now();
         SELECT pg_advisory_unlock(1);",
    );
    wait(&mut client, "docs");
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.dead_letter"), 0);
    assert_eq!(count(&mut client, "SELECT sum(rows_failed)::bigint FROM rag.activity"), 0);
    assert_agree(&mut client, 64);
    rows_that_cannot_be_stored(&mut client);
}

/// They are set aside, with what is the matter.
fn rows_that_cannot_be_stored(client: &mut Client) {
    run(
        client,
        "CREATE TABLE twins (id integer PRIMARY KEY, body text);
         SELECT rag_create_pipeline('twins', 'body');
         ALTER TABLE twins DROP CONSTRAINT twins_pkey;
         INSERT INTO twins VALUES (1, 'One.'), (1, 'The other.'), (2, 'Alone.');",
    );
    wait(client, "twins");
    let letter = "SELECT concat_ws(' ', key::text, sqlstate, message) FROM rag.dead_letter";
    let text = |client: &mut Client| client.query_one(letter, &[]).unwrap().get::<_, String>(0);
    assert_eq!(text(client), "{1} 42710 public.twins has more than one row with the key (1)");
    assert_eq!(count(client, "SELECT count(*) FROM twins_rag_chunks"), 1, "the other row");
    run(client, "DELETE FROM twins WHERE body = 'One.'");
    wait(client, "twins");
    assert_none(client, letter);
    run(
        client,
        "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE CONSTRAINT TRIGGER late AFTER INSERT ON twins_rag_chunks
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION nothing();
         INSERT INTO twins VALUES (3, 'Never.');",
    );
    wait(client, "twins");
    let said = text(client);
    assert!(said.starts_with("{3} 42501 cannot fire deferred trigger"), "{said}");
}

#[test]
fn rag_run_waits_for_what_others_have_in_hand() {
    let Some((cluster, mut client)) = start(&["rag.max_workers = 0"]) else { return };
    run(&mut client, "SELECT rag_alter_pipeline('docs', refresh => 'manual')");
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'One.', 'en')");
    let mut other = cluster.connect();
    run(&mut other, "BEGIN; SELECT FROM rag.intake FOR UPDATE");
    let mut runner = cluster.connect();
    let pid = count(&mut runner, "SELECT pg_backend_pid()::bigint");
    let running = std::thread::spawn(move || run(&mut runner, "CALL rag_run('docs')"));
    // It has ended too early where it is not there any more.
    let waits = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE pid = {pid} AND wait_event_type = 'Extension'"
    );
    assert!(wait_for(|| running.is_finished() || count(&mut client, &waits) == 1));
    run(&mut other, "ROLLBACK");
    running.join().expect("rag_run");
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 1);
}
