//! The content of a pipeline: a column, or an expression over the row, that a user wrote.

use std::collections::HashSet;
use std::ffi::{CStr, CString};

use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use pgrx::{PgList, PgRelation};

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::view;
use crate::pg::guarded_sql::{NodeVisitor, raw_children};
use crate::pg::server::sql::{query, render};

/// The content of a pipeline.
#[derive(Clone, Debug)]
pub struct Expression {
    /// An expression over the source's columns.
    pub sql: String,
    /// The type of text, or of a column that holds files; with its schema, since a table can be made under any search path.
    pub sql_type: &'static str,
}

impl Expression {
    fn text(sql: String) -> Self {
        Expression { sql, sql_type: "pg_catalog.text" }
    }
}

/// The content as an expression: a column by its bare name, or what the user wrote.
pub fn expression(source: &SourceTable, content: &str) -> Result<Expression> {
    match source.column(content) {
        Some(column) if column.sql_type == "bytea" => {
            Ok(Expression { sql: quote_identifier(content), sql_type: "pg_catalog.bytea" })
        }
        _ => text_expression(source, "content", content),
    }
}

/// A text made of a row, as [`expression`]; `what` is its name for messages.
pub fn text_expression(source: &SourceTable, what: &str, content: &str) -> Result<Expression> {
    match source.column(content) {
        Some(column) if column.is_text => Ok(Expression::text(quote_identifier(content))),
        Some(column) => Err(Error::new(
            ErrorKind::WrongObjectType,
            match what {
                "content" => format!(
                    "column \"{}\" is of type {}, not text or bytea",
                    column.name, column.sql_type
                ),
                _ => format!("column \"{}\" is of type {}, not text", column.name, column.sql_type),
            },
        )
        .hint(format!(
            "Give a text column or an expression, for instance '{}::text'.",
            quote_identifier(&column.name)
        ))),
        None => {
            // The name of the table stands for its row.
            if let Some(name) = check_expression(what, content)?
                && source.column(&name).is_none()
                && name != source.name
            {
                return Err(source.no_column(&name));
            }
            Ok(Expression::text(content.to_owned()))
        }
    }
}

/// The expression that a pipeline has now, with the names that the source's columns have now.
pub fn current(pipeline: &Pipeline, source: &SourceTable) -> Result<Expression> {
    shown(pipeline, source, pipeline.key_columns)
}

/// The expression of a pipeline's title, with the names that the source's columns have now; `None`
/// if it has no title.
pub fn current_title(pipeline: &Pipeline, source: &SourceTable) -> Result<Option<Expression>> {
    let place = view::title_place(pipeline)?;
    place.map(|place| shown(pipeline, source, place)).transpose()
}

