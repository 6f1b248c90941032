//! # fact_lines: does each line of this paragraph tell a fact of its own?
//!
//! ```text
//! "Subtotal: 81.55 euros", "VAT 21%: 17.12 euros" → yes, two;  "Monday: 9-18", "Saturday: 10-14" → no: that is one
//! ```
//!
//! Price lists, invoices and heads of letters in plain text are like tables whose rows have one column. Opening hours are
//! asked for as a whole.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::answer_type::AnswerType;
use super::blocks::trim;
use super::cut::{LONGEST_UNIT, whole_sentences};
use crate::text::sentence::is_question;
use crate::text::words::words;

/// Longest label and longest line, in characters.
const LONGEST_LABEL: usize = 40;
const LONGEST_LINE: usize = 160;

/// Words of the longest label.
const MOST_LABEL_WORDS: usize = 6;

/// Letters of a word that may be short for a day.
const LONGEST_SHORT_DAY: usize = 3;

/// What an amount of money ends with behind its number.
const CURRENCIES: &str = "eur euro euros usd dollar dollars gbp pounds chf fr. franken sek nok dkk kr pln zł czk kč huf ft try tl \
    руб руб. ₽ грн ₴ 円 元 원 € $ £ ¥ %";

/// The lines of the paragraph `text`, if there are several and each is "label: value" or ends with an amount.
pub(super) fn fact_lines(text: &str) -> Option<Vec<Range<usize>>> {
    let lines = lines(text);
    let tells = |it: &Range<usize>| {
        let line = &text[it.clone()];
        let is_line = line.chars().count() <= LONGEST_LINE && !line.starts_with(char::is_lowercase);
        is_line && (label(line).is_some() || ends_with_amount(line))
    };
    if lines.len() < 2 || !lines.iter().all(tells) {
        return None;
    }
    let labels: Vec<&str> = lines.iter().filter_map(|it| label(&text[it.clone()])).collect();
    let has_day =
        labels.iter().any(|it| AnswerType::Time.is_held_by(&words(it), &[]) == Some(true));
    let are_days = !labels.is_empty() && labels.iter().all(|it| is_short_day(it));
    (!has_day && !are_days).then_some(lines)
}

/// The terms of the paragraph `text`, each with what stands below it behind a colon, as Markdown writes definitions.
pub(super) fn definitions(text: &str) -> Option<Vec<Vec<Range<usize>>>> {
    let lines = lines(text);
    let defines = |it: &Range<usize>| text[it.clone()].starts_with(": ");
    let mut found: Vec<Vec<Range<usize>>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if defines(line) {
            found.last_mut()?.push(trim(text, line.start + 1..line.end));
        } else if lines.get(at + 1).is_some_and(defines) {
            found.push(vec![line.clone()]);
        } else {
            found.last_mut()?.last_mut()?.end = line.end;
        }
    }
    let fits = |it: &Vec<Range<usize>>| {
        let all = it.first().map_or(0, |it| it.start)..it.last().map_or(0, |it| it.end);
        all.len() <= LONGEST_UNIT && text[all].contains(char::is_alphanumeric)
    };
    (!found.is_empty() && found.iter().all(fits)).then_some(found)
}

/// The lines that hold something, without white space around them.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &str| {
        start += line.len();
        trim(text, start - line.len()..start)
    };
    text.split_inclusive('\n').map(line).filter(|it| !it.is_empty()).collect()
}

/// What stands before the colon of `line`, if that is a name and behind it stands one value.
fn label(line: &str) -> Option<&str> {
    let (label, value) = line.split_once(": ").or_else(|| line.split_once('：'))?;
    let (label, value) = (label.trim_matches(['*', '_', ' ']), value.trim());
    let is_name = label.chars().count() <= LONGEST_LABEL
        && label.unicode_words().nth(MOST_LABEL_WORDS).is_none()
        && label.contains(char::is_alphabetic)
        && !label.contains(['?', '!', ';', '。', '[', '`'])
        && !label.contains(". ");
    let is_value = !value.is_empty() && !is_question(value) && whole_sentences(value).len() == 1;
    (is_name && is_value).then_some(label)
}

/// Whether `line` ends with a number and a currency.
fn ends_with_amount(line: &str) -> bool {
    let folded = line.to_lowercase();
    let is_number = |it: &str| it.trim_end().ends_with(|c: char| c.is_ascii_digit());
    let is_before = |sign: &str| {
        let before = folded.strip_suffix(sign).filter(|before| is_number(before));
        before.is_some_and(|before| before.contains(char::is_alphabetic))
    };
    CURRENCIES.split_ascii_whitespace().any(is_before)
}

/// Whether `label` is made of short names of days or the like: "Mo-Fr".
fn is_short_day(label: &str) -> bool {
    let is_short = |word: &str| word.chars().count() <= LONGEST_SHORT_DAY;
    label.contains(char::is_uppercase)
        && label.contains(char::is_lowercase)
        && label.unicode_words().all(is_short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_label_or_an_amount_are_facts() {
        for text in [
            "Subtotaal: 8.155,00 euro\nBtw 21%: 1.712,55 euro\nTotaal: 9.867,55 euro",
            "Van: a@b.example\nDatum: 12 mei 2025\nOnderwerp: Uw auto is klaar",
            "Schwimmen (ab 5 Jahren): samstags um zehn, 95 EUR\nKraulen: dienstags, 90 EUR",
            "Erwachsene 8,50 €\nKinder 4 €",
            "大人：500円\n子供：200円",
        ] {
            assert_eq!(fact_lines(text).map(|it| it.len()), Some(text.lines().count()), "{text}");
        }
        for text in [
            "Total: 5 euros",
            "Monday to Friday: 9-18\nSaturday: 10-14",
            "Mo-Fr: 9-18\nSa: 10-14",
            "Monday to Friday 9-18\nSaturday 10-14",
            "Note: the pump is off.\nIt stays so until it is cold.",
            "The fee is paid by all: those of age and\nothers: children pay half of it.",
            "Riverside Water Board\nP.O. Box 118",
        ] {
            assert_eq!(fact_lines(text), None, "{text}");
        }
    }

    #[test]
    fn a_colon_before_a_line_defines_the_term_above_it() {
        let text =
            "Size of files\n: 25 MB on Free\n: 2 GB on Pro\nUsers\n: 5, and more\n  for schools";
        let found = definitions(text).expect("definitions");
        let found: Vec<Vec<&str>> =
            found.iter().map(|it| it.iter().map(|range| &text[range.clone()]).collect()).collect();
        assert_eq!(
            found,
            [
                vec!["Size of files", "25 MB on Free", "2 GB on Pro"],
                vec!["Users", "5, and more\n  for schools"]
            ]
        );
        for text in ["One line", "Two\nlines", ": 5", "Two\nlines\n: 5"] {
            assert_eq!(definitions(text), None, "{text}");
        }
    }
}
