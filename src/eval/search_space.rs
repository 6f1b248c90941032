//! Which configurations are tried?
//!
//! ```text
//! {"retrieve.mode": ["hybrid", "lexical"], "k": [3, 6]} → a grid of four
//! ```
//!
//! Beside them stands what holds now, the defaults of the pipeline, with which all others are compared.

use serde_json::{Map, Value, json};

use super::configuration::{self, Configuration};
use crate::error::{Error, Result};
use crate::exact;
use crate::options::shortened;

/// Most configurations that are tried.
const MOST: usize = 256;

/// Longest search space, in bytes, and most options in it: each configuration has a copy of its part.
const LONGEST: usize = 64 << 10;
const MOST_OPTIONS: usize = 32;

/// What the configuration is called that differs in nothing from the defaults.
const DEFAULTS: &str = "defaults";

/// Said where a search space cannot be read.
const EXAMPLE: &str = "For instance {\"retrieve.mode\": [\"hybrid\", \"dense\"], \"k\": [3, 6]}.";

/// The configurations that are tried: first the defaults, then those with a name, then all of the grid.
/// Both are JSON, in the order in which it is written.
///
/// Fails with an invalid parameter where that is nothing but the defaults, or more than 256.
pub fn candidates(named: Option<&str>, space: Option<&str>) -> Result<Vec<Configuration>> {
    let mut candidates = named.map_or_else(|| Ok(Vec::new()), configuration::parse)?;
    let baseline = match candidates.iter().position(Configuration::is_default) {
        Some(place) => candidates.remove(place),
        None => configuration::read(&unused(DEFAULTS.to_owned(), &candidates), json!({}))?,
    };
    candidates.insert(0, baseline);
    if let Some(space) = space {
        for (name, options) in grid(space)? {
            let name = unused(name, &candidates);
            candidates.push(configuration::read(&name, options)?);
        }
    }
    match candidates.len() {
        1 => Err(Error::invalid(
            "there is nothing to choose from: search_space and configurations are empty",
        )
        .hint(EXAMPLE)),
        ..=MOST => Ok(candidates),
        count => Err(too_many(count)),
    }
}

fn too_many(count: impl std::fmt::Display) -> Error {
    Error::invalid(format!("{count} configurations are more than {MOST}"))
        .hint("Leave values out of search_space, or name the promising ones in configurations.")
}

/// `name`, or with a number where a configuration is called so.
fn unused(name: String, known: &[Configuration]) -> String {
    let is_known = |name: &str| known.iter().any(|it| it.name == name);
    match is_known(&name) {
        false => name,
        true => (2..).map(|n| format!("{name} ({n})")).find(|it| !is_known(it)).unwrap_or(name),
    }
}

/// All ways to give each option one of its values, each with a name that says them; those of the last
/// option change first.
fn grid(space: &str) -> Result<Vec<(String, Value)>> {
    if space.len() > LONGEST {
        let length = space.len();
        let message = format!("search_space is {length} bytes long, and may have {LONGEST}");
        return Err(Error::invalid(message));
    }
    let options = configuration::members(space)
        .map_err(|error| Error::invalid(format!("search_space: {error}")).hint(EXAMPLE))?;
    if options.len() > MOST_OPTIONS {
        let count = options.len();
        return Err(Error::invalid(format!(
            "search_space has {count} options, and may have {MOST_OPTIONS}"
        )));
    }
    let options: Vec<(String, Vec<Value>)> =
        options.into_iter().map(|(path, values)| values_of(path, values)).collect::<Result<_>>()?;
    let count =
        options.iter().try_fold(1usize, |count, (_, values)| count.checked_mul(values.len()));
    match count {
        Some(..=MOST) => {}
        Some(count) => return Err(too_many(count)),
        None => return Err(too_many("far too many")),
    }
    let mut grid = match options.is_empty() {
        true => Vec::new(),
        false => vec![(Vec::new(), Map::new())],
    };
    for (path, values) in &options {
        let with = |(names, options): (Vec<String>, Map<String, Value>)| {
            values.iter().map(move |value| {
                let mut names = names.clone();
                names.push(format!("{}={}", shortened(path), shown(value)));
                (names, with_option(options.clone(), path, value))
            })
        };
        grid = grid.into_iter().flat_map(with).collect();
    }
    Ok(grid.into_iter().map(|(names, it)| (names.join(", "), Value::Object(it))).collect())
}

fn values_of(path: String, values: Value) -> Result<(String, Vec<Value>)> {
    match values {
        Value::Array(values) if !values.is_empty() => Ok((path, values)),
        other => {
            let (path, other) = (shortened(&path), shortened(&exact::written(&other)));
            let message = format!("search_space: \"{path}\" must be a list of values, not {other}");
            Err(Error::invalid(message).hint(EXAMPLE))
        }
    }
}

/// The object with the value of an option: "k", "retrieve.mode".
fn with_option(mut options: Map<String, Value>, path: &str, value: &Value) -> Map<String, Value> {
    let Some((group, key)) = path.split_once('.') else {
        options.insert(path.to_owned(), value.clone());
        return options;
    };
    match options.entry(group).or_insert_with(|| json!({})) {
        Value::Object(members) => drop(members.insert(key.to_owned(), value.clone())),
        // The group itself has been given as an option.
        other => *other = json!({key: value}),
    }
    options
}

