//! Which numbers are those of payment cards?

use std::ops::Range;

use super::boundary::{is_own_number, places};
use super::digits::{DigitGroups, has_luhn_digit};

/// The numbers of payment cards in `text`: the length and first digits of an issuer, the check digit, and digits in
/// groups as they stand on cards, or in none.
pub fn cards(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    places(text, |byte| byte.is_ascii_digit(), interrupt)
        .filter(|at| *at == 0 || !text.as_bytes()[at - 1].is_ascii_digit())
        .filter_map(|at| card(text, at))
        .collect()
}

fn card(text: &str, at: usize) -> Option<Range<usize>> {
    let groups = DigitGroups::new(text, at);
    (1..=groups.len()).rev().map(|count| groups.first(count)).find_map(|groups| {
        let range = groups.range();
        (is_card(&groups) && is_own_number(text, &range)).then_some(range)
    })
}

fn is_card(groups: &DigitGroups<'_>) -> bool {
    let is_printed = match groups.sizes().as_slice() {
        [_] => true,
        [4, 4, 4, 1..=4] | [4, 4, 4, 4, 3] | [4, 6, 4 | 5] => {
            groups.is_separated_by(&[" ", "-", "\u{a0}"])
        }
        _ => false,
    };
    let digits = groups.digits();
    is_printed && is_of_issuer(&digits) && has_luhn_digit(&digits)
}

/// Whether an issuer has numbers of that length with these first digits.
fn is_of_issuer(digits: &str) -> bool {
    let first =
        |count: usize| digits.get(..count).and_then(|it| it.parse::<u32>().ok()).unwrap_or(0);
    match digits.len() {
        13 => first(1) == 4,
        14 => matches!(first(2), 36 | 38 | 39) || (300..=305).contains(&first(3)),
        15 => matches!(first(2), 34 | 37),
        16 => {
            first(1) == 4
                || matches!(first(2), 35 | 51..=55 | 60 | 62 | 64 | 65 | 81)
                || (2200..=2204).contains(&first(4))
                || (2221..=2720).contains(&first(4))
                || matches!(first(4), 5018 | 5020 | 5038 | 5893 | 6304 | 6759 | 6761..=6763)
        }
        17..=19 => {
            first(1) == 4 && digits.len() == 19 || matches!(first(2), 35 | 60 | 62 | 64 | 65 | 67)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::find::tests::check_rule;

    #[test]
    fn cards_are_found() {
        let check = |text: &str, expected: &[&str]| check_rule(cards, text, expected);
        check("Visa 4111 1111 1111 1111, 12/27", &["4111 1111 1111 1111"]);
        check("4111 1111 1111 1111 12 27", &["4111 1111 1111 1111"]);
        check("5500-0055-5555-5559;378282246310005", &["5500-0055-5555-5559", "378282246310005"]);
        check("3782 822463 10005. 30569309025904", &["3782 822463 10005", "30569309025904"]);
        for beside in [
            "7,4111111111111111,123",
            "[1,4111111111111111]",
            "4111111111111111/12/27",
            "Visa-4111111111111111",
            "_4111111111111111_",
            "4111111111111111-ab",
            "card:4111111111111111:x",
        ] {
            check(beside, &["4111111111111111"]);
        }
        check("4111 1111 1111 1111/12/27", &["4111 1111 1111 1111"]);
        check("卡号4111111111111111。", &["4111111111111111"]);
    }

    #[test]
    fn other_numbers_are_none() {
        for text in [
            "4111 1111 1111 1112",
            "1700000000000000",
            "41111111 11111111",
            "4111.1111.1111.1111",
            "0.4111111111111111",
            "x4111111111111111",
            "4111-1111 1111-1111",
            "1234567812345670",
            "550e8400-e29b-41d4-a716-446655440000",
            "4111111111111111.5",
            "4111111111111111a",
            "411111111111111111111111",
        ] {
            check_rule(cards, text, &[]);
        }
        check_rule(cards, &"4".repeat(100_000), &[]);
    }
}
