//! Which columns can say something of a row, and to what do they refer?

use std::cell::RefCell;
use std::collections::BTreeSet;

use pgrx::prelude::*;
use pgrx::spi::{quote_identifier, quote_literal};

use crate::error::{Error, ErrorKind, Result};
use crate::graph::name::LONGEST;
use crate::graph::relations::{LONGEST_VALUE, parts};
use crate::pg::catalog::operator;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::view::{self, ContentColumns, ViewColumn};
use crate::pg::server::sql::{self, query, render};

/// Keys of several columns whose words alone say what they are: each part is one word, or a UUID, which is always five. Letters
/// are small, since names are compared without case; letters beyond ASCII may be of a script that writes words without spaces.
const WORDS: &str = concat!(
    "^([a-z0-9_]*[a-z0-9][a-z0-9_]*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    "(, ([a-z0-9_]*[a-z0-9][a-z0-9_]*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}))*$",
);

/// No name, as SQL.
const NOTHING: &str = "NULL::text";

/// What makes a [`SaidName`](super::SaidName), as SQL.
#[derive(Clone)]
pub struct NamingSql {
    /// The name.
    pub name: String,
    /// What it is called by its key.
    pub row: String,
}

impl NamingSql {
    /// The name of what is no row.
    pub fn of(name: String) -> NamingSql {
        NamingSql { name, row: NOTHING.to_owned() }
    }
}

fn no_metadata(pipeline: &Pipeline, column: &str) -> Error {
    let message = format!(
        "column \"{column}\" of \"graph\" is no metadata of pipeline \"{}\"",
        pipeline.name
    );
    Error::new(ErrorKind::UndefinedObject, message)
        .hint("Relations are made of metadata: name the column in the argument metadata, too.")
}

/// A foreign key of a source.
#[derive(Clone, Debug)]
pub struct NamingKey {
    /// The columns of the source, in the order in which the other table's index has those to which they refer.
    own: Vec<String>,
    /// The other table, as SQL, and its columns.
    table: String,
    keys: Vec<String>,
    /// The operators that compare both, that of the other table first.
    equal: Vec<pg_sys::Oid>,
    /// The columns of the other table that may be read.
    readable: Vec<String>,
    /// OID of the other table.
    pub oid: pg_sys::Oid,
    /// How its own rows are told from those of tables that inherit from it, as SQL.
    only: String,
}

/// A metadata column of a pipeline, or several that are a foreign key, and to what they refer in the source.
#[derive(Clone, Debug)]
pub struct SayingColumn {
    here: Vec<ViewColumn>,
    /// The foreign key that it is.
    pub refers_to: Option<NamingKey>,
}

/// The metadata columns of a pipeline, each with its name in the source, where it is a column of that, and the foreign keys of
/// the source.
pub struct SayingColumns {
    columns: Vec<(ViewColumn, Option<String>)>,
    keys: Vec<NamingKey>,
}

impl SayingColumns {
    /// Those of a pipeline.
    pub fn of(pipeline: &Pipeline, columns: &ContentColumns) -> Result<SayingColumns> {
        let in_source = view::metadata_names(pipeline)?;
        Ok(SayingColumns {
            columns: columns.metadata.iter().cloned().zip(in_source).collect(),
            keys: foreign_keys(pipeline.source.oid)?,
        })
    }

    /// The column of this name, which is not quoted, or the columns of a foreign key, with commas between their names.
    pub fn find(&self, name: &str) -> Option<SayingColumn> {
        if let Some((here, own)) = self.column(name) {
            let refers_to = own.as_ref().and_then(|own| self.key_of(&[own])).cloned();
            return Some(SayingColumn { here: vec![here.clone()], refers_to });
        }
        let parts = parts(name).map(|it| self.column(it)).collect::<Option<Vec<_>>>()?;
        let own = parts.iter().map(|(_, own)| own.as_ref()).collect::<Option<Vec<_>>>()?;
        let key = self.key_of(&own)?;
        let of_source = |name: &String| parts.iter().find(|(_, own)| own.as_ref() == Some(name));
        let here = key.own.iter().filter_map(of_source);
        Some(SayingColumn {
            here: here.map(|(here, _)| here.clone()).collect(),
            refers_to: Some(key.clone()),
        })
    }

    /// The column that the source calls so now or, where it calls none so, did when the pipeline was made.
    pub fn column(&self, name: &str) -> Option<&(ViewColumn, Option<String>)> {
        let now = self.columns.iter().find(|(_, own)| own.as_deref() == Some(name));
        now.or_else(|| self.columns.iter().find(|(here, _)| here.bare() == name))
    }

    /// The foreign key of just these columns of the source, in any order.
    fn key_of(&self, own: &[&String]) -> Option<&NamingKey> {
        self.keys.iter().find(|key| {
            key.own.len() == own.len() && key.own.iter().all(|column| own.contains(&column))
        })
    }

    /// The error of a name of which nothing can be said.
    pub fn not_found(&self, pipeline: &Pipeline, name: &str) -> Error {
        if let Some(missing) = parts(name).find(|it| self.column(it).is_none()) {
            return no_metadata(pipeline, missing);
        }
        let message = format!("columns \"{name}\" of \"graph\" are no foreign key");
        let several = self.keys.iter().filter(|key| key.own.len() > 1);
        let known: Vec<String> = several.map(|key| format!("\"{}\"", key.own.join(", "))).collect();
        let error = Error::new(ErrorKind::UndefinedObject, message);
        match known.is_empty() {
            true => {
                error.hint("The source has no foreign key of several columns: name one column.")
            }
            false => error.hint(format!(
                "Foreign keys of several columns that the source has: {}.",
                known.join("; ")
            )),
        }
    }
}

