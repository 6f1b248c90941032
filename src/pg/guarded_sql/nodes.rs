//! What does each kind of node call?
//!
//! What is not here is refused: a later version of PostgreSQL may have nodes that call what nobody has looked
//! at.

use pgrx::PgList;
use pgrx::pg_sys::{Node, NodeTag, Oid};
use pgrx::prelude::*;

use super::function::is_builtin;

/// The OID of xpath(text, xml, text[]).
const XPATH: u32 = 2931;

/// What a node is to a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// It has a value of a type, and may call functions.
    Expression,
    /// It has no value, and may call functions.
    Clause,
    /// It calls nothing.
    Plain,
}

/// What a node is; `None` where it is not known.
pub fn role(tag: NodeTag) -> Option<NodeRole> {
    use NodeTag::*;
    Some(match tag {
        T_Var
        | T_Const
        | T_Param
        | T_Aggref
        | T_GroupingFunc
        | T_WindowFunc
        | T_SubscriptingRef
        | T_FuncExpr
        | T_NamedArgExpr
        | T_OpExpr
        | T_DistinctExpr
        | T_NullIfExpr
        | T_ScalarArrayOpExpr
        | T_BoolExpr
        | T_SubLink
        | T_FieldSelect
        | T_FieldStore
        | T_RelabelType
        | T_CoerceViaIO
        | T_ArrayCoerceExpr
        | T_ConvertRowtypeExpr
        | T_CollateExpr
        | T_CaseExpr
        | T_CaseTestExpr
        | T_ArrayExpr
        | T_RowExpr
        | T_RowCompareExpr
        | T_CoalesceExpr
        | T_MinMaxExpr
        | T_SQLValueFunction
        | T_XmlExpr
        | T_NullTest
        | T_BooleanTest
        | T_CoerceToDomain
        | T_CoerceToDomainValue => NodeRole::Expression,
        T_SortGroupClause | T_WindowClause | T_CTECycleClause | T_SetOperationStmt
        | T_RangeTblFunction | T_TableFunc | T_TableSampleClause => NodeRole::Clause,
        T_List | T_TargetEntry | T_FromExpr | T_JoinExpr | T_RangeTblRef | T_GroupingSet
        | T_CommonTableExpr | T_CTESearchClause | T_CaseWhen => NodeRole::Plain,
        other => return role_of_version(other),
    })
}

#[cfg(feature = "pg15")]
fn role_of_version(_tag: NodeTag) -> Option<NodeRole> {
    None
}

#[cfg(feature = "pg16")]
fn role_of_version(tag: NodeTag) -> Option<NodeRole> {
    use NodeTag::*;
    match tag {
        T_JsonValueExpr | T_JsonConstructorExpr | T_JsonIsPredicate => Some(NodeRole::Expression),
        T_JsonFormat | T_JsonReturning => Some(NodeRole::Plain),
        _ => None,
    }
}

#[cfg(not(any(feature = "pg15", feature = "pg16")))]
fn role_of_version(tag: NodeTag) -> Option<NodeRole> {
    use NodeTag::*;
    match tag {
        T_JsonValueExpr
        | T_JsonConstructorExpr
        | T_JsonIsPredicate
        | T_JsonExpr
        | T_JsonBehavior => Some(NodeRole::Expression),
        T_JsonFormat | T_JsonReturning => Some(NodeRole::Plain),
        _ => None,
    }
}

/// Whether an expression may make values of its type, and not only hand on what has been made.
pub fn makes_values(tag: NodeTag) -> bool {
    use NodeTag::*;
    !matches!(
        tag,
        T_Var
            | T_Param
            | T_SubLink
            | T_FieldSelect
            | T_CollateExpr
            | T_CaseExpr
            | T_CaseTestExpr
            | T_CoalesceExpr
            | T_CoerceToDomainValue
            | T_SubscriptingRef
            | T_MinMaxExpr
    )
}

