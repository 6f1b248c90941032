//! What is read, and quoted, beside what a reader is sure of.

use super::reader::{Knowing, found};
use super::*;

const WARRANTY: &str = "The warranty of the keyboard K100 is two years.";
const BATTERY: &str = "The battery of the keyboard K100 lasts for 80 hours.";
const COLOUR: &str = "The keyboard is grey, and it has a cable of cloth.";

/// The answer of a reader that is sure of what has one of `words`, and how many of `contents` it has read.
fn ask(question: &str, contents: &[&str], words: &'static str) -> (String, usize) {
    let mut model = Knowing::sure_of(words);
    let found = extract(question, &found(contents), &mut model, &Default::default()).unwrap();
    (found.answer, model.read.len())
}

#[test]
fn a_question_for_two_things_is_answered_by_two_chunks() {
    let question = "What are the warranty and the battery life of the keyboard K100?";
    for contents in [[WARRANTY, BATTERY], [BATTERY, WARRANTY]] {
        let (answer, read) = ask(question, &contents, "years|hours");
        assert_eq!(read, 2, "{answer}");
        assert!(answer.contains(WARRANTY) && answer.contains(BATTERY), "{answer}");
    }
}

#[test]
fn what_mentions_a_word_and_does_not_answer_keeps_no_other_chunk_from_being_read() {
    let question = "What are the warranty and the battery life of the keyboard K100?";
    let mention = format!("{WARRANTY} The battery of the keyboard K100 has a page of its own.");
    let (answer, _) = ask(question, &[&mention, BATTERY], "years|hours");
    assert!(answer.contains(WARRANTY) && answer.contains(BATTERY), "{answer}");
}

#[test]
fn what_contradicts_is_quoted() {
    let other = "The warranty of the keyboard K100 is three years.";
    let question = "What is the warranty of the keyboard K100?";
    let (answer, read) = ask(question, &[WARRANTY, other], "years");
    assert_eq!(read, 2, "{answer}");
    assert!(answer.contains("two") && answer.contains("three"), "{answer}");
}

#[test]
fn what_no_sure_chunk_speaks_of_may_be_said_elsewhere_in_other_words() {
    let question = "What is the warranty of the keyboard K100, and its runtime?";
    let hours = "It plays for 80 hours before it is empty.";
    assert_eq!(ask(question, &[WARRANTY, hours], "years|hours").1, 2);
}

#[test]
fn nothing_is_read_that_says_the_same_or_less() {
    let question = "What is the warranty of the keyboard K100?";
    assert_eq!(ask(question, &[WARRANTY, WARRANTY, COLOUR], "years").1, 1);
}

#[test]
fn with_infinity_all_is_read() {
    let options = ExtractOptions { sure: f32::INFINITY, ..Default::default() };
    let mut model = Knowing::sure_of("years");
    let question = "What is the warranty of the keyboard K100?";
    extract(question, &found(&[WARRANTY, COLOUR]), &mut model, &options).unwrap();
    assert_eq!(model.read.len(), 2);
}
