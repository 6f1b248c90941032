//! # columns: what do the relations have that a query names?
//!
//! ```text
//! SELECT o.custmer FROM orders AS o → orders has the columns id, customer, total
//! ```
//!
//! A query is read here by its words, as it may be none that PostgreSQL can read.

use super::table::{TableColumn, TableDocument};

/// Most relations whose columns are told.
const MOST_TABLES: usize = 4;

/// Most columns of a relation that are told.
const MOST_COLUMNS: usize = 50;

/// How many letters a name may differ in from the one that is meant, as PostgreSQL has it.
const FARTHEST: usize = 3;

/// Which columns the relations have that the words of `sql` name; `None` where it names none of `tables`.
#[must_use]
pub fn said(sql: &str, tables: &[TableDocument]) -> Option<String> {
    let words = words(sql);
    let is_named = |table: &&TableDocument| words.contains(&table.bare.to_lowercase());
    let lists = tables.iter().filter(is_named).take(MOST_TABLES).map(|table| {
        let columns = table.columns.iter().take(MOST_COLUMNS).map(|it| it.name.as_str());
        format!("{} has the columns {}", table.name, columns.collect::<Vec<_>>().join(", "))
    });
    let lists: Vec<String> = lists.collect();
    (!lists.is_empty()).then(|| lists.join("; "))
}

/// The one column of the relation that `sql` calls `qualifier` whose name is nearest to `name`; `None` where there is
/// none near, or are two.
#[must_use]
pub fn nearest<'a>(
    sql: &str,
    qualifier: &str,
    name: &str,
    tables: &'a [TableDocument],
) -> Option<&'a TableColumn> {
    let table = called(&words(sql), &qualifier.to_lowercase(), tables)?;
    let distance = |it: &TableColumn| strsim::levenshtein(&it.bare.to_lowercase(), name);
    let mut near: Vec<(usize, &TableColumn)> =
        table.columns.iter().map(|it| (distance(it), it)).collect();
    near.sort_by_key(|(distance, _)| *distance);
    let (first, column) = near.first()?;
    let is_alone = near.get(1).is_none_or(|(second, _)| second > first);
    (*first <= FARTHEST && is_alone).then_some(column)
}

/// The relation of that name or alias.
fn called<'a>(
    words: &[String],
    qualifier: &str,
    tables: &'a [TableDocument],
) -> Option<&'a TableDocument> {
    let of_name = |name: &str| tables.iter().find(|table| table.bare.to_lowercase() == name);
    let mut aliases = words.windows(3).filter_map(|three| match three {
        [name, between, alias] if between == "as" && alias == qualifier => of_name(name),
        [name, alias, _] if alias == qualifier => of_name(name),
        _ => None,
    });
    aliases.next_back().or_else(|| of_name(qualifier))
}

/// The words of a query, in lower case, and an empty one behind the last.
fn words(sql: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let words = sql.split(|c| !is_part(c)).filter(|word| !word.is_empty());
    words.chain([""]).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::table;
    use super::*;

    fn shop() -> Vec<TableDocument> {
        vec![
            table("orders", &["id", "ord_customer", "total"]),
            table("customers", &["customer_id", "name", "nane"]),
            table("notes", &["id"]),
        ]
    }

    #[test]
    fn columns_of_what_a_query_names_are_told() {
        assert_eq!(
            said("SELECT o.x FROM Orders o JOIN \"customers\"", &shop()).as_deref(),
            Some(
                "orders has the columns id, ord_customer, total; customers has the columns customer_id, name, nane"
            )
        );
        assert_eq!(said("SELECT orders_total", &shop()), None);
    }

    #[test]
    fn the_nearest_column_is_one_of_the_relation_that_is_called_so() {
        let check = |sql: &str, qualifier: &str, name: &str, expected: Option<&str>| {
            let tables = shop();
            let found = nearest(sql, qualifier, name, &tables).map(|it| it.bare.as_str());
            assert_eq!(found, expected, "{qualifier}.{name} in {sql}");
        };
        let sql = "FROM orders AS o JOIN customers C ON o.customer = c.id";
        check(sql, "o", "o_customer", Some("ord_customer"));
        check(sql, "o", "totals", Some("total"));
        check(sql, "orders", "totals", Some("total"));
        check("SELECT o.totals FROM orders o", "o", "totals", Some("total"));
        check(sql, "C", "customerid", Some("customer_id"));
        check(sql, "c", "nate", None);
        check(sql, "o", "delivered", None);
        check(sql, "n", "id", None);
    }
}
