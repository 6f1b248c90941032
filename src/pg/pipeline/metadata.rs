//! The metadata of a pipeline: columns of its source, and what expressions make of a row, which its owner wrote.
//!
//! An expression is a column of the content view, as the content is. So it is computed with the owner's rights when the row
//! is read for its chunks, and questions test what it made: none of them computes it.

use std::ffi::{CStr, CString};

use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use pgrx::{PgList, PgRelation};

use super::content;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::source::{SourceColumn, SourceTable};
use crate::pg::catalog::view::{self, ViewColumn};
use crate::pg::server::role::{self, LocalSettings};
use crate::pg::server::sql::{query, render};
use crate::pg::server::statement_error;

/// How an expression is written.
const EXAMPLE: &str = "'price < 100 AND published AS cheap'";

/// A metadata column that is to be made.
#[derive(Clone, Debug)]
pub struct MetadataDefinition {
    /// Its name, without quotes.
    pub name: String,
    /// Its type, as in SQL.
    pub sql_type: String,
    /// The expression that makes it, with its name, as SELECT lists both; `None`: it is the source's column of that name.
    pub expression: Option<String>,
}

impl MetadataDefinition {
    fn of_column(column: &SourceColumn) -> Self {
        let (name, sql_type) = (column.name.clone(), column.sql_type.clone());
        MetadataDefinition { name, sql_type, expression: None }
    }

    /// What SELECT lists after other columns of the source, which is called `alias` there.
    pub fn selected(&self, alias: &str) -> String {
        match &self.expression {
            // What follows a comment of the owner's is on the next line.
            Some(expression) => format!(",\n{expression}\n"),
            None => format!(", {alias}.{}", quote_identifier(&self.name)),
        }
    }

    /// The column of the source that it is a copy of, without quotes; `None` of what an expression makes.
    pub fn column(&self) -> Option<&str> {
        self.expression.is_none().then_some(self.name.as_str())
    }
}

/// Where the values of a metadata column come from that a pipeline has.
pub struct MetadataSource {
    /// The column, as the relations of the pipeline have it.
    pub here: ViewColumn,
    /// The column of the source that it is a copy of, without quotes; `None` of what an expression makes.
    pub column: Option<String>,
    /// The columns of the source that are read for it, without quotes.
    pub reads: Vec<String>,
    /// What makes it of a row of the source, which has its own name there.
    pub sql: String,
}

/// Where the values of a pipeline's metadata come from, with the names that the source's columns have now.
pub fn sources(pipeline: &Pipeline, source: &SourceTable) -> Result<Vec<MetadataSource>> {
    let here = view::content_columns(pipeline)?.metadata;
    let columns = view::metadata_names(pipeline)?;
    let reads = view::names_in_metadata(pipeline)?;
    let places = view::metadata_place(pipeline)?..;
    let found = here.into_iter().zip(columns).zip(reads).zip(places);
    found
        .map(|(((here, column), reads), place)| {
            let sql = match &column {
                Some(column) => {
                    format!("{}.{}", quote_identifier(&source.name), quote_identifier(column))
                }
                None => format!("({})", content::shown(pipeline, source, place)?.sql),
            };
            Ok(MetadataSource { here, column, reads, sql })
        })
        .collect()
}

/// The metadata that a pipeline has now, to be made again.
pub fn current(pipeline: &Pipeline, source: &SourceTable) -> Result<Vec<MetadataDefinition>> {
    let definition = |it: MetadataSource| -> Result<MetadataDefinition> {
        let Some(name) = &it.column else {
            return Ok(MetadataDefinition {
                name: it.here.bare(),
                expression: Some(format!("{} AS {}", it.sql, it.here.name)),
                sql_type: it.here.sql_type,
            });
        };
        let column = source.column(name).ok_or_else(|| source.no_column(name))?;
        Ok(MetadataDefinition::of_column(column))
    };
    sources(pipeline, source)?.into_iter().map(definition).collect()
}

/// The metadata as a user wrote it: columns of the source by their bare names, or expressions, each with a name.
///
/// Fails where something is neither, where an expression is not made of one row alone or may have another value each time,
/// and where it is called as a column of the source is.
pub fn chosen(source: &SourceTable, written: &[String]) -> Result<Vec<MetadataDefinition>> {
    let definition = |written: &String| match source.column(written) {
        Some(column) => Ok(MetadataDefinition::of_column(column)),
        None => of_expression(source, written),
    };
    written.iter().map(definition).collect()
}