fn shown(value: &Value) -> String {
    match exact::text(value) {
        Some(text) => shortened(text),
        None => shortened(&exact::written(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(named: Option<&str>, space: Option<&str>) -> Vec<String> {
        candidates(named, space).unwrap().into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn a_grid_has_all_combinations_in_their_order() {
        let space =
            r#"{"retrieve.mode": ["hybrid", "dense"], "k": [3, 6], "retrieve.mmr": [null]}"#;
        assert_eq!(
            names(None, Some(space)),
            [
                "defaults",
                "retrieve.mode=hybrid, k=3, retrieve.mmr=null",
                "retrieve.mode=hybrid, k=6, retrieve.mmr=null",
                "retrieve.mode=dense, k=3, retrieve.mmr=null",
                "retrieve.mode=dense, k=6, retrieve.mmr=null",
            ]
        );
        let candidates = candidates(None, Some(space)).unwrap();
        assert!(candidates[0].is_default());
        assert_eq!(
            candidates[3].options.clone().into_json(),
            json!({"k": 3, "retrieve": {"mode": "dense", "mmr": null}})
        );
    }

    #[test]
    fn numbers_of_filters_have_all_their_digits() {
        let digits = "12345678901234567890123.50";
        let space =
            format!(r#"{{"retrieve.filter": [{{"n": {digits}}}], "retrieve.mmr": [0.50]}}"#);
        let candidates = candidates(None, Some(&space)).unwrap();
        assert_eq!(
            candidates[1].name,
            format!(r#"retrieve.filter={{"n":{digits}}}, retrieve.mmr=0.50"#)
        );
        let filter = json!({"n": exact::of_digits(digits)});
        assert_eq!(
            candidates[1].options.clone().into_json(),
            json!({"retrieve": {"filter": filter, "mmr": 0.5}})
        );
    }

    #[test]
    fn the_defaults_stand_first_under_the_name_that_they_are_given() {
        let named = r#"{"small": {"k": 1}, "as now": {}, "k=2": {"k": 2}}"#;
        assert_eq!(names(Some(named), None), ["as now", "small", "k=2"]);
        let both = names(Some(named), Some(r#"{"k": [2, 2], "pipeline": ["p"]}"#));
        assert_eq!(both[3..], ["k=2, pipeline=p", "k=2, pipeline=p (2)"]);
        let both = names(Some(named), Some(r#"{"k": [2]}"#));
        assert_eq!(both[3..], ["k=2 (2)"]);
        assert_eq!(names(Some(r#"{"defaults": {"k": 1}}"#), None), ["defaults (2)", "defaults"]);
    }

    #[test]
    fn what_is_no_search_space_is_named() {
        let check = |named: Option<&str>, space: &str, message: &str| {
            let error = candidates(named, Some(space)).unwrap_err();
            assert!(error.message().starts_with(message), "{space}: {error}");
            assert!(error.hint_text().is_some(), "{space}");
        };
        let nothing = "there is nothing to choose from";
        check(None, "{}", nothing);
        check(Some(r#"{"as now": {}}"#), "{}", nothing);
        assert!(candidates(None, None).unwrap_err().message().starts_with(nothing));
        check(None, "[]", "search_space: invalid type: sequence");
        check(None, r#"{"k": []}"#, "search_space: \"k\" must be a list of values, not []");
        check(None, r#"{"k": 3}"#, "search_space: \"k\" must be a list of values, not 3");
        check(None, r#"{"k": [0]}"#, "configuration \"k=0\": k must be between 1 and 10000, not 0");
        check(
            None,
            r#"{"mode": ["dense"]}"#,
            "configuration \"mode=dense\": unknown option \"mode\"",
        );
        check(
            None,
            r#"{"answer.budget.calls": [1]}"#,
            "configuration \"answer.budget.calls=1\": unknown option \"budget.calls\" of \"answer\"",
        );
        let eleven = format!("[{}]", (1..=11).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
        let grid = |options: usize| {
            let options: Vec<String> =
                (0..options).map(|n| format!("\"o{n}\": {eleven}")).collect();
            format!("{{{}}}", options.join(","))
        };
        check(None, &grid(3), "1331 configurations are more than 256");
        check(None, &grid(30), "far too many configurations are more than 256");
    }

    #[test]
    fn a_search_space_is_not_long() {
        let many: Vec<String> = (0..33).map(|n| format!("\"o{n}\": [1]")).collect();
        let check = |space: &str, message: &str| {
            assert_eq!(candidates(None, Some(space)).unwrap_err().message(), message);
        };
        check(&format!("{{{}}}", many.join(",")), "search_space has 33 options, and may have 32");
        let long = format!("{{\"llm\": [\"{}\"]}}", "x".repeat(65_536));
        check(&long, "search_space is 65549 bytes long, and may have 65536");
    }

    #[test]
    fn as_many_as_may_be_are_tried() {
        let values = |count: usize| {
            let values: Vec<String> = (1..=count).map(|n| n.to_string()).collect();
            format!("{{\"k\": [{}]}}", values.join(","))
        };
        assert_eq!(candidates(None, Some(&values(255))).unwrap().len(), 256);
        let error = candidates(None, Some(&values(256))).unwrap_err();
        assert_eq!(error.message(), "257 configurations are more than 256");
    }
}
