//! What is replaced is put back, whatever stands around it.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::redaction::{Redaction, ReplacedValue};
use super::{find, json};

/// The texts as they are sent, and what puts values back.
fn redacted(texts: &[&str]) -> (Vec<String>, Redaction) {
    let mut redaction = Redaction::default();
    texts.iter().for_each(|text| redaction.learn(text, &mut || {}));
    let sent = texts.iter().map(|text| redaction.replace(text, &mut || {})).collect();
    (sent, redaction)
}

fn check(texts: &[&str], expected: &[&str]) {
    let (sent, redaction) = redacted(texts);
    assert_eq!(sent, expected);
    let restored: Vec<String> = sent.iter().map(|text| redaction.restore(text)).collect();
    assert_eq!(restored, texts);
}

#[test]
fn a_value_has_one_placeholder_in_all_texts() {
    check(
        &["Write to a@b.de or c@d.de.", "c@d.de, a@b.de, tel. 030 1234567"],
        &["Write to [EMAIL_1] or [EMAIL_2].", "[EMAIL_2], [EMAIL_1], tel. [PHONE_1]"],
    );
}

#[test]
fn a_name_is_replaced_where_nothing_announces_it() {
    check(
        &[
            "Who is Anna Schmidt? Schmidts Auto.",
            "Ask Frau Schmidt.",
            "Name: Anna Schmidt, Annabel",
        ],
        &[
            "Who is [PERSON_1]? [PERSON_2]s Auto.",
            "Ask Frau [PERSON_2].",
            "Name: [PERSON_1], Annabel",
        ],
    );
    check(&["王小明的书", "姓名：王小明"], &["[PERSON_1]的书", "姓名：[PERSON_1]"]);
    check(&["Schmidtke, Blacksmith", "Mr. Smith"], &["Schmidtke, Blacksmith", "Mr. [PERSON_1]"]);
}

#[test]
fn what_looks_like_a_placeholder_means_what_it_meant() {
    check(&["[EMAIL_1] and a@b.de"], &["[EMAIL_1] and [EMAIL_2]"]);
    check(&["a@b.de and [EMAIL_1]"], &["[EMAIL_1] and [EMAIL_2]"]);
    check(&["[EMAIL_2] [EMAIL_1]x"], &["[EMAIL_1] [EMAIL_2]x"]);
    check(&["[[IP_9]]", "[EMAIL_01] [mail]"], &["[[IP_1]]", "[EMAIL_01] [mail]"]);
}

#[test]
fn a_placeholder_of_nobody_stays() {
    let (_, redaction) = redacted(&["a@b.de"]);
    let said = "[EMAIL_1] [EMAIL_2] [EMAIL_1 [email_1] [PERSON_1] [EMAIL_1]]";
    let expected = "a@b.de [EMAIL_2] [EMAIL_1 [email_1] [PERSON_1] a@b.de]";
    assert_eq!(redaction.restore(said), expected);
}

#[test]
fn a_value_is_not_read_again() {
    // What was put back may look like a placeholder, and is not put back once more.
    let (sent, redaction) = redacted(&["[EMAIL_2] a@b.de"]);
    assert_eq!(sent, ["[EMAIL_1] [EMAIL_2]"]);
    assert_eq!(redaction.restore("[EMAIL_1]"), "[EMAIL_2]");
}

#[test]
fn later_calls_go_on_with_earlier_placeholders() {
    let (_, first) = redacted(&["a@b.de c@d.de"]);
    let mut second = Redaction::from_earlier(&first.replaced());
    let text = "e@f.de c@d.de [EMAIL_1]";
    second.learn(text, &mut || {});
    assert_eq!(second.replace(text, &mut || {}), "[EMAIL_3] [EMAIL_2] [EMAIL_4]");
    assert_eq!(second.restore("[EMAIL_1] [EMAIL_4]"), "a@b.de [EMAIL_1]");
    let odd =
        |placeholder: &str| ReplacedValue { placeholder: placeholder.into(), value: "x".into() };
    assert!(Redaction::from_earlier(&[odd("x"), odd("[EMAIL_1] "), odd("")]).replaced().is_empty());
}

#[test]
fn only_strings_of_json_are_replaced() {
    let document = json!({"a@b.de": ["a@b.de", 4111111111111111_u64, {"x": "4111111111111111"}]});
    let mut redaction = Redaction::default();
    json::learn(&mut redaction, &document, &mut || {});
    let mut sent = document.clone();
    json::replace(&mut redaction, &mut sent, &mut || {});
    assert_eq!(sent, json!({"a@b.de": ["[EMAIL_1]", 4111111111111111_u64, {"x": "[CARD_1]"}]}));
}

