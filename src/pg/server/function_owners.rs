//! Whose functions may run?
//!
//! A search in a pipeline that its caller has not named runs no code of roles that he has no reason to trust
//! (`catalog/stranger.rs`). What is looked at for that may be another thing a moment later: CREATE INDEX and CREATE
//! STATISTICS wait for no reader, and the planner computes what is constant in their expressions. So PostgreSQL is asked
//! to tell of each function as it makes it ready to run, and one that is of no superuser is refused there.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

use super::error::report;
use super::function_watch::FunctionWatch;
use super::role::role_name;
use crate::error::{Error, ErrorKind};

/// The hook that was there before ours, to be called first.
static mut BEFORE: pg_sys::needs_fmgr_hook_type = None;

thread_local! {
    static IS_REGISTERED: Cell<bool> = const { Cell::new(false) };
    /// How many searches are under way that run functions of superusers alone: one may be part of another.
    static SEARCHES: Cell<u32> = const { Cell::new(0) };
    /// Functions that are of superusers.
    static KNOWN: RefCell<HashSet<Oid>> = RefCell::new(HashSet::new());
}

/// While it lives, no function runs but those of superusers.
pub struct SuperusersFunctions {
    _watch: FunctionWatch,
}

impl SuperusersFunctions {
    /// Begins.
    pub fn alone() -> SuperusersFunctions {
        SEARCHES.set(SEARCHES.get() + 1);
        register();
        SuperusersFunctions { _watch: FunctionWatch::begin(expect_superusers) }
    }
}

impl Drop for SuperusersFunctions {
    fn drop(&mut self) {
        SEARCHES.set(SEARCHES.get() - 1);
        if SEARCHES.get() == 0 {
            KNOWN.take();
            unregister();
        }
    }
}

/// Has PostgreSQL ask whether a function may become part of a statement, for the time of a search.
fn register() {
    // SAFETY: a backend has one thread that runs PostgreSQL's code, and this is it.
    unsafe {
        if !IS_REGISTERED.replace(true) {
            BEFORE = pg_sys::needs_fmgr_hook;
            pg_sys::needs_fmgr_hook = Some(is_needed);
        }
    }
}

/// Takes the hook back, unless a library that was loaded meanwhile has its own before it and calls ours.
fn unregister() {
    // SAFETY: as above.
    unsafe {
        let last = pg_sys::needs_fmgr_hook.map(|hook| hook as usize);
        if last == Some(is_needed as *const () as usize) {
            pg_sys::needs_fmgr_hook = BEFORE;
            IS_REGISTERED.set(false);
        }
    }
}

fn expect_superusers(function: Oid) {
    if may_run(function) {
        return;
    }
    let owner = owner(function).map_or_else(String::new, role_name);
    let message = format!("code of role \"{owner}\" would run for a pipeline that was not named");
    report(
        &Error::new(ErrorKind::Forbidden, message)
            .hint("Name the pipeline with pipeline => if you trust that role with your rights."),
    );
}

/// That a function is not to become part of the statement that calls it, in which nobody would hear of it.
///
/// # Safety
///
/// To be called by PostgreSQL.
#[pg_guard]
unsafe extern "C-unwind" fn is_needed(function: Oid) -> bool {
    // SAFETY: PostgreSQL passes what it would pass to the hook before ours.
    let before = unsafe {
        BEFORE.is_some_and(|before| {
            pg_sys::submodules::ffi::pg_guard_ffi_boundary(|| before(function))
        })
    };
    before || !may_run(function)
}

fn may_run(function: Oid) -> bool {
    if SEARCHES.get() == 0 || KNOWN.with_borrow(|known| known.contains(&function)) {
        return true;
    }
    // SAFETY: a look-up by OID.
    let is_known = owner(function).is_some_and(|owner| unsafe { pg_sys::superuser_arg(owner) });
    if is_known {
        KNOWN.with_borrow_mut(|known| known.insert(function));
    }
    is_known
}

/// The owner of a function; `None` where it is gone.
fn owner(function: Oid) -> Option<Oid> {
    let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
    // SAFETY: a look-up by OID; the row is released after its owner has been copied.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache, function.into());
        if row.is_null() {
            return None;
        }
        let owner = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>()).proowner;
        pg_sys::ReleaseSysCache(row);
        Some(owner)
    }
}
