//! What scripts name is there.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use regex::Regex;

use crate::check;
use crate::source::{read, root};

/// The words of an array of a script, which is on one line.
fn array(script: &str, name: &str) -> Vec<String> {
    let line = Regex::new(&format!(r"(?m)^{name}=\((.*)\)$")).unwrap();
    let words = line.captures(script).unwrap_or_else(|| panic!("there is no {name}"));
    words[1].split(' ').map(str::to_owned).collect()
}

#[test]
fn figures_about_graphs_are_of_sets_and_tests_that_are_there() {
    let script = read("scripts/bench_graph.sh");
    let (sets, tests) =
        (read("benches/retrieve/sets.rs"), read("src/graph/communities/tests/found.rs"));
    let unknown = array(&script, "SETS").into_iter().filter(|set| {
        let known = format!("\n    \"{set}\",\n");
        !sets.contains(&known)
    });
    let without = array(&script, "OTHERS").into_iter().filter(|part| {
        let measured = format!("\nmeasure_{part}() {{");
        part != "themes" && !script.contains(&measured)
    });
    let named = Regex::new(r"communities::tests::found::(\w+)").unwrap();
    let named: Vec<String> =
        named.captures_iter(&script).map(|found| found[1].to_owned()).collect();
    assert_eq!(named.len(), 1, "tests of communities that scripts/bench_graph.sh runs");
    let gone = named.into_iter().filter(|name| !tests.contains(&format!("fn {name}")));
    check("scripts/bench_graph.sh names what is not there", unknown.chain(without).chain(gone));
}

/// What `scripts/install.sh script` does where `make install` has been told of this model; empty: of none.
fn installation_script(model: &str) -> Output {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new("bash");
    command.args(["scripts/install.sh", "script"]).current_dir(root());
    command.env("PG_RAG_CACHE", cache.path()).env("PG_RAG_DEFAULT_MODEL", model);
    command.output().expect("bash")
}

/// The embedding models that the extension has from the beginning: each model in each variant.
fn built_in_models() -> Vec<String> {
    let script = read("sql/install/model.sql");
    let inserted = script.split_once("INSERT INTO rag.model").expect("models that are inserted").1;
    let (models, rest) = inserted.split_once("AS model (").expect("a list of models");
    let (_, rest) = rest.split_once("(VALUES").expect("a list of variants");
    let (variants, _) = rest.split_once("AS variant (").expect("a list of variants");
    let first = Regex::new(r"\('([^']*)',").unwrap();
    let values = |list: &str| -> Vec<String> {
        first.captures_iter(list).map(|found| found[1].to_owned()).collect()
    };
    let (models, variants) = (values(models), values(variants));
    assert!(models.len() > 1 && variants.len() > 1, "{models:?} {variants:?}");
    let named = |model: &String| -> Vec<String> {
        variants.iter().map(|variant| format!("{model}{variant}")).collect()
    };
    models.iter().flat_map(named).collect()
}

#[test]
fn the_installation_script_chooses_the_model_that_is_named_and_no_unknown_one() {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let plain = installation_script("");
    assert!(plain.status.success(), "{}", text(&plain.stderr));
    let plain = text(&plain.stdout);
    assert!(plain.contains("CREATE SCHEMA rag;") && !plain.contains("ALTER DATABASE"));

    let names = built_in_models();
    for name in &names {
        let chosen = text(&installation_script(name).stdout);
        let added = chosen.strip_prefix(&plain).unwrap_or_else(|| panic!("{name}: {chosen}"));
        assert!(added.contains(&format!("'rag.embedding_model', '{name}'")), "{added}");
        assert!(added.contains("ALTER DATABASE") && !added.contains('@'), "{added}");
    }

    for unknown in
        ["minilm", "all-minilm-l6-v2-fp16", "multilingual-e5-small all-minilm-l6-v2", "."]
    {
        let refused = installation_script(unknown);
        let said = text(&refused.stderr);
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{unknown} is taken");
        assert!(said.contains(unknown) && names.iter().all(|name| said.contains(name)), "{said}");
    }
}

/// Which model recipes of a target of the Makefile would choose, where `make` is called in this way.
fn chosen_by_make(target: &str, environment: &[&str], arguments: &[&str]) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Instead of a recipe it says which model it is told of.
    let shell = folder.path().join("shell");
    fs::write(&shell, "#!/bin/sh\necho \"model: $PG_RAG_DEFAULT_MODEL\"\n").expect("a script");
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).expect("a program");
    let mut command = Command::new("make");
    command.current_dir(root()).arg(format!("SHELL={}", shell.display()));
    command.arg(target).args(arguments);
    // What calls this test may be make itself.
    for name in
        ["MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "PG_RAG_DEFAULT_MODEL", "MODEL"]
    {
        command.env_remove(name);
    }
    command.envs(environment.iter().map(|name| (*name, "all-minilm-l6-v2")));
    let output = command.output().expect("make");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    said.lines().filter_map(|line| line.strip_prefix("model: ")).map(str::to_owned).collect()
}

#[test]
fn a_model_is_chosen_on_the_command_line_of_make_install_alone() {
    let none = BTreeSet::from([String::new()]);
    let environment = ["MODEL", "PG_RAG_DEFAULT_MODEL"];
    for target in ["install", "deb", "rpm", "demo", "test"] {
        assert_eq!(chosen_by_make(target, &environment, &[]), none, "{target}");
    }
    let argument = ["MODEL=multilingual-e5-small-fp32"];
    let chosen = BTreeSet::from(["multilingual-e5-small-fp32".to_owned()]);
    assert_eq!(chosen_by_make("install", &environment, &argument), chosen);
    assert_eq!(chosen_by_make("deb", &[], &argument), none);
}