#[test]
fn the_form_of_a_schema_stays() {
    let form = json!({"pattern": "^a@b.de$", "format": "x@y.de", "required": ["a@b.de"], "$ref": "#/a@b.de"});
    let mut schema = json!({
        "title": "a@b.de",
        "properties": {"description": {"enum": ["a@b.de", 7], "anyOf": [form, {"const": "a@b.de"}]}},
    });
    json::each_text_of_schema(&mut schema, &mut |text| *text = "-".to_owned());
    let expected = json!({
        "title": "-",
        "properties": {"description": {"enum": ["-", 7], "anyOf": [form, {"const": "-"}]}},
    });
    assert_eq!(schema, expected);
}

#[test]
fn a_text_alone_takes_no_numbers_from_others() {
    let mut redaction = Redaction::default();
    for text in ["a@b.de", "c@d.de a@b.de", "e@f.de"] {
        redaction.learn(text, &mut || {});
    }
    assert_eq!(redaction.replace("a@b.de", &mut || {}), "[EMAIL_1]");
    let mut alone = |text| redaction.replace_alone(text, &mut || {});
    assert_eq!(alone("c@d.de a@b.de c@d.de"), "[EMAIL_2] [EMAIL_1] [EMAIL_2]");
    assert_eq!(alone("e@f.de a@b.de"), "[EMAIL_2] [EMAIL_1]");
    assert_eq!(redaction.restore("[EMAIL_1] [EMAIL_2]"), "a@b.de [EMAIL_2]");
}

#[test]
fn places_are_those_of_the_text_as_it_was() {
    let mut redaction = Redaction::default();
    let text = "ä a@b.de, [IP_1]";
    redaction.learn(text, &mut || {});
    let (_, spans) = redaction.replace_with_spans(text, &mut || {});
    let places: Vec<_> =
        spans.iter().map(|span| (span.placeholder.to_string(), span.range.clone())).collect();
    assert_eq!(places, [("[EMAIL_1]".into(), 3..9), ("[IP_1]".into(), 11..17)]);
}

#[test]
fn names_are_found_behind_escapes() {
    check(&[r"Hi\nMiller\nx", "Mrs. Miller"], &[r"Hi\n[PERSON_1]\nx", "Mrs. [PERSON_1]"]);
}

#[test]
fn a_word_of_an_open_field_is_no_surname() {
    check(
        &["Author: Mozilla Developer Group\nGroup by team"],
        &["Author: [PERSON_1]\nGroup by team"],
    );
    check(&["Surname: Anna Groß\nGroß"], &["Surname: [PERSON_1]\n[PERSON_2]"]);
}

#[test]
fn values_can_be_put_into_strings_of_sql() {
    let (sent, redaction) = redacted(&["o'neil@x-y.org, Mrs. Ann O'Hara"]);
    assert_eq!(sent, ["o'[EMAIL_1], Mrs. [PERSON_1]'[PERSON_2]"]);
    let sql = redaction.restore("email = 'o''[EMAIL_1]' OR name = '[PERSON_2]'");
    assert_eq!(sql, "email = 'o''neil@x-y.org' OR name = 'Hara'");
}

/// What nobody may read of a text that has it, whatever stands beside it.
const KNOWN: [&str; 10] = [
    "4111 1111 1111 1111",
    "4111111111111111",
    "378282246310005",
    "anna@example.com",
    "DE89 3704 0044 0532 0130 00",
    "gb82west12345698765432",
    "203.0.113.9",
    "123-45-6789",
    "756.9217.0769.85",
    "2001:db8::8a2e:370:7334",
];

#[test]
fn known_values_are_not_sent_whatever_stands_beside_them() {
    let before = [
        "", " ", ",", "7,", "x: ", "/", "(", "[", "[1,", "\n", r"\n", r"\t", r#"\""#, "\"", "'",
        "=", "号",
    ];
    let behind = [
        "", " ", ",", ",123", ",x", "/", ")", "]", "\n", r"\n", r"\r\n", r#"\""#, "\"", "'", ";",
        "。", ". 5",
    ];
    let numbers = ["x:", "x_", "_", "Visa-", "a/"];
    for value in KNOWN {
        let is_number =
            value.starts_with(|c: char| c.is_ascii_digit()) && !value.contains([':', '.']);
        for before in before.into_iter().chain(numbers.into_iter().filter(|_| is_number)) {
            for behind in behind {
                let text = format!("{before}{value}{behind}");
                let (sent, redaction) = redacted(&[&text]);
                assert!(!sent[0].contains(value), "{value} in {text:?}");
                assert_eq!(redaction.restore(&sent[0]), text);
            }
        }
    }
}

