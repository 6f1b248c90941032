//! Which telephone numbers stand in a text?

use std::cell::LazyCell;
use std::ops::Range;

use super::boundary::{before, is_free_number, is_of_word, places};
use super::digits::DigitGroups;
use super::label::{OF_OTHER_THINGS, is_labelled};

/// Words of which one stands before a telephone number, in small letters.
const LABELS: &[&str] = &[
    "phone",
    "telephone",
    "tel",
    "fax",
    "mobile",
    "cell",
    "cellphone",
    "call",
    "whatsapp",
    "telefon",
    "fon",
    "handy",
    "mobil",
    "telefonnummer",
    "handynummer",
    "rufnummer",
    "tél",
    "téléphone",
    "portable",
    "teléfono",
    "móvil",
    "telefone",
    "celular",
    "telemóvel",
    "telefono",
    "cellulare",
    "telefoon",
    "gsm",
    "telefoonnummer",
    "komórka",
    "тел",
    "телефон",
    "телефону",
    "моб",
    "电话",
    "手机",
    "手机号",
    "電話",
    "電話番号",
    "携帯",
    "전화",
    "전화번호",
    "هاتف",
];

/// The telephone numbers of `text`: international ones, national ones in the usual groups of a country, and any behind
/// a word that says what they are.
pub fn phones(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    let mut over = 0;
    let may_begin = |byte: u8| byte.is_ascii_digit() || byte == b'+' || byte == b'(';
    let found = places(text, may_begin, interrupt).filter_map(|at| {
        let is_begun = at < over || before(text, at).is_some_and(|c| is_of_word(c) || c == '+');
        let range = if is_begun { None } else { phone(text, at) };
        over = range.as_ref().map_or(over, |range| range.end);
        range
    });
    found.collect()
}

fn phone(text: &str, at: usize) -> Option<Range<usize>> {
    let is_opening = |byte: &u8| matches!(byte, b'+' | b'(');
    let digits_at = at + text[at..].bytes().take(3).take_while(is_opening).count();
    if !text.as_bytes().get(digits_at)?.is_ascii_digit() {
        return None;
    }
    let groups = DigitGroups::new(text, digits_at);
    let opening = &text[at..digits_at];
    // It is the same for all that begins here, and takes longer than the rest.
    let labelled = LazyCell::new(|| is_labelled(text, at, LABELS));
    let is_of_others = LazyCell::new(|| is_labelled(text, at, OF_OTHER_THINGS));
    let fits = |groups: &DigitGroups<'_>| match opening {
        "+" | "+(" => is_international(groups),
        "" | "(" => {
            has_length(groups) && *labelled && !is_time(groups)
                || is_usual(groups, opening) && !*labelled && !*is_of_others
        }
        _ => false,
    };
    // What follows may be another number.
    let candidates = (1..=groups.len()).rev().map(|count| groups.first(count)).filter(fits);
    let mut ranges = candidates.map(|groups| at..groups.range().end);
    ranges.find(|range| is_free_number(text, range))
}

/// E.164: a country code and all the rest in at most 15 digits. A zero in parentheses is not dialled.
fn is_international(groups: &DigitGroups<'_>) -> bool {
    let digits = groups.digits();
    let least = if groups.len() > 1 { 8 } else { 9 };
    !digits.starts_with('0') && (least..=15).contains(&digits.len())
}

/// As many digits as a labelled number has.
fn has_length(groups: &DigitGroups<'_>) -> bool {
    (5..=15).contains(&groups.digits().len())
}

/// Whether national numbers of some country are written in these groups.
fn is_usual(groups: &DigitGroups<'_>, opening: &str) -> bool {
    let is_of_country = match groups.sizes().as_slice() {
        [3, 3, 4] | [1, 3, 3, 4] => is_american(groups, opening),
        [3, 4, 4] => is_chinese(groups),
        _ => false,
    };
    is_of_country || has_trunk_prefix(groups)
}

/// A date or a decimal.
fn is_time(groups: &DigitGroups<'_>) -> bool {
    let sizes = groups.sizes();
    let is_date = matches!(
        sizes.as_slice(),
        [1 | 2, 1 | 2, 4, ..] | [1 | 2, 1 | 2, 2] | [4, 1 | 2, 1 | 2, ..]
    );
    let mut separators = groups.separators();
    is_date && separators.next() == separators.next()
        || groups.len() == 2 && groups.is_separated_by(&["."])
}

