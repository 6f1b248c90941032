//! What functions call in turn while a statement runs.
//!
//! A mark is a promise of a function's owner, and what the inspection sees ends at it. So the same rules are asked
//! again where PostgreSQL makes an expression ready to run: in the bodies of functions, in checks of domains
//! that a constant passes while the statement is analysed, and in what the planner computes beforehand. A
//! function that is marked STABLE and calls one that is not fails there.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{c_int, c_void};

use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

use super::function;
use crate::error::{Error, ErrorKind};
use crate::guarded_sql::function::function_refusal;
use crate::guarded_sql::{Problem, ProblemKind, SqlOrigin};
use crate::pg::server::error::report;

/// The hook that was there before ours, to be called first.
static mut BEFORE: pg_sys::object_access_hook_type = None;

thread_local! {
    static IS_REGISTERED: Cell<bool> = const { Cell::new(false) };
    static IS_ENFORCED: Cell<bool> = const { Cell::new(false) };
    /// Functions that may be called: those that the options name, and those that have been looked at.
    static ALLOWED: RefCell<HashSet<Oid>> = RefCell::new(HashSet::new());
    static REFUSED: RefCell<Option<Problem>> = const { RefCell::new(None) };
}

/// What was refused last since the beginning, once.
pub fn take_refused() -> Option<Problem> {
    REFUSED.take()
}

/// Has PostgreSQL ask us. While somebody wants to be asked, it looks names up more slowly, so this is for the time of
/// a statement.
fn register() {
    // SAFETY: a backend has one thread that runs PostgreSQL's code, and this is it.
    unsafe {
        if !IS_REGISTERED.get() {
            BEFORE = pg_sys::object_access_hook;
            pg_sys::object_access_hook = Some(on_access);
            IS_REGISTERED.set(true);
        }
    }
}

/// Takes the hook back, unless a library that was loaded meanwhile has its own before it and calls ours.
fn unregister() {
    // SAFETY: as above.
    unsafe {
        let last = pg_sys::object_access_hook.map(|hook| hook as usize);
        if last == Some(on_access as *const () as usize) {
            pg_sys::object_access_hook = BEFORE;
            IS_REGISTERED.set(false);
        }
    }
}

/// While it lives, functions are refused as they are made ready to run.
pub struct Enforcement(());

impl Enforcement {
    /// Begins, with functions that the options name.
    pub fn begin(listed: &HashSet<Oid>) -> Enforcement {
        ALLOWED.replace(listed.clone());
        REFUSED.take();
        IS_ENFORCED.set(true);
        register();
        Enforcement(())
    }
}

impl Drop for Enforcement {
    fn drop(&mut self) {
        unregister();
        IS_ENFORCED.set(false);
        ALLOWED.take();
    }
}

/// # Safety
///
/// To be called by PostgreSQL.
#[pg_guard]
unsafe extern "C-unwind" fn on_access(
    access: pg_sys::ObjectAccessType::Type,
    class: Oid,
    object: Oid,
    part: c_int,
    argument: *mut c_void,
) {
    // SAFETY: PostgreSQL passes what it would pass to the hook before ours.
    unsafe {
        if let Some(before) = BEFORE {
            pg_sys::submodules::ffi::pg_guard_ffi_boundary(|| {
                before(access, class, object, part, argument);
            });
        }
    }
    if access == pg_sys::ObjectAccessType::OAT_FUNCTION_EXECUTE && IS_ENFORCED.get() {
        expect_allowed(object);
    }
}

fn expect_allowed(oid: Oid) {
    if ALLOWED.with_borrow(|allowed| allowed.contains(&oid)) {
        return;
    }
    let Some(facts) = function::facts(oid) else { return };
    if let Some(refusal) = function_refusal(&facts, SqlOrigin::Function, true) {
        let detail = refusal.detail(&facts.signature);
        let message = format!("the statement is refused: {detail}");
        let hint = "It was called within a function or a check of a domain. List that function in the option \
                    \"functions\" if what it does is harmless.";
        let problem = Problem::new(ProblemKind::Function, facts.signature, detail);
        REFUSED.replace(Some(problem.hint(hint)));
        report(&Error::new(ErrorKind::Forbidden, message).hint(hint));
    }
    ALLOWED.with_borrow_mut(|allowed| allowed.insert(oid));
}
