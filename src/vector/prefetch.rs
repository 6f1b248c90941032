//! Asks the processor for memory that will be read soon.

/// Bytes of a line of the processor's cache.
pub const CACHE_LINE: usize = 64;

/// Says that `bytes` will be read soon. Only a hint; nothing where the processor has no such
/// instruction that Rust knows.
pub fn prefetch(bytes: &[u8]) {
    for line in bytes.chunks(CACHE_LINE) {
        prefetch_line(line);
    }
}

#[cfg(target_arch = "x86_64")]
fn prefetch_line(line: &[u8]) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing and faults at no address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch_line(_line: &[u8]) {}
