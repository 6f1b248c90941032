//! Which column of its table a view's column shows.
//!
//! A pipeline's content view is the one place that knows the source's columns. PostgreSQL
//! keeps it right through RENAME, SET SCHEMA and dump and restore; here it is asked.

use pgrx::prelude::*;
use pgrx::{PgList, PgRelation};
use serde_json::Value;

use super::operator;
use super::pipeline::Pipeline;
use crate::error::{Error, ErrorKind, Result};
use crate::exact;
use crate::pg::server::sql::query;
use crate::pg::server::{prepared, sql};

/// A column of a view.
#[derive(Clone, Debug)]
pub struct ViewColumn {
    /// The column's name, quoted.
    pub name: String,
    /// The column's type, as in SQL.
    pub sql_type: String,
    /// The OID of its type.
    pub type_oid: pg_sys::Oid,
}

impl ViewColumn {
    /// The name without its quotes.
    pub fn bare(&self) -> String {
        match self.name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) => inner.replace("\"\"", "\""),
            None => self.name.clone(),
        }
    }

    /// The operator by which its values are equal, also where names are looked up in pg_catalog
    /// only: a type of an extension, such as `ltree`, has its own.
    pub fn equality(&self) -> String {
        // SAFETY: look-ups of a type that is that of a column; what they give is of this memory
        // context, and two C strings where there is such an operator.
        unsafe {
            let mut name = PgList::<pg_sys::String>::new();
            for part in [c"pg_catalog", c"="] {
                name.push(pg_sys::makeString(pg_sys::pstrdup(part.as_ptr())));
            }
            let kind = self.type_oid;
            let common = pg_sys::compatible_oper_opid(name.as_ptr(), kind, kind, true);
            let flags = pg_sys::TYPECACHE_EQ_OPR as i32;
            let own = (*pg_sys::lookup_type_cache(kind, flags)).eq_opr;
            if common != pg_sys::InvalidOid || own == pg_sys::InvalidOid {
                return "=".to_owned();
            }
            operator::named(own, "=")
        }
    }

    /// The name that a key column had in the source when the pipeline was made, bare.
    pub fn of_source(&self) -> String {
        of_source(&self.bare()).to_owned()
    }
}

/// The columns of the content view of a pipeline, sorted by what they are for.
#[derive(Clone, Debug)]
pub struct ContentColumns {
    /// The key of the source, in the key's order.
    pub keys: Vec<ViewColumn>,
    /// What is cut and embedded, text or bytea.
    pub content: ViewColumn,
    /// What a row is called, if the pipeline says that.
    pub title: Option<ViewColumn>,
    /// What is copied beside each chunk.
    pub metadata: Vec<ViewColumn>,
}

/// The content view's name for what a row is called. No column of metadata has it.
pub const TITLE: &str = "rag_title";

/// The columns of `pipeline`'s content view: key, content, title, metadata.
pub fn content_columns(pipeline: &Pipeline) -> Result<ContentColumns> {
    let mut keys = columns(pipeline.content_view.oid)?;
    let mut metadata = keys.split_off(pipeline.key_columns.min(keys.len()));
    if metadata.is_empty() {
        return Err(Error::new(
            ErrorKind::UndefinedObject,
            format!("pipeline \"{}\" has lost its content view", pipeline.name),
        )
        .hint("Drop the pipeline with rag_drop_pipeline and create it again."));
    }
    let content = metadata.remove(0);
    let has_title = metadata.first().is_some_and(|column| column.bare() == TITLE);
    let title = has_title.then(|| metadata.remove(0));
    Ok(ContentColumns { keys, content, title, metadata })
}

/// The place of the title among the columns of `pipeline`'s content view.
pub fn title_place(pipeline: &Pipeline) -> Result<Option<usize>> {
    let title = content_columns(pipeline)?.title;
    Ok(title.map(|_| pipeline.key_columns + 1))
}

