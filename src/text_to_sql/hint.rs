//! # hint: what does a query say if what PostgreSQL finds wrong with it is mended as it says?
//!
//! ```text
//! SELECT custmer FROM orders, "Perhaps you meant to reference the column "orders.customer"."
//!     → SELECT "orders"."customer" FROM orders
//! ```
//!
//! Small models misspell names more than anything else, forget schemas and aliases, and round what is no numeric.
//! Where there is exactly one way to mend that, it is tried without another call of the model.

use super::ambiguous;
use super::bridge::{bridged, is_of_joined};
use super::columns;
use super::failure::{AMBIGUOUS, NO_COLUMN, NO_RELATION, QueryFailure};
use super::reference::{self, bare, operand_before};
use super::table::TableDocument;

/// A function that is not there for these arguments.
const NO_FUNCTION: &str = "42883";

/// An expression of ORDER BY that a list lacks.
const NOT_IN_LIST: &str = "42P10";

const DISTINCT: &str = "DISTINCT, ORDER BY expressions must appear in select list";
const COLUMN: &str = "Perhaps you meant to reference the column \"";
const ALIAS: &str = "Perhaps you meant to reference the table alias \"";
const AFTER: &str = "\".";

/// What is said of a number that is rounded to so many digits and is no numeric.
const ROUNDED: [&str; 2] = ["double precision", "real"];

/// The query with what its failure says to mend, where `tables` are the relations that may be read; `None` where that is
/// nothing, or not certain.
#[must_use]
pub fn followed(sql: &str, failure: &QueryFailure, tables: &[TableDocument]) -> Option<String> {
    let place = usize::try_from(failure.position?).ok()?.checked_sub(1)?;
    let (start, _) = sql.char_indices().nth(place)?;
    if failure.sqlstate == NOT_IN_LIST {
        return unordered(sql, start, failure);
    }
    let (length, text) = match failure.sqlstate.as_str() {
        NO_COLUMN => match column(sql, start, failure, tables) {
            Some(mended) => mended,
            None => return bridged(sql, start, tables),
        },
        AMBIGUOUS => ambiguous::qualified(sql, start, tables)?,
        NO_RELATION => {
            alias(&sql[start..], failure).or_else(|| relation(&sql[start..], failure, tables))?
        }
        NO_FUNCTION => rounded(&sql[start..], failure)?,
        _ => return None,
    };
    Some(format!("{}{text}{}", &sql[..start], &sql[start + length..]))
}

/// What is in place of so many bytes: the one column that the hint names. PostgreSQL finds the like of a column also in
/// other tables; where that would be compared with itself, or join a table to nothing, the nearest of its own table is. And it
/// finds no like of a name that lacks a few letters in the middle, nor of a primary key that is called otherwise; there it is
/// what [`columns::substitute`] finds.
fn column(
    sql: &str,
    start: usize,
    failure: &QueryFailure,
    tables: &[TableDocument],
) -> Option<(usize, String)> {
    let Some(hint) = failure.hint.as_deref() else { return substitute(sql, start, tables) };
    let named = hint.strip_prefix(COLUMN)?.strip_suffix(AFTER)?;
    let (table, column) = named.split_once('.')?;
    if named.contains('"') || column.contains('.') {
        return None;
    }
    let length = reference::length(&sql[start..])?;
    let text = format!("\"{table}\".\"{column}\"");
    if is_possible(sql, (start, length), &text) {
        return Some((length, text));
    }
    let (qualifier, name) = sql[start..start + length].rsplit_once('.')?;
    let own = columns::nearest(sql, &bare(qualifier), &bare(name), tables)?;
    let text = format!("{qualifier}.{}", own.name);
    is_possible(sql, (start, length), &text).then_some((length, text))
}

