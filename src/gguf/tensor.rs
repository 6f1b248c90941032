//! The list of tensors: names, shapes, types and places.

use std::collections::{BTreeMap, HashSet};
use std::io::{Read, Seek};

use super::header::{HeaderReader, corrupted, excerpt, unsupported};
use super::tensor_type::TensorType;
use crate::error::Result;

/// Most tensors of a file. Large mixtures of experts have two thousand.
const MOST_TENSORS: u64 = 1 << 16;

/// ggml ends a name with a zero byte within 64 bytes.
const LONGEST_NAME: u64 = 63;

/// Most dimensions of a tensor in ggml.
const MOST_DIMENSIONS: u32 = 4;

/// The tensor with a vector for each token of the vocabulary.
const TOKEN_VECTORS: &str = "token_embd.weight";

/// What the list of tensors says in sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorList {
    /// How many there are.
    pub count: u64,
    /// Numbers in all of them.
    pub parameters: u64,
    /// Bytes of all of them, without what stands between them.
    pub bytes: u64,
    /// The byte of the file at which the first one begins.
    pub data_offset: u64,
    /// Numbers by the name of their type.
    pub by_type: BTreeMap<&'static str, u64>,
    /// Length of a token's vector, and for how many tokens there is one.
    pub token_vectors: Option<(u64, u64)>,
    /// Where the last tensor ends, in bytes from the first one.
    end: u64,
    /// Where the next tensor has to begin, in bytes from the first one.
    next: u64,
}

/// A tensor as the list describes it.
struct ListedTensor {
    name: String,
    tensor_type: TensorType,
    dimensions: Vec<u64>,
    /// Numbers in it.
    elements: u64,
}

/// Reads a list of `count` tensors, each of which begins at a multiple of `alignment` bytes.
///
/// Fails with [`ErrorKind::FileCorrupted`](crate::error::ErrorKind::FileCorrupted) at a name,
/// shape or place that cannot be, where a name is there twice, and where tensors end before or
/// after the file does; with [`ErrorKind::Unsupported`](crate::error::ErrorKind::Unsupported) at
/// a type that is not known.
pub fn read<R: Read + Seek>(
    reader: &mut HeaderReader<R>,
    count: u64,
    alignment: u64,
) -> Result<TensorList> {
    let mut list = TensorList { count, ..TensorList::default() };
    let mut names = HashSet::new();
    for _ in 0..count {
        let at = reader.offset();
        let tensor = tensor(reader)?;
        place(reader, &tensor, alignment, &mut list)?;
        if !names.insert(tensor.name) {
            return Err(corrupted(at, "a tensor of this name is there already"));
        }
    }
    end(reader, alignment, &mut list)?;
    Ok(list)
}

/// Fails unless a file may have `count` tensors; `at` is the byte where it says so.
pub fn check_count(count: u64, at: u64) -> Result<()> {
    match count {
        0 => Err(corrupted(at, "the file has no tensors")),
        1..=MOST_TENSORS => Ok(()),
        _ => Err(corrupted(at, &format!("{count} tensors, more than {MOST_TENSORS}"))),
    }
}

fn tensor<R: Read + Seek>(reader: &mut HeaderReader<R>) -> Result<ListedTensor> {
    let name = name(reader)?;
    let at = reader.offset();
    let count = reader.u32("number of dimensions")?;
    if !(1..=MOST_DIMENSIONS).contains(&count) {
        let name = excerpt(name.as_bytes());
        let message = format!("tensor {name} has {count} dimensions, not 1 to {MOST_DIMENSIONS}");
        return Err(corrupted(at, &message));
    }
    let mut dimensions = Vec::with_capacity(count as usize);
    for _ in 0..count {
        dimensions.push(reader.u64("dimension")?);
    }
    let elements = elements(&dimensions).ok_or_else(|| {
        let name = excerpt(name.as_bytes());
        corrupted(at, &format!("tensor {name} cannot have the shape {dimensions:?}"))
    })?;
    let at = reader.offset();
    let code = reader.u32("type of a tensor")?;
    let tensor_type = TensorType::of(code).ok_or_else(|| {
        let name = excerpt(name.as_bytes());
        unsupported(at, &format!("tensor {name} is of type {code}, which is not known"))
            .hint("Convert the model again with a recent llama.cpp, for instance to Q4_K_M.")
    })?;
    if !dimensions[0].is_multiple_of(tensor_type.block) {
        let (name, row, block) = (excerpt(name.as_bytes()), dimensions[0], tensor_type.block);
        let kind = tensor_type.name;
        let message =
            format!("tensor {name} of type {kind} has rows of {row}, not whole blocks of {block}");
        return Err(corrupted(at, &message));
    }
    Ok(ListedTensor { name, tensor_type, dimensions, elements })
}

