//! What PostgreSQL knows of a function.

use std::ffi::CStr;

use pgrx::FromDatum;
use pgrx::prelude::*;

use crate::guarded_sql::function::{FunctionFacts, Volatility};

/// The least OID that an object of a user may have.
const FIRST_OF_USERS: u32 = pg_sys::FirstNormalObjectId;

/// The OID of the language C, which no header exports.
const C_LANGUAGE: u32 = 13;

/// The number of the function that compares in an operator class of B-trees (BTORDER_PROC).
const COMPARES: i16 = 1;

/// Whether an object came with PostgreSQL.
pub fn is_builtin(object: pg_sys::Oid) -> bool {
    object.to_u32() < FIRST_OF_USERS
}

/// What is known of a function; `None` where it is gone.
pub fn facts(function: pg_sys::Oid) -> Option<FunctionFacts> {
    let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
    // SAFETY: a look-up by OID; the row is released after what is wanted of it has been copied.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache, function.into());
        if row.is_null() {
            return None;
        }
        let form = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>();
        let attribute = |number: u32| {
            let mut is_null = false;
            let datum = pg_sys::SysCacheGetAttr(cache, row, number as i16, &raw mut is_null);
            (datum, is_null)
        };
        let (source, no_source) = attribute(pg_sys::Anum_pg_proc_prosrc);
        let (settings, no_settings) = attribute(pg_sys::Anum_pg_proc_proconfig);
        let is_c = form.prolang.to_u32() == C_LANGUAGE;
        let symbol = if is_c { String::from_datum(source, no_source) } else { None };
        let facts = FunctionFacts {
            name: CStr::from_ptr(form.proname.data.as_ptr()).to_string_lossy().into_owned(),
            signature: signature(function),
            is_builtin: is_builtin(function),
            symbol,
            volatility: volatility(form.provolatile as u8),
            is_security_definer: form.prosecdef,
            settings: names(Vec::<Option<String>>::from_datum(settings, no_settings)),
        };
        pg_sys::ReleaseSysCache(row);
        Some(facts)
    }
}

fn volatility(mark: u8) -> Volatility {
    match mark {
        b'i' => Volatility::Immutable,
        b's' => Volatility::Stable,
        _ => Volatility::Volatile,
    }
}

/// The names in a list of "name=value".
fn names(settings: Option<Vec<Option<String>>>) -> Vec<String> {
    let settings = settings.unwrap_or_default().into_iter().flatten();
    settings.map(|it| it.split('=').next().unwrap_or_default().to_owned()).collect()
}

/// A function with the types of its arguments, as the caller would write it.
pub fn signature(function: pg_sys::Oid) -> String {
    // SAFETY: a look-up by OID, which gives a C string of its own for whatever OID.
    unsafe {
        let text = pg_sys::format_procedure(function);
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

/// Whether the caller may execute a function.
pub fn may_execute(function: pg_sys::Oid) -> bool {
    let mode = pg_sys::ACL_EXECUTE.into();
    // SAFETY: a look-up by OID of a function that was found.
    #[cfg(feature = "pg15")]
    let answer = unsafe { pg_sys::pg_proc_aclcheck(function, pg_sys::GetUserId(), mode) };
    // SAFETY: as above.
    #[cfg(not(feature = "pg15"))]
    let answer = unsafe {
        let class = pg_sys::ProcedureRelationId;
        pg_sys::object_aclcheck(class, function, pg_sys::GetUserId(), mode)
    };
    answer == pg_sys::AclResult::ACLCHECK_OK
}

/// The functions behind an operator: its own, and those of operator classes that compare and hash by it.
pub fn of_operator(operator: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    if operator == pg_sys::InvalidOid || is_builtin(operator) {
        return Vec::new();
    }
    let (mut left, mut right) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
    // SAFETY: look-ups by OID, which write into variables of ours.
    unsafe {
        let own = pg_sys::get_opcode(operator);
        pg_sys::get_op_hash_functions(operator, &raw mut left, &raw mut right);
        [own, left, right, comparison(operator)].into_iter().filter(is_valid).collect()
    }
}

/// The function of an operator class that compares by an operator.
///
/// # Safety
///
/// `operator` is an operator.
unsafe fn comparison(operator: pg_sys::Oid) -> pg_sys::Oid {
    let (mut family, mut kind, mut strategy) =
        (pg_sys::InvalidOid, pg_sys::InvalidOid, Default::default());
    // SAFETY: look-ups by OID, which write into variables of ours.
    unsafe {
        let is_order = pg_sys::get_ordering_op_properties(
            operator,
            &raw mut family,
            &raw mut kind,
            &raw mut strategy,
        );
        match is_order {
            true => pg_sys::get_opfamily_proc(family, kind, kind, COMPARES),
            false => pg_sys::InvalidOid,
        }
    }
}

/// The columns of pg_aggregate with functions, and the one with an operator.
const AGGREGATE_FUNCTIONS: std::ops::RangeInclusive<i16> = 4..=11;
const AGGREGATE_OPERATOR: i16 = 16;

/// The functions behind an aggregate.
pub fn of_aggregate(aggregate: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    if is_builtin(aggregate) {
        return Vec::new();
    }
    let cache = pg_sys::SysCacheIdentifier::AGGFNOID as i32;
    // SAFETY: a look-up by OID; the row is released after its OIDs, none of which is NULL, have been copied.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache, aggregate.into());
        if row.is_null() {
            return Vec::new();
        }
        let oid = |column: i16| {
            let mut is_null = false;
            let datum = pg_sys::SysCacheGetAttr(cache, row, column, &raw mut is_null);
            pg_sys::Oid::from_datum(datum, is_null).unwrap_or(pg_sys::InvalidOid)
        };
        let functions: Vec<pg_sys::Oid> = AGGREGATE_FUNCTIONS.map(oid).collect();
        let operator = oid(AGGREGATE_OPERATOR);
        pg_sys::ReleaseSysCache(row);
        functions.into_iter().filter(is_valid).chain(of_operator(operator)).collect()
    }
}

fn is_valid(oid: &pg_sys::Oid) -> bool {
    *oid != pg_sys::InvalidOid
}
