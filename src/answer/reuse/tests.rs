use proptest::prelude::*;
use serde_json::json;

use super::QuestionLikeness::{Different, OtherWords, SameWords};
use super::*;

fn check(cases: &[(&str, &str, QuestionLikeness)]) {
    for (first, second, expected) in cases {
        assert_eq!(QuestionLikeness::of(first, second), *expected, "{first} | {second}");
        assert_eq!(QuestionLikeness::of(second, first), *expected, "{second} | {first}");
    }
}

#[test]
fn what_was_cut_short_is_not_whole() {
    assert!(is_whole(&json!({"calls": 1, "finish_reason": "stop"})));
    assert!(is_whole(&json!({"calls": 1, "finish_reason": null})));
    assert!(!is_whole(&json!({"calls": 1, "finish_reason": "length"})));
    assert!(!is_whole(&json!({"calls": 1, "finish_reason": ""})));
    assert!(!is_whole(&json!({"finish_reason": "stop", "stopped_by": "tokens"})));
}

#[test]
fn a_question_that_is_put_otherwise_has_the_same_words() {
    check(&[
        ("How do I reset a password?", "How can a password be reset?", SameWords),
        (
            "How do I reset my password?",
            "Could you please tell me how to reset my password?",
            SameWords,
        ),
        ("How do I reset my password?", "reset password", SameWords),
        ("When did anna leave?", "When did Anna leave?", SameWords),
        ("Why don\u{2019}t the lights work?", "Why do the lights not work?", SameWords),
        ("What time is check-out?", "When is check-out?", SameWords),
        ("Is it possible to freeze the soup?", "Can I freeze soups?", SameWords),
        ("Where is the logfile?", "Where is the log file?", SameWords),
        ("Is a@b.de a customer?", "Is a@b.de one of the customers?", Different),
        ("Is a@b.de a customer?", "Is a@b.de the customer?", SameWords),
        ("Wie setze ich mein Passwort zurück?", "Passwort zurücksetzen", SameWords),
        (
            "Comment est-ce que je réinitialise l'appareil ?",
            "Comment réinitialiser l'appareil ?",
            SameWords,
        ),
        ("¿Cuántos días tengo?", "Cuantos dias tengo", SameWords),
        ("Сколько у меня дней отпуска?", "Сколько дней отпуска у меня?", SameWords),
        ("工资什么时候发？", "什么时候发工资？", SameWords),
        ("متى تفتح المكتبة؟", "متى تفتح مكتبة؟", SameWords),
        ("How do I get from Lyon to Rome?", "How do I get to Rome from Lyon?", SameWords),
        ("xyz abc", "abc xyz", SameWords),
        ("Same?", "Same?", SameWords),
    ]);
}

#[test]
fn what_words_do_not_tell_is_left_to_the_cosine() {
    check(&[
        ("When do the holidays begin?", "When do the holidays start?", OtherWords),
        ("What does the tram cost?", "How much does the tram cost?", OtherWords),
        ("How long is the warranty?", "How long does the battery last?", OtherWords),
        ("What does the employer pay?", "What does the employee pay?", OtherWords),
    ]);
}

