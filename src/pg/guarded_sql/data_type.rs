//! Which functions does PostgreSQL call by itself for values of a type?
//!
//! Those that write and compare values where they are read, and where they are made also those that read a
//! text and the checks of domains. Types that came with PostgreSQL have none but its own.

use std::collections::HashSet;

use pgrx::PgList;
use pgrx::prelude::*;

use super::function::is_builtin;

/// What is called for values of types.
#[derive(Default)]
pub struct TypeCalls {
    /// Functions.
    pub functions: Vec<pg_sys::Oid>,
    /// Expressions of checks, as trees.
    pub checks: Vec<*mut pg_sys::Node>,
}

/// Types that have been looked at.
#[derive(Default)]
pub struct SeenTypes {
    read: HashSet<pg_sys::Oid>,
    made: HashSet<pg_sys::Oid>,
}

impl SeenTypes {
    /// What is called where values of a type are read, and if `makes` where they are made; nothing that has been
    /// said before.
    pub fn calls(&mut self, kind: pg_sys::Oid, makes: bool) -> TypeCalls {
        let mut calls = TypeCalls::default();
        let mut waiting = vec![kind];
        while let Some(kind) = waiting.pop() {
            if kind == pg_sys::InvalidOid || is_builtin(kind) {
                continue;
            }
            if self.read.insert(kind) {
                // SAFETY: the type of an expression.
                unsafe { note_read(kind, &mut calls) };
            }
            if makes && self.made.insert(kind) {
                // SAFETY: as above.
                unsafe { note_made(kind, &mut calls) };
            } else if makes {
                continue;
            }
            waiting.extend(parts_of(kind).into_iter().filter(|it| self.is_new(*it, makes)));
        }
        calls.functions.retain(|it| *it != pg_sys::InvalidOid && !is_builtin(*it));
        calls
    }

    fn is_new(&self, kind: pg_sys::Oid, makes: bool) -> bool {
        let seen = if makes { &self.made } else { &self.read };
        !seen.contains(&kind)
    }
}

/// Notes what writes, compares and hashes values of a type, and makes JSON of them.
///
/// # Safety
///
/// `kind` is a type that is there.
unsafe fn note_read(kind: pg_sys::Oid, calls: &mut TypeCalls) {
    let wanted =
        pg_sys::TYPECACHE_EQ_OPR | pg_sys::TYPECACHE_CMP_PROC | pg_sys::TYPECACHE_HASH_PROC;
    // SAFETY: by this function's contract; look-ups by OID, which write into variables of ours.
    unsafe {
        let cached = *pg_sys::lookup_type_cache(kind, wanted as i32);
        let equals = pg_sys::get_opcode(cached.eq_opr);
        calls.functions.extend([equals, cached.cmp_proc, cached.hash_proc]);
        let (mut output, mut is_long) = (pg_sys::InvalidOid, false);
        if cached.typtype as u8 != pg_sys::TYPTYPE_PSEUDO {
            pg_sys::getTypeOutputInfo(kind, &raw mut output, &raw mut is_long);
        }
        let mut cast = pg_sys::InvalidOid;
        let way = pg_sys::find_coercion_pathway(
            pg_sys::JSONOID,
            kind,
            pg_sys::CoercionContext::COERCION_EXPLICIT,
            &raw mut cast,
        );
        let is_call = way == pg_sys::CoercionPathType::COERCION_PATH_FUNC;
        calls.functions.extend([output, if is_call { cast } else { pg_sys::InvalidOid }]);
    }
}

/// Notes what makes values of a type, and the checks of a domain.
///
/// # Safety
///
/// `kind` is a type that is there.
unsafe fn note_made(kind: pg_sys::Oid, calls: &mut TypeCalls) {
    let wanted = pg_sys::TYPECACHE_RANGE_INFO | pg_sys::TYPECACHE_DOMAIN_CONSTR_INFO;
    // SAFETY: by this function's contract; look-ups by OID, which write into variables of ours.
    unsafe {
        let cached = *pg_sys::lookup_type_cache(kind, wanted as i32);
        let (mut input, mut element) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        if cached.typtype as u8 != pg_sys::TYPTYPE_PSEUDO {
            pg_sys::getTypeInputInfo(kind, &raw mut input, &raw mut element);
        }
        calls.functions.extend([
            input,
            cached.rng_cmp_proc_finfo.fn_oid,
            cached.rng_canonical_finfo.fn_oid,
        ]);
        if cached.typtype as u8 == pg_sys::TYPTYPE_DOMAIN {
            calls.checks.extend(domain_checks(kind));
        }
    }
}

/// The expressions that a domain checks, with those of the domains that it is made of.
///
/// # Safety
///
/// `domain` is a domain.
unsafe fn domain_checks(domain: pg_sys::Oid) -> Vec<*mut pg_sys::Node> {
    // SAFETY: by this function's contract; the reference lies in the current memory context, as the list that
    // PostgreSQL makes in it does.
    unsafe {
        let size = size_of::<pg_sys::DomainConstraintRef>();
        let reference = pg_sys::palloc0(size).cast::<pg_sys::DomainConstraintRef>();
        pg_sys::InitDomainConstraintRef(domain, reference, pg_sys::CurrentMemoryContext, false);
        let constraints =
            PgList::<pg_sys::DomainConstraintState>::from_pg((*reference).constraints);
        let checks = constraints.iter_ptr().map(|it| (*it).check_expr.cast::<pg_sys::Node>());
        checks.filter(|check| !check.is_null()).collect()
    }
}

/// The types that a type is made of: of elements, columns, bounds, or the one behind a domain.
fn parts_of(kind: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    // SAFETY: look-ups by OID, which give an invalid OID where there is nothing of the kind.
    unsafe {
        match pg_sys::get_typtype(kind) as u8 {
            pg_sys::TYPTYPE_COMPOSITE => columns(kind),
            pg_sys::TYPTYPE_DOMAIN => vec![pg_sys::getBaseType(kind)],
            pg_sys::TYPTYPE_RANGE => vec![pg_sys::get_range_subtype(kind)],
            pg_sys::TYPTYPE_MULTIRANGE => vec![pg_sys::get_multirange_range(kind)],
            _ => vec![pg_sys::get_element_type(kind)],
        }
    }
}

/// # Safety
///
/// `kind` is a composite type.
unsafe fn columns(kind: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    // SAFETY: by this function's contract; the description is a copy of the current memory context.
    unsafe {
        let description = pg_sys::lookup_rowtype_tupdesc_copy(kind, -1);
        let columns = pgrx::tupdesc::PgTupleDesc::from_pg_unchecked(description);
        columns.iter().filter(|it| !it.attisdropped).map(|it| it.atttypid).collect()
    }
}
