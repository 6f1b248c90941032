//! # fact_lines: does each line of this paragraph tell a fact of its own?
//!
//! ```text
//! "Subtotal: 81.55 euros", "VAT 21%: 17.12 euros" → yes, two;  "Monday: 9-18", "Saturday: 10-14" → no: that is one
//! "Weight ........ 1.2 kg", "workers = 4" → yes, too
//! ```
//!
//! Price lists, invoices, configuration and heads of letters in plain text are like tables whose rows have one column. One line in
//! three may be of another kind, if no line was wrapped: wrapped ones are full but for the last. Opening hours are asked for as a whole.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::answer_type::AnswerType;
use super::blocks::trim;
use super::cut::{LONGEST_UNIT, whole_sentences};
use super::measure::is_currency_sign;
use super::wrapping::is_unwrapped;
use crate::text::length::is_within;
use crate::text::line::ends_with_colon;
use crate::text::script::is_chinese_or_japanese;
use crate::text::sentence::is_question;
use crate::text::words::words;

/// Longest label and longest line, in characters.
const LONGEST_LABEL: usize = 40;
const LONGEST_LINE: usize = 160;

/// Words of the longest label.
const MOST_LABEL_WORDS: usize = 6;

/// Dots of the shortest row that leads from a label to its value, of one that surely does, and of one that does without spaces around
/// it: others leave words out.
const FEWEST_DOTS: usize = 3;
const SURE_DOTS: usize = 4;
const UNPARTED_DOTS: usize = 6;

/// Lines of a table of contents that tell it from a list of prices.
const FEWEST_CONTENTS: usize = 3;

/// Letters of a word that may be short for a day.
const LONGEST_SHORT_DAY: usize = 3;

/// What an amount ends with behind its number, but for signs of currencies. Some of these words are mostly others elsewhere:
/// "ft", "try".
const AMOUNT_ENDINGS: &str = "eur euro euros usd dollar dollars gbp pounds chf fr. franken sek nok dkk kr pln zł czk kč huf ft try \
    tl руб руб. грн 円 元 원 %";

/// The lines of the paragraph `text`, if there are several and each is "label: value" or ends with an amount.
pub(super) fn fact_lines(text: &str) -> Option<Vec<Range<usize>>> {
    let lines = lines(text);
    let are_facts = lines.len() > 1 && lines.iter().all(|it| tells(&text[it.clone()]));
    (are_facts && !are_hours_or_contents(text, &lines)).then_some(lines)
}

/// The line above others that names them all, if there is one, and those.
type AnnouncedLines = (Option<Range<usize>>, Vec<Range<usize>>);

/// The lines of the paragraph `text`, if most of them are such and none was wrapped, with the one above them that names them all.
pub(super) fn most_fact_lines(text: &str) -> Option<AnnouncedLines> {
    let mut lines = lines(text);
    let names_all = |it: &Range<usize>| {
        let line = &text[it.clone()];
        ends_with_colon(line) || line.starts_with('[') && line.ends_with(']')
    };
    let above = lines.first().is_some_and(names_all).then(|| lines.remove(0));
    let facts = lines.iter().filter(|it| tells(&text[(*it).clone()])).count();
    let fits = |it: &Range<usize>| {
        let line = &text[it.clone()];
        let is_other = is_line(line) && !line.contains(['?', '？', '؟']);
        tells(line) || is_other && !line.starts_with(char::is_lowercase)
    };
    let widths: Vec<usize> = lines.iter().map(|it| text[it.clone()].width()).collect();
    let widest = widths.iter().copied().max().unwrap_or_default();
    let are_uneven = widths.iter().rev().skip(1).any(|width| 4 * width < 3 * widest);
    let are_facts = facts > 1
        && 3 * facts >= 2 * lines.len()
        && lines.iter().all(fits)
        && (is_unwrapped(text) || facts > 2 && are_uneven)
        && !are_hours_or_contents(text, &lines);
    are_facts.then_some((above, lines))
}

