//! # scalar_quantization: which codes stand for these elements, and what do they lose?
//!
//! ```text
//! elements → scale and offset → codes from -127 to 127
//! ```
//!
//! Each query encodes its vector, and with many dimensions that is a good part of its time. So sums are added eight side by side
//! and numbers are rounded without a call, for the compiler to vectorise.

use std::ops::RangeInclusive;

/// Sums that are added side by side.
const LANES: usize = 8;

/// The codes of sq8.
const CODES: RangeInclusive<i32> = -127..=127;

/// 1.5 times 2^52: what is added to it is rounded to a whole number, which is then in the lowest bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// The whole number within `range` that is nearest to `steps`, of two the even one.
pub fn nearest_within(range: &RangeInclusive<i32>, steps: f64) -> i32 {
    let steps = steps.clamp(f64::from(*range.start()), f64::from(*range.end()));
    (steps + WHOLE).to_bits() as i32
}

/// `element ≈ offset + scale * code`, by the range of a vector's own elements.
#[derive(Clone, Copy, Debug)]
pub struct CodeScale {
    /// The step from one code to the next; 0 where all elements are the same.
    pub scale: f32,
    /// The element whose code is 0.
    pub offset: f32,
}

impl CodeScale {
    /// The scale by which the least and the greatest of `numbers` get the codes -127 and 127.
    pub fn of(numbers: &[f32]) -> CodeScale {
        let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
        each_in_lanes(numbers, |lane, x| {
            low[lane] = if x < low[lane] { x } else { low[lane] };
            high[lane] = if x > high[lane] { x } else { high[lane] };
        });
        let low = f64::from(low.into_iter().fold(f32::INFINITY, f32::min));
        let high = f64::from(high.into_iter().fold(f32::NEG_INFINITY, f32::max));
        let scale = ((high - low) / f64::from(CODES.end() - CODES.start())) as f32;
        CodeScale { scale, offset: ((high + low) / 2.0) as f32 }
    }

    /// The reciprocal of the scale; 0 where that is 0.
    pub fn per_step(self) -> f64 {
        if self.scale > 0.0 { 1.0 / f64::from(self.scale) } else { 0.0 }
    }

    /// Writes the codes of `numbers` and returns their sum.
    pub fn encode(self, numbers: &[f32], into: &mut [u8]) -> i32 {
        let (offset, per_step) = (f64::from(self.offset), self.per_step());
        let mut sum = 0;
        for (to, x) in into.iter_mut().zip(numbers) {
            let code = nearest_within(&CODES, (f64::from(*x) - offset) * per_step);
            sum += code;
            *to = code as u8;
        }
        sum
    }

    /// The element that `code` stands for.
    pub fn decode(self, code: i8) -> f64 {
        f64::from(self.offset) + f64::from(self.scale) * f64::from(code)
    }
}

/// How far a vector is from what its codes stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CodingLoss {
    /// The sum of the differences.
    pub l1: f64,
    /// The square of the Euclidean distance.
    pub squared_l2: f64,
    /// The square of the Euclidean length of what the codes stand for.
    pub squared_norm: f64,
}

impl CodingLoss {
    /// Compares `stored` with the elements that it stands for, which are as many.
    pub fn of<T: Copy + Into<f64>>(stored: &[T], numbers: &[f32]) -> CodingLoss {
        assert_eq!(stored.len(), numbers.len(), "each element has a code");
        let [mut l1, mut squared_l2, mut squared_norm] = [[0f64; LANES]; 3];
        let mut add = |lane: usize, stored: f64, x: f32| {
            let difference = stored - f64::from(x);
            l1[lane] += difference.abs();
            squared_l2[lane] += difference * difference;
            squared_norm[lane] += stored * stored;
        };
        let ((of_stored, stored), (of_numbers, numbers)) =
            (stored.as_chunks::<LANES>(), numbers.as_chunks::<LANES>());
        for (stored, numbers) in of_stored.iter().zip(of_numbers) {
            (0..LANES).for_each(|lane| add(lane, stored[lane].into(), numbers[lane]));
        }
        for (lane, (stored, x)) in stored.iter().zip(numbers).enumerate() {
            add(lane, (*stored).into(), *x);
        }
        let [l1, squared_l2, squared_norm] =
            [l1, squared_l2, squared_norm].map(|lanes| lanes.into_iter().sum());
        CodingLoss { l1, squared_l2, squared_norm }
    }
}

/// The sum of the squares.
pub fn squared_norm(numbers: &[f32]) -> f64 {
    let mut sums = [0f64; LANES];
    each_in_lanes(numbers, |lane, x| sums[lane] += f64::from(x) * f64::from(x));
    sums.into_iter().sum()
}

/// Calls `take` with each number, and with which of the sums side by side it goes into.
fn each_in_lanes(numbers: &[f32], mut take: impl FnMut(usize, f32)) {
    let (blocks, rest) = numbers.as_chunks::<LANES>();
    for block in blocks {
        (0..LANES).for_each(|lane| take(lane, block[lane]));
    }
    rest.iter().enumerate().for_each(|(lane, x)| take(lane, *x));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vectors() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1e3f32..1e3, 1..40)
    }

    proptest! {
        #[test]
        fn codes_are_the_nearest_there_are(numbers in vectors()) {
            let by = CodeScale::of(&numbers);
            let mut codes = vec![0; numbers.len()];
            let sum = by.encode(&numbers, &mut codes);
            let codes: Vec<i8> = codes.into_iter().map(|code| code as i8).collect();
            prop_assert_eq!(sum, codes.iter().map(|code| i32::from(*code)).sum::<i32>());
            let mut largest = 0;
            for (x, code) in numbers.iter().zip(&codes) {
                let away = (by.decode(*code) - f64::from(*x)).abs();
                // Scale and offset are rounded.
                prop_assert!(away <= f64::from(by.scale) * 0.5 + 1e-4, "{x} {code}");
                largest = largest.max(code.unsigned_abs());
            }
            // The ends of the range have the last codes.
            prop_assert!(by.scale < 1e-2 || largest == 127, "{}", largest);
        }

        #[test]
        fn sums_are_those_of_a_plain_loop(numbers in vectors(), shift in -1f32..1.0) {
            let stored: Vec<f32> = numbers.iter().map(|x| x + shift).collect();
            let pairs = || numbers.iter().zip(&stored).map(|(a, b)| (f64::from(*a), f64::from(*b)));
            let loss = CodingLoss::of(&stored, &numbers);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            prop_assert!(near(loss.l1, pairs().map(|(a, b)| (a - b).abs()).sum()));
            prop_assert!(near(loss.squared_l2, pairs().map(|(a, b)| (a - b).powi(2)).sum()));
            prop_assert!(near(loss.squared_norm, pairs().map(|(_, b)| b * b).sum()));
            prop_assert!(near(squared_norm(&numbers), pairs().map(|(a, _)| a * a).sum()));
        }
    }

    #[test]
    fn numbers_are_rounded_to_whole_ones_within_a_range() {
        for (steps, expected) in [
            (0.0, 0),
            (-0.4, 0),
            (0.6, 1),
            (-0.6, -1),
            (1.5, 2),
            (2.5, 2),
            (-126.7, -127),
            (900.0, 127),
            (-900.0, -127),
            (f64::INFINITY, 127),
        ] {
            assert_eq!(nearest_within(&CODES, steps), expected, "{steps}");
        }
        let same = CodeScale::of(&[7.5; 11]);
        assert_eq!((same.scale, same.offset, same.per_step()), (0.0, 7.5, 0.0));
    }
}
