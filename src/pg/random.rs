//! Bytes that nobody can foretell.

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};

/// Eight bytes of the server's strong random source.
pub fn bytes() -> Result<[u8; 8]> {
    let mut bytes = [0u8; 8];
    // SAFETY: pg_strong_random fills exactly the length it is given.
    match unsafe { pg_sys::pg_strong_random(bytes.as_mut_ptr().cast(), bytes.len()) } {
        true => Ok(bytes),
        false => Err(Error::new(ErrorKind::Internal, "the server has no random numbers")),
    }
}

/// Something that the authors of documents could not know, in letters and digits.
pub fn nonce() -> Result<String> {
    Ok(bytes()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A number, each as likely as any other.
pub fn number() -> Result<i64> {
    Ok(i64::from_ne_bytes(bytes()?))
}

/// From 0 to below 1; in the middle where there are no random numbers.
pub fn fraction() -> f64 {
    bytes().map_or(0.5, |bytes| (u64::from_ne_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64)
}
