//! # residuals: what did eight bits an element lose?
//!
//! ```text
//! (elements, payload) → residual codes          (probe, payload, residual codes) → what the operator's value is between
//! ```
//!
//! The second level of two-level scalar quantisation (LVQ-8x4; Aguerrebere et al., VLDB 2023, section 3.2): each element's
//! difference from its code of sq8, in four bits. With them a distance is known sixteen times as well, so that most rows get
//! their place in the order without a look at their vectors in the table, which takes long where these are in TOAST.
//!
//! Only the few nearest rows are looked at so closely. So residual codes lie on pages of their own, one entry for each slot of
//! the ground, and a walk never reads them. An entry has the row of its node: it counts only if the node still has that row.
//!
//! | bytes of an entry | |
//! |---|---|
//! | row: block, line; unused | 4 + 2 + 2 |
//! | residual, norm, as those of a payload | 4 + 4 |
//! | sum of the codes | 4 |
//! | codes from -8 to 7, stored from 0 to 15: the first of two in the lower half of a byte | 1/2 an element |
//!
//! A code `r` stands for `(r + 1/2) / 16` steps of the payload's scale.

use std::ops::RangeInclusive;

use super::bounds::ValueBounds;
use super::page::{self, HnswPageKind, RowId};
use super::scalar_quantization::{CodingLoss, nearest_within};
use super::shape::{IndexShape, NodePlace};
use super::space::{
    DistanceMetric, EPSILON, Elements, Fit, Payload, Space, Storage, code_scale, codes, number,
    sum_of_codes,
};
use crate::error::Result;
use crate::pages::{HEADER_BYTES, Page, Store, StoreMut};
use crate::vector::dot_codes;

/// Bytes of an entry before its codes.
const ENTRY_HEADER: usize = 20;
/// Residual codes of a step of the payload's scale.
const LEVELS: f64 = 16.0;
const CODES: RangeInclusive<i32> = -8..=7;
/// Codes of the probe's second level for a step of its first.
const PROBE_LEVELS: f64 = 254.0;
const PROBE_CODES: RangeInclusive<i32> = -127..=127;

/// Whether vectors of a space can have residual codes: those of eight bits whose distance comes from a dot product.
#[must_use]
pub fn can_have(space: &Space) -> bool {
    space.storage == Storage::Sq8 && space.metric != DistanceMetric::L1
}

/// Bytes of an entry, a multiple of 4.
#[must_use]
pub fn entry_bytes(space: &Space) -> usize {
    let codes = (space.dimensions as usize).next_multiple_of(4);
    (ENTRY_HEADER + codes / 2).next_multiple_of(4)
}

/// Residual codes of a vector, as they are stored after the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidualCodes(Vec<u8>);

impl ResidualCodes {
    /// Residual codes of a vector whose payload this is; `None` where there is no direction, and in a space that has none.
    #[must_use]
    pub fn of(space: &Space, elements: Elements<'_>, payload: &Payload) -> Option<ResidualCodes> {
        let Elements::Numbers(numbers) = elements else { return None };
        if !can_have(space) {
            return None;
        }
        Some(ResidualCodes::new(space, &space.directed(numbers)?, payload.bytes()))
    }

    fn new(space: &Space, numbers: &[f32], payload: &[u8]) -> ResidualCodes {
        let by = code_scale(payload);
        let (step, per_step) = (f64::from(by.scale) / LEVELS, by.per_step() * LEVELS);
        let rough: Vec<f64> = codes(payload).iter().map(|code| by.decode(*code)).collect();
        // The middle of what a code stands for is half a step above it.
        let residual = |(x, rough): (&f32, &f64)| {
            nearest_within(&CODES, (f64::from(*x) - rough) * per_step - 0.5)
        };
        let residuals: Vec<i32> = numbers.iter().zip(&rough).map(residual).collect();
        let stored = |(code, rough): (&i32, &f64)| rough + step * (f64::from(*code) + 0.5);
        let stored: Vec<f64> = residuals.iter().zip(&rough).map(stored).collect();
        let loss = CodingLoss::of(&stored, numbers);
        let mut bytes = vec![0; entry_bytes(space)];
        // Two codes of 0.
        bytes[ENTRY_HEADER..].fill(0x88);
        for (place, code) in residuals.iter().enumerate() {
            let byte = &mut bytes[ENTRY_HEADER + place / 2];
            let half = (code + 8) as u8;
            *byte = if place % 2 == 0 { *byte & 0xF0 | half } else { *byte & 0x0F | half << 4 };
        }
        let sum: i32 = residuals.iter().sum();
        let norm = loss.squared_norm.sqrt();
        let is_bounded = number(payload, 0).is_finite();
        let fit = if is_bounded { rounded_up(loss.squared_l2.sqrt(), norm) } else { f32::INFINITY };
        bytes[8..12].copy_from_slice(&fit.to_ne_bytes());
        bytes[12..16].copy_from_slice(&(norm as f32).to_ne_bytes());
        bytes[16..20].copy_from_slice(&sum.to_ne_bytes());
        ResidualCodes(bytes)
    }