/// In place of a qualified column, the one that it means.
fn substitute(sql: &str, start: usize, tables: &[TableDocument]) -> Option<(usize, String)> {
    let length = reference::length(&sql[start..])?;
    let (qualifier, name) = sql[start..start + length].rsplit_once('.')?;
    let (alias, column) = columns::substitute(sql, &bare(qualifier), &bare(name), tables)?;
    let is_own = bare(&alias) == bare(qualifier);
    let text = format!("{}.{}", if is_own { qualifier } else { &alias }, column.name);
    is_possible(sql, (start, length), &text).then_some((length, text))
}

/// Whether `text` may take the place of a reference: it is not compared with itself then, and each table is still joined.
fn is_possible(sql: &str, (start, length): (usize, usize), text: &str) -> bool {
    let (before, reference, after) =
        (&sql[..start], &sql[start..start + length], &sql[start + length..]);
    let table = |it: &str| bare(it).rsplit_once('.').map(|(table, _)| table.to_owned());
    let is_of_other = table(reference).is_some_and(|it| Some(it) != table(text));
    let leaves_unjoined = is_of_other && is_of_joined(sql, start);
    !leaves_unjoined && !is_compared_with_itself(before, text, after)
}

/// Whether the column `text` stands on both sides of an equals sign.
fn is_compared_with_itself(before: &str, text: &str, after: &str) -> bool {
    let left = operand_before(before).map(|at| before[at..].trim_end().trim_end_matches('='));
    let right = after.trim_start().strip_prefix('=').and_then(|right| {
        let right = right.trim_start();
        Some(&right[..reference::length(right)?])
    });
    left.into_iter().chain(right).any(|other| bare(other) == bare(text))
}

/// In place of a table's name before a column, the alias that it has.
fn alias(sql: &str, failure: &QueryFailure) -> Option<(usize, String)> {
    let alias = failure.hint.as_deref()?.strip_prefix(ALIAS)?.strip_suffix(AFTER)?;
    if alias.contains('"') {
        return None;
    }
    let length = reference::length(sql)?;
    let (table, _) = sql[..length].rsplit_once('.')?;
    Some((table.len(), format!("\"{alias}\"")))
}

/// In place of a relation's name, that of the one relation in another schema that is called so.
fn relation(
    sql: &str,
    failure: &QueryFailure,
    tables: &[TableDocument],
) -> Option<(usize, String)> {
    if !failure.message.starts_with("relation ") {
        return None;
    }
    let length = reference::length(sql)?;
    let last = sql[..length].rsplit('.').next().unwrap_or_default().trim();
    let name = match last.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => last.to_lowercase(),
    };
    let mut named = tables.iter().filter(|table| table.bare == name);
    let (table, other) = (named.next()?, named.next());
    (other.is_none() && table.name != sql[..length]).then(|| (length, table.name.clone()))
}

/// A SELECT DISTINCT without the ORDER BY of what it does not return, where that ends the query and no LIMIT depends on it.
fn unordered(sql: &str, start: usize, failure: &QueryFailure) -> Option<String> {
    if !failure.message.ends_with(DISTINCT) {
        return None;
    }
    let before = sql[..start].to_ascii_lowercase();
    let order = before.rfind("order by")?;
    let behind = &sql[order..];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = behind.split(|c| !is_word(c)).map(str::to_ascii_lowercase);
    let is_last = !words
        .any(|word| matches!(word.as_str(), "limit" | "offset" | "fetch" | "select"))
        && behind.matches('(').count() == behind.matches(')').count();
    is_last.then(|| sql[..order].trim_end().to_owned())
}

/// In place of a call of round, one of a numeric.
fn rounded(sql: &str, failure: &QueryFailure) -> Option<(usize, String)> {
    let is_so =
        |of: &str| failure.message == format!("function round({of}, integer) does not exist");
    if !ROUNDED.into_iter().any(is_so) {
        return None;
    }
    let open = sql.find('(')?;
    let (comma, end) = last_argument(&sql[open..])?;
    let (first, rest) = (&sql[open + 1..open + comma], &sql[open + comma..open + end]);
    Some((open + end, format!("{}(({})::numeric{rest}", &sql[..open], first.trim())))
}