/// Whether `line` tells a fact of its own.
fn tells(line: &str) -> bool {
    let is_begun = !line.starts_with(char::is_lowercase)
        || assigned(line).is_some()
        || led(line).is_some_and(|it| it.is_sure);
    is_line(line) && is_begun && (label(line).is_some() || ends_with_amount(line))
}

fn is_line(line: &str) -> bool {
    line.chars().count() <= LONGEST_LINE
}

/// Whether the labels of `lines` are days, or all values are pages of a table of contents.
fn are_hours_or_contents(text: &str, lines: &[Range<usize>]) -> bool {
    let shown = || lines.iter().map(move |it| &text[it.clone()]);
    let labels: Vec<&str> = shown().filter_map(label).collect();
    let has_day =
        labels.iter().any(|it| AnswerType::Time.is_held_by(&words(it), &[]) == Some(true));
    let are_days = !labels.is_empty() && labels.iter().all(|it| is_short_day(it));
    let page = |line: &str| led(line).and_then(|it| it.value.parse::<u32>().ok());
    let pages: Option<Vec<u32>> = shown().map(page).collect();
    let are_contents = pages.is_some_and(|it| it.len() >= FEWEST_CONTENTS && it.is_sorted());
    has_day || are_days || are_contents
}

/// `line` with a colon in the place of a row of dots.
pub(super) fn without_leader(line: &str) -> Cow<'_, str> {
    match led(line).filter(|it| it.is_sure) {
        Some(LedLine { label, value, .. }) => {
            Cow::Owned(format!("{}: {value}", label.trim_end_matches(':')))
        }
        None => Cow::Borrowed(line),
    }
}

/// A line in which a row of dots leads from a label to its value: "Weight ........ 1.2 kg".
struct LedLine<'a> {
    label: &'a str,
    value: &'a str,
    /// Whether there are enough dots that they leave nothing out.
    is_sure: bool,
}

/// What the first row of dots in `line` leads from and to.
fn led(line: &str) -> Option<LedLine<'_>> {
    let is_dot = |c: char| matches!(c, '.' | '…' | '·');
    let mut from = 0;
    while let Some(at) = line[from..].find(is_dot).map(|at| from + at) {
        let rest = &line[at..];
        let row = &rest[..rest.find(|c| !is_dot(c) && c != ' ').unwrap_or(rest.len())];
        from = at + row.len();
        let dots = row.chars().map(|c| usize::from(is_dot(c)) * if c == '…' { 3 } else { 1 });
        let dots: usize = dots.sum();
        let is_parted = line[..at].ends_with(' ') && row.ends_with(' ');
        let is_sure = dots >= SURE_DOTS && is_parted || dots >= UNPARTED_DOTS;
        let (label, value) = (line[..at].trim_end(), line[from..].trim_end());
        let is_led = label.contains(char::is_alphabetic) && !value.is_empty();
        if is_led && (is_sure || is_parted && dots >= FEWEST_DOTS) {
            return Some(LedLine { label, value, is_sure });
        }
    }
    None
}

/// The name and the value of a line of configuration: "workers = 4", "LANG=de".
fn assigned(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let is_of_name = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let is_spaced = name.ends_with(' ') && value.starts_with(' ');
    let (name, value) = (name.trim_end(), value.trim());
    // "Top speed = 50 km/h"
    let is_label = is_spaced && name.starts_with(char::is_uppercase);
    let is_name = name.chars().all(|c| is_of_name(c) || is_label && c == ' ');
    let is_value = !value.is_empty() && !value.starts_with(['=', '>', '~']);
    let is_code = line.ends_with([';', '{', '(', ',', '\\']);
    (is_name && !name.is_empty() && is_value && !is_code).then_some((name, value))
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
        is_within(&text[all.clone()], LONGEST_UNIT) && text[all].contains(char::is_alphanumeric)
    };
    (!found.is_empty() && found.iter().all(fits)).then_some(found)
}

/// The lines that hold something, without white space around them.
pub(super) fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &str| {
        start += line.len();
        trim(text, start - line.len()..start)
    };
    text.split_inclusive('\n').map(line).filter(|it| !it.is_empty()).collect()
}

