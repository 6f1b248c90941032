//! # What does a text mean whose tokens have one vector each, whatever stands around them?
//!
//! ```text
//! header of a file → where the vectors, weights and numbers of rows are
//! (tokens, table) → the mean of their vectors
//! ```
//!
//! Static embeddings, as model2vec writes them (<https://github.com/MinishLab/model2vec>): the tensor `embeddings` has
//! a row for each token, or, where many tokens share a row, `mapping` has the number of each token's row. The tensor
//! `weights`, if there is one, has a factor for each token.
//!
//! As in that library, unknown tokens count for nothing, nor do the special tokens of other models, which its texts do
//! not get. A text of nothing else has a vector of zeros.

use std::ops::Range;
use std::path::Path;

use half::f16;

use super::model_file::{corrupted, unsupported};
use super::safetensors::{PREFIX, StoredTensor, tensors};
use crate::error::{Error, Result};
use crate::vector::MAX_DIMENSION;

/// A token that no table has: what an empty text is made of.
pub const NO_TOKEN: u32 = u32::MAX;

/// How a number with a fraction is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatType {
    /// In 16 bits, of which 5 are the exponent.
    F16,
    /// In 32 bits.
    F32,
    /// In 64 bits.
    F64,
}

/// How a number of a row is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexType {
    /// In 32 bits, with a sign.
    I32,
    /// In 64 bits, with a sign.
    I64,
}

/// Where the numbers of a table are in its file; places are in bytes from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLayout {
    /// Length of the vectors.
    pub dimension: u32,
    /// The vectors, row after row.
    pub embeddings: (FloatType, Range<u64>),
    /// A factor for each token.
    pub weights: Option<(FloatType, Range<u64>)>,
    /// The number of each token's row; without them a token's own number is that of its row.
    pub mapping: Option<(IndexType, Range<u64>)>,
}

impl TableLayout {
    /// What the header of the file at `path`, which is `length` bytes long, says.
    ///
    /// Fails with [`ErrorKind::FileCorrupted`](crate::error::ErrorKind::FileCorrupted) where the file is not of the
    /// format or has no vectors, and with [`ErrorKind::Unsupported`](crate::error::ErrorKind::Unsupported) where it has
    /// tensors that are not known, numbers of a type that is not read, or vectors that are longer than
    /// [`MAX_DIMENSION`].
    pub(super) fn read(path: &Path, header: &[u8], length: u64) -> Result<TableLayout> {
        let begin = (PREFIX + header.len()) as u64;
        let found = tensors(header, length.saturating_sub(begin));
        let found = found.map_err(|why| corrupted(path, &why))?;
        let (mut embeddings, mut weights, mut mapping) = (None, None, None);
        for mut tensor in found {
            tensor.place = begin + tensor.place.start..begin + tensor.place.end;
            let slot = match tensor.name.as_str() {
                "embeddings" => &mut embeddings,
                "weights" => &mut weights,
                "mapping" => &mut mapping,
                other => return Err(unknown_tensor(path, other)),
            };
            *slot = Some(tensor);
        }
        let embeddings =
            embeddings.ok_or_else(|| corrupted(path, "it has no tensor \"embeddings\""))?;
        let [rows, dimension] = embeddings.shape[..] else {
            return Err(corrupted(path, "\"embeddings\" has not two directions"));
        };
        let dimension = u32::try_from(dimension).ok().filter(|it| *it > 0 && rows > 0);
        let dimension = dimension.ok_or_else(|| corrupted(path, "\"embeddings\" is empty"))?;
        if dimension > u32::from(MAX_DIMENSION) {
            return Err(unsupported(path, &format!("the vector length {dimension}"))
                .hint(format!("A vector has {MAX_DIMENSION} numbers at most.")));
        }
        let tokens = mapping.as_ref().map(|it| list_length(path, it)).transpose()?.unwrap_or(rows);
        if let Some(weights) = &weights
            && list_length(path, weights)? != tokens
        {
            let why = "\"weights\" has not as many numbers as there are tokens";
            return Err(corrupted(path, why));
        }
        Ok(TableLayout {
            dimension,
            embeddings: floats(path, embeddings)?,
            weights: weights.map(|it| floats(path, it)).transpose()?,
            mapping: mapping.map(|it| indexes(path, it)).transpose()?,
        })
    }
}

