//! What functions call in turn while a statement runs.
//!
//! A mark is a promise of a function's owner, and what the inspection sees ends at it. So the same rules are asked
//! again where PostgreSQL makes an expression ready to run: in the bodies of functions, in checks of domains
//! that a constant passes while the statement is analysed, and in what the planner computes beforehand. A
//! function that is marked STABLE and calls one that is not fails there.

use std::cell::RefCell;
use std::collections::HashSet;

use pgrx::pg_sys::Oid;

use super::function;
use crate::error::{Error, ErrorKind};
use crate::guarded_sql::function::function_refusal;
use crate::guarded_sql::{Problem, ProblemKind, SqlOrigin};
use crate::pg::server::error::report;
use crate::pg::server::function_watch::FunctionWatch;

thread_local! {
    /// Functions that may be called: those that the options name, and those that have been looked at.
    static ALLOWED: RefCell<HashSet<Oid>> = RefCell::new(HashSet::new());
    static REFUSED: RefCell<Option<Problem>> = const { RefCell::new(None) };
}

/// What was refused last since the beginning, once.
pub fn take_refused() -> Option<Problem> {
    REFUSED.take()
}

/// While it lives, functions are refused as they are made ready to run.
pub struct Enforcement {
    _watch: FunctionWatch,
}

impl Enforcement {
    /// Begins, with functions that the options name.
    pub fn begin(listed: &HashSet<Oid>) -> Enforcement {
        ALLOWED.replace(listed.clone());
        REFUSED.take();
        Enforcement { _watch: FunctionWatch::begin(expect_allowed) }
    }
}

impl Drop for Enforcement {
    fn drop(&mut self) {
        ALLOWED.take();
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
