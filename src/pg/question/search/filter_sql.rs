//! A metadata filter as SQL.

use std::ffi::CString;

use pgrx::prelude::*;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::pg::catalog::operator::{self, Operators};
use crate::pg::catalog::view::{ContentColumns, ViewColumn};
use crate::pg::server::sql::{query, render};
use crate::pg::server::statement_error::{self, StatementError};
use crate::retrieve::filter::{
    self, ColumnTest, Comparison, Condition, MetadataColumn, MetadataKind, Test,
};

/// How JSON is compared and cast, whichever of its two types a column has.
const JSONB: &str = "pg_catalog.jsonb";

/// Types of integers.
const INTEGERS: [pg_sys::Oid; 3] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];

/// A metadata filter as a condition over `v`, and the values it binds as `$3`.
pub struct FilterSql {
    /// What stands behind WHERE.
    pub condition: String,
    /// What `$3` is bound to.
    pub values: Vec<String>,
    /// The filters as they were written; all must hold.
    pub written: Vec<Value>,
}

impl FilterSql {
    /// Takes filters apart, all of which must hold; an error names what is not a column or
    /// operator, or the column and the value that is not of its type. They can name the metadata, and under
    /// the source's names the key.
    pub fn new<'a>(
        filters: impl Iterator<Item = &'a Value>,
        columns: &ContentColumns,
    ) -> Result<Self> {
        let filters: Vec<&Value> = filters.collect();
        let (named, columns): (Vec<MetadataColumn>, Vec<&ViewColumn>) = filtered(columns).unzip();
        let conditions = filters.iter().map(|filter| filter::parse(filter, &named));
        let condition = Condition::All(conditions.collect::<Result<_>>()?);
        let mut writer = FilterWriter { named, columns, values: Vec::new() };
        let condition = writer.condition(&condition)?;
        let written = filters.into_iter().cloned().collect();
        Ok(FilterSql { condition, values: writer.values, written })
    }
}

/// The columns that a filter can name: metadata first, so that it hides a key of its name.
fn filtered(columns: &ContentColumns) -> impl Iterator<Item = (MetadataColumn, &ViewColumn)> {
    let metadata = columns.metadata.iter().map(|column| (column.bare(), column));
    let keys = columns.keys.iter().map(|column| (column.of_source(), column));
    metadata.chain(keys).map(|(name, column)| {
        (MetadataColumn { name, kind: metadata_kind(column.type_oid) }, column)
    })
}

fn metadata_kind(type_oid: pg_sys::Oid) -> MetadataKind {
    let (mut category, mut is_preferred) = (0, false);
    // SAFETY: look-ups of a type that is that of a column, which write into variables of ours.
    let base = unsafe {
        pg_sys::get_type_category_preferred(type_oid, &raw mut category, &raw mut is_preferred);
        pg_sys::getBaseType(type_oid)
    };
    match category as u8 {
        _ if [pg_sys::JSONOID, pg_sys::JSONBOID].contains(&base) => MetadataKind::Json,
        _ if INTEGERS.contains(&base) => MetadataKind::Integer,
        pg_sys::TYPCATEGORY_STRING => MetadataKind::Text,
        pg_sys::TYPCATEGORY_ARRAY if has_integers(base) => MetadataKind::Integers,
        pg_sys::TYPCATEGORY_ARRAY => MetadataKind::Array,
        _ => MetadataKind::Scalar,
    }
}

/// Whether the elements of an array of this type are integers.
fn has_integers(array: pg_sys::Oid) -> bool {
    // SAFETY: a look-up of a type, which finds none for one that is no array.
    let element = unsafe { pg_sys::get_element_type(array) };
    element != pg_sys::InvalidOid && INTEGERS.contains(&operator::base_type(element))
}

/// Writes conditions as SQL and keeps what they bind.
struct FilterWriter<'a> {
    named: Vec<MetadataColumn>,
    columns: Vec<&'a ViewColumn>,
    values: Vec<String>,
}

