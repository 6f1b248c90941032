//! The manual's examples run, in their order, each document in a database of its own, and give the results
//! that the manual shows.

use std::fs;
use std::path::{Path, PathBuf};

use super::cluster::Cluster;
use super::token_classifier;

/// Stands between the results of two examples.
const MARK: &str = "---- example";

/// Where the manual has its token classifier.
const TOKEN_CLASSIFIER: &str = "/srv/models/distilbert-NER";

#[test]
fn every_example_of_the_manual_runs() {
    let default = "rag.embedding_model = 'multilingual-e5-small'";
    let Some(cluster) = Cluster::start(&[default]) else { return };
    // What examples add as a token classifier is a tiny model.
    let folder = cluster.folder().join("names");
    if !token_classifier::make_of_bands(&folder) {
        return;
    }
    cluster.give(&folder);
    let (mut with_examples, mut with_results) = (0, 0);
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
        let script: Vec<String> =
            examples.iter().map(|it| format!("{}\n\\echo '{MARK}'", it.statements)).collect();
        let script = script.join("\n").replace(TOKEN_CLASSIFIER, &folder.display().to_string());
        let output = cluster.psql(&database, &script);
        let results = output.split(MARK).map(trimmed);
        for (example, result) in examples.iter().zip(results) {
            if let Some(expected) = example.result {
                with_results += 1;
                let (document, statements) = (document.display(), example.statements);
                assert_eq!(result, trimmed(expected), "{document}:\n{statements}");
            }
        }
    }
    assert!(with_examples >= 4, "only {with_examples} documents have examples");
    assert!(with_results >= 4, "only {with_results} examples show their results");
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

/// Statements of a document, and what psql prints for them, where the document shows it.
struct Example<'a> {
    statements: &'a str,
    result: Option<&'a str>,
}

/// What stands between "```sql" and "```", and in the block "```text" right behind it; blocks marked
/// "```sql no-run" are left out.
fn examples(document: &str) -> Vec<Example<'_>> {
    document.split("\n```sql\n").skip(1).map(example).collect()
}

/// The example at the beginning of `rest`.
fn example(rest: &str) -> Example<'_> {
    let (statements, behind) = rest.split_once("\n```\n").unwrap_or((rest, ""));
    let result = behind.strip_prefix("\n```text\n").and_then(|it| it.split("\n```").next());
    Example { statements, result }
}

/// Without white space at the ends of lines, which editors remove, and empty lines around.
fn trimmed(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}
