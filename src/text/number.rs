//! # number: is this number that one, written otherwise?
//!
//! ```text
//! "1.250,00", "1,250", "1 250", "1'250", "١٬٢٥٠" │ "1250" → the same;  "1万2千" │ "12000" → the same
//! ```
//!
//! Digits are grouped by points, commas, spaces or apostrophes, and decimals begin with a comma or a point, as the
//! country has it. "1.250" is one number in Berlin and another one in Boston. No text says which it means, so both count,
//! and only what cannot be the same in any country is another number. Decimals are told apart as they are written ("4.1"
//! and "4.10" are two versions), but for a price without cents, "1250.00".

use std::borrow::Cow;

use super::number_run::number_runs;
use super::script::is_hangul;
use super::words::word_places;

/// The digits zero of scripts in whose order the others follow.
const ZEROS: [char; 21] = [
    '\u{660}', '\u{6F0}', '\u{7C0}', '\u{966}', '\u{9E6}', '\u{A66}', '\u{AE6}', '\u{B66}',
    '\u{BE6}', '\u{C66}', '\u{CE6}', '\u{D66}', '\u{DE6}', '\u{E50}', '\u{ED0}', '\u{F20}',
    '\u{1040}', '\u{1090}', '\u{17E0}', '\u{1810}', '\u{FF10}',
];

/// Bytes of the longest number that is looked at.
pub(super) const LONGEST: usize = 64;

/// The digit of ASCII that says the same as the decimal digit `c` of any script; `None` for other characters.
#[must_use]
pub fn ascii_digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= c)].last()?;
    char::from_digit(c as u32 - *zero as u32, 10)
}

/// `text` with the digits of ASCII for those of other scripts.
#[must_use]
pub fn with_ascii_digits(text: &str) -> Cow<'_, str> {
    let is_other = |c: char| !c.is_ascii() && ascii_digit(c).is_some();
    match text.contains(is_other) {
        true => text.chars().map(|c| ascii_digit(c).unwrap_or(c)).collect::<String>().into(),
        false => text.into(),
    }
}

/// Whether `c` is the sign of a currency.
pub(crate) fn is_currency_sign(c: char) -> bool {
    matches!(c, '$' | '＄' | '৳' | '฿' | '៛' | '﷼' | '¢'..='¥' | '￠'..='￦')
        || ('₠'..='\u{20CF}').contains(&c)
}

/// How many zeros a character of Chinese, Japanese or Korean stands for in a number.
pub(super) fn zeros(c: char) -> Option<usize> {
    match c {
        '十' => Some(1),
        '百' | '백' => Some(2),
        '千' | '천' => Some(3),
        '万' | '萬' | '만' => Some(4),
        '億' | '亿' | '억' => Some(8),
        '兆' => Some(12),
        _ => None,
    }
}

/// A sign between digits as ASCII has it; other characters as they are.
pub(super) fn ascii_sign(c: char) -> char {
    match c {
        '\u{A0}' | '\u{202F}' | '\u{2009}' => ' ',
        '٬' | '，' => ',',
        '٫' | '．' => '.',
        '’' | '＇' => '\'',
        other => other,
    }
}

pub(super) fn is_sign(c: char) -> bool {
    matches!(c, ' ' | ',' | '.' | '\'')
}

pub(super) fn with_ascii(number: &str) -> String {
    number.chars().map(|c| ascii_digit(c).unwrap_or_else(|| ascii_sign(c))).collect()
}

/// Whether both are one number, and have the same ending if they have one, as Korean puts it behind numbers.
pub(crate) fn is_same_number(one: &str, other: &str) -> bool {
    let is_number = |word: &str| word.chars().next().and_then(ascii_digit).is_some();
    if !is_number(one) || !is_number(other) {
        return false;
    }
    let [(one, ending), (other, other_ending)] = [one, other].map(parts);
    are_endings_alike(&ending, &other_ending) && share(&values(&one), &values(&other))
}

/// Whether the number `word` of a text stands for `term`: it is the same, or its first group is, since two numbers with
/// a space between may look like one.
pub(crate) fn stands_for_number(term: &str, word: &str) -> bool {
    let is_first = || {
        let (number, _) = parts(word);
        let end = number.find(|c: char| c == ' ' || zeros(c).is_some());
        end.is_some_and(|end| is_same_number(term, &number[..end]))
    };
    is_same_number(term, word) || is_first()
}

