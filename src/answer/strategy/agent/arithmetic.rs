//! What does this expression come to?
//!
//! ```text
//! "(49.9 + 15.5) / 2" → "32.7"
//! ```
//!
//! Language models reckon badly, so what they want to know is reckoned here. It is arithmetic and nothing else: numbers,
//! `+ - * / % ^`, parentheses and a few functions, within limits of length and depth. Numbers are floating point, of
//! which 15 digits are given: what would need more is refused, and not given wrongly.

/// Longest expression, in characters.
const LONGEST: usize = 1000;

/// Deepest nesting.
const DEEPEST: usize = 50;

/// Digits of a result.
const DIGITS: usize = 15;

/// Numbers from here on have more digits than are given.
const TOO_LARGE: f64 = 1e15;

/// The functions.
pub const FUNCTIONS: &str = "abs, avg, ceil, floor, max, min, round, sqrt, sum";

type Reckoned<T> = std::result::Result<T, String>;

/// The value of an expression. Fails with what is wrong with it, in words.
pub fn value(expression: &str) -> Reckoned<String> {
    let characters: Vec<char> = expression.chars().collect();
    if characters.len() > LONGEST {
        return Err(format!("the expression is longer than {LONGEST} characters"));
    }
    let mut reader = ExpressionReader { characters: &characters, at: 0, depth: 0 };
    let value = reader.sum()?;
    match reader.next() {
        None => written(value),
        Some(_) => Err(reader.unexpected()),
    }
}

/// A number with as many digits as can be trusted.
fn written(value: f64) -> Reckoned<String> {
    if !value.is_finite() || value.abs() >= TOO_LARGE {
        return Err("the result is too large".to_owned());
    }
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    // There is no -0 in arithmetic.
    Ok(if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() })
}

struct ExpressionReader<'a> {
    characters: &'a [char],
    at: usize,
    depth: usize,
}

impl ExpressionReader<'_> {
    /// The next character that is no white space; it stays the next one.
    fn next(&mut self) -> Option<char> {
        while self.characters.get(self.at).is_some_and(|it| it.is_whitespace()) {
            self.at += 1;
        }
        self.characters.get(self.at).copied()
    }

    /// Passes over the next character, if it is one of these.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.next().filter(|it| wanted.contains(it))?;
        self.at += 1;
        Some(found)
    }

    fn unexpected(&mut self) -> String {
        match self.next() {
            Some(found) => format!("\"{found}\" at character {} is not expected", self.at + 1),
            None => "the expression ends too early".to_owned(),
        }
    }

    fn sum(&mut self) -> Reckoned<f64> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-', '−']) {
            let other = self.product()?;
            value = exact(if sign == '+' { value + other } else { value - other }, "a sum")?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Reckoned<f64> {
        let mut value = self.signed()?;
        while let Some(sign) = self.take(&['*', '×', '/', '÷', '%']) {
            let other = self.signed()?;
            if !['*', '×'].contains(&sign) && other == 0.0 {
                return Err("division by zero".to_owned());
            }
            let result = match sign {
                '*' | '×' => value * other,
                '%' => value % other,
                _ => value / other,
            };
            value = exact(result, "a product")?;
        }
        Ok(value)
    }

    /// Each level of signs, powers and parentheses is one of the stack.
    fn signed(&mut self) -> Reckoned<f64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("the expression is nested deeper than {DEEPEST}"));
        }
        let value = match self.take(&['+', '-', '−']) {
            Some('+') => self.signed()?,
            Some(_) => -self.signed()?,
            None => self.power()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Reckoned<f64> {
        let base = self.single()?;
        match self.take(&['^']) {
            None => Ok(base),
            Some(_) => exact(base.powf(self.signed()?), "a power"),
        }
    }

    fn single(&mut self) -> Reckoned<f64> {
        match self.next() {
            Some('(') => Ok(self.arguments(1)?.iter().sum()),
            Some(it) if it.is_ascii_digit() || it == '.' => self.number(),
            Some(it) if it.is_ascii_alphabetic() => self.function(),
            _ => Err(self.unexpected()),
        }
    }

    fn number(&mut self) -> Reckoned<f64> {
        let begin = self.at;
        let text: String = self.characters[begin..]
            .iter()
            .take_while(|it| it.is_ascii_digit() || **it == '.')
            .collect();
        self.at += text.len();
        match text.parse::<f64>() {
            Ok(value) if value < TOO_LARGE => Ok(value),
            Ok(_) => Err(format!("{text} is too large")),
            Err(_) => Err(format!("\"{text}\" is no number")),
        }
    }

    fn function(&mut self) -> Reckoned<f64> {
        let name: String =
            self.characters[self.at..].iter().take_while(|it| it.is_ascii_alphabetic()).collect();
        self.at += name.len();
        let name = name.to_ascii_lowercase();
        let Some(most) = most_arguments(&name) else {
            return Err(format!("there is no function \"{name}\", but {FUNCTIONS}"));
        };
        let given = self.arguments(most)?;
        exact(called(&name, &given), &name)
    }

    /// What stands between parentheses: from one to `most` expressions.
    fn arguments(&mut self, most: usize) -> Reckoned<Vec<f64>> {
        if self.take(&['(']).is_none() {
            return Err(self.unexpected());
        }
        let mut given = vec![self.sum()?];
        while given.len() < most && self.take(&[',']).is_some() {
            given.push(self.sum()?);
        }
        match self.take(&[')']) {
            Some(_) => Ok(given),
            None => Err(self.unexpected()),
        }
    }
}

