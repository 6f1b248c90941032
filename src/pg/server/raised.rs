//! What an error of PostgreSQL's says beyond what pgrx keeps of it.
//!
//! pgrx catches an error where PostgreSQL raises it and raises another one like it where pg_rag is left. On the way it
//! keeps only SQLSTATEs of its own list, so that one that a user's function invents becomes that of an internal error; and
//! neither the context nor the names of a table and of a constraint. Here they are noted while the error is raised, and
//! given back while it is raised again: PostgreSQL asks the links of its list of callbacks in both moments.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;

/// The names that an error may have, with the letters by which PostgreSQL's protocol knows them.
const NAMES: [u8; 5] = [
    pg_sys::PG_DIAG_SCHEMA_NAME,
    pg_sys::PG_DIAG_TABLE_NAME,
    pg_sys::PG_DIAG_COLUMN_NAME,
    pg_sys::PG_DIAG_DATATYPE_NAME,
    pg_sys::PG_DIAG_CONSTRAINT_NAME,
];

// Functions that pgrx does not offer, since they are of use only while an error is made.
unsafe extern "C-unwind" {
    fn errcode(sqlerrcode: c_int) -> c_int;
    fn errcontext_msg(format: *const c_char, ...) -> c_int;
}

/// What an error says beyond detail and hint.
#[derive(Clone, Debug)]
struct RaisedError {
    /// By which it is known again.
    message: String,
    /// The SQLSTATE, packed.
    code: c_int,
    /// Where in the statement it is, in characters from 1.
    position: Option<c_int>,
    /// Where it happened within what was called, the innermost first, a line each.
    context: Option<CString>,
    names: [Option<CString>; NAMES.len()],
}

/// A link of PostgreSQL's list of callbacks, with the errors that it has noted, the last ones of them. A handler may raise one
/// again after others, for which no callback is called.
struct NotingLink {
    link: pg_sys::ErrorContextCallback,
    raised: Vec<RaisedError>,
}

/// How many errors are remembered.
const MOST_NOTED: usize = 8;

thread_local! {
    /// What the error that is raised next is to say.
    static KEPT: RefCell<Option<RaisedError>> = const { RefCell::new(None) };
    static KEEPING: Cell<pg_sys::ErrorContextCallback> = const {
        Cell::new(pg_sys::ErrorContextCallback {
            previous: std::ptr::null_mut(),
            callback: Some(give_back),
            arg: std::ptr::null_mut(),
        })
    };
}

/// While it lives, what the last error says that PostgreSQL has raised is noted.
pub struct Raised(*mut NotingLink);

impl Raised {
    /// Begins to note.
    pub fn noted() -> Self {
        // SAFETY: a link of PostgreSQL's list of callbacks for errors. It stays where it is until Drop takes it out of
        // the list again.
        unsafe {
            let link = pg_sys::ErrorContextCallback {
                previous: pg_sys::error_context_stack,
                callback: Some(note),
                arg: std::ptr::null_mut(),
            };
            let noting = Box::into_raw(Box::new(NotingLink { link, raised: Vec::new() }));
            (*noting).link.arg = noting.cast();
            pg_sys::error_context_stack = &raw mut (*noting).link;
            Raised(noting)
        }
    }

    /// The SQLSTATE of `error`, packed, and where it is in the text of the statement, in characters from 1. `None` of
    /// one that PostgreSQL has not raised, or has raised again without saying so. One in a statement of a function
    /// that this one calls has no place.
    pub fn code_and_position(&self, error: &CaughtError) -> Option<(c_int, Option<c_int>)> {
        self.of(error).map(|it| (it.code, it.position))
    }

    fn of(&self, error: &CaughtError) -> Option<&RaisedError> {
        let CaughtError::PostgresError(report) = error else { return None };
        // SAFETY: made by `noted`; only callbacks write to it, and none is called now.
        let raised = unsafe { &(*self.0).raised };
        raised.iter().rev().find(|it| it.message == report.message())
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        // SAFETY: made by `noted`. What came into the list later has left it, or tells more of an error that has been
        // caught, and leaves it here.
        unsafe {
            let own = &raw mut (*self.0).link;
            if std::thread::panicking() {
                // What stands before it is about the error that goes on.
                unlink(own);
            } else if place_of(own).is_some() {
                pg_sys::error_context_stack = (*own).previous;
            }
            drop(Box::from_raw(self.0));
        }
    }
}

/// Does `work`. An error that PostgreSQL raises in it leaves pg_rag with the SQLSTATE, the context and the names that
/// it has here; what `own` begins in the context, a statement of pg_rag's, is left out.
pub fn as_raised<T>(own: Option<&str>, work: impl FnOnce() -> T) -> T {
    let raised = Raised::noted();
    let panic = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => return done,
        Err(panic) => panic,
    };
    // SAFETY: a variable of this process. What was called in `work` may have kept the error already, and knows better
    // what is pg_rag's own.
    let is_kept = unsafe { pg_sys::error_context_stack == KEEPING.with(Cell::as_ptr) };
    let found = panic.downcast_ref().and_then(|error| raised.of(error)).cloned();
    // SAFETY: the link is in the list. What stands before it is about the error that goes on.
    unsafe { unlink(&raw mut (*raised.0).link) };
    drop(raised);
    if let Some(found) = found.filter(|_| !is_kept) {
        keep(RaisedError { context: found.outside(own), ..found });
    }
    resume_unwind(panic)
}

