//! Memory for a build: `maintenance_work_mem`, and beyond it a temporary file.
//!
//! The file is mapped, so the build goes on as before; the system keeps in memory what it has
//! room for. It belongs to the transaction and goes with it, whatever happens.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::hnsw::build::ChunkMemory;

/// Bytes by which the file grows.
const SEGMENT: usize = 64 << 20;

/// Memory as long as it lasts, then a file.
pub struct BuildMemory {
    /// Bytes of memory that may still be taken.
    left: usize,
    /// The file, and its length.
    file: Option<(pg_sys::File, usize)>,
    /// The segment that is not used up, and how much of it is used.
    current: Option<(Arc<MemorySegment>, usize)>,
}

impl BuildMemory {
    /// Memory of so many bytes, and then a file.
    pub fn new(bytes: usize) -> BuildMemory {
        BuildMemory { left: bytes, file: None, current: None }
    }

    /// Takes memory for so many numbers; `false` if there is none left.
    fn take(&mut self, count: usize) -> bool {
        let bytes = size_of::<u32>() * count;
        let is_enough = bytes <= self.left;
        self.left -= if is_enough { bytes } else { 0 };
        is_enough
    }

    /// A part of the file.
    fn mapped(&mut self, count: usize) -> Result<Mapped> {
        let bytes = size_of::<u32>() * count;
        let (segment, used) = match self.current.take() {
            Some((segment, used)) if used + bytes <= segment.bytes => (segment, used),
            _ => (Arc::new(self.grow(SEGMENT.max(bytes))?), 0),
        };
        self.current = Some((Arc::clone(&segment), used + bytes));
        Ok(Mapped { segment, first: used / size_of::<u32>(), count })
    }

    fn grow(&mut self, bytes: usize) -> Result<MemorySegment> {
        // SAFETY: called in a transaction, to whose end the file lives; the descriptor is used
        // before anything could close it.
        unsafe {
            let (file, length) = self.file.unwrap_or_else(|| (pg_sys::OpenTemporaryFile(false), 0));
            self.file = Some((file, length));
            check_limit(length + bytes)?;
            self.file = Some((file, length + bytes));
            // PostgreSQL may have closed it while the table was read, to open others: this opens it again.
            // Before version 18 asking for the descriptor does not.
            if pg_sys::FileSize(file) < 0 {
                return Err(no_room(bytes, &std::io::Error::last_os_error()));
            }
            let descriptor = pg_sys::FileGetRawDesc(file);
            // Where the disk is full, this says so; writing through the mapping would be fatal.
            loop {
                match libc::posix_fallocate(descriptor, length as i64, bytes as i64) {
                    0 => return MemorySegment::map(descriptor, length, bytes),
                    // A signal came, which may ask for the end of all this.
                    libc::EINTR => {
                        check_for_interrupts!();
                    }
                    number => {
                        let error = std::io::Error::from_raw_os_error(number);
                        return Err(no_room(bytes, &error));
                    }
                }
            }
        }
    }
}

/// Fails where a temporary file may not become so long.
fn check_limit(bytes: usize) -> Result<()> {
    const KILOBYTE: usize = 1024;
    // SAFETY: a setting of this process; -1 is none.
    let limit = usize::try_from(unsafe { pg_sys::temp_file_limit });
    match limit {
        Ok(limit) if bytes > limit.saturating_mul(KILOBYTE) => {
            let message = format!("temporary file size exceeds temp_file_limit ({limit}kB)");
            Err(Error::new(ErrorKind::BudgetExceeded, message).hint(
                "Build the index with more maintenance_work_mem, or a higher temp_file_limit.",
            ))
        }
        _ => Ok(()),
    }
}

fn no_room(bytes: usize, error: &std::io::Error) -> Error {
    let message = format!("no room for {bytes} more bytes of a temporary file: {error}");
    Error::new(ErrorKind::OutOfResources, message)
        .hint("Build the index with more maintenance_work_mem, or with temp_tablespaces where there is room.")
}

impl Drop for BuildMemory {
    fn drop(&mut self) {
        if let Some((file, _)) = self.file
            && !std::thread::panicking()
        {
            // SAFETY: it is open. What is mapped stays mapped.
            unsafe { pg_sys::FileClose(file) };
        }
    }
}

