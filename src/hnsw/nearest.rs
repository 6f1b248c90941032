//! # nearest: which of many rows come first?
//!
//! ```text
//! rows with bounds, in any order → the nearest after a certain one, as many as memory holds
//! ```

use super::page::RowId;

/// A row and its bound.
pub type NearCandidate = (f64, RowId);

/// The order of candidates: by bound, and then by row.
pub fn compare(a: &NearCandidate, b: &NearCandidate) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Puts candidates in order.
pub fn sort(rows: &mut [NearCandidate]) {
    rows.sort_unstable_by(compare);
}

/// The nearest rows of those offered that come after a certain one.
pub struct Nearest {
    rows: Vec<NearCandidate>,
    most: usize,
    after: Option<NearCandidate>,
    are_all: bool,
    offers: u64,
}

impl Nearest {
    /// At most twice `most` rows are kept at a time, and `most` in the end.
    #[must_use]
    pub fn after(after: Option<NearCandidate>, most: usize) -> Nearest {
        Nearest { rows: Vec::new(), most, after, are_all: true, offers: 0 }
    }

    /// How many rows were offered.
    #[must_use]
    pub fn offers(&self) -> u64 {
        self.offers
    }

    /// A row that may be among them.
    pub fn offer(&mut self, candidate: NearCandidate) {
        self.offers += 1;
        if self.after.is_none_or(|after| compare(&after, &candidate).is_lt()) {
            self.rows.push(candidate);
            if self.rows.len() > 2 * self.most {
                self.keep_first();
            }
        }
    }

    fn keep_first(&mut self) {
        self.rows.select_nth_unstable_by(self.most, compare);
        self.rows.truncate(self.most);
        self.are_all = false;
    }

    /// The rows, and whether they are all.
    pub fn rows(mut self) -> (Vec<NearCandidate>, bool) {
        if self.rows.len() > self.most {
            self.keep_first();
        }
        (self.rows, self.are_all)
    }
}