/// Area and exchange begin with a digit from 2 on. Groups with nothing but spaces between are too often something else.
fn is_american(groups: &DigitGroups<'_>, opening: &str) -> bool {
    let digits = groups.digits();
    let local = digits.strip_prefix('1').filter(|it| it.len() == 10).unwrap_or(&digits);
    let is_code =
        |at: usize| local.as_bytes().get(at).is_some_and(|byte| (b'2'..=b'9').contains(byte));
    let separators: Vec<&str> = groups.separators().collect();
    let is_usual = match (opening, separators.as_slice()) {
        ("(", [first, second]) => {
            matches!(*first, ")" | ") ") && matches!(*second, "-" | " " | ".")
        }
        ("", [.., one, other]) if separators.len() == 2 => {
            one == other && matches!(*one, "-" | ".")
        }
        ("", ["-" | " ", one, other]) => one == other && *one == "-",
        ("", [" (" | "-(", one, "-" | " "]) => matches!(*one, ")" | ") "),
        _ => false,
    };
    local.len() == 10 && is_code(0) && is_code(3) && is_usual
}

fn is_chinese(groups: &DigitGroups<'_>) -> bool {
    let digits = groups.digits();
    let is_mobile = digits.starts_with('1') && matches!(digits.as_bytes()[1], b'3'..=b'9');
    is_mobile && groups.is_separated_by(&["-", " "])
}

/// A zero before the area, or two before the country, and groups as no date has them.
fn has_trunk_prefix(groups: &DigitGroups<'_>) -> bool {
    let digits = groups.digits();
    let (rest, most) = match digits.strip_prefix("00") {
        Some(rest) => (rest, 15),
        None => (digits.get(1..).unwrap_or_default(), 11),
    };
    let has_dots = groups.separators().any(|it| it == ".");
    let is_french = groups.sizes() == [2; 5];
    let is_even = groups.is_separated_by(&[" ", ".", "-", "\u{a0}", "\u{202f}"]);
    let slashes = groups.separators().filter(|it| it.contains('/')).count();
    let is_first = slashes == 0 || groups.separators().next().is_some_and(|it| it.contains('/'));
    digits.starts_with('0')
        && groups.sizes().first().is_some_and(|first| *first > 1)
        && !rest.starts_with('0')
        && (8..=most).contains(&rest.len())
        && (2..=6).contains(&groups.len())
        && !is_time(groups)
        && (!has_dots || is_french)
        && (!is_french || is_even)
        && slashes < 2
        && is_first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::find::tests::check_rule;

    #[test]
    fn numbers_are_found_as_they_are_written_in_many_countries() {
        for number in [
            "+49 30 1234567",
            "+49 (0)30 123456-78",
            "+1 (212) 555-0123",
            "+442079460958",
            "+33 6 12 34 56 78",
            "+86 138 1234 5678",
            "+81-3-1234-5678",
            "(212) 555-0123",
            "212-555-0123",
            "212.555.0123",
            "1-212-555-0123",
            "1 (212) 555-0123",
            "030 1234567",
            "0171/1234567",
            "(030) 1234567",
            "06 12 34 56 78",
            "06.12.34.56.78",
            "020 7946 0958",
            "03-1234-5678",
            "010-1234-5678",
            "138-1234-5678",
            "0049 30 1234567",
            "0171 123 45 67",
        ] {
            check_rule(phones, number, &[number]);
            check_rule(phones, &format!("Ask {number}, or write."), &[number]);
        }
        check_rule(phones, "030 1234567 030 7654321", &["030 1234567", "030 7654321"]);
    }

    #[test]
    fn a_label_makes_a_number_of_any_groups() {
        let check = |text, number| check_rule(phones, text, &[number]);
        check("Tel.: 12345-67", "12345-67");
        check("Phone number is 5550123.", "5550123");
        check("电话：13812345678，", "13812345678");
        check("telefon 612 345 678", "612 345 678");
        check("**Mobile:** 612345678", "612345678");
    }

    #[test]
    fn dates_versions_prices_and_orders_are_none() {
        for text in [
            "2024-01-15",
            "15.01.2024",
            "01/02/2024 10:30",
            "01.02.2024 12",
            "2024-01-15 10:30:45",
            "v1.2.3",
            "17.4",
            "1,234,567.89",
            "EUR 1.234.567,89",
            "0.123456789",
            "order 0512-3344556",
            "Bestellnummer: 0512 3344556",
            "#212-555-0123",
            "ISBN 978-3-16-148410-0",
            "C++17",
            "x+123456789",
            "100 000 000",
            "300 400 5000",
            "1700000000000",
            "0x1234567890",
            "00:12:34",
            "8080",
            "4.5.6-78",
            "1234567890",
            "5-4-3-2-1",
            "10-20-30",
            "550e8400-e29b-41d4-a716-446655440000",
            "100-200-3000",
            "+12345",
            "++123456789",
            "2001-02-03T04:05:06",
            "call 2024-01-15",
            "0 1 2 3 4 5 6 7 8 9",
            "64 MB",
            "1e-10",
            "phone 1234",
            "cell 17.25",
        ] {
            check_rule(phones, text, &[]);
        }
        check_rule(phones, &"0 ".repeat(20_000), &[]);
        check_rule(phones, &"0".repeat(100_000), &[]);
        check_rule(phones, &"(+".repeat(20_000), &[]);
    }
}
