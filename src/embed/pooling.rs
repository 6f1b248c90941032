//! From one vector a token to one vector a text.

use crate::error::{Error, Result};

/// Which tokens of a text its vector is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The mean over the tokens that are not padding.
    Mean,
    /// The vector of the first token.
    Cls,
    /// The last token that is not padding.
    Last,
}

impl Pooling {
    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            Pooling::Mean => "mean",
            Pooling::Cls => "cls",
            Pooling::Last => "last",
        }
    }

    /// Makes one vector of a text's token vectors.
    ///
    /// `hidden` holds the vectors of at least `length` tokens, `dimension` numbers each;
    /// what comes after them is padding and doesn't count. `length` and `dimension` are
    /// at least 1.
    pub fn pool(self, hidden: &[f32], length: usize, dimension: usize) -> Vec<f32> {
        match self {
            Pooling::Mean => mean(&hidden[..length * dimension], dimension),
            Pooling::Cls => hidden[..dimension].to_vec(),
            Pooling::Last => hidden[(length - 1) * dimension..length * dimension].to_vec(),
        }
    }
}

/// The mean of vectors that lie one after the other.
///
/// Token after token rather than number after number, so that memory is read in order.
fn mean(vectors: &[f32], dimension: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dimension];
    for vector in vectors.chunks_exact(dimension) {
        for (total, value) in sum.iter_mut().zip(vector) {
            *total += value;
        }
    }
    let scale = dimension as f32 / vectors.len() as f32;
    sum.iter_mut().for_each(|total| *total *= scale);
    sum
}

/// Scales `vector` to length 1. A vector of zeros has no direction and stays as it is.
///
/// The squares are summed in double precision: those of numbers near 1e20 are beyond single precision, and those of
/// numbers near 1e-23 vanish in it.
pub fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    }
}

/// Fails if a model gave something that is not a number, which no index could hold.
pub fn check_finite(vector: &[f32], model: &str) -> Result<()> {
    match vector.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(Error::new(
            crate::error::ErrorKind::ModelFailed,
            format!("model \"{model}\" gave the value {value}"),
        )
        .hint("Its file is damaged or was converted wrongly.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, one number at a time.
    fn naive_mean(hidden: &[f32], length: usize, dimension: usize) -> Vec<f32> {
        (0..dimension)
            .map(|i| {
                (0..length).map(|t| f64::from(hidden[t * dimension + i])).sum::<f64>()
                    / length as f64
            })
            .map(|value| value as f32)
            .collect()
    }

    const HIDDEN: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 100.0, 100.0];

    #[test]
    fn padding_does_not_count() {
        assert_eq!(Pooling::Mean.pool(&HIDDEN, 2, 2), [2.0, 3.0]);
        assert_eq!(Pooling::Cls.pool(&HIDDEN, 2, 2), [1.0, 2.0]);
        assert_eq!(Pooling::Last.pool(&HIDDEN, 2, 2), [3.0, 4.0]);
    }

    #[test]
    fn zeros_stay_zeros() {
        let mut zeros = [0.0, 0.0];
        normalize(&mut zeros);
        assert_eq!(zeros, [0.0, 0.0]);
        let mut vector = [3.0, 4.0];
        normalize(&mut vector);
        assert_eq!(vector, [0.6, 0.8]);
    }

    #[test]
    fn a_length_beyond_single_precision_is_a_length() {
        for scale in [1e20_f32, 1e37, 1e-30] {
            let mut vector = [-3.0 * scale, 4.0 * scale];
            normalize(&mut vector);
            assert!((vector[0] + 0.6).abs() < 1e-6, "{scale}: {vector:?}");
            assert!((vector[1] - 0.8).abs() < 1e-6, "{scale}: {vector:?}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_an_error() {
        assert!(check_finite(&[0.0, 1.0], "m").is_ok());
        let error = check_finite(&[0.0, f32::NAN], "m").unwrap_err();
        assert_eq!(error.message(), "model \"m\" gave the value NaN");
        assert_eq!(error.kind(), crate::error::ErrorKind::ModelFailed);
    }

    proptest! {
        #[test]
        fn mean_is_the_mean(
            hidden in prop::collection::vec(-10.0_f32..10.0, 24..=24),
            length in 1_usize..=6,
        ) {
            let fast = Pooling::Mean.pool(&hidden, length, 4);
            for (fast, naive) in fast.iter().zip(naive_mean(&hidden, length, 4)) {
                prop_assert!((fast - naive).abs() < 1e-4, "{fast} is not {naive}");
            }
        }
    }
}
