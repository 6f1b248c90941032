//! One query and nothing else, by PostgreSQL's own grammar: comments and quotes cannot lie to it.

use std::ffi::{CStr, CString};

use pgrx::PgList;
use pgrx::pg_sys::{Node, NodeTag};
use pgrx::prelude::*;

use super::walk::{self, NodeVisitor};
use crate::guarded_sql::{Problem, ProblemKind};

/// A relation's name in the statement, and the byte at which it stands.
#[derive(Clone, Debug)]
pub struct NamedRelation {
    /// The name without a schema.
    pub name: String,
    /// The byte of the text at which it begins.
    pub location: i32,
}

/// The one query of a text.
pub struct RawQuery {
    /// Its tree, as the grammar makes it.
    pub tree: *mut pg_sys::RawStmt,
    /// Names of relations, and of what the query itself calls so.
    pub relations: Vec<NamedRelation>,
}

/// The one query of `text`, or why there is none. Raises an error where the text has no meaning.
pub fn one_query(text: &CStr) -> Result<RawQuery, Vec<Problem>> {
    // SAFETY: raw_parser returns a list of RawStmt or raises an error.
    let statements = unsafe {
        let parsed = pg_sys::raw_parser(text.as_ptr(), pg_sys::RawParseMode::RAW_PARSE_DEFAULT);
        PgList::<pg_sys::RawStmt>::from_pg(parsed)
    };
    let Some(tree) = statements.get_ptr(0) else {
        let problem = Problem::new(ProblemKind::Empty, "", "there is no statement");
        return Err(vec![problem.hint("Give one query.")]);
    };
    if let Some(second) = statements.get_ptr(1) {
        // SAFETY: a statement of the list.
        let location = unsafe { (*second).stmt_location };
        return Err(vec![several(text, statements.len(), location)]);
    }
    // SAFETY: a statement of the list.
    let mut shape = unsafe { Shape::of((*tree).stmt, text) };
    match shape.problems.is_empty() {
        true => Ok(RawQuery { tree, relations: std::mem::take(&mut shape.relations) }),
        false => Err(shape.problems),
    }
}

/// Has a query name the relations of the WITH of `other`, a query of the extension's own, beside those of its own WITH. The
/// names of these relations.
///
/// # Safety
///
/// `tree` is that of a [`RawQuery`].
pub unsafe fn add_relations(tree: *mut pg_sys::RawStmt, other: &CStr) -> Vec<CString> {
    // SAFETY: by this function's contract, and as raw_parser makes them, both are a SELECT in the current memory context.
    unsafe {
        let parsed = pg_sys::raw_parser(other.as_ptr(), pg_sys::RawParseMode::RAW_PARSE_DEFAULT);
        let other = PgList::<pg_sys::RawStmt>::from_pg(parsed).get_ptr(0).map(|it| (*it).stmt);
        let other = other.filter(|it| (**it).type_ == NodeTag::T_SelectStmt);
        let Some(with) = other.map(|it| (*it.cast::<pg_sys::SelectStmt>()).withClause) else {
            return Vec::new();
        };
        let ctes = with.as_ref().map_or(std::ptr::null_mut(), |it| it.ctes);
        let names =
            common_tables(ctes).map(|it| CStr::from_ptr((*it).ctename).to_owned()).collect();
        let query = (*tree).stmt.cast::<pg_sys::SelectStmt>();
        match ((*query).withClause.as_mut(), with.as_ref()) {
            (Some(own), Some(added)) => own.ctes = pg_sys::list_concat(added.ctes, own.ctes),
            (None, Some(_)) => (*query).withClause = with,
            (_, None) => {}
        }
        names
    }
}

/// Whether an analysed query reads one of these relations of its outermost WITH, by PostgreSQL's own count.
///
/// # Safety
///
/// `query` is a query as the analysis and the rewriter have made it.
pub unsafe fn reads_any(query: *mut pg_sys::Query, names: &[CString]) -> bool {
    // SAFETY: by this function's contract.
    unsafe {
        common_tables((*query).cteList).any(|it| {
            let name = CStr::from_ptr((*it).ctename);
            (*it).cterefcount > 0 && names.iter().any(|known| known.as_c_str() == name)
        })
    }
}

/// The relations of a WITH.
///
/// # Safety
///
/// `list` is NULL or a list of them, and outlives what is returned.
unsafe fn common_tables(
    list: *mut pg_sys::List,
) -> impl Iterator<Item = *mut pg_sys::CommonTableExpr> {
    // SAFETY: by this function's contract.
    let all = unsafe { PgList::<pg_sys::CommonTableExpr>::from_pg(list) };
    let all: Vec<_> = all.iter_ptr().collect();
    all.into_iter()
}

