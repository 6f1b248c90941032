//! # group: how many words are groups of digits of one number?
//!
//! ```text
//! "1 250 000,00" → three, likely of one;  "36, 000" → two of one
//! "36, 500" → two of one or of two;  "12, 130 and 145" → a list
//! ```

use std::ops::Range;

use super::gap::{TextWords, is_number, is_space, number_in_ascii, only, split_sign};
use super::{MOST_WORDS_WITHIN, NumberCertainty};
use crate::text::number::{ascii_digit, ascii_sign, is_sign, zeros};
use crate::text::word_list::list_has;

/// Characters that make another word of 千 or 百 before them, such as the kilogram 千克 and the kilometre 千米.
const MEASURES: &str = "克米瓦卡赫字伏帕焦分";

/// Words before the last number of a list.
const AND: &str = "\
    a and e en et i ja nebo o och oder og or oraz ou sau u und ve veya vagy y és și \
    а и или й або і та και ή و أو ו או";

/// Behind these a number is a day, and a comma ends the date. Languages other than English put the day first.
const MONTHS: &str = "\
    january february march april may june july august september october november december \
    jan feb mar apr jun jul aug sep sept oct nov dec";

/// How many of the first words of `places` are groups of digits of one number: "1 250 000,00".
pub(super) fn grouped(text: &str, places: &[(usize, &str)]) -> usize {
    let is_gap = |gap: &str| matches!(gap, " " | "\u{A0}" | "\u{202F}" | "\u{2009}");
    grouped_by(is_gap, text, places)
}

/// How many of the first words of `places` are groups of digits with commas and spaces between: "1, 250, 000".
pub(super) fn grouped_by_commas(text: &str, places: &[(usize, &str)]) -> usize {
    grouped_by(|gap| split_sign(gap) == Some(','), text, places)
}

/// How many of the first words of `places` are groups of digits, each gap between two as `is_gap` wants it.
fn grouped_by(is_gap: impl Fn(&str) -> bool, text: &str, places: &[(usize, &str)]) -> usize {
    let is_first = |word: &str| {
        let digits = number_in_ascii(word);
        (1..=3).contains(&digits.len()) && !digits.starts_with('0')
    };
    if !places.first().is_some_and(|(_, word)| is_first(word)) {
        return 0;
    }
    let mut count = 1;
    for pair in places.windows(2) {
        let ((start, word), (next, group)) = (pair[0], pair[1]);
        let group = group.trim_end_matches(is_space);
        let (digits, decimals) = match group.split_once(['.', ',', '٫']) {
            Some((digits, decimals)) => (digits, Some(decimals)),
            None => (group, None),
        };
        let is_group = number_in_ascii(digits).len() == 3
            && decimals.is_none_or(|it| it.chars().all(|c| ascii_digit(c).is_some()));
        if !is_group || !is_gap(&text[start + word.len()..next]) {
            break;
        }
        count += 1;
        if decimals.is_some() {
            break;
        }
    }
    count
}

/// How many of the first words of `places` are digits and characters for powers of ten of one number: "1万2千".
pub(super) fn compound(places: &[(usize, &str)]) -> usize {
    let (mut count, mut end): (usize, Option<usize>) = (0, None);
    for (at, (start, word)) in places.iter().enumerate() {
        let behind = start + word.len();
        let is_measure = || {
            let next = places.get(at + 1).filter(|(next, _)| *next == behind);
            next.is_some_and(|(_, word)| MEASURES.contains(*word))
        };
        let is_power = || at > 0 && only(word).and_then(zeros).is_some() && !is_measure();
        let is_part = is_digits(word) || is_power();
        if !is_part || end.is_some_and(|end| end != *start) {
            break;
        }
        (count, end) = (at + 1, Some(behind));
    }
    count
}

/// Whether a word is a number in digits of any script.
fn is_digits(word: &str) -> bool {
    let is_part = |c: char| ascii_digit(c).is_some() || is_sign(ascii_sign(c));
    is_number(word) && word.chars().all(is_part)
}

/// How surely groups of digits with spaces between are one number. A space that breaks no line stands for that.
pub(super) fn certainty_of_spaced(text: &TextWords, words: &Range<usize>) -> NumberCertainty {
    let are_joined = (words.start..words.end - 1).all(|at| text.gap(at) != " ");
    let are_thousands = || (words.start + 1..words.end).all(|at| text.is_thousands(at));
    if are_joined || are_thousands() {
        return NumberCertainty::Certain;
    }
    // Telephone numbers, accounts and cells of a table go on.
    let has_digit = |at: usize| text.word(at).contains(|c: char| ascii_digit(c).is_some());
    let goes_on = |at: usize| {
        has_digit(at) && has_digit(at + 1) && matches!(text.gap(at).trim(), "" | "-" | "/")
    };
    let is_part = words.start.checked_sub(1).is_some_and(goes_on)
        || goes_on(words.end - 1)
        || text.text[..text.places[words.start].0].ends_with('+');
    match words.len() <= MOST_WORDS_WITHIN && !is_part {
        true => NumberCertainty::Likely,
        false => NumberCertainty::Doubtful,
    }
}

/// How surely groups of digits with commas and spaces between are one number; `None` where they are items of a list or
/// end a date.
pub(super) fn certainty_of_commas(
    text: &TextWords,
    words: &Range<usize>,
) -> Option<NumberCertainty> {
    if (words.start + 1..words.end).any(|at| text.is_thousands(at)) {
        return Some(NumberCertainty::Certain);
    }
    let is_amount = text.is_behind_currency(words) || text.is_before_unit(words);
    match (is_amount, is_listed(text, words) || is_behind_month(text, words.start)) {
        (true, false) => Some(NumberCertainty::Likely),
        (false, true) => None,
        _ => Some(NumberCertainty::Doubtful),
    }
}

/// Whether `words` are items of a list: a number and a comma stand before them, or a comma or "and" and a number behind.
fn is_listed(text: &TextWords, words: &Range<usize>) -> bool {
    let has_comma = |at: usize| text.is_number(at) && text.sign(at) == Some(',');
    let next = words.end;
    let goes_on = text.is_number(next)
        && (has_comma(next - 1) || matches!(text.gap(next - 1).trim(), "&" | "+"));
    let is_last = text.is_number(next + 1) && list_has(AND, &text.word(next).to_lowercase());
    goes_on || is_last || words.start.checked_sub(1).is_some_and(has_comma)
}

/// Whether the word `at` is the day of an English date: "May 5".
fn is_behind_month(text: &TextWords, at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| {
        let is_month = list_has(MONTHS, &text.word(before).to_lowercase());
        is_month && matches!(text.gap(before), " " | ". ")
    })
}
