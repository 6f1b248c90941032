//! # decimals: is this word what stands behind the point of a number?
//!
//! ```text
//! "98. 7 %", "$ 98. 50" → yes;  "rose to 98. 7 in May" → perhaps
//! "in 1990. 7 people", "12. 5. 2024", "2. 7 people" → no
//! ```

use std::ops::Range;

use super::gap::{TextWords, number_in_ascii};
use super::{NumberCertainty, NumberRun};
use crate::text::number::{LONGEST, is_sign, values};

/// Most digits behind a point that is split. A country where it parts groups of digits has three.
const MOST_DIGITS: usize = 3;

/// The number of `words`, which may be a single one, with the decimals that a point and a space part from it: "98. 7".
/// A comma does so only before a space and a unit: "98, 7 %".
pub(super) fn with_decimals(text: &TextWords, words: &Range<usize>) -> Option<NumberRun> {
    let sign = text.sign(words.end - 1)?;
    let digits = number_in_ascii(text.word(words.end));
    let whole = text.written(words);
    let has_decimals = (1..=MOST_DIGITS).contains(&digits.len()) && may_have_decimals(&whole);
    if !has_decimals || stands_among_points(text, words) {
        return None;
    }
    let all = words.start..words.end + 1;
    let is_share = text.is_before_unit(&all);
    let is_comma = sign == ',';
    if is_comma && !(is_share && text.is_before_space(&all) && words.len() == 1) {
        return None;
    }
    // The number of an item of a list or of a chapter stands first.
    let is_first = words.start.checked_sub(1).is_none_or(|at| text.gap(at).contains('\n'));
    let are_cents = digits.len() == 2 && text.is_behind_currency(words);
    let certainty = match is_first {
        true if !is_share => return None,
        false if !is_comma && (is_share || are_cents) => NumberCertainty::Likely,
        _ => NumberCertainty::Doubtful,
    };
    let written = format!("{whole}.{digits}");
    let is_number = written.len() <= LONGEST && !values(&written).is_empty();
    is_number.then_some(NumberRun { words: all, written, certainty })
}

/// Whether `whole` may stand before a point and decimals: it has none yet, begins with no needless zero and is no year.
fn may_have_decimals(whole: &str) -> bool {
    let is_year = whole.len() == 4 && whole.starts_with(['1', '2']) && !whole.contains(is_sign);
    let is_padded = whole.len() > 1 && whole.starts_with('0');
    let is_number = whole.chars().all(|c| c.is_ascii_digit() || is_sign(c));
    is_number && !whole.contains('.') && !is_year && !is_padded
}

/// Whether the number of `words` and the word behind it are part of a date, a version or the like: a point parts
/// another number from them. Or the word behind it begins a number of its own, as in "7, 000".
fn stands_among_points(text: &TextWords, words: &Range<usize>) -> bool {
    let next = words.end + 1;
    let goes_on = text.is_number(next) && {
        let is_group = text.sign(next - 1) == Some(',') && text.is_thousands(next);
        is_group || matches!(text.gap(next - 1).trim(), "." | ":" | "/")
    };
    let is_behind_point = |at: usize| text.is_number(at) && text.sign(at) == Some('.');
    goes_on || words.start.checked_sub(1).is_some_and(is_behind_point)
}
