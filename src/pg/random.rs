//! Bytes that nobody can foretell.

use std::cell::RefCell;
use std::collections::VecDeque;

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

/// Nonces that are known to be such; more are never in the messages of one call.
const NONCES: usize = 32;

thread_local! {
    static GIVEN: RefCell<VecDeque<String>> = const { RefCell::new(VecDeque::new()) };
}

/// Something that the authors of documents could not know, in letters and digits.
pub fn nonce() -> Result<String> {
    let nonce: String = bytes()?.iter().map(|byte| format!("{byte:02x}")).collect();
    GIVEN.with_borrow_mut(|given| {
        given.truncate(NONCES - 1);
        given.push_front(nonce.clone());
    });
    Ok(nonce)
}

/// The text without the nonces of this session, which say nothing.
pub fn without_nonces(text: &str) -> String {
    GIVEN.with_borrow(|given| {
        given.iter().fold(text.to_owned(), |text, nonce| text.replace(nonce.as_str(), "#"))
    })
}

/// Whether the text holds a nonce of this session.
pub fn has_nonce(text: &str) -> bool {
    GIVEN.with_borrow(|given| given.iter().any(|nonce| text.contains(nonce.as_str())))
}

/// A number, each as likely as any other.
pub fn number() -> Result<i64> {
    Ok(i64::from_ne_bytes(bytes()?))
}

/// From 0 to below 1; in the middle where there are no random numbers.
pub fn fraction() -> f64 {
    bytes().map_or(0.5, |bytes| (u64::from_ne_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64)
}
