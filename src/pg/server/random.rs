//! Bytes that can't be foretold.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use pgrx::Uuid;

/// Eight bytes of the server's strong random source.
pub fn bytes() -> Result<[u8; 8]> {
    let mut bytes = [0u8; 8];
    // SAFETY: pg_strong_random fills exactly the length it is given.
    match unsafe { pg_sys::pg_strong_random(bytes.as_mut_ptr().cast(), bytes.len()) } {
        true => Ok(bytes),
        false => Err(Error::new(ErrorKind::Internal, "the server has no random numbers")),
    }
}

/// Nonces that are known to be such. A step of a strategy makes the messages of all its calls, one
/// for each group of sources at most, before the first of them is asked.
const NONCES: usize = 4096;

/// Letters and digits of a nonce.
const LENGTH: usize = 16;

thread_local! {
    static GIVEN: RefCell<RecentNonces> = RefCell::new(RecentNonces::default());
}

/// The last nonces, the oldest first, and the same to look one up.
#[derive(Default)]
struct RecentNonces {
    order: VecDeque<String>,
    known: HashSet<String>,
}

impl RecentNonces {
    fn add(&mut self, nonce: String) {
        if self.known.contains(&nonce) {
            return;
        }
        if self.order.len() == NONCES
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(nonce.clone());
        self.known.insert(nonce);
    }

    /// Where the nonces in `text` begin. It is read once, however many nonces there are.
    fn places(&self, text: &str) -> Vec<usize> {
        let (mut places, mut run) = (Vec::new(), 0);
        for (at, byte) in text.bytes().enumerate() {
            run = if matches!(byte, b'0'..=b'9' | b'a'..=b'f') { run + 1 } else { 0 };
            if run >= LENGTH && self.known.contains(&text[at + 1 - LENGTH..=at]) {
                places.push(at + 1 - LENGTH);
                run = 0;
            }
        }
        places
    }

    fn blind(&self, text: &str) -> String {
        let (mut blind, mut end) = (String::with_capacity(text.len()), 0);
        for place in self.places(text) {
            blind += &text[end..place];
            blind.push('#');
            end = place + LENGTH;
        }
        blind + &text[end..]
    }
}

/// Something that the authors of documents could not know, in letters and digits.
pub fn nonce() -> Result<String> {
    let nonce: String = bytes()?.iter().map(|byte| format!("{byte:02x}")).collect();
    GIVEN.with_borrow_mut(|given| given.add(nonce.clone()));
    Ok(nonce)
}

/// Takes what stands for a nonce in a prompt of this session as one.
pub fn take_as_nonce(nonce: &str) {
    GIVEN.with_borrow_mut(|given| given.add(nonce.to_owned()));
}

/// The text without the nonces of this session, which say nothing.
pub fn without_nonces(text: &str) -> String {
    GIVEN.with_borrow(|given| given.blind(text))
}

/// Whether the text holds a nonce of this session.
pub fn has_nonce(text: &str) -> bool {
    GIVEN.with_borrow(|given| !given.places(text).is_empty())
}

/// A number, each as likely as any other.
pub fn number() -> Result<i64> {
    Ok(i64::from_ne_bytes(bytes()?))
}

/// From 0 to below 1; in the middle where there are no random numbers.
pub fn fraction() -> f64 {
    bytes().map_or(0.5, |bytes| (u64::from_ne_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64)
}

/// A random UUID, of version 4.
pub fn uuid() -> Result<Uuid> {
    let (first, second) = (bytes()?, bytes()?);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first);
    bytes[8..].copy_from_slice(&second);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Ok(Uuid::from_bytes(bytes))
}

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;

    fn nonce_of(number: usize) -> String {
        format!("{number:016x}")
    }

    #[pg_extern]
    fn nonces_are_found_in_texts() {
        let mut given = RecentNonces::default();
        (1..=50).for_each(|number| given.add(nonce_of(number)));
        let (first, last) = (nonce_of(1), nonce_of(50));
        assert_eq!(given.blind(&format!("né {first}, {last}{first}f x")), "né #, ##f x");
        assert_eq!(given.blind(&format!("abc{last}")), "abc#");
        let other = nonce_of(51);
        assert_eq!(given.blind(&other), other);
        assert_eq!(given.blind("short 0123"), "short 0123");
    }

    #[pg_extern]
    fn the_oldest_nonces_are_forgotten() {
        let mut given = RecentNonces::default();
        (0..=NONCES).for_each(|number| given.add(nonce_of(number)));
        assert_eq!(given.places(&nonce_of(0)), [0; 0]);
        assert_eq!(given.places(&nonce_of(1)), [0]);
        assert_eq!((given.order.len(), given.known.len()), (NONCES, NONCES));
    }
}
