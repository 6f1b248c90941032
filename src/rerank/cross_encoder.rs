//! From what a cross-encoder gives for a pair to its score.

/// The probability that the passage is relevant: of one number its logistic function, of two
/// the softmax of the second.
#[must_use]
pub fn probability(logits: &[f32]) -> f32 {
    let margin = match logits {
        [no, yes] => yes - no,
        [yes, ..] => *yes,
        [] => 0.0,
    };
    1.0 / (1.0 + (-margin).exp())
}

#[cfg(test)]
mod tests {
    use super::probability;

    #[test]
    fn one_number_or_two() {
        assert_eq!(probability(&[0.0]), 0.5);
        assert!((probability(&[2.0]) - 0.880_797).abs() < 1e-6);
        assert!((probability(&[1.0, 3.0]) - 0.880_797).abs() < 1e-6);
        assert!((probability(&[-100.0])) < 1e-20 && probability(&[100.0]) == 1.0);
    }
}
