//! How does a search show the key of a row that was written down under other settings?

use pgrx::pg_sys;
use pgrx::spi::quote_literal;

use super::{Search, source_key};
use crate::error::Result;
use crate::pg::catalog::operator;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::server::error::raise;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};
use crate::pg::server::transaction::in_subtransaction;
use crate::scheduling::bisection::Cause;

impl Search {
    /// A key as text, in the form in which this search shows it now: TimeZone and DateStyle say how times are shown, and
    /// other settings how other types are. `None` where no setting does, and of a text that is no key.
    pub fn shown_key(&self, key: &str) -> Option<String> {
        let keys = &self.columns.keys;
        if !keys.iter().any(depends_on_settings) {
            return None;
        }
        match in_subtransaction(|| shown(keys, key)) {
            Ok(found) => found,
            Err(failure) if failure.cause == Cause::Row => None,
            Err(failure) => raise(&failure),
        }
    }
}

fn shown(keys: &[ViewColumn], key: &str) -> Result<Option<String>> {
    let columns: Vec<String> = keys.iter().map(|column| written(keys.len() > 1, column)).collect();
    let parts = [("source_key", source_key(keys)), ("columns", columns.join(", "))];
    let parts = parts.each_ref().map(|(name, part)| (*name, part.as_str()));
    let statement = render(query!(retrieve.shown_key), &parts);
    let found = prepared::rows(&statement, &[key.into()], |row| required(row.get(1)?))?;
    Ok(found.into_iter().next())
}

/// A column of the key that is given as text, as SQL. A type that is not PostgreSQL's own may have a cast of its owner's:
/// its values stay the texts that they are.
fn written(is_composite: bool, column: &ViewColumn) -> String {
    let base = operator::base_type(column.type_oid);
    let is_own = base.to_u32() < pg_sys::FirstNormalObjectId;
    let sql_type = operator::type_name(if is_own { base } else { pg_sys::TEXTOID });
    let member = quote_literal(column.of_source());
    let parts = [("type", &*sql_type), ("column", &*column.name), ("member", &*member)];
    let template = match is_composite {
        true => query!(retrieve.key_member),
        false => query!(retrieve.key_itself),
    };
    render(template, &parts)
}

/// Whether settings say how the values of a type are shown.
fn depends_on_settings(column: &ViewColumn) -> bool {
    let shown_by_settings = [
        pg_sys::BYTEAOID,
        pg_sys::DATEOID,
        pg_sys::DATERANGEOID,
        pg_sys::FLOAT4OID,
        pg_sys::FLOAT8OID,
        pg_sys::INTERVALOID,
        pg_sys::MONEYOID,
        pg_sys::TIMESTAMPOID,
        pg_sys::TIMESTAMPTZOID,
        pg_sys::TSRANGEOID,
        pg_sys::TSTZRANGEOID,
    ];
    shown_by_settings.contains(&operator::base_type(column.type_oid))
}
