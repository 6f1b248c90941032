//! # implied: which columns refer to others, where nobody has declared it?
//!
//! ```text
//! customers (id), orders (customer_id)      → orders.customer_id refers to customers.id
//! sbcustomer (sbcustid), sbtx (sbtxcustid)  → sbtx.sbtxcustid refers to sbcustomer.sbcustid
//! ```
//!
//! Many databases have no foreign keys. There a column refers to the primary key that it is named after: with the same
//! name, with the key's table before it, or with the prefix of its own table in place of the key's; or after its table,
//! as `user_id` after users. Where two keys could be meant, none is. What is implied is only shown to a language model,
//! and followed to related tables.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::table::{ForeignKey, TableColumn, TableDocument};

/// What stands behind a table's name in the names of columns that refer to its key, whatever that is called.
const ANY_KEY: &str = "id";

/// Names of keys that say nothing of their table.
const BARE_KEYS: [&str; 4] = ["id", "key", "no", "code"];

/// How names of keys end.
const KEY_ENDINGS: [&str; 7] = ["id", "key", "no", "nr", "num", "number", "code"];

/// Fewest letters of a key's name, and of a table's singular.
const SHORTEST: usize = 3;

/// Fewest columns, or tables, whose names have a prefix in common.
const FEWEST_OF_PREFIX: usize = 3;

/// Integers of any size refer to one another.
const INTEGERS: [&str; 3] = ["smallint", "integer", "bigint"];

/// The primary keys of one column, by the names of columns that refer to them.
type KeysByName<'a> = HashMap<String, Vec<SingleKey<'a>>>;

/// A primary key of one column.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SingleKey<'a> {
    table: usize,
    place: usize,
    sql_type: &'a str,
}

/// Adds the foreign keys that are implied. `interrupt` is called between two tables.
pub fn add(tables: &mut [TableDocument], interrupt: &mut dyn FnMut()) {
    let keys = keys_by_name(tables);
    let mut found = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        interrupt();
        let prefix = common_prefix(table.columns.iter().map(|it| it.bare.as_str()));
        let declared: HashSet<usize> = table.key_columns().collect();
        for (place, column) in table.columns.iter().enumerate() {
            let key = referred(at, column, &prefix, &keys).filter(|_| !declared.contains(&place));
            found.extend(key.map(|key| {
                let (table, referenced) = (key.table, vec![key.place]);
                (at, ForeignKey { columns: vec![place], table, referenced })
            }));
        }
    }
    for (at, key) in found {
        tables[at].foreign_keys.push(key);
    }
}

/// The primary key of `table`, one column, if `name` is what the key of a table so called may be named: `id`, or `user_id` of
/// users.
#[must_use]
pub fn own_key<'a>(table: &'a TableDocument, name: &str) -> Option<&'a TableColumn> {
    let [place] = table.primary_key[..] else { return None };
    let name = name.to_lowercase();
    let forms = forms(table.bare.to_lowercase());
    let is_of_table = || forms.iter().any(|it| joined(it, ANY_KEY).contains(&name));
    (name == ANY_KEY || is_of_table()).then(|| &table.columns[place])
}

/// The one key that `column` is named after, in the table at `own`, whose columns begin with `prefix`.
fn referred<'a>(
    own: usize,
    column: &TableColumn,
    prefix: &str,
    keys: &KeysByName<'a>,
) -> Option<SingleKey<'a>> {
    let name = column.bare.to_lowercase();
    let rest = name.strip_prefix(prefix).unwrap_or(&name);
    let named = [name.as_str(), rest].into_iter().filter_map(|name| keys.get(name)).flatten();
    let mut named =
        named.filter(|key| key.table != own && are_comparable(key.sql_type, &column.sql_type));
    let key = named.next()?;
    named.all(|other| other == key).then_some(*key)
}

fn keys_by_name(tables: &[TableDocument]) -> KeysByName<'_> {
    let prefix = common_prefix(tables.iter().map(|it| it.bare.as_str()));
    let without = |name: &str| {
        let name = name.to_lowercase();
        name.strip_prefix(&prefix).map_or_else(|| name.clone(), str::to_owned)
    };
    let mut keys = KeysByName::new();
    for (at, table) in tables.iter().enumerate() {
        let [place] = table.primary_key[..] else { continue };
        let column = &table.columns[place];
        let key = SingleKey { table: at, place, sql_type: &column.sql_type };
        let names = [column.bare.to_lowercase(), without(&column.bare)];
        let is_bare = names.iter().any(|it| BARE_KEYS.contains(&it.as_str()));
        let table_names = forms(without(&table.bare));
        let joined = |key: &str| table_names.iter().flat_map(|it| joined(it, key)).collect();
        let of_table: Vec<String> = joined(ANY_KEY);
        let of_key: Vec<String> = match is_bare {
            true => joined(&names[0]),
            false => names.into_iter().filter(|name| is_of_key(name)).collect(),
        };
        let names: BTreeSet<String> = of_table.into_iter().chain(of_key).collect();
        names.into_iter().for_each(|name| keys.entry(name).or_default().push(key));
    }
    keys
}

fn joined(table: &str, key: &str) -> [String; 2] {
    [format!("{table}{key}"), format!("{table}_{key}")]
}

