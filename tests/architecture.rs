//! The invariants of ARCHITECTURE.md that a program can check.
//!
//! Each test collects every breach of one rule and names them all, as `file:line: what`.

#[path = "architecture/boundaries.rs"]
mod boundaries;
#[path = "architecture/floors.rs"]
mod floors;
#[path = "architecture/manual.rs"]
mod manual;
#[path = "architecture/measures.rs"]
mod measures;
#[path = "architecture/names.rs"]
mod names;
#[path = "architecture/packages.rs"]
mod packages;
#[path = "architecture/page.rs"]
mod page;
#[path = "architecture/path.rs"]
mod path;
#[path = "architecture/pictures.rs"]
mod pictures;
#[path = "architecture/policies.rs"]
mod policies;
#[path = "architecture/reference.rs"]
mod reference;
#[path = "architecture/scripts.rs"]
mod scripts;
#[path = "architecture/source.rs"]
mod source;
#[path = "architecture/sql.rs"]
mod sql;
#[path = "architecture/statements.rs"]
mod statements;

use std::collections::BTreeSet;

use regex::Regex;
use source::{Function, RustFile, SourceFile, files, rust_files};

/// Fails with the list, if there is one.
fn check(rule: &str, breaches: impl IntoIterator<Item = String>) {
    let breaches: Vec<String> = breaches.into_iter().collect();
    assert!(breaches.is_empty(), "{rule}:\n  {}\n", breaches.join("\n  "));
}

/// Where the server, the system or a processor's instructions are called.
const MAY_BE_UNSAFE: [&str; 5] =
    ["src/pg/", "src/daemon/", "src/vector/", "pgrx-tests/", "tests/support/"];

/// Where llama.cpp is called, a library in C++ with an interface in C.
const LLAMA: &str = "src/daemon/local_model/";

#[test]
fn unsafe_is_rare_and_explained() {
    let mut breaches = Vec::new();
    for source in rust_files() {
        let mut complain = |line, what| breaches.push(format!("{}:{line}: {what}", source.path()));
        for block in &source.unsafe_blocks {
            if !source.file.is_below(&MAY_BE_UNSAFE) {
                complain(block.line, "unsafe in a folder that may not");
            }
            if !block.is_explained {
                complain(block.line, "no SAFETY comment just above");
            }
        }
        let calls = |library: &str| source.tokens.iter().any(|token| token.text == library);
        let calls_c = calls("libc") || source.file.is_below(&[LLAMA]) && calls("library");
        if source.file.is_below(&["src/daemon/"]) && !calls_c {
            source
                .unsafe_blocks
                .iter()
                .for_each(|b| complain(b.line, "unsafe without a call of a C library"));
        }
    }
    check("unsafe", breaches);
}

#[test]
fn sql_functions_and_rust_functions_are_the_same() {
    let symbol = Regex::new(r"'MODULE_PATHNAME'\s*,\s*'(\w+)_wrapper'").unwrap();
    let install = files(&["sql/install"], &[".sql"]);
    let declared: BTreeSet<String> = install
        .iter()
        .flat_map(|file| symbol.captures_iter(&file.text).map(|found| found[1].to_owned()))
        .collect();
    let sources = rust_files();
    let defined: BTreeSet<String> =
        sql_functions(&sources).map(|(_, function)| function.name.clone()).collect();
    assert!(!declared.is_empty(), "no C function was found in sql/install");
    let only_declared = declared.difference(&defined);
    let only_defined = defined.difference(&declared);
    check(
        "functions on one side only",
        only_declared
            .map(|name| format!("sql/install names {name}_wrapper, src/pg has no {name}"))
            .chain(only_defined.map(|name| format!("src/pg has {name}, sql/install does not"))),
    );
}

/// Functions that SQL calls.
fn sql_functions(sources: &[RustFile]) -> impl Iterator<Item = (&RustFile, &Function)> {
    let called = |function: &&Function| {
        let is_called = |name: &String| name == "pg_extern" || name == "pg_trigger";
        !function.in_test && function.attributes.iter().any(is_called)
    };
    sources.iter().filter(|source| source.file.is_below(&["src/pg/"])).flat_map(move |source| {
        source.functions.iter().filter(called).map(move |function| (source, function))
    })
}

#[test]
fn sql_functions_decode_call_encode() {
    let sources = rust_files();
    let breaches = sql_functions(&sources).filter(|(_, function)| function.body > 15).map(
        |(source, Function { line, name, body, .. })| {
            format!("{}:{line}: {name} has {body} lines", source.path())
        },
    );
    check("bodies of SQL functions of over 15 lines", breaches);
}

#[test]
fn nothing_runs_with_its_definers_rights() {
    let definer = Regex::new(r"(?i)security\s+definer").unwrap();
    check("SECURITY DEFINER", lines_that_match(&files(&["sql"], &[".sql"]), &definer));
}

