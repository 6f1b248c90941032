//! `WITH (m = ..., ef_construction = ..., storage = ..., residuals = ...)`.

use std::ffi::c_int;
use std::mem::offset_of;
use std::sync::OnceLock;

use pgrx::prelude::*;

use crate::error::{Error, Result};
use crate::hnsw::page::Degree;
use crate::hnsw::residuals;
use crate::hnsw::space::{DistanceMetric, Space, Storage};

const DEFAULT: Degree = Degree { m: 16, ef_construction: 64 };
/// From this many dimensions on, codes of eight bits are the default.
const SQ8_FROM: u32 = 32;

/// The storage parameters as PostgreSQL fills them in.
#[repr(C)]
struct HnswRelOptions {
    length: i32,
    m: c_int,
    ef_construction: c_int,
    storage: c_int,
    residuals: c_int,
}

/// The number of `storage = 'auto'` and of `residuals = 'auto'`.
const AUTO: c_int = 0;
/// The numbers of `residuals = 'on'` and `'off'`.
const ON: c_int = 1;
const OFF: c_int = 2;
/// A vector of more bytes than this is stored in TOAST, if its column's storage allows it: a row with it takes more than
/// TOAST_TUPLE_THRESHOLD, which is 2032 bytes, 24 of them its header.
const MOST_IN_LINE: u32 = 2007;

static KIND: OnceLock<pg_sys::relopt_kind::Type> = OnceLock::new();

/// Makes the options known to this process.
pub fn register() {
    KIND.get_or_init(|| {
        // SAFETY: called in a backend as the library is loaded; all texts are constants, and
        // the members of the enum live for ever.
        unsafe {
            let kind = pg_sys::add_reloption_kind();
            let lock = pg_sys::AccessExclusiveLock as c_int;
            pg_sys::add_int_reloption(
                kind,
                c"m".as_ptr(),
                c"Most neighbours of a node in a layer above the ground; twice as many there"
                    .as_ptr(),
                c_int::from(DEFAULT.m),
                2,
                100,
                lock,
            );
            pg_sys::add_int_reloption(
                kind,
                c"ef_construction".as_ptr(),
                c"Candidates that are looked at to find the neighbours of a new node".as_ptr(),
                c_int::from(DEFAULT.ef_construction),
                4,
                1000,
                lock,
            );
            pg_sys::add_enum_reloption(
                kind,
                c"storage".as_ptr(),
                c"Form in which the index holds the vectors".as_ptr(),
                members(),
                AUTO,
                c"Valid values are \"auto\", \"sq8\", \"float16\", \"float32\" and \"binary\"."
                    .as_ptr(),
                lock,
            );
            pg_sys::add_enum_reloption(
                kind,
                c"residuals".as_ptr(),
                c"Whether the index holds four more bits of each element, by which it orders rows"
                    .as_ptr(),
                switch_members(),
                AUTO,
                c"Valid values are \"auto\", \"on\" and \"off\".".as_ptr(),
                lock,
            );
            kind
        }
    });
}

fn members() -> *mut pg_sys::relopt_enum_elt_def {
    leaked(&[
        (c"auto", AUTO),
        (c"sq8", Storage::Sq8 as c_int),
        (c"float16", Storage::Float16 as c_int),
        (c"float32", Storage::Float32 as c_int),
        (c"binary", Storage::Binary as c_int),
    ])
}

fn switch_members() -> *mut pg_sys::relopt_enum_elt_def {
    leaked(&[(c"auto", AUTO), (c"on", ON), (c"off", OFF)])
}

