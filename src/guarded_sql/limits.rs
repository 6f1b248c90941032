//! How much may a statement of a stranger cost?

use std::time::Duration;

use crate::error::{Error, Result};

/// Most rows that can be asked for.
const MOST_ROWS: i32 = 100_000;

/// The longest time for which a statement may run.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Limits of one statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatementLimits {
    /// Most rows.
    pub max_rows: usize,
    /// The longest time.
    pub timeout: Duration,
    /// The planner's total cost, above which it does not run.
    pub max_cost: f64,
    /// The planner's number of rows, above which it does not run.
    pub max_plan_rows: f64,
    /// Most bytes of all rows, as text.
    pub max_bytes: usize,
}

/// What the planner expects of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanEstimate {
    /// Total cost, in the planner's units.
    pub cost: f64,
    /// Rows of the result.
    pub rows: f64,
}

impl StatementLimits {
    /// Fails with an invalid parameter where a value is out of its range.
    pub fn checked(self, asked_rows: i32) -> Result<StatementLimits> {
        if !(1..=MOST_ROWS).contains(&asked_rows) {
            let message = format!("max_rows must be between 1 and {MOST_ROWS}, not {asked_rows}");
            return Err(Error::invalid(message));
        }
        if self.timeout.is_zero() || self.timeout > LONGEST {
            return Err(Error::invalid(format!(
                "timeout must be greater than 0 and at most {} hours, not {} s",
                LONGEST.as_secs() / 3600,
                self.timeout.as_secs_f64()
            )));
        }
        match self.max_cost > 0.0 {
            true => Ok(self),
            false => Err(Error::invalid(format!(
                "max_cost must be greater than 0, not {}",
                self.max_cost
            ))),
        }
    }

    /// Why a plan is not to be run; `None`: it may be.
    #[must_use]
    pub fn excess(&self, estimate: PlanEstimate) -> Option<String> {
        let PlanEstimate { cost, rows } = estimate;
        if cost > self.max_cost {
            let limit = self.max_cost;
            return Some(format!(
                "the plan of the statement costs {cost:.2}, over max_cost ({limit})"
            ));
        }
        (rows > self.max_plan_rows).then(|| {
            let limit = self.max_plan_rows;
            format!(
                "the plan of the statement expects {rows:.0} rows, over max_plan_rows ({limit})"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{PlanEstimate, StatementLimits};

    const LIMITS: StatementLimits = StatementLimits {
        max_rows: 200,
        timeout: Duration::from_secs(5),
        max_cost: 1e6,
        max_plan_rows: 1e7,
        max_bytes: 1 << 20,
    };

    #[test]
    fn limits_have_ranges() {
        assert!(LIMITS.checked(1).is_ok());
        for (limits, rows, says) in [
            (LIMITS, 0, "max_rows must be between 1 and 100000, not 0"),
            (
                StatementLimits { timeout: Duration::ZERO, ..LIMITS },
                1,
                "timeout must be greater than 0 and at most 24 hours, not 0 s",
            ),
            (
                StatementLimits { max_cost: f64::NAN, ..LIMITS },
                1,
                "max_cost must be greater than 0, not NaN",
            ),
        ] {
            assert_eq!(limits.checked(rows).unwrap_err().message(), says);
        }
    }

    #[test]
    fn a_plan_may_cost_what_the_limits_say_and_no_more() {
        assert_eq!(LIMITS.excess(PlanEstimate { cost: 1e6, rows: 1e7 }), None);
        let said = LIMITS.excess(PlanEstimate { cost: 1_000_001.0, rows: 1.0 });
        assert_eq!(
            said.as_deref(),
            Some("the plan of the statement costs 1000001.00, over max_cost (1000000)")
        );
        let said = LIMITS.excess(PlanEstimate { cost: 1.0, rows: 1e9 });
        assert!(said.is_some_and(|it| it.contains("expects 1000000000 rows")));
        let unlimited = StatementLimits { max_cost: f64::INFINITY, ..LIMITS };
        assert_eq!(unlimited.excess(PlanEstimate { cost: f64::MAX, rows: 1.0 }), None);
    }
}
