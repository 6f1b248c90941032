//! Sessions that insert, delete, vacuum, build and search at once.

use super::*;
use crate::at_work::{SESSIONS, Turn, churn};

#[test]
fn churn_does_no_harm() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{VECTORS} {INDEX}")).unwrap();
    insert(&mut client, 1, 2000).unwrap();
    let [inserts, deletes, vacuums, builds, searches] = churn(&cluster, work);
    let rows = count(&mut client, "SELECT count(*) FROM items");
    assert_sound(&mut client, "items_v", "after churn");
    let share = recall(&mut client);
    println!(
        "churn: {inserts} inserts, {deletes} deletes, {vacuums} VACUUM, {builds} REINDEX \
         CONCURRENTLY, {searches} searches; {rows} rows in the end, recall {share:.4}"
    );
    assert!(share >= RECALL, "recall {share}");
    assert_all_found(&mut client, "after churn");
}

fn work(client: &mut Client, turn: Turn, session: i64, number: i64) -> Result<(), Error> {
    let first = 10_000 + (number * SESSIONS + session) * 10;
    match turn {
        Turn::Insert => insert(client, first, first + number % 10).map(drop),
        Turn::Delete => {
            let delete = "DELETE FROM items WHERE id / 10 % $1 = $2 AND hashint8(id + $3) % 32 = 0";
            client.execute(delete, &[&SESSIONS, &session, &number]).map(drop)
        }
        Turn::Vacuum => client.batch_execute("VACUUM items"),
        Turn::Rebuild => client.batch_execute("REINDEX INDEX CONCURRENTLY items_v"),
        Turn::Search => {
            client.batch_execute(BY_INDEX)?;
            let search = "SELECT id FROM items ORDER BY v <-> (SELECT v FROM questions WHERE id = $1) LIMIT 10";
            let found = client.query(search, &[&(1 + (number * 7 + session) % 100)])?;
            assert_eq!(found.len(), 10, "rows found in turn {number}");
            Ok(())
        }
    }
}