fn unknown_tensor(path: &Path, name: &str) -> Error {
    let name: String = name.chars().take(64).collect();
    unsupported(path, &format!("tensor \"{}\"", name.escape_debug())).hint(
        "Static embeddings are read as model2vec writes them: embeddings, weights and mapping.",
    )
}

/// How many numbers a tensor of one direction has.
fn list_length(path: &Path, tensor: &StoredTensor) -> Result<u64> {
    match tensor.shape[..] {
        [length] => Ok(length),
        _ => Err(corrupted(path, &format!("\"{}\" is not a list of numbers", tensor.name))),
    }
}

fn floats(path: &Path, tensor: StoredTensor) -> Result<(FloatType, Range<u64>)> {
    let kind = match tensor.dtype.as_str() {
        "F16" => FloatType::F16,
        "F32" => FloatType::F32,
        "F64" => FloatType::F64,
        _ => return Err(other_type(path, &tensor, "F16, F32 and F64")),
    };
    Ok((kind, tensor.place))
}

fn indexes(path: &Path, tensor: StoredTensor) -> Result<(IndexType, Range<u64>)> {
    let kind = match tensor.dtype.as_str() {
        "I32" => IndexType::I32,
        "I64" => IndexType::I64,
        _ => return Err(other_type(path, &tensor, "I32 and I64")),
    };
    Ok((kind, tensor.place))
}

fn other_type(path: &Path, StoredTensor { name, dtype, .. }: &StoredTensor, read: &str) -> Error {
    unsupported(path, &format!("type {dtype} of tensor \"{name}\""))
        .hint(format!("The types that are read are {read}."))
}

/// The vectors of a table, row after row, as its file has them: half of the memory where they have 16 bits.
pub enum TableRows {
    /// Numbers of 16 bits.
    Half(Vec<f16>),
    /// Numbers of 32 bits.
    Single(Vec<f32>),
}

impl TableRows {
    fn len(&self) -> usize {
        match self {
            TableRows::Half(numbers) => numbers.len(),
            TableRows::Single(numbers) => numbers.len(),
        }
    }

    fn greatest(&self) -> f64 {
        match self {
            TableRows::Half(numbers) => greatest(numbers.iter().map(|number| number.to_f32())),
            TableRows::Single(numbers) => greatest(numbers.iter().copied()),
        }
    }
}

/// The greatest number of a vector, with the factor of its token: a million of them have a sum in 32 bits.
const GREATEST: f64 = 1e30;

/// The greatest of some numbers, without their signs; infinity if one of them is infinite or no number.
fn greatest(numbers: impl Iterator<Item = f32>) -> f64 {
    let is_number = |number: f32| if number.is_finite() { number.abs() } else { f32::INFINITY };
    f64::from(numbers.map(is_number).fold(0.0, f32::max))
}

/// A table in memory.
pub struct StaticTable {
    dimension: usize,
    rows: TableRows,
    weights: Option<Vec<f32>>,
    mapping: Option<Vec<u32>>,
    unknown: Option<u32>,
}

