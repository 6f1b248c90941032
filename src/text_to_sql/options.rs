//! What the caller of `rag_sql` says of how a query is written and run.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::answer::strategy::Budget;
use crate::error::{Error, Result};
use crate::guarded_sql::limits::StatementLimits;
use crate::guarded_sql::options::GuardOptions;
use crate::options::out_of_range;

/// The template in which a language model is asked, unless another is named.
pub const TEMPLATE: &str = "sql";

/// The template of the prompt that asks whether there is a query.
pub const SCREEN_TEMPLATE: &str = "sql_screen";

/// Most rows that become sources of an answer.
const MOST_ROWS_READ: i32 = 50;

/// The shortest and the longest time of a query, in seconds.
const SHORTEST: f64 = 0.001;
const LONGEST: f64 = 86_400.0;

/// The options of `rag_sql`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct SqlOptions {
    /// Most queries that the language model writes, from 1 to 10.
    pub attempts: u32,
    /// Most tokens of definitions of tables in the prompt, as [`tokens`](super::table::tokens) counts them.
    pub schema_tokens: u32,
    /// Most verified pairs in the prompt, from 0 to 20.
    pub examples: u32,
    /// Whether frequent values of text columns are part of the prompt, where the caller may see them.
    pub values: bool,
    /// Whether the language model is asked beforehand whether there is a query; `None`: only a local one is.
    pub screen: Option<bool>,
    /// Most rows.
    pub max_rows: i32,
    /// The longest time of a query, in seconds.
    pub timeout: f64,
    /// The planner's total cost, above which a query does not run.
    pub max_cost: f64,
    /// Longest reply of the language model, in tokens.
    pub max_tokens: u32,
    /// The template of the prompt.
    pub template: String,
    /// What all calls of the language model together may take.
    pub budget: Budget,
    /// What queries may read and call, and how much they may use: the options of `rag_sql_check`.
    pub guard: GuardOptions,
}

impl Default for SqlOptions {
    fn default() -> Self {
        SqlOptions {
            attempts: 3,
            schema_tokens: 1500,
            examples: 3,
            values: false,
            screen: None,
            max_rows: 200,
            timeout: 5.0,
            max_cost: 1e6,
            max_tokens: 1000,
            template: TEMPLATE.to_owned(),
            budget: Budget::default(),
            guard: GuardOptions::default(),
        }
    }
}

impl SqlOptions {
    /// Fails with an invalid parameter where a value is out of its range.
    pub fn checked(self) -> Result<SqlOptions> {
        let numbers = [
            ("attempts", self.attempts, 1, 10),
            ("schema_tokens", self.schema_tokens, 100, 1_000_000),
            ("examples", self.examples, 0, 20),
            ("max_tokens", self.max_tokens, 16, 100_000),
        ];
        for (name, value, least, most) in numbers {
            if !(least..=most).contains(&value) {
                return Err(out_of_range(name, format!("between {least} and {most}"), value));
            }
        }
        if !(SHORTEST..=LONGEST).contains(&self.timeout) {
            let range = format!("between {SHORTEST} and {LONGEST} seconds");
            return Err(out_of_range("timeout", range, self.timeout));
        }
        self.budget.check("budget")?;
        let options = SqlOptions { guard: self.guard.checked()?, ..self };
        // A query must not be blamed for a limit that is none.
        options.limits().checked(options.max_rows)?;
        Ok(options)
    }

    /// The options of an answer's queries, whose budget is the answer's, and of whose rows an answer can read so many.
    ///
    /// Fails with an invalid parameter.
    pub fn of_answer(written: Option<Map<String, Value>>) -> Result<SqlOptions> {
        let written = Value::Object(written.unwrap_or_default());
        let options: SqlOptions = crate::options::read_without("answer.sql", written, &["budget"])?;
        let options = options.checked()?;
        if options.budget != Budget::default() {
            return Err(Error::invalid("option \"answer.sql.budget\" has no effect")
                .hint("Queries are part of the answer's budget: \"answer.budget\"."));
        }
        Ok(SqlOptions { max_rows: options.max_rows.min(MOST_ROWS_READ), ..options })
    }

    fn limits(&self) -> StatementLimits {
        StatementLimits {
            max_rows: usize::try_from(self.max_rows).unwrap_or(0),
            timeout: Duration::from_secs_f64(self.timeout),
            max_cost: self.max_cost,
            max_plan_rows: self.guard.max_plan_rows,
            max_bytes: self.guard.max_bytes as usize,
        }
    }

    /// These options for queries that read nothing but `relations`, names with their schemas. Fails where the
    /// options name tables or schemas themselves.
    pub fn only(mut self, relations: Vec<String>) -> Result<SqlOptions> {
        if self.guard.has_lists() {
            let message = "relations and the lists of the option \"guard\" exclude each other";
            return Err(Error::invalid(message)
                .hint("Name tables in one place: in relations, or in guard.tables."));
        }
        self.guard.tables = Some(relations);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::options::tests::check_read;

    fn check(options: Value, expected: Result<(), &str>) {
        check_read(options, SqlOptions::checked, expected);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        check(json!({}), Ok(()));
        check(json!({"guard": {"schemas": ["public"]}, "budget": {"calls": 2}}), Ok(()));
        check(json!({"attempts": null, "template": null, "max_rows": null}), Ok(()));
        check(json!({"budget": {"calls": null}, "guard": {"max_bytes": null}}), Ok(()));
        check(json!({"budget": null, "guard": null, "screen": null}), Ok(()));
        check(json!({"attempts": 0}), Err("option \"attempts\" must be between 1 and 10, not 0"));
        check(
            json!({"schema_tokens": 10}),
            Err("option \"schema_tokens\" must be between 100 and 1000000, not 10"),
        );
        check(
            json!({"timeout": 0}),
            Err("option \"timeout\" must be between 0.001 and 86400 seconds, not 0"),
        );
        check(json!({"max_rows": 0}), Err("max_rows must be between 1 and 100000, not 0"));
        check(json!({"max_cost": 0}), Err("max_cost must be greater than 0, not 0"));
        check(
            json!({"budget": {"calls": 0}}),
            Err("option \"budget.calls\" must be greater than 0, not 0"),
        );
        check(json!({"tables": ["a"]}), Err("unknown option \"tables\""));
        check(json!({"guard": {"table": ["a"]}}), Err("unknown option \"table\" of \"guard\""));
    }

    #[test]
    fn an_answer_has_a_budget_of_its_own_and_reads_some_rows() {
        let of = |written: Value| SqlOptions::of_answer(written.as_object().cloned());
        assert_eq!(SqlOptions::of_answer(None).unwrap().max_rows, MOST_ROWS_READ);
        assert_eq!(of(json!({"max_rows": 3})).unwrap().max_rows, 3);
        let error = of(json!({"budget": {"calls": 3}})).unwrap_err();
        assert!(error.hint_text().unwrap().contains("answer.budget"), "{error}");
        let error = of(json!({"attempt": 3})).unwrap_err();
        assert_eq!(error.message(), "unknown option \"attempt\" of \"answer.sql\"");
        assert!(!error.hint_text().unwrap().contains("budget"), "{error}");
    }

    #[test]
    fn tables_are_named_in_one_place() {
        let only = SqlOptions::default().only(vec!["public.a".to_owned()]).unwrap();
        assert_eq!(only.guard.tables.as_deref(), Some(&["public.a".to_owned()][..]));
        let error = only.only(vec!["public.b".to_owned()]).unwrap_err();
        assert!(error.message().contains("exclude each other"), "{error}");
    }
}