fn of_expression(source: &SourceTable, written: &str) -> Result<MetadataDefinition> {
    let name = name_of(source, written)?;
    let alias = quote_identifier(&source.name);
    let values = [("metadata", written), ("source", &source.sql), ("alias", &alias)];
    let statement = render(query!(create.metadata_alone), &values);
    let analysed = with_rights_of_owner(source, || {
        // SAFETY: the statement selects one expression: the look for its name has found that out.
        read(&statement, |statement| unsafe { analysed(statement) })
    });
    let expression = analysed?.ok_or_else(|| not_one(written))?;
    // SAFETY: an analysed expression.
    unsafe { check(&name, expression, source) }?;
    Ok(MetadataDefinition {
        name,
        // SAFETY: as above; the name of a type is a C string of this memory context.
        sql_type: unsafe {
            let (kind, modifier) = (pg_sys::exprType(expression), pg_sys::exprTypmod(expression));
            let name = pg_sys::format_type_with_typemod(kind, modifier);
            CStr::from_ptr(name).to_string_lossy().into_owned()
        },
        expression: Some(written.to_owned()),
    })
}

/// The name of an expression; an error where `written` is anything but one expression and its name.
///
/// It becomes part of a view's definition, between others, on lines of its own. The parser decides what it is: what stands
/// around it in the probe has to stay what it is.
fn name_of(source: &SourceTable, written: &str) -> Result<String> {
    if written.trim().is_empty() {
        return Err(not_one(written));
    }
    let probe = render(query!(create.metadata_probe), &[("metadata", written)]);
    let targets = read(&probe, content::targets)?.unwrap_or_default();
    let [_, target, _] = targets.as_slice() else { return Err(not_one(written)) };
    // SAFETY: a target of a raw parse tree, whose name is NULL or a C string.
    let (name, column) = unsafe {
        let (name, expression) = ((**target).name, (**target).val);
        if is_of_several(expression) {
            return Err(not_one(written));
        }
        let name = (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned());
        (name, content::bare_column(expression))
    };
    // The name of the table stands for its row.
    if let Some(column) = column.filter(|it| source.column(it).is_none() && *it != source.name) {
        return Err(source.no_column(&column));
    }
    let Some(name) = name else {
        return Err(Error::invalid(format!("metadata has no name: {written}"))
            .hint(format!("Name a column, or an expression as SELECT does: {EXAMPLE}.")));
    };
    match source.column(&name) {
        None => Ok(name),
        Some(_) => Err(Error::new(
            ErrorKind::DuplicateObject,
            format!("metadata expression \"{name}\" has the name of a column of {}", source.sql),
        )
        .hint("Give it another name behind AS.")),
    }
}

fn not_one(written: &str) -> Error {
    Error::invalid(format!("metadata is not a single expression: {written}"))
        .hint(format!("Name a column, or an expression as SELECT does: {EXAMPLE}."))
}

/// Whether the analysis makes several columns of what the grammar takes for one: of `docs.*`, or of all fields of a value.
///
/// # Safety
///
/// `node` is an expression of a raw parse tree.
unsafe fn is_of_several(node: *mut pg_sys::Node) -> bool {
    // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
    unsafe {
        let parts = match (*node).type_ {
            pg_sys::NodeTag::T_ColumnRef => (*node.cast::<pg_sys::ColumnRef>()).fields,
            pg_sys::NodeTag::T_A_Indirection => (*node.cast::<pg_sys::A_Indirection>()).indirection,
            _ => return false,
        };
        let last = PgList::<pg_sys::Node>::from_pg(parts).iter_ptr().last();
        last.is_some_and(|last| (*last).type_ == pg_sys::NodeTag::T_A_Star)
    }
}

/// What `work` makes of a statement. An error that PostgreSQL finds in it shows the statement, not that of the caller.
fn read<T>(statement: &str, work: impl FnOnce(&CStr) -> T) -> Result<T> {
    let text = CString::new(statement).map_err(|_| Error::invalid("metadata has a zero"))?;
    let done = statement_error::caught(|| Ok(work(&text)));
    Ok(done.unwrap_or_else(|error| error.raise(statement)))
}

