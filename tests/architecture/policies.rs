//! As whom tables are read whose policies leave rows out.

use std::collections::BTreeSet;

use regex::Regex;

use super::check;
use super::source::{RustFile, Statement, files, rust_files, statements};
use super::statements::is_acting;

/// What a function says that reads such a table: by its policies, or as another role.
const SAID_BY: [&str; 3] = ["by_policies", "as_superuser", "Acting"];

/// Statements of functions that are called as the superuser.
const CALLED_AS_SUPERUSER: [&str; 9] = [
    "event.pipelines_recomputed",
    "event.pipelines_without_shard",
    "event.sources_with_new_child",
    "grants.lost_readers",
    "model.users",
    "pipeline.content_view",
    "pipeline.unindexed",
    "pipeline.view",
    "shard.with_other_readers",
];

/// PostgreSQL refuses a statement from which a policy would leave rows out where `row_security` is off, as all dumps set
/// it. So the function that has a statement over such a table heeds the policies or acts as the superuser.
#[test]
fn tables_with_policies_are_read_by_these_or_as_the_superuser() {
    let tables = tables_with_policies();
    assert!(tables.len() > 10, "the tables with policies were not found in sql/install");
    let concerned = |it: &Statement| names_one_of(&it.text, &tables) && !is_acting(&it.path());
    let concerned: BTreeSet<String> =
        statements().iter().filter(|it| concerned(it)).map(Statement::path).collect();
    let (mut silent, mut breaches) = (BTreeSet::new(), Vec::new());
    for source in rust_files().iter().filter(|source| source.file.is_below(&["src/pg/"])) {
        for (line, path) in used(source) {
            if concerned.contains(&path) && !says_as_whom(source, line) {
                silent.insert(path.clone());
                if !CALLED_AS_SUPERUSER.contains(&path.as_str()) {
                    breaches.push(format!("{}:{line}: {path}", source.path()));
                }
            }
        }
    }
    let not_silent = CALLED_AS_SUPERUSER.into_iter().filter(|path| !silent.contains(*path));
    let not_silent = not_silent.map(|path| format!("{path} need not be listed"));
    check(
        "neither by_policies nor as_superuser in a function that reads a table with policies",
        breaches.into_iter().chain(not_silent),
    );
}

fn tables_with_policies() -> BTreeSet<String> {
    let enabled = Regex::new(r"ALTER TABLE rag\.(\w+) ENABLE ROW LEVEL SECURITY").unwrap();
    let install = files(&["sql/install"], &[".sql"]);
    let of_file = install.iter().flat_map(|file| enabled.captures_iter(&file.text));
    of_file.map(|found| found[1].to_owned()).collect()
}

/// Whether a statement names one of `tables`, and not only a comment in it.
fn names_one_of(statement: &str, tables: &BTreeSet<String>) -> bool {
    let table = Regex::new(r"\brag\.(\w+)").unwrap();
    let lines = statement.lines().filter(|line| !line.starts_with("--"));
    lines.flat_map(|line| table.captures_iter(line)).any(|found| tables.contains(&found[1]))
}

/// The statements that a file uses, and where.
fn used(source: &RustFile) -> Vec<(usize, String)> {
    let query = Regex::new(r"query!\((\w+\.\w+)\)").unwrap();
    let lines = (1..).zip(source.file.text.lines());
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(|(number, line)| {
        let found = query.captures_iter(line).map(|it| (number, it[1].to_owned()));
        found.collect::<Vec<_>>()
    })
    .collect()
}

/// Whether the function around this line says by what, or as whom, it reads.
fn says_as_whom(source: &RustFile, line: usize) -> bool {
    let around =
        source.functions.iter().filter(|it| (it.line..it.line + it.length).contains(&line));
    around.max_by_key(|it| it.line).is_some_and(|function| {
        let lines = function.line..function.line + function.length;
        let inside = source.tokens.iter().filter(|token| lines.contains(&token.line));
        inside.map(|token| token.text.as_str()).any(|word| SAID_BY.contains(&word))
    })
}
