//! How the access method describes itself to PostgreSQL.

use pgrx::prelude::*;
use pgrx::{AllocatedByPostgres, PgBox};

use super::{build, cost, insert, options, scan, vacuum};
use crate::pg::index::access_method;

#[pg_extern(sql = false)]
fn rag_hnsw_handler(
    _fcinfo: pg_sys::FunctionCallInfo,
) -> PgBox<pg_sys::IndexAmRoutine, AllocatedByPostgres> {
    let mut routine = access_method::new_routine();
    describe(&mut routine);
    name_callbacks(&mut routine);
    routine.into_pg_boxed()
}

fn describe(routine: &mut pg_sys::IndexAmRoutine) {
    routine.amstrategies = 0;
    routine.amsupport = 1;
    routine.amcanorderbyop = true;
    routine.amcanmulticol = true;
    routine.amoptionalkey = true;
    routine.amsearcharray = true;
    routine.amsearchnulls = true;
    routine.amusemaintenanceworkmem = false;
    routine.amparallelvacuumoptions = pg_sys::VACUUM_OPTION_PARALLEL_BULKDEL as u8;
    routine.amkeytype = pg_sys::InvalidOid;
    #[cfg(any(feature = "pg17", feature = "pg18"))]
    {
        // The builder's threads are its own.
        routine.amcanbuildparallel = false;
    }
}

fn name_callbacks(routine: &mut pg_sys::IndexAmRoutine) {
    routine.ambuild = Some(build::ambuild);
    routine.ambuildempty = Some(build::ambuildempty);
    routine.ambuildphasename = Some(build::ambuildphasename);
    routine.aminsert = Some(insert::aminsert);
    routine.ambulkdelete = Some(vacuum::ambulkdelete);
    routine.amvacuumcleanup = Some(vacuum::amvacuumcleanup);
    routine.amcostestimate = Some(cost::amcostestimate);
    routine.amoptions = Some(options::amoptions);
    routine.amvalidate = Some(amvalidate);
    routine.ambeginscan = Some(scan::ambeginscan);
    routine.amrescan = Some(scan::amrescan);
    routine.amgettuple = Some(scan::amgettuple);
    routine.amendscan = Some(scan::amendscan);
}

/// An operator class of vectors is valid if its support function says what it stands for, one
/// to filter by if it has an operator for equality.
#[pg_guard]
unsafe extern "C-unwind" fn amvalidate(opclass: pg_sys::Oid) -> bool {
    let Some((family, input)) = access_method::operator_class(opclass) else { return false };
    // SAFETY: syscache look-ups.
    unsafe {
        let has_support = pg_sys::get_opfamily_proc(family, input, input, 1) != pg_sys::InvalidOid;
        let wanted = if has_support { 1 } else { pg_sys::BTEqualStrategyNumber as i16 };
        pg_sys::get_opfamily_member(family, input, input, wanted) != pg_sys::InvalidOid
    }
}
