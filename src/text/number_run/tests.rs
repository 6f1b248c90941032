use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::NumberCertainty::{Certain, Doubtful, Likely};
use super::*;

fn runs(text: &str) -> Vec<String> {
    let places: Vec<(usize, &str)> = word_places(text).collect();
    number_runs(text, &places).into_iter().map(|it| it.written).collect()
}

#[test]
fn a_number_may_have_several_words() {
    for (text, expected) in [
        ("À partir de 1\u{A0}250 € ou 12 345 678,50 €", &["1 250", "12 345 678,50"][..]),
        ("約１万２千円、3億5000万人", &["1万2千", "3億5000万"]),
        ("In 2024 150 people, 007 500, 1 25 and 1, 250", &[]),
        ("5千克 or 3千米", &[]),
        ("", &[]),
    ] {
        assert_eq!(runs(text), expected, "{text}");
    }
}

fn check(text: &str, expected: &[(&str, NumberCertainty)]) {
    let found = numbers_of(text);
    let found: Vec<(&str, NumberCertainty)> =
        found.iter().map(|it| (it.written.as_str(), it.certainty)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn groups_behind_commas_are_one_number_unless_a_list_or_a_date_has_them() {
    for (text, written, certainty) in [
        ("It cost 36, 000 in all", "36,000", Certain),
        ("It cost 36 , 000 in all", "36,000", Certain),
        ("It cost $ 36, 500.", "36,500", Likely),
        ("It cost $36, 500.", "36,500", Likely),
        ("It cost 36, 500 €.", "36,500", Likely),
        ("It was 1, 250, 000 then", "1,250,000", Certain),
        ("Es waren ٣٦، ٠٠٠ Leute", "36,000", Certain),
        ("It cost $ 36, 500 and 20 more", "36,500", Doubtful),
        ("In room 36, 500 guests", "36,500", Doubtful),
        ("It cost 36, 500.50 then", "36,500.50", Doubtful),
    ] {
        check(text, &[(written, certainty)]);
    }
    for text in [
        "Rooms 12, 13",
        "Rooms 12, 13, 145",
        "Rooms 12, 130 and 145",
        "Räume 12, 130 oder 145",
        "Rooms 7, 12, 130",
        "Rooms 12, 130, 7",
        "Rooms 12, 130 & 145",
        "Rooms 101, 102, 103, 104, 105, 106, 107, 108, 109, 110",
        "On May 5, 100 people came",
        "On Sept. 5, 100 people came",
        "In 1990, 100 people came",
        "item 036, 500",
        "36,  500",
        "36,\n500",
        "36; 500",
        "x36, 500",
    ] {
        check(text, &[]);
    }
}

#[test]
fn decimals_behind_a_point_are_doubtful_unless_a_unit_tells() {
    for (text, written, certainty) in [
        ("It rose to 98. 7 % then", "98.7", Likely),
        ("It rose to 98. 7% then", "98.7", Likely),
        ("It rose to 98 . 7 % then", "98.7", Likely),
        ("It cost $ 98. 50 then", "98.50", Likely),
        ("It rose to 1,098. 7 then", "1,098.7", Doubtful),
        ("It rose to 98. 7 in May", "98.7", Doubtful),
        ("It rose to 0. 32 in May", "0.32", Doubtful),
        ("It cost $ 98. 7 people", "98.7", Doubtful),
        ("98. 7 % of them", "98.7", Doubtful),
        ("Of all, 98, 7 % rose", "98.7", Doubtful),
    ] {
        check(text, &[(written, certainty)]);
    }
    for text in [
        "in 1990. 7 people came",
        "2. 7 people came",
        "It ends.\n2. 7 people came",
        "am 12. 5. 2024 in Bonn",
        "am 12. 5.2024 in Bonn",
        "version 4. 1. 3",
        "about 98. 7, 000 people",
        "item 05. 7 of",
        "It was 98. Seven came",
        "98, 7% of them",
        "98.  7 of",
        "98. 7000 of",
    ] {
        let found: Vec<NumberRun> = numbers_of(text);
        let has_decimals = found.iter().any(|it| it.written.contains('.'));
        assert!(!has_decimals, "{text}: {found:?}");
    }
}

#[test]
fn cells_of_a_table_may_be_numbers_of_their_own() {
    check("12\u{A0}500 people", &[("12 500", Certain)]);
    check("12\u{A0}500\u{202F}€", &[("12 500", Certain)]);
    check("12\u{A0}500,50\u{202F}€", &[("12 500,50", Certain)]);
    check("12 000 people", &[("12 000", Certain)]);
    check("of 12 500 people", &[("12 500", Likely)]);
    check("in 2024 12 500 people", &[("12 500", Doubtful)]);
    check("12 500. Then", &[("12 500", Likely)]);
    check(
        "of 12 500. 75 then",
        &[("12 500.75", Doubtful), ("12 500", Likely), ("500.75", Doubtful)],
    );
    check(
        "120 000 150 000",
        &[
            ("120 000 150 000", Doubtful),
            ("120 000 150", Doubtful),
            ("120 000", Doubtful),
            ("150 000", Certain),
        ],
    );
    let number = "+49 170 123 4567";
    assert!(numbers_of(number).iter().all(|it| it.certainty == Doubtful), "{number}");
}

fn read(text: &str) -> Vec<String> {
    readings(text).into_iter().map(|it| it.word.folded).collect()
}

#[test]
fn a_doubtful_number_is_read_either_way() {
    for (text, expected) in [
        ("In 36, 500 people", &["in", "36,500", "36", "500", "people"][..]),
        ("Over 36, 000 people", &["over", "36,000", "people"]),
        ("To 98. 7 in May", &["to", "98.7", "98", "7", "in", "may"]),
        ("Of 36, 000. 5 now", &["of", "36,000.5", "36,000", "5", "now"]),
        ("a １万２千 b", &["a", "1万2千", "b"]),
        ("Nothing", &["nothing"]),
        ("", &[]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn a_doubtful_number_is_joined_if_it_is_known() {
    let joined = |text: &str, known: &str| -> Vec<String> {
        joined_words(text, &|it| it == known).into_iter().map(|it| it.folded).collect()
    };
    assert_eq!(joined("In 36, 500 people", "36,500"), ["in", "36,500", "people"]);
    assert_eq!(joined("In 36, 500 people", ""), ["in", "36", "500", "people"]);
    assert_eq!(joined("Over 36, 000 people", ""), ["over", "36,000", "people"]);
    assert_eq!(joined("Over 12 500 people", ""), ["over", "12 500", "people"]);
    assert_eq!(joined("Of 36, 000. 5 now", "36,000.5"), ["of", "36,000.5", "now"]);
    assert_eq!(joined("Of 36, 000. 5 now", ""), ["of", "36,000", "5", "now"]);
}

#[test]
fn a_number_may_go_on_behind_what_looks_like_an_end() {
    let across = |before: &str, behind: &str| {
        let text = format!("{before} {behind}");
        number_across(&text, before.len(), before.len() + 1).map(|it| it.written)
    };
    let long = "é".repeat(200);
    let glued = format!("{long}98.");
    assert_eq!(across("It rose to 98.", "7 in May.").as_deref(), Some("98.7"));
    assert_eq!(across(&format!("{long} to 98."), &format!("7 {long}")).as_deref(), Some("98.7"));
    for (before, behind) in [
        ("It was in 1990.", "7 people came."),
        ("It rose to 98!", "7 people came."),
        ("It rose to 98.", "Seven came."),
        ("It rose.", "7 people came."),
        ("It rose to 98. [1]", "7 people came."),
        (glued.as_str(), "7 people came."),
        ("", ""),
    ] {
        assert_eq!(across(before, behind), None, "{before} {behind}");
    }
}

#[test]
fn what_is_surely_one_number_is_found_in_order() {
    let text = "From 12 500 or $ 36, 000 on, 36, 500 and 1\u{A0}250";
    let places: Vec<(usize, &str)> = word_places(text).collect();
    let found: Vec<String> = sure_runs(text, &places).into_iter().map(|it| it.written).collect();
    assert_eq!(found, ["12 500", "36,000", "1 250"]);
}

#[test]
fn columns_of_numbers_take_no_time_for_ever() {
    for column in ["12, 130, ", "101 ", "98. 7 ", "1, ", "5千", "1\u{A0}000\u{A0}", "12, 000. 7 "]
    {
        let text = column.repeat(20_000);
        let begun = Instant::now();
        assert!(readings(&text).len() < 400_000, "{column}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{column}");
    }
}

proptest! {
    #[test]
    fn every_word_is_read(text in "([0-9]{1,4}|[a-z]{1,3}|万|千|,|\\.|\\$|%| |\u{A0}|\n|[٠-٩]|é){0,40}") {
        let count = words(&text).len();
        let read = readings(&text);
        for at in 0..count {
            prop_assert!(read.iter().any(|it| it.place.contains(&at)), "{at} of {text:?}");
        }
        prop_assert!(read.windows(2).all(|pair| pair[0].place.start <= pair[1].place.start));
        prop_assert!(read.iter().all(|it| (1..=MOST_WORDS).contains(&it.place.len())));
        prop_assert!(joined_words(&text, &|_| true).len() <= count);
        let places: Vec<(usize, &str)> = word_places(&text).collect();
        let runs = sure_runs(&text, &places);
        prop_assert!(runs.windows(2).all(|pair| pair[0].words.end <= pair[1].words.start));
    }
}
