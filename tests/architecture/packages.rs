//! What packages say of pg_rag is what pg_rag says.

use regex::Regex;
use serde_json::Value;

use crate::check;
use crate::source::{files, read, root};

/// What stands in quotes behind the first `key = `.
fn value(text: &str, key: &str) -> String {
    let line = Regex::new(&format!(r#"(?m)^{key} = ["'](.*)["']$"#)).unwrap();
    let found = line.captures(text).unwrap_or_else(|| panic!("no {key} in:\n{text}"));
    found[1].to_owned()
}

fn meta() -> Value {
    serde_json::from_str(&read("META.json")).expect("META.json is JSON")
}

#[test]
fn meta_json_agrees_with_the_extension() {
    let (meta, cargo, control) = (meta(), read("Cargo.toml"), read("pg_rag.control"));
    let provided = &meta["provides"]["pg_rag"];
    let version = value(&cargo, "version");
    let requires = &meta["prereqs"]["runtime"]["requires"];
    let pairs = [
        ("version", &meta["version"], version.clone()),
        ("provides.version", &provided["version"], version.clone()),
        ("name", &meta["name"], value(&cargo, "name")),
        ("abstract", &meta["abstract"], value(&cargo, "description")),
        ("provides.abstract", &provided["abstract"], value(&control, "comment")),
        ("license", &meta["license"], value(&cargo, "license").to_lowercase()),
    ];
    let differing = pairs.into_iter().filter(|(_, said, is)| *said != is);
    let mut breaches: Vec<String> =
        differing.map(|(key, said, is)| format!("{key} is {said}, and should be {is:?}")).collect();
    for required in value(&control, "requires").split(", ") {
        if requires[required].is_null() {
            breaches.push(format!("prereqs: {required} is missing"));
        }
    }
    if value(&read("rag-server/Cargo.toml"), "version") != version {
        breaches.push("rag-server has another version".to_owned());
    }
    check("META.json", breaches);
}

/// What of the PGXN Meta Spec 1 a program can check.
#[test]
fn meta_json_keeps_to_its_specification() {
    let meta = meta();
    let version = Regex::new(r"^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$").unwrap();
    let is_version = |it: &Value| it.as_str().is_some_and(|text| version.is_match(text));
    let is_text = |it: &Value| it.as_str().is_some_and(|text| !text.is_empty());
    let is_list = |it: &Value| it.as_array().is_some_and(|all| all.iter().all(is_text));
    let is_file = |it: &Value| it.as_str().is_some_and(|path| root().join(path).is_file());
    let provided = &meta["provides"]["pg_rag"];
    let requires = meta["prereqs"]["runtime"]["requires"].as_object().expect("requires");
    let tags = meta["tags"].as_array().expect("tags");
    let rules = [
        ("name", is_text(&meta["name"])),
        ("version", is_version(&meta["version"])),
        ("abstract", is_text(&meta["abstract"])),
        ("maintainer", is_list(&meta["maintainer"])),
        ("license", is_text(&meta["license"])),
        ("meta-spec", meta["meta-spec"]["version"] == "1.0.0"),
        (
            "release_status",
            ["stable", "testing", "unstable"].iter().any(|it| meta["release_status"] == *it),
        ),
        ("provides.file", is_file(&provided["file"])),
        ("provides.docfile", is_file(&provided["docfile"])),
        ("provides.version", is_version(&provided["version"])),
        ("prereqs", requires.values().all(is_version)),
        ("tags", tags.iter().all(|it| is_text(it) && !it.to_string().contains(['/', '\\']))),
    ];
    check("META.json", rules.iter().filter(|(_, holds)| !holds).map(|(key, _)| (*key).to_owned()));
}

#[test]
fn packages_want_the_pgvector_that_is_wanted() {
    let wanted = meta()["prereqs"]["runtime"]["requires"]["vector"].to_string();
    let wanted = wanted.trim_matches('"').trim_end_matches(".0").to_owned();
    let control = read("debian/control.in");
    assert!(control.contains(&format!("postgresql-@PG@-pgvector (>= {wanted})")), "{wanted}");
    assert!(read("scripts/rpm.sh").contains(&format!("pgvector_$VERSION >= {wanted}")), "{wanted}");
    assert!(read("README.md").contains(&format!("pgvector {wanted} or later")), "{wanted}");
}

/// A model that is shipped and in no package could not be used where packages are installed.
#[test]
fn every_model_has_packages() {
    let environment = read("scripts/env.sh");
    let names = Regex::new(r"(?m)^MODEL_NAMES=\((.*)\)$").unwrap();
    let names = names.captures(&environment).expect("MODEL_NAMES")[1].to_owned();
    let (control, spec) = (read("debian/control.in"), read("rpm/pg_rag.spec.in"));
    let missing = names.split(' ').flat_map(|name| [name.to_owned(), format!("{name}-fp32")]);
    let missing = missing.filter(|name| {
        !control.contains(&format!("\nPackage: rag-model-{name}\n"))
            || !root().join(format!("debian/rag-model-{name}.install")).is_file()
            || !spec.contains(&format!("\n%package -n rag-model-{name}\n"))
    });
    check("models without a package", missing);
}

/// Of each release there is the script that made its objects, and a way from it to the version of Cargo.toml.
#[test]
fn every_released_version_can_be_updated() {
    let of_name = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".sql");
        name.split("--").skip(1).map(str::to_owned).collect::<Vec<String>>()
    };
    let version = value(&read("Cargo.toml"), "version");
    let updates = files(&["sql/upgrade"], &[".sql"]);
    let steps: Vec<Vec<String>> = updates.iter().map(|file| of_name(&file.path)).collect();
    let next =
        |from: &String| steps.iter().find(|step| step[0] == *from).map(|step| step[1].clone());
    let kept: Vec<String> = files(&["tests/released"], &[".sql"])
        .iter()
        .filter_map(|file| of_name(&file.path).pop())
        .collect();
    let title = Regex::new(r"(?m)^## ([0-9.]+) \((.*)\)$").unwrap();
    let changelog = read("CHANGELOG.md");
    let released = title.captures_iter(&changelog).filter(|it| &it[2] != "unreleased");
    let not_kept =
        released.map(|it| it[1].to_owned()).filter(|it| *it != version && !kept.contains(it));
    let not_kept = not_kept.map(|it| format!("tests/released has no script of {it}"));
    let stranded = kept.iter().filter(|from| {
        std::iter::successors(Some((*from).clone()), next)
            .take(steps.len() + 1)
            .all(|it| it != version)
    });
    let stranded = stranded.map(|from| format!("no way leads from {from} to {version}"));
    let unsafe_ones = updates.iter().filter(|file| {
        let mut lines =
            file.text.lines().filter(|line| !line.is_empty() && !line.starts_with("--"));
        !lines.next().is_some_and(|line| line.starts_with("COMMENT ON EXTENSION pg_rag"))
    });
    let unsafe_ones =
        unsafe_ones.map(|file| format!("{} does not begin with COMMENT ON EXTENSION", file.path));
    check("updates", not_kept.chain(stranded).chain(unsafe_ones));
}
