//! # space: how is a vector stored, and how far is it from another?
//!
//! ```text
//! elements → payload          (payload, payload) → distance          → lower bound
//! ```
//!
//! A payload is what a page holds of a vector: a few numbers about it, and its elements in
//! one of the [`Storage`] forms. Two payloads of a space have a distance; the graph is walked
//! by it. A compact form says something slightly else than the vector did, so beside the
//! distance there is a bound: the operator's value for the vector itself is never below it.
//! PostgreSQL sorts rows by their bounds, asks the table for the exact value only where that
//! can matter, and so the order that a user sees is exact.
//!
//! | form | bytes | numbers about it |
//! |---|---|---|
//! | float32 | 4 an element | residual, norm |
//! | float16 | 2 an element | residual, norm |
//! | sq8 | 1 an element | residual, norm, scale, offset, sum of the codes |
//! | binary | 1/8 an element | norm, factor |
//! | bits | 1/8 an element | |
//!
//! sq8 is scalar quantisation with a range of its own for each vector (as in LVQ, Aguerrebere
//! et al., VLDB 2023, section 3, without the mean): `element ≈ offset + scale * code`, codes
//! from -127 to 127. It needs no training, so an index on an empty table is as good as any.
//! All of L2, inner product and cosine come down to one dot product of codes.
//!
//! binary keeps the signs of the rotated vector, see `binary`.

use super::binary::{
    BINARY_HEADER, PROBE_HEADER, dot_binary, dot_probe, encode_binary, encode_probe,
};
use super::rotation::rotated_dimensions;
use super::scalar_quantization::{CodeScale, CodingLoss, squared_norm};
use crate::error::{Error, ErrorKind, Result};
use crate::vector;
use half::f16;

/// What an operator measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DistanceMetric {
    /// `<->`, Euclidean distance.
    L2 = 1,
    /// `<#>`, the negative inner product.
    InnerProduct = 2,
    /// `<=>`, one minus the cosine.
    Cosine = 3,
    /// `<+>`, the sum of absolute differences.
    L1 = 4,
    /// `<~>`, bits that differ.
    Hamming = 5,
    /// `<%>`, one minus the share of common bits.
    Jaccard = 6,
}

impl DistanceMetric {
    /// The metric with this number.
    pub fn from_number(number: u8) -> Option<DistanceMetric> {
        use DistanceMetric::{Cosine, Hamming, InnerProduct, Jaccard, L1, L2};
        [L2, InnerProduct, Cosine, L1, Hamming, Jaccard].into_iter().find(|it| *it as u8 == number)
    }

    /// Whether the vectors are strings of bits.
    #[must_use]
    pub fn is_of_bits(self) -> bool {
        matches!(self, DistanceMetric::Hamming | DistanceMetric::Jaccard)
    }
}

/// The form in which a payload holds its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Storage {
    /// Single precision.
    Float32 = 1,
    /// Half precision.
    Float16 = 2,
    /// Scalar quantisation to eight bits.
    Sq8 = 3,
    /// Bits, eight a byte.
    Bits = 4,
    /// The signs of a vector's elements, after a rotation.
    Binary = 5,
}

impl Storage {
    /// The form with this number.
    pub fn from_number(number: u8) -> Option<Storage> {
        use Storage::{Binary, Bits, Float16, Float32, Sq8};
        [Float32, Float16, Sq8, Bits, Binary].into_iter().find(|it| *it as u8 == number)
    }

    /// The name it has in `WITH (storage = '...')`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Storage::Float32 => "float32",
            Storage::Float16 => "float16",
            Storage::Sq8 => "sq8",
            Storage::Bits => "bits",
            Storage::Binary => "binary",
        }
    }
}

/// Elements of a vector, as the caller has them.
#[derive(Clone, Copy, Debug)]
pub enum Elements<'a> {
    /// Numbers; an expectation of [`DistanceMetric::is_of_bits`] being false.
    Numbers(&'a [f32]),
    /// Bits, the first in the highest bit of the first byte; unused bits are 0.
    Bits(&'a [u8]),
}

/// A metric and a form for vectors of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// The metric in which distances are measured.
    pub metric: DistanceMetric,
    /// How elements are held.
    pub storage: Storage,
    /// Elements, or bits, of a vector.
    pub dimensions: u32,
}

/// Bytes before the elements of float32 and float16.
const FLOAT_HEADER: usize = 8;
/// Bytes before the codes of sq8.
const SQ8_HEADER: usize = 20;

