//! Starts workers as the server starts, where the library is preloaded: for what was left when it
//! stopped. Without preloading, the first commit or call does that.

use std::time::Duration;

use pgrx::bgworkers::{BackgroundWorkerBuilder, BgWorkerStartTime};
use pgrx::prelude::*;

use super::registry;
use crate::pg::server::transaction::Transactions;

/// Registers the launcher with the postmaster where the library is preloaded.
pub fn register_at_boot() {
    // SAFETY: a flag that the postmaster sets while it loads shared_preload_libraries.
    if unsafe { pg_sys::process_shared_preload_libraries_in_progress } {
        BackgroundWorkerBuilder::new("pg_rag launcher")
            .set_type("pg_rag launcher")
            .set_library("pg_rag")
            .set_function("pg_rag_launcher_main")
            .enable_spi_access()
            .set_start_time(BgWorkerStartTime::RecoveryFinished)
            .set_restart_time(None)
            .load();
    }
}

/// The launcher's short life: every database is put in line, and its worker finds out whether
/// there is something to do.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_rag_launcher_main(_argument: pg_sys::Datum) {
    // SAFETY: as autovacuum's launcher, connected to no database, so that only shared catalogs can
    // be read.
    unsafe {
        pg_sys::BackgroundWorkerUnblockSignals();
        pg_sys::BackgroundWorkerInitializeConnectionByOid(
            pg_sys::InvalidOid,
            pg_sys::InvalidOid,
            0,
        );
    }
    match Transactions::OfWorker.run(|| Ok(databases())) {
        Ok(databases) => {
            let wait = |database| registry::put_in_line(database, Duration::ZERO);
            databases.into_iter().for_each(wait);
            registry::start_waiting();
        }
        Err(failure) => log!("pg_rag launcher: {}", failure.message),
    }
}

/// Databases that can be connected to.
fn databases() -> Vec<pg_sys::Oid> {
    let mut databases = Vec::new();
    // SAFETY: a scan of a catalog that is opened here and closed here; its rows begin with their
    // fixed columns.
    unsafe {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let table = pg_sys::table_open(pg_sys::DatabaseRelationId, lock);
        let scan = pg_sys::table_beginscan_catalog(table, 0, std::ptr::null_mut());
        loop {
            let row = pg_sys::heap_getnext(scan, pg_sys::ScanDirection::ForwardScanDirection);
            if row.is_null() {
                break;
            }
            let columns = pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_database>();
            if (*columns).datallowconn {
                databases.push((*columns).oid);
            }
        }
        if let Some(end) = (*(*table).rd_tableam).scan_end {
            end(scan);
        }
        pg_sys::table_close(table, lock);
    }
    databases
}
