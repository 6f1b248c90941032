//! How fast is an index at a given recall?
//!
//! Measured are a few values of ef_search, and each index has other recalls there. Between two
//! of them the logarithm of the speed is taken for linear in recall.

/// What one value of `ef_search` gives.
#[derive(Clone, Copy)]
pub struct Point {
    pub ef: u32,
    pub recall: f64,
    /// Queries a second.
    pub speed: f64,
}

/// The speed at a recall.
#[derive(Clone, Copy)]
pub enum Speed {
    Is(f64),
    /// Already the smallest `ef_search` has a better recall.
    AtLeast(f64),
    /// No `ef_search` has it.
    Unreached,
}

/// The speed at a recall, from points in the order of `ef_search`.
pub fn speed_at(recall: f64, points: &[Point]) -> Speed {
    let Some(at) = points.iter().position(|point| point.recall >= recall) else {
        return Speed::Unreached;
    };
    if at == 0 {
        return Speed::AtLeast(points[0].speed);
    }
    let (below, above) = (points[at - 1], points[at]);
    let share = (recall - below.recall) / (above.recall - below.recall);
    let logarithm = below.speed.ln() + share * (above.speed.ln() - below.speed.ln());
    Speed::Is(logarithm.exp())
}

impl Speed {
    /// For a table: a number that is known, one that is at least so much, or a dash.
    pub fn text(self) -> String {
        match self {
            Speed::Is(speed) => format!("{speed:.0}"),
            Speed::AtLeast(speed) => format!("≥ {speed:.0}"),
            Speed::Unreached => "–".to_owned(),
        }
    }

    /// Of milliseconds a query.
    pub fn milliseconds(self) -> String {
        match self {
            Speed::Is(speed) => format!("{:.3}", 1e3 / speed),
            Speed::AtLeast(speed) => format!("≤ {:.3}", 1e3 / speed),
            Speed::Unreached => "–".to_owned(),
        }
    }

    /// How many times `theirs` this is. A bound on one side is one of the ratio; of two
    /// bounds there is none.
    pub fn ratio(self, theirs: Speed) -> String {
        match (self, theirs) {
            (Speed::Is(ours), Speed::Is(theirs)) => format!("{:.2} ×", ours / theirs),
            (Speed::AtLeast(ours), Speed::Is(theirs)) => format!("≥ {:.2} ×", ours / theirs),
            (Speed::Is(ours), Speed::AtLeast(theirs)) => format!("≤ {:.2} ×", ours / theirs),
            _ => "–".to_owned(),
        }
    }
}
