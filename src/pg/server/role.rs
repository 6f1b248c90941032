//! Acting as another role, as index maintenance does.

use std::cell::Cell;
use std::ffi::{CStr, CString};

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};

/// The role that owns what `initdb` makes.
pub const SUPERUSER: pg_sys::Oid = pg_sys::Oid::from_u32(pg_sys::BOOTSTRAP_SUPERUSERID);

/// Settings by which dates, times and intervals are read.
const READING: [&CStr; 3] = [c"datestyle", c"intervalstyle", c"timezone"];

/// Settings under which values of every type become the same text in every session. A changed row's
/// key is read under the same ones (`capture/plain_text.rs`).
const PLAIN_TEXT: [(&CStr, &CStr); 5] = [
    (c"datestyle", c"ISO, MDY"),
    (c"intervalstyle", c"postgres"),
    (c"timezone", c"UTC"),
    (c"extra_float_digits", c"1"),
    (c"bytea_output", c"hex"),
];

thread_local! {
    /// The owner as whom a worker of pg_rag has last acted.
    static OWNER: Cell<Option<pg_sys::Oid>> = const { Cell::new(None) };
}

/// While it lives, the session acts as another role, looks names up in pg_catalog only, turns
/// values into the same text as every other session does, and reads tables as their policies say.
pub struct Acting {
    role: pg_sys::Oid,
    context: i32,
    settings: LocalSettings,
}

impl Acting {
    /// Acts as `role` until the value is dropped.
    pub fn as_role(role: pg_sys::Oid) -> Self {
        let settings = LocalSettings::new();
        let mut before = Acting { role: pg_sys::InvalidOid, context: 0, settings };
        // SAFETY: what index maintenance and REFRESH MATERIALIZED VIEW do; undone in Drop, or
        // by the transaction's abort.
        unsafe {
            pg_sys::GetUserIdAndSecContext(&mut before.role, &mut before.context);
            // A policy that is forced on a table's owner holds for the roles that read the chunks,
            // not for the one that makes them.
            let restricted = (pg_sys::SECURITY_LOCAL_USERID_CHANGE
                | pg_sys::SECURITY_RESTRICTED_OPERATION
                | pg_sys::SECURITY_NOFORCE_RLS) as i32;
            pg_sys::SetUserIdAndSecContext(role, before.context | restricted);
        }
        before.settings.set(c"search_path", c"pg_catalog, pg_temp");
        before.settings.set_plain_text();
        before.settings.heed_policies();
        before
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        // While an error unwinds, the abort of the (sub)transaction puts both back.
        if !std::thread::panicking() {
            // SAFETY: the values as_role took.
            unsafe { pg_sys::SetUserIdAndSecContext(self.role, self.context) };
        }
    }
}

/// Settings that are as they were once this is dropped.
pub struct LocalSettings(i32);

impl LocalSettings {
    /// Keeps the settings as they are now, until this is dropped.
    pub fn new() -> Self {
        // SAFETY: opens a level of settings, which Drop or the transaction's abort closes.
        LocalSettings(unsafe { pg_sys::NewGUCNestLevel() })
    }

    /// Has values become the same text in every session.
    fn set_plain_text(&mut self) {
        PLAIN_TEXT.iter().for_each(|(name, value)| self.set(name, value));
    }

    /// Has policies leave rows out, where `row_security` says that to leave any out is an error.
    fn heed_policies(&mut self) {
        // SAFETY: a variable of the session.
        if !unsafe { pg_sys::row_security } {
            self.set(c"row_security", c"on");
        }
    }

    /// The settings by which dates, times and intervals are read, with their values.
    pub fn reading() -> Vec<(String, String)> {
        let value = |name: &CStr| {
            // SAFETY: settings of PostgreSQL's own, which anybody may read; the text is copied at once.
            let value = unsafe { pg_sys::GetConfigOption(name.as_ptr(), false, false) };
            // SAFETY: as above; of a setting that is there, it is no null pointer.
            let value = unsafe { CStr::from_ptr(value) };
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        };
        READING.into_iter().map(value).collect()
    }

