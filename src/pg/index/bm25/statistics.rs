//! How frequent words are, the same for all that a statement does.
//!
//! A scan ranks by the statistics of its first look, and the operator computes the scores that are shown
//! beside the rows. If each looked for itself while others write, scores would not fall from row to row. So
//! what is found first is kept for the snapshot it was found under, and whoever asks next takes that.

use std::cell::RefCell;
use std::collections::VecDeque;

use pgrx::pg_sys;

use crate::bm25::{self, Bm25Search, Statistics, Term};
use crate::error::Result;
use crate::pg::index::opened_index::OpenedIndex;
use crate::pg::index::pages::Pages;
use crate::pg::server::row_security::hides_statistics;

/// How many questions are kept: those of the branches of a statement.
const KEPT: usize = 8;

thread_local! {
    static FOUND: RefCell<VecDeque<FoundStatistics>> = const { RefCell::new(VecDeque::new()) };
}

/// What tells the snapshots of a session apart. Each transaction has its own, even where no row has been
/// written since the last one: VACUUM changes the statistics too. Within a transaction each one with a
/// number that ends, and each command of the session's own that writes, makes another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SnapshotId {
    transaction: pg_sys::LocalTransactionId,
    xmin: u32,
    xmax: u32,
    running: u32,
    running_subtransactions: i32,
    command: u32,
}

impl SnapshotId {
    /// That of the statement under way; `None` where none is.
    fn active() -> Option<SnapshotId> {
        // SAFETY: a snapshot that is active stays where it is, and the numbers are copied.
        unsafe {
            if !pg_sys::ActiveSnapshotSet() {
                return None;
            }
            let snapshot = pg_sys::GetActiveSnapshot().as_ref()?;
            Some(SnapshotId {
                transaction: local_transaction_id(),
                xmin: snapshot.xmin.into(),
                xmax: snapshot.xmax.into(),
                running: snapshot.xcnt,
                running_subtransactions: snapshot.subxcnt,
                command: snapshot.curcid,
            })
        }
    }
}

/// The number that the transaction has within its session; it has one from its beginning.
fn local_transaction_id() -> pg_sys::LocalTransactionId {
    // SAFETY: MyProc is the session's own entry, which nothing else writes this field of.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        return (*pg_sys::MyProc).lxid;
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        return (*pg_sys::MyProc).vxid.lxid;
    }
}

struct FoundStatistics {
    snapshot: SnapshotId,
    index: pg_sys::Oid,
    terms: Vec<Term>,
    statistics: Statistics,
}

/// The statistics of `terms` in `index`, as far as the caller may know them: for a role that does not see
/// all rows all words are the same, or the scores of made-up texts would tell the words of hidden ones.
pub fn of_index(index: &OpenedIndex, terms: &[Term]) -> Result<Statistics> {
    if hides_statistics(index.oid())? {
        return Ok(Statistics::unknown(terms));
    }
    if let Some(known) = known(index.oid(), terms) {
        return Ok(known);
    }
    let found = bm25::statistics(&index.pages(), terms)?;
    keep(index.oid(), terms, &found);
    Ok(found)
}

/// The search of `terms` in the index that `pages` are of, by the statistics that the statement knows, or
/// by those of its own first look, which the statement knows from then on.
pub fn searched(
    pages: &Pages,
    index: pg_sys::Oid,
    terms: &[Term],
    mut search: Bm25Search,
) -> Result<Bm25Search> {
    if let Some(known) = known(index, terms) {
        return Ok(search.with_statistics(known));
    }
    keep(index, terms, search.statistics(pages)?);
    Ok(search)
}

fn known(index: pg_sys::Oid, terms: &[Term]) -> Option<Statistics> {
    let snapshot = SnapshotId::active()?;
    FOUND.with_borrow(|all| {
        let mut all = all.iter().filter(|it| it.snapshot == snapshot && it.index == index);
        all.find(|it| it.terms == terms).map(|it| it.statistics.clone())
    })
}

fn keep(index: pg_sys::Oid, terms: &[Term], statistics: &Statistics) {
    let Some(snapshot) = SnapshotId::active() else { return };
    let (terms, statistics) = (terms.to_vec(), statistics.clone());
    FOUND.with_borrow_mut(|all| {
        all.truncate(KEPT - 1);
        all.push_front(FoundStatistics { snapshot, index, terms, statistics });
    });
}
