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