/// A unit in the last place of f32, relative, with room for how operators sum.
pub(super) const EPSILON: f64 = 1.2e-7;

/// Where the operator's sum of products, in single precision, may become infinite.
pub(super) const OVERFLOW: f64 = 1e38;

/// How well a payload fits the vector that it stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// How far it is from the vector: Euclidean, for L1 the sum of differences; rounded up.
    pub residual: f32,
    /// The Euclidean length of what is stored.
    pub norm: f32,
}

/// A payload of its own memory, aligned for its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload(Box<[u32]>);

impl Payload {
    /// The bytes as a page holds them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    /// A copy of what a page holds.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Payload {
        let mut words = vec![0u32; bytes.len().div_ceil(4)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Payload(words.into())
    }
}

impl Space {
    /// Bytes of a payload, a multiple of 4.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        let dimensions = self.dimensions as usize;
        let bytes = match self.storage {
            Storage::Float32 => FLOAT_HEADER + 4 * dimensions,
            Storage::Float16 => FLOAT_HEADER + 2 * dimensions,
            Storage::Sq8 => SQ8_HEADER + dimensions,
            Storage::Bits => dimensions.div_ceil(8),
            Storage::Binary => BINARY_HEADER + rotated_dimensions(dimensions) / 8,
        };
        bytes.next_multiple_of(4)
    }

    /// Bytes of a probe: of what payloads are compared with.
    #[must_use]
    pub fn probe_bytes(&self) -> usize {
        match self.storage {
            Storage::Binary => PROBE_HEADER + rotated_dimensions(self.dimensions as usize),
            _ => self.payload_bytes(),
        }
    }

    /// Whether what is nearest by the payloads has to be measured again before it is given.
    #[must_use]
    pub fn is_estimate(&self) -> bool {
        self.storage == Storage::Binary
    }

    /// The space in which a graph of this one is built.
    #[must_use]
    pub fn for_build(&self) -> Space {
        match self.storage {
            Storage::Binary => Space { storage: Storage::Sq8, ..*self },
            _ => *self,
        }
    }

    /// The payload, in this space, of a vector that has one in [`Space::for_build`].
    pub fn from_build(&self, payload: &[u8]) -> Result<Payload> {
        if self.storage != Storage::Binary {
            return Ok(Payload::copy_of(payload));
        }
        let numbers = self.for_build().stored(payload);
        let mut words = vec![0u32; self.payload_bytes() / 4];
        encode_binary(&numbers, bytemuck::cast_slice_mut(&mut words));
        Ok(Payload(words.into()))
    }

    /// Brings a vector into the form that payloads are compared with; as [`Space::encode`].
    pub fn probe(&self, elements: Elements<'_>) -> Result<Option<Payload>> {
        let (Storage::Binary, Elements::Numbers(numbers)) = (self.storage, elements) else {
            return self.encode(elements);
        };
        self.expect_length(numbers.len(), self.dimensions as usize)?;
        Ok(self.directed(numbers).map(|directed| {
            let mut words = vec![0u32; self.probe_bytes().div_ceil(4)];
            encode_probe(&directed, bytemuck::cast_slice_mut(&mut words));
            Payload(words.into())
        }))
    }

    /// Brings a vector into its form; `None` where the metric gives it no distance to
    /// anything: a vector without direction under the cosine.
    ///
    /// Fails if the vector has another length than those of the space.
    pub fn encode(&self, elements: Elements<'_>) -> Result<Option<Payload>> {
        let mut words = vec![0u32; self.payload_bytes() / 4];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        match elements {
            Elements::Bits(bits) => {
                self.expect_length(bits.len(), (self.dimensions as usize).div_ceil(8))?;
                bytes[..bits.len()].copy_from_slice(bits);
            }
            Elements::Numbers(numbers) => {
                self.expect_length(numbers.len(), self.dimensions as usize)?;
                let Some(directed) = self.directed(numbers) else { return Ok(None) };
                self.encode_numbers(numbers, &directed, bytes);
            }
        }
        Ok(Some(Payload(words.into())))
    }

    fn expect_length(&self, found: usize, expected: usize) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        let message = format!("expected {expected} dimensions, not {found}");
        Err(Error::new(ErrorKind::DimensionMismatch, message))
    }

    /// The vector itself; under the cosine, of length 1.
    pub(super) fn directed<'a>(&self, numbers: &'a [f32]) -> Option<std::borrow::Cow<'a, [f32]>> {
        if self.metric != DistanceMetric::Cosine {
            return Some(numbers.into());
        }
        let square = squared_norm(numbers);
        if square == 0.0 || !square.is_finite() {
            return None;
        }
        let length = square.sqrt();
        Some(numbers.iter().map(|x| (f64::from(*x) / length) as f32).collect())
    }

    fn encode_numbers(&self, original: &[f32], numbers: &[f32], bytes: &mut [u8]) {
        match self.storage {
            Storage::Float32 => {
                let stored = bytemuck::cast_slice_mut(&mut bytes[FLOAT_HEADER..]);
                stored[..numbers.len()].copy_from_slice(numbers);
            }
            Storage::Float16 => {
                let stored: &mut [f16] = bytemuck::cast_slice_mut(&mut bytes[FLOAT_HEADER..]);
                stored.iter_mut().zip(numbers).for_each(|(to, x)| *to = half(*x));
            }
            Storage::Sq8 => encode_sq8(numbers, bytes),
            Storage::Binary => return encode_binary(numbers, bytes),
            // Bits come as bits.
            Storage::Bits => return,
        }
        let (residual, norm) = self.describe(original, numbers, bytes);
        bytes[..4].copy_from_slice(&residual.to_ne_bytes());
        bytes[4..8].copy_from_slice(&norm.to_ne_bytes());
    }

    /// How far the stored form is from the vector, in the metric's own terms and rounded up;
    /// and the stored form's Euclidean length.
    fn describe(&self, original: &[f32], numbers: &[f32], bytes: &[u8]) -> (f32, f32) {
        let loss = CodingLoss::of(&self.stored(bytes), numbers);
        let square = loss.squared_norm;
        let is_taxicab = self.metric == DistanceMetric::L1;
        let mut residual = if is_taxicab { loss.l1 } else { loss.squared_l2.sqrt() };
        if self.metric == DistanceMetric::Cosine && !self.is_ordinary(original) {
            // The operator's own length would be infinite or 0 then, and its value anything.
            residual = f64::INFINITY;
        }
        // Stored elements are rounded to f32 here, where the distance has them unrounded.
        let rounding = if self.storage == Storage::Sq8 { EPSILON * square.sqrt() } else { 0.0 };
        (((residual + rounding) * (1.0 + 4.0 * EPSILON)) as f32, square.sqrt() as f32)
    }

    /// Whether the squares of the elements can be summed in single precision.
    fn is_ordinary(&self, numbers: &[f32]) -> bool {
        (1e-28..OVERFLOW).contains(&squared_norm(numbers))
    }

    /// The elements that a payload stands for. For binary only their signs are known, and of the
    /// rotated vector.
    pub fn stored(&self, payload: &[u8]) -> Vec<f32> {
        let dimensions = self.dimensions as usize;
        match self.storage {
            Storage::Float32 => floats(payload)[..dimensions].to_vec(),
            Storage::Float16 => halves(payload)[..dimensions].iter().map(|x| x.to_f32()).collect(),
            Storage::Sq8 => self.decoded(payload).collect(),
            Storage::Binary => {
                let signs = &payload[BINARY_HEADER..];
                let sign =
                    |bit: usize| if signs[bit / 8] >> (bit % 8) & 1 == 1 { 1.0 } else { -1.0 };
                (0..rotated_dimensions(dimensions)).map(sign).collect()
            }
            Storage::Bits => (0..dimensions)
                .map(|bit| f32::from(payload[bit / 8] >> (7 - bit % 8) & 1))
                .collect(),
        }
    }

    /// The elements that the codes of sq8 stand for, without what pads them.
    fn decoded(&self, payload: &[u8]) -> impl Iterator<Item = f32> {
        let by = code_scale(payload);
        let codes = &codes(payload)[..self.dimensions as usize];
        codes.iter().map(move |code| by.decode(*code) as f32)
    }

    /// The distance of two payloads, for comparing: Euclidean distances are squared.
    #[must_use]
    pub fn distance(&self, a: &[u8], b: &[u8]) -> f32 {
        (match (self.storage, self.metric) {
            (Storage::Bits, DistanceMetric::Jaccard) => jaccard(a, b),
            (Storage::Bits, _) => f64::from(vector::hamming(a, b)),
            (Storage::Float32, DistanceMetric::L1) => {
                vector::plain::taxicab_f32(floats(a).iter().copied(), floats(b).iter().copied())
            }
            (Storage::Sq8, DistanceMetric::L1) => {
                vector::plain::taxicab_f32(self.decoded(a), self.decoded(b))
            }
            (_, DistanceMetric::L1) => {
                vector::plain::taxicab_f32(self.stored(a).into_iter(), self.stored(b).into_iter())
            }
            (Storage::Float32, DistanceMetric::L2) => {
                vector::squared_distance_f32(floats(a), floats(b))
            }
            (Storage::Float16, DistanceMetric::L2) => {
                vector::squared_distance_f16(halves(a), halves(b))
            }
            (Storage::Sq8 | Storage::Binary, DistanceMetric::L2) => {
                let square = |payload| f64::from(number(payload, 4)).powi(2);
                (square(a) + square(b) - 2.0 * self.dot(a, b)).max(0.0)
            }
            (_, DistanceMetric::Cosine) => 1.0 - self.dot(a, b),
            (_, _) => -self.dot(a, b),
        }) as f32
    }

    fn dot(&self, a: &[u8], b: &[u8]) -> f64 {
        match self.storage {
            Storage::Float32 => vector::dot_f32(floats(a), floats(b)),
            Storage::Float16 => vector::dot_f16(halves(a), halves(b)),
            Storage::Binary if a.len() > b.len() => dot_probe(a, b),
            Storage::Binary => dot_binary(a, b),
            _ => dot_sq8(a, b, f64::from(self.dimensions)),
        }
    }

    /// How well a payload fits the vector that it stands for.
    #[must_use]
    pub fn fit(&self, payload: &[u8]) -> Fit {
        match self.storage {
            Storage::Bits => Fit::default(),
            _ => Fit { residual: number(payload, 0), norm: number(payload, 4) },
        }
    }
}