impl StaticTable {
    /// A table of vectors of `dimension` numbers, with a factor and the number of a row for each token, where there
    /// are such.
    ///
    /// Fails, in words that go on after the name of its file, where these do not fit each other, and where a number is
    /// infinite, none, or so great that sums of them would be infinite.
    pub fn new(
        dimension: usize,
        rows: TableRows,
        weights: Option<Vec<f32>>,
        mapping: Option<Vec<u32>>,
    ) -> Result<StaticTable, String> {
        let count = rows.len().checked_div(dimension).unwrap_or_default();
        if count == 0 || count * dimension != rows.len() {
            return Err(format!("its vectors have not {dimension} numbers each"));
        }
        if let Some(row) = mapping.iter().flatten().find(|row| **row as usize >= count) {
            return Err(format!("\"mapping\" names row {row} of {count}"));
        }
        let factor = weights.as_ref().map_or(1.0, |it| greatest(it.iter().copied()));
        let is_fit = factor.is_finite() && rows.greatest() * factor.max(1.0) <= GREATEST;
        if !is_fit {
            return Err(format!("it has numbers that are not finite or above {GREATEST:e}"));
        }
        let table = StaticTable { dimension, rows, weights, mapping, unknown: None };
        let tokens = table.tokens();
        match table.weights.as_ref().is_none_or(|weights| weights.len() == tokens) {
            true => Ok(table),
            false => Err("\"weights\" has not as many numbers as there are tokens".to_owned()),
        }
    }

    /// This table for a tokenizer by which `unknown` stands for what it does not know, which then counts for nothing.
    #[must_use]
    pub fn with_unknown(self, unknown: Option<u32>) -> StaticTable {
        StaticTable { unknown, ..self }
    }