    /// Residual codes of which [`ResidualCodes::bytes`] gave the bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> ResidualCodes {
        ResidualCodes(bytes.to_vec())
    }

    /// An entry without a row.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes as numbers of the machine's byte order, four bytes each.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.chunks_exact(4).map(|it| u32::from_ne_bytes([it[0], it[1], it[2], it[3]]))
    }

    /// The entry of a row.
    #[must_use]
    pub fn of_row(mut self, row: RowId) -> ResidualCodes {
        self.0[..4].copy_from_slice(&row.block.to_ne_bytes());
        self.0[4..6].copy_from_slice(&row.line.to_ne_bytes());
        self
    }
}

/// A residual with an allowance for how its form's elements are rounded, not below what it is in single precision.
fn rounded_up(residual: f64, norm: f64) -> f32 {
    ((residual + EPSILON * norm) * (1.0 + 4.0 * EPSILON)) as f32
}

/// What vectors are measured with that have residual codes: the probe's elements in sixteen bits.
#[derive(Clone, Debug)]
pub struct ResidualProbe {
    space: Space,
    fit: Fit,
    /// `element ≈ offset + scale * (code + lower code / 254)`.
    scale: f64,
    offset: f64,
    codes: Vec<i8>,
    lower_codes: Vec<i8>,
    /// The sum of the codes, with the lower ones.
    sum: f64,
}

impl ResidualProbe {
    /// A probe of a vector whose payload this is; `None` where there is no direction, and in a space without residual codes.
    #[must_use]
    pub fn of(space: &Space, elements: Elements<'_>, payload: &Payload) -> Option<ResidualProbe> {
        let Elements::Numbers(numbers) = elements else { return None };
        if !can_have(space) {
            return None;
        }
        Some(ResidualProbe::new(space, &space.directed(numbers)?, payload.bytes()))
    }

    fn new(space: &Space, numbers: &[f32], payload: &[u8]) -> ResidualProbe {
        let by = code_scale(payload);
        let (scale, offset, per_step) =
            (f64::from(by.scale), f64::from(by.offset), by.per_step() * PROBE_LEVELS);
        let codes = codes(payload).to_vec();
        let lower = |(x, code): (&f32, &i8)| {
            nearest_within(&PROBE_CODES, (f64::from(*x) - by.decode(*code)) * per_step) as i8
        };
        let mut lower_codes: Vec<i8> = numbers.iter().zip(&codes).map(lower).collect();
        let stored =
            |(code, lower): (&i8, &i8)| by.decode(*code) + scale / PROBE_LEVELS * f64::from(*lower);
        let stored: Vec<f64> = codes.iter().zip(&lower_codes).map(stored).collect();
        // Codes of a payload are padded, and so are these.
        lower_codes.resize(codes.len(), 0);
        let loss = CodingLoss::of(&stored, numbers);
        let norm = loss.squared_norm.sqrt();
        let is_bounded = number(payload, 0).is_finite();
        let residual =
            if is_bounded { rounded_up(loss.squared_l2.sqrt(), norm) } else { f32::INFINITY };
        let fit = Fit { residual, norm: norm as f32 };
        let sum_of = |codes: &[i8]| f64::from(codes.iter().map(|it| i32::from(*it)).sum::<i32>());
        let sum = sum_of(&codes) + sum_of(&lower_codes) / PROBE_LEVELS;
        ResidualProbe { space: *space, fit, scale, offset, codes, lower_codes, sum }
    }

