//! Which integer is this number, or between which two is it?
//!
//! ```text
//! 5.0, 5e0 → 5 │ 5.5 → between 5 and 6
//! ```
//!
//! Programs write whole numbers with a fraction, and compare integers with numbers that lie between two of them. PostgreSQL
//! reads neither as an integer, and if it compared them as numeric, no index over the column would help. `>= 5.5` is `>= 6`
//! of integers, and none is equal to 5.5.

use super::Comparison;

/// Digits before the point of the longest number that is looked at: twice as many as the integers of PostgreSQL have.
const MOST_DIGITS: i64 = 38;

/// A number among the integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearInteger {
    /// It is this one.
    Whole(i128),
    /// It lies between this one and the next.
    Above(i128),
}

impl NearInteger {
    /// Where a number of JSON lies; `None` where it is longer than any integer of PostgreSQL.
    pub fn of(number: &str) -> Option<Self> {
        let (is_negative, number) = match number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, number),
        };
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        if significant.is_empty() {
            return Some(NearInteger::Whole(0));
        }
        let leading = (digits.len() - significant.len()) as i64;
        // How many of the significant digits stand before the point; negative where zeros stand behind it.
        let before = (whole.len() as i64).saturating_add(exponent).saturating_sub(leading);
        if before > MOST_DIGITS {
            return None;
        }
        let before = usize::try_from(before).unwrap_or(0);
        let (integer, rest) = significant.split_at(before.min(significant.len()));
        let integer = format!("{integer:0<before$}");
        let integer: i128 = if integer.is_empty() { 0 } else { integer.parse().ok()? };
        let is_whole = rest.bytes().all(|digit| digit == b'0');
        Some(match (is_whole, is_negative) {
            (true, false) => NearInteger::Whole(integer),
            (true, true) => NearInteger::Whole(-integer),
            (false, false) => NearInteger::Above(integer),
            (false, true) => NearInteger::Above(-integer - 1),
        })
    }

    /// The comparison with an integer that says of integers what `comparison` with this number says; `None` where
    /// [`Comparison::Equal`] holds for none of them, and [`Comparison::NotEqual`] for all.
    pub fn compared(self, comparison: Comparison) -> Option<(Comparison, i128)> {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        match (self, comparison) {
            (NearInteger::Whole(value), _) => Some((comparison, value)),
            (NearInteger::Above(_), Equal | NotEqual) => None,
            (NearInteger::Above(below), Less | LessOrEqual) => Some((LessOrEqual, below)),
            (NearInteger::Above(below), Greater | GreaterOrEqual) => {
                Some((GreaterOrEqual, below + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::NearInteger::{Above, Whole};
    use super::*;

    #[test]
    fn numbers_have_their_place_among_integers() {
        for (number, expected) in [
            ("5", Whole(5)),
            ("5.0", Whole(5)),
            ("-5.00", Whole(-5)),
            ("0", Whole(0)),
            ("-0.0", Whole(0)),
            ("0e999999", Whole(0)),
            ("1e3", Whole(1000)),
            ("1.5E+1", Whole(15)),
            ("1500e-2", Whole(15)),
            ("0.0015e4", Whole(15)),
            ("5.5", Above(5)),
            ("-5.5", Above(-6)),
            ("0.1", Above(0)),
            ("-0.1", Above(-1)),
            ("1e-400", Above(0)),
            ("-1e-400", Above(-1)),
            ("15e-1", Above(1)),
            ("0.0001e-9223372036854775808", Above(0)),
            ("12345678901234567890.5", Above(12_345_678_901_234_567_890)),
            ("5.00000000000000000000000000000000000000000000000001", Above(5)),
        ] {
            assert_eq!(NearInteger::of(number), Some(expected), "{number}");
        }
        for number in ["1e400", "-1e999999999999999999", "1e99999999999999999999", &"9".repeat(39)]
        {
            assert_eq!(NearInteger::of(number), None, "{number}");
        }
        let longest = "9".repeat(38);
        assert_eq!(NearInteger::of(&longest), Some(Whole(longest.parse().unwrap())));
    }

    proptest! {
        #[test]
        fn a_comparison_says_of_integers_what_it_says_of_the_number(
            integer in -30i32..30, quarters in -100i32..100,
        ) {
            use Comparison::*;
            let number = f64::from(quarters) / 4.0;
            let holds = |comparison, a: f64, b: f64| match comparison {
                Equal => a == b,
                NotEqual => a != b,
                Less => a < b,
                LessOrEqual => a <= b,
                Greater => a > b,
                GreaterOrEqual => a >= b,
            };
            let near = NearInteger::of(&format!("{number:?}")).unwrap();
            for comparison in [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual] {
                let found = match near.compared(comparison) {
                    Some((comparison, value)) => {
                        holds(comparison, f64::from(integer), value as f64)
                    }
                    None => comparison == NotEqual,
                };
                prop_assert_eq!(found, holds(comparison, f64::from(integer), number));
            }
        }
    }
}
