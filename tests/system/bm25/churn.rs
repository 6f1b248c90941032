//! Sessions that insert, delete, vacuum, build and search at once.

use super::*;
use crate::at_work::{SESSIONS, Turn, churn};

#[test]
fn churn_does_no_harm_to_texts() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{TEXTS} {INDEX}")).unwrap();
    insert(&mut client, 1, 2000).unwrap();
    let [inserts, deletes, vacuums, builds, searches] = churn(&cluster, work);
    let rows = assert_exact(&mut client, "after churn");
    println!(
        "churn of texts: {inserts} inserts, {deletes} deletes, {vacuums} VACUUM, {builds} REINDEX \
         CONCURRENTLY, {searches} searches; {rows} rows in the end"
    );
}

fn work(client: &mut Client, turn: Turn, session: i64, number: i64) -> Result<(), Error> {
    let first = 10_000 + (number * SESSIONS + session) * 10;
    match turn {
        Turn::Insert => insert(client, first, first + number % 10).map(drop),
        Turn::Delete => {
            let delete = "DELETE FROM docs WHERE id / 10 % $1 = $2 AND hashint8(id + $3) % 32 = 0";
            client.execute(delete, &[&SESSIONS, &session, &number]).map(drop)
        }
        Turn::Vacuum => client.batch_execute("VACUUM docs"),
        Turn::Rebuild => client.batch_execute("REINDEX INDEX CONCURRENTLY docs_tsv"),
        Turn::Search => search(client),
    }
}

/// Both ways find the same texts in one snapshot, whatever the others do meanwhile.
fn search(client: &mut Client) -> Result<(), Error> {
    let transaction = client.build_transaction();
    let mut transaction =
        transaction.isolation_level(postgres::IsolationLevel::RepeatableRead).start()?;
    let mut ids = |settings: &str| -> Result<Vec<i64>, Error> {
        transaction.batch_execute(&settings.replace("SET ", "SET LOCAL "))?;
        let rows = transaction.query(ALL, &[])?;
        let mut ids: Vec<i64> = rows.iter().map(|row| row.get(1)).collect();
        ids.sort_unstable();
        Ok(ids)
    };
    let expected = ids(BY_TABLE)?;
    let found = ids(&format!("SET enable_indexscan = on; {BY_INDEX}"))?;
    assert_eq!(found, expected, "texts found in a snapshot");
    transaction.commit()
}
