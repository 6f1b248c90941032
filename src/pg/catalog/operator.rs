//! By which operators values are compared, whatever the role and its search path.
//!
//! A statement that runs as its caller, a policy and a view name each operator with its schema. A
//! bare `=` would be looked up in the caller's search path, where an operator for just these types
//! goes before PostgreSQL's own, and any role that may create objects in one of its schemas could
//! have code of its own run with the rights of others.

use std::ffi::CStr;

use pgrx::prelude::*;
use pgrx::{PgList, spi};

use crate::retrieve::filter::Comparison;

/// How the values of a type are compared: by its default operator class, as indexes, ORDER BY and
/// DISTINCT do.
pub struct Operators {
    /// A family of B-tree operators; none for types that have no order.
    family: pg_sys::Oid,
    /// The type that they take, `text` for `varchar`.
    input: pg_sys::Oid,
    /// The operator by which values are equal; none for types that have none.
    equal: pg_sys::Oid,
    /// What makes a value of the type one that they take, as SQL behind the value.
    pub cast: String,
}

impl Operators {
    /// The operators of a type.
    pub fn of(kind: pg_sys::Oid) -> Self {
        let flags = pg_sys::TYPECACHE_EQ_OPR | pg_sys::TYPECACHE_BTREE_OPFAMILY;
        // SAFETY: a look-up of a type that is that of a column; entries of the cache stay.
        let known = unsafe { &*pg_sys::lookup_type_cache(kind, flags as i32) };
        let has_order = known.btree_opf != pg_sys::InvalidOid;
        let input = if has_order { known.btree_opintype } else { known.hash_opintype };
        let cast = cast(kind, input);
        Operators { family: known.btree_opf, input, equal: known.eq_opr, cast }
    }

    /// Two values of the type that are equal, as SQL.
    pub fn equal_to(&self, one: &str, other: &str) -> String {
        let (cast, equal) = (&self.cast, self.operator(Comparison::Equal));
        format!("{one}{cast} {equal} {other}{cast}")
    }

    /// The operator of a comparison, as SQL. [`Comparison::NotEqual`] has `=`, too: what it says of
    /// two values is to be turned round. A type that has no such operator gets PostgreSQL's words
    /// for that.
    pub fn operator(&self, comparison: Comparison) -> String {
        let (strategy, name) = match comparison {
            Comparison::Equal | Comparison::NotEqual => return named(self.equal, "="),
            Comparison::Less => (pg_sys::BTLessStrategyNumber, "<"),
            Comparison::LessOrEqual => (pg_sys::BTLessEqualStrategyNumber, "<="),
            Comparison::Greater => (pg_sys::BTGreaterStrategyNumber, ">"),
            Comparison::GreaterOrEqual => (pg_sys::BTGreaterEqualStrategyNumber, ">="),
        };
        // SAFETY: a look-up in the catalog, which finds nothing in a family that is none.
        let found = unsafe {
            pg_sys::get_opfamily_member(self.family, self.input, self.input, strategy as i16)
        };
        named(found, name)
    }
}

/// Makes a value of the type `kind` one of `input`, where these are two types and not a type and a
/// kind of types. A domain would else be looked up as itself, among operators of any role.
fn cast(kind: pg_sys::Oid, input: pg_sys::Oid) -> String {
    if input == kind || input == pg_sys::InvalidOid {
        return String::new();
    }
    // SAFETY: a look-up in the catalog.
    let is_pseudo = unsafe { pg_sys::get_typtype(input) } as u8 == pg_sys::TYPTYPE_PSEUDO;
    if is_pseudo { String::new() } else { format!("::{}", type_name(input)) }
}

/// The name of a type as SQL, with its schema and without a modifier: a cast to it neither cuts a text off
/// nor rounds a number, as one to `varchar(3)` or `numeric(5,2)` would. A domain may have a modifier within;
/// see [`base_type`].
pub fn type_name(kind: pg_sys::Oid) -> String {
    // With a modifier given that is none, `bpchar` is not called `character`, which means `character(1)`.
    let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
    // SAFETY: a look-up in the catalog; the name is a C string of this memory context.
    unsafe {
        let name = CStr::from_ptr(pg_sys::format_type_extended(kind, -1, flags as pg_sys::bits16));
        name.to_string_lossy().into_owned()
    }
}

/// The type that a domain is made of in the end; any other type itself.
pub fn base_type(kind: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: a look-up in the catalog of a type that is that of a column.
    unsafe { pg_sys::getBaseType(kind) }
}

/// The type as which values of the type `kind` are compared: of a domain, and of an array of them, what they are made of. A
/// value that no row may have can be compared with those that rows have.
pub fn compared_type(kind: pg_sys::Oid) -> pg_sys::Oid {
    let base = base_type(kind);
    // SAFETY: look-ups in the catalog, which find no type for one that is no array, and no array for some types.
    let array = unsafe {
        let element = pg_sys::get_element_type(base);
        if element == pg_sys::InvalidOid {
            return base;
        }
        pg_sys::get_array_type(base_type(element))
    };
    if array == pg_sys::InvalidOid { base } else { array }
}

/// An operator with its schema, as SQL; where there is none, that of pg_catalog called `name`.
pub fn named(operator: pg_sys::Oid, name: &str) -> String {
    if operator == pg_sys::InvalidOid {
        return format!("OPERATOR(pg_catalog.{name})");
    }
    let (mut names, mut kinds) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: two lists of C strings of this memory context; the first has schema and name.
    let part = unsafe {
        pg_sys::format_operator_parts(operator, &mut names, &mut kinds, false);
        let names = PgList::<std::ffi::c_char>::from_pg(names);
        move |place| names.get_ptr(place).map(|name| CStr::from_ptr(name).to_string_lossy())
    };
    let schema = spi::quote_identifier(part(0).unwrap_or_default());
    format!("OPERATOR({schema}.{})", part(1).unwrap_or_default())
}
