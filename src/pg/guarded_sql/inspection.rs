//! What does a query read and call?
//!
//! The tree that is looked at is the one that is planned: views are in it as queries, and policies as conditions.
//! Of each node it is known here what it calls; a node that is not known is refused.

use std::collections::HashSet;
use std::ffi::CStr;

use pgrx::PgList;
use pgrx::pg_sys::{Node, NodeTag, Oid};
use pgrx::prelude::*;

use super::data_type::SeenTypes;
use super::nodes::{self, NodeRole};
use super::parse::{NamedRelation, character};
use super::scope::GuardScope;
use super::walk::{self, NodeVisitor};
use super::{function, relation};
use crate::guarded_sql::function::{FunctionRefusal, function_refusal};
use crate::guarded_sql::{Problem, ProblemKind, SqlOrigin};

/// What has been found in a query.
pub struct Inspection<'a> {
    scope: &'a GuardScope,
    text: &'a CStr,
    named: &'a [NamedRelation],
    origin: SqlOrigin,
    location: i32,
    seen_functions: HashSet<(Oid, SqlOrigin)>,
    seen_types: SeenTypes,
    /// All queries of the statement.
    pub queries: Vec<*mut pg_sys::Query>,
    /// Relations that are read, but for views.
    pub relations: Vec<Oid>,
    /// Relations that the statement itself names, views included, each once.
    pub named_by_author: Vec<Oid>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Whether a function is called that the options name: what it does in turn is for whoever named it.
    pub calls_listed: bool,
}

impl<'a> Inspection<'a> {
    /// Nothing yet, of a query with this text, in which these relations are named.
    pub fn new(scope: &'a GuardScope, text: &'a CStr, named: &'a [NamedRelation]) -> Self {
        Inspection {
            scope,
            text,
            named,
            origin: SqlOrigin::Statement,
            location: -1,
            seen_functions: HashSet::new(),
            seen_types: SeenTypes::default(),
            queries: Vec::new(),
            relations: Vec::new(),
            named_by_author: Vec::new(),
            problems: Vec::new(),
            calls_listed: false,
        }
    }

    /// Looks at a query, as the analysis and the rewriter have made it.
    ///
    /// # Safety
    ///
    /// `query` is such a query.
    pub unsafe fn query(&mut self, query: *mut pg_sys::Query) {
        // SAFETY: by this function's contract.
        unsafe {
            let is_select = (*query).commandType == pg_sys::CmdType::CMD_SELECT;
            if !is_select || !(*query).utilityStmt.is_null() || (*query).hasModifyingCTE {
                self.problem(ProblemKind::ChangesRows, "", "the statement is no plain query");
            }
            if !(*query).rowMarks.is_null() && self.origin.is_of_author() {
                self.problem(ProblemKind::LocksRows, "FOR UPDATE", "the statement locks rows");
            } else if !(*query).rowMarks.is_null() {
                self.problem(
                    ProblemKind::LocksRows,
                    "FOR UPDATE",
                    "a view of the statement locks rows",
                );
            }
            self.queries.push(query);
            for entry in PgList::<pg_sys::RangeTblEntry>::from_pg((*query).rtable).iter_ptr() {
                self.entry(entry);
            }
            walk::parts(query, self);
        }
    }

    /// What the planner may call for the relations that are read, by indexes, checks and such.
    pub fn attached(&mut self) -> crate::error::Result<()> {
        let mut relations = std::mem::take(&mut self.relations);
        relations.retain(|it| relation::has_attached(*it));
        for (heir, kind) in relation::inheriting(&relations)? {
            self.relation(heir, kind);
        }
        for oid in relation::called(&relations)? {
            self.as_origin(SqlOrigin::Policy, |inner| inner.function(oid, false));
        }
        Ok(())
    }

