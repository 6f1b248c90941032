//! Which numbers does a state know a person by?
//!
//! A number is one where its form is that of a country, its check digits are right, and, where digits alone are no
//! form, a word before it says what it is.

use std::ops::Range;

use super::boundary::{before, is_of_word, is_own_number, places};
use super::digits::{has_luhn_digit, values};
use super::label::is_labelled;

/// The numbers of a country.
struct NationalId {
    /// `9` is a digit, `A` a capital letter, `X` either; all else stands for itself.
    shapes: &'static [&'static str],
    /// Words of which one has to stand before it, in small letters; none: it needs no word.
    labels: &'static [&'static str],
    /// Whether letters and digits, without what stands between them, can be one.
    check: fn(&str) -> bool,
}

const NATIONAL_IDS: [NationalId; 16] = [
    // Belgium
    NationalId { shapes: &["99.99.99-999.99"], labels: &[], check: is_belgian },
    // Brazil, CPF
    NationalId { shapes: &["999.999.999-99"], labels: &[], check: is_cpf },
    // Canada
    NationalId {
        shapes: &["999-999-999", "999 999 999"],
        labels: &["sin", "nas"],
        check: has_luhn_digit,
    },
    // China
    NationalId { shapes: &["99999999999999999X"], labels: &[], check: is_chinese },
    // Finland
    NationalId {
        shapes: &["999999-999X", "999999+999X", "999999A999X"],
        labels: &[],
        check: is_finnish,
    },
    // France
    NationalId {
        shapes: &["999999999999999", "9 99 99 99 999 999 99"],
        labels: &[],
        check: is_french,
    },
    // Germany, tax
    NationalId { shapes: &["99 999 999 999"], labels: &[], check: is_german },
    NationalId {
        shapes: &["99999999999"],
        labels: &[
            "idnr",
            "steuer-id",
            "steueridentifikationsnummer",
            "identifikationsnummer",
            "tin",
        ],
        check: is_german,
    },
    // India, Aadhaar
    NationalId { shapes: &["9999 9999 9999"], labels: &[], check: is_aadhaar },
    // Italy
    NationalId { shapes: &["AAAAAA99A99A999A"], labels: &[], check: is_italian },
    // Netherlands
    NationalId {
        shapes: &["999999999", "9999.99.999"],
        labels: &["bsn", "burgerservicenummer", "sofinummer"],
        check: is_bsn,
    },
    // Poland
    NationalId { shapes: &["99999999999"], labels: &["pesel"], check: is_pesel },
    // Spain
    NationalId {
        shapes: &["99999999A", "99999999-A", "A9999999A", "A-9999999-A"],
        labels: &[],
        check: is_spanish,
    },
    // Sweden
    NationalId { shapes: &["999999-9999", "99999999-9999"], labels: &[], check: is_swedish },
    // Switzerland
    NationalId { shapes: &["756.9999.9999.99"], labels: &[], check: is_swiss },
    // United Kingdom and United States
    NationalId {
        shapes: &["AA999999A", "AA 99 99 99 A", "999-99-9999"],
        labels: &[],
        check: is_of_insurance,
    },
];

/// The numbers of persons in `text`.
pub fn national_ids(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    places(text, |byte| byte.is_ascii_digit() || byte.is_ascii_uppercase(), interrupt)
        .filter(|at| !before(text, *at).is_some_and(|c| c != '_' && is_of_word(c)))
        .filter_map(|at| NATIONAL_IDS.iter().find_map(|id| id.find(text, at)))
        .collect()
}

impl NationalId {
    fn find(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let fits = |shape: &&&str| has_shape(&text.as_bytes()[at..], shape.as_bytes());
        let shape = self.shapes.iter().find(fits)?;
        let range = at..at + shape.len();
        let plain: String =
            text[range.clone()].chars().filter(char::is_ascii_alphanumeric).collect();
        let is_one = is_own_number(text, &range)
            && (self.check)(&plain)
            && (self.labels.is_empty() || is_labelled(text, at, self.labels));
        is_one.then_some(range)
    }
}

fn has_shape(text: &[u8], shape: &[u8]) -> bool {
    let fits = |(byte, sign): (&u8, &u8)| match sign {
        b'9' => byte.is_ascii_digit(),
        b'A' => byte.is_ascii_uppercase(),
        b'X' => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
        sign => byte == sign,
    };
    text.len() >= shape.len() && text.iter().zip(shape).all(fits)
}

fn number(digits: &str) -> u64 {
    digits.parse().unwrap_or(0)
}

