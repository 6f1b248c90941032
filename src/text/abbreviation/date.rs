//! # date: does this full stop stand within a date?
//!
//! ```text
//! "2024." before "3. 31. 입니다", "15." before "3. 2024" → yes;  "2017." before "3 years later" → no
//! ```

use crate::text::script::is_hangul;

/// Numbers of the longest date.
const MOST_NUMBERS: usize = 3;

/// Whether the full stop that `core` ends with stands in a date of numbers, and its sentence goes on in `next`. Korean ends such
/// a date with a stop, too.
pub(super) fn is_in_date(core: &str, next: &str) -> bool {
    let numbers = numbers_before(core);
    let (number, rest) = number_at(next);
    let is_korean = next.starts_with(is_hangul);
    match &numbers[..] {
        [year, month, day] if is_year(year) && is_month(month) && is_day(day) => {
            is_korean || next.starts_with(['~', '～', '('])
        }
        [.., year, month] if is_year(year) && is_month(month) => {
            let is_ended = |c: char| matches!(c, '.' | '-' | '–') || is_hangul(c);
            is_korean || is_day(number) && rest.starts_with(is_ended)
        }
        [year] if is_year(year) => is_month(number) && goes_on_from_month(rest),
        [.., day, month] if is_day(day) && is_month(month) && is_year(number) => true,
        [.., day] if is_day(day) => is_month(number) && ends_month(rest),
        _ => false,
    }
}

/// Whether a date or its sentence goes on in `rest`, which follows the number of a month behind a year: ". 31.", ". 에".
fn goes_on_from_month(rest: &str) -> bool {
    let Some(behind) = rest.strip_prefix('.') else { return false };
    let next = behind.trim_start();
    let (number, rest) = number_at(next);
    let ends_number =
        |rest: &str| rest.chars().next().is_some_and(|c| !c.is_alphabetic() || is_hangul(c));
    next.len() < behind.len()
        && (next.starts_with(|c: char| is_hangul(c) || c.is_lowercase())
            || is_day(number) && ends_number(rest))
}

/// Whether the number of a month ends where `rest` begins: before ". " or ".2024", but not before the decimals of "3.5".
fn ends_month(rest: &str) -> bool {
    rest.strip_prefix('.').is_some_and(|behind| {
        let (number, _) = number_at(behind);
        number.is_empty() || is_year(number)
    })
}

/// The numbers with a full stop behind each that `core` ends with, in order.
fn numbers_before(core: &str) -> Vec<&str> {
    let mut numbers = Vec::new();
    let mut rest = core;
    while numbers.len() < MOST_NUMBERS
        && let Some(head) = rest.strip_suffix('.')
    {
        let before = head.trim_end_matches(|c: char| c.is_ascii_digit());
        // "B2." is no number.
        if before.len() == head.len() || before.ends_with(char::is_alphanumeric) {
            break;
        }
        numbers.insert(0, &head[before.len()..]);
        rest = before.trim_end_matches([' ', '\u{a0}']);
    }
    numbers
}

/// The digits that `text` begins with, and what follows them.
fn number_at(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.split_at(text.len() - rest.len())
}

fn is_year(number: &str) -> bool {
    number.len() == 4 && number.starts_with(['1', '2'])
}

fn is_month(number: &str) -> bool {
    is_up_to(12, number)
}

fn is_day(number: &str) -> bool {
    is_up_to(31, number)
}

fn is_up_to(most: u8, number: &str) -> bool {
    number.len() <= 2 && number.parse().is_ok_and(|it: u8| (1..=most).contains(&it))
}
