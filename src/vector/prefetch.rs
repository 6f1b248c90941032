//! Asks the processor for memory that will be read soon.

/// Bytes of a line of the processor's cache.
const CACHE_LINE: usize = 64;

/// Says that `bytes` from `start` on will be read soon. Only a hint; nothing where the
/// processor has no such instruction that Rust knows.
pub fn prefetch(start: *const u8, bytes: usize) {
    // From the line in which `start` lies.
    let within = start as usize % CACHE_LINE;
    for line in (0..within + bytes).step_by(CACHE_LINE) {
        prefetch_line(start.wrapping_sub(within).wrapping_add(line));
    }
}

#[cfg(target_arch = "x86_64")]
fn prefetch_line(line: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing and faults at no address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch_line(_line: *const u8) {}