fn several(text: &CStr, count: usize, location: i32) -> Problem {
    let rest = text.to_bytes().get(location.max(0) as usize..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let detail = format!("there are {count} statements where one is wanted");
    Problem::new(ProblemKind::SeveralStatements, "", detail)
        .hint("Give one query.")
        .at(character(text, location + blanks as i32))
}

/// The character at a byte of the text, counted from 1; `None` for a node without a place.
pub fn character(text: &CStr, location: i32) -> Option<i32> {
    let before = text.to_bytes().get(..usize::try_from(location).ok()?)?;
    // SAFETY: counts characters of the server's encoding within these bytes.
    Some(unsafe { pg_sys::pg_mbstrlen_with_len(before.as_ptr().cast(), before.len() as i32) } + 1)
}

/// What a raw tree has in it that a query must not have.
struct Shape<'a> {
    text: &'a CStr,
    problems: Vec<Problem>,
    relations: Vec<NamedRelation>,
}

impl<'a> Shape<'a> {
    /// # Safety
    ///
    /// `statement` is a raw tree.
    unsafe fn of(statement: *mut Node, text: &'a CStr) -> Self {
        let mut shape = Shape { text, problems: Vec::new(), relations: Vec::new() };
        // SAFETY: by this function's contract; the tag is that of any node.
        unsafe {
            match (*statement).type_ {
                NodeTag::T_SelectStmt => shape.visit(statement),
                _ => shape.problems.push(not_a_query(statement)),
            }
        }
        shape
    }

    /// # Safety
    ///
    /// `select` is a SELECT of a raw tree.
    unsafe fn select(&mut self, select: *mut pg_sys::SelectStmt) {
        // SAFETY: by this function's contract; clauses are NULL or nodes of their kind.
        unsafe {
            let into = (*select).intoClause;
            if !into.is_null() {
                let location = (*into).rel.as_ref().map_or(-1, |it| it.location);
                let detail = "INTO makes a table";
                let problem = Problem::new(ProblemKind::Into, "INTO", detail);
                self.problems.push(problem.at(character(self.text, location)));
            }
            let locking = PgList::<pg_sys::LockingClause>::from_pg((*select).lockingClause);
            for clause in locking.iter_ptr() {
                let clause = lock_words((*clause).strength);
                let detail = format!("{clause} locks rows");
                self.problems.push(Problem::new(ProblemKind::LocksRows, clause, detail));
            }
        }
    }
}

impl NodeVisitor for Shape<'_> {
    unsafe fn visit(&mut self, node: *mut Node) {
        use NodeTag::{
            T_DeleteStmt, T_InsertStmt, T_MergeStmt, T_RangeVar, T_SelectStmt, T_UpdateStmt,
        };
        // SAFETY: by the trait's contract; nodes are read after their tag has been looked at.
        unsafe {
            match (*node).type_ {
                T_InsertStmt | T_UpdateStmt | T_DeleteStmt | T_MergeStmt => {
                    let command = command(node);
                    let detail = format!("{command} in a query changes rows");
                    return self.problems.push(Problem::new(
                        ProblemKind::ChangesRows,
                        command,
                        detail,
                    ));
                }
                T_SelectStmt => self.select(node.cast()),
                T_RangeVar => self.relations.extend(named(node.cast())),
                _ => {}
            }
            walk::raw_children(node, self);
        }
    }
}

/// # Safety
///
/// `relation` is a name of a raw tree.
unsafe fn named(relation: *mut pg_sys::RangeVar) -> Option<NamedRelation> {
    // SAFETY: by this function's contract; the name is a C string.
    unsafe {
        let name = (*relation).relname;
        let location = (*relation).location;
        (!name.is_null()).then(|| NamedRelation {
            name: CStr::from_ptr(name).to_string_lossy().into_owned(),
            location,
        })
    }
}

/// # Safety
///
/// `statement` is a raw statement.
unsafe fn not_a_query(statement: *mut Node) -> Problem {
    // SAFETY: by this function's contract.
    let command = unsafe { command(statement) };
    let detail = format!("{command} is no query");
    Problem::new(ProblemKind::NotAQuery, command, detail)
        .hint("Begin with SELECT, VALUES, TABLE or WITH.")
}

/// The words of a command.
///
/// # Safety
///
/// `statement` is a raw statement.
unsafe fn command(statement: *mut Node) -> String {
    // SAFETY: by this function's contract; the names of tags are constant.
    unsafe {
        let tag = pg_sys::CreateCommandTag(statement);
        CStr::from_ptr(pg_sys::GetCommandTagName(tag)).to_string_lossy().into_owned()
    }
}

fn lock_words(strength: pg_sys::LockClauseStrength::Type) -> &'static str {
    use pg_sys::LockClauseStrength::{LCS_FORKEYSHARE, LCS_FORNOKEYUPDATE, LCS_FORSHARE};
    match strength {
        LCS_FORKEYSHARE => "FOR KEY SHARE",
        LCS_FORSHARE => "FOR SHARE",
        LCS_FORNOKEYUPDATE => "FOR NO KEY UPDATE",
        _ => "FOR UPDATE",
    }
}
