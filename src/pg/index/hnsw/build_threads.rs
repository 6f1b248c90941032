//! The threads that link vectors during a build.
//!
//! They touch the builder and nothing else: no function of PostgreSQL is called on them, and
//! they block all signals. The session joins them before it goes on, and whatever happens to
//! it: an error unwinds through [`Threads`], whose end is to tell them and to wait.
//!
//! They are threads and not parallel workers, because the graph then lies in ordinary memory:
//! it grows as vectors come, and does not depend on the size of /dev/shm, which in containers
//! is 64 MB.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pgrx::prelude::*;

use super::build_memory::BuildMemory;
use crate::error::Result;
use crate::hnsw::build::{GraphBuilder, LinkProgress, broken};
use crate::hnsw::search_layer::SearchMemory;

/// Rows from which on it is worth while to have another thread.
const ROWS_OF_A_THREAD: f64 = 2000.0;
/// How long a thread rests that finds nothing to link.
const REST: Duration = Duration::from_micros(200);
/// Nodes that the session links between two looks at interrupts.
const TURN: usize = 16;

/// Threads that link nodes of the graph while the session reads the table.
pub struct Threads {
    stop: Arc<AtomicBool>,
    handles: Vec<JoinHandle<Result<()>>>,
}

impl Threads {
    /// Starts as many as `max_parallel_maintenance_workers` allows and `rows` are worth.
    pub fn start(builder: &Arc<GraphBuilder<BuildMemory>>, rows: f64) -> Threads {
        // SAFETY: a plain setting.
        let most = unsafe { pg_sys::max_parallel_maintenance_workers };
        let count = (rows / ROWS_OF_A_THREAD).min(f64::from(most)) as usize;
        let stop = Arc::new(AtomicBool::new(false));
        let mask = block_signals();
        let handles = (0..count).map_while(|_| {
            let (builder, stop) = (Arc::clone(builder), Arc::clone(&stop));
            thread::Builder::new().spawn(move || link(&builder, &stop)).ok()
        });
        let handles = handles.collect();
        restore_signals(&mask);
        Threads { stop, handles }
    }

    /// Links along until everything is linked. Calls `turn` now and then with how much is; an
    /// error may unwind from there.
    pub fn finish(
        &mut self,
        builder: &GraphBuilder<BuildMemory>,
        turn: &mut dyn FnMut(u32),
    ) -> Result<()> {
        let mut memory = SearchMemory::default();
        let mut steps = 0usize;
        while builder.link_next(&mut memory)? != LinkProgress::Complete {
            steps += 1;
            if steps.is_multiple_of(TURN) {
                turn(builder.linked());
            }
        }
        for handle in self.handles.drain(..) {
            handle.join().map_err(|_| broken("a thread ended early"))??;
        }
        turn(builder.linked());
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for handle in self.handles.drain(..) {
            // What it has to say is of no interest any more.
            let _ = handle.join();
        }
    }
}

fn link(builder: &GraphBuilder<BuildMemory>, stop: &AtomicBool) -> Result<()> {
    let mut memory = SearchMemory::default();
    while !stop.load(Ordering::Acquire) {
        match builder.link_next(&mut memory)? {
            LinkProgress::Linked => {}
            LinkProgress::Waiting => thread::sleep(REST),
            LinkProgress::Complete => break,
        }
    }
    Ok(())
}

/// Signals are for the session's own thread; new threads inherit the mask.
fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets are local ones, which the calls initialise.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    }
}

fn restore_signals(mask: &libc::sigset_t) {
    // SAFETY: the set was given by pthread_sigmask.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}