/// An error where the content view does not show each row by itself.
///
/// An aggregate or a window looks at other rows, whose changes would go unnoticed, and a function
/// that returns a set makes several of one row.
pub fn check_row_by_row(pipeline: &Pipeline) -> Result<()> {
    // SAFETY: as in `origins`.
    let culprit = unsafe {
        let view = pipeline.content_view.oid;
        let relation = PgRelation::with_lock(view, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let query = &*pg_sys::get_view_query(relation.as_ptr());
        let found = [
            (query.hasAggs, "an aggregate"),
            (query.hasWindowFuncs, "a window function"),
            (query.hasTargetSRFs, "a function that returns a set"),
        ];
        found.into_iter().find_map(|(found, culprit)| found.then_some(culprit))
    };
    match culprit {
        None => Ok(()),
        Some(culprit) => Err(Error::invalid(format!("content has {culprit}"))
            .hint("It is made of one row, for instance: 'title || '' '' || body'.")),
    }
}

/// The columns of a relation, in order.
pub fn columns(relation: pg_sys::Oid) -> Result<Vec<ViewColumn>> {
    let statement = query!(view.columns);
    prepared::rows(statement, &[relation.into()], |row| {
        Ok(ViewColumn {
            name: pgrx::spi::quote_identifier(sql::required(row.get::<String>(1)?)?),
            sql_type: sql::required(row.get(2)?)?,
            type_oid: sql::required(row.get(3)?)?,
        })
    })
}

/// The names, quoted, that the source's key columns have now.
pub fn source_keys(pipeline: &Pipeline) -> Vec<String> {
    source_key_names(pipeline).iter().map(pgrx::spi::quote_identifier).collect()
}

/// The names, bare, that the source's key columns have now.
pub fn source_key_names(pipeline: &Pipeline) -> Vec<String> {
    let name = |attribute| attribute_name(pipeline.source.oid, attribute);
    origins(pipeline.content_view.oid).into_iter().take(pipeline.key_columns).map(name).collect()
}

/// The place of the first metadata column among the columns of `pipeline`'s content view.
pub fn metadata_place(pipeline: &Pipeline) -> Result<usize> {
    // The content stands between key and metadata, and perhaps a title.
    Ok(title_place(pipeline)?.unwrap_or(pipeline.key_columns) + 1)
}

/// The names, bare, that the source's metadata columns have now; `None` for what an expression makes.
pub fn metadata_names(pipeline: &Pipeline) -> Result<Vec<Option<String>>> {
    let place = metadata_place(pipeline)?;
    let metadata = origins(pipeline.content_view.oid).into_iter().skip(place);
    let name = |attribute: pg_sys::AttrNumber| {
        (attribute > 0).then(|| attribute_name(pipeline.source.oid, attribute))
    };
    Ok(metadata.map(name).collect())
}

/// Number and type of the key columns in `table`, the source or a partition of it; none where the
/// content view is gone.
pub fn key_attributes(pipeline: &Pipeline, table: pg_sys::Oid) -> Result<Vec<(i32, pg_sys::Oid)>> {
    let view = &pipeline.content_view;
    let statement = query!(relation.exists);
    if sql::rows(statement, &[view.oid.into()], |_| Ok(()))?.is_empty() {
        return Ok(Vec::new());
    }
    let of_source = origins(view.oid).into_iter().take(pipeline.key_columns);
    // A partition has the same columns by name, perhaps in other places.
    Ok(of_source
        .map(|attribute| {
            // SAFETY: look-ups of a table that is locked and of columns that it has.
            unsafe {
                let name = pg_sys::get_attname(pipeline.source.oid, attribute, false);
                let number = pg_sys::get_attnum(table, name);
                (i32::from(number), pg_sys::get_atttype(table, number))
            }
        })
        .collect())
}

/// The names, bare, of the key columns as results show them.
pub fn key_names(pipeline: &Pipeline) -> Result<Vec<String>> {
    let columns = sql::rows(query!(view.columns), &[pipeline.content_view.oid.into()], |row| {
        sql::required(row.get::<String>(1)?)
    })?;
    Ok(columns.iter().take(pipeline.key_columns).map(|name| of_source(name).to_owned()).collect())
}

/// A key as users write it, one text a column: text itself or, of a composite key, the values of a JSON object of the
/// names that results show, as strings or as what they are. Fails with an invalid parameter where a column is missing or
/// there is one too many.
pub fn key_parts(pipeline: &Pipeline, key: &str) -> Result<Vec<String>> {
    if pipeline.key_columns == 1 {
        return Ok(vec![key.to_owned()]);
    }
    let names = key_names(pipeline)?;
    let parts = match exact::read(key) {
        Ok(Value::Object(members)) if members.len() == names.len() => {
            names.iter().map(|name| key_part(members.get(name)?)).collect()
        }
        _ => None,
    };
    parts.ok_or_else(|| {
        Error::invalid(format!("not a key of pipeline \"{}\": {key}", pipeline.name))
            .hint(format!("It is a JSON object with {}.", names.join(", ")))
    })
}

/// A value of a key as text that PostgreSQL reads as its type; `None` of null, which no key has.
fn key_part(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(_) => match exact::text(value) {
            Some(text) => (!text.contains('\0')).then(|| text.to_owned()),
            None => exact::number(value),
        },
        Value::Array(elements) => {
            let element = |it: &Value| match (it, key_part(it)?) {
                (Value::Array(_), list) => Some(list),
                (_, text) => {
                    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                    Some(format!("\"{escaped}\""))
                }
            };
            let elements: Option<Vec<String>> = elements.iter().map(element).collect();
            Some(format!("{{{}}}", elements?.join(",")))
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Some(exact::written(value)),
    }
}

/// The source's name, when the pipeline was made, of the key column that is called `name` here.
fn of_source(name: &str) -> &str {
    name.strip_prefix("source_").unwrap_or(name)
}

/// The source's columns that the content view reads, bare.
pub fn columns_read(pipeline: &Pipeline) -> Result<Vec<String>> {
    let mut names = dependencies(pipeline)?;
    names.retain(|name| !name.is_empty());
    Ok(names)
}

/// The source's columns that content and title are made of, bare, but for those that a query within
/// them reads by itself.
pub fn names_in_content(pipeline: &Pipeline) -> Result<Vec<String>> {
    let end = metadata_place(pipeline)?;
    let made_of = names_in_columns(pipeline).into_iter();
    Ok(made_of.take(end).skip(pipeline.key_columns).flatten().collect())
}

/// The source's columns that each metadata column is made of, bare.
pub fn names_in_metadata(pipeline: &Pipeline) -> Result<Vec<Vec<String>>> {
    let place = metadata_place(pipeline)?;
    Ok(names_in_columns(pipeline).into_iter().skip(place).collect())
}

/// For each column of the content view, the source's columns that it is made of, bare, but for those that a query
/// within it reads by itself.
fn names_in_columns(pipeline: &Pipeline) -> Vec<Vec<String>> {
    // SAFETY: as in `origins`; the lists are of Vars, or hold other nodes that are left out.
    let attributes: Vec<Vec<pg_sys::AttrNumber>> = unsafe {
        let view = pipeline.content_view.oid;
        let relation = PgRelation::with_lock(view, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let query = pg_sys::get_view_query(relation.as_ptr());
        let attributes = |target: *mut pg_sys::TargetEntry| {
            let nodes = pg_sys::pull_vars_of_level((*target).expr.cast(), 0);
            PgList::<pg_sys::Node>::from_pg(nodes)
                .iter_ptr()
                .filter(|node| (**node).type_ == pg_sys::NodeTag::T_Var)
                .map(|node| (*node.cast::<pg_sys::Var>()).varattno)
                .filter(|attribute| *attribute > 0)
                .collect::<Vec<_>>()
        };
        let targets = PgList::<pg_sys::TargetEntry>::from_pg((*query).targetList);
        let shown = targets.iter_ptr().filter(|target| !(**target).resjunk);
        shown.map(attributes).collect()
    };
    let name = |attribute| attribute_name(pipeline.source.oid, attribute);
    attributes.into_iter().map(|it| it.into_iter().map(name).collect()).collect()
}

fn dependencies(pipeline: &Pipeline) -> Result<Vec<String>> {
    let statement = query!(view.dependencies);
    let arguments = [pipeline.content_view.oid.into(), pipeline.source.oid.into()];
    sql::rows(statement, &arguments, |row| sql::required(row.get::<String>(1)?))
}

/// The source's columns that the content view reads, quoted; `None`: the whole row.
pub fn source_dependencies(pipeline: &Pipeline) -> Result<Option<Vec<String>>> {
    let names = dependencies(pipeline)?;
    let whole_row = names.iter().any(String::is_empty) || shows_whole_row(pipeline);
    Ok((!whole_row).then(|| names.iter().map(pgrx::spi::quote_identifier).collect()))
}

/// Whether the content view makes something of the whole row of the source: for that, PostgreSQL
/// keeps no dependency beside those on columns.
fn shows_whole_row(pipeline: &Pipeline) -> bool {
    // SAFETY: as in `origins`; the list is of Vars, or holds other nodes that are left out.
    unsafe {
        let view = pipeline.content_view.oid;
        let relation = PgRelation::with_lock(view, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let query = pg_sys::get_view_query(relation.as_ptr());
        // The source is all that it is a query of; what a subquery reads is of another level.
        PgList::<pg_sys::Node>::from_pg(pg_sys::pull_vars_of_level(query.cast(), 0))
            .iter_ptr()
            .filter(|node| (**node).type_ == pg_sys::NodeTag::T_Var)
            .any(|node| (*node.cast::<pg_sys::Var>()).varattno == 0)
    }
}

/// For each column of a view, the attribute number it shows; 0 for an expression.
fn origins(view: pg_sys::Oid) -> Vec<pg_sys::AttrNumber> {
    // SAFETY: the view exists (its OID comes from the catalog read in this snapshot, and the
    // open takes a lock or raises an error), and its rule's query is a valid tree that is only
    // read while the relation is open.
    unsafe {
        let relation = PgRelation::with_lock(view, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let query = pg_sys::get_view_query(relation.as_ptr());
        PgList::<pg_sys::TargetEntry>::from_pg((*query).targetList)
            .iter_ptr()
            .filter(|entry| !(**entry).resjunk)
            .map(|entry| (*entry).resorigcol)
            .collect()
    }
}

fn attribute_name(relation: pg_sys::Oid, attribute: pg_sys::AttrNumber) -> String {
    // SAFETY: get_attname returns a palloc'ed C string or, as asked, raises an error.
    let name = unsafe { std::ffi::CStr::from_ptr(pg_sys::get_attname(relation, attribute, false)) };
    name.to_string_lossy().into_owned()
}
