//! What is dropped is gone, and is nobody else's trouble.

use super::super::cluster::wait_for;
use super::super::process;
use super::*;

#[test]
fn a_dropped_pipeline_leaves_the_source_as_it_was() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    run(&mut client, TABLE);
    run(
        &mut client,
        "INSERT INTO docs SELECT i, 't', 'Row ' || i, 'en' FROM generate_series(1, 50) AS i",
    );
    let before = definition(&cluster);
    for (refresh, last) in [
        ("async", ""),
        ("sync", ""),
        ("manual", ""),
        ("async", "SELECT rag_alter_pipeline('docs', chunking => '{\"max_tokens\": 32}')"),
    ] {
        run(&mut client, &PIPELINE.replace(");", &format!(", refresh => '{refresh}');")));
        assert_ne!(definition(&cluster), before, "there are triggers");
        // With work that nobody will do.
        run(&mut client, "UPDATE docs SET body = body || '!' WHERE id <= 5");
        run(&mut client, last);
        run(&mut client, "SELECT rag_drop_pipeline('docs')");
        assert_eq!(definition(&cluster), before, "after {refresh}");
        let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'docs\\_rag%'";
        assert_eq!(count(&mut client, left), 0, "relations of {refresh}");
        for table in ["pipeline", "queue", "dead_letter", "activity"] {
            assert_eq!(
                count(&mut client, &format!("SELECT count(*) FROM rag.{table}")),
                0,
                "rag.{table}"
            );
        }
        run(
            &mut client,
            "INSERT INTO docs VALUES (100, 't', 'As ever.', 'en'); DELETE FROM docs WHERE id = 100",
        );
    }
    // The workers throw away what was left for a pipeline that is no more.
    run(&mut client, "CREATE TABLE others (id integer PRIMARY KEY, body text)");
    run(
        &mut client,
        "SELECT rag_create_pipeline('others', 'body'); INSERT INTO others VALUES (1, 'One.')",
    );
    wait(&mut client, "others");
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.intake"), 0);
}

/// The table as pg_dump writes it, without the marks that are new each time.
fn definition(cluster: &Cluster) -> String {
    let socket = cluster.socket();
    let dump =
        cluster.run("pg_dump", &["-h", &socket, "-U", "postgres", "-s", "-t", "docs", "postgres"]);
    dump.lines().filter(|line| !line.contains("restrict")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_pipeline_is_dropped_while_a_worker_embeds() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    client.execute("INSERT INTO docs VALUES (1, 't', $1, 'en')", &[&paragraphs(400)]).unwrap();
    time_until(&mut client, "SELECT count(*) FROM rag.queue WHERE lease IS NOT NULL", 1);
    let begun = Instant::now();
    run(&mut client, "SELECT rag_drop_pipeline('docs')");
    println!("dropped under a worker's hands in {} ms", begun.elapsed().as_millis());
    run(&mut client, PIPELINE);
    run(&mut client, "INSERT INTO docs VALUES (2, 't', 'Later.', 'en')");
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
}

/// Who reads the rows of a source and who drops the pipeline meanwhile want the same locks.
#[test]
fn a_pipeline_is_dropped_while_all_its_rows_are_queued() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    run(&mut client, TABLE);
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'One.', 'en')");
    run(&mut client, &PIPELINE.replace(");", ", refresh => 'manual');"));
    for last in [
        "SELECT rag_alter_pipeline('docs', chunking => '{\"max_tokens\": 40}')",
        "SELECT rag_drop_pipeline('docs')",
    ] {
        run(&mut client, "SELECT rag_alter_pipeline('docs', chunking => '{\"max_tokens\": 32}')");
        let mut queue = cluster.connect();
        run(&mut queue, "BEGIN; LOCK TABLE rag.queue IN EXCLUSIVE MODE");
        let begin = |statement: &'static str, number: i64, client: &mut Client| {
            let mut other = cluster.connect();
            let other = std::thread::spawn(move || other.batch_execute(statement));
            // A worker may wait as well.
            let waiting = format!(
                "SELECT (count(*) >= {number})::int::bigint FROM pg_locks WHERE NOT granted"
            );
            time_until(client, &waiting, 1);
            other
        };
        let running = begin("CALL rag_run('docs')", 1, &mut client);
        let dropping = begin(last, 2, &mut client);
        run(&mut queue, "COMMIT");
        let dropped = dropping.join().unwrap();
        dropped.unwrap_or_else(|error| panic!("{last}: {}", describe(&error)));
        // What is gone need not be run to its end.
        if let Err(error) = running.join().unwrap() {
            assert!(!describe(&error).contains("deadlock"), "{}", describe(&error));
        }
    }
}

