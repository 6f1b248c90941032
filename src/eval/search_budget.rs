//! How much may a search take?

use serde::Deserialize;

use crate::error::Result;
use crate::options::out_of_range;

/// Limits of a search for the best configuration; `None`: there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchBudget {
    /// Calls of language models, those of a judge included.
    pub calls: Option<u64>,
    /// Tokens that they read and write.
    pub tokens: Option<u64>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// Money, in the currency of the prices.
    pub cost: Option<f64>,
}

/// What a search has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchExpense {
    /// Calls of language models.
    pub calls: u64,
    /// Tokens that they have read and written.
    pub tokens: u64,
    /// Seconds.
    pub seconds: f64,
    /// Money, as far as prices are known.
    pub cost: f64,
}

impl SearchBudget {
    /// An error for a limit that is not above 0.
    pub fn check(&self) -> Result<()> {
        let counts = [("calls", self.calls), ("tokens", self.tokens)];
        let counts = counts.map(|(name, limit)| (name, limit.map(|it| it as f64)));
        let amounts = [("seconds", self.seconds), ("cost", self.cost)];
        for (name, limit) in counts.into_iter().chain(amounts) {
            if let Some(limit) = limit.filter(|limit| !(limit.is_finite() && *limit > 0.0)) {
                return Err(out_of_range(&format!("budget.{name}"), "greater than 0", limit));
            }
        }
        Ok(())
    }

    /// The share of the budget that is used up: of that limit of which most is. 1 and more is all of it.
    pub fn used(&self, expense: &SearchExpense) -> f64 {
        let shares = [
            self.calls.map(|limit| expense.calls as f64 / limit as f64),
            self.tokens.map(|limit| expense.tokens as f64 / limit as f64),
            self.seconds.map(|limit| expense.seconds / limit),
            self.cost.map(|limit| expense.cost / limit),
        ];
        shares.into_iter().flatten().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_nearest_to_its_limit_counts() {
        let expense = SearchExpense { calls: 5, tokens: 900, seconds: 3.0, cost: 0.5 };
        let check = |budget: serde_json::Value, used: f64| {
            let budget: SearchBudget = serde_json::from_value(budget).unwrap();
            assert_eq!(budget.used(&expense), used);
        };
        check(json!({}), 0.0);
        check(json!({"calls": 10}), 0.5);
        check(json!({"calls": 10, "tokens": 1000, "cost": 100}), 0.9);
        check(json!({"calls": 10, "seconds": 1.5}), 2.0);
    }

    #[test]
    fn a_limit_is_above_zero() {
        let check = |budget: serde_json::Value, message: &str| {
            let budget: SearchBudget = serde_json::from_value(budget).unwrap();
            assert_eq!(budget.check().unwrap_err().message(), message);
        };
        check(json!({"calls": 0}), "option \"budget.calls\" must be greater than 0, not 0");
        check(json!({"seconds": -1}), "option \"budget.seconds\" must be greater than 0, not -1");
        assert!(SearchBudget::default().check().is_ok());
    }
}