/// A word that begins with a number, as the number and what follows. The number is empty where it begins otherwise. A
/// narrow space before a unit is part of the word, and of neither.
fn parts(word: &str) -> (String, String) {
    let written = with_ascii(word);
    let is_part = |c: char| c.is_ascii_digit() || is_sign(c) || zeros(c).is_some();
    let end = written.find(|c| !is_part(c)).unwrap_or(written.len());
    let is_number = written.starts_with(|c: char| c.is_ascii_digit()) && end <= LONGEST;
    let end = if is_number { end } else { 0 };
    (written[..end].trim_end_matches(is_sign).to_owned(), written[end..].to_owned())
}

/// Whether they are the same, or in Korean one begins with the other: "27일" and "27일에".
fn are_endings_alike(one: &str, other: &str) -> bool {
    let is_korean = |it: &str| it.chars().all(is_hangul);
    let begins = one.starts_with(other) || other.starts_with(one);
    one == other || begins && is_korean(one) && is_korean(other)
}

fn share(values: &[String], others: &[String]) -> bool {
    values.iter().any(|value| others.contains(value))
}

/// What `number` may mean, in digits, with a point before decimals; nothing where it is a version, a date or the like.
pub(super) fn values(number: &str) -> Vec<String> {
    if number.contains(|c| zeros(c).is_some()) {
        return sum(number).into_iter().map(|it| it.to_string()).collect();
    }
    let groups: Vec<&str> = number.split(is_sign).collect();
    if groups.iter().any(|group| !group.bytes().all(|it| it.is_ascii_digit())) {
        return Vec::new();
    }
    let signs: Vec<char> = number.chars().filter(|c| is_sign(*c)).collect();
    let mut values: Vec<String> = whole(&groups, &signs).into_iter().collect();
    if let ([first @ .., fraction], [between @ .., sign @ (',' | '.')]) = (&groups[..], &signs[..])
        && !between.contains(sign)
        && !fraction.is_empty()
        && let Some(integer) = whole(first, between)
    {
        values.push(match *fraction {
            "00" => integer,
            _ => format!("{integer}.{fraction}"),
        });
    }
    values
}

/// The digits of a number without decimals, if that is how they are grouped: by three, or as in India by two and at the end
/// by three.
fn whole(groups: &[&str], signs: &[char]) -> Option<String> {
    let [first, rest @ ..] = groups else { return None };
    let is_grouped = |length: usize| {
        let by_three = rest.last().is_some_and(|last| last.len() == 3);
        let middle = rest.iter().rev().skip(1).all(|group| group.len() == length);
        by_three && middle && first.len() <= length && !first.starts_with('0')
    };
    let is_one_sign = signs.iter().all(|sign| *sign == signs[0]);
    let is_indian = || signs[0] == ',' && is_grouped(2);
    let is_whole = rest.is_empty() || is_one_sign && (is_grouped(3) || is_indian());
    (!first.is_empty() && is_whole).then(|| groups.concat())
}

/// The value of a number with characters for powers of ten.
fn sum(number: &str) -> Option<u128> {
    let (mut all, mut below, mut digits) = (0_u128, 0_u128, String::new());
    for c in number.chars() {
        match zeros(c) {
            None if c != ',' && c != ' ' => digits.push(c),
            None => {}
            // What stands before 万 and 億 is as many of them.
            Some(zeros) if zeros > 3 => {
                let before = below.checked_mul(10_u128.checked_pow(zeros as u32)?)?;
                all = all.checked_add(before)?.checked_add(times(&digits, zeros)?)?;
                (below, digits) = (0, String::new());
            }
            Some(zeros) => {
                below = below.checked_add(times(&digits, zeros)?)?;
                digits.clear();
            }
        }
    }
    all.checked_add(below)?.checked_add(times(&digits, 0)?)
}

/// `digits`, which may have decimals, with so many zeros; no digits are 0.
fn times(digits: &str, zeros: usize) -> Option<u128> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let rest = zeros.checked_sub(fraction.len())?;
    format!("0{whole}{fraction}{}", "0".repeat(rest)).parse().ok()
}

/// What the number in `word` may mean, in digits, with a point before decimals: of "9,000.00" and "v9000" 9000, of "1.250"
/// 1250 and 1.250. What stands around it is not looked at, so a single digit counts only where it is all of the word:
/// "5G" and "2nd" are no 5 and no 2. Versions, dates and codes of digits and letters mean only themselves.
pub(crate) fn meanings(word: &str) -> Vec<String> {
    let is_digit = |c: char| ascii_digit(c).is_some();
    let Some(start) = word.find(is_digit) else { return Vec::new() };
    let (number, ending) = parts(&word[start..]);
    if ending.contains(is_digit) {
        return Vec::new();
    }
    let is_all = start == 0 && ending.is_empty();
    let mut values = values(&number);
    values.retain(|value| is_all || value.len() > 1);
    values
}