/// Codes from -127 to 127 over the range of the vector's own elements.
fn encode_sq8(numbers: &[f32], bytes: &mut [u8]) {
    let by = CodeScale::of(numbers);
    let sum = by.encode(numbers, &mut bytes[SQ8_HEADER..]);
    bytes[8..12].copy_from_slice(&by.scale.to_ne_bytes());
    bytes[12..16].copy_from_slice(&by.offset.to_ne_bytes());
    bytes[16..20].copy_from_slice(&sum.to_ne_bytes());
}

/// `Σ (oa + sa ca) (ob + sb cb)`, from the dot product of the codes, which are padded with zeros.
fn dot_sq8(a: &[u8], b: &[u8], dimensions: f64) -> f64 {
    let dot = f64::from(vector::dot_codes(codes(a), codes(b), sum_of_codes(b)));
    let part = |payload, at| f64::from(number(payload, at));
    let sum = |payload| f64::from(sum_of_codes(payload));
    let parts = |payload| (part(payload, 8), part(payload, 12), sum(payload));
    let ((scale_a, offset_a, sum_a), (scale_b, offset_b, sum_b)) = (parts(a), parts(b));
    dimensions * offset_a * offset_b
        + offset_a * scale_b * sum_b
        + offset_b * scale_a * sum_a
        + scale_a * scale_b * dot
}

