//! An index of one of our access methods, opened by its OID.

use std::ffi::CStr;

use pgrx::prelude::*;

use super::pages::Pages;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::row_security;

/// An index, open and locked as long as this lives.
pub struct OpenedIndex(pg_sys::Relation);

impl OpenedIndex {
    /// Opens an index of the access method `of` that is built, and that the caller may read the table of.
    pub fn new(oid: pg_sys::Oid, of: &CStr) -> Result<OpenedIndex> {
        OpenedIndex::open(oid, of, "Name the index of one partition; pg_partition_tree lists them.")
    }

    /// Opens the index as [`new`](Self::new) does, for a query that ranks by its statistics.
    pub fn for_statistics(oid: pg_sys::Oid, of: &CStr) -> Result<OpenedIndex> {
        OpenedIndex::open(
            oid,
            of,
            "Name the index of one partition: its statistics then count for all.",
        )
    }

    /// `hint` is what to do instead where the index is one of a partitioned table.
    fn open(oid: pg_sys::Oid, of: &CStr, hint: &str) -> Result<OpenedIndex> {
        // SAFETY: look-ups by OID; the relation is opened only if it is an index, and a list of the
        // sessions that wait for its lock is made anew when it is there.
        unsafe {
            let name = pg_sys::get_rel_name(oid);
            if name.is_null() {
                let message = format!("relation with OID {} does not exist", oid.to_u32());
                return Err(Error::new(ErrorKind::UndefinedObject, message));
            }
            let name = CStr::from_ptr(name).to_string_lossy().into_owned();
            match pg_sys::get_rel_relkind(oid) as u8 {
                pg_sys::RELKIND_INDEX => {}
                pg_sys::RELKIND_PARTITIONED_INDEX => return Err(is_of_partitions(&name, hint)),
                _ => return Err(is_another(&name, of)),
            }
            let relation = pg_sys::try_index_open(oid, pg_sys::AccessShareLock as i32);
            if relation.is_null() {
                let message = format!("index \"{name}\" was dropped meanwhile");
                return Err(Error::new(ErrorKind::UndefinedObject, message));
            }
            let opened = OpenedIndex(relation);
            let method = pg_sys::get_am_name((*(*relation).rd_rel).relam);
            if method.is_null() || CStr::from_ptr(method) != of {
                return Err(is_another(&name, of));
            }
            opened.expect_readable(&name)?;
            opened.expect_whole(&name)?;
            opened.expect_built(&name)?;
            Ok(opened)
        }
    }

    /// Opens the index as [`new`](Self::new) does, for figures of all its rows; fails for a role
    /// that does not see all rows of the table.
    pub fn for_figures(oid: pg_sys::Oid, of: &CStr) -> Result<OpenedIndex> {
        let opened = OpenedIndex::new(oid, of)?;
        row_security::expect_figures(row_security::table_of(oid), &opened.name())?;
        Ok(opened)
    }

    fn expect_readable(&self, name: &str) -> Result<()> {
        // SAFETY: the index is open; rd_index is its description.
        let allowed = unsafe {
            let table = (*(*self.0).rd_index).indrelid;
            pg_sys::pg_class_aclcheck(table, pg_sys::GetUserId(), pg_sys::ACL_SELECT.into())
        };
        if allowed == pg_sys::AclResult::ACLCHECK_OK {
            return Ok(());
        }
        let message = format!("permission denied for the table of index \"{name}\"");
        Err(Error::new(ErrorKind::Forbidden, message))
    }

    /// Pages that this session can read at all.
    fn expect_whole(&self, name: &str) -> Result<()> {
        // SAFETY: the index is open.
        let (persistence, is_local) =
            unsafe { ((*(*self.0).rd_rel).relpersistence as u8, (*self.0).rd_islocaltemp) };
        // SAFETY: a look at the state of the server.
        let in_recovery = unsafe { pg_sys::RecoveryInProgress() };
        let what = match persistence {
            pg_sys::RELPERSISTENCE_TEMP if !is_local => "is a temporary one of another session",
            pg_sys::RELPERSISTENCE_UNLOGGED if in_recovery => {
                "is unlogged and can't be read during recovery"
            }
            _ => return Ok(()),
        };
        Err(Error::new(ErrorKind::Unsupported, format!("index \"{name}\" {what}")))
    }

    /// Pages that were all written, by a build that has ended. An index that REINDEX CONCURRENTLY has just replaced
    /// serves the sessions that began before.
    fn expect_built(&self, name: &str) -> Result<()> {
        // SAFETY: the index is open; rd_index is its description.
        if unsafe { (*(*self.0).rd_index).indisready } {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotInState, format!("index \"{name}\" is not built"))
            .hint("Its build has failed or is not done. REINDEX INDEX makes it anew."))
    }

    /// The index's name.
    pub fn name(&self) -> String {
        // SAFETY: the index is open; its description has a name.
        let name = unsafe { CStr::from_ptr((*(*self.0).rd_rel).relname.data.as_ptr()) };
        name.to_string_lossy().into_owned()
    }

    /// The index's OID.
    pub fn oid(&self) -> pg_sys::Oid {
        // SAFETY: the index is open.
        unsafe { (*self.0).rd_id }
    }

    /// The relation of the open index.
    pub fn relation(&self) -> pg_sys::Relation {
        self.0
    }

    /// The index's pages.
    pub fn pages(&self) -> Pages {
        // SAFETY: the index is open.
        unsafe { Pages::new(self.0) }
    }
}

impl Drop for OpenedIndex {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: it was opened with this lock.
            unsafe { pg_sys::index_close(self.0, pg_sys::AccessShareLock as i32) };
        }
    }
}

fn is_another(name: &str, of: &CStr) -> Error {
    let of = of.to_string_lossy();
    Error::new(ErrorKind::WrongObjectType, format!("\"{name}\" is not a {of} index"))
        .hint(format!("Name an index that was made with USING {of}."))
}

fn is_of_partitions(name: &str, hint: &str) -> Error {
    let message = format!("\"{name}\" is an index of a partitioned table and holds nothing itself");
    Error::new(ErrorKind::WrongObjectType, message).hint(hint)
}
