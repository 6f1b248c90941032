//! Sessions that insert, delete, vacuum, build and search at once.

use super::*;

#[test]
fn churn_does_no_harm() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{VECTORS} {INDEX}")).unwrap();
    insert(&mut client, 1, 2000).unwrap();
    let end = Instant::now() + Duration::from_secs(number("PG_RAG_CHURN_SECONDS", 20));
    let sessions: Vec<JoinHandle<[usize; 5]>> = (0..SESSIONS)
        .map(|session| {
            let client = cluster.connect();
            thread::spawn(move || churn_until(client, session, end))
        })
        .collect();
    let mut sum = [0; 5];
    for session in sessions {
        let tally = session.join().expect("a session without an error");
        sum.iter_mut().zip(tally).for_each(|(total, number)| *total += number);
    }
    let [inserts, deletes, vacuums, builds, searches] = sum;
    let rows = count(&mut client, "SELECT count(*) FROM items");
    assert_sound(&mut client, "items_v", "after churn");
    let share = recall(&mut client);
    println!(
        "churn: {inserts} inserts, {deletes} deletes, {vacuums} VACUUM, {builds} REINDEX \
         CONCURRENTLY, {searches} searches; {rows} rows in the end, recall {share:.4}"
    );
    assert!(sum.iter().all(|number| *number > 0), "something was never done: {sum:?}");
    assert!(share >= RECALL, "recall {share}");
    assert_all_found(&mut client, "after churn");
}

const SESSIONS: i64 = 4;

/// Works until the time is over: inserts, deletes, VACUUMs, builds and searches that were done.
fn churn_until(mut client: Client, session: i64, end: Instant) -> [usize; 5] {
    client.batch_execute(BY_INDEX).unwrap();
    let mut tally = [0; 5];
    for turn in (0..).take_while(|_| Instant::now() < end) {
        // One session builds: two builds at once of one index would wait for each other.
        let what = match turn % 20 {
            0..=7 => 0,
            8 | 9 => 1,
            10 => 2,
            11 if session == 0 => 3,
            _ => 4,
        };
        churn_once(&mut client, session, turn, what)
            .unwrap_or_else(|error| panic!("session {session}, turn {turn}: {}", describe(&error)));
        tally[what] += 1;
    }
    tally
}

fn churn_once(client: &mut Client, session: i64, turn: i64, what: usize) -> Result<(), Error> {
    let first = 10_000 + (turn * SESSIONS + session) * 10;
    match what {
        0 => insert(client, first, first + turn % 10).map(drop),
        1 => {
            let delete = "DELETE FROM items WHERE id / 10 % $1 = $2 AND hashint8(id + $3) % 32 = 0";
            client.execute(delete, &[&SESSIONS, &session, &turn]).map(drop)
        }
        2 => client.batch_execute("VACUUM items"),
        3 => client.batch_execute("REINDEX INDEX CONCURRENTLY items_v"),
        _ => {
            let search = "SELECT id FROM items ORDER BY v <-> (SELECT v FROM questions WHERE id = $1) LIMIT 10";
            let found = client.query(search, &[&(1 + (turn * 7 + session) % 100)])?;
            assert_eq!(found.len(), 10, "rows found in turn {turn}");
            Ok(())
        }
    }
}