fn name<R: Read + Seek>(reader: &mut HeaderReader<R>) -> Result<String> {
    let at = reader.offset();
    let length = reader.u64("length of a tensor's name")?;
    if !(1..=LONGEST_NAME).contains(&length) {
        let message = format!("name of a tensor of {length} bytes, not 1 to {LONGEST_NAME}");
        return Err(corrupted(at, &message));
    }
    let bytes = reader.bytes(length as usize, "name of a tensor")?;
    match String::from_utf8(bytes) {
        // ggml takes what follows a zero byte for no part of the name.
        Ok(name) if !name.contains(char::is_control) => Ok(name),
        Ok(name) => Err(corrupted(at, &format!("{} is no name", excerpt(name.as_bytes())))),
        Err(error) => Err(corrupted(at, &format!("{} is no name", excerpt(error.as_bytes())))),
    }
}

/// How many numbers there are in a tensor; none where it is empty, or ggml could not count them.
fn elements(dimensions: &[u64]) -> Option<u64> {
    let product = dimensions.iter().try_fold(1u64, |product, one| product.checked_mul(*one))?;
    (1..i64::MAX as u64).contains(&product).then_some(product)
}

/// Checks where `tensor` is, and adds it to the sums.
fn place<R: Read + Seek>(
    reader: &mut HeaderReader<R>,
    tensor: &ListedTensor,
    alignment: u64,
    list: &mut TensorList,
) -> Result<()> {
    let at = reader.offset();
    let offset = reader.u64("place of a tensor")?;
    let name = excerpt(tensor.name.as_bytes());
    if offset != list.next {
        let expected = list.next;
        let message = format!("tensor {name} is said to be at {offset}, but {expected} is next");
        return Err(corrupted(at, &message));
    }
    let blocks = tensor.elements / tensor.tensor_type.block;
    let bytes = blocks.checked_mul(tensor.tensor_type.bytes);
    let sums = bytes.and_then(|bytes| {
        let end = offset.checked_add(bytes)?;
        Some((bytes, end, end.checked_next_multiple_of(alignment)?))
    });
    let Some((bytes, end, next)) = sums.filter(|(_, end, _)| *end <= reader.length()) else {
        let length = reader.length();
        let message = format!("tensor {name} does not fit into a file of {length} bytes");
        return Err(corrupted(at, &message));
    };
    list.bytes += bytes;
    list.parameters = list.parameters.saturating_add(tensor.elements);
    (list.end, list.next) = (end, next);
    let of_type = list.by_type.entry(tensor.tensor_type.name).or_default();
    *of_type = of_type.saturating_add(tensor.elements);
    if tensor.name == TOKEN_VECTORS {
        list.token_vectors = Some((tensor.dimensions[0], tensor.elements / tensor.dimensions[0]));
    }
    Ok(())
}

/// Checks that the file ends where its last tensor does, or its padding.
fn end<R: Read + Seek>(
    reader: &HeaderReader<R>,
    alignment: u64,
    list: &mut TensorList,
) -> Result<()> {
    let (at, length) = (reader.offset(), reader.length());
    list.data_offset = at.next_multiple_of(alignment);
    let end = list.data_offset.saturating_add(list.end);
    if (end..=list.data_offset.saturating_add(list.next)).contains(&length) {
        return Ok(());
    }
    Err(corrupted(at, &format!("tensors end at byte {end}, and the file at {length}")))
}
