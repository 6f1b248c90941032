//! The chat page, which knows nothing of the crate, offers the strategies that there are and places every stage.

use pg_rag::answer::strategy;
use regex::Regex;

use crate::check;
use crate::source::{files, read};

/// What stands between single quotes in the first part of `text` that lies between `begin` and `end`.
fn quoted(text: &str, begin: &str, end: &str) -> Vec<String> {
    let inside = text.split(begin).nth(1).and_then(|rest| rest.split(end).next());
    let inside = inside.unwrap_or_else(|| panic!("there is no {begin:?} with a later {end:?}"));
    let literal = Regex::new("'([^']*)'").unwrap();
    literal.captures_iter(inside).map(|found| found[1].to_owned()).collect()
}

/// The names in the first column of the table with this head. A row may have several.
fn first_column(page: &str, head: &str) -> Vec<String> {
    let rows = page.split(head).nth(1).unwrap_or_else(|| panic!("there is no table {head:?}"));
    let rows = rows.lines().skip(1).take_while(|line| line.starts_with('|'));
    let name = Regex::new("`([^`]+)`").unwrap();
    let names = |row: &str| {
        let cell = row.split('|').nth(1).unwrap_or_default();
        name.captures_iter(cell).map(|found| found[1].to_owned()).collect::<Vec<_>>()
    };
    rows.flat_map(names).collect()
}

fn documented_stages() -> Vec<String> {
    let mut stages = first_column(&read("docs/tracing.md"), "| stage | what is done |");
    stages.sort();
    stages
}

#[test]
fn the_page_and_the_manual_list_the_strategies_of_the_registry() {
    let known = strategy::ALL.map(|strategy| strategy.name.to_owned()).to_vec();
    assert_eq!(quoted(&read("rag-server/page/page.js"), "STRATEGIES = [", "];"), known);
    let manual = first_column(&read("docs/strategies.md"), "| strategy | what it does | calls |");
    assert_eq!(manual, known);
}

/// What no part of the walk names would be shown as time of the answer.
#[test]
fn the_walk_of_the_page_has_each_documented_stage_once() {
    let parts = quoted(&read("rag-server/page/walk.js"), "WALK = [", "\n];");
    // A part has a name, what is done, and the stages.
    assert!(parts.len().is_multiple_of(3), "{parts:?}");
    let stages = parts.chunks_exact(3).flat_map(|part| part[2].split_whitespace());
    let mut stages: Vec<String> = stages.map(str::to_owned).collect();
    stages.sort();
    assert_eq!(stages, documented_stages());
}

#[test]
fn every_stage_that_the_code_names_is_documented() {
    let named = Regex::new(r#"\b(?:trace::(?:step|found|done)|traced)\(\s*"(\w+)""#).unwrap();
    let documented = documented_stages();
    let mut found = 0;
    let mut missing = Vec::new();
    for file in files(&["src/pg"], &[".rs"]) {
        for stage in named.captures_iter(&file.text).map(|it| it[1].to_owned()) {
            found += 1;
            if !documented.contains(&stage) {
                missing.push(format!("{}: {stage}", file.path));
            }
        }
    }
    assert!(found > 30, "only {found} stages were found in src/pg");
    check("stages that docs/tracing.md does not describe", missing);
}
