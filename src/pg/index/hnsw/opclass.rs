//! What an operator class stands for.
//!
//! Support function 1 of each class is one and the same function under ten names, such as
//! rag.hnsw_vector_cosine: it looks at the name by which it was called.

use std::ffi::CStr;

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::hnsw::page::VectorColumn;
use crate::hnsw::space::DistanceMetric;
use crate::pg::server::error::OrReport;

const NAMES: [(&str, VectorColumn, DistanceMetric); 10] = [
    ("hnsw_vector_l2", VectorColumn::Vector, DistanceMetric::L2),
    ("hnsw_vector_ip", VectorColumn::Vector, DistanceMetric::InnerProduct),
    ("hnsw_vector_cosine", VectorColumn::Vector, DistanceMetric::Cosine),
    ("hnsw_vector_l1", VectorColumn::Vector, DistanceMetric::L1),
    ("hnsw_halfvec_l2", VectorColumn::HalfVector, DistanceMetric::L2),
    ("hnsw_halfvec_ip", VectorColumn::HalfVector, DistanceMetric::InnerProduct),
    ("hnsw_halfvec_cosine", VectorColumn::HalfVector, DistanceMetric::Cosine),
    ("hnsw_halfvec_l1", VectorColumn::HalfVector, DistanceMetric::L1),
    ("hnsw_bit_hamming", VectorColumn::Bit, DistanceMetric::Hamming),
    ("hnsw_bit_jaccard", VectorColumn::Bit, DistanceMetric::Jaccard),
];

/// The place in [`NAMES`] of the name by which it is called.
#[pg_extern(sql = false)]
fn rag_hnsw_support(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: PostgreSQL passes the call's own description.
    unsafe { place((*(*fcinfo).flinfo).fn_oid) }.or_report() as i32
}

/// # Safety
///
/// To be called in a transaction.
unsafe fn place(function: pg_sys::Oid) -> Result<usize> {
    // SAFETY: a syscache look-up, which gives a name of this memory context or NULL.
    let name = unsafe {
        let name = pg_sys::get_func_name(function);
        if name.is_null() { c"" } else { CStr::from_ptr(name) }
    };
    let place = NAMES.iter().position(|(known, ..)| name.to_bytes() == known.as_bytes());
    place.ok_or_else(|| {
        let message = format!("operator class with the unknown support function {name:?}");
        Error::new(ErrorKind::WrongObjectType, message)
    })
}

/// The type of an index's column, and its metric.
///
/// # Safety
///
/// `index` is an open index of ours.
pub unsafe fn of_index(index: pg_sys::Relation) -> Result<(VectorColumn, DistanceMetric)> {
    // SAFETY: by this function's contract; the support function takes no arguments.
    let place = unsafe {
        let support = pg_sys::index_getprocid(index, 1, 1);
        if support == pg_sys::InvalidOid {
            let message = "the first column of a rag_hnsw index must be a vector";
            return Err(Error::new(ErrorKind::Unsupported, message).hint(
                "Columns to filter by follow it: (embedding vector_cosine_ops, tenant_id).",
            ));
        }
        pg_sys::OidFunctionCall0Coll(support, pg_sys::InvalidOid).value()
    };
    let known = NAMES.get(place).map(|(_, column, metric)| (*column, *metric));
    known.ok_or_else(|| Error::new(ErrorKind::WrongObjectType, "unknown operator class"))
}
