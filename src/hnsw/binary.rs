//! # binary: what do the signs of a vector's elements tell?
//!
//! ```text
//! elements → signs          (probe, signs) → dot product, about
//! ```
//!
//! The signs of the rotated vector (`rotation`) are kept, as RaBitQ does (Gao and Long, SIGMOD
//! 2024), with the mean left at zero. The dot product with a vector that is known better, a
//! query, is `factor * Σ ± query`, without bias (theorem 3.2); so a probe has a form of its own,
//! eight bits an element. Bounds that always hold would be too low to be of use. What is near by
//! this form has its exact distance computed before it is given (`pg/index/hnsw/rescore.rs`).

use super::rotation::rotate;
use super::space::number;
use crate::vector;

/// Bytes before the signs of binary: residual, norm, factor.
pub const BINARY_HEADER: usize = 12;
/// Bytes before the codes of a probe of binary: residual, norm, scale, sum of the codes.
pub const PROBE_HEADER: usize = 16;

/// The signs of the rotated elements, and the factor that makes of their sum with those of a
/// probe the dot product: `|x|² / Σ |x|`.
pub fn encode_binary(numbers: &[f32], bytes: &mut [u8]) {
    let rotated = rotate(numbers);
    let square: f64 = rotated.iter().map(|x| f64::from(*x).powi(2)).sum();
    let sum: f64 = rotated.iter().map(|x| f64::from(x.abs())).sum();
    let factor = if sum > 0.0 { square / sum } else { 0.0 };
    bytes[4..8].copy_from_slice(&(square.sqrt() as f32).to_ne_bytes());
    bytes[8..12].copy_from_slice(&(factor as f32).to_ne_bytes());
    let signs = rotated.chunks_exact(8);
    for (byte, eight) in bytes[BINARY_HEADER..].iter_mut().zip(signs) {
        *byte = eight.iter().rev().fold(0, |bits, x| bits << 1 | u8::from(*x > 0.0));
    }
}

/// Codes of the rotated elements, from -127 to 127.
pub fn encode_probe(numbers: &[f32], bytes: &mut [u8]) {
    let rotated = rotate(numbers);
    let square: f64 = rotated.iter().map(|x| f64::from(*x).powi(2)).sum();
    let largest = rotated.iter().fold(0f32, |most, x| most.max(x.abs()));
    let scale = largest / 127.0;
    let mut sum = 0i32;
    for (byte, x) in bytes[PROBE_HEADER..].iter_mut().zip(&rotated) {
        let code = if scale > 0.0 { (x / scale).round() as i8 } else { 0 };
        sum += i32::from(code);
        *byte = code as u8;
    }
    bytes[4..8].copy_from_slice(&(square.sqrt() as f32).to_ne_bytes());
    bytes[8..12].copy_from_slice(&scale.to_ne_bytes());
    bytes[12..16].copy_from_slice(&sum.to_ne_bytes());
}

/// The dot product of a probe and signs: `factor * scale * Σ ± code`.
pub fn dot_probe(probe: &[u8], payload: &[u8]) -> f64 {
    let codes: &[i8] = bytemuck::cast_slice(&probe[PROBE_HEADER..]);
    let positive = vector::sum_where(codes, &payload[BINARY_HEADER..]);
    let sum = i32::from_ne_bytes([probe[12], probe[13], probe[14], probe[15]]);
    let signed = 2 * i64::from(positive) - i64::from(sum);
    f64::from(number(payload, 8)) * f64::from(number(probe, 8)) * signed as f64
}

/// The dot product of two vectors of which the signs are known: the share of signs that differ
/// is their angle, as a share of two right ones.
pub fn dot_binary(a: &[u8], b: &[u8]) -> f64 {
    let (signs_a, signs_b) = (&a[BINARY_HEADER..], &b[BINARY_HEADER..]);
    let share = f64::from(vector::hamming(signs_a, signs_b)) / (8 * signs_a.len()) as f64;
    f64::from(number(a, 4)) * f64::from(number(b, 4)) * (std::f64::consts::PI * share).cos()
}
