//! # account: what has it cost, and may it cost more?
//!
//! ```text
//! (tokens, price) → cost          (what was spent, limit) → go on, or an error
//! ```
//!
//! Costs are plain numbers: prices have no currency, so the sums have none either. [`calendar`]
//! says which days a limit is about, and [`ledger`] keeps what was spent in files, because what a
//! provider has been paid stays paid when the transaction is rolled back that asked it.

pub mod calendar;
pub mod ledger;

use std::ops::AddAssign;

use self::calendar::Period;
use crate::error::{Error, ErrorKind, Result};

/// Characters that make about a token, where the tokens were not counted.
const CHARACTERS_A_TOKEN: u64 = 4;

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Price of what the model reads.
    pub input: f64,
    /// Price of what it reads from the provider's cache of prompts.
    pub cached: f64,
    /// Price of what the model writes.
    pub output: f64,
}

impl Price {
    /// What it costs to read `input` tokens, of which `cached` come from the provider's cache, and to write `output`
    /// tokens.
    #[must_use]
    pub fn of(&self, input: u64, cached: u64, output: u64) -> f64 {
        let cached = cached.min(input);
        let anew = self.input * (input - cached) as f64;
        (anew + self.cached * cached as f64 + self.output * output as f64) / 1e6
    }
}

/// What providers were paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Calls of a provider, those that were made again included.
    pub calls: u64,
    /// Tokens that its models have read.
    pub input: u64,
    /// Tokens among these that were in the provider's cache of prompts.
    pub cached: u64,
    /// Tokens that they have written.
    pub output: u64,
    /// What that cost, as far as prices are known.
    pub cost: f64,
    /// Calls among them that have no price.
    pub unpriced: u64,
    /// Calls that were given up with an error, whether they are to be paid for or not.
    pub failed: u64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Spent) {
        // A sum that wraps would be a budget without an end.
        self.calls = self.calls.saturating_add(more.calls);
        self.input = self.input.saturating_add(more.input);
        self.cached = self.cached.saturating_add(more.cached);
        self.output = self.output.saturating_add(more.output);
        self.cost += more.cost;
        self.unpriced = self.unpriced.saturating_add(more.unpriced);
        self.failed = self.failed.saturating_add(more.failed);
    }
}

/// How much may be spent in a period.
#[derive(Clone, Debug, PartialEq)]
pub struct SpendingLimit {
    /// The time in which it may be spent.
    pub period: Period,
    /// Tokens read and written.
    pub max_tokens: Option<u64>,
    /// Money, in the currency of the prices.
    pub max_cost: Option<f64>,
}

impl SpendingLimit {
    /// An error of [`ErrorKind::RoleBudgetSpent`] where a call that comes with `next` would take
    /// `role` over the limit after it has spent `spent`. `day` is the current one.
    pub fn check(&self, role: &str, day: i32, spent: &Spent, next: &Spent) -> Result<()> {
        let tokens = spent.input.saturating_add(spent.output);
        let then = tokens.saturating_add(next.input);
        if let Some(most) = self.max_tokens.filter(|most| then > *most) {
            return Err(self.exceeded(role, day, &format!("{tokens} of {most} tokens are used")));
        }
        let over = |most: &f64| spent.cost + next.cost > *most || spent.cost >= *most;
        match self.max_cost.filter(over) {
            Some(most) => {
                let used = format!("{:.6} of {most} are spent", spent.cost);
                Err(self.exceeded(role, day, &used))
            }
            None => Ok(()),
        }
    }

    fn exceeded(&self, role: &str, day: i32, used: &str) -> Error {
        let period = self.period.name();
        let message =
            format!("the budget of role \"{role}\" for this {period} does not allow the call");
        let anew = calendar::text(self.period.end(day));
        Error::new(ErrorKind::RoleBudgetSpent, message)
            .detail(format!("{used}, and the call was not made."))
            .hint(format!(
                "It starts again on {anew} (UTC). Roles that may change rag.budget can raise it."
            ))
    }
}

/// About how many tokens so many characters are.
#[must_use]
pub fn tokens_of(characters: usize) -> u64 {
    (characters as u64).div_ceil(CHARACTERS_A_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_for_a_million_tokens() {
        let price = Price { input: 2.5, cached: 0.25, output: 10.0 };
        let costs = |tokens: (u64, u64, u64), expected: f64| {
            let cost = price.of(tokens.0, tokens.1, tokens.2);
            assert!((cost - expected).abs() < 1e-12, "{tokens:?}: {cost}");
        };
        costs((1_000_000, 0, 0), 2.5);
        costs((2_000, 0, 500), 0.01);
        costs((0, 0, 0), 0.0);
        costs((1_000_000, 1_000_000, 0), 0.25);
        costs((1_000_000, 400_000, 0), 1.6);
        // No more can be cached than was read.
        costs((1_000_000, u64::MAX, 0), 0.25);
    }

    fn allows(limit: &SpendingLimit, spent: Spent, next: Spent) -> Option<String> {
        let error = limit.check("ann", 0, &spent, &next).err()?;
        assert_eq!(error.kind(), ErrorKind::RoleBudgetSpent);
        error.detail_text().map(str::to_owned)
    }

    #[test]
    fn a_limit_of_tokens_counts_what_is_about_to_be_read() {
        let limit = SpendingLimit { period: Period::Day, max_tokens: Some(100), max_cost: None };
        let spent = |input, output| Spent { input, output, ..Spent::default() };
        assert_eq!(allows(&limit, spent(50, 40), spent(10, 0)), None);
        let refused = allows(&limit, spent(50, 40), spent(11, 0)).unwrap();
        assert!(refused.starts_with("90 of 100 tokens are used"), "{refused}");
        assert!(allows(&limit, spent(100, 1), spent(0, 0)).is_some());
    }

    #[test]
    fn sums_of_tokens_do_not_wrap() {
        let mut sum = Spent { calls: 1, input: u64::MAX - 1, output: 5, ..Spent::default() };
        sum += Spent { calls: 1, input: 2, output: u64::MAX, ..Spent::default() };
        assert_eq!((sum.calls, sum.input, sum.output), (2, u64::MAX, u64::MAX));
        let limit = SpendingLimit { period: Period::Day, max_tokens: Some(100), max_cost: None };
        assert!(allows(&limit, sum, Spent { input: 1, ..Spent::default() }).is_some());
    }

    #[test]
    fn a_limit_of_money_ends_where_it_is_reached() {
        let limit = SpendingLimit { period: Period::Month, max_tokens: None, max_cost: Some(1.0) };
        let cost = |cost| Spent { cost, ..Spent::default() };
        assert_eq!(allows(&limit, cost(0.5), cost(0.25)), None);
        assert!(allows(&limit, cost(0.5), cost(0.75)).is_some());
        assert!(allows(&limit, cost(1.0), cost(0.0)).is_some());
        // Nothing is allowed where nothing may be spent.
        let nothing = SpendingLimit { max_cost: Some(0.0), ..limit };
        assert!(allows(&nothing, cost(0.0), cost(0.0)).is_some());
    }

    #[test]
    fn the_error_says_when_to_come_again() {
        let limit = SpendingLimit { period: Period::Month, max_tokens: Some(0), max_cost: None };
        let spent = Spent { input: 1, ..Spent::default() };
        let error = limit.check("ann", 20_779, &spent, &spent).unwrap_err();
        assert!(error.message().contains("\"ann\" for this month"), "{error}");
        assert!(error.hint_text().unwrap().contains("2026-12-01"), "{:?}", error.hint_text());
    }
}
