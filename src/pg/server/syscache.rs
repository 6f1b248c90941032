//! Looks into PostgreSQL's caches of its own catalogs.

use pgrx::pg_sys;

/// Whether a catalog has a row with these keys, in the order in which the cache has them: as many as that
/// cache is searched by, at most four, each an OID.
pub fn exists<const N: usize>(
    cache: pg_sys::SysCacheIdentifier::Type,
    keys: [pg_sys::Oid; N],
) -> bool {
    let key =
        |at: usize| keys.get(at).map_or(pg_sys::Datum::null(), |&oid| pg_sys::Datum::from(oid));
    // SAFETY: a look-up in one of the server's caches, whose keys are OIDs by this function's contract.
    unsafe { pg_sys::SearchSysCacheExists(cache as i32, key(0), key(1), key(2), key(3)) }
}
