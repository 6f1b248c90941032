//! Would two configurations differ so much by chance?
//!
//! The paired randomization test (Fisher, The Design of Experiments, 1935; for retrieval Smucker,
//! Allan and Carterette, CIKM 2007). If both configurations were equally good, which score of a
//! case belongs to which would be a toss: so the sign of each difference is tossed again and again,
//! and p is the share of tosses whose sum is at least as far from zero as the one that was
//! measured. It is two-sided and supposes no distribution. The other tests that Smucker and others
//! compare approximate it.
//!
//! With few differences all tosses are counted, and p is exact. With many, so many of them are
//! drawn, and p is (those as far + 1) / (all + 1), which is never 0 (Phipson and Smyth, 2010).
//!
//! The sum of a toss is looked up and not added: for each eight differences a table has the sums of
//! all 256 ways to toss them.

use crate::random::Random;

/// Differences that share a table.
const TOGETHER: usize = 8;

/// Up to so many differences all tosses are counted.
const FEW: usize = 12;

/// The probability that the mean of `differences` would be as far from zero by chance.
///
/// `draws` tosses are drawn, with random numbers that begin at `seed`. `interrupt` is called now
/// and then, and may unwind.
pub fn p_value(differences: &[f64], draws: u32, seed: u64, interrupt: &mut dyn FnMut()) -> f64 {
    // Cases on which both do equally well are the same however the toss falls.
    let differences: Vec<f64> = differences.iter().copied().filter(|it| *it != 0.0).collect();
    let tables: Vec<[f64; 256]> = differences.chunks(TOGETHER).map(table).collect();
    let far = limit(&differences);
    let is_far = |toss: &mut dyn FnMut() -> u8| {
        let sum: f64 = tables.iter().map(|table| table[usize::from(toss())]).sum();
        sum.abs() >= far
    };
    if differences.len() <= FEW {
        let all = 1u32 << differences.len();
        let count = (0..all).filter(|signs| is_far(&mut bytes_of(*signs))).count();
        return count as f64 / f64::from(all);
    }
    let mut random = Random::new(seed);
    let mut count = 0u32;
    for _ in 0..draws {
        interrupt();
        count += u32::from(is_far(&mut byte_after_byte(&mut random)));
    }
    f64::from(count + 1) / f64::from(draws + 1)
}

/// From which absolute sum on a toss is as far from zero as what was measured. A little less than
/// that: the same numbers added in another order may have another last digit.
fn limit(differences: &[f64]) -> f64 {
    let (sum, size) =
        differences.iter().fold((0.0, 0.0), |(sum, size), it| (sum + it, size + it.abs()));
    f64::abs(sum) - 1e-9 * size
}

/// The sums of up to eight differences: bit n of the index says that the sign of the nth is turned.
fn table(differences: &[f64]) -> [f64; 256] {
    let mut table = [0.0; 256];
    for (signs, sum) in table.iter_mut().enumerate() {
        let signed = differences.iter().enumerate();
        *sum = signed.map(|(at, it)| if signs >> at & 1 == 1 { -it } else { *it }).sum();
    }
    table
}

/// The bytes of a number, lowest first.
fn bytes_of(mut signs: u32) -> impl FnMut() -> u8 {
    move || {
        let byte = signs as u8;
        signs >>= 8;
        byte
    }
}

/// The bytes of one random number after the other.
fn byte_after_byte(random: &mut Random) -> impl FnMut() -> u8 + '_ {
    let (mut bits, mut left) = (0, 0);
    move || {
        if left == 0 {
            (bits, left) = (random.bits(), 8);
        }
        let byte = bits as u8;
        (bits, left) = (bits >> 8, left - 1);
        byte
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The share of tosses of signs whose sum is as far from 0 as that of `differences`, each sign
    /// tossed and added by itself.
    fn naive(differences: &[f64], draws: u32, seed: u64) -> f64 {
        let differences: Vec<f64> = differences.iter().copied().filter(|it| *it != 0.0).collect();
        let sum: f64 = differences.iter().sum();
        let size: f64 = differences.iter().map(|it| it.abs()).sum();
        let mut random = Random::new(seed);
        let mut count = 0;
        for draw in 0..draws {
            let mut bits = Vec::new();
            while bits.len() < differences.len() {
                let word = if differences.len() <= FEW { u64::from(draw) } else { random.bits() };
                bits.extend((0..64).map(|at| word >> at & 1 == 1));
            }
            let tossed: f64 = differences
                .iter()
                .zip(bits)
                .map(|(it, turned)| if turned { -it } else { *it })
                .sum();
            count += u32::from(tossed.abs() >= sum.abs() - 1e-9 * size);
        }
        match differences.len() <= FEW {
            true => f64::from(count) / f64::from(draws),
            false => f64::from(count + 1) / f64::from(draws + 1),
        }
    }

    proptest! {
        #[test]
        fn tables_give_what_adding_gives(
            differences in proptest::collection::vec((-4i32..5).prop_map(|it| f64::from(it) / 4.0), 0..50),
            seed: u64,
        ) {
            let nonzero = differences.iter().filter(|it| **it != 0.0).count();
            let draws = if nonzero <= FEW { 1 << nonzero } else { 200 };
            let p = p_value(&differences, draws, seed, &mut || ());
            prop_assert!((p - naive(&differences, draws, seed)).abs() < 1e-12);
            prop_assert!(0.0 < p && p <= 1.0);
        }
    }

    fn check(differences: &[f64], expected: f64) {
        let p = p_value(differences, 9_999, 1, &mut || ());
        assert!((p - expected).abs() < 1e-12, "{differences:?}: {p}, not {expected}");
    }

    #[test]
    fn of_few_differences_p_is_exact() {
        check(&[], 1.0);
        check(&[0.0; 50], 1.0);
        check(&[0.3], 1.0);
        // All eight of the same sign: 2 of 256 tosses are as far.
        check(&[0.1; 8], 2.0 / 256.0);
        check(&[0.1, 0.1, 0.1, -0.1], 10.0 / 16.0);
        check(&[1.0, 2.0, 3.0], 2.0 / 8.0);
    }

    #[test]
    fn of_equal_configurations_every_p_is_as_likely() {
        let mut random = Random::new(3);
        let mut below = 0;
        for seed in 0..400 {
            let toss = |random: &mut Random| (random.below(2001) as f64 - 1000.0) / 1000.0;
            let differences: Vec<f64> = (0..40).map(|_| toss(&mut random)).collect();
            below += usize::from(p_value(&differences, 499, seed, &mut || ()) <= 0.1);
        }
        assert!((22..=60).contains(&below), "{below} of 400, 40 expected");
    }

    #[test]
    fn a_clear_difference_has_the_smallest_p() {
        let differences: Vec<f64> = (0..100).map(|n| 0.1 + f64::from(n % 7) / 100.0).collect();
        check(&differences, 1.0 / 10_000.0);
    }
}