/// The sum of the digits, each times its weight.
fn weighted(digits: &str, weights: impl IntoIterator<Item = u32>) -> u32 {
    values(digits).into_iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// Whether two digits are a month and the next two a day.
fn is_date(month: &str, day: &str) -> bool {
    (1..=12).contains(&number(month)) && (1..=31).contains(&number(day))
}

fn is_belgian(id: &str) -> bool {
    let (base, check) = (number(&id[..9]), number(&id[9..]));
    let fits = |base: u64| 97 - base % 97 == check;
    is_date(&id[2..4], &id[4..6]) && (fits(base) || fits(2_000_000_000 + base))
}

fn is_cpf(id: &str) -> bool {
    let check = |count: u32| match weighted(id, (2..=count + 1).rev()) * 10 % 11 {
        10 => 0,
        digit => digit,
    };
    let digits = values(id);
    let is_varied = digits.iter().any(|digit| *digit != digits[0]);
    is_varied && check(9) == digits[9] && check(10) == digits[10]
}

fn is_chinese(id: &str) -> bool {
    let weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let check = "10X98765432".chars().nth(weighted(&id[..17], weights) as usize % 11);
    is_date(&id[10..12], &id[12..14]) && id.chars().next_back() == check
}

fn is_finnish(id: &str) -> bool {
    // A letter for the century stands between the date and the rest, or a sign, which is left out.
    let (date, rest) = (&id[..6], &id[id.len() - 4..]);
    let is_century = id.len() == 10 || "ABCDEFUVWXY".contains(&id[6..7]);
    let all = number(&format!("{date}{}", &rest[..3]));
    let check = "0123456789ABCDEFHJKLMNPRSTUVWXY".chars().nth((all % 31) as usize);
    is_century && is_date(&date[2..4], &date[..2]) && rest.chars().next_back() == check
}

fn is_french(id: &str) -> bool {
    let (base, check) = (number(&id[..13]), number(&id[13..]));
    let month = number(&id[3..5]);
    let is_month = (1..=12).contains(&month) || (20..=42).contains(&month);
    id.starts_with(['1', '2']) && is_month && 97 - base % 97 == check
}

/// ISO 7064, MOD 11,10; of the first ten digits one comes twice or three times.
fn is_german(id: &str) -> bool {
    let digits = values(id);
    let product = digits[..10].iter().fold(10, |product, digit| match (digit + product) % 10 {
        0 => 20 % 11,
        sum => sum * 2 % 11,
    });
    let most = (0..10).map(|it| digits[..10].iter().filter(|digit| **digit == it).count()).max();
    digits[0] != 0
        && (11 - product) % 10 == digits[10]
        && most.is_some_and(|most| matches!(most, 2 | 3))
}

/// Verhoeff's check, in the dihedral group of order 10.
fn is_aadhaar(id: &str) -> bool {
    let product = |a: u32, b: u32| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => 5 + (a + b) % 5,
        (false, true) => 5 + (a + 5 - b) % 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let permuted = |place: usize, digit: u32| {
        const NEXT: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
        (0..place % 8).fold(digit, |digit, _| NEXT[digit as usize])
    };
    let digits = values(id).into_iter().rev().enumerate();
    let sum = digits.fold(0, |sum, (place, digit)| product(sum, permuted(place, digit)));
    !id.starts_with(['0', '1']) && sum == 0
}

fn is_italian(id: &str) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let value = |(place, c): (usize, char)| {
        let order = c.to_digit(10).unwrap_or_else(|| u32::from(c).saturating_sub(u32::from('A')));
        if place % 2 == 0 { ODD.get(order as usize).copied().unwrap_or(0) } else { order }
    };
    let sum: u32 = id.chars().take(15).enumerate().map(value).sum();
    let check = char::from_u32(u32::from('A') + sum % 26);
    "ABCDEHLMPRST".contains(&id[8..9]) && id.chars().next_back() == check
}

fn is_bsn(id: &str) -> bool {
    let digits = values(id);
    let sum = weighted(&id[..8], (2..=9).rev());
    sum > 0 && sum % 11 == digits[8]
}

