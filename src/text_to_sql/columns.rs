//! # columns: what do the relations have that a query names?
//!
//! ```text
//! SELECT o.custmer FROM orders AS o → orders has the columns id, customer, total
//! ```
//!
//! A query is read here by its words, as it may be none that PostgreSQL can read.

use std::cmp::Reverse;
use std::ops::Range;

use super::implied::own_key;
use super::reference::name_length;
use super::table::{ForeignKey, TableColumn, TableDocument};

/// Most relations whose columns are told.
const MOST_TABLES: usize = 4;

/// Most columns of a relation that are told.
const MOST_COLUMNS: usize = 50;

/// What may stand behind a relation that has no alias.
const BEHIND_NAMES: [&str; 12] = [
    "", "on", "using", "join", "inner", "left", "right", "full", "cross", "natural", "where",
    "group",
];

/// From which share of pairs of letters in common a name is like another, by the coefficient of Sørensen and Dice.
const LIKE: f64 = 0.75;

/// How many letters a name may differ in from the one that is meant, as PostgreSQL has it.
const FARTHEST: usize = 3;

/// Which columns the relations have that the words of `sql` name or that have the `missing` column, and how these join;
/// `None` where there is none of `tables`.
#[must_use]
pub fn said(sql: &str, missing: Option<&str>, tables: &[TableDocument]) -> Option<String> {
    let words = words(sql);
    let meant = missing.and_then(|name| MeantColumn::of(name, tables));
    let meant = meant.filter(|it| it.holders.len() < MOST_TABLES);
    let of_missing = meant.as_ref().map_or(&[][..], |it| &it.holders);
    let is_named = |at: &usize| words.contains(&tables[*at].bare.to_lowercase());
    let named = (0..tables.len()).filter(|at| is_named(at) && !of_missing.contains(at));
    let mut told: Vec<usize> = of_missing.iter().copied().chain(named).take(MOST_TABLES).collect();
    told.extend(between(&told, tables));
    let place = meant.as_ref().zip(missing).map(|(meant, missing)| {
        let names: Vec<&str> = meant.holders.iter().map(|at| tables[*at].name.as_str()).collect();
        let place = format!("{} is a column of {}", meant.name, names.join(" and of "));
        match meant.is_exact {
            true => place,
            false => format!("no table has a column {missing}, but {place}"),
        }
    });
    let lists = told.iter().map(|at| {
        let columns = tables[*at].columns.iter().take(MOST_COLUMNS).map(|it| it.name.as_str());
        format!("{} has the columns {}", tables[*at].name, columns.collect::<Vec<_>>().join(", "))
    });
    let joins = told.iter().flat_map(|at| joins(&tables[*at], &told, tables));
    let said: Vec<String> = place.into_iter().chain(lists).chain(joins).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// The column that a name stands for which a query takes from the wrong relation, or misspells.
pub struct MeantColumn {
    /// Its name, in lower case.
    pub name: String,
    /// Whether that is the name, and not only the one that is most like it.
    pub is_exact: bool,
    /// Places of the relations that have it.
    pub holders: Vec<usize>,
}

impl MeantColumn {
    /// The column of `tables` that `name` stands for; `None` where it is like none.
    #[must_use]
    pub fn of(name: &str, tables: &[TableDocument]) -> Option<MeantColumn> {
        let wanted = name.to_lowercase();
        let names = tables.iter().flat_map(|table| &table.columns).map(|it| it.bare.to_lowercase());
        let like = names.map(|it| (it == wanted, strsim::sorensen_dice(&it, &wanted), it));
        let best = like.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (is_exact, _, name) = best.filter(|(is_exact, like, _)| *is_exact || *like >= LIKE)?;
        let has =
            |table: &TableDocument| table.columns.iter().any(|it| it.bare.to_lowercase() == name);
        let holders = (0..tables.len()).filter(|at| has(&tables[*at])).collect();
        Some(MeantColumn { name, is_exact, holders })
    }
}

/// A relation that joins two of those that are told of and do not join by themselves, and of such the one that joins most.
fn between(told: &[usize], tables: &[TableDocument]) -> Option<usize> {
    let refers = |from: usize, to: usize| tables[from].foreign_keys.iter().any(|it| it.table == to);
    let join = |one: usize, other: usize| refers(one, other) || refers(other, one);
    let is_alone = |at: &&usize| told.iter().all(|other| other == *at || !join(**at, *other));
    if told.len() < 2 || !told.iter().any(|at| is_alone(&at)) {
        return None;
    }
    let others = (0..tables.len()).filter(|at| !told.contains(at));
    let joined = |at: usize| told.iter().filter(|other| join(at, **other)).count();
    let best =
        others.map(|at| (joined(at), at)).max_by_key(|(count, at)| (*count, Reverse(*at)))?;
    (best.0 > 1).then_some(best.1)
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
    let distance = |it: &'a TableColumn| {
        let distance = strsim::levenshtein(&it.bare.to_lowercase(), name);
        (distance <= FARTHEST).then_some((-(distance as f64), it))
    };
    only_best(table.columns.iter().filter_map(distance))
}

