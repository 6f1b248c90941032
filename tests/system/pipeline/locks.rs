//! Who waits for whom: nobody longer than for what it is about, and nobody in a circle.

use super::*;

#[test]
fn partitions_are_altered_at_the_same_time() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let (mut client, mut other) = (cluster.connect(), cluster.connect());
    run(
        &mut client,
        "CREATE EXTENSION pg_rag CASCADE;
         CREATE TABLE docs (id integer PRIMARY KEY, body text) PARTITION BY RANGE (id);
         CREATE TABLE docs_1 PARTITION OF docs FOR VALUES FROM (0) TO (10);
         CREATE TABLE docs_2 PARTITION OF docs FOR VALUES FROM (10) TO (20);
         SELECT rag_create_pipeline('docs', 'body');",
    );
    run(&mut client, "BEGIN; ALTER TABLE docs_1 ADD CHECK (body <> '')");
    run(
        &mut other,
        "SET lock_timeout = '5s';
         ALTER TABLE docs_2 ADD CHECK (body <> '');
         SELECT FROM rag.pipeline_status;",
    );
    run(&mut client, "COMMIT");
}

#[test]
fn a_source_that_is_locked_is_no_other_pipelines_trouble() {
    let Some((cluster, mut client)) = start(&["rag.max_workers = 1"]) else { return };
    run(
        &mut client,
        "CREATE TABLE others (id integer PRIMARY KEY, body text);
         SELECT rag_create_pipeline('others', 'body');",
    );
    let mut holder = cluster.connect();
    run(&mut holder, "BEGIN; LOCK TABLE docs");
    let insert = "INSERT INTO docs VALUES (1, 't', 'One.', 'en')";
    // Its commit and the next lock are one message, which no worker comes between.
    run(&mut holder, &format!("{insert}; COMMIT; BEGIN; LOCK TABLE docs"));
    run(&mut client, "INSERT INTO others VALUES (1, 'One.')");
    wait(&mut client, "others");
    let held = "SELECT count(*) FROM pg_locks WHERE relation = 'docs'::regclass AND granted
                AND mode = 'AccessExclusiveLock'";
    assert_eq!(count(&mut client, held), 1, "all the time");
    run(&mut holder, "COMMIT");
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
}

#[test]
fn a_commit_meets_the_dropping_of_the_extension() {
    let Some((cluster, mut client)) = start(&["deadlock_timeout = 100ms"]) else { return };
    let mut writer = cluster.connect();
    // It knows how keys are read.
    run(&mut writer, "INSERT INTO docs VALUES (1, 't', 'One.', 'en')");
    wait(&mut client, "docs");
    run(&mut writer, "BEGIN; INSERT INTO docs VALUES (2, 't', 'Two.', 'en')");
    let mut other = cluster.connect();
    let pid: i32 = other.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let dropping = std::thread::spawn(move || other.batch_execute("DROP EXTENSION pg_rag CASCADE"));
    let waiting = format!("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = {pid}");
    time_until(&mut client, &waiting, 1);
    std::thread::sleep(Duration::from_millis(300));
    run(&mut writer, "COMMIT");
    let dropped = dropping.join().unwrap();
    dropped.unwrap_or_else(|error| panic!("DROP EXTENSION: {}", describe(&error)));
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs"), 2);
}
