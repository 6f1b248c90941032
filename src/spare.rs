//! Is there memory for what comes next?
//!
//! Rust ends the process where memory is refused, and with a session's process go all sessions of the
//! server. What takes much memory asks here first, so that it can fail with an error.

use crate::error::{Error, ErrorKind, Result};

/// Bytes that there must be to spare for what is not counted. More than what malloc takes from
/// memory that it already has, so that the system is asked.
const SPARE: usize = 40 << 20;

/// An error where the system has not so many bytes to give, and some more.
pub fn check(bytes: usize) -> Result<()> {
    let wanted = bytes.saturating_add(SPARE);
    let mut probe: Vec<u8> = Vec::new();
    let granted = probe.try_reserve_exact(wanted).is_ok();
    // Otherwise the compiler sees that the memory is not used, and asks for none.
    std::hint::black_box(probe.as_ptr());
    match granted {
        true => Ok(()),
        false => Err(refused(wanted)),
    }
}

/// `count` times `value`, or an error where the system has no memory for it.
pub fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>());
    values.try_reserve_exact(count).map_err(|_| refused(bytes))?;
    values.resize(count, value);
    Ok(values)
}

/// The error of a caller that is refused so many bytes.
#[must_use]
pub fn refused(bytes: usize) -> Error {
    let megabytes = bytes.div_ceil(1 << 20);
    let message = format!("out of memory: the system does not give {megabytes} MB more");
    Error::new(ErrorKind::OutOfResources, message)
        .hint("Lower maintenance_work_mem, or have fewer processes use memory at the same time.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_is_refused() {
        assert!(check(0).is_ok());
        let error = check(1 << 60).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfResources);
        assert!(check(usize::MAX).is_err());
        assert_eq!(filled(3, 7u64).unwrap(), [7, 7, 7]);
        assert_eq!(filled(1 << 60, 7u64).unwrap_err().kind(), ErrorKind::OutOfResources);
    }
}