/// What `qualifier`.`name` means, where no column is called so: a column, behind what `sql` calls its relation. It is the
/// primary key of the relation called `qualifier` if that may be named so; else the one column whose name is `name` with some
/// letters more or fewer, and has most in common with it: of that relation, or, if that has none, of the others that `sql`
/// names. `None` where there is none, or are two. A name with other letters may mean something else: price_max is not
/// price_min.
#[must_use]
pub fn substitute<'a>(
    sql: &str,
    qualifier: &str,
    name: &str,
    tables: &'a [TableDocument],
) -> Option<(String, &'a TableColumn)> {
    let words = words(sql);
    let likeness = |it: &'a TableColumn| {
        let own = it.bare.to_lowercase();
        let is_part = has_letters(&own, name) || has_letters(name, &own);
        let likeness = strsim::sorensen_dice(&own, name);
        (is_part && likeness >= LIKE).then_some((likeness, it))
    };
    let table = called(&words, &qualifier.to_lowercase(), tables)?;
    if let Some(key) = own_key(table, name) {
        return Some((qualifier.to_owned(), key));
    }
    if table.columns.iter().any(|it| likeness(it).is_some()) {
        let own = only_best(table.columns.iter().filter_map(likeness))?;
        return Some((qualifier.to_owned(), own));
    }
    let named = tables.iter().filter_map(|table| Some((alias_of(sql, table)?, table)));
    let named: Vec<(&str, &TableDocument)> = named.collect();
    let others = named.iter().flat_map(|(_, table)| &table.columns);
    let other = only_best(others.filter_map(likeness))?;
    let (alias, _) = named
        .into_iter()
        .find(|(_, table)| table.columns.iter().any(|it| std::ptr::eq(it, other)))?;
    Some((alias.to_owned(), other))
}

/// The column of the highest score; `None` where two have it.
fn only_best<'a>(scored: impl Iterator<Item = (f64, &'a TableColumn)>) -> Option<&'a TableColumn> {
    let mut scored: Vec<(f64, &TableColumn)> = scored.collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let (best, column) = scored.first()?;
    scored.get(1).is_none_or(|(second, _)| second < best).then_some(*column)
}

/// Whether `name` has all letters of `part`, in their order.
fn has_letters(name: &str, part: &str) -> bool {
    let mut letters = name.chars();
    part.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

/// The relation of that name or alias.
pub fn called<'a>(
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

/// What a query calls a relation, as it writes that; `None` where it takes no rows of it, or twice. A name before a stop
/// is that of a column's table.
pub fn alias_of<'a>(sql: &'a str, table: &TableDocument) -> Option<&'a str> {
    let (name, words) = (table.bare.to_lowercase(), words(sql));
    let places: Vec<Range<usize>> = word_places(sql).collect();
    let is_qualifier =
        |end: usize| sql[end..].trim_start_matches('"').trim_start().starts_with('.');
    let mut named =
        (0..places.len()).filter(|at| words[*at] == name && !is_qualifier(places[*at].end));
    let (at, other) = (named.next()?, named.next());
    let alias = match words.get(at + 1).map_or("", String::as_str) {
        "as" => at + 2,
        next if BEHIND_NAMES.contains(&next) => at,
        _ => at + 1,
    };
    let place = places.get(alias).filter(|_| other.is_none())?;
    written(sql, place.start)
}