    /// # Safety
    ///
    /// `entry` is one of a query's range table.
    unsafe fn entry(&mut self, entry: *mut pg_sys::RangeTblEntry) {
        use pg_sys::RTEKind::{RTE_NAMEDTUPLESTORE, RTE_RELATION, RTE_SUBQUERY};
        // SAFETY: by this function's contract; what is no part of this kind of entry is NULL.
        unsafe {
            let it = &*entry;
            match it.rtekind {
                RTE_RELATION => self.table(it),
                RTE_SUBQUERY => self.subquery(it),
                RTE_NAMEDTUPLESTORE => {
                    self.problem(ProblemKind::Unknown, "", "rows of a trigger cannot be read");
                }
                _ => {}
            }
            let lists = [it.functions, it.values_lists, it.joinaliasvars];
            lists.into_iter().for_each(|list| self.all(list));
            #[cfg(feature = "pg18")]
            self.all(it.groupexprs);
            self.some(it.tablefunc.cast());
            self.some(it.tablesample.cast());
            self.as_origin(SqlOrigin::Policy, |inner| inner.all(it.securityQuals));
        }
    }

    /// # Safety
    ///
    /// `entry` is one of a relation.
    unsafe fn table(&mut self, entry: &pg_sys::RangeTblEntry) {
        let kind = entry.relkind as u8;
        // Until version 15 a view leaves a mark of itself in its own query.
        if kind != pg_sys::RELKIND_VIEW {
            self.relations.push(entry.relid);
            self.note_named(entry.relid);
            self.relation(entry.relid, kind);
        }
    }

    fn note_named(&mut self, relation: Oid) {
        if self.origin.is_of_author() && !self.named_by_author.contains(&relation) {
            self.named_by_author.push(relation);
        }
    }

    /// # Safety
    ///
    /// `entry` is one of a subquery.
    unsafe fn subquery(&mut self, entry: &pg_sys::RangeTblEntry) {
        // SAFETY: by this function's contract.
        unsafe {
            let Some(view) = relation::view_of(entry) else { return self.query(entry.subquery) };
            self.note_named(view);
            self.relation(view, pg_sys::RELKIND_VIEW);
            let origin = match self.origin {
                SqlOrigin::Policy | SqlOrigin::ListedView => self.origin,
                _ if self.scope.lists_relation(view) => SqlOrigin::ListedView,
                _ => SqlOrigin::View,
            };
            self.as_origin(origin, |inner| inner.query(entry.subquery));
        }
    }

    fn relation(&mut self, relation: Oid, kind: u8) {
        let Some(refusal) = self.scope.refusal(relation, kind, self.origin) else { return };
        let name = relation::name(relation);
        let bare = name.rsplit('.').next().unwrap_or_default().trim_matches('"');
        let written = self.named.iter().find(|it| it.name == bare && self.origin.is_of_author());
        let is_shown = written.is_some() || crate::pg::server::role::may_select(relation);
        let shown = is_shown.then_some(name.as_str());
        let problem =
            Problem::new(ProblemKind::Relation, shown.unwrap_or(""), refusal.detail(shown));
        let place = written.and_then(|it| character(self.text, it.location));
        self.add(problem.hint(refusal.hint()).at(place));
    }

    /// Looks at a function that is called; `is_executed`: PostgreSQL asks for the right to.
    fn function(&mut self, oid: Oid, is_executed: bool) {
        if oid == pg_sys::InvalidOid || !self.seen_functions.insert((oid, self.origin)) {
            return;
        }
        let aggregate = function::of_aggregate(oid);
        aggregate.into_iter().for_each(|part| self.function(part, false));
        if self.scope.lists_function(oid) {
            self.calls_listed = true;
        } else if self.refuses(oid) {
            return;
        }
        if is_executed && !function::may_execute(oid) {
            let signature = function::signature(oid);
            let detail = format!("permission denied for function {signature}");
            self.problem(ProblemKind::Permission, &signature, &detail);
        }
    }

    /// Whether a function is refused, which is noted.
    fn refuses(&mut self, oid: Oid) -> bool {
        let Some(facts) = function::facts(oid) else { return false };
        let catalogs = self.scope.allows_catalogs();
        let refusal = function_refusal(&facts, self.origin, catalogs);
        if let Some(refusal) = &refusal {
            self.refuse(&facts.signature, refusal);
        }
        refusal.is_some()
    }

    fn refuse(&mut self, signature: &str, refusal: &FunctionRefusal) {
        let detail = refusal.detail(signature);
        let problem = Problem::new(ProblemKind::Function, signature, detail);
        let place = self.place();
        self.add(problem.hint(refusal.hint(signature)).at(place));
    }