/// Does `work`, which analyses an expression, with the rights of the owner of the source: to read a literal of a type of that
/// owner's may call functions of the owner's. Names are looked up as the caller sees them.
fn with_rights_of_owner<T>(source: &SourceTable, work: impl FnOnce() -> T) -> T {
    // SAFETY: the table is opened and locked, or an error says that it is gone.
    let _table =
        unsafe { PgRelation::with_lock(source.oid, pg_sys::AccessShareLock as pg_sys::LOCKMODE) };
    if role::table_owner(source.oid) == role::current_role() {
        return work();
    }
    let path = role::search_path();
    let _acting = role::as_owner_of(source.oid);
    let mut settings = LocalSettings::new();
    settings.set(c"search_path", &path);
    work()
}

/// The expression that a statement selects, with the functions that it calls.
///
/// # Safety
///
/// `statement` is a SELECT.
unsafe fn analysed(statement: &CStr) -> Option<*mut pg_sys::Node> {
    // SAFETY: raw_parser and the analysis return trees of this memory context or raise an error; there are no parameters.
    unsafe {
        let text = statement.as_ptr();
        let parsed = pg_sys::raw_parser(text, pg_sys::RawParseMode::RAW_PARSE_DEFAULT);
        let statements = PgList::<pg_sys::RawStmt>::from_pg(parsed);
        let raw = statements.get_ptr(0).filter(|_| statements.len() == 1)?;
        let nothing = std::ptr::null_mut();
        let query = pg_sys::parse_analyze_fixedparams(raw, text, std::ptr::null(), 0, nothing);
        let targets = PgList::<pg_sys::TargetEntry>::from_pg((*query).targetList);
        let target = targets.get_ptr(0).filter(|_| targets.len() == 1)?;
        Some((*target).expr.cast())
    }
}

/// An error where the expression called `name` is not made of the columns of one row alone, may have another value each time,
/// or is nothing but a column.
///
/// # Safety
///
/// `expression` is an analysed expression over `source`.
unsafe fn check(name: &str, expression: *mut pg_sys::Node, source: &SourceTable) -> Result<()> {
    // SAFETY: by this function's contract; the list is of Vars, or holds other nodes that are left out.
    let (found, columns) = unsafe {
        let found = [
            (pg_sys::checkExprHasSubLink(expression), "has a subquery"),
            (pg_sys::contain_aggs_of_level(expression, 0), "has an aggregate"),
            (pg_sys::contain_windowfuncs(expression), "has a window function"),
            (pg_sys::expression_returns_set(expression), "has a function that returns a set"),
            (pg_sys::contain_volatile_functions(expression), "has a volatile function"),
        ];
        let nodes = PgList::<pg_sys::Node>::from_pg(pg_sys::pull_vars_of_level(expression, 0));
        let vars = nodes.iter_ptr().filter(|node| (**node).type_ == pg_sys::NodeTag::T_Var);
        let columns: Vec<_> = vars.map(|node| (*node.cast::<pg_sys::Var>()).varattno).collect();
        (found, columns)
    };
    let of_row = [
        (columns.contains(&0), "reads the whole row"),
        (columns.iter().any(|column| *column < 0), "reads a system column"),
    ];
    let culprit = found.into_iter().chain(of_row).find_map(|(found, what)| found.then_some(what));
    if let Some(culprit) = culprit {
        return Err(Error::invalid(format!("metadata expression \"{name}\" {culprit}")).hint(format!(
            "It is made of columns of one row, by functions that are IMMUTABLE or STABLE, for instance: {EXAMPLE}."
        )));
    }
    // SAFETY: as above.
    if unsafe { (*expression).type_ } == pg_sys::NodeTag::T_Var {
        let message = format!("metadata expression \"{name}\" is nothing but a column");
        let known: Vec<&str> = source.columns.iter().map(|column| column.name.as_str()).collect();
        return Err(Error::invalid(message).hint(format!(
            "Name the column alone; metadata has the names of the source's columns: {}.",
            known.join(", ")
        )));
    }
    Ok(())
}
