//! How the access method describes itself to PostgreSQL.

use std::sync::OnceLock;

use pgrx::prelude::*;
use pgrx::{AllocatedByPostgres, PgBox};

use super::{MATCH, build, cost, insert, scan, vacuum};
use crate::pg::index::access_method;

#[pg_extern(sql = false)]
fn rag_bm25_handler(
    _fcinfo: pg_sys::FunctionCallInfo,
) -> PgBox<pg_sys::IndexAmRoutine, AllocatedByPostgres> {
    let mut routine = access_method::new_routine();
    describe(&mut routine);
    name_callbacks(&mut routine);
    routine.into_pg_boxed()
}

/// One column, which a query need not restrict: ORDER BY alone is enough.
fn describe(routine: &mut pg_sys::IndexAmRoutine) {
    routine.amstrategies = 3;
    routine.amsupport = 0;
    routine.amcanorderbyop = true;
    routine.amoptionalkey = true;
    routine.amusemaintenanceworkmem = false;
    routine.amparallelvacuumoptions = (pg_sys::VACUUM_OPTION_PARALLEL_BULKDEL
        | pg_sys::VACUUM_OPTION_PARALLEL_COND_CLEANUP) as u8;
    routine.amkeytype = pg_sys::InvalidOid;
}

fn name_callbacks(routine: &mut pg_sys::IndexAmRoutine) {
    routine.ambuild = Some(build::ambuild);
    routine.ambuildempty = Some(build::ambuildempty);
    routine.ambuildphasename = Some(build::ambuildphasename);
    routine.aminsert = Some(insert::aminsert);
    routine.ambulkdelete = Some(vacuum::ambulkdelete);
    routine.amvacuumcleanup = Some(vacuum::amvacuumcleanup);
    routine.amcostestimate = Some(cost::amcostestimate);
    routine.amoptions = Some(amoptions);
    routine.amvalidate = Some(amvalidate);
    routine.ambeginscan = Some(scan::ambeginscan);
    routine.amrescan = Some(scan::amrescan);
    routine.amgettuple = Some(scan::amgettuple);
    routine.amgetbitmap = Some(scan::amgetbitmap);
    routine.amendscan = Some(scan::amendscan);
}

/// There are no options, and each that is given is refused.
#[pg_guard]
unsafe extern "C-unwind" fn amoptions(
    reloptions: pg_sys::Datum,
    validate: bool,
) -> *mut pg_sys::bytea {
    static KIND: OnceLock<pg_sys::relopt_kind::Type> = OnceLock::new();
    // SAFETY: a kind of options without any; PostgreSQL calls this with its reloptions.
    unsafe {
        let kind = *KIND.get_or_init(|| pg_sys::add_reloption_kind());
        pg_sys::build_reloptions(reloptions, validate, kind, 0, std::ptr::null(), 0).cast()
    }
}

/// An operator class is valid if it is for tsvector and has `@@`.
#[pg_guard]
unsafe extern "C-unwind" fn amvalidate(opclass: pg_sys::Oid) -> bool {
    let Some((family, input)) = access_method::operator_class(opclass) else { return false };
    // SAFETY: syscache look-ups.
    unsafe {
        let matching = pg_sys::get_opfamily_member(family, input, pg_sys::TSQUERYOID, MATCH as i16);
        input == pg_sys::TSVECTOROID && matching != pg_sys::InvalidOid
    }
}