/// Whether the numbers in both words may be one: [`meanings`] of theirs are the same.
pub(crate) fn may_mean_the_same(one: &str, other: &str) -> bool {
    share(&meanings(one), &meanings(other))
}

/// A word that begins with a number, which is written as [`meanings`] has it first: "9000円" for "9,000円". `None` for
/// other words.
pub(crate) fn canonical(word: &str) -> Option<String> {
    word.chars().next().and_then(ascii_digit)?;
    let (number, ending) = parts(word);
    values(&number).into_iter().next().map(|value| value + &ending)
}

/// How many characters the number takes that `word` begins with; 0 where it begins otherwise.
pub(crate) fn number_letters(word: &str) -> usize {
    let is_part = |c: &char| ascii_digit(*c).is_some() || is_sign(ascii_sign(*c));
    match word.chars().next().and_then(ascii_digit) {
        Some(_) => word.chars().take_while(is_part).count(),
        None => 0,
    }
}

/// A number of a text that has signs or spaces between its digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedNumber<'a> {
    /// As it is written.
    pub written: &'a str,
    /// What it may mean in digits alone, with a point before decimals.
    pub values: Vec<String>,
}

impl GroupedNumber<'_> {
    /// What a parser may take for its first word, the longest first, with the digits of ASCII: it, or what stands before
    /// one of its signs.
    #[must_use]
    pub fn beginnings(&self) -> Vec<String> {
        let written = with_ascii_digits(self.written);
        let ends = written.char_indices().filter(|(_, c)| !c.is_ascii_digit()).map(|(end, _)| end);
        let mut all: Vec<String> = ends.map(|end| written[..end].to_owned()).collect();
        all.push(written.into_owned());
        all.reverse();
        all
    }
}

/// The numbers of `text` that may mean something else than they are written, in order.
#[must_use]
pub fn grouped_numbers(text: &str) -> Vec<GroupedNumber<'_>> {
    if !has_signs(text) {
        return Vec::new();
    }
    let places: Vec<(usize, &str)> = word_places(text).collect();
    let runs = number_runs(text, &places);
    let mut runs = runs.iter().peekable();
    let mut numbers = Vec::new();
    let mut at = 0;
    while let Some((start, word)) = places.get(at) {
        let run = runs.next_if(|run| run.words.start == at);
        let words = run.map_or(1, |run| run.words.len());
        let (last, end) = places[at + words - 1];
        let written = if run.is_some() { &text[*start..last + end.len()] } else { *word };
        at += words;
        if written.len() > LONGEST {
            continue;
        }
        let (number, _) = parts(written);
        let mut values = values(&number);
        values.retain(|value| *value != number);
        if !values.is_empty() {
            numbers.push(GroupedNumber { written, values });
        }
    }
    numbers
}