    /// Looks at what PostgreSQL calls by itself for values of a type.
    fn data_type(&mut self, kind: Oid, makes: bool) {
        let calls = self.seen_types.calls(kind, makes);
        calls.functions.into_iter().for_each(|oid| self.function(oid, false));
        let origin = if self.origin.is_of_author() { SqlOrigin::View } else { self.origin };
        for check in calls.checks {
            // SAFETY: the tree of a domain's check.
            self.as_origin(origin, |inner| unsafe { inner.visit(check) });
        }
    }

    fn operator(&mut self, operator: Oid) {
        function::of_operator(operator).into_iter().for_each(|oid| self.function(oid, false));
    }

    fn as_origin(&mut self, origin: SqlOrigin, work: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.origin, origin);
        work(self);
        self.origin = before;
    }

    /// # Safety
    ///
    /// `list` is NULL or a list of nodes.
    unsafe fn all(&mut self, list: *mut pg_sys::List) {
        // SAFETY: by this function's contract.
        unsafe { self.some(list.cast()) };
    }

    /// # Safety
    ///
    /// `node` is NULL or a node.
    unsafe fn some(&mut self, node: *mut Node) {
        if !node.is_null() {
            // SAFETY: by this function's contract.
            unsafe { self.visit(node) };
        }
    }

    fn place(&self) -> Option<i32> {
        if self.origin.is_of_author() { character(self.text, self.location) } else { None }
    }

    fn problem(&mut self, kind: ProblemKind, node: &str, detail: &str) {
        let place = self.place();
        self.add(Problem::new(kind, node, detail).at(place));
    }

    fn add(&mut self, problem: Problem) {
        let is_new = |it: &Problem| (&it.node, &it.detail) != (&problem.node, &problem.detail);
        if self.problems.iter().all(is_new) {
            self.problems.push(problem);
        }
    }

    /// # Safety
    ///
    /// `node` is an expression.
    unsafe fn expression(&mut self, node: *mut Node) {
        // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
        unsafe {
            let tag = (*node).type_;
            walk::functions(node).into_iter().for_each(|oid| self.function(oid, true));
            nodes::operators(node).into_iter().for_each(|oid| self.operator(oid));
            self.data_type(pg_sys::exprType(node), nodes::makes_values(tag));
        }
    }

    /// # Safety
    ///
    /// `node` is a clause.
    unsafe fn clause(&mut self, node: *mut Node) {
        // SAFETY: by this function's contract.
        let calls = unsafe { nodes::clause_calls(node) };
        calls.functions.into_iter().for_each(|oid| self.function(oid, false));
        calls.operators.into_iter().for_each(|oid| self.operator(oid));
        calls.made.into_iter().for_each(|oid| self.data_type(oid, true));
        for (name, like) in calls.goes_with {
            match self.scope.lists_function(like) {
                true => self.calls_listed = true,
                false => self.like_function(name, like),
            }
        }
    }

    fn like_function(&mut self, name: &str, like: Oid) {
        let Some(facts) = function::facts(like) else { return };
        let catalogs = self.scope.allows_catalogs();
        if let Some(refusal) = function_refusal(&facts, self.origin, catalogs) {
            let problem = Problem::new(ProblemKind::Function, name, refusal.detail(name));
            let place = self.place();
            self.add(problem.hint(refusal.hint(&facts.signature)).at(place));
        }
    }
}

impl NodeVisitor for Inspection<'_> {
    unsafe fn visit(&mut self, node: *mut Node) {
        // SAFETY: by the trait's contract; nodes are read after their tag has been looked at.
        unsafe {
            let tag = (*node).type_;
            if tag == NodeTag::T_Query {
                return self.query(node.cast());
            }
            let Some(role) = nodes::role(tag) else {
                let detail =
                    format!("the statement has a node of type {tag:?}, which is not known");
                return self.problem(ProblemKind::Unknown, &format!("{tag:?}"), &detail);
            };
            let before = self.location;
            let location = pg_sys::exprLocation(node);
            self.location = if location >= 0 { location } else { before };
            match role {
                NodeRole::Expression => self.expression(node),
                NodeRole::Clause => self.clause(node),
                NodeRole::Plain => {}
            }
            walk::children(node, self);
            self.location = before;
        }
    }
}