/// The name that has a word at byte `start`, with its quotes.
fn written(sql: &str, start: usize) -> Option<&str> {
    let is_quoted = sql[..start].matches('"').count() % 2 == 1;
    let begin = if is_quoted { sql[..start].rfind('"')? } else { start };
    Some(&sql[begin..begin + name_length(&sql[begin..])?])
}

/// The words of a query, in lower case, and an empty one behind the last.
pub fn words(sql: &str) -> Vec<String> {
    bare_words(sql).chain([""]).map(str::to_lowercase).collect()
}

/// The bytes of the words of a query.
fn word_places(sql: &str) -> impl Iterator<Item = Range<usize>> {
    bare_words(sql).map(|word| {
        let start = word.as_ptr().addr() - sql.as_ptr().addr();
        start..start + word.len()
    })
}

fn bare_words(sql: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    sql.split(move |c| !is_part(c)).filter(|word| !word.is_empty())
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
                "name is a column of customers; customers has the columns customer_id, name, nane; \
                 orders has the columns id, ord_customer, total; \
                 orders and customers join by orders.ord_customer = customers.customer_id"
            )
        );
        let meant = |name: &str| MeantColumn::of(name, &shop).map(|it| (it.is_exact, it.holders));
        assert_eq!(meant("ID"), Some((true, vec![0, 2])));
        assert_eq!(meant("custmer_id"), Some((false, vec![1])));
        assert_eq!(meant("weather"), None);
        let told = said("SELECT custmer_id", Some("custmer_id"), &shop);
        let begins = "no table has a column custmer_id, but customer_id is a column of customers; ";
        assert!(told.as_ref().is_some_and(|it| it.starts_with(begins)), "{told:?}");
        let many: Vec<TableDocument> = (0..4).map(|_| table("a", &["id"])).collect();
        assert_eq!(said("FROM b", Some("id"), &many), None);
    }

    #[test]
    fn a_relation_is_called_by_its_alias_or_its_name() {
        let shop = shop();
        let check = |sql: &str, expected: Option<&str>| {
            assert_eq!(alias_of(sql, &shop[0]), expected, "{sql}");
        };
        check("FROM orders AS o JOIN customers", Some("o"));
        check("FROM orders o", Some("o"));
        check("FROM shop.Orders JOIN customers", Some("Orders"));
        check("FROM orders", Some("orders"));
        check("FROM orders a, orders b", None);
        check("FROM orders AS", None);
        check("FROM customers", None);
    }

    #[test]
    fn a_name_in_quotes_keeps_them_and_its_case() {
        let mut shop = shop();
        shop[0].bare = "Orders".to_owned();
        let check = |sql: &str, expected: Option<&str>| {
            assert_eq!(alias_of(sql, &shop[0]), expected, "{sql}");
        };
        check("FROM \"Orders\" JOIN customers", Some("\"Orders\""));
        check("FROM shop.\"Orders\"", Some("\"Orders\""));
        check("FROM \"Orders\" AS \"The O\"", Some("\"The O\""));
        check("FROM \"Orders\" \"a\"\"B\"", Some("\"a\"\"B\""));
        check("FROM \"Orders\"o", Some("o"));
        let substituted = |sql: &str| {
            substitute(sql, "c", "ord_custmer", &shop)
                .map(|(alias, it)| format!("{alias}.{}", it.name))
        };
        assert_eq!(
            substituted("FROM \"Orders\" JOIN customers c ON true").as_deref(),
            Some("\"Orders\".ord_customer")
        );
    }

    #[test]
    fn a_table_between_two_others_is_told_of() {
        let mut visits = vec![
            table("patients", &["patient_id"]),
            table("treatments", &["treatment_id", "patient_id"]),
            table("outcomes", &["outcome_id", "treatment_id"]),
        ];
        refer(&mut visits[1], 1, 0);
        refer(&mut visits[2], 1, 1);
        let said = said("FROM patients AS p JOIN outcomes AS o ON p.id = o.id", None, &visits);
        assert_eq!(
            said.as_deref(),
            Some(
                "patients has the columns patient_id; outcomes has the columns outcome_id, treatment_id; \
                 treatments has the columns treatment_id, patient_id; \
                 outcomes and treatments join by outcomes.treatment_id = treatments.treatment_id; \
                 treatments and patients join by treatments.patient_id = patients.patient_id"
            )
        );
        assert_eq!(between(&[0, 1], &visits), None);
        assert_eq!(between(&[0], &visits), None);
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