    /// How many tokens have a vector.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.mapping.as_ref().map_or_else(|| self.rows.len() / self.dimension, Vec::len)
    }

    /// The mean of the vectors of `tokens`; zeros where none of them has one.
    #[must_use]
    pub fn mean(&self, tokens: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0_f32; self.dimension];
        let count = tokens.iter().filter(|token| self.add(**token, &mut sum)).count();
        if count > 0 {
            let scale = 1.0 / count as f32;
            sum.iter_mut().for_each(|number| *number *= scale);
        }
        sum
    }

    /// The vectors of `tokens`, one after the other; zeros for one that has none.
    #[must_use]
    pub fn vectors(&self, tokens: &[u32]) -> Vec<f32> {
        let mut vectors = vec![0.0_f32; tokens.len() * self.dimension];
        for (token, vector) in tokens.iter().zip(vectors.chunks_exact_mut(self.dimension)) {
            self.add(*token, vector);
        }
        vectors
    }

    /// Adds the vector of `token` to `sum`, and says whether it has one.
    fn add(&self, token: u32, sum: &mut [f32]) -> bool {
        let place = token as usize;
        if self.unknown == Some(token) || place >= self.tokens() {
            return false;
        }
        let row = self.mapping.as_ref().map_or(place, |rows| rows[place] as usize);
        let factor = self.weights.as_ref().map_or(1.0, |weights| weights[place]);
        let row = row * self.dimension..(row + 1) * self.dimension;
        match &self.rows {
            TableRows::Half(numbers) => {
                let numbers = numbers[row].iter().map(|number| number.to_f32());
                sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number * factor);
            }
            TableRows::Single(numbers) => {
                let numbers = &numbers[row];
                sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number * factor);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;

    /// The layout of a file of `length` bytes behind its header.
    fn layout(header: &str, length: u64) -> Result<TableLayout> {
        let before = (PREFIX + header.len()) as u64;
        TableLayout::read(Path::new("/m/model.safetensors"), header.as_bytes(), before + length)
    }

    fn tensor(name: &str, dtype: &str, shape: &str, (start, end): (u64, u64)) -> String {
        format!(
            r#""{name}": {{"dtype": "{dtype}", "shape": {shape}, "data_offsets": [{start}, {end}]}}"#
        )
    }

    fn header(tensors: &[String]) -> String {
        format!("{{{}}}", tensors.join(", "))
    }

    #[test]
    fn places_are_counted_from_the_beginning_of_the_file() {
        let plain = header(&[tensor("embeddings", "F16", "[2, 3]", (0, 12))]);
        let before = (PREFIX + plain.len()) as u64;
        let expected = TableLayout {
            dimension: 3,
            embeddings: (FloatType::F16, before..before + 12),
            weights: None,
            mapping: None,
        };
        assert_eq!(layout(&plain, 12).unwrap(), expected);

        let all = header(&[
            tensor("embeddings", "F32", "[2, 3]", (48, 72)),
            tensor("mapping", "I64", "[4]", (0, 32)),
            tensor("weights", "F32", "[4]", (32, 48)),
        ]);
        let before = (PREFIX + all.len()) as u64;
        let read = layout(&all, 72).unwrap();
        assert_eq!(read.embeddings, (FloatType::F32, before + 48..before + 72));
        assert_eq!(read.mapping, Some((IndexType::I64, before..before + 32)));
        assert_eq!(read.weights, Some((FloatType::F32, before + 32..before + 48)));
    }

    #[test]
    fn what_is_no_table_is_named() {
        let check = |tensors: &[String], length: u64, kind: ErrorKind, part: &str| {
            let error = layout(&header(tensors), length).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.message().contains(part), "{error}");
            assert!(error.message().contains("/m/model.safetensors"), "{error}");
        };
        let (damaged, other) = (ErrorKind::FileCorrupted, ErrorKind::Unsupported);
        let rows =
            |dtype: &str, shape: &str, end: u64| tensor("embeddings", dtype, shape, (0, end));
        check(&[], 0, damaged, "no tensor \"embeddings\"");
        check(&[], 9, damaged, "there are 9");
        check(&[rows("F32", "[2]", 8)], 8, damaged, "two directions");
        check(&[rows("F32", "[2, 1, 1]", 8)], 8, damaged, "two directions");
        check(&[rows("F32", "[0, 3]", 0)], 0, damaged, "is empty");
        check(&[rows("F32", "[3, 0]", 0)], 0, damaged, "is empty");
        check(&[rows("F16", "[1, 16001]", 32_002)], 32_002, other, "the vector length 16001");
        assert_eq!(
            layout(&header(&[rows("F16", "[1, 16000]", 32_000)]), 32_000).unwrap().dimension,
            16_000
        );
        check(&[rows("I8", "[2, 3]", 6)], 6, other, "type I8 of tensor \"embeddings\"");
        check(&[rows("BF16", "[2, 3]", 12)], 12, other, "type BF16");
        let rows = rows("F32", "[2, 1]", 8);
        let with = |more: String| [rows.clone(), more];
        check(&with(tensor("bias", "F32", "[1]", (8, 12))), 12, other, "tensor \"bias\"");
        check(&with(tensor("weights", "F32", "[1, 1]", (8, 12))), 12, damaged, "not a list");
        check(&with(tensor("weights", "F32", "[1]", (8, 12))), 12, damaged, "\"weights\" has not");
        check(&with(tensor("weights", "I32", "[2]", (8, 16))), 16, other, "type I32");
        check(&with(tensor("mapping", "F32", "[1]", (8, 12))), 12, other, "type F32");
        check(&with(tensor("mapping", "I32", "[]", (8, 12))), 12, damaged, "not a list");
    }

    fn single(numbers: &[f32]) -> TableRows {
        TableRows::Single(numbers.to_vec())
    }

    #[test]
    fn a_text_is_the_mean_of_what_is_known_of_it() {
        let table = StaticTable::new(2, single(&[1.0, 2.0, 3.0, 6.0, 50.0, 70.0]), None, None);
        let table = table.unwrap().with_unknown(Some(2));
        assert_eq!(table.tokens(), 3);
        assert_eq!(table.mean(&[0]), [1.0, 2.0]);
        assert_eq!(table.mean(&[0, 1, 1, 1]), [2.5, 5.0]);
        assert_eq!(table.mean(&[2, 0, NO_TOKEN, 1, 3]), [2.0, 4.0]);
        assert_eq!(table.mean(&[]), [0.0, 0.0]);
        assert_eq!(table.mean(&[2, NO_TOKEN]), [0.0, 0.0]);
        assert_eq!(table.vectors(&[1, 2, 0]), [3.0, 6.0, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!(table.with_unknown(None).mean(&[2]), [50.0, 70.0]);
    }

    #[test]
    fn tokens_share_rows_and_have_weights_of_their_own() {
        let half = [1.0, 2.0, 4.0, 8.0].map(f16::from_f32).to_vec();
        let (weights, mapping) = (vec![1.0, 2.0, 0.5], vec![1, 0, 1]);
        let table = StaticTable::new(2, TableRows::Half(half), Some(weights), Some(mapping));
        let table = table.unwrap();
        assert_eq!(table.tokens(), 3);
        assert_eq!(table.vectors(&[0, 1, 2]), [4.0, 8.0, 2.0, 4.0, 2.0, 4.0]);
        assert_eq!(table.mean(&[0, 1, 2, 2]), [2.5, 5.0]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let check = |dimension: usize,
                     count: usize,
                     weights: Option<usize>,
                     mapping: Option<&[u32]>,
                     part: &str| {
            let weights = weights.map(|count| vec![1.0_f32; count]);
            let mapping = mapping.map(<[u32]>::to_vec);
            let table = StaticTable::new(dimension, single(&vec![0.0; count]), weights, mapping);
            let error = table.err().unwrap();
            assert!(error.contains(part), "{error}");
        };
        check(0, 4, None, None, "not 0 numbers");
        check(3, 4, None, None, "not 3 numbers");
        check(3, 0, None, None, "not 3 numbers");
        check(2, 4, Some(3), None, "\"weights\"");
        check(2, 4, Some(2), Some(&[0, 1, 1]), "\"weights\"");
        check(2, 4, None, Some(&[0, 2]), "row 2 of 2");
    }

    #[test]
    fn numbers_whose_sums_would_be_infinite_are_refused() {
        let table = |number: f32, weight: f32| {
            StaticTable::new(1, single(&[1.0, number]), Some(vec![1.0, weight]), None)
        };
        for (number, weight) in [
            (f32::NAN, 1.0),
            (f32::NEG_INFINITY, 0.0),
            (1.0, f32::NAN),
            (1.0, f32::INFINITY),
            (-2e30, 1.0),
            (2e30, 0.0),
            (1e20, 1e11),
        ] {
            let error = table(number, weight).err().unwrap();
            assert!(error.contains("not finite or above 1e30"), "{number}, {weight}: {error}");
        }
        assert!(table(-1e20, 1e9).unwrap().mean(&[1; 512])[0].is_finite());
        let half = TableRows::Half(vec![f16::ONE, f16::INFINITY]);
        assert!(StaticTable::new(1, half, None, None).is_err());
    }

    proptest! {
        /// By the definition, one number at a time.
        #[test]
        fn the_mean_is_the_mean(
            rows in prop::collection::vec(-8_i8..8, 12..=12),
            tokens in prop::collection::vec(0_u32..8, 0..9),
        ) {
            let rows: Vec<f32> = rows.into_iter().map(|it| f32::from(it) / 4.0).collect();
            let known: Vec<usize> =
                tokens.iter().map(|it| *it as usize).filter(|it| *it < 6 && *it != 1).collect();
            let column = |at: usize| -> f32 {
                let sum: f32 = known.iter().map(|token| rows[2 * token + at]).sum();
                sum / known.len().max(1) as f32
            };
            let half = TableRows::Half(rows.iter().map(|it| f16::from_f32(*it)).collect());
            for kept in [single(&rows), half] {
                let table = StaticTable::new(2, kept, None, None).unwrap().with_unknown(Some(1));
                for (at, number) in table.mean(&tokens).into_iter().enumerate() {
                    prop_assert!((number - column(at)).abs() < 1e-5);
                }
            }
        }
    }
}
