//! ALTER EXTENSION pg_rag UPDATE brings a database of an earlier version to what a new one has, with its data.

#[path = "update/data.rs"]
mod data;
#[path = "update/earlier.rs"]
mod earlier;
#[path = "update/in_use.rs"]
mod in_use;

use std::collections::BTreeSet;

use postgres::Client;

use self::data::{answers, assert_kept, fill, finish, keep};
use super::cluster::Cluster;

/// Everything that the extension has made in a database, one object a row.
const CATALOG: &str = include_str!("update/catalog.sql");

fn catalog(client: &mut Client) -> BTreeSet<String> {
    client.query(CATALOG, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

/// Asserts that an updated database has what a new one has, or another that is as it should be.
fn assert_same(what: &str, updated: &BTreeSet<String>, expected: &BTreeSet<String>) {
    let missing: Vec<_> = expected.difference(updated).collect();
    let left: Vec<_> = updated.difference(expected).collect();
    assert!(missing.is_empty() && left.is_empty(), "{what}: missing {missing:#?}, left {left:#?}");
}

/// Released versions that this installation can make; a build for tests has them all.
fn released(client: &mut Client) -> Vec<String> {
    let versions = "
        SELECT version FROM pg_available_extension_versions
        WHERE name = 'pg_rag' AND version <> (SELECT default_version FROM pg_available_extensions WHERE name = 'pg_rag')
        ORDER BY version";
    client.query(versions, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
fn an_updated_extension_is_as_a_new_one() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut new = cluster.connect();
    let versions = released(&mut new);
    println!("released before this version: {}", versions.len());
    new.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    let expected = catalog(&mut new);
    for (number, version) in versions.iter().enumerate() {
        let database = format!("updated_{number}");
        new.batch_execute(&format!("CREATE DATABASE {database}")).unwrap();
        let mut old = cluster.connect_to(&database);
        fill(&mut old, version);
        keep(&mut old);
        let answered = answers(&mut old);
        // A version between the two may have functions that the library has not.
        let update = "SET check_function_bodies = off; ALTER EXTENSION pg_rag UPDATE; RESET check_function_bodies";
        old.batch_execute(update).unwrap();
        assert_same(version, &catalog(&mut old), &expected);
        assert_eq!(answers(&mut old), answered, "{version}");
        assert_kept(&mut old);
        finish(&mut old);
    }
}

/// What an update script could forget or do otherwise than the installation script.
const CHANGES: [&str; 12] = [
    "ALTER EXTENSION pg_rag DROP FUNCTION rag_template_get(text, integer)",
    "ALTER FUNCTION rag_template_get(text, integer) VOLATILE",
    "REVOKE EXECUTE ON FUNCTION rag_template_get(text, integer) FROM PUBLIC",
    "COMMENT ON FUNCTION rag_template_get(text, integer) IS 'something else'",
    "ALTER TABLE rag.queue ADD COLUMN more integer",
    "ALTER TABLE rag.template ALTER COLUMN content DROP NOT NULL",
    "ALTER TABLE rag.template DROP CONSTRAINT template_pkey",
    "COMMENT ON COLUMN rag.template.name IS 'something else'",
    "CREATE INDEX ON rag.template (created_at)",
    "REVOKE SELECT ON rag.model FROM PUBLIC",
    "ALTER TABLE rag.queue DISABLE ROW LEVEL SECURITY",
    "UPDATE rag.model SET max_tokens = max_tokens + 1 WHERE builtin",
];

#[test]
fn what_an_update_forgets_is_seen() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    client.batch_execute("CREATE DATABASE again").unwrap();
    let expected = catalog(&mut client);
    assert!(expected.len() > 500, "only {} objects", expected.len());
    let mut again = cluster.connect_to("again");
    again.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    assert_eq!(catalog(&mut again), expected, "two new databases");
    for change in CHANGES {
        client
            .batch_execute(&format!("BEGIN; {change}"))
            .unwrap_or_else(|error| panic!("{change}: {error:?}"));
        assert_ne!(catalog(&mut client), expected, "{change}");
        client.batch_execute("ROLLBACK").unwrap();
    }
}