/// What the column at `place` of a pipeline's content view shows, with the names that the source's columns have now.
pub fn shown(pipeline: &Pipeline, source: &SourceTable, place: usize) -> Result<Expression> {
    let alias =
        CString::new(source.name.as_str()).map_err(|_| Error::invalid("a name has a zero"))?;
    // SAFETY: the view is opened, which fails where it is gone; its query is copied before its
    // one table is made the first, as which deparse_context_for names it.
    unsafe {
        let view = pipeline.content_view.oid;
        let relation = PgRelation::with_lock(view, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let query = &*pg_sys::get_view_query(relation.as_ptr());
        let tables = PgList::<pg_sys::RangeTblEntry>::from_pg(query.rtable);
        let table = tables.iter_ptr().position(|table| (*table).relid == source.oid);
        let targets = PgList::<pg_sys::TargetEntry>::from_pg(query.targetList);
        let (Some(table), Some(target)) = (table, targets.get_ptr(place)) else {
            let message = format!("pipeline \"{}\" has lost its content view", pipeline.name);
            return Err(Error::new(ErrorKind::UndefinedObject, message)
                .hint("Drop the pipeline with rag_drop_pipeline and create it again."));
        };
        let content = pg_sys::copyObjectImpl((*target).expr.cast()).cast::<pg_sys::Node>();
        pg_sys::ChangeVarNodes(content, table as i32 + 1, 1, 0);
        let context = pg_sys::deparse_context_for(alias.as_ptr(), source.oid);
        let text = pg_sys::deparse_expression(content, context, true, false);
        let is_file = pg_sys::exprType(content) == pg_sys::BYTEAOID;
        Ok(Expression {
            sql: CStr::from_ptr(text).to_string_lossy().into_owned(),
            sql_type: if is_file { "pg_catalog.bytea" } else { "pg_catalog.text" },
        })
    }
}

/// The name that `content` consists of, if it is no more than one; an error where it is not a single
/// expression. `what` is its name for messages.
///
/// It becomes part of a view's definition, in parentheses on lines of its own; it must not be
/// able to close them. The parser decides: the statement around it has to stay a SELECT of
/// one column and nothing else.
fn check_expression(what: &str, content: &str) -> Result<Option<String>> {
    let not_one = || {
        Error::invalid(format!("{what} is not a single expression: {content}"))
            .hint("Give a text column, or an expression such as 'title || '' '' || body'.")
    };
    if content.trim().is_empty() {
        return Err(not_one());
    }
    let statement = CString::new(render(query!(create.content_probe), &[("content", content)]))
        .map_err(|_| not_one())?;
    match single_expression(&statement) {
        // SAFETY: an expression of a raw parse tree.
        Some(expression) => Ok(unsafe { bare_name(expression) }),
        None => Err(not_one()),
    }
}

/// The names of columns in `content`, each as its table has it: what is an identifier and what belongs to a literal or to
/// a longer name is PostgreSQL's parser's to say. Those of a subquery are among them.
pub fn column_names(content: &Expression) -> Result<HashSet<String>> {
    let statement =
        CString::new(render(query!(create.content_probe), &[("content", content.sql.as_str())]))
            .map_err(|_| Error::invalid("an expression has a zero"))?;
    let mut names = ColumnNames::default();
    if let Some(expression) = single_expression(&statement) {
        // SAFETY: an expression of a raw parse tree.
        unsafe { names.visit(expression) };
    }
    Ok(names.found)
}

/// Collects the names of columns in a raw parse tree.
#[derive(Default)]
struct ColumnNames {
    found: HashSet<String>,
}

impl NodeVisitor for ColumnNames {
    unsafe fn visit(&mut self, node: *mut pg_sys::Node) {
        // SAFETY: by the trait's contract; nodes are read after their tag has been looked at.
        unsafe {
            if (*node).type_ == pg_sys::NodeTag::T_ColumnRef {
                let fields = (*node.cast::<pg_sys::ColumnRef>()).fields;
                let last = PgList::<pg_sys::Node>::from_pg(fields).iter_ptr().last();
                self.found.extend(last.and_then(|it| string(it)));
            }
            raw_children(node, self);
        }
    }
}

/// The text of a node that is a string; `None` for others.
///
/// # Safety
///
/// `node` is a node of a raw parse tree.
unsafe fn string(node: *mut pg_sys::Node) -> Option<String> {
    // SAFETY: by this function's contract; the node is read after its tag has been looked at.
    unsafe {
        ((*node).type_ == pg_sys::NodeTag::T_String).then(|| {
            let text = CStr::from_ptr((*node.cast::<pg_sys::String>()).sval);
            text.to_string_lossy().into_owned()
        })
    }
}

/// The name that is cast to text, if it is one without a table before it.
///
/// # Safety
///
/// `node` is an expression of a raw parse tree.
unsafe fn bare_name(node: *mut pg_sys::Node) -> Option<String> {
    // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
    unsafe {
        ((*node).type_ == pg_sys::NodeTag::T_TypeCast)
            .then(|| bare_column((*node.cast::<pg_sys::TypeCast>()).arg))
            .flatten()
    }
}

/// The name that an expression consists of, if it is one without a table before it.
///
/// # Safety
///
/// `node` is an expression of a raw parse tree.
pub unsafe fn bare_column(node: *mut pg_sys::Node) -> Option<String> {
    // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
    unsafe {
        if (*node).type_ != pg_sys::NodeTag::T_ColumnRef {
            return None;
        }
        let fields = (*node.cast::<pg_sys::ColumnRef>()).fields;
        let fields = PgList::<pg_sys::Node>::from_pg(fields);
        let only = fields.get_ptr(0).filter(|_| fields.len() == 1)?;
        string(only)
    }
}

/// Whether the expression that is cast to text is `a, b`: in parentheses that is a row.
///
/// # Safety
///
/// `node` is an expression of a raw parse tree.
unsafe fn is_implicit_row(node: *mut pg_sys::Node) -> bool {
    // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
    unsafe {
        if (*node).type_ != pg_sys::NodeTag::T_TypeCast {
            return false;
        }
        let content = (*node.cast::<pg_sys::TypeCast>()).arg;
        (*content).type_ == pg_sys::NodeTag::T_RowExpr
            && (*content.cast::<pg_sys::RowExpr>()).row_format
                == pg_sys::CoercionForm::COERCE_IMPLICIT_CAST
    }
}

/// The one thing that `statement` selects, if it does no more than that.
fn single_expression(statement: &CStr) -> Option<*mut pg_sys::Node> {
    let targets = targets(statement)?;
    let [target] = targets.as_slice() else { return None };
    // SAFETY: the target of a raw parse tree.
    unsafe {
        let expression = (**target).val;
        (!is_implicit_row(expression)).then_some(expression)
    }
}

/// What `statement` selects, as the grammar has it, if it does no more than that; not from a table either.
pub fn targets(statement: &CStr) -> Option<Vec<*mut pg_sys::ResTarget>> {
    // SAFETY: raw_parser returns a list of RawStmt or raises a syntax error; nodes are read
    // after their tag has been looked at.
    unsafe {
        let parsed =
            pg_sys::raw_parser(statement.as_ptr(), pg_sys::RawParseMode::RAW_PARSE_DEFAULT);
        let statements = PgList::<pg_sys::RawStmt>::from_pg(parsed);
        let raw = statements.get_ptr(0).filter(|_| statements.len() == 1)?;
        let node = (*raw).stmt;
        if (*node).type_ != pg_sys::NodeTag::T_SelectStmt {
            return None;
        }
        let select = &*node.cast::<pg_sys::SelectStmt>();
        let does_no_more = select.op == pg_sys::SetOperation::SETOP_NONE
            && select.intoClause.is_null()
            && select.whereClause.is_null()
            && select.havingClause.is_null()
            && select.withClause.is_null()
            && select.limitOffset.is_null()
            && select.limitCount.is_null()
            && [
                select.distinctClause,
                select.fromClause,
                select.groupClause,
                select.windowClause,
                select.valuesLists,
                select.sortClause,
                select.lockingClause,
            ]
            .iter()
            .all(|list| list.is_null());
        let targets = PgList::<pg_sys::ResTarget>::from_pg(select.targetList);
        does_no_more.then(|| targets.iter_ptr().collect())
    }
}