/// The members of an enum, which live for ever.
fn leaked(named: &[(&'static std::ffi::CStr, c_int)]) -> *mut pg_sys::relopt_enum_elt_def {
    let member = |(name, number): &(&'static std::ffi::CStr, c_int)| pg_sys::relopt_enum_elt_def {
        string_val: name.as_ptr(),
        symbol_val: *number,
    };
    let mut members: Vec<_> = named.iter().map(member).collect();
    members.push(pg_sys::relopt_enum_elt_def::default());
    members.leak().as_mut_ptr()
}

fn element(
    name: &'static std::ffi::CStr,
    opttype: pg_sys::relopt_type::Type,
    offset: usize,
) -> pg_sys::relopt_parse_elt {
    pg_sys::relopt_parse_elt {
        optname: name.as_ptr(),
        opttype,
        offset: offset as c_int,
        #[cfg(feature = "pg18")]
        isset_offset: 0,
    }
}

/// The callback amoptions: reads and checks the storage parameters.
#[pg_guard]
pub unsafe extern "C-unwind" fn amoptions(
    reloptions: pg_sys::Datum,
    validate: bool,
) -> *mut pg_sys::bytea {
    use pg_sys::relopt_type::{RELOPT_TYPE_ENUM, RELOPT_TYPE_INT};
    let elements = [
        element(c"m", RELOPT_TYPE_INT, offset_of!(HnswRelOptions, m)),
        element(c"ef_construction", RELOPT_TYPE_INT, offset_of!(HnswRelOptions, ef_construction)),
        element(c"storage", RELOPT_TYPE_ENUM, offset_of!(HnswRelOptions, storage)),
        element(c"residuals", RELOPT_TYPE_ENUM, offset_of!(HnswRelOptions, residuals)),
    ];
    register();
    let kind = KIND.get().copied().unwrap_or_default();
    // SAFETY: the elements describe Options, and PostgreSQL calls this with its reloptions.
    unsafe {
        pg_sys::build_reloptions(
            reloptions,
            validate,
            kind,
            size_of::<HnswRelOptions>(),
            elements.as_ptr(),
            elements.len() as c_int,
        )
        .cast()
    }
}

/// What an index was made with.
pub struct Chosen {
    /// The degree of the graph.
    pub degree: Degree,
    storage: c_int,
    residuals: c_int,
}

/// The options of an index.
///
/// # Safety
///
/// `relation` is an open index of this access method.
pub unsafe fn chosen(relation: pg_sys::Relation) -> Result<Chosen> {
    // SAFETY: by this function's contract; rd_options is what amoptions gave, or NULL.
    let options = unsafe { (*relation).rd_options.cast::<HnswRelOptions>().as_ref() };
    let Some(options) = options else {
        return Ok(Chosen { degree: DEFAULT, storage: AUTO, residuals: AUTO });
    };
    let degree = Degree { m: options.m as u16, ef_construction: options.ef_construction as u16 };
    if options.ef_construction < 2 * options.m {
        let Degree { m, ef_construction } = degree;
        let message =
            format!("ef_construction must be at least twice m: {ef_construction} < 2 * {m}");
        return Err(Error::invalid(message).hint("Raise ef_construction, or lower m."));
    }
    Ok(Chosen { degree, storage: options.storage, residuals: options.residuals })
}

impl Chosen {
    /// The form in which vectors are held: as asked for, or the one that fits best.
    pub fn storage(&self, metric: DistanceMetric, dimensions: u32) -> Result<Storage> {
        let asked = u8::try_from(self.storage).ok().and_then(Storage::from_number);
        match asked {
            None if metric.is_of_bits() => Ok(Storage::Bits),
            None if metric == DistanceMetric::L1 || dimensions < SQ8_FROM => {
                Ok(if dimensions <= 1990 { Storage::Float32 } else { Storage::Sq8 })
            }
            None => Ok(Storage::Sq8),
            Some(storage) if metric.is_of_bits() => {
                let message =
                    format!("bit strings can't be held with storage '{}'", storage.name());
                Err(Error::invalid(message).hint("Leave storage out: bits are held as they are."))
            }
            Some(Storage::Binary) if metric == DistanceMetric::L1 => {
                Err(Error::invalid("the operator class vector_l1_ops has no storage 'binary'")
                    .hint("Signs do not tell the sum of differences. Leave storage out."))
            }
            Some(storage) => Ok(storage),
        }
    }

    /// Whether the index holds residual codes: as asked for, or where vectors of `bytes` bytes are in TOAST.
    pub fn has_residuals(&self, space: &Space, bytes: u32, may_toast: bool) -> Result<bool> {
        match self.residuals {
            ON if !residuals::can_have(space) => Err(Error::invalid(
                "residuals need storage 'sq8', and an operator class of L2, inner product or cosine",
            )
            .hint("Leave residuals out.")),
            ON => Ok(true),
            OFF => Ok(false),
            _ => Ok(may_toast && bytes > MOST_IN_LINE && residuals::can_have(space)),
        }
    }
}
