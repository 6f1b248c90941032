//! The manual knows the options of a question that the code knows.

use std::fs;

use pg_rag::request::{bare_keys, groups};

use crate::source::root;

#[test]
fn the_reference_has_a_row_for_each_option_of_a_question() {
    let text = fs::read_to_string(root().join("docs/reference.md")).expect("docs/reference.md");
    let section =
        text.split("\n### Options of a question\n").nth(1).expect("the section of options");
    let section = section.split("\n### ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let described: Vec<String> = rows.map(|(option, _)| option.to_owned()).collect();
    let bare = bare_keys().into_iter().map(str::to_owned);
    let groups = groups();
    let grouped = groups
        .iter()
        .flat_map(|group| group.keys.iter().map(move |key| format!("{}.{key}", group.name)));
    assert_eq!(described, bare.chain(grouped).collect::<Vec<_>>());
}