fn lines_that_match(files: &[SourceFile], pattern: &Regex) -> Vec<String> {
    let of_file = |file: &SourceFile| {
        let numbered = (1..).zip(file.text.lines());
        let found = numbered.filter(|(_, line)| pattern.is_match(line));
        found.map(|(n, line)| format!("{}:{n}: {}", file.path, line.trim())).collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}

#[test]
fn files_and_functions_are_short() {
    let mut breaches = Vec::new();
    for source in rust_files() {
        let lines = source.file.text.lines().count() - source.test_lines;
        if lines > 500 && !source.file.is_test() {
            breaches.push(format!("{}: {lines} lines without its tests, over 500", source.path()));
        }
        for Function { line, name, length, .. } in &source.functions {
            if *length > 80 {
                breaches.push(format!("{}:{line}: {name} has {length} lines", source.path()));
            }
        }
    }
    for file in files(&["sql", "scripts"], &[".sql", ".sh", ".py"]) {
        let lines = file.text.lines().count();
        if lines > 500 {
            breaches.push(format!("{}: {lines} lines, over 500", file.path));
        }
    }
    check("too long", breaches);
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, so that this file does not breach its own rule.
    let word = Regex::new(&["\\b(TO", "DO|FIX", "ME|X", "XX)\\b"].concat()).unwrap();
    let written = files(
        &[
            "src",
            "sql",
            "tests",
            "pgrx-tests",
            "benches",
            "scripts",
            "docs",
            "docker",
            "Makefile",
            "README.md",
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
        ],
        &[".rs", ".sql", ".sh", ".py", ".md", ".toml", ".yaml", "Makefile", "Dockerfile"],
    );
    let mut breaches = lines_that_match(&written, &word);
    for source in rust_files() {
        for pair in source.tokens.windows(2) {
            let macro_call =
                pair[1].text == "!" && ["todo", "unimplemented"].contains(&&*pair[0].text);
            let skipped = pair[0].text == "[" && pair[1].text == "ignore";
            if macro_call || skipped {
                breaches.push(format!("{}:{}: {}", source.path(), pair[0].line, pair[0].text));
            }
        }
    }
    check("unfinished", breaches);
}

/// Where the code may stop the process's work: a defect of the code itself, not of its input.
const MAY_PANIC: &[(&str, &str)] = &[
    // A placeholder of a statement that the code does not fill.
    ("src/pg/server/sql.rs", "panic"),
    // After an ERROR, which does not return.
    ("src/pg/server/error.rs", "unreachable"),
    // A node to which a link leads before it was published.
    ("src/hnsw/build.rs", "expect"),
];

#[test]
fn input_never_panics() {
    let mut breaches = Vec::new();
    for source in rust_files().iter().filter(|source| source.file.is_below(&["src/"])) {
        let tokens = source.tokens.windows(4).filter(|four| !four[0].in_test);
        for four in tokens {
            let [before, a, b, c] = [0, 1, 2, 3].map(|place| four[place].text.as_str());
            let method = a == "." && ["unwrap", "expect"].contains(&b) && c == "(";
            let macros = ["panic", "unreachable", "assert"];
            // `const _: () = assert!(...)` is the compiler's to check.
            let macro_call = macros.contains(&a) && b == "!" && c != "=" && before != "=";
            let allowed = [a, b].iter().any(|name| MAY_PANIC.contains(&(source.path(), name)));
            if (method || macro_call) && !allowed {
                breaches.push(format!("{}:{}: {a}{b}{c}", source.path(), four[1].line));
            }
        }
    }
    check("may panic on a user's input", breaches);
}

#[test]
fn files_are_called_after_their_subject() {
    let drawers = ["utils", "util", "common", "helpers", "helper", "types", "misc"];
    let written = files(
        &["src", "tests", "pgrx-tests", "benches", "sql", "scripts"],
        &[".rs", ".sql", ".sh", ".py"],
    );
    let breaches = written.into_iter().filter(|file| {
        let mut parts = file.path.split(['/', '.']);
        parts.any(|part| drawers.contains(&part))
    });
    check("files that could hold anything", breaches.map(|file| file.path));
}

#[test]
fn every_setting_and_function_is_documented() {
    let manual: String =
        files(&["README.md", "docs"], &[".md"]).into_iter().map(|file| file.text).collect();
    let settings: Vec<String> = rust_files()
        .into_iter()
        .filter(|source| source.path() == "src/pg/server/guc.rs")
        .flat_map(|source| source.strings)
        .map(|text| text.text.trim_matches(['c', '"']).to_owned())
        .filter(|text| text.starts_with("rag.") || text.starts_with("rag_hnsw."))
        .filter(|text| !text.contains(' '))
        .collect();
    assert!(!settings.is_empty(), "no setting was found in src/pg/server/guc.rs");
    let function = Regex::new(r"CREATE FUNCTION ([\w.]+)").unwrap();
    let declared: String =
        files(&["sql/install"], &[".sql"]).into_iter().map(|file| file.text).collect();
    let of_an_index =
        |name: &String| name.starts_with("rag.hnsw_") || name.starts_with("rag.bm25_");
    let functions: Vec<String> = function
        .captures_iter(&declared)
        .map(|found| found[1].to_owned())
        .filter(|name| !of_an_index(name))
        .collect();
    let missing = |name: &&String| !manual.contains(&format!("`{name}"));
    check(
        "not in README.md or docs/, where it should stand as `name`",
        settings.iter().chain(&functions).filter(missing).cloned(),
    );
}
