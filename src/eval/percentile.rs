//! Which value does a share of all values not exceed?

/// The smallest of `values` that at least the share `q` of them does not exceed (the nearest rank,
/// so a value that was measured and none between two); `None` of none.
///
/// The values come in any order, and are left in another.
pub fn percentile(values: &mut [f64], q: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let at = ((q * values.len() as f64).ceil() as usize).saturating_sub(1).min(last);
    let (_, value, _) = values.select_nth_unstable_by(at, f64::total_cmp);
    Some(*value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::percentile;

    fn check(values: &[f64], q: f64, expected: Option<f64>) {
        assert_eq!(percentile(&mut values.to_vec(), q), expected, "{values:?} at {q}");
    }

    #[test]
    fn a_percentile_is_a_value_that_was_measured() {
        let ten: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        check(&ten, 0.5, Some(5.0));
        check(&ten, 0.95, Some(10.0));
        check(&ten, 0.0, Some(1.0));
        check(&ten, 1.0, Some(10.0));
        check(&[3.0], 0.99, Some(3.0));
        check(&[], 0.5, None);
    }

    proptest! {
        #[test]
        fn it_is_what_sorting_and_counting_finds(
            values in proptest::collection::vec(-9.0..9.0f64, 1..40),
            q in 0.0..1.0f64,
        ) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let enough = |value: &&f64| {
                let share = sorted.iter().filter(|it| it <= value).count() as f64 / sorted.len() as f64;
                share >= q - 1e-12
            };
            let naive = sorted.iter().find(enough).copied();
            prop_assert_eq!(percentile(&mut values.clone(), q), naive);
        }
    }
}