    /// Sets those of `settings` by which dates, times and intervals are read. An SQL error where a value is none.
    pub fn set_reading(&mut self, settings: &[(String, String)]) {
        for name in READING {
            let value = settings.iter().find(|(other, _)| other.as_bytes() == name.to_bytes());
            let value = value.and_then(|(_, value)| CString::new(value.as_str()).ok());
            if let Some(value) = value {
                self.set(name, &value);
            }
        }
    }

    /// Sets `name` to `value`.
    pub fn set(&mut self, name: &CStr, value: &CStr) {
        self.set_as(pg_sys::GucContext::PGC_USERSET, name, value);
    }

    /// Sets `name`, which only a superuser may set, to `value`.
    pub fn set_as_superuser(&mut self, name: &CStr, value: &CStr) {
        self.set_as(pg_sys::GucContext::PGC_SUSET, name, value);
    }

    fn set_as(&mut self, context: pg_sys::GucContext::Type, name: &CStr, value: &CStr) {
        // SAFETY: constant strings; the level of settings is open.
        unsafe {
            pg_sys::set_config_option(
                name.as_ptr(),
                value.as_ptr(),
                context,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_SAVE,
                true,
                0,
                false,
            );
        }
    }
}

impl Drop for LocalSettings {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the level that `new` opened.
            unsafe { pg_sys::AtEOXact_GUC(false, self.0) };
        }
    }
}

/// The owner of a table on which the caller holds a lock.
pub fn table_owner(table: pg_sys::Oid) -> pg_sys::Oid {
    let relation = unsafe {
        // SAFETY: by this function's contract the table can't be dropped.
        pgrx::PgRelation::with_lock(table, pg_sys::NoLock as pg_sys::LOCKMODE)
    };
    // SAFETY: rd_rel of an open relation is valid.
    unsafe { (*relation.rd_rel).relowner }
}

/// Whether the rights in force are those of a role that whoever is logged in could not take on: as in a function with
/// SECURITY DEFINER, and not where a superuser acts as an owner. Settings of the session are then a stranger's.
pub fn calls_with_rights_of_another() -> bool {
    // SAFETY: variables of the session, and a look-up in the catalog.
    unsafe {
        pg_sys::InLocalUserIdChange()
            && !pg_sys::has_privs_of_role(pg_sys::GetOuterUserId(), pg_sys::GetUserId())
    }
}

/// The role that has asked for something which goes on as its rows are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerRole(pg_sys::Oid);

impl CallerRole {
    /// The current role.
    pub fn current() -> Self {
        CallerRole(current_role())
    }

    /// Its number.
    pub fn oid(self) -> pg_sys::Oid {
        self.0
    }

    /// An error where rows are fetched by another role than that as which `what` was done, such as "the question was
    /// asked": the code behind the rows would have the rights of who fetches them.
    pub fn check(self, what: &str) -> Result<()> {
        match current_role() == self.0 {
            true => Ok(()),
            false => {
                Err(Error::new(ErrorKind::NotInState, format!("the role has changed since {what}"))
                    .hint("Fetch all rows as the role that asked, or ask again as this one."))
            }
        }
    }
}

/// The role whose rights the current code has.
pub fn current_role() -> pg_sys::Oid {
    // SAFETY: a variable of the session.
    unsafe { pg_sys::GetUserId() }
}

/// The name of the current role.
pub fn current_user() -> String {
    role_name(current_role())
}

/// The name of a role that is there.
pub fn role_name(role: pg_sys::Oid) -> String {
    // SAFETY: the name is a C string in the current memory context, or NULL.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        if name.is_null() {
            return role.to_u32().to_string();
        }
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}

/// The search path of the session, as it is set.
pub fn search_path() -> CString {
    // SAFETY: a setting of PostgreSQL's own, which is always there; the text is copied at once.
    unsafe {
        let path = pg_sys::GetConfigOption(c"search_path".as_ptr(), false, false);
        CStr::from_ptr(path).to_owned()
    }
}

/// Does `work` as the superuser, which owns the objects of pg_rag.
pub fn as_superuser<T>(work: impl FnOnce() -> T) -> T {
    let _acting = Acting::as_role(SUPERUSER);
    work()
}

/// Does `work` as `role`.
pub fn as_role<T>(role: pg_sys::Oid, work: impl FnOnce() -> T) -> T {
    let _acting = Acting::as_role(role);
    work()
}

