//! What becomes of questions about texts of many forms: chats, contracts, price lists, timetables.

use std::collections::BTreeMap;

use crate::data::Set;
use crate::outcomes::{Answered, Outcomes, plain};
use crate::reliability::JudgedAnswer;

/// The sets whose ids begin with the form of the text and its language: "chat-de-1-q03".
pub const SETS: [&str; 2] = ["forms", "tables"];

/// Prints the answers to all questions of `set`, and then what became of them, form by form and language by language.
/// Gives each as it is judged.
pub fn print(set: &Set, answers: &[Answered]) -> Vec<JudgedAnswer> {
    let mut judged = Vec::new();
    let mut all = Outcomes::default();
    let mut groups: [BTreeMap<&str, Outcomes>; 2] = Default::default();
    for (question, answered) in set.questions.iter().zip(answers) {
        let gold = question.answers.iter().map(|it| plain(it)).collect::<Vec<String>>();
        judged.push(answered.judged(&gold));
        let answer = &answered.given;
        let outcome = all.add(&gold, answer);
        for (group, name) in groups.iter_mut().zip(question.id.split('-')) {
            group.entry(name).or_default().add(&gold, answer);
        }
        let (id, text, confidence) = (&question.id, &question.text, answer.confidence);
        println!("\n{id}: {text} — {outcome}, {confidence:.2}");
        println!("  expected: {}", gold.first().map_or("no answer", String::as_str));
        println!("{}", answer.answer);
    }
    let [forms, languages] = groups;
    table("form", forms.into_iter().chain([("all", all)]));
    table("language", languages.into_iter());
    judged
}

fn table<'a>(group: &str, rows: impl Iterator<Item = (&'a str, Outcomes)>) {
    println!(
        "\n{group:10} {:>7} {:>7} {:>7}   without an answer: {:>8} {:>8}",
        "right", "wrong", "refused", "refused", "answered"
    );
    for (name, Outcomes { right, wrong, refused, invented, withheld }) in rows {
        println!("{name:10} {right:7} {wrong:7} {refused:7}   {withheld:27} {invented:8}");
    }
}
