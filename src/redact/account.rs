//! Which account numbers stand in a text that are no IBAN?

use std::ops::Range;

use super::boundary::{before, is_free_number, is_of_word, places};
use super::digits::DigitGroups;
use super::label::is_labelled;

/// Words of which one stands before an account number, in small letters.
const LABELS: &[&str] = &[
    "account",
    "acct",
    "a/c",
    "konto",
    "kontonummer",
    "kontonr",
    "kto",
    "ktonr",
    "compte",
    "cuenta",
    "conta",
    "conto",
    "rekening",
    "rekeningnummer",
    "rachunek",
    "konta",
    "счёт",
    "счет",
    "р/с",
    "账号",
    "帳號",
    "口座番号",
    "계좌번호",
];

/// Numbers of 5 to 18 digits in `text` behind a word that says they are those of an account.
pub fn accounts(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    places(text, |byte| byte.is_ascii_digit(), interrupt)
        .filter(|at| !before(text, *at).is_some_and(is_of_word))
        .filter_map(|at| account(text, at))
        .collect()
}

fn account(text: &str, at: usize) -> Option<Range<usize>> {
    let groups = DigitGroups::new(text, at);
    let is_account = |groups: &DigitGroups<'_>| {
        groups.is_separated_by(&[" ", "-", "\u{a0}"]) && (5..=18).contains(&groups.digits().len())
    };
    let counts = (1..=groups.len()).rev();
    let mut fitting =
        counts.map(|count| groups.first(count)).filter(is_account).map(|it| it.range());
    let range = fitting.find(|range| is_free_number(text, range))?;
    is_labelled(text, at, LABELS).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::find::tests::check_rule;

    #[test]
    fn a_word_makes_a_number_that_of_an_account() {
        let check = |text, expected: &[&str]| check_rule(accounts, text, expected);
        check("Account number: 12345678.", &["12345678"]);
        check("Kontonr. 123 456 789, BLZ 10000000", &["123 456 789"]);
        check("账号：6222021234567890123", &[]);
        check("账号622202123456789012", &["622202123456789012"]);
        for text in [
            "12345678",
            "account 1234",
            "accounting 12345678",
            "account 12345x",
            "account of 12345678",
        ] {
            check(text, &[]);
        }
    }
}
