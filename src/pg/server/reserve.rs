//! Memory that is kept back while an index is built.
//!
//! Rust ends the process where an allocation is refused, and with a session's process go all sessions of
//! the server. [`crate::spare`] asks before much is taken; between two such questions a thread of the
//! build, or the server itself, may take what was there. Then the allocator gives the reserve back to the
//! system and tries again, and the build ends with an error at the next look.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::error::Result;
use crate::spare;

/// Bytes that are kept back: more than a build takes between two looks.
const BYTES: usize = 32 << 20;

/// The reserve, if it is there.
static KEPT: AtomicPtr<libc::c_void> = AtomicPtr::new(null_mut());

/// Was it needed since it was taken?
static WAS_NEEDED: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

/// Keeps memory back as long as it lives.
pub struct Reserve {
    /// A build within a build has none of its own.
    is_own: bool,
}

impl Reserve {
    /// Takes the reserve from the system.
    ///
    /// # Errors
    ///
    /// Where the system does not give it.
    pub fn take() -> Result<Reserve> {
        if !KEPT.load(Ordering::Acquire).is_null() {
            return Ok(Reserve { is_own: false });
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping overlaps nothing.
        let kept = unsafe { libc::mmap(null_mut(), BYTES, access, kind, -1, 0) };
        if kept == libc::MAP_FAILED {
            return Err(spare::refused(BYTES));
        }
        WAS_NEEDED.store(false, Ordering::Release);
        KEPT.store(kept, Ordering::Release);
        Ok(Reserve { is_own: true })
    }

    /// Fails where an allocation was refused and the reserve had to be given up for it.
    pub fn look(&self) -> Result<()> {
        if WAS_NEEDED.load(Ordering::Acquire) { Err(spare::refused(BYTES)) } else { Ok(()) }
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        if self.is_own {
            give_back();
        }
    }
}

/// Gives the reserve to the system. `false` if it was not there.
fn give_back() -> bool {
    let kept = KEPT.swap(null_mut(), Ordering::AcqRel);
    // SAFETY: it was mapped with so many bytes, and is given back once.
    NonNull::new(kept).is_some_and(|kept| unsafe { libc::munmap(kept.as_ptr(), BYTES) == 0 })
}

/// The system's allocator, which gives the reserve up before it refuses.
struct WithReserve;

impl WithReserve {
    /// What `allocate` gives; where that is nothing, once more after the reserve was given up.
    fn insist(allocate: impl Fn() -> *mut u8) -> *mut u8 {
        let given = allocate();
        if !given.is_null() || !give_back() {
            return given;
        }
        WAS_NEEDED.store(true, Ordering::Release);
        allocate()
    }
}

// SAFETY: each call is passed on to the system's allocator. A call that it refused has changed nothing, so
// it may be made again.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's contract, which is the same.
        WithReserve::insist(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        WithReserve::insist(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above; a block that could not be moved is still where it was.
        WithReserve::insist(|| unsafe { System.realloc(block, layout, bytes) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) };
    }
}