/// Where the comma before the last argument is, and where the call ends whose parenthesis is the first byte.
fn last_argument(call: &str) -> Option<(usize, usize)> {
    let (mut depth, mut quote, mut comma) = (0, None, None);
    for (at, c) in call.char_indices() {
        match (quote, c) {
            (Some(mark), _) => quote = (c != mark).then_some(mark),
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ',') if depth == 1 => comma = Some(at),
            (None, ')') if depth == 1 => return Some((comma?, at + 1)),
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::table;
    use super::*;

    fn check(sql: &str, wrong: &str, named: &str, expected: Option<&str>) {
        let at = sql.find(wrong).unwrap();
        let position = i32::try_from(sql[..at].chars().count() + 1).unwrap();
        let failure = QueryFailure {
            sqlstate: NO_COLUMN.to_owned(),
            hint: Some(format!("Perhaps you meant to reference the column {named}.")),
            position: Some(position),
            ..QueryFailure::default()
        };
        assert_eq!(followed(sql, &failure, &[]).as_deref(), expected, "{sql}");
    }

    #[test]
    fn the_one_column_that_is_named_takes_the_place() {
        check(
            "SELECT custmer FROM orders",
            "custmer",
            "\"orders.customer\"",
            Some("SELECT \"orders\".\"customer\" FROM orders"),
        );
        check(
            "SELECT 'größe', o . \"cust\"\"mer\"+1 FROM orders o",
            "o . ",
            "\"o.customer\"",
            Some("SELECT 'größe', \"o\".\"customer\"+1 FROM orders o"),
        );
        check("SELECT a.b.", "a.b.", "\"a.c\"", Some("SELECT \"a\".\"c\"."));
    }

    #[test]
    fn what_is_not_certain_is_left_to_the_model() {
        let sql = "SELECT custmer FROM orders";
        check(sql, "custmer", "\"a.customer\" or the column \"b.customer\"", None);
        check(sql, "custmer", "\"a.b.customer\"", None);
        check(sql, "custmer", "\"customer\"", None);
        let other = QueryFailure { sqlstate: "42601".to_owned(), ..QueryFailure::default() };
        assert_eq!(followed(sql, &other, &[]), None);
    }

    /// What becomes of a query that fails so at `wrong`, where two schemas have `orders` and one has `Staff`.
    fn mended(
        sql: &str,
        wrong: &str,
        (sqlstate, message): (&str, &str),
        hint: Option<&str>,
    ) -> Option<String> {
        let at = sql.find(wrong).unwrap();
        let position = i32::try_from(sql[..at].chars().count() + 1).unwrap();
        let failure = QueryFailure {
            sqlstate: sqlstate.to_owned(),
            message: message.to_owned(),
            hint: hint.map(str::to_owned),
            position: Some(position),
            ..QueryFailure::default()
        };
        let named = |name: &str, bare: &str| TableDocument {
            name: name.to_owned(),
            bare: bare.to_owned(),
            ..TableDocument::default()
        };
        let tables = [
            named("shop.items", "items"),
            named("shop.orders", "orders"),
            named("old.orders", "orders"),
            named("shop.\"Staff\"", "Staff"),
            named("notes", "notes"),
        ];
        followed(sql, &failure, &tables)
    }

    /// What becomes of a query without the column at `wrong`, in ASCII, for which PostgreSQL suggests another or none.
    fn mended_column(
        sql: &str,
        wrong: &str,
        suggested: Option<&str>,
        tables: &[TableDocument],
    ) -> Option<String> {
        let position = i32::try_from(sql.find(wrong).unwrap() + 1).unwrap();
        let failure = QueryFailure {
            sqlstate: NO_COLUMN.to_owned(),
            hint: suggested.map(|column| format!("{COLUMN}{column}{AFTER}")),
            position: Some(position),
            ..QueryFailure::default()
        };
        followed(sql, &failure, tables)
    }

    #[test]
    fn a_column_is_not_compared_with_itself() {
        let mut prices = table("prices", &["id", "p_ticker_id", "day"]);
        prices.columns[1].name = "\"p_ticker_id\"".to_owned();
        let tables = [prices, table("tickers", &["ticker_id", "name"])];
        let check = |sql: &str, expected: Option<&str>| {
            let mended = mended_column(sql, "p.", Some("t.ticker_id"), &tables);
            assert_eq!(mended.as_deref(), expected, "{sql}");
        };
        check(
            "FROM prices AS p JOIN tickers AS t ON p.ticker_id = t.ticker_id",
            Some("FROM prices AS p JOIN tickers AS t ON p.\"p_ticker_id\" = t.ticker_id"),
        );
        check(
            "FROM prices AS p JOIN tickers AS t ON \"t\".\"ticker_id\"=p.ticker_id WHERE t.name = 'a'",
            Some(
                "FROM prices AS p JOIN tickers AS t ON \"t\".\"ticker_id\"=p.\"p_ticker_id\" WHERE t.name = 'a'",
            ),
        );
        check("FROM t AS p JOIN tickers AS t ON p.ticker_id = t.ticker_id", None);
        // Nothing would join p.
        check("FROM days AS d JOIN prices AS p ON d.ticker = p.ticker, tickers AS t", None);
        check("WHERE p.ticker_id = 1", Some("WHERE \"t\".\"ticker_id\" = 1"));
    }

    #[test]
    fn letters_that_a_name_lacks_are_added() {
        let columns = ["sbcustid", "sbcustcountry", "sbcustcounty", "price_max", "total_2024"];
        let tables = [
            table("sbcustomer", &columns),
            table("sales", &["id"]),
            table("sbclient", &["sbcliicountry"]),
        ];
        let check = |sql: &str, expected: Option<&str>| {
            assert_eq!(mended_column(sql, "c.", None, &tables).as_deref(), expected, "{sql}");
        };
        check(
            "SELECT c.sbcountry FROM sbcustomer AS c",
            Some("SELECT c.sbcustcountry FROM sbcustomer AS c"),
        );
        for name in ["weather", "price_min", "total_2023"] {
            check(&format!("SELECT c.{name} FROM sbcustomer AS c"), None);
        }
        check("SELECT c.sbcountry FROM other AS c", None);
        check(
            "SELECT c.sbcountry FROM sales AS c JOIN sbcustomer AS d ON true",
            Some("SELECT d.sbcustcountry FROM sales AS c JOIN sbcustomer AS d ON true"),
        );
        // Nothing would join c, and of two nobody knows which is meant.
        check("FROM sbcustomer AS d JOIN sales AS c ON d.sbcustid = c.sbcountry", None);
        check("SELECT c.sbcountry FROM sales c, sbcustomer d, sbclient e", None);
        check("SELECT c.sbcountry FROM sales AS c", None);
    }

    #[test]
    fn a_primary_key_is_called_as_it_is() {
        let tables = [table("users", &["uid", "user_ids"]), table("payments", &["pid", "amount"])];
        let check = |sql: &str, expected: Option<&str>| {
            assert_eq!(mended_column(sql, "u.", None, &tables).as_deref(), expected, "{sql}");
        };
        check(
            "SELECT u.user_id FROM users AS u JOIN payments AS p ON true",
            Some("SELECT u.uid FROM users AS u JOIN payments AS p ON true"),
        );
        check("SELECT u.payment_id FROM users AS u JOIN payments AS p ON true", None);
    }

    #[test]
    fn a_relation_gets_its_schema() {
        let check = |sql: &str, wrong: &str, expected: Option<&str>| {
            let failure = (NO_RELATION, "relation \"...\" does not exist");
            assert_eq!(mended(sql, wrong, failure, None).as_deref(), expected, "{sql}");
        };
        check("SELECT 1 FROM Items AS i", "Items", Some("SELECT 1 FROM shop.items AS i"));
        check("TABLE public.items", "public", Some("TABLE shop.items"));
        check("TABLE \"Staff\"", "\"Staff", Some("TABLE shop.\"Staff\""));
        check("TABLE staff", "staff", None);
        check("TABLE orders", "orders", None);
        check("TABLE notes", "notes", None);
        check("TABLE \"items", "\"items", None);
        let failure = (NO_RELATION, "missing FROM-clause entry for table \"items\"");
        assert_eq!(mended("SELECT items.id", "items", failure, None), None);
    }

    #[test]
    fn a_table_is_called_by_its_alias() {
        let failure = (NO_RELATION, "invalid reference to FROM-clause entry for table \"items\"");
        let hint = |alias: &str| format!("{ALIAS}{alias}{AFTER}");
        let mended = |sql: &str, alias: &str| mended(sql, "items", failure, Some(&hint(alias)));
        assert_eq!(
            mended("SELECT items.id FROM items AS i", "i").as_deref(),
            Some("SELECT \"i\".id FROM items AS i")
        );
        assert_eq!(mended("SELECT items.id FROM items AS i", "i\" or \"j"), None);
        assert_eq!(mended("SELECT items FROM items AS i", "i"), None);
    }

    #[test]
    fn distinct_rows_need_no_order_of_what_is_not_returned() {
        let check = |sql: &str, expected: Option<&str>| {
            let failure = (NOT_IN_LIST, DISTINCT);
            assert_eq!(mended(sql, "day", failure, None).as_deref(), expected, "{sql}");
        };
        check("SELECT DISTINCT id FROM a ORDER BY day", Some("SELECT DISTINCT id FROM a"));
        check(
            "SELECT DISTINCT id FROM a order by id, f(day) DESC",
            Some("SELECT DISTINCT id FROM a"),
        );
        check("SELECT DISTINCT id FROM a ORDER BY day LIMIT 3", None);
        check("SELECT 1 FROM (SELECT DISTINCT id FROM a ORDER BY day) AS b", None);
        let other = (NOT_IN_LIST, "ORDER BY position 3 is not in select list");
        assert_eq!(mended("SELECT DISTINCT id FROM a ORDER BY day", "day", other, None), None);
    }

    #[test]
    fn what_is_rounded_is_a_numeric() {
        let failure = (NO_FUNCTION, "function round(double precision, integer) does not exist");
        let check = |sql: &str, expected: Option<&str>| {
            assert_eq!(mended(sql, "ROUND", failure, None).as_deref(), expected, "{sql}");
        };
        check(
            "SELECT ROUND(avg(CASE WHEN a = '),(' THEN f(1, 2) END), 2) AS b FROM c",
            Some(
                "SELECT ROUND((avg(CASE WHEN a = '),(' THEN f(1, 2) END))::numeric, 2) AS b FROM c",
            ),
        );
        check(
            "SELECT ROUND (a * \"b,)\" ,2), 1",
            Some("SELECT ROUND ((a * \"b,)\")::numeric,2), 1"),
        );
        check("SELECT ROUND(a", None);
        check("SELECT ROUND(a)", None);
        let other = (NO_FUNCTION, "function round(text, integer) does not exist");
        assert_eq!(mended("SELECT ROUND(a, 2)", "ROUND", other, None), None);
    }

    #[test]
    fn a_place_outside_of_the_query_is_none() {
        let failure = QueryFailure {
            sqlstate: NO_COLUMN.to_owned(),
            hint: Some(format!("{COLUMN}a.b{AFTER}")),
            ..QueryFailure::default()
        };
        for position in [None, Some(0), Some(-3), Some(100)] {
            let failure = QueryFailure { position, ..failure.clone() };
            assert_eq!(followed("SELECT 1", &failure, &[]), None);
        }
    }
}