/// What stands before the colon of `line`, if that is a name and behind it stands one value.
fn label(line: &str) -> Option<&str> {
    let is_typed = |it: &(&str, &str)| it.0.ends_with(is_chinese_or_japanese);
    let typed = || line.split_once(':').filter(is_typed);
    let with_colon = || line.split_once(": ").or_else(|| line.split_once('：')).or_else(typed);
    let with_dots = led(line).map(|it| (it.label, it.value));
    let (label, value) = with_dots.or_else(with_colon).or_else(|| assigned(line))?;
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
    let is_amount = |before: &str| is_number(before) && before.contains(char::is_alphabetic);
    let is_before = |ending: &str| folded.strip_suffix(ending).is_some_and(is_amount);
    folded.strip_suffix(is_currency_sign).is_some_and(is_amount)
        || AMOUNT_ENDINGS.split_ascii_whitespace().any(is_before)
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
            "ส้มตำ 60฿\nข้าวซอย 75฿",
            "产品型号:SY-S5\n净重:6.4kg",
            "Weight ........ 1.2 kg\nWidth ......... 40 cm",
            "flour .......... 200 g\nbutter.......100 g",
            "listen = \"0.0.0.0:8612\"  # all\nworkers = 4",
            "LANG=de_DE\nTop speed = 50 km/h",
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
            "Setup ..... 3\nUse ....... 7\nRemoval ... 12",
            "let speed = 5;\nlet size = 6;",
            "if a == b\nthen c => d",
            "The lamp is on... and\nthen it is off... again",
        ] {
            assert_eq!(fact_lines(text), None, "{text}");
        }
    }

    #[test]
    fn a_line_of_another_kind_leaves_the_others_what_they_are() {
        let read = |text: &'static str| {
            let (above, lines) = most_fact_lines(text)?;
            let above = above.map_or("", |it| &text[it]);
            Some((above, lines.into_iter().map(|it| &text[it]).collect::<Vec<_>>()))
        };
        let facts = "Capacity 238 l\nWidth: 70 cm\nVoltage: 230 V";
        assert_eq!(read(facts), Some(("", facts.lines().collect::<Vec<_>>())));
        let named =
            "All four wheels (change and balance):\nR13 ....... 1800 EUR\nR14 ....... 2200 EUR";
        assert_eq!(
            read(named),
            Some((
                "All four wheels (change and balance):",
                named.lines().skip(1).collect::<Vec<_>>()
            ))
        );
        let section = "[server]\nlisten = 8612\nworkers = 4";
        assert_eq!(read(section), Some(("[server]", vec!["listen = 8612", "workers = 4"])));
        let wide = "Capacity 238 l\nPort: RS 232, or Ethernet as an option that is ordered with the lamp for 289 EUR\nWidth: 70 cm\n\
            Voltage: 230 V";
        assert_eq!(read(wide), Some(("", wide.lines().collect::<Vec<_>>())));
        for text in [
            "Note: the pump is off.\nIt stays so until it is cold.",
            "We have what you all need: courses for everyone, and\n\
             Adults: they pay the whole fee, which is more than that of\nSeniors, who pay half of it.",
            "Width: 70 cm\nVoltage: 230 V\nIs that all?",
            "Width: 70 cm\nVoltage: 230 V\nand more",
            "Phone: 555\nMonday: 9-18\nSaturday: 10-14",
            "One\nTwo\nWidth: 70 cm\nVoltage: 230 V",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn dots_that_lead_to_a_value_are_told_from_those_that_leave_words_out() {
        for (line, shown) in [
            ("Weight ........ 1.2 kg", "Weight: 1.2 kg"),
            ("Weight: . . . . 1.2 kg", "Weight: 1.2 kg"),
            ("Weight........1.2 kg", "Weight: 1.2 kg"),
            ("Size ……… large", "Size: large"),
        ] {
            assert_eq!(without_leader(line), shown);
        }
        for line in [
            "",
            "...",
            "Well.... I see",
            "So ... what",
            "See ../.. above",
            "Weight ......",
            "..... 5",
        ] {
            assert_eq!(without_leader(line), line);
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