/// Two generations over one source, and workers anywhere in them. Where one is in the way of a
/// statement that drops, it is the worker who begins again.
#[test]
fn pipelines_are_dropped_under_workers_hands() {
    let Some((cluster, mut client)) = start(&["rag.max_workers = 2"]) else { return };
    let mut writer = cluster.connect();
    run(&mut client, "SELECT rag_drop_pipeline('docs')");
    let drops = [
        "SELECT rag_drop_pipeline('docs')",
        "DROP TABLE docs CASCADE",
        "DROP TABLE docs_rag_chunks CASCADE",
        "DROP VIEW docs_rag_content CASCADE",
    ];
    let begun = Instant::now();
    for round in 0..24 {
        run(&mut client, &format!("DROP TABLE IF EXISTS docs CASCADE; {TABLE} {PIPELINE}"));
        for id in 0..8 {
            run(&mut writer, &format!("INSERT INTO docs VALUES ({id}, 't', 'Row {id}.', 'en')"));
            if id == round % 8 {
                run(
                    &mut client,
                    "SELECT rag_alter_pipeline('docs', chunking => '{\"max_tokens\": 32}')",
                );
            }
        }
        std::thread::sleep(Duration::from_millis(round * 7 % 40));
        run(&mut client, drops[round as usize % drops.len()]);
        let left = count(&mut client, "SELECT count(*) FROM rag.pipeline");
        assert_eq!(left, 0, "{}", drops[round as usize % drops.len()]);
    }
    println!("24 pipelines dropped under workers' hands in {:?}", begun.elapsed());
}

#[test]
fn a_dropped_table_is_no_other_pipelines_trouble() {
    let changes = [
        "INSERT INTO doomed SELECT i, 'Row ' || i FROM generate_series(10, 20) AS i",
        "TRUNCATE doomed",
        "UPDATE doomed SET id = id + 100",
    ];
    let Some((cluster, mut client)) = start(&[]) else { return };
    run(&mut client, "CREATE TABLE doomed (id integer PRIMARY KEY, body text)");
    for change in changes {
        run(&mut client, "INSERT INTO doomed VALUES (1, 'One.')");
        run(&mut client, "SELECT rag_create_pipeline('doomed', 'body')");
        // Without workers, so that they find both at once.
        without_workers(&cluster, &mut client);
        run(&mut client, &format!("{change}; DROP TABLE doomed CASCADE"));
        run(
            &mut client,
            "INSERT INTO docs SELECT coalesce(max(id), 0) + 1, 't', 'Not doomed.', 'en' FROM docs",
        );
        cluster.configure(&["rag.max_workers = 2"]);
        cluster.reload();
        wait(&mut client, "docs");
        assert_agree(&mut client, 64);
        // Once workers have met it, there is nothing left to drop.
        run(
            &mut client,
            "SELECT rag_drop_pipeline(name) FROM rag.pipeline WHERE name = 'doomed';
             DROP TABLE IF EXISTS doomed_rag_chunks",
        );
        run(&mut client, "CREATE TABLE doomed (id integer PRIMARY KEY, body text)");
    }
}

/// Ends the workers; none is started.
pub fn without_workers(cluster: &Cluster, client: &mut Client) {
    cluster.configure(&["rag.max_workers = 0"]);
    cluster.reload();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'";
    // One that begins is not in that view yet.
    let are_gone = wait_for(|| {
        run(client, end);
        process::titled(cluster.postmaster_pid(), "pg_rag worker").is_empty()
    });
    assert!(are_gone, "workers go on: {:?}", workers(client));
}

#[test]
fn the_extension_is_dropped() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    client.execute("INSERT INTO docs VALUES (1, 't', $1, 'en')", &[&paragraphs(200)]).unwrap();
    time_until(&mut client, "SELECT count(*) FROM rag.queue WHERE lease IS NOT NULL", 1);
    run(&mut client, "DROP EXTENSION pg_rag CASCADE");
    let busy = until_no_worker(&mut client);
    println!("DROP EXTENSION: a worker at work ends in {busy} ms");
    run(&mut client, "INSERT INTO docs VALUES (2, 't', 'Nobody minds.', 'en')");
    run(&mut client, &format!("DROP TABLE docs, docs_rag_chunks CASCADE; {TABLE} {PIPELINE}"));
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'In the new extension.', 'en')");
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
}

/// DROP EXTENSION locks what it drops one by one, and a worker needs the same in another order.
#[test]
fn the_extension_is_dropped_after_a_workers_transaction() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'One.', 'en')");
    wait(&mut client, "docs");
    // A worker can read, and then not store.
    let mut holder = cluster.connect();
    run(&mut holder, "BEGIN; LOCK TABLE docs_rag_chunks IN SHARE MODE");
    run(&mut client, "INSERT INTO docs VALUES (2, 't', 'Two.', 'en')");
    let waiting = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
                   WHERE NOT granted AND backend_type = 'pg_rag worker'";
    time_until(&mut client, waiting, 1);
    let mut other = cluster.connect();
    let pid: i32 = other.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let dropping = std::thread::spawn(move || other.batch_execute("DROP EXTENSION pg_rag CASCADE"));
    let waiting = format!("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = {pid}");
    time_until(&mut client, &waiting, 1);
    let held = format!(
        "SELECT count(*) FROM pg_locks
         WHERE granted AND pid = {pid} AND locktype = 'relation' AND mode = 'AccessExclusiveLock'"
    );
    assert_eq!(count(&mut client, &held), 0, "nothing is locked that a worker may need");
    run(&mut holder, "COMMIT");
    let dropped = dropping.join().unwrap();
    dropped.unwrap_or_else(|error| panic!("DROP EXTENSION: {}", describe(&error)));
    until_no_worker(&mut client);
}

/// Milliseconds until the database has no worker.
fn until_no_worker(client: &mut Client) -> u128 {
    let query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'";
    time_until(client, query, 0).as_millis()
}
