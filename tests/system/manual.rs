//! The manual's examples run, in their order, each document in a database of its own.

use std::fs;
use std::path::{Path, PathBuf};

use super::cluster::Cluster;

#[test]
fn every_example_of_the_manual_runs() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut with_examples = 0;
    for (number, document) in documents().iter().enumerate() {
        let text = fs::read_to_string(document).expect("a document");
        let examples = examples(&text);
        if examples.is_empty() {
            continue;
        }
        with_examples += 1;
        let database = format!("manual_{number}");
        cluster.psql("postgres", &format!("CREATE DATABASE {database}"));
        println!("{}: {} examples", document.display(), examples.len());
        cluster.psql(&database, &examples.join("\n"));
    }
    assert!(with_examples >= 4, "only {with_examples} documents have examples");
}

/// The README and what lies in docs/.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(root.join("docs")).expect("docs/");
    let mut paths: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.insert(0, root.join("README.md"));
    paths
}

/// What stands between "```sql" and "```"; blocks marked "```sql no-run" are left out.
fn examples(document: &str) -> Vec<&str> {
    let blocks = document.split("\n```sql\n").skip(1);
    blocks.map(|rest| rest.split("\n```").next().unwrap_or_default()).collect()
}
