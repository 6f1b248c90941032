//! What a guarded statement leaves of its session, and how it ends.

use std::thread;
use std::time::{Duration, Instant};

use super::super::cluster::wait_for;
use super::super::documents::{assert_fails, count, describe};
use super::{checked, code, ended, prepared};

#[test]
fn a_session_goes_on_as_before() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("BEGIN; INSERT INTO marks VALUES ('one')").unwrap();
    assert_eq!(ended(&mut client, "TABLE marks", "1 minute", "{}"), "ok");
    let seen = "SELECT count(*) FROM rag_sql_run('TABLE marks')";
    assert_eq!(count(&mut client, seen), 1, "what the transaction has written is seen");
    client
        .batch_execute(
            "DO $$
             BEGIN
                 PERFORM rag_sql_run('SELECT pg_sleep(1)');
             EXCEPTION WHEN insufficient_privilege THEN
                 INSERT INTO marks VALUES ('two');
             END $$;
             DO $$
             DECLARE found integer;
             BEGIN
                 SELECT count(*) INTO found FROM rag_sql_run('TABLE marks');
                 INSERT INTO marks VALUES ('three ' || found);
                 PERFORM rag_sql_run('SELECT endless()', timeout => '50 ms');
             EXCEPTION WHEN query_canceled THEN
                 INSERT INTO marks VALUES ('four');
             END $$;
             COMMIT",
        )
        .unwrap_or_else(|error| panic!("{}", describe(&error)));
    let marks: String =
        client.query_one("SELECT string_agg(what, ',') FROM marks", &[]).unwrap().get(0);
    assert_eq!(marks, "one,two,four");
    for setting in ["work_mem", "temp_file_limit", "transaction_read_only", "jit", "geqo"] {
        let row = format!(
            "SELECT setting = boot_val OR source <> 'session' FROM pg_settings WHERE name = '{setting}'"
        );
        assert!(client.query_one(&row, &[]).unwrap().get::<_, bool>(0), "{setting}");
    }
    // Where nothing may be written, all the same.
    client.batch_execute("BEGIN READ ONLY").unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_sql_run('TABLE items')"), 100);
    client.batch_execute("COMMIT; BEGIN ISOLATION LEVEL SERIALIZABLE").unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_sql_run('TABLE items')"), 100);
    client.batch_execute("COMMIT").unwrap();
    // Within itself it does not run, even where that was allowed.
    let within = "SELECT rag_sql_run('SELECT runs_text(''SELECT rag_sql_run(''''SELECT 1'''')'')', \
                  options => '{\"functions\": [\"rag_sql_run\", \"runs_text\"]}')";
    assert_fails(&mut client, within, &["55000 guarded SQL does not run within guarded SQL"]);
}

#[test]
fn what_is_read_may_change_between_check_and_run() {
    let Some(cluster) = prepared(&[]) else { return };
    let (mut client, mut other) = (cluster.connect(), cluster.connect());
    client
        .batch_execute("CREATE TABLE passing (id integer); INSERT INTO passing VALUES (1)")
        .unwrap();
    client.batch_execute("BEGIN").unwrap();
    assert_eq!(checked(&mut client, "TABLE passing", "{}"), "ok");
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_sql_run('TABLE passing')"), 1);
    // Neither has kept a lock.
    other
        .batch_execute("SET lock_timeout = '1 min'; ALTER TABLE passing RENAME TO passed")
        .unwrap();
    assert_eq!(ended(&mut client, "TABLE passing", "1 minute", "{}"), "42P01");
    client.batch_execute("ROLLBACK").unwrap();
    other
        .batch_execute("CREATE FUNCTION turns() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1'")
        .unwrap();
    assert_eq!(ended(&mut client, "SELECT turns()", "1 minute", "{}"), "ok");
    other.batch_execute("ALTER FUNCTION turns() VOLATILE").unwrap();
    assert_eq!(checked(&mut client, "SELECT turns()", "{}"), "function");
    assert_eq!(ended(&mut client, "SELECT turns()", "1 minute", "{}"), "42501");
    // A lock that another session holds is waited for no longer than the statement may run.
    other.batch_execute("BEGIN; LOCK TABLE passed IN ACCESS EXCLUSIVE MODE").unwrap();
    assert_eq!(ended(&mut client, "TABLE passed", "100 ms", "{}"), "57014");
}

#[test]
fn a_cancel_is_heeded_at_once() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    let mut canceller = cluster.canceller(&mut client);
    for statement in [
        "SELECT endless()",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT count(*) FROM r",
        "SELECT repeat('x', 301) ~ '^(x+)(x+)(x+)(x+)(x+)\\1\\2\\3\\4\\5$'",
    ] {
        // One message: with a statement prepared first, the cancel could come between the two,
        // where no statement is under way and it is forgotten.
        let call = format!("SELECT rag_sql_run($call${statement}$call$, timeout => '1 hour')");
        let sent = call.clone();
        let caller = thread::spawn(move || {
            let ended = client.batch_execute(&sent);
            (client, ended, Instant::now())
        });
        assert!(wait_for(|| canceller.is_at(&call)), "{statement}");
        let asked = canceller.cancel();
        let (back, ended, at) = caller.join().unwrap();
        client = back;
        assert_eq!(code(&ended.unwrap_err()), "57014", "{statement}");
        println!("cancelled after {:?}: {statement}", at.duration_since(asked));
        assert!(at.duration_since(asked) < Duration::from_secs(10), "{statement}");
    }
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_sql_run('TABLE items')"), 100);
    // The session's own limit holds, too, and is no problem of the statement.
    client.batch_execute("SET statement_timeout = '100 ms'").unwrap();
    assert_fails(
        &mut client,
        "SELECT rag_sql_run('SELECT endless()', timeout => '1 hour')",
        &["57014", "statement timeout"],
    );
}

#[test]
fn code_that_catches_each_cancel_ends_its_session_and_no_other() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut observer = cluster.connect();
    observer
        .batch_execute(
            "CREATE FUNCTION unstoppable() RETURNS integer LANGUAGE plpgsql STABLE AS $$
             BEGIN
                 LOOP
                     BEGIN
                         LOOP NULL; END LOOP;
                     EXCEPTION WHEN query_canceled THEN NULL;
                     END;
                 END LOOP;
             END $$",
        )
        .unwrap();
    let begun: String =
        observer.query_one("SELECT pg_postmaster_start_time()::text", &[]).unwrap().get(0);
    let mut client = cluster.connect();
    let ended =
        client.query("SELECT rag_sql_run('SELECT unstoppable()', timeout => '100 ms')", &[]);
    // The client may see the end of the connection before it has read the reason.
    let error = ended.map(drop).unwrap_err();
    assert!(error.is_closed() || code(&error) == "57P01", "{}", describe(&error));
    assert!(wait_for(|| client.is_closed() || client.batch_execute("SELECT 1").is_err()));
    let now: String =
        observer.query_one("SELECT pg_postmaster_start_time()::text", &[]).unwrap().get(0);
    assert_eq!(now, begun);
}

#[test]
fn a_standby_runs_guarded_statements() {
    let Some(primary) = prepared(&["wal_level = replica"]) else { return };
    let standby = primary.standby();
    let mut reader = standby.connect();
    assert_eq!(count(&mut reader, "SELECT count(*) FROM rag_sql_run('TABLE items')"), 100);
    assert_eq!(checked(&mut reader, "SELECT leave_mark('a')", "{}"), "function");
    assert_eq!(ended(&mut reader, "SELECT lying_stable()", "1 minute", "{}"), "42501");
}