    /// What the operator's value for the probe and a vector is between; `entry` has the residual codes beside `payload`.
    #[must_use]
    pub fn bounds(&self, payload: &[u8], entry: &[u8]) -> ValueBounds {
        let fit = Fit { residual: number(entry, 8), norm: number(entry, 12) };
        let dot = self.dot(payload, entry);
        let square = |fit: Fit| f64::from(fit.norm).powi(2);
        let distance = match self.space.metric {
            DistanceMetric::L2 => (square(self.fit) + square(fit) - 2.0 * dot).max(0.0),
            DistanceMetric::Cosine => 1.0 - dot,
            _ => -dot,
        };
        self.space.bounds(self.fit, fit, distance)
    }

    /// `Σ (op + sp (p + p' / 254)) (o + s / 32 + s (c + r / 16))`, of four dot products of codes.
    fn dot(&self, payload: &[u8], entry: &[u8]) -> f64 {
        let (codes, sum) = (codes(payload), sum_of_codes(payload));
        let residuals = unpacked(&entry[ENTRY_HEADER..], codes.len());
        let sum_of_residuals = i32::from_ne_bytes([entry[16], entry[17], entry[18], entry[19]]);
        let both = |other: &[i8], sum: i32| {
            f64::from(dot_codes(&self.codes, other, sum))
                + f64::from(dot_codes(&self.lower_codes, other, sum)) / PROBE_LEVELS
        };
        let scale = f64::from(number(payload, 8));
        let offset = f64::from(number(payload, 12)) + scale / (2.0 * LEVELS);
        let steps = f64::from(sum) + f64::from(sum_of_residuals) / LEVELS;
        f64::from(self.space.dimensions) * self.offset * offset
            + self.offset * scale * steps
            + offset * self.scale * self.sum
            + self.scale * scale * (both(codes, sum) + both(&residuals, sum_of_residuals) / LEVELS)
    }
}

/// The codes of an entry, one a byte.
fn unpacked(halves: &[u8], count: usize) -> Vec<i8> {
    let mut codes = vec![0; count];
    for (pair, byte) in codes.chunks_exact_mut(2).zip(halves) {
        pair[0] = (byte & 0x0F) as i8 - 8;
        pair[1] = (byte >> 4) as i8 - 8;
    }
    codes
}

/// Keeps the residual codes of a node; nothing in an index without.
pub fn set_residuals<S: StoreMut>(
    store: &S,
    shape: &IndexShape,
    node: u32,
    entry: &ResidualCodes,
) -> Result<()> {
    let Some(at) = shape.layout.residuals(shape.place(node)) else { return Ok(()) };
    // They were made for the dimensions of the index, which its damaged first page may tell otherwise.
    if entry.bytes().len() != shape.residual_bytes() {
        return Err(page::corrupt(at.block, "the dimensions have changed"));
    }
    store
        .write(at.block, |page| {
            page::initialise_if_new(page, HnswPageKind::Residuals);
            put(shape, page, at.slot, entry);
            Ok(true)
        })
        .map(drop)
}

/// Writes an entry into a page with residual codes.
pub fn put(shape: &IndexShape, page: &mut Page, place: u32, entry: &ResidualCodes) {
    let at = offset(shape, place);
    page[at..at + entry.bytes().len()].copy_from_slice(entry.bytes());
}

/// The entry of a node that has this row; `None` where there is none.
pub fn entry_of<S: Store>(
    store: &S,
    shape: &IndexShape,
    node: NodePlace,
    row: RowId,
) -> Result<Option<ResidualCodes>> {
    let Some(at) = shape.layout.residuals(node) else { return Ok(None) };
    let bytes = entry_bytes(&shape.space);
    store.read(at.block, |page| {
        let start = offset(shape, at.slot);
        let entry = &page[start..start + bytes];
        let is_of_row =
            entry[..4] == row.block.to_ne_bytes() && entry[4..6] == row.line.to_ne_bytes();
        let is_there =
            page::kind(page) == Some(HnswPageKind::Residuals) && is_of_row && row.line > 0;
        is_there.then(|| ResidualCodes::from_bytes(entry))
    })
}

fn offset(shape: &IndexShape, place: u32) -> usize {
    HEADER_BYTES + place as usize * entry_bytes(&shape.space)
}