fn is_pesel(id: &str) -> bool {
    let month = number(&id[2..4]) % 20;
    let sum = weighted(&id[..10], [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    let is_day = (1..=31).contains(&number(&id[4..6]));
    (1..=12).contains(&month) && is_day && (10 - sum % 10) % 10 == values(id)[10]
}

/// Citizens have eight digits, others a letter in the place of the first.
fn is_spanish(id: &str) -> bool {
    let first = match &id[..1] {
        "X" => "0",
        "Y" => "1",
        "Z" => "2",
        first if first.starts_with(|c: char| c.is_ascii_digit()) => first,
        _ => return false,
    };
    let all = number(&format!("{first}{}", &id[1..8]));
    "TRWAGMYFPDXBNJZSQVHLCKE".chars().nth((all % 23) as usize) == id.chars().next_back()
}

/// The last ten digits; where there are twelve, the first two are the century.
fn is_swedish(id: &str) -> bool {
    let last = &id[id.len() - 10..];
    let is_century = id.len() == 10 || matches!(&id[..2], "18" | "19" | "20");
    // Sixty is added to the day of those who are no citizens.
    let day = number(&last[4..6]) % 60;
    is_century && is_date(&last[2..4], &day.to_string()) && has_luhn_digit(last)
}

fn is_swiss(id: &str) -> bool {
    let sum = weighted(&id[..12], [1, 3].into_iter().cycle());
    (10 - sum % 10) % 10 == values(id)[12]
}

/// National insurance in the United Kingdom and social security in the United States: no check digit, and combinations
/// that are not given away.
fn is_of_insurance(id: &str) -> bool {
    if id.starts_with(|c: char| c.is_ascii_digit()) {
        let is_area = number(&id[..3]) > 0 && &id[..3] != "666" && !id.starts_with('9');
        return is_area && &id[3..5] != "00" && &id[5..] != "0000";
    }
    let is_prefix = !id[..1].contains(['D', 'F', 'I', 'Q', 'U', 'V'])
        && !id[1..2].contains(['D', 'F', 'I', 'O', 'Q', 'U', 'V'])
        && !matches!(&id[..2], "BG" | "GB" | "KN" | "NK" | "NT" | "TN" | "ZZ");
    is_prefix && id.ends_with(['A', 'B', 'C', 'D'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::find::tests::check_rule;

    /// A number that is one, and changed digits of it that are none.
    fn check(text: &str, id: &str, others: &[&str]) {
        assert!(text.contains(id));
        check_rule(national_ids, text, &[id]);
        for other in others {
            check_rule(national_ids, &text.replace(id, other), &[]);
        }
    }

    #[test]
    fn numbers_of_countries_are_known() {
        check("NN 93.05.18-223.61", "93.05.18-223.61", &["93.05.18-223.62", "93.13.18-223.61"]);
        check("CPF 529.982.247-25", "529.982.247-25", &["529.982.247-26", "111.111.111-11"]);
        check("SIN: 046 454 286", "046 454 286", &["046 454 287"]);
        check(
            "身份证11010519491231002X。",
            "11010519491231002X",
            &["110105194912310021", "11010519491331002X"],
        );
        check("HETU 131052-308T", "131052-308T", &["131052-308U", "131352-308T"]);
        check(
            "NIR 2 55 08 14 168 025 38",
            "2 55 08 14 168 025 38",
            &["2 55 08 14 168 025 39", "3 55 08 14 168 025 38"],
        );
        check("IdNr. 86 095 742 719", "86 095 742 719", &["86 095 742 718", "86095742718"]);
        check("Steuer-ID: 86095742719", "86095742719", &["86095742710"]);
        check("Aadhaar 2341 2341 2346", "2341 2341 2346", &["2341 2341 2347", "1341 2341 2346"]);
        check("CF RSSMRA85T10A562S", "RSSMRA85T10A562S", &["RSSMRA85T10A562T", "RSSMRA85Z10A562S"]);
        check("BSN 111222333", "111222333", &["111222334"]);
        check("PESEL 44051401359", "44051401359", &["44051401358", "44991401359"]);
        check("DNI 12345678Z", "12345678Z", &["12345678A", "Q1234567Z"]);
        check("NIE X-1234567-L", "X-1234567-L", &["X-1234567-M"]);
        check("personnummer 811218-9876", "811218-9876", &["811218-9877", "811318-9876"]);
        check("personnummer 19811218-9876", "19811218-9876", &["17811218-9876"]);
        check("AHV 756.9217.0769.85", "756.9217.0769.85", &["756.9217.0769.86"]);
        check(
            "NINO AB 12 34 56 C",
            "AB 12 34 56 C",
            &["AB 12 34 56 E", "GB 12 34 56 C", "DB 12 34 56 C"],
        );
        check(
            "SSN 123-45-6789",
            "123-45-6789",
            &["000-45-6789", "666-45-6789", "123-00-6789", "923-45-6789"],
        );
    }

    #[test]
    fn digits_alone_need_a_word() {
        for text in [
            "111222333",
            "44051401359",
            "86095742719",
            "046 454 286",
            "order 123-45-67890",
            "A123-45-6789",
        ] {
            check_rule(national_ids, text, &[]);
        }
    }
}