impl SayingColumn {
    /// The column's name, or the names, as SQL.
    pub fn name(&self) -> String {
        self.here.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Whether it is one column, which is an array. Elements refer to no row.
    pub fn is_array(&self) -> bool {
        self.here.len() == 1 && self.here[0].sql_type.ends_with("[]")
    }

    /// An error where the rows to which it refers cannot be called by the column `naming`.
    pub fn check_naming(&self, naming: &str) -> Result<()> {
        let name = self.name();
        let Some(key) = &self.refers_to else {
            let message = format!("column {name} of \"graph.names\" refers to no other table");
            return Err(Error::invalid(message).hint(
                "Names in another table are those of a foreign key. One of several columns is named with all of them, \
                 as in \"tenant_id, author_id\".",
            ));
        };
        match key.readable.iter().any(|it| it == naming) {
            true => Ok(()),
            false => {
                let message = format!("{} has no column \"{naming}\" that you may read", key.table);
                let known = key.readable.join(", ");
                Err(Error::new(ErrorKind::UndefinedObject, message)
                    .hint(format!("Columns that you may read: {known}.")))
            }
        }
    }

    /// What it says of a row: of a row to which it refers its name where there is a `naming` column, and the name of its table
    /// and its key. NULL, also of one of several columns, refers to no row.
    pub fn value(&self, naming: Option<&str>) -> NamingSql {
        let columns = self.here.iter().map(|it| format!("c.{}", it.name));
        let values: Vec<String> = columns.map(|it| short(&it, LONGEST_VALUE)).collect();
        let Some(key) = &self.refers_to else { return NamingSql::of(values.concat()) };
        let row = called_by(key.oid, &written_key(&values));
        let Some(naming) = naming else { return NamingSql { name: NOTHING.to_owned(), row } };
        let is_readable = |name: &str| key.readable.iter().any(|it| it == name);
        if !(is_readable(naming) && key.keys.iter().all(|it| is_readable(it))) {
            warn_once(key, naming);
            return NamingSql { name: NOTHING.to_owned(), row };
        }
        let name = short(&format!("t.{}", quote_identifier(naming)), LONGEST);
        let values = [
            ("name", name.as_str()),
            ("table", &key.table),
            ("only", &key.only),
            ("has_key", &self.has_key(key)),
        ];
        NamingSql { name: render(query!(column_relations.named), &values), row }
    }

    /// That the row `t` of the other table is the one to which the chunk `c` refers, as SQL.
    fn has_key(&self, key: &NamingKey) -> String {
        let pairs = key.keys.iter().zip(&key.equal).zip(&self.here);
        let same = pairs.map(|((name, equal), here)| {
            let (name, equal) = (quote_identifier(name), operator::named(*equal, "="));
            let values = [("key", &*name), ("equal", &equal), ("column", here.name.as_str())];
            render(query!(column_relations.same_key), &values)
        });
        same.collect::<Vec<_>>().join(" AND ")
    }
}

/// A value as a text if it has no more than `most` bytes, as SQL.
pub fn short(value: &str, most: usize) -> String {
    let most = most.to_string();
    render(query!(column_relations.short), &[("value", value), ("most_bytes", &most)])
}

/// What a row of a table is called by its key, as SQL.
pub fn called_by(table: pg_sys::Oid, key: &str) -> String {
    let table = table.to_u32().to_string();
    render(query!(column_relations.row), &[("table", &table), ("key", key)])
}

/// A key as it is written, of its parts as texts, as SQL. NULL where one of them is.
pub fn written_key(parts: &[String]) -> String {
    if let [only] = parts {
        return render(query!(column_relations.key_of_one), &[("value", only)]);
    }
    let part = |part: &String| render(query!(column_relations.key_part), &[("value", part)]);
    let parts: Vec<String> = parts.iter().map(part).collect();
    let parts = parts.join(" OPERATOR(pg_catalog.||) ', ' OPERATOR(pg_catalog.||) ");
    let words = quote_literal(WORDS);
    render(query!(column_relations.key_of_several), &[("parts", &parts), ("words", &words)])
}

/// Says once in a session that rows are called by their keys, since the column that names them cannot be read any more.
fn warn_once(key: &NamingKey, naming: &str) {
    thread_local! {
        static WARNED: RefCell<BTreeSet<(u32, String)>> = const { RefCell::new(BTreeSet::new()) };
    }
    let is_new =
        |all: &RefCell<BTreeSet<_>>| all.borrow_mut().insert((key.oid.to_u32(), naming.to_owned()));
    if WARNED.with(is_new) {
        warning!(
            "{} has no column \"{naming}\" that may be read: relations call its rows by their keys",
            key.table
        );
    }
}

/// The foreign keys of a table. Of several with the same columns the first one counts.
pub fn foreign_keys(table: pg_sys::Oid) -> Result<Vec<NamingKey>> {
    sql::rows(query!(column_relations.foreign_keys), &[table.into()], |row| {
        Ok(NamingKey {
            own: sql::required(row.get(1)?)?,
            table: sql::required(row.get(2)?)?,
            keys: sql::required(row.get(3)?)?,
            equal: sql::required(row.get(4)?)?,
            readable: sql::required(row.get(5)?)?,
            oid: sql::required(row.get(6)?)?,
            only: sql::required(row.get(7)?)?,
        })
    })
}