/// pgvector says 1 for two empty sets.
fn jaccard(a: &[u8], b: &[u8]) -> f64 {
    let empty = a.iter().zip(b).all(|(a, b)| a & b == 0);
    if empty { 1.0 } else { vector::jaccard(a, b) }
}

/// The nearest half; what is too large becomes the largest, so that distances stay finite.
fn half(x: f32) -> f16 {
    f16::from_f32(x.clamp(f16::MIN.to_f32(), f16::MAX.to_f32()))
}

pub(super) fn number(payload: &[u8], at: usize) -> f32 {
    f32::from_ne_bytes([payload[at], payload[at + 1], payload[at + 2], payload[at + 3]])
}

/// The scale of a payload of sq8.
pub(super) fn code_scale(payload: &[u8]) -> CodeScale {
    CodeScale { scale: number(payload, 8), offset: number(payload, 12) }
}

pub(super) fn sum_of_codes(payload: &[u8]) -> i32 {
    i32::from_ne_bytes([payload[16], payload[17], payload[18], payload[19]])
}

fn floats(payload: &[u8]) -> &[f32] {
    bytemuck::cast_slice(&payload[FLOAT_HEADER..])
}

fn halves(payload: &[u8]) -> &[f16] {
    bytemuck::cast_slice(&payload[FLOAT_HEADER..])
}

pub(super) fn codes(payload: &[u8]) -> &[i8] {
    bytemuck::cast_slice(&payload[SQ8_HEADER..])
}
