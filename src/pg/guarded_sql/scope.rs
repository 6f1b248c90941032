//! What the options allow, by OID.

use std::collections::HashSet;
use std::ffi::{CStr, CString};

use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::guarded_sql::SqlOrigin;
use crate::guarded_sql::options::GuardOptions;
use crate::guarded_sql::relation::{
    RelationFacts, RelationRefusal, RelationScope, relation_refusal,
};
use crate::pg::server::sql::{self, query};

/// The schema of TOAST tables.
const TOAST: u32 = 99;

/// What may be read and called, by the options and for the caller.
#[derive(Debug)]
pub struct GuardScope {
    schemas: HashSet<Oid>,
    tables: HashSet<Oid>,
    functions: HashSet<Oid>,
    information_schema: Oid,
    relations: RelationScope,
}

impl GuardScope {
    /// Looks up what the options name. Fails with an undefined object where something is not there.
    pub fn of(options: &GuardOptions) -> Result<GuardScope> {
        let none = Vec::new();
        let schemas = options.schemas.as_ref().unwrap_or(&none);
        let tables = options.tables.as_ref().unwrap_or(&none);
        let relations =
            RelationScope { has_lists: options.has_lists(), catalogs: options.catalogs };
        Ok(GuardScope {
            schemas: schemas.iter().map(|it| schema(it)).collect::<Result<_>>()?,
            tables: found("relation", tables, query!(guarded_sql.relations))?,
            functions: found("function", &options.functions, query!(guarded_sql.functions))?,
            information_schema: namespace(c"information_schema"),
            relations,
        })
    }

    /// Whether system catalogs may be read.
    pub fn allows_catalogs(&self) -> bool {
        self.relations.catalogs
    }

    /// Whether the options name a function.
    pub fn lists_function(&self, function: Oid) -> bool {
        self.functions.contains(&function)
    }

    /// The relations and the schemas that the options name; `None` where they name neither.
    pub fn lists(&self) -> Option<(Vec<Oid>, Vec<Oid>)> {
        let all = |set: &HashSet<Oid>| set.iter().copied().collect();
        self.relations.has_lists.then(|| (all(&self.tables), all(&self.schemas)))
    }

    /// The functions that the options name.
    pub fn functions(&self) -> &HashSet<Oid> {
        &self.functions
    }

    /// Whether the options name a relation.
    pub fn lists_relation(&self, relation: Oid) -> bool {
        self.tables.contains(&relation)
    }

    /// Why words of `origin` must not read a relation of this kind; `None`: they may.
    pub fn refusal(&self, relation: Oid, kind: u8, origin: SqlOrigin) -> Option<RelationRefusal> {
        // SAFETY: a look-up by OID.
        let schema = unsafe { pg_sys::get_rel_namespace(relation) };
        let is_system = [pg_sys::PG_CATALOG_NAMESPACE, TOAST].contains(&schema.to_u32())
            || schema == self.information_schema;
        let facts = RelationFacts {
            is_listed: self.tables.contains(&relation),
            has_listed_schema: self.schemas.contains(&schema),
            is_system,
            is_foreign: kind == pg_sys::RELKIND_FOREIGN_TABLE,
        };
        relation_refusal(facts, origin, self.relations)
    }
}

fn namespace(name: &CStr) -> Oid {
    // SAFETY: a look-up by name; an invalid OID where there is none.
    unsafe { pg_sys::get_namespace_oid(name.as_ptr(), true) }
}

fn schema(name: &str) -> Result<Oid> {
    let found = CString::new(name).map_or(pg_sys::InvalidOid, |name| namespace(&name));
    match found == pg_sys::InvalidOid {
        true => Err(missing("schema", name)),
        false => Ok(found),
    }
}

/// The OIDs that `statement` finds for names; each must have one.
fn found(what: &str, names: &[String], statement: &str) -> Result<HashSet<Oid>> {
    if names.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = sql::rows(statement, &[names.to_vec().into()], |row| {
        Ok((row.get::<i64>(1)?, row.get::<Oid>(2)?))
    })?;
    for (place, name) in (1..).zip(names) {
        if !rows.iter().any(|(at, oid)| *at == Some(place) && oid.is_some()) {
            return Err(missing(what, name)
                .hint("A name without a schema is looked up in the search path."));
        }
    }
    Ok(rows.into_iter().filter_map(|(_, oid)| oid).collect())
}

fn missing(what: &str, name: &str) -> Error {
    let shown: String = name.chars().take(80).collect();
    let message = format!("{what} \"{shown}\" of the options does not exist");
    Error::new(ErrorKind::UndefinedObject, message)
}
