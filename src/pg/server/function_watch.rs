//! Which functions does PostgreSQL make ready to run?
//!
//! It tells of each through one hook, which guarded SQL and searches in strangers' pipelines both want for a while, one
//! perhaps within the other.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};

use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

/// What is told of each function, and reports an error where it is not to run.
pub type FunctionCheck = fn(Oid);

/// The hook that was there before ours, to be called first.
static mut BEFORE: pg_sys::object_access_hook_type = None;

thread_local! {
    static IS_REGISTERED: Cell<bool> = const { Cell::new(false) };
    static CHECKS: RefCell<Vec<FunctionCheck>> = const { RefCell::new(Vec::new()) };
}

/// While it lives, a check is told of each function that is made ready to run.
pub struct FunctionWatch(FunctionCheck);

impl FunctionWatch {
    /// Begins.
    pub fn begin(check: FunctionCheck) -> FunctionWatch {
        CHECKS.with_borrow_mut(|checks| checks.push(check));
        register();
        FunctionWatch(check)
    }
}

impl Drop for FunctionWatch {
    fn drop(&mut self) {
        let is_last = CHECKS.with_borrow_mut(|checks| {
            let own = checks.iter().rposition(|it| std::ptr::fn_addr_eq(*it, self.0));
            own.map(|own| checks.remove(own));
            checks.is_empty()
        });
        if is_last {
            unregister();
        }
    }
}

/// Has PostgreSQL ask us. While somebody wants to be asked, it looks names up more slowly, so this is for the time of
/// a statement or a search.
fn register() {
    // SAFETY: a backend has one thread that runs PostgreSQL's code, and this is it.
    unsafe {
        if !IS_REGISTERED.replace(true) {
            BEFORE = pg_sys::object_access_hook;
            pg_sys::object_access_hook = Some(on_access);
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
    if access == pg_sys::ObjectAccessType::OAT_FUNCTION_EXECUTE {
        // None is borrowed while one runs: it may raise an error, or look up what calls functions.
        let check = |at: usize| CHECKS.with_borrow(|checks| checks.get(at).copied());
        (0..).map_while(check).for_each(|check| check(object));
    }
}
