//! The changed rows of the transaction under way, until its commit.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use pgrx::prelude::*;

use super::keys::{self, SourceKey};
use crate::pg::changes::intake;
use crate::pg::processes::registry;
use crate::pg::server::error::OrReport;
use crate::pg::server::transaction::has_one_snapshot;
use crate::scheduling::changed_keys::{ChangedKeys, RowKey};

/// Keys that are kept in memory before they are written, while that is possible: what is written
/// in a subtransaction goes with it.
const MOST_KEPT: usize = 10_000;

#[derive(Default)]
struct Noted {
    pipelines: BTreeMap<i32, NotedChanges>,
    /// Whether workers have something to do once this has been committed.
    wakes: bool,
}

#[derive(Default)]
struct NotedChanges {
    keys: ChangedKeys,
    /// Taken by a subtransaction further in, which may yet be rolled back without them.
    taken: ChangedKeys,
    has_gone: bool,
    /// Whether rows have changed, it is not known which.
    has_unknown: bool,
    /// Whether there have been rows without a key.
    has_keyless: bool,
}

thread_local! {
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };
    /// Whether workers are to be woken by the commit under way.
    static WAKES: Cell<bool> = const { Cell::new(false) };
}

/// Notes that the row with this key has changed.
pub fn key(pipeline: i32, key: RowKey<'_>, wakes: bool) {
    // SAFETY: reads the transaction's state. Inner subtransactions have higher numbers.
    let here = unsafe { pg_sys::GetCurrentSubTransactionId() };
    let (is_first, is_full) = with(|noted| {
        let is_first = noted.pipelines.is_empty();
        noted.wakes |= wakes;
        let keys = &mut noted.pipelines.entry(pipeline).or_default().keys;
        keys.note(key, here);
        (is_first, keys.len() >= MOST_KEPT)
    });
    if is_first {
        intake::keep();
    }
    // SAFETY: reads the transaction's state.
    if is_full && unsafe { pg_sys::GetCurrentTransactionNestLevel() } == 1 {
        write();
    }
}

/// Notes that rows have gone, it is not known which.
pub fn gone(pipeline: i32, wakes: bool) {
    with(|noted| {
        noted.wakes |= wakes;
        noted.pipelines.entry(pipeline).or_default().has_gone = true;
    });
}

/// Notes that a row without a key has come, changed or gone; whether it is the first one since something was last written.
pub fn keyless(pipeline: i32, wakes: bool) -> bool {
    let (is_first_of_all, is_first) = with(|noted| {
        let is_first_of_all = noted.pipelines.is_empty();
        noted.wakes |= wakes;
        let changes = noted.pipelines.entry(pipeline).or_default();
        (is_first_of_all, !std::mem::replace(&mut changes.has_keyless, true))
    });
    if is_first_of_all {
        intake::keep();
    }
    is_first
}

/// Notes that a row has changed of a pipeline that was made after the snapshot of this transaction:
/// what its key is, and which process does the work, can't be read.
pub fn unknown(pipeline: i32) {
    with(|noted| {
        noted.wakes = true;
        noted.pipelines.entry(pipeline).or_default().has_unknown = true;
    });
}

/// Sees to what is to be done at the end of the transaction.
pub fn follow_transaction() {
    with(|_| ());
}

/// Has workers look once the transaction has committed: it has written something for them.
pub fn wake_at_commit() {
    with(|noted| noted.wakes = true);
}

/// Whether keys are noted for a pipeline.
pub fn has_keys(pipeline: i32) -> bool {
    with(|noted| noted.pipelines.get(&pipeline).is_some_and(|changes| !changes.keys.is_empty()))
}

/// The keys noted for a pipeline: the caller sees to them. What it does to keys that were noted
/// outside of its subtransaction may be rolled back without their changes, so workers look at
/// those once more; at all of them, if that `is_not_all`.
pub fn take(pipeline: i32, is_not_all: bool) -> Vec<SourceKey> {
    // SAFETY: reads the transaction's state.
    let here = unsafe { pg_sys::GetCurrentSubTransactionId() };
    with(|noted| {
        let Some(changes) = noted.pipelines.get_mut(&pipeline) else { return Vec::new() };
        let keys = std::mem::take(&mut changes.keys);
        let keys = keys.distinct();
        for (key, noted_by) in &keys {
            if is_not_all || *noted_by < here {
                changes.taken.note(*key, *noted_by);
                noted.wakes = true;
            }
        }
        keys.into_keys().map(RowKey::texts).collect()
    })
}

fn with<R>(work: impl FnOnce(&mut Noted) -> R) -> R {
    NOTED.with_borrow_mut(|noted| {
        work(noted.get_or_insert_with(|| {
            // SAFETY: registered once a session; the callbacks are functions of this library,
            // which is never unloaded.
            unsafe {
                pg_sys::RegisterXactCallback(Some(at_end), std::ptr::null_mut());
                pg_sys::RegisterResourceReleaseCallback(Some(at_release), std::ptr::null_mut());
            }
            Noted::default()
        }))
    })
}

#[pg_guard]
unsafe extern "C-unwind" fn at_end(
    event: pg_sys::XactEvent::Type,
    _argument: *mut std::ffi::c_void,
) {
    use pg_sys::XactEvent::{
        XACT_EVENT_ABORT, XACT_EVENT_COMMIT, XACT_EVENT_PRE_COMMIT, XACT_EVENT_PRE_PREPARE,
        XACT_EVENT_PREPARE,
    };
    // No other transaction goes by its snapshot.
    if has_one_snapshot() && !matches!(event, XACT_EVENT_PRE_COMMIT | XACT_EVENT_PRE_PREPARE) {
        keys::forget_all();
    }
    match event {
        XACT_EVENT_PRE_COMMIT | XACT_EVENT_PRE_PREPARE => write(),
        XACT_EVENT_COMMIT => {
            let noted = with(std::mem::take);
            WAKES.set(noted.wakes);
        }
        XACT_EVENT_ABORT | XACT_EVENT_PREPARE => drop(with(std::mem::take)),
        _ => {}
    }
}

/// Wakes workers when others know of the commit: before that they would see old definitions, and
/// wait for the session's locks.
#[pg_guard]
unsafe extern "C-unwind" fn at_release(
    phase: pg_sys::ResourceReleasePhase::Type,
    _is_commit: bool,
    is_top_level: bool,
    _argument: *mut std::ffi::c_void,
) {
    let is_last = phase == pg_sys::ResourceReleasePhase::RESOURCE_RELEASE_AFTER_LOCKS;
    if is_last && is_top_level && WAKES.replace(false) {
        registry::after_commit();
    }
}

/// Writes what has been noted to `rag.intake`.
fn write() {
    let pipelines = with(|noted| std::mem::take(&mut noted.pipelines));
    let mut writer = None;
    for (pipeline, changes) in pipelines {
        let NotedChanges { keys, taken, has_gone, has_unknown, has_keyless } = changes;
        let kinds = [
            (has_gone, intake::ChangeKind::Gone),
            (has_unknown, intake::ChangeKind::All),
            (has_keyless, intake::ChangeKind::Keyless),
        ];
        if kinds.iter().all(|(is_so, _)| !is_so) && keys.is_empty() && taken.is_empty() {
            continue;
        }
        let Some(writer) = writer.get_or_insert_with(intake::IntakeWriter::open) else { return };
        for (_, kind) in kinds.into_iter().filter(|(is_so, _)| *is_so) {
            writer.append_kind(pipeline, kind).or_report();
        }
        writer.append_keys(pipeline, keys.iter().chain(taken.iter())).or_report();
    }
}
