//! How much memory code takes: the allocator of a test's executable, which counts by thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

thread_local! {
    /// Bytes that this thread has allocated and not freed.
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    /// The most that there were at a time.
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// What `work` gives, and how many bytes it had at a time beyond what this thread had before.
pub fn most_allocated<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATED.get();
    MOST.set(before);
    let result = work();
    (result, MOST.get() - before)
}

/// The system's allocator, with a count.
struct CountingAllocator;

impl CountingAllocator {
    fn count(more: usize, less: usize) {
        // A block may be freed by another thread than the one that has it counted.
        let now = (ALLOCATED.get() + more).saturating_sub(less);
        ALLOCATED.set(now);
        MOST.set(MOST.get().max(now));
    }
}

// SAFETY: each call is passed on to the system's allocator as it is. Counting allocates nothing: the counts are
// constants at first and need no destructor.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CountingAllocator::count(layout.size(), 0);
        // SAFETY: by the caller's contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        CountingAllocator::count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        CountingAllocator::count(bytes, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, bytes) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        CountingAllocator::count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) };
    }
}
