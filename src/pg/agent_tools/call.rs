//! A call of a tool: one SELECT, which guarded SQL looks at and runs.

use std::time::Duration;

use pgrx::spi::{quote_identifier, quote_literal};
use serde_json::{Map, Value};

use super::AgentTool;
use crate::answer::strategy::agent::ToolArgument;
use crate::exact;
use crate::guarded_sql::options::GuardOptions;
use crate::pg::guarded_sql::{self, GuardedRequest, GuardedRows};
use crate::pg::server::sql::{query, render};
use crate::pg::server::statement_error::StatementError;

/// Most rows of a function that are read.
const MOST_ROWS: i32 = 20;

/// What a call may use.
#[derive(Clone, Copy, Debug)]
pub struct ToolLimits<'a> {
    /// The longest time.
    pub timeout: Duration,
    /// The planner's total cost, above which a function is not called.
    pub max_cost: f64,
    /// The limits of guarded SQL.
    pub guard: &'a GuardOptions,
}

/// The rows that a function returns. `arguments` have been checked against its offer.
///
/// Fails with an error of the statement where the caller may not execute the function, a value is none of its type,
/// or the function fails or takes too long.
pub fn returned(
    tool: &AgentTool,
    arguments: &Map<String, Value>,
    limits: ToolLimits<'_>,
) -> Result<GuardedRows, StatementError> {
    let mut guard = limits.guard.clone();
    guard.functions.push(tool.signature());
    let given = given(tool, arguments);
    let statement = statement(tool, &given);
    let returned = guarded_sql::run(GuardedRequest {
        with: None,
        sql: Some(&statement),
        max_rows: MOST_ROWS,
        timeout: limits.timeout,
        max_cost: limits.max_cost,
        options: &guard,
        wants_keys: false,
    });
    returned.map_err(|error| match argument_at(&error, &statement, &given) {
        None => error,
        Some(name) => {
            let message = format!("argument \"{name}\": {}", error.message);
            StatementError { message, ..error }
        }
    })
}

/// An argument as a statement gives it.
struct GivenArgument<'a> {
    name: &'a str,
    written: String,
}

fn given<'a>(tool: &'a AgentTool, arguments: &Map<String, Value>) -> Vec<GivenArgument<'a>> {
    let given = tool.offer.arguments.iter().zip(&tool.types).filter_map(|(argument, of_type)| {
        let value = literal(argument, arguments.get(&argument.name)?, of_type);
        let written = format!("{} => {value}", quote_identifier(&argument.name));
        Some(GivenArgument { name: &argument.name, written })
    });
    given.collect()
}

fn statement(tool: &AgentTool, given: &[GivenArgument<'_>]) -> String {
    let given: Vec<&str> = given.iter().map(|it| it.written.as_str()).collect();
    let values = [("function", tool.function.as_str()), ("arguments", &given.join(", "))];
    render(query!(agent_tools.call), &values)
}

/// The argument in which an error is, by the place that PostgreSQL names.
fn argument_at<'a>(
    error: &StatementError,
    statement: &str,
    given: &[GivenArgument<'a>],
) -> Option<&'a str> {
    let place = usize::try_from(error.position?).ok()?.checked_sub(1)?;
    let at = statement.char_indices().nth(place)?.0;
    let begins =
        |it: &&GivenArgument<'_>| statement.find(&it.written).is_some_and(|from| from <= at);
    let found = given.iter().rev().find(begins)?;
    let from = statement.find(&found.written)?;
    (at < from + found.written.len()).then_some(found.name)
}

/// A value as a statement writes it: always a quoted literal, whose type PostgreSQL reads it by.
fn literal(argument: &ToolArgument, value: &Value, of_type: &str) -> String {
    match value {
        Value::Array(items) if argument.is_list => {
            let items: Vec<String> = items.iter().map(quoted).collect();
            format!("ARRAY[{}]::{of_type}", items.join(", "))
        }
        value => format!("{}::{of_type}", quoted(value)),
    }
}

fn quoted(value: &Value) -> String {
    match exact::text(value) {
        Some(text) => quote_literal(text),
        None => quote_literal(exact::written(value)),
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::answer::strategy::agent::{ArgumentKind, ToolOffer};

    #[pg_extern]
    fn values_of_a_call_stay_values() {
        let argument = |name: &str, is_list| ToolArgument {
            name: name.to_owned(),
            sql_type: "text".to_owned(),
            kind: ArgumentKind::Text,
            is_list,
            has_default: true,
        };
        let arguments = vec![argument("City", false), argument("tags", true), argument("n", false)];
        let offer = ToolOffer { name: "w".to_owned(), description: "w".to_owned(), arguments };
        let types = ["pg_catalog.text", "pg_catalog._text", "pg_catalog.text"];
        let tool = AgentTool {
            offer,
            oid: pgrx::pg_sys::InvalidOid,
            function: "app.w".to_owned(),
            types: types.map(str::to_owned).to_vec(),
        };
        let given = json!({"City": "'); DROP TABLE docs; --", "tags": ["a", "b'"], "n": exact::of_digits("1.50")});
        let given = super::given(&tool, given.as_object().unwrap());
        let written = statement(&tool, &given);
        assert_eq!(
            written,
            "SELECT * FROM app.w(\"City\" => '''); DROP TABLE docs; --'::pg_catalog.text, \
             tags => ARRAY['a', 'b''']::pg_catalog._text, n => '1.50'::pg_catalog.text) AS result"
        );
        let at = |position| {
            let error =
                StatementError::new(PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION, "no");
            let error = StatementError { position: Some(position), ..error };
            argument_at(&error, &written, &given)
        };
        assert_eq!((at(1), at(25), at(80)), (None, Some("City"), Some("tags")));
        assert_eq!(tool.signature(), "app.w(pg_catalog.text, pg_catalog._text, pg_catalog.text)");
    }
}