impl FilterWriter<'_> {
    fn condition(&mut self, condition: &Condition) -> Result<String> {
        match condition {
            Condition::Column(test) => self.test(test),
            Condition::All(parts) => self.joined(parts, " AND ", query!(filter.none)),
            Condition::Any(parts) => self.joined(parts, " OR ", query!(filter.never)),
            Condition::Not(part) => {
                let part = self.condition(part)?;
                Ok(render(query!(filter.not), &[("condition", &part)]))
            }
        }
    }

    fn joined(&mut self, parts: &[Condition], word: &str, of_none: &str) -> Result<String> {
        let parts = parts.iter().map(|part| self.condition(part)).collect::<Result<Vec<_>>>()?;
        Ok(match parts.as_slice() {
            [] => of_none.to_owned(),
            [part] => part.clone(),
            _ => format!("({})", parts.join(word)),
        })
    }

    fn test(&mut self, asked: &ColumnTest) -> Result<String> {
        let MetadataColumn { name, kind } = self.named[asked.column].clone();
        let column = self.columns[asked.column];
        let is_json = kind == MetadataKind::Json;
        // Without a length or precision, also of a domain, to which a value would be cut or rounded.
        let (type_oid, compared, sql_type) = match is_json {
            true => (pg_sys::JSONBOID, pg_sys::JSONBOID, JSONB.to_owned()),
            false => {
                let compared = operator::compared_type(column.type_oid);
                (column.type_oid, compared, operator::type_name(compared))
            }
        };
        let operand = match is_json {
            true => self.json_operand(column, &asked.path),
            false => operand(column, compared, &sql_type),
        };
        let first = self.values.len() + 1;
        let (template, comparison) = template(&asked.test, is_json);
        self.values.extend_from_slice(asked.test.values());
        if !matches!(asked.test, Test::Like { .. }) {
            for value in asked.test.values() {
                check_value(&name, compared, value)?;
            }
        }
        let operators = Operators::of(type_oid);
        let cast_all = match operators.cast.as_str() {
            "" => String::new(),
            cast => format!("{cast}[]"),
        };
        Ok(render(
            template,
            &[
                ("operand", &operand),
                ("type", &sql_type),
                ("operator", &operators.operator(comparison)),
                ("cast", &operators.cast),
                ("cast_all", &cast_all),
                ("n", &first.to_string()),
                ("first", &first.to_string()),
                ("last", &self.values.len().to_string()),
            ],
        ))
    }

    /// What is tested of a column of JSON: all of it, or what a path leads to within it.
    fn json_operand(&mut self, column: &ViewColumn, path: &[String]) -> String {
        if path.is_empty() {
            return render(query!(filter.json), &[("column", &column.name)]);
        }
        let first = (self.values.len() + 1).to_string();
        self.values.extend_from_slice(path);
        let last = self.values.len().to_string();
        let values = [("column", &*column.name), ("first", &*first), ("last", &*last)];
        render(query!(filter.json_path), &values)
    }
}

/// What is tested of another column. Elements of a domain are compared as what they are made of, and no operator takes an
/// array of each.
fn operand(column: &ViewColumn, compared: pg_sys::Oid, sql_type: &str) -> String {
    let values = [("column", column.name.as_str()), ("type", sql_type)];
    match compared == operator::base_type(column.type_oid) {
        true => render(query!(filter.column), &values),
        false => render(query!(filter.column_as), &values),
    }
}

/// The statement's part for a test, and the comparison whose operator stands in it.
fn template(test: &Test, is_json: bool) -> (&'static str, Comparison) {
    use Comparison::{Equal, NotEqual};
    let template = match test {
        Test::Null if is_json => query!(filter.json_null),
        Test::NotNull if is_json => query!(filter.json_not_null),
        Test::Null => query!(filter.null),
        Test::NotNull => query!(filter.not_null),
        Test::OneOf { or_null: true, .. } if is_json => query!(filter.json_one_of_or_null),
        Test::OneOf { or_null: true, .. } => query!(filter.one_of_or_null),
        Test::OneOf { or_null: false, .. } => query!(filter.one_of),
        Test::Like { ignores_case: true, .. } if is_json => query!(filter.json_ilike),
        Test::Like { ignores_case: false, .. } if is_json => query!(filter.json_like),
        Test::Like { ignores_case: true, .. } => query!(filter.ilike),
        Test::Like { ignores_case: false, .. } => query!(filter.like),
        Test::Contains(_) => query!(filter.contains),
        Test::Overlaps(_) => query!(filter.overlaps),
        Test::Compare(NotEqual, _) => query!(filter.not_equal),
        Test::Compare(Equal, _) => query!(filter.compare),
        Test::Compare(_, _) if is_json => query!(filter.json_compare),
        Test::Compare(_, _) => query!(filter.compare),
    };
    match test {
        Test::Compare(comparison, _) => (template, *comparison),
        _ => (template, Equal),
    }
}

/// An error where PostgreSQL reads no value of the type from a text. The statement would fail, too, but with
/// words that say nothing of a filter.
fn check_value(name: &str, type_oid: pg_sys::Oid, value: &str) -> Result<()> {
    let refused = |why: &str| {
        let shown: String = value.chars().take(80).collect();
        Err(Error::invalid(format!("filter compares \"{name}\" with \"{shown}\": {why}")))
    };
    let Ok(text) = CString::new(value) else {
        return refused("a text cannot contain the character 0");
    };
    let read = statement_error::caught(|| {
        let (mut input, mut element) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        // SAFETY: look-ups of a type that is that of a column; its input function reads a C string.
        unsafe {
            pg_sys::getTypeInputInfo(type_oid, &raw mut input, &raw mut element);
            pg_sys::OidInputFunctionCall(input, text.as_ptr().cast_mut(), element, -1);
        }
        Ok::<_, StatementError>(())
    });
    match read {
        Ok(()) => Ok(()),
        Err(error) if error.is_of_statement() => refused(&error.message),
        Err(error) => error.raise(value),
    }
}
