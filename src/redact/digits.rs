//! How are the digits of a number put in groups?

use std::ops::Range;

/// Most bytes and groups of a number.
const LONGEST: usize = 48;
const MOST_GROUPS: usize = 12;

/// Groups of digits, with at most two signs between one and the next.
#[derive(Debug, PartialEq, Eq)]
pub struct DigitGroups<'a> {
    text: &'a str,
    groups: Vec<Range<usize>>,
}

impl<'a> DigitGroups<'a> {
    /// Those that begin with the digit at the byte `at`. Between two of them stand spaces, hyphens, dots, slashes or
    /// parentheses.
    pub fn new(text: &'a str, at: usize) -> DigitGroups<'a> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut place = at;
        while groups.len() < MOST_GROUPS && place - at < LONGEST {
            let digits = text[place..].bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                break;
            }
            groups.push(place..place + digits);
            place += digits;
            place += signs(&text[place..]);
        }
        DigitGroups { text, groups }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// The first so many of them.
    pub fn first(&self, count: usize) -> DigitGroups<'a> {
        DigitGroups { text: self.text, groups: self.groups.iter().take(count).cloned().collect() }
    }

    /// From the first digit to the last.
    pub fn range(&self) -> Range<usize> {
        let ends = self.groups.first().zip(self.groups.last());
        ends.map_or(0..0, |(first, last)| first.start..last.end)
    }

    /// The digits alone.
    pub fn digits(&self) -> String {
        self.groups.iter().map(|group| &self.text[group.clone()]).collect()
    }

    /// How many digits each group has.
    pub fn sizes(&self) -> Vec<usize> {
        self.groups.iter().map(ExactSizeIterator::len).collect()
    }

    /// What stands between the groups.
    pub fn separators(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.groups.windows(2).map(|pair| &self.text[pair[0].end..pair[1].start])
    }

    /// Whether what stands between the groups is the same everywhere and one of `signs`; nothing is, too.
    pub fn is_separated_by(&self, signs: &[&str]) -> bool {
        let mut separators = self.separators();
        match separators.next() {
            None => true,
            Some(first) => signs.contains(&first) && separators.all(|it| it == first),
        }
    }
}

/// The bytes of at most two signs at the beginning of `text` that stand between groups.
fn signs(text: &str) -> usize {
    let is_sign =
        |c: &char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '-' | '‑' | '.' | '/' | '(' | ')');
    let signs: Vec<char> = text.chars().take_while(is_sign).take(2).collect();
    signs.into_iter().map(char::len_utf8).sum()
}

/// Whether the last of `digits` is the check digit of the others by Luhn's formula.
pub fn has_luhn_digit(digits: &str) -> bool {
    let doubled = |(place, digit): (usize, u32)| match (place % 2, digit) {
        (0, digit) => digit,
        (_, digit) if digit > 4 => 2 * digit - 9,
        (_, digit) => 2 * digit,
    };
    let sum: u32 = values(digits).into_iter().rev().enumerate().map(doubled).sum();
    !digits.is_empty() && sum.is_multiple_of(10)
}

/// The values of the digits among the characters of `text`.
pub fn values(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_end_where_something_else_begins() {
        let check = |text: &str, sizes: &[usize], whole: &str| {
            let groups = DigitGroups::new(text, 0);
            assert_eq!((groups.sizes().as_slice(), &text[groups.range()]), (sizes, whole));
        };
        check("030 12-34, 5", &[3, 2, 2], "030 12-34");
        check("49 (0) 30", &[2, 1, 2], "49 (0) 30");
        check("1 - 2", &[1], "1");
        check("12\n34", &[2], "12");
        check("7", &[1], "7");
        check(&"1 ".repeat(100), &[1; 12], "1 1 1 1 1 1 1 1 1 1 1 1");
    }

    #[test]
    fn luhn_digits_are_checked() {
        for right in ["4111111111111111", "18", "8112189876"] {
            assert!(has_luhn_digit(right), "{right}");
        }
        for wrong in ["4111111111111112", "1", ""] {
            assert!(!has_luhn_digit(wrong), "{wrong}");
        }
    }
}