/// The operators of users that an expression uses.
///
/// # Safety
///
/// `node` is an expression.
pub unsafe fn operators(node: *mut Node) -> Vec<Oid> {
    use NodeTag::{T_DistinctExpr, T_NullIfExpr, T_OpExpr, T_RowCompareExpr, T_ScalarArrayOpExpr};
    // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
    unsafe {
        match (*node).type_ {
            T_OpExpr | T_DistinctExpr | T_NullIfExpr => {
                vec![(*node.cast::<pg_sys::OpExpr>()).opno]
            }
            T_ScalarArrayOpExpr => vec![(*node.cast::<pg_sys::ScalarArrayOpExpr>()).opno],
            T_RowCompareExpr => oids((*node.cast::<pg_sys::RowCompareExpr>()).opnos),
            _ => Vec::new(),
        }
    }
}

/// What a clause calls.
#[derive(Debug, Default)]
pub struct ClauseCalls {
    /// Functions.
    pub functions: Vec<Oid>,
    /// Operators.
    pub operators: Vec<Oid>,
    /// Types of which it makes values.
    pub made: Vec<Oid>,
    /// What it does by itself as a function does, by name.
    pub goes_with: Vec<(&'static str, Oid)>,
}

/// What a clause calls.
///
/// # Safety
///
/// `node` is a node of the role [`NodeRole::Clause`].
pub unsafe fn clause_calls(node: *mut Node) -> ClauseCalls {
    use NodeTag::{
        T_CTECycleClause, T_RangeTblFunction, T_SetOperationStmt, T_SortGroupClause, T_TableFunc,
        T_TableSampleClause, T_WindowClause,
    };
    let mut calls = ClauseCalls::default();
    // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
    unsafe {
        match (*node).type_ {
            T_SortGroupClause => calls.operators = ordered_by(node.cast()),
            T_WindowClause => {
                let clause = &*node.cast::<pg_sys::WindowClause>();
                calls.functions = vec![clause.startInRangeFunc, clause.endInRangeFunc];
            }
            T_CTECycleClause => {
                calls.operators = vec![(*node.cast::<pg_sys::CTECycleClause>()).cycle_mark_neop];
            }
            T_SetOperationStmt => {
                let groups = (*node.cast::<pg_sys::SetOperationStmt>()).groupClauses;
                let groups = PgList::<pg_sys::SortGroupClause>::from_pg(groups);
                calls.operators = groups.iter_ptr().flat_map(|it| ordered_by(it)).collect();
            }
            T_RangeTblFunction => {
                calls.made = oids((*node.cast::<pg_sys::RangeTblFunction>()).funccoltypes);
            }
            T_TableFunc => note_table_function(&*node.cast(), &mut calls),
            T_TableSampleClause => {
                let handler = (*node.cast::<pg_sys::TableSampleClause>()).tsmhandler;
                // Those that came with PostgreSQL read a table; their handlers are marked VOLATILE.
                calls.functions.extend((!is_builtin(handler)).then_some(handler));
            }
            _ => {}
        }
    }
    calls
}

/// # Safety
///
/// `clause` is such a clause.
unsafe fn ordered_by(clause: *mut pg_sys::SortGroupClause) -> Vec<Oid> {
    // SAFETY: by this function's contract.
    unsafe { vec![(*clause).eqop, (*clause).sortop] }
}

/// # Safety
///
/// `function` is one of an analysed tree.
unsafe fn note_table_function(function: &pg_sys::TableFunc, calls: &mut ClauseCalls) {
    // SAFETY: by this function's contract.
    calls.made = unsafe { oids(function.coltypes) };
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    let is_xml = true;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    let is_xml = function.functype == pg_sys::TableFuncType::TFT_XMLTABLE;
    if is_xml {
        calls.goes_with.push(("XMLTABLE", Oid::from_u32(XPATH)));
    }
}

/// # Safety
///
/// `list` is NULL or a list of OIDs.
unsafe fn oids(list: *mut pg_sys::List) -> Vec<Oid> {
    // SAFETY: by this function's contract.
    unsafe { PgList::<Oid>::from_pg(list).iter_oid().collect() }
}
