//! Texts to insert: the set scifact where it is there, otherwise sentences made here.

use crate::data::Data;

const SUBJECTS: [&str; 7] = [
    "The pump",
    "A valve",
    "The northern station",
    "This sensor",
    "The boiler",
    "A filter",
    "The line",
];
const VERBS: [&str; 5] =
    ["was replaced", "lost pressure", "ran hot", "was inspected", "was shut down"];
const TIMES: [&str; 6] =
    ["at noon", "during the night shift", "in March", "after the storm", "on Sunday", "twice"];

/// The documents of scifact, title before text; `None` where the set is missing.
pub fn documents() -> Option<Vec<String>> {
    let set = Data::find()?.read("scifact");
    Some(set.passages.into_iter().map(|(_, text)| text).collect())
}

/// A note of two sentences; another one for each number.
pub fn note(number: usize) -> String {
    let pick = |list: &[&'static str], salt: usize| list[(number / salt + salt) % list.len()];
    format!(
        "{} {} {}, as report {number} says. It was back at work {} hours later.",
        pick(&SUBJECTS, 1),
        pick(&VERBS, 7),
        pick(&TIMES, 35),
        1 + number % 40
    )
}
