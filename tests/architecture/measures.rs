//! What the code measures: `make measures` prints it.

use std::fmt::Write;

use crate::check;
use crate::source::{RustFile, files, rust_files, statements};

#[test]
fn doc_comments_stand_alone() {
    let sources = rust_files().into_iter().filter(|source| source.path().starts_with("src/"));
    let breaches = sources.flat_map(|source| {
        let lines: Vec<String> = source.file.text.lines().map(str::to_owned).collect();
        let begins = move |place: usize| {
            let is_doc = |line: &str| line.trim_start().starts_with("///");
            let is_first = place == 0 || !is_doc(&lines[place - 1]);
            is_first && lines[place].trim_start().starts_with("/// The same ")
        };
        let count = source.file.text.lines().count();
        let found = (0..count).filter(|place| begins(*place)).collect::<Vec<_>>();
        found.into_iter().map(move |place| format!("{}:{}", source.path(), place + 1))
    });
    check("doc comments that cannot be read without the item above them", breaches);
}

/// With `--nocapture`, a table of figures; a change for the worse is for people to see.
#[test]
fn measures_are_printed() {
    let sources: Vec<RustFile> =
        rust_files().into_iter().filter(|source| source.path().starts_with("src/")).collect();
    let code: Vec<&RustFile> = sources.iter().filter(|source| !source.file.is_test()).collect();
    let lines = |source: &&RustFile| source.file.text.lines().count() - source.test_lines;
    let lengths = sorted(code.iter().map(lines));
    let functions = sorted(code.iter().flat_map(|it| it.functions.iter().map(|one| one.length)));
    let blocks = code.iter().map(|it| it.unsafe_blocks.len()).sum::<usize>();
    let statics = code.iter().filter(|it| it.path().starts_with("src/pg/"));
    let statics =
        statics.map(|it| it.tokens.iter().filter(|one| one.text == "thread_local").count());

    let mut table = String::new();
    let mut row = |what: &str, figure: String| {
        writeln!(table, "{what:<48} {figure:>8}").expect("a string takes whatever is written");
    };
    row("files in src, without those of tests", code.len().to_string());
    row("lines of them: all", lengths.iter().sum::<usize>().to_string());
    row("lines of a file: median", part(&lengths, 50).to_string());
    row("lines of a file: p90", part(&lengths, 90).to_string());
    row("lines of a function: median", part(&functions, 50).to_string());
    row("lines of a function: p90", part(&functions, 90).to_string());
    row("lines of a function: longest", part(&functions, 100).to_string());
    row("unsafe blocks", blocks.to_string());
    row("thread_local! in src/pg", statics.sum::<usize>().to_string());
    row("files in sql/query", files(&["sql/query"], &[".sql"]).len().to_string());
    row("statements in them", statements().len().to_string());
    println!("{table}");
    assert!(functions.len() > 1000, "only {} functions were found", functions.len());
}

fn sorted(figures: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut figures: Vec<usize> = figures.collect();
    figures.sort_unstable();
    figures
}

/// The figure that so many percent of `figures` do not exceed.
fn part(figures: &[usize], percent: usize) -> usize {
    figures[(figures.len() - 1) * percent / 100]
}