/// A mapped part of the file.
pub struct MemorySegment {
    start: *mut u32,
    bytes: usize,
}

// SAFETY: plain memory, which its parts share out among themselves.
unsafe impl Send for MemorySegment {}
// SAFETY: as above.
unsafe impl Sync for MemorySegment {}

impl MemorySegment {
    /// # Safety
    ///
    /// The file is as long as `offset + bytes`.
    unsafe fn map(descriptor: i32, offset: usize, bytes: usize) -> Result<MemorySegment> {
        // SAFETY: a new mapping overlaps nothing.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                descriptor,
                offset as i64,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(no_room(bytes, &std::io::Error::last_os_error()));
        }
        Ok(MemorySegment { start: start.cast(), bytes })
    }
}

impl Drop for MemorySegment {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and no part of it is in use any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// Numbers in the file.
pub struct Mapped {
    segment: Arc<MemorySegment>,
    first: usize,
    count: usize,
}

impl Mapped {
    fn start(&self) -> *mut u32 {
        // SAFETY: the part lies within the segment.
        unsafe { self.segment.start.add(self.first) }
    }
}

/// Numbers that are written once.
pub enum WriteOnce {
    /// Numbers in memory.
    Here(Vec<u32>),
    /// Numbers in the file.
    Mapped(Mapped),
}

impl Deref for WriteOnce {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            WriteOnce::Here(numbers) => numbers,
            // SAFETY: this part is not written to after it was filled.
            WriteOnce::Mapped(part) => unsafe {
                std::slice::from_raw_parts(part.start(), part.count)
            },
        }
    }
}

/// Numbers that change while threads read them.
pub enum SharedNumbers {
    /// Numbers in memory.
    Here(Vec<AtomicU32>),
    /// Numbers in the file.
    Mapped(Mapped),
}

impl Deref for SharedNumbers {
    type Target = [AtomicU32];

    fn deref(&self) -> &[AtomicU32] {
        match self {
            SharedNumbers::Here(links) => links,
            // SAFETY: an atomic number lies as a plain one, and this part is used so only.
            SharedNumbers::Mapped(part) => unsafe {
                std::slice::from_raw_parts(part.start().cast(), part.count)
            },
        }
    }
}

impl ChunkMemory for BuildMemory {
    type Numbers = WriteOnce;
    type Links = SharedNumbers;

    fn numbers(&mut self, numbers: Vec<u32>) -> Result<WriteOnce> {
        if self.take(numbers.len()) {
            return Ok(WriteOnce::Here(numbers));
        }
        let part = self.mapped(numbers.len())?;
        // SAFETY: the part is as long, and nothing else has it.
        unsafe { std::ptr::copy_nonoverlapping(numbers.as_ptr(), part.start(), numbers.len()) };
        Ok(WriteOnce::Mapped(part))
    }

    fn links(&mut self, count: usize) -> Result<SharedNumbers> {
        if self.take(count) {
            let mut links = Vec::new();
            if links.try_reserve_exact(count).is_ok() {
                links.resize_with(count, AtomicU32::default);
                return Ok(SharedNumbers::Here(links));
            }
            // The system has less memory than the setting allows.
            self.left = 0;
        }
        Ok(SharedNumbers::Mapped(self.mapped(count)?))
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    /// Of files that have not been used for long PostgreSQL closes some, where a process has too many open.
    #[pg_extern]
    fn the_file_of_a_build_grows_after_it_was_closed() {
        let part = |memory: &mut BuildMemory| {
            let part = memory.links(SEGMENT / size_of::<u32>());
            part.unwrap_or_else(|error| panic!("{error}"))
        };
        let mut memory = BuildMemory::new(0);
        let first = part(&mut memory);
        first[1].store(7, Ordering::Relaxed);
        // SAFETY: a setting of this process, and files that go with the transaction if not before.
        let others: Vec<pg_sys::File> = unsafe {
            (0..pg_sys::max_safe_fds).map(|_| pg_sys::OpenTemporaryFile(false)).collect()
        };
        let second = part(&mut memory);
        second[1].store(8, Ordering::Relaxed);
        let both = [&first, &second].map(|part| part[1].load(Ordering::Relaxed));
        assert_eq!(both, [7, 8]);
        // SAFETY: they are open.
        others.into_iter().for_each(|file| unsafe { pg_sys::FileClose(file) });
    }
}