/// How many arguments a function has at most; `None` where there is no such function.
fn most_arguments(name: &str) -> Option<usize> {
    match name {
        "abs" | "ceil" | "floor" | "sqrt" => Some(1),
        "round" => Some(2),
        "avg" | "max" | "min" | "sum" => Some(usize::MAX),
        _ => None,
    }
}

fn called(name: &str, given: &[f64]) -> f64 {
    let first = given[0];
    match name {
        "abs" => first.abs(),
        "ceil" => first.ceil(),
        "floor" => first.floor(),
        "sqrt" => first.sqrt(),
        "round" => rounded(first, given.get(1).copied().unwrap_or(0.0)),
        "max" => given.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "min" => given.iter().copied().fold(f64::INFINITY, f64::min),
        "avg" => given.iter().sum::<f64>() / given.len() as f64,
        _ => given.iter().sum(),
    }
}

/// Rounded to so many digits behind the point, half away from zero, as it is written and not as it is stored.
fn rounded(value: f64, digits: f64) -> f64 {
    let factor = 10f64.powf(digits.round().clamp(-14.0, 14.0));
    let scaled = format!("{:.*e}", DIGITS - 1, value * factor).parse().unwrap_or(value * factor);
    f64::round(scaled) / factor
}

/// What is reckoned with further, which must not have lost digits already.
fn exact(value: f64, what: &str) -> Reckoned<f64> {
    match value {
        value if value.is_nan() => Err(format!("{what} is no number")),
        value if value.abs() >= TOO_LARGE => Err(format!("{what} is too large")),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(expression: &str, expected: Reckoned<&str>) {
        let found = value(expression);
        assert_eq!(found.as_deref().map_err(Clone::clone), expected, "{expression}");
    }

    fn refused(expression: &str, why: &str) {
        check(expression, Err(why.to_owned()));
    }

    #[test]
    fn arithmetic_is_done_as_at_school() {
        for (expression, expected) in [
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("0.1 + 0.2", "0.3"),
            ("(49.9 + 15.5) / 2", "32.7"),
            ("10 - 4 - 3", "3"),
            ("2 ^ 3 ^ 2", "512"),
            ("-2 ^ 2", "-4"),
            ("2 ^ -1", "0.5"),
            ("--1", "1"),
            ("7 % 4", "3"),
            ("6 × 7 ÷ 2 − 1", "20"),
            ("1 / 3", "0.333333333333333"),
            ("0 * -1", "0"),
            ("round(2.675, 2)", "2.68"),
            ("Round(-2.5)", "-3"),
            ("max(1, min(5, 3), 2)", "3"),
            ("avg(1, 2, 6) + sum(1, 1)", "5"),
            ("sqrt(16) + abs(-1) + floor(1.9) + ceil(1.1)", "8"),
            ("999999999999999", "999999999999999"),
        ] {
            check(expression, Ok(expected));
        }
    }

    #[test]
    fn what_is_no_arithmetic_is_refused() {
        refused("", "the expression ends too early");
        refused("1 +", "the expression ends too early");
        refused("1 2", "\"2\" at character 3 is not expected");
        refused("1,000", "\",\" at character 2 is not expected");
        refused("1.2.3", "\"1.2.3\" is no number");
        refused("1 / (2 - 2)", "division by zero");
        refused("1 % 0", "division by zero");
        refused("(1, 2)", "\",\" at character 3 is not expected");
        refused("abs(1, 2)", "\",\" at character 6 is not expected");
        refused("sqrt(-1)", "sqrt is no number");
        refused("10 ^ 400", "a power is too large");
        refused("10 ^ 15", "a power is too large");
        // Digits that are lost on the way would make the rest wrong.
        refused("3 ^ 40 % 10", "a power is too large");
        refused("(100000000 * 100000000 + 1) - 100000000 * 100000000", "a product is too large");
        refused("900000000000000 + 900000000000000 - 1", "a sum is too large");
        refused("1000000000000000", "1000000000000000 is too large");
        refused(
            "pg_sleep(9)",
            "there is no function \"pg\", but abs, avg, ceil, floor, max, min, round, sqrt, sum",
        );
        refused(
            "SELECT 1",
            "there is no function \"select\", but abs, avg, ceil, floor, max, min, round, sqrt, sum",
        );
        refused(&"(".repeat(900), "the expression is nested deeper than 50");
        refused(&"-".repeat(900), "the expression is nested deeper than 50");
        refused(&"1".repeat(1001), "the expression is longer than 1000 characters");
    }

    proptest! {
        #[test]
        fn nothing_that_is_written_panics(expression in "[-+*/%^(), .0-9a-zé−]{0,60}") {
            drop(value(&expression));
        }

        #[test]
        fn sums_are_those_of_the_processor(a in -1_000_000i64..1_000_000, b in -1_000_000i64..1_000_000) {
            prop_assert_eq!(value(&format!("{a} + {b}")), Ok((a + b).to_string()));
            prop_assert_eq!(value(&format!("{a} * {b}")), Ok((a * b).to_string()));
        }
    }
}
