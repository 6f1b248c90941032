//! Chapters of the manual of PostgreSQL, a row each.
//!
//! The set has that manual by section: the sections whose keys begin alike are a chapter. Of each three questions are asked: for
//! an overview of what its title says, for its main points and for a summary. What an answer is to cover are the sections of the
//! chapter to which the index of the manual points, which its authors judged worth finding.
//!
//! How summaries are chosen was tuned on every second chapter, and is judged on the others. No term of the index points to
//! sections of three of these chapters, so it makes no themes of several documents.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;

use serde_json::Value;

use super::{QUESTIONS, Theme, ThemeSet};
use crate::Result;
use crate::sets::Set;

/// Sections of a chapter that is asked about: fewer are no chapter, more are a book of reference.
const SECTIONS: RangeInclusive<usize> = 5..=45;

/// Fewest sections of it that are to be covered.
const FEWEST_JUDGED: usize = 3;

/// The chapters, and questions for those of which enough is judged.
pub fn set(folder: &Path) -> Result<ThemeSet> {
    let set = Set::read(folder, "pgdocs14", None)?;
    let (mut rows, mut parts) = (Vec::new(), vec![("tuned", Vec::new()), ("kept", Vec::new())]);
    let mut asked = 0;
    for (row, theme) in chapters(&set) {
        if theme.judged.len() >= FEWEST_JUDGED {
            parts[asked % 2].1.push(theme);
            asked += 1;
        }
        rows.push(row);
    }
    let title = "questions for a whole chapter";
    Ok(ThemeSet { title, rows, tree: "{}", parts, budgets: &[250, 500, 1000] })
}

/// The chapters of a manual as rows, in the order of their keys, and what is asked of each.
fn chapters(set: &Set) -> Vec<((String, String), Theme)> {
    let judged: HashSet<&str> = set.cases["qrels"]
        .as_object()
        .into_iter()
        .flat_map(|qrels| qrels.values())
        .filter_map(Value::as_object)
        .flat_map(|documents| documents.keys().map(String::as_str))
        .collect();
    let mut groups: BTreeMap<&str, Vec<&[String; 3]>> = BTreeMap::new();
    for document in &set.documents {
        let key = document[0].split('-').next().unwrap_or_default();
        groups.entry(key).or_default().push(document);
    }
    let groups = groups.into_iter().filter(|(_, sections)| SECTIONS.contains(&sections.len()));
    groups.map(|(key, sections)| chapter(key, &sections, &judged)).collect()
}

fn chapter(
    key: &str,
    sections: &[&[String; 3]],
    judged: &HashSet<&str>,
) -> ((String, String), Theme) {
    let title = sections.first().map_or("", |section| &section[1]);
    let questions = QUESTIONS.map(|words| words.replace('X', title)).to_vec();
    let (mut body, mut theme) = (String::new(), Theme { questions, judged: Vec::new() });
    for [id, title, text] in sections {
        let start = body.chars().count() as i64;
        body += &format!("# {title}\n\n{text}\n\n");
        if judged.contains(id.as_str()) {
            theme.judged.push((key.to_owned(), start..body.chars().count() as i64));
        }
    }
    ((key.to_owned(), body), theme)
}