/// Pages of the manual, which are about programs and name nobody.
const TECHNICAL: [&str; 6] = [
    include_str!("../../docs/operations.md"),
    include_str!("../../docs/retrieval.md"),
    include_str!("../../docs/pipelines.md"),
    include_str!("../../docs/models.md"),
    include_str!("../../ARCHITECTURE.md"),
    include_str!("../hnsw/README.md"),
];

#[test]
fn technical_prose_stays_as_it_is() {
    let found: Vec<&str> = TECHNICAL
        .iter()
        .flat_map(|text| find::find(text, &mut || {}).into_iter().map(|span| &text[span.range]))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn large_texts_are_read_in_linear_time_and_can_be_left() {
    let parts = [
        "a@b.de ", "@", "1 ", "0", "(", "+49 ", "[EMAIL_1", "[", "Mr. A", "Name: ", "王", "::",
        "1.", "DE89 ", "A9", "://a:", "Schmidt ", "\n", "tel ", "999-",
    ];
    for part in parts {
        let text = format!("Name: Anna Schmidt\n{}", part.repeat((256 << 10) / part.len()));
        let mut looks = 0;
        let mut redaction = Redaction::default();
        let begun = Instant::now();
        redaction.learn(&text, &mut || looks += 1);
        let sent = redaction.replace(&text, &mut || looks += 1);
        assert!(begun.elapsed() < Duration::from_secs(20), "{part:?}: {:?}", begun.elapsed());
        assert!(looks > 16, "{part:?}: {looks}");
        assert_eq!(redaction.restore(&sent), text, "{part:?}");
    }
}

/// Texts that are full of what is replaced, of what nearly is, and of placeholders.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("anna@example.com".to_owned()),
        Just("Mr. Anna Schmidt".to_owned()),
        Just("Schmidt".to_owned()),
        Just("+49 30 1234567".to_owned()),
        Just("DE89 3704 0044 0532 0130 00".to_owned()),
        Just("4111 1111 1111 1111".to_owned()),
        Just("10.1.2.3".to_owned()),
        Just("https://u:p@h.de/".to_owned()),
        Just("姓名：王小明".to_owned()),
        "\\[(EMAIL|IP|PERSON)_[0-9]{0,2}\\]?",
        "[ .,:\\[\\]\n@_0-9A-C+-]{0,4}",
        "\\PC{0,6}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn what_is_put_back_is_what_was_there(all in prop::collection::vec(texts(), 1..4)) {
        let texts: Vec<&str> = all.iter().map(String::as_str).collect();
        let (sent, redaction) = redacted(&texts);
        for (text, sent) in texts.iter().zip(&sent) {
            prop_assert_eq!(&redaction.restore(sent), text);
        }
    }

    #[test]
    fn nothing_that_a_rule_finds_is_sent(all in prop::collection::vec(texts(), 1..4)) {
        let texts: Vec<&str> = all.iter().map(String::as_str).collect();
        let (_, mut redaction) = redacted(&texts);
        for text in texts {
            let (_, replaced) = redaction.replace_with_spans(text, &mut || {});
            for span in find::find(text, &mut || {}) {
                let is_replaced = replaced.iter().any(|it| it.range == span.range);
                prop_assert!(is_replaced, "{} in {}", &text[span.range], text);
            }
        }
    }

    #[test]
    fn pieces_are_put_back_as_the_whole(text in texts(), ends in prop::collection::vec(0usize..200, 0..12)) {
        let (sent, redaction) = redacted(&[&text]);
        let mut ends: Vec<usize> = ends.iter().map(|end| sent[0].floor_char_boundary(*end)).collect();
        ends.sort_unstable();
        let mut restorer = redaction.restorer();
        let (mut told, mut done) = (String::new(), 0);
        for end in ends.into_iter().chain([sent[0].len()]) {
            told += &restorer.push(&sent[0][done..end]);
            done = end;
        }
        told += &restorer.finish();
        prop_assert_eq!(told, text);
    }

    #[test]
    fn values_can_be_put_into_json(text in texts()) {
        let (_, redaction) = redacted(&[&text]);
        for replaced in redaction.replaced() {
            let is_fit = |c: char| !matches!(c, '"' | '\\' | '\'') && !c.is_control();
            prop_assert!(replaced.value.chars().all(is_fit), "{:?}", replaced);
        }
    }
}
