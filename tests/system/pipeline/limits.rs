//! Code of a user that does not end: it is cancelled and given up, and meanwhile nobody else waits for it.

use super::super::cluster::wait_for;
use super::*;

/// Whoever starts a text with "Endless" gets no end; after "Deaf" the cancel is caught, too.
const ENDLESS: &str = "
    CREATE FUNCTION endless(text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
        IF $1 LIKE 'Endless%' THEN PERFORM pg_sleep(3600); END IF;
        WHILE $1 LIKE 'Deaf%' LOOP
            BEGIN
                PERFORM pg_sleep(3600);
            EXCEPTION WHEN query_canceled THEN NULL;
            END;
        END LOOP;
        RETURN $1;
    END $$;";

/// A pipeline whose content is such a function's.
const BAD: &str = "
    CREATE TABLE bad (id integer PRIMARY KEY, body text);
    SELECT rag_create_pipeline('bad', 'public.endless(body)');";

/// Rows that a process has in hand, of the pipeline `bad`.
const IN_HAND: &str =
    "SELECT count(*) FROM rag.queue AS q JOIN rag.pipeline AS p ON p.id = q.pipeline
    WHERE q.lease <> 0 AND p.name = 'bad'";

const WATCHERS: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE backend_type = 'pg_rag watcher' AND datname = current_database()";

#[test]
fn code_without_an_end_is_given_up() {
    let settings = ["rag.document_timeout = 1s", "rag.max_attempts = 2"];
    let Some((_cluster, mut client)) = start(&settings) else { return };
    run(&mut client, &format!("{ENDLESS} {BAD}"));
    let rows = "INSERT INTO bad
                SELECT i, CASE i WHEN 7 THEN 'Endless.' WHEN 11 THEN 'Deaf.' ELSE 'Row ' || i END
                FROM generate_series(1, 20) AS i";
    run(&mut client, rows);
    wait(&mut client, "bad");
    assert_eq!(count(&mut client, "SELECT count(*) FROM bad_rag_chunks"), 18);
    let message = "rag.document_timeout (1000 ms)";
    assert_given_up(&mut client, 7, "57014", message);
    // The one whose code goes on and on takes the worker along.
    assert_given_up(&mut client, 11, "57P01", "ended");
    // Where the chunks are stored, a trigger of the user's is run.
    run(
        &mut client,
        "CREATE FUNCTION sleeps() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN IF NEW.content LIKE ''Slow%'' THEN PERFORM pg_sleep(3600); END IF; RETURN NEW; END';
         CREATE TRIGGER sleeps BEFORE INSERT ON bad_rag_chunks FOR EACH ROW EXECUTE FUNCTION sleeps();
         INSERT INTO bad VALUES (31, 'Quick.'), (32, 'Slow.'), (33, 'Quick, too.')",
    );
    wait(&mut client, "bad");
    assert_eq!(count(&mut client, "SELECT count(*) FROM bad_rag_chunks WHERE source_id > 30"), 2);
    assert_given_up(&mut client, 32, "57014", message);
}

/// Asserts that a row was given up after two attempts.
fn assert_given_up(client: &mut Client, id: i32, sqlstate: &str, message: &str) {
    let query =
        "SELECT attempts, sqlstate, message FROM rag.dead_letter WHERE key = ARRAY[$1::text]";
    let row = client.query_opt(query, &[&id.to_string()]).unwrap();
    let row = row.unwrap_or_else(|| panic!("row {id} was not given up: {:?}", status(client)));
    let (attempts, state, said): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
    assert!(
        attempts == 2 && state == sqlstate && said.contains(message),
        "row {id}: {attempts} attempts, {state}, {said}"
    );
}

/// Here nothing is ever cancelled, so that others have to get along without the worker that is held.
#[test]
fn code_without_an_end_keeps_nobody_else_waiting() {
    let Some((cluster, mut client)) = start(&["rag.document_timeout = 0"]) else { return };
    run(&mut client, &format!("{ENDLESS} {BAD} INSERT INTO bad VALUES (1, 'Endless.')"));
    time_until(&mut client, IN_HAND, 1);
    let begun = Instant::now();
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'While another one waits.', 'en')");
    time_until(&mut client, "SELECT count(*) FROM docs_rag_chunks", 1);
    println!("beside code without an end, a row is done after {} ms", begun.elapsed().as_millis());
    // The next rows of that pipeline are not taken up by the other worker, which would be held, too.
    run(&mut client, "INSERT INTO bad VALUES (2, 'Endless.'), (3, 'Endless.')");
    for id in 2..5 {
        run(&mut client, &format!("INSERT INTO docs VALUES ({id}, 't', 'Number {id}.', 'en')"));
        time_until(&mut client, "SELECT count(*) FROM docs_rag_chunks", id);
    }
    assert_eq!(count(&mut client, IN_HAND), 1);
    drop(client);
    // Nobody catches the end of the process.
    let mut maintenance = cluster.connect_to("template1");
    run(&mut maintenance, "CREATE DATABASE doomed");
    let mut client = cluster.connect_to("doomed");
    run(&mut client, &format!("{TABLE} {ENDLESS} {BAD} INSERT INTO bad VALUES (1, 'Deaf.')"));
    time_until(&mut client, IN_HAND, 1);
    time_until(&mut client, WATCHERS, 1);
    drop(client);
    let begun = Instant::now();
    // PostgreSQL gives others five seconds, which may not be enough on a busy machine.
    let is_dropped = wait_for(|| maintenance.batch_execute("DROP DATABASE doomed").is_ok());
    println!("DROP DATABASE beside code that catches cancels: {} ms", begun.elapsed().as_millis());
    assert!(is_dropped, "the worker goes on");
}