/// Does `work`, which reads the extension's own tables as the current role: of these it sees what their policies let it,
/// also where `row_security` is off, as pg_dump sets it in all dumps. Tables of users are not read so: whoever sets it off
/// wants an error where rows of theirs are left out.
pub fn by_policies<T>(work: impl FnOnce() -> T) -> T {
    let mut settings = LocalSettings::new();
    settings.heed_policies();
    work()
}

/// Has this process, a worker, work on behalf of the owners as whom it acts from now on.
pub fn work_for_owners() {
    OWNER.set(Some(SUPERUSER));
}

/// The role on whose behalf this process works: the one that the session has set, whatever
/// functions do in between. A worker works for the owner of the source as whom it has last acted.
pub fn on_behalf_of() -> pg_sys::Oid {
    // SAFETY: a variable of the process.
    OWNER.get().unwrap_or_else(|| unsafe { pg_sys::GetOuterUserId() })
}

/// Has a worker work on behalf of `role` from now on, as whom it has acted before.
pub fn work_on_behalf_of(role: pg_sys::Oid) {
    OWNER.set(OWNER.get().map(|_| role));
}

/// Acts as the owner of a table, on which the caller holds a lock. A worker works on behalf of this
/// role from now on.
pub fn as_owner_of(table: pg_sys::Oid) -> Acting {
    let owner = table_owner(table);
    OWNER.set(OWNER.get().map(|_| owner));
    Acting::as_role(owner)
}

/// The schema of a relation, quoted, where the current role may look up nothing in it; `None` also for a relation that
/// is gone.
pub fn barred_schema(relation: pg_sys::Oid) -> Option<String> {
    // SAFETY: look-ups by OID, which know what is not there any more; the name is of this memory context.
    unsafe {
        let schema = pg_sys::get_rel_namespace(relation);
        let name = pg_sys::get_namespace_name(schema);
        if name.is_null() || may_use_schema(schema) {
            return None;
        }
        Some(pgrx::spi::quote_identifier(CStr::from_ptr(name).to_string_lossy()))
    }
}

fn may_use_schema(schema: pg_sys::Oid) -> bool {
    let right = pg_sys::ACL_USAGE.into();
    // SAFETY: a look-up by OID of a schema that was found.
    #[cfg(feature = "pg15")]
    let answer = unsafe { pg_sys::pg_namespace_aclcheck(schema, current_role(), right) };
    // SAFETY: as above.
    #[cfg(not(feature = "pg15"))]
    let answer = unsafe {
        let class = pg_sys::NamespaceRelationId;
        pg_sys::object_aclcheck(class, schema, current_role(), right)
    };
    answer == pg_sys::AclResult::ACLCHECK_OK
}

/// Whether the current role may read a relation, or some of its columns.
pub fn may_select(relation: pg_sys::Oid) -> bool {
    let (role, right) = (current_role(), pg_sys::ACL_SELECT.into());
    // SAFETY: look-ups by OID; a relation that is gone is one that nobody may read.
    unsafe {
        let mut is_gone = false;
        let of_all = pg_sys::pg_class_aclcheck_ext(relation, role, right, &mut is_gone);
        let any = pg_sys::AclMaskHow::ACLMASK_ANY;
        // To look for columns of what is gone is an error.
        of_all == pg_sys::AclResult::ACLCHECK_OK
            || !is_gone
                && pg_sys::pg_attribute_aclcheck_all(relation, role, right, any)
                    == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// Whether the current role may read a column of a relation; not where there is none of this name.
pub fn may_select_column(relation: pg_sys::Oid, column: &CStr) -> bool {
    let (role, right) = (current_role(), pg_sys::ACL_SELECT.into());
    // SAFETY: look-ups by OID; a column that is not there is not asked about, and a relation that is gone has none.
    unsafe {
        let number = pg_sys::get_attnum(relation, column.as_ptr());
        let granted = pg_sys::AclResult::ACLCHECK_OK;
        number > 0
            && (pg_sys::pg_class_aclcheck(relation, role, right) == granted
                || pg_sys::pg_attribute_aclcheck(relation, number, role, right) == granted)
    }
}