/// Has the error with this message, which is raised next, have this SQLSTATE, packed, whether pgrx knows it or not.
pub fn keep_code(code: c_int, message: &str) {
    let names = [const { None }; NAMES.len()];
    keep(RaisedError { message: message.to_owned(), code, position: None, context: None, names });
}

/// Has PostgreSQL ask for what is known of an error while it is raised again.
fn keep(raised: RaisedError) {
    KEPT.set(Some(raised));
    let link = KEEPING.with(Cell::as_ptr);
    // SAFETY: the link lives as long as the process, and is in the list once. It leaves the list when whoever catches the
    // error that is about to be raised puts the list back.
    unsafe {
        unlink(link);
        (*link).previous = pg_sys::error_context_stack;
        pg_sys::error_context_stack = link;
    }
}

/// What holds the pointer to `link` in PostgreSQL's list of callbacks; `None` where it is not in the list.
///
/// # Safety
///
/// `link` is one of this module's.
unsafe fn place_of(
    link: *mut pg_sys::ErrorContextCallback,
) -> Option<*mut *mut pg_sys::ErrorContextCallback> {
    // SAFETY: links are in the list as long as they are valid.
    unsafe {
        let mut place = &raw mut pg_sys::error_context_stack;
        while !(*place).is_null() {
            if *place == link {
                return Some(place);
            }
            place = &raw mut (**place).previous;
        }
        None
    }
}

/// Takes `link` out of PostgreSQL's list of callbacks, if it is there.
///
/// # Safety
///
/// `link` is one of this module's.
unsafe fn unlink(link: *mut pg_sys::ErrorContextCallback) {
    // SAFETY: by this function's contract.
    unsafe {
        if let Some(place) = place_of(link) {
            *place = (*link).previous;
        }
    }
}

impl RaisedError {
    /// What is being reported, if that is an error.
    ///
    /// # Safety
    ///
    /// To be called by a callback of PostgreSQL's list.
    unsafe fn being_reported() -> Option<RaisedError> {
        // SAFETY: there is something that is being reported. It is copied into memory that is freed here, and not into
        // that of errors, in which callbacks are called.
        unsafe {
            // Where no memory is left, nothing is copied; nor of notices and warnings, of which there may be very many: the
            // first two characters of a SQLSTATE are the class, 00 is success, 01 a warning.
            let code = pg_sys::geterrcode();
            let is_harmless = matches!(code & 0xfff, 0 | 0x40);
            if is_harmless || code == PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY as c_int {
                return None;
            }
            let before = pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
            let error = pg_sys::CopyErrorData();
            let copied =
                |text: *mut c_char| (!text.is_null()).then(|| CStr::from_ptr(text).to_owned());
            let names = [
                (*error).schema_name,
                (*error).table_name,
                (*error).column_name,
                (*error).datatype_name,
                (*error).constraint_name,
            ];
            let position = (*error).cursorpos;
            let found = RaisedError {
                message: copied((*error).message)
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                code: (*error).sqlerrcode,
                position: (position > 0).then_some(position),
                context: copied((*error).context),
                names: names.map(copied),
            };
            let is_error = (*error).elevel >= PgLogLevel::ERROR as c_int;
            pg_sys::FreeErrorData(error);
            pg_sys::MemoryContextSwitchTo(before);
            is_error.then_some(found)
        }
    }

    /// The context without the lines that begin with `own`, and what is around it.
    fn outside(&self, own: Option<&str>) -> Option<CString> {
        let context = self.context.as_deref()?;
        let Some(own) = own else { return Some(context.to_owned()) };
        let text = context.to_string_lossy();
        let Some(place) = text.rfind(own) else { return Some(context.to_owned()) };
        let line = text[..place].rfind('\n')?;
        CString::new(&text[..line]).ok()
    }
}

/// Called before whatever is reported goes anywhere; only errors count.
unsafe extern "C-unwind" fn note(noting: *mut c_void) {
    // SAFETY: what `noted` has made, which is in the list only as long as it lives.
    unsafe {
        if let Some(raised) = RaisedError::being_reported() {
            let noted = &mut (*noting.cast::<NotingLink>()).raised;
            if noted.len() == MOST_NOTED {
                noted.remove(0);
            }
            noted.push(raised);
        }
    }
}

/// Called while the error is raised again.
unsafe extern "C-unwind" fn give_back(_: *mut c_void) {
    // SAFETY: something is being reported, into which the texts are copied.
    unsafe {
        let Some(now) = RaisedError::being_reported() else { return };
        let kept = KEPT.with_borrow_mut(|kept| kept.take_if(|kept| kept.message == now.message));
        let Some(kept) = kept else { return };
        errcode(kept.code);
        for (letter, name) in NAMES.into_iter().zip(&kept.names) {
            if let Some(name) = name {
                pg_sys::err_generic_string(c_int::from(letter), name.as_ptr());
            }
        }
        if let Some(context) = &kept.context {
            pg_sys::set_errcontext_domain(std::ptr::null());
            errcontext_msg(c"%s".as_ptr(), context.as_ptr());
        }
    }
}
