//! # bounds: between which values is the operator's, of a vector that the index holds in a compact form?
//!
//! ```text
//! (probe, payload) → lower and upper bound of the operator's value
//! ```
//!
//! Residuals bound what the forms lost: by the triangle inequality for L2 and L1, by Cauchy and
//! Schwarz for the dot product. A further allowance is for rounding, here and in the operator,
//! whose sums are in single precision.

use super::space::{DistanceMetric, EPSILON, Fit, OVERFLOW, Space, Storage};
use super::sq8;

/// Where the operator's value lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueBounds {
    /// The value is not below this.
    pub lower: f64,
    /// Nor above this.
    pub upper: f64,
}

impl ValueBounds {
    /// Of a value of which nothing is known.
    pub const NONE: ValueBounds = ValueBounds { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
}

impl Space {
    /// The lower of [`Space::bounds`].
    #[must_use]
    pub fn lower_bound(&self, a: Fit, b: Fit, distance: f32) -> f64 {
        self.bounds(a, b, f64::from(distance)).lower
    }

    /// The bounds by all that is known of a probe and a payload, other than in a walk, which takes what is quick to
    /// read. `probe` is what [`Space::probe`] gave, and the space is none that [`Space::is_estimate`].
    #[must_use]
    pub fn fine_bounds(&self, probe: &[u8], payload: &[u8]) -> ValueBounds {
        let (a, b) = (self.fit(probe), self.fit(payload));
        if !self.has_fine_probe() {
            return self.bounds(a, b, f64::from(self.distance(probe, payload)));
        }
        if !(a.residual.is_finite() && b.residual.is_finite()) {
            return ValueBounds::NONE;
        }
        let dimensions = self.dimensions as usize;
        let (residual, norm) = sq8::fine_residual_and_norm(probe, dimensions);
        let a = Fit { residual, norm };
        let dot = sq8::fine_dot(probe, payload, dimensions);
        let square = |fit: Fit| f64::from(fit.norm).powi(2);
        let distance = match self.metric {
            DistanceMetric::L2 => (square(a) + square(b) - 2.0 * dot).max(0.0),
            DistanceMetric::Cosine => 1.0 - dot,
            _ => -dot,
        };
        self.bounds(a, b, distance)
    }

    /// Values between which the operator's lies, for two vectors that were encoded (unless
    /// [`Space::is_estimate`]: then it is the estimate); `distance` is what [`Space::distance`]
    /// gave for the payloads.
    #[must_use]
    pub fn bounds(&self, a: Fit, b: Fit, distance: f64) -> ValueBounds {
        let within = |middle: f64, by: f64| ValueBounds { lower: middle - by, upper: middle + by };
        match (self.storage, self.metric) {
            (Storage::Bits, _) => return within(distance, 4.0 * EPSILON),
            // No bound: what it comes to, as well as is known.
            (Storage::Binary, DistanceMetric::L2) => return within(distance.max(0.0).sqrt(), 0.0),
            (Storage::Binary, _) => return within(distance, 0.0),
            _ => {}
        }
        let residual = |fit: Fit| f64::from(fit.residual);
        let norm = |fit: Fit| f64::from(fit.norm);
        let rounding = EPSILON * (f64::from(self.dimensions) + 16.0);
        let underflow = f64::from(f32::MIN_POSITIVE) * 2.0 * f64::from(self.dimensions);
        let found = match self.metric {
            DistanceMetric::L2 => {
                let cancelled = match self.storage {
                    Storage::Sq8 => 8.0 * EPSILON * (norm(a).powi(2) + norm(b).powi(2)),
                    _ => 0.0,
                };
                let least = (distance * (1.0 - rounding) - cancelled - underflow).max(0.0);
                let most = distance * (1.0 + rounding) + cancelled + underflow;
                let lost = residual(a) + residual(b);
                ValueBounds {
                    lower: (least.sqrt() - lost) * (1.0 - rounding),
                    upper: (most.sqrt() + lost) * (1.0 + rounding),
                }
            }
            DistanceMetric::L1 => {
                let lost = residual(a) + residual(b);
                ValueBounds {
                    lower: (distance * (1.0 - rounding) - lost) * (1.0 - rounding),
                    upper: (distance * (1.0 + rounding) + lost) * (1.0 + rounding),
                }
            }
            _ => {
                let whole = norm(a) + residual(a);
                let both = whole * (norm(b) + residual(b));
                if both > OVERFLOW {
                    return ValueBounds::NONE;
                }
                let lost = residual(b) * whole + residual(a) * norm(b);
                within(distance, lost + underflow + 2.0 * rounding * both)
            }
        };
        // Squares that the operator sums may become infinite.
        let largest = if self.metric == DistanceMetric::L2 { OVERFLOW.sqrt() } else { OVERFLOW };
        let is_bounded = found.upper.is_finite() && found.upper < largest;
        let lower = match (found.lower.is_finite(), self.metric) {
            (false, _) => f64::NEG_INFINITY,
            (true, DistanceMetric::L2 | DistanceMetric::L1) => found.lower.max(0.0),
            (true, _) => found.lower,
        };
        ValueBounds { lower, upper: if is_bounded { found.upper } else { f64::INFINITY } }
    }
}
