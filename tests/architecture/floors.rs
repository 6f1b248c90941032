//! Folders stand on floors and only point downwards.
//!
//! `src/lib.rs` and `src/pg/mod.rs` declare their modules in the order of the floors, the lowest first,
//! with an empty line between two floors. A module may name those of lower floors, and neither its
//! neighbours nor what is above it.

use std::collections::HashMap;
use std::fs;

use crate::check;
use crate::path::{NamedPath, paths};
use crate::source::{RustFile, root, rust_files};

/// A building: the file that declares its modules, its folder, and its path in Rust.
const BUILDINGS: [(&str, &str, &[&str]); 2] =
    [("src/lib.rs", "src/", &["crate"]), ("src/pg/mod.rs", "src/pg/", &["crate", "pg"])];

#[test]
fn folders_only_point_downwards() {
    let sources = rust_files();
    let breaches = BUILDINGS.iter().flat_map(|(declares, folder, path)| {
        let floors = floors(declares);
        assert!(floors.len() > 9, "{declares} declares only {} modules", floors.len());
        let inside =
            sources.iter().filter(|it| it.path().starts_with(folder) && !it.file.is_test());
        inside.flat_map(|source| upward(source, folder, path, &floors)).collect::<Vec<_>>()
    });
    check("a folder uses one that does not stand on a lower floor", breaches);
}

/// By module, the number of its floor, counted from the lowest.
fn floors(declares: &str) -> HashMap<String, usize> {
    let text = fs::read_to_string(root().join(declares)).expect("a file that declares modules");
    let (mut floors, mut floor) = (HashMap::new(), 0);
    for line in text.lines() {
        let declared = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ");
        match declared.and_then(|name| name.strip_suffix(';')) {
            Some(name) => drop(floors.insert(name.to_owned(), floor)),
            None if line.is_empty() => floor += 1,
            None => {}
        }
    }
    floors
}

fn upward(
    source: &RustFile,
    folder: &str,
    building: &[&str],
    floors: &HashMap<String, usize>,
) -> Vec<String> {
    let own = source.path()[folder.len()..].split(['/', '.']).next().unwrap_or_default();
    let Some(floor) = floors.get(own) else { return Vec::new() };
    let complain = |path: NamedPath| {
        let absolute = absolute(&path.segments, source.path());
        let inside = absolute.strip_prefix(building)?;
        let other = inside.first()?;
        let is_upward = *other != own && floors.get(*other)? >= floor;
        is_upward.then(|| format!("{}:{}: {}", source.path(), path.line, absolute.join("::")))
    };
    paths(source).into_iter().filter_map(complain).collect()
}

/// A path from the crate's root, where it can be told from the path itself.
fn absolute<'a>(segments: &'a [String], file: &'a str) -> Vec<&'a str> {
    let above = segments.iter().take_while(|segment| *segment == "super").count();
    let is_relative = above > 0 || segments[0] == "self";
    let inner = file.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    let mut module: Vec<&str> = std::iter::once("crate").chain(inner.split('/')).collect();
    module.truncate(module.len().saturating_sub(above));
    let named = segments.iter().map(String::as_str);
    match is_relative {
        true => module.into_iter().chain(named.skip(above.max(1))).collect(),
        false => named.collect(),
    }
}
