//! # columns: what do the relations have that a query names?
//!
//! ```text
//! SELECT o.custmer FROM orders AS o → orders has the columns id, customer, total
//! ```
//!
//! A query is read here by its words, as it may be none that PostgreSQL can read.

use super::table::{ForeignKey, TableColumn, TableDocument};

/// Most relations whose columns are told.
const MOST_TABLES: usize = 4;

/// Most columns of a relation that are told.
const MOST_COLUMNS: usize = 50;

/// How many letters a name may differ in from the one that is meant, as PostgreSQL has it.
const FARTHEST: usize = 3;

/// Which columns the relations have that the words of `sql` name or that have the `missing` column, and how these join;
/// `None` where there is none of `tables`.
#[must_use]
pub fn said(sql: &str, missing: Option<&str>, tables: &[TableDocument]) -> Option<String> {
    let words = words(sql);
    let of_missing = missing.map(|name| holders(name, tables)).unwrap_or_default();
    let is_named = |at: &usize| words.contains(&tables[*at].bare.to_lowercase());
    let named = (0..tables.len()).filter(|at| is_named(at) && !of_missing.contains(at));
    let told: Vec<usize> = of_missing.iter().copied().chain(named).take(MOST_TABLES).collect();
    let names: Vec<&str> = of_missing.iter().map(|at| tables[*at].name.as_str()).collect();
    let place = missing
        .filter(|_| !names.is_empty())
        .map(|missing| format!("{missing} is a column of {}", names.join(" and of ")));
    let lists = told.iter().map(|at| {
        let columns = tables[*at].columns.iter().take(MOST_COLUMNS).map(|it| it.name.as_str());
        format!("{} has the columns {}", tables[*at].name, columns.collect::<Vec<_>>().join(", "))
    });
    let joins = told.iter().flat_map(|at| joins(&tables[*at], &told, tables));
    let said: Vec<String> = place.into_iter().chain(lists).chain(joins).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Places of the relations that have a column of this name, if they are few.
#[must_use]
pub fn holders(name: &str, tables: &[TableDocument]) -> Vec<usize> {
    let has = |table: &TableDocument| {
        table.columns.iter().any(|column| column.bare.eq_ignore_ascii_case(name))
    };
    let holders: Vec<usize> = (0..tables.len()).filter(|at| has(&tables[*at])).collect();
    if holders.len() < MOST_TABLES { holders } else { Vec::new() }
}

/// By which columns `table` refers to others that are told of.
fn joins(table: &TableDocument, told: &[usize], tables: &[TableDocument]) -> Vec<String> {
    let keys = table.foreign_keys.iter().filter(|key| told.contains(&key.table));
    let of_key = |key: &ForeignKey| {
        let other = &tables[key.table];
        let pairs = key.columns.iter().zip(&key.referenced).map(|(own, referenced)| {
            let (own, referenced) = (&table.columns[*own].name, &other.columns[*referenced].name);
            format!("{}.{own} = {}.{referenced}", table.name, other.name)
        });
        format!(
            "{} and {} join by {}",
            table.name,
            other.name,
            pairs.collect::<Vec<_>>().join(" AND ")
        )
    };
    keys.map(of_key).collect()
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
    use super::super::table::tests::{refer, table};
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
            said("SELECT o.x FROM Orders o JOIN \"customers\"", None, &shop()).as_deref(),
            Some(
                "orders has the columns id, ord_customer, total; customers has the columns customer_id, name, nane"
            )
        );
        assert_eq!(said("SELECT orders_total", Some("x"), &shop()), None);
    }

    #[test]
    fn the_place_of_a_missing_column_is_told_with_the_way_there() {
        let mut shop = shop();
        refer(&mut shop[0], 1, 1);
        assert_eq!(
            said("SELECT o.Name FROM orders AS o", Some("Name"), &shop).as_deref(),
            Some(
                "Name is a column of customers; customers has the columns customer_id, name, nane; \
                 orders has the columns id, ord_customer, total; \
                 orders and customers join by orders.ord_customer = customers.customer_id"
            )
        );
        assert_eq!(holders("ID", &shop), [0, 2]);
        let many: Vec<TableDocument> = (0..4).map(|_| table("a", &["id"])).collect();
        assert!(holders("id", &many).is_empty());
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