/// Whether `text` has a sign between two digits, or a character for a power of ten behind one.
fn has_signs(text: &str) -> bool {
    let is_digit = |c: char| ascii_digit(c).is_some();
    let mut last = [' '; 2];
    text.chars().any(|c| {
        let is_between = is_digit(last[0]) && is_sign(ascii_sign(last[1])) && is_digit(c);
        let is_behind = is_digit(last[1]) && zeros(c).is_some();
        last = [last[1], c];
        is_between || is_behind
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_all_scripts_are_digits() {
        for text in ["٢٧", "۲۷", "२७", "২৭", "๒๗", "၂၇", "២៧", "２７", "27"]
        {
            assert_eq!(with_ascii_digits(text), "27", "{text}");
        }
        for text in ["", "½", "Ⅷ", "二十七", "²", "abc"] {
            assert_eq!(with_ascii_digits(text), text);
        }
    }

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        let groups: [&[&str]; 7] = [
            &[
                "1250",
                "1,250",
                "1.250",
                "1 250",
                "1\u{202F}250",
                "1'250",
                "1’250",
                "١٬٢٥٠",
                "１，２５０",
            ],
            &["1250", "1250.00", "1.250,00", "1,250.00", "1 250,00", "1'250.00", "1250,00"],
            &["1250000", "1,250,000", "1.250.000,00", "1 250 000", "12,50,000", "125万"],
            &["12.50", "12,50", "१२.५०"],
            &["12000", "1万2千", "１万２千", "1.2万", "12千"],
            &["1만2천원", "12000원", "12,000원에"],
            &["120000000", "1億2000万", "1.2亿"],
        ];
        for group in groups {
            for (one, other) in group.iter().flat_map(|one| group.iter().map(move |it| (one, it))) {
                assert!(is_same_number(one, other), "{one} {other}");
            }
        }
    }

    #[test]
    fn other_numbers_stay_others() {
        for (one, other) in [
            ("1250", "1350"),
            ("1.25", "1.250"),
            ("4.1", "4.10"),
            ("4.1.3", "4.1.0"),
            ("4.1.3", "413"),
            ("12.05.2024", "12052024"),
            ("0.500", "500"),
            ("10,000", "10,001"),
            ("1.000", "1.000.000"),
            ("27일", "27명"),
            ("20ms", "20"),
            ("1250", ""),
            ("x1250", "1250"),
            ("", ""),
        ] {
            assert!(!is_same_number(one, other), "{one} {other}");
            assert!(!is_same_number(other, one), "{other} {one}");
        }
        let endless = "1".repeat(1000);
        assert!(!is_same_number(&endless, &endless));
        let endless = format!("9{}", "億".repeat(15));
        assert!(!is_same_number(&endless, "9"));
    }

    #[test]
    fn groups_beside_each_other_may_be_two_numbers() {
        assert!(stands_for_number("1", "1 250") && stands_for_number("1250", "1 250"));
        assert!(stands_for_number("5", "5千") && !stands_for_number("1 250", "1"));
    }

    #[test]
    fn what_is_grouped_is_found_in_digits_alone() {
        let found = |text: &str| -> Vec<(String, Vec<String>)> {
            let all = grouped_numbers(text).into_iter();
            all.map(|it| (it.written.to_owned(), it.values)).collect()
        };
        let check = |text: &str, expected: &[(&str, &[&str])]| {
            let expected: Vec<(String, Vec<String>)> = expected
                .iter()
                .map(|(written, values)| {
                    (written.to_string(), values.iter().map(|it| it.to_string()).collect())
                })
                .collect();
            assert_eq!(found(text), expected, "{text}");
        };
        check(
            "From $1,250.00 on, 1.250 € or 12,50: 4.1, 4.1.3",
            &[("1,250.00", &["1250"]), ("1.250", &["1250"]), ("12,50", &["12.50"])],
        );
        check("1 250 kg of 1,500kg", &[("1 250", &["1250"]), ("1,500kg", &["1500", "1.500"])]);
        check("１万２千円", &[("１万２千", &["12000"])]);
        check("12.05.2024 at 10:30 in room 7 of 10.0.0.1", &[]);
        check(&"1".repeat(100_000), &[]);
        check(&"1,".repeat(100_000), &[]);
    }

    #[test]
    fn a_parser_may_take_a_part_of_a_number_for_a_word() {
        for (text, expected) in [
            ("1.250,00", &["1.250,00", "1.250", "1"][..]),
            ("１，５００", &["1，500", "1"]),
            ("1万2千", &["1万2千", "1万2", "1"]),
        ] {
            assert_eq!(grouped_numbers(text)[0].beginnings(), expected, "{text}");
        }
    }

    #[test]
    fn a_word_may_mean_a_number() {
        for (word, expected) in [
            ("9,000", &["9000", "9.000"][..]),
            ("9,000.00", &["9000"]),
            ("1,00,000", &["100000"]),
            ("98.7", &["98.7"]),
            ("5.00", &["5"]),
            ("v9000", &["9000"]),
            ("1930s", &["1930"]),
            ("1万2千円", &["12000"]),
            ("12\u{202F}500\u{202F}", &["12500"]),
            ("2nd", &[]),
            ("4.1.3", &[]),
            ("12b9f", &[]),
            ("x", &[]),
            ("", &[]),
        ] {
            assert_eq!(meanings(word), expected, "{word}");
        }
        assert!(may_mean_the_same("9000", "9,000円") && !may_mean_the_same("98.7", "987"));
        assert!(!may_mean_the_same("", "") && meanings(&"1".repeat(100_000)).is_empty());
    }

    #[test]
    fn a_number_has_one_form_before_what_follows_it() {
        for (word, expected) in [
            ("9,000円", Some("9000円")),
            ("98,7", Some("98.7")),
            ("4.1.3", None),
            ("x9", None),
            ("", None),
        ] {
            assert_eq!(canonical(word).as_deref(), expected, "{word}");
        }
        for (word, letters) in [("1,250kg", 5), ("1930s", 4), ("v2", 0), ("", 0)] {
            assert_eq!(number_letters(word), letters, "{word}");
        }
    }
}
