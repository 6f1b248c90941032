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

/// The probability of the label `at`, by the softmax of all; 0 where there is no such label.
#[must_use]
pub fn probability_of(at: usize, logits: &[f32]) -> f32 {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - greatest).exp()).sum();
    logits.get(at).map_or(0.0, |logit| (logit - greatest).exp() / sum)
}

#[cfg(test)]
mod tests {
    use super::{probability, probability_of};

    #[test]
    fn one_label_of_several() {
        assert!((probability_of(1, &[1.0, 3.0]) - probability(&[1.0, 3.0])).abs() < 1e-6);
        assert!((probability_of(2, &[0.0, 0.0, 0.0]) - 1.0 / 3.0).abs() < 1e-6);
        assert!(probability_of(0, &[1000.0, -1000.0, 0.0]) > 0.999);
        assert_eq!((probability_of(3, &[1.0]), probability_of(0, &[])), (0.0, 0.0));
    }

    #[test]
    fn one_number_or_two() {
        assert_eq!(probability(&[0.0]), 0.5);
        assert!((probability(&[2.0]) - 0.880_797).abs() < 1e-6);
        assert!((probability(&[1.0, 3.0]) - 0.880_797).abs() < 1e-6);
        assert!((probability(&[-100.0])) < 1e-20 && probability(&[100.0]) == 1.0);
    }
}
