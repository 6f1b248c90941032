//! What a column holds, as elements: pgvector's types and PostgreSQL's bit strings.

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::hnsw::page::{IndexShape, VectorColumn};
use crate::hnsw::residuals::{ResidualCodes, ResidualProbe};
use crate::hnsw::space::{Elements, Payload, Space};

/// A value of variable length, out of its TOAST.
pub struct Detoasted {
    given: *mut pg_sys::varlena,
    whole: *mut pg_sys::varlena,
}

impl Detoasted {
    /// Fetches it, if it is not there already.
    ///
    /// # Safety
    ///
    /// `datum` is a varlena that is not NULL.
    pub unsafe fn new(datum: pg_sys::Datum) -> Detoasted {
        let given = datum.cast_mut_ptr::<pg_sys::varlena>();
        // SAFETY: by this function's contract.
        Detoasted { given, whole: unsafe { pg_sys::pg_detoast_datum(given) } }
    }

    /// The value's bytes after its length word.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a detoasted varlena has a four-byte header that says how long it is.
        unsafe {
            let body = self.whole.cast::<u8>().add(pg_sys::VARHDRSZ);
            let length = pgrx::varsize_any_exhdr(self.whole);
            std::slice::from_raw_parts(body, length)
        }
    }
}

impl Drop for Detoasted {
    fn drop(&mut self) {
        if self.given != self.whole && !std::thread::panicking() {
            // SAFETY: pg_detoast_datum made a copy, which is ours.
            unsafe { pg_sys::pfree(self.whole.cast()) };
        }
    }
}

/// Brings a value into the form of an index, with its residual codes if the index has them; `None` where it has no
/// distance to anything.
///
/// # Safety
///
/// `datum` is a value of the type that `column` says, and not NULL.
pub unsafe fn encode(
    datum: pg_sys::Datum,
    column: VectorColumn,
    shape: &IndexShape,
) -> Result<Option<(Payload, Option<ResidualCodes>)>> {
    let encoded = |elements: Elements<'_>| {
        let Some(payload) = shape.space.encode(elements)? else { return Ok(None) };
        let residuals = match shape.has_residuals() {
            true => ResidualCodes::of(&shape.space, elements, &payload),
            false => None,
        };
        Ok(Some((payload, residuals)))
    };
    // SAFETY: by this function's contract.
    unsafe { with_elements(datum, column, &shape.space, encoded) }
}

/// Brings a value into the form that an index's payloads are compared with, and into the one for residual codes, if the
/// index has them; as [`encode`].
///
/// # Safety
///
/// As for [`encode`].
pub unsafe fn probe(
    datum: pg_sys::Datum,
    column: VectorColumn,
    shape: &IndexShape,
) -> Result<Option<(Payload, Option<ResidualProbe>)>> {
    let made = |elements: Elements<'_>| {
        let Some(probe) = shape.space.probe(elements)? else { return Ok(None) };
        let closer = match shape.has_residuals() {
            true => ResidualProbe::of(&shape.space, elements, &probe),
            false => None,
        };
        Ok(Some((probe, closer)))
    };
    // SAFETY: by this function's contract.
    unsafe { with_elements(datum, column, &shape.space, made) }
}

/// # Safety
///
/// As for [`encode`].
unsafe fn with_elements<T>(
    datum: pg_sys::Datum,
    column: VectorColumn,
    space: &Space,
    act: impl FnOnce(Elements<'_>) -> Result<T>,
) -> Result<T> {
    // SAFETY: by this function's contract.
    let value = unsafe { Detoasted::new(datum) };
    let bytes = value.bytes();
    match column {
        // pgvector: dimensions int16, unused int16, elements.
        VectorColumn::Vector => act(Elements::Numbers(bytemuck::cast_slice(&bytes[4..]))),
        VectorColumn::HalfVector => {
            let halves: &[half::f16] = bytemuck::cast_slice(&bytes[4..]);
            let numbers: Vec<f32> = halves.iter().map(|half| half.to_f32()).collect();
            act(Elements::Numbers(&numbers))
        }
        // varbit.h: length in bits int32, bits.
        VectorColumn::Bit => {
            let length = i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            expect_bits(length as u32, space.dimensions)?;
            act(Elements::Bits(&bytes[4..]))
        }
    }
}

fn expect_bits(found: u32, expected: u32) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let message = format!("expected {expected} bits, not {found}");
    Err(Error::new(ErrorKind::DimensionMismatch, message))
}
