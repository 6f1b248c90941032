//! # bounds: what is the operator's value between?
//!
//! ```text
//! (how well two forms fit their vectors, the distance of the forms) → lower bound, upper bound
//! ```
//!
//! The residuals bound what the forms lost: by the triangle inequality for L2 and L1, by Cauchy and Schwarz for the dot
//! product. A further allowance is for rounding, here and in the operator, whose sums are in single precision.

use super::space::{DistanceMetric, EPSILON, Fit, OVERFLOW, Space, Storage};

/// The operator's value is not below the one and not above the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueBounds {
    /// The highest value that is known not to be above the operator's.
    pub lower: f64,
    /// The lowest value that is known not to be below it; infinite where the operator's sum may be.
    pub upper: f64,
}

impl ValueBounds {
    /// Nothing is known.
    const NONE: ValueBounds = ValueBounds { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
}

impl Space {
    /// A value that the operator's, for two vectors that were encoded, is not below (unless
    /// [`Space::is_estimate`]: then it is the estimate); `distance` is what [`Space::distance`]
    /// gave for the payloads.
    #[must_use]
    pub fn lower_bound(&self, a: Fit, b: Fit, distance: f32) -> f64 {
        let distance = f64::from(distance);
        match (self.storage, self.metric) {
            (Storage::Bits, _) => distance - 4.0 * EPSILON,
            // No bound: what it comes to, as well as is known.
            (Storage::Binary, DistanceMetric::L2) => distance.max(0.0).sqrt(),
            (Storage::Binary, _) => distance,
            _ => self.bounds_allowing(a, b, distance, 2.0).lower,
        }
    }

    /// What the operator's value is between, for vectors of numbers whose forms have this distance (squared for L2), as
    /// exact as double precision has it.
    #[must_use]
    pub fn bounds(&self, a: Fit, b: Fit, distance: f64) -> ValueBounds {
        self.bounds_allowing(a, b, distance, 1.0)
    }

    /// As [`Space::bounds`]. `roundings` is how many roundings of a sum of products are allowed for. The cosine of the operator has
    /// one: that of the products, and half of each of two lengths.
    fn bounds_allowing(&self, a: Fit, b: Fit, distance: f64, roundings: f64) -> ValueBounds {
        let residuals = f64::from(a.residual) + f64::from(b.residual);
        let rounding = EPSILON * (f64::from(self.dimensions) + 16.0);
        let underflow = f64::from(f32::MIN_POSITIVE) * 2.0 * f64::from(self.dimensions);
        let norm = |fit: Fit| f64::from(fit.norm);
        let bounds = match self.metric {
            DistanceMetric::L2 => {
                let cancelled = match self.storage {
                    Storage::Sq8 => 8.0 * EPSILON * (norm(a).powi(2) + norm(b).powi(2)),
                    _ => 0.0,
                };
                let lower = (distance * (1.0 - rounding) - cancelled - underflow).max(0.0);
                let upper = distance * (1.0 + rounding) + cancelled + underflow;
                let upper = (upper.sqrt() + residuals) * (1.0 + 2.0 * rounding);
                ValueBounds {
                    lower: (lower.sqrt() - residuals) * (1.0 - rounding),
                    upper: if upper * upper > OVERFLOW { f64::INFINITY } else { upper },
                }
            }
            DistanceMetric::L1 => {
                let upper = (distance * (1.0 + rounding) + residuals) * (1.0 + 2.0 * rounding);
                ValueBounds {
                    lower: (distance * (1.0 - rounding) - residuals) * (1.0 - rounding),
                    upper: if upper > OVERFLOW { f64::INFINITY } else { upper },
                }
            }
            _ => {
                let whole = norm(a) + f64::from(a.residual);
                let other = norm(b) + f64::from(b.residual);
                if whole * other > OVERFLOW {
                    return ValueBounds::NONE;
                }
                let lost = f64::from(b.residual) * whole + f64::from(a.residual) * norm(b);
                let allowed = lost + underflow + roundings * rounding * whole * other;
                ValueBounds { lower: distance - allowed, upper: distance + allowed }
            }
        };
        match (bounds.lower.is_finite() && !bounds.upper.is_nan(), self.metric) {
            (false, _) => ValueBounds::NONE,
            (true, DistanceMetric::L2 | DistanceMetric::L1) => {
                ValueBounds { lower: bounds.lower.max(0.0), ..bounds }
            }
            (true, _) => bounds,
        }
    }
}