#[test]
fn a_question_of_something_else_is_another_one() {
    check(&[
        ("What was built in 2023?", "What was built in 2024?", Different),
        ("What costs two euros?", "What costs three euros?", Different),
        ("When did Anna leave?", "When did Berta leave?", Different),
        ("May I park here?", "May I not park here?", Different),
        ("May I park here?", "Must I park here?", Different),
        ("Is it written in C?", "Is it written in R?", Different),
        ("What grows in the desert?", "What grows in the dessert?", Different),
        ("Why don't the lights work?", "Why do the lights work?", Different),
        ("Who is a@b.de?", "Who is c@b.de?", Different),
        ("Who approves overtime?", "When is overtime approved?", Different),
        ("Can I cancel my order?", "How can I cancel my order?", Different),
        ("Who is the director?", "Who was the director?", Different),
        ("What happens before the backup?", "What happens after the backup?", Different),
        ("How do I install it?", "How do I uninstall it?", Different),
        ("Which tablets can I take?", "How many tablets can I take?", Different),
        ("How do I contact you?", "How do you contact me?", Different),
        ("How do I convert PDF to Word?", "How do I convert Word to PDF?", Different),
        ("Can I use oil instead of butter?", "Can I use butter instead of oil?", Different),
        ("When is the train from Lyon?", "When is the train to Lyon?", Different),
        ("Wie zahle ich Bargeld ein?", "Wie zahle ich Bargeld aus?", Different),
        ("Mit Milch?", "Ohne Milch?", Different),
        ("Quels élèves peuvent passer ?", "Quels élèves ne peuvent pas passer ?", Different),
        ("从北京到上海要多久？", "从上海到北京要多久？", Different),
        ("北京飞上海", "上海飞北京", Different),
        ("食前に飲みますか？", "食後に飲みますか？", Different),
        ("When is it open?", "Wann ist es offen?", Different),
        ("What is it?", "What was that?", Different),
        ("😀", "👍", Different),
        ("", "a", Different),
        ("xyz abc", "xyz abd", Different),
    ]);
    let long = |word: &str| format!("{} {word}?", "word ".repeat(200));
    assert_eq!(QuestionLikeness::of(&long("a"), &long("b")), Different);
    let around = |word: &str| {
        format!(
            "If I leave the flat that I have in the old town before the end, must I pay the {word}?"
        )
    };
    assert_eq!(QuestionLikeness::of(&around("rent"), &around("charges")), Different);
}

#[test]
fn no_judged_pair_of_other_questions_has_the_same_words() {
    let (mut same, mut recognised) = (0, 0);
    for line in include_str!("../../../benches/reuse/pairs.jsonl").lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| pair[key].as_str().unwrap().to_owned();
        let likeness = QuestionLikeness::of(&text("first"), &text("second"));
        if pair["same"] == true {
            same += 1;
            recognised += usize::from(likeness == SameWords);
        } else {
            assert_ne!(likeness, SameWords, "{line}");
        }
    }
    assert!(3 * recognised > same, "only {recognised} of {same} are recognised");
}

proptest! {
    #[test]
    fn another_number_is_another_question(
        question in "[a-zA-Z'\u{2019} ?äßéı一-三ぁ-ゖァ-ヶа-яا-يक-हกขก-ฮ가-각0-9.@-]{0,60}",
    ) {
        let of = |number: u32| format!("{question} {number}");
        prop_assert_ne!(QuestionLikeness::of(&of(4711), &of(4712)), SameWords);
        prop_assert_eq!(QuestionLikeness::of(&of(4711), &of(4711)), SameWords);
    }
}

#[test]
fn each_likeness_has_its_threshold() {
    let thresholds = QuestionThresholds { same_words: 0.75, other_words: Some(0.875) };
    let unknown = QuestionThresholds { other_words: None, ..thresholds };
    for (likeness, cosine, allowed, allowed_unknown) in [
        (SameWords, 0.75, true, true),
        (SameWords, 0.5, false, false),
        (OtherWords, 0.875, true, false),
        (OtherWords, 0.75, false, false),
        (Different, 1.0, false, false),
    ] {
        let found = [&thresholds, &unknown].map(|it| likeness.allows(cosine, it));
        assert_eq!(found, [allowed, allowed_unknown], "{likeness:?} {cosine}");
    }
}

#[test]
fn markers_get_the_numbers_of_the_new_sources() {
    let numbers = BTreeMap::from([(1, 3), (2, 1)]);
    let new = |answer| renumbered(answer, &numbers);
    assert_eq!(new("One [1]. Two [1, 2]."), Some("One [3]. Two [3][1].".to_owned()));
    assert_eq!(new("Nothing."), Some("Nothing.".to_owned()));
    assert_eq!(new("`a[7]` [2-1]"), Some("`a[7]` [1][3]".to_owned()));
    assert_eq!(new("Other [3]."), None);
    assert_eq!(cited("One [1]. Two [1, 4]."), BTreeSet::from([1, 4]));
}
