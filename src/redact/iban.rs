//! Which account numbers stand in a text that have the international form?

use std::ops::Range;

use super::boundary::{begins_at, ends_at, places};

/// How many characters an IBAN of each country has.
#[rustfmt::skip]
const LENGTHS: [(&str, usize); 82] = [
    ("AD", 24), ("AE", 23), ("AL", 28), ("AT", 20), ("AZ", 28), ("BA", 20), ("BE", 16), ("BG", 22), ("BH", 22),
    ("BI", 27), ("BR", 29), ("BY", 28), ("CH", 21), ("CR", 22), ("CY", 28), ("CZ", 24), ("DE", 22), ("DJ", 27),
    ("DK", 18), ("DO", 28), ("EE", 20), ("EG", 29), ("ES", 24), ("FI", 18), ("FK", 18), ("FO", 18), ("FR", 27),
    ("GB", 22), ("GE", 22), ("GI", 23), ("GL", 18), ("GR", 27), ("GT", 28), ("HR", 21), ("HU", 28), ("IE", 22),
    ("IL", 23), ("IQ", 23), ("IS", 26), ("IT", 27), ("JO", 30), ("KW", 30), ("KZ", 20), ("LB", 28), ("LC", 32),
    ("LI", 21), ("LT", 20), ("LU", 20), ("LV", 21), ("LY", 25), ("MC", 27), ("MD", 24), ("ME", 22), ("MK", 19),
    ("MN", 20), ("MR", 27), ("MT", 31), ("MU", 30), ("NI", 28), ("NL", 18), ("NO", 15), ("OM", 23), ("PK", 24),
    ("PL", 28), ("PS", 29), ("PT", 25), ("QA", 29), ("RO", 24), ("RS", 22), ("RU", 33), ("SA", 24), ("SC", 31),
    ("SD", 18), ("SE", 24), ("SI", 19), ("SK", 24), ("SM", 27), ("SO", 23), ("TL", 23), ("TN", 24), ("TR", 26),
    ("UA", 29),
];

/// The IBANs in `text` whose length and check digits are right, in capital or small letters, with or without spaces or
/// hyphens between groups of four.
pub fn ibans(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    places(text, |byte| byte.is_ascii_alphabetic(), interrupt)
        .filter(|at| begins_at(text, *at))
        .filter_map(|at| iban(text, at))
        .collect()
}

fn iban(text: &str, at: usize) -> Option<Range<usize>> {
    let country = text.get(at..at + 2)?.to_ascii_uppercase();
    let (_, length) = LENGTHS.iter().find(|(known, _)| *known == country)?;
    let mut compact = String::with_capacity(*length);
    let mut end = at;
    for c in text[at..].chars() {
        match c {
            ' ' | '\u{a0}' | '\u{202f}' | '-' | '‑'
                if compact.len().is_multiple_of(4) && !text[..end].ends_with(c) => {}
            c if c.is_ascii_alphanumeric() => compact.push(c.to_ascii_uppercase()),
            _ => return None,
        }
        end += c.len_utf8();
        if compact.len() == *length {
            return (has_right_digits(&compact) && ends_at(text, end)).then_some(at..end);
        }
    }
    None
}

/// The check of ISO 7064, MOD 97-10: the first four characters at the end, letters as the numbers from 10.
fn has_right_digits(compact: &str) -> bool {
    let (head, tail) = compact.split_at(4);
    let add = |rest: u32, c: char| match c.to_digit(36) {
        Some(value) if value < 10 => (rest * 10 + value) % 97,
        Some(value) => (rest * 100 + value) % 97,
        None => rest,
    };
    head[2..].bytes().all(|byte| byte.is_ascii_digit())
        && tail.chars().chain(head.chars()).fold(0, add) == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::find::tests::check_rule;

    #[test]
    fn right_check_digits_make_an_iban() {
        let check = |text, expected: &[&str]| check_rule(ibans, text, expected);
        check("IBAN: DE89 3704 0044 0532 0130 00.", &["DE89 3704 0044 0532 0130 00"]);
        check(
            "GB82WEST12345698765432,NL91ABNA0417164300",
            &["GB82WEST12345698765432", "NL91ABNA0417164300"],
        );
        check("de89 3704 0044 0532 0130 00", &["de89 3704 0044 0532 0130 00"]);
        check("gb82west12345698765432", &["gb82west12345698765432"]);
        check("DE89-3704-0044-0532-0130-00", &["DE89-3704-0044-0532-0130-00"]);
        check("账号DE89370400440532013000。", &["DE89370400440532013000"]);
        for text in [
            "DE88 3704 0044 0532 0130 00",
            "XX89370400440532013000",
            "DE89 3704 0044",
            "DE893704004405320130001",
            "aDE89370400440532013000",
            "DE8937040044053201300",
            "DEFAULT",
            "DE89  3704 0044 0532 0130 00",
            "DE",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn countries_are_in_order() {
        assert!(LENGTHS.is_sorted_by(|(one, _), (next, _)| one < next));
    }
}
