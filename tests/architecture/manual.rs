//! The pages of the manual are listed, and their links lead somewhere.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

use crate::check;
use crate::source::{SourceFile, files, root};

/// What `make docs` makes a site of.
fn pages() -> Vec<SourceFile> {
    files(&["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs"], &[".md"])
}

#[test]
fn every_page_is_a_chapter() {
    let pages = pages();
    let readme = &pages.iter().find(|page| page.path == "README.md").expect("README.md").text;
    let list = readme.split("\n## Documents\n").nth(1).expect("the list of documents");
    let list = list.split("\n## ").next().unwrap_or_default();
    let listed: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("* ["))
        .filter_map(|line| line.split(']').next())
        .collect();
    let there: BTreeSet<&str> = pages
        .iter()
        .map(|page| page.path.as_str())
        .filter(|path| *path != "README.md" && path.matches('/').count() < 2)
        .collect();
    let unlisted = there.difference(&listed).map(|path| format!("{path} is not listed"));
    let missing = listed.difference(&there).map(|path| format!("{path} is not there"));
    check("README.md lists the documents", unlisted.chain(missing));
}

/// A page in a folder of docs/ belongs to the page of the folder's name, which leads to it.
#[test]
fn every_part_is_linked_from_its_page() {
    let pages = pages();
    let lost = pages.iter().filter(|page| page.path.matches('/').count() > 1).filter(|part| {
        let (folder, file) = part.path.rsplit_once('/').unwrap_or_default();
        let link = format!("({}/{file}", folder.trim_start_matches("docs/"));
        !pages.iter().any(|it| it.path == format!("{folder}.md") && it.text.contains(&link))
    });
    check("pages that no page leads to", lost.map(|page| page.path.clone()));
}

#[test]
fn no_link_is_dead() {
    let pages = pages();
    let read: HashMap<&str, Read> =
        pages.iter().map(|page| (page.path.as_str(), Read::new(&page.text))).collect();
    let mut links = 0;
    let mut dead = Vec::new();
    for (page, Read { destinations, .. }) in &read {
        let inside = destinations.iter().filter(|it| !it.contains("://"));
        for destination in inside {
            links += 1;
            let (file, heading) = destination.split_once('#').unwrap_or((destination, ""));
            let path = if file.is_empty() { (*page).to_owned() } else { beside(page, file) };
            let leads = match read.get(path.as_str()) {
                Some(target) => heading.is_empty() || target.headings.contains(heading),
                None => heading.is_empty() && root().join(&path).is_file(),
            };
            if !leads {
                dead.push(format!("{page}: {destination}"));
            }
        }
    }
    assert!(links > 100, "only {links} links were found");
    dead.sort();
    check("dead links", dead);
}

/// Whether `source` has the function `name`, and it is a test or one calls it.
fn is_run(source: &str, name: &str) -> bool {
    let is_test = Regex::new(&format!(r"#\[test\]\s+(#\[[^\n]*\s+)*fn {name}\(")).unwrap();
    let named = Regex::new(&format!(r"(fn )?\b{name}\(")).unwrap();
    let mut is_there = false;
    let mut is_called = false;
    for found in named.captures_iter(source) {
        match found.get(1) {
            Some(_) => is_there = true,
            None => is_called = true,
        }
    }
    is_there && (is_called || is_test.is_match(source))
}

#[test]
fn a_function_that_nothing_calls_is_no_test() {
    assert!(is_run("#[test]\nfn mills() {}", "mills"));
    assert!(is_run("#[test]\n#[should_panic]\nfn mills() {}", "mills"));
    assert!(is_run("fn mills() {}\n#[test]\nfn all() {\n    mills();\n}", "mills"));
    assert!(!is_run("fn mills() {}", "mills"));
    assert!(!is_run("fn mills() {}\n#[test]\nfn all_mills() {\n    wind_mills();\n}", "mills"));
    assert!(!is_run("#[test]\nfn all() {\n    mills();\n}", "mills"));
}

/// Where a page says which test keeps what it says, as `tests/FILE.rs`: `FUNCTION`.
#[test]
fn tests_that_a_page_names_are_run() {
    let named = Regex::new(r"`(tests/[\w/]+\.rs)`: `(\w+)`").unwrap();
    let (mut count, mut missing) = (0, Vec::new());
    for page in pages() {
        for found in named.captures_iter(&page.text) {
            count += 1;
            let text = std::fs::read_to_string(root().join(&found[1])).unwrap_or_default();
            if !is_run(&text, &found[2]) {
                missing.push(format!("{}: {}", page.path, &found[0]));
            }
        }
    }
    assert!(count > 5, "only {count} tests are named");
    check("tests that are not there or not run", missing);
}

/// The path of a file that a page names, from the project's folder.
fn beside(page: &str, file: &str) -> String {
    let mut folders: Vec<&str> = page.split('/').collect();
    folders.pop();
    for part in file.split('/') {
        match part {
            "." => {}
            ".." => drop(folders.pop()),
            part => folders.push(part),
        }
    }
    Path::new(&folders.join("/")).to_string_lossy().into_owned()
}

/// Where a page's links lead, and what leads to its headings.
struct Read {
    destinations: Vec<String>,
    headings: BTreeSet<String>,
}

impl Read {
    fn new(text: &str) -> Self {
        let mut read = Read { destinations: Vec::new(), headings: BTreeSet::new() };
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    read.destinations.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(words) | Event::Code(words) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    read.headings.extend(heading.take().map(|it| anchor(&it)));
                }
                _ => {}
            }
        }
        read
    }
}

/// As forges and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}
