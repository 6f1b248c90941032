//! # rotation: how is a vector turned so that no element matters more than another?
//!
//! ```text
//! elements → elements of a random rotation, padded
//! ```
//!
//! Binary codes keep the sign of each element, which says most where all elements are of one
//! size. A random rotation makes them so, whatever the model put where (RaBitQ, Gao and Long,
//! SIGMOD 2024, section 3.1). Three rounds of random signs and Walsh-Hadamard transforms do for a
//! random matrix, at a cost of n log n; where the length is no power of two, a round transforms
//! the first and then the last elements, which overlap.

/// Elements are padded to a multiple of this.
const PADDING: usize = 64;
const ROUNDS: u64 = 3;

/// Elements of a vector of so many dimensions, once it is rotated.
#[must_use]
pub fn rotated_dimensions(dimensions: usize) -> usize {
    dimensions.next_multiple_of(PADDING)
}

/// The vector, rotated. Lengths and angles stay what they are.
#[must_use]
pub fn rotate(numbers: &[f32]) -> Vec<f32> {
    let mut rotated = numbers.to_vec();
    rotated.resize(rotated_dimensions(numbers.len()), 0.0);
    let length = rotated.len();
    let block = 1 << length.ilog2();
    for round in 0..ROUNDS {
        flip(&mut rotated, round);
        transform(&mut rotated[..block]);
        if block < length {
            transform(&mut rotated[length - block..]);
        }
    }
    rotated
}

/// Changes the signs of half of the elements, the same in each call.
fn flip(numbers: &mut [f32], round: u64) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(round + 1);
    for part in numbers.chunks_mut(64) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        for (place, number) in part.iter_mut().enumerate() {
            *number = if state >> place & 1 == 1 { -*number } else { *number };
        }
    }
}

/// The Walsh-Hadamard transform of a power of two of elements, scaled to keep lengths.
fn transform(numbers: &mut [f32]) {
    let mut half = 1;
    while half < numbers.len() {
        for pair in numbers.chunks_exact_mut(2 * half) {
            let (first, second) = pair.split_at_mut(half);
            for (a, b) in first.iter_mut().zip(second) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    let scale = 1.0 / (numbers.len() as f32).sqrt();
    numbers.iter_mut().for_each(|number| *number *= scale);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::plain::dot_f32;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lengths_and_angles_stay(pairs in prop::collection::vec((-1f32..1.0, -1f32..1.0), 1..500)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let (c, d) = (rotate(&a), rotate(&b));
            let close = |x: f64, y: f64| (x - y).abs() <= 1e-4 * (1.0 + x.abs());
            prop_assert!(close(dot_f32(&a, &b), dot_f32(&c, &d)));
            prop_assert!(close(dot_f32(&a, &a), dot_f32(&c, &c)));
        }
    }

    #[test]
    fn one_element_is_spread_over_all() {
        for dimensions in [64, 384, 768, 1000] {
            let mut numbers = vec![0.0; dimensions];
            numbers[3] = 1.0;
            let rotated = rotate(&numbers);
            let largest = rotated.iter().fold(0f32, |most, number| most.max(number.abs()));
            assert!(largest < 6.0 / (rotated.len() as f32).sqrt(), "{dimensions}: {largest}");
        }
    }
}