/// Whether a name is that of a key, and says of what.
fn is_of_key(name: &str) -> bool {
    name.len() >= SHORTEST && KEY_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A table's name, and what one of its rows is called.
fn forms(name: String) -> Vec<String> {
    let singular = [("ies", "y"), ("ses", "s"), ("s", "")].into_iter().filter_map(|(many, one)| {
        let stem = name.strip_suffix(many).filter(|stem| stem.len() >= SHORTEST)?;
        Some(format!("{stem}{one}"))
    });
    let singular: Vec<String> = singular.collect();
    [name].into_iter().chain(singular).collect()
}

/// What all names begin with, in lower case; nothing where they are few.
fn common_prefix<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(str::to_lowercase).collect();
    if names.len() < FEWEST_OF_PREFIX {
        return String::new();
    }
    let first = &names[0];
    let shared = |other: &String| {
        let same = first.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
        same.map_or(first.len().min(other.len()), |((at, _), _)| at)
    };
    let length = names.iter().map(shared).min().unwrap_or(0);
    first[..length].to_owned()
}

fn are_comparable(one: &str, other: &str) -> bool {
    let base = |sql_type: &str| sql_type.split('(').next().unwrap_or_default().trim().to_owned();
    let (one, other) = (base(one), base(other));
    one == other || [one, other].iter().all(|it| INTEGERS.contains(&it.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::{column, refer, table};
    use super::*;

    /// Which columns refer to which, as they are found.
    fn found(mut tables: Vec<TableDocument>) -> Vec<String> {
        add(&mut tables, &mut || ());
        let of_table = |table: &TableDocument| -> Vec<String> {
            let key = |key: &ForeignKey| {
                let (from, to) = (&table.columns[key.columns[0]], &tables[key.table]);
                let referenced = &to.columns[key.referenced[0]];
                format!("{}.{} = {}.{}", table.bare, from.bare, to.bare, referenced.bare)
            };
            table.foreign_keys.iter().map(key).collect()
        };
        tables.iter().flat_map(of_table).collect()
    }

    #[test]
    fn a_column_refers_to_the_table_that_it_names() {
        let tables = vec![
            table("customers", &["id", "name"]),
            table("categories", &["id", "title"]),
            table("orders", &["id", "customer_id", "categoryid", "note_id", "id_customer"]),
        ];
        assert_eq!(
            found(tables),
            ["orders.customer_id = customers.id", "orders.categoryid = categories.id"]
        );
    }

    #[test]
    fn a_column_refers_to_the_key_of_its_name() {
        let tables = vec![
            table("patients", &["patient_id", "name"]),
            table("visits", &["visit_id", "Patient_ID", "name"]),
            table("states", &["name", "visit_id"]),
        ];
        assert_eq!(
            found(tables),
            ["visits.Patient_ID = patients.patient_id", "states.visit_id = visits.visit_id"]
        );
    }

    #[test]
    fn a_column_may_be_named_after_a_table_whose_key_is_called_otherwise() {
        let tables = vec![
            table("users", &["uid", "user_name"]),
            table("sessions", &["sid", "user_id", "uid", "name"]),
        ];
        assert_eq!(found(tables), ["sessions.user_id = users.uid", "sessions.uid = users.uid"]);
    }

    #[test]
    fn prefixes_of_tables_do_not_count() {
        let tables = vec![
            table("sbcustomer", &["sbcustid", "sbcustname", "sbcuststate"]),
            table("sbticker", &["sbtickerid", "sbtickername", "sbtickertype"]),
            table("sbtransaction", &["sbtxid", "sbtxcustid", "sbtxtickerid"]),
        ];
        assert_eq!(
            found(tables),
            [
                "sbtransaction.sbtxcustid = sbcustomer.sbcustid",
                "sbtransaction.sbtxtickerid = sbticker.sbtickerid"
            ]
        );
    }

    #[test]
    fn a_key_may_be_named_after_its_own_table() {
        let users = table("Users", &["uid", "name"]);
        for name in ["id", "user_id", "USERID", "users_id"] {
            assert_eq!(own_key(&users, name).map(|it| it.bare.as_str()), Some("uid"), "{name}");
        }
        for name in ["uid", "name", "order_id", "user"] {
            assert_eq!(own_key(&users, name), None, "{name}");
        }
        let composite = TableDocument { primary_key: vec![0, 1], ..users.clone() };
        let keyless = TableDocument { primary_key: Vec::new(), ..users };
        assert!(own_key(&composite, "id").is_none() && own_key(&keyless, "id").is_none());
    }

    #[test]
    fn what_is_declared_ambiguous_or_of_another_type_is_left() {
        let mut tables = vec![
            table("a", &["part_id"]),
            table("b", &["part_id"]),
            table("c", &["unit_id"]),
            table("d", &["d_id", "part_id", "unit_id"]),
            table("e", &["e_id", "unit_id"]),
        ];
        tables[4].columns[1] = column("unit_id", "text");
        refer(&mut tables[3], 2, 0);
        assert_eq!(found(tables), ["d.unit_id = a.part_id"]);
        let mut small = vec![table("units", &["id"]), table("f", &["f_id", "unit_id"])];
        small[1].columns[1] = column("unit_id", "bigint");
        assert_eq!(found(small.clone()), ["f.unit_id = units.id"]);
        small[0].primary_key.clear();
        assert!(found(small).is_empty());
        assert!(found(Vec::new()).is_empty());
    }
}
