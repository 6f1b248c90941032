//! Where the package's files are.

use std::ffi::CStr;

use pgrx::pg_sys;

/// PostgreSQL's directory of loadable modules; ragd and ONNX Runtime are in `pg_rag/` below it.
pub fn library_directory() -> String {
    // SAFETY: the server fills pkglib_path at start with a NUL-terminated string and never
    // changes it.
    let path = unsafe { CStr::from_ptr((&raw const pg_sys::pkglib_path).cast()) };
    path.to_string_lossy().into_owned()
}

/// The directory of the models that come with the package.
pub fn model_directory() -> String {
    let mut path = [0 as std::ffi::c_char; pg_sys::MAXPGPATH as usize];
    // SAFETY: get_share_path writes at most MAXPGPATH bytes, NUL included; my_exec_path is
    // filled at server start.
    let share = unsafe {
        pg_sys::get_share_path((&raw const pg_sys::my_exec_path).cast(), path.as_mut_ptr());
        CStr::from_ptr(path.as_ptr())
    };
    format!("{}/pg_rag/models", share.to_string_lossy())
}
