//! # Which tensors does a file of the format safetensors hold, and where?
//!
//! ```text
//! header, length of what stands behind it → name, type, shape and place of each tensor │ what is wrong
//! ```
//!
//! Such a file (<https://github.com/huggingface/safetensors>) is the length of its header, eight bytes little endian,
//! then the header, a JSON object, then the numbers of all tensors. Nothing that a header says is taken on trust: a
//! name stands in it once, a tensor is as long as its shape says, and the tensors stand one behind the other and fill
//! the file. That is what the format demands, so a file that another program reads in another way is refused.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Bytes that stand before the header: its length.
pub const PREFIX: usize = 8;

/// Longest header, in bytes. That of static embeddings has three hundred.
const LONGEST_HEADER: u64 = 1 << 20;

/// Longest name that an error shows, in characters.
const LONGEST_NAME: usize = 64;

/// The key of a header that describes no tensor.
const METADATA: &str = "__metadata__";

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTensor {
    /// Its name.
    pub name: String,
    /// The type of its numbers, such as "F32".
    pub dtype: String,
    /// How many numbers it has in each direction; none for a single number.
    pub shape: Vec<u64>,
    /// Where its numbers are behind the header, in bytes.
    pub place: Range<u64>,
}

/// The length of the header of a file of `length` bytes that begins with `prefix`, in bytes.
///
/// Fails, in words that go on after the name of the file, where the header is longer than the file or than 1 MiB.
pub fn header_length(prefix: [u8; PREFIX], length: u64) -> Result<u64, String> {
    let header = u64::from_le_bytes(prefix);
    if header > length.saturating_sub(PREFIX as u64) {
        return Err(format!("its header of {header} bytes is longer than the file"));
    }
    if header > LONGEST_HEADER {
        return Err(format!("its header of {header} bytes is longer than {LONGEST_HEADER}"));
    }
    Ok(header)
}

/// The tensors of a file with this header, in the order of their places; `length` bytes stand behind it.
///
/// Fails, in words that go on after the name of the file, where the header is not one of the format, or a tensor is not
/// where it should be.
pub fn tensors(header: &[u8], length: u64) -> Result<Vec<StoredTensor>, String> {
    if !header.starts_with(b"{") {
        return Err("its header is not a JSON object".to_owned());
    }
    let HeaderEntries::<Value>(entries) = serde_json::from_slice(header)
        .map_err(|error| format!("its header is not a JSON object ({error})"))?;
    let (mut names, mut tensors) = (BTreeSet::new(), Vec::with_capacity(entries.len()));
    for (name, value) in entries {
        if !names.insert(name.clone()) {
            return Err(format!("{} stands in its header twice", shown(&name)));
        }
        if name != METADATA {
            tensors.push(StoredTensor::read(name, value)?);
        }
    }
    check_keys(header)?;
    tensors.sort_by_key(|tensor| (tensor.place.start, tensor.place.end));
    check_places(&tensors, length)?;
    Ok(tensors)
}

/// What a header says of a tensor.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorEntry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl StoredTensor {
    fn read(name: String, value: Value) -> Result<StoredTensor, String> {
        let Ok(TensorEntry { dtype, shape, data_offsets: [start, end] }) =
            TensorEntry::deserialize(value)
        else {
            let keys = "dtype, shape and data_offsets";
            return Err(format!("tensor {} is not described by {keys}", shown(&name)));
        };
        let Some(size) = size_of_type(&dtype) else {
            let (name, dtype) = (shown(&name), shown(&dtype));
            return Err(format!("tensor {name} has the unknown type {dtype}"));
        };
        let count = shape.iter().try_fold(1_u64, |count, side| count.checked_mul(*side));
        let bytes = count.and_then(|count| count.checked_mul(size));
        if bytes.is_none() || bytes != end.checked_sub(start) {
            let name = shown(&name);
            return Err(format!("tensor {name} has another length than its shape says"));
        }
        Ok(StoredTensor { name, dtype, shape, place: start..end })
    }
}

/// Bytes of a number of this type.
fn size_of_type(dtype: &str) -> Option<u64> {
    match dtype {
        "F64" | "I64" | "U64" => Some(8),
        "F32" | "I32" | "U32" => Some(4),
        "F16" | "BF16" | "I16" | "U16" => Some(2),
        "I8" | "U8" | "BOOL" => Some(1),
        _ => None,
    }
}

/// That each entry of the header is an object with every key once: of two, programs read now the first and now the last.
fn check_keys(header: &[u8]) -> Result<(), String> {
    let HeaderEntries::<HeaderEntries<Value>>(entries) = serde_json::from_slice(header)
        .map_err(|error| format!("an entry of its header is not a JSON object ({error})"))?;
    for (name, HeaderEntries(values)) in &entries {
        let mut keys = BTreeSet::new();
        for (key, _) in values {
            if !keys.insert(key) {
                let (name, key) = (shown(name), shown(key));
                return Err(format!("what its header says of {name} has {key} twice"));
            }
        }
    }
    Ok(())
}

/// That the tensors, which are in the order of their places, fill the file and share nothing.
fn check_places(tensors: &[StoredTensor], length: u64) -> Result<(), String> {
    let mut end = 0;
    for StoredTensor { name, place, .. } in tensors {
        if place.start != end {
            let (name, start) = (shown(name), place.start);
            return Err(format!("tensor {name} begins at byte {start} and not at {end}"));
        }
        end = place.end;
    }
    if end == length {
        return Ok(());
    }
    Err(format!("its tensors have {end} bytes, and there are {length} for them"))
}

/// The beginning of a text of the header between quotes, with nothing in it that a terminal obeys.
fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(LONGEST_NAME).collect();
    format!("\"{}\"", beginning.escape_debug())
}

/// The entries of a JSON object, also those with a key that was there before.
struct HeaderEntries<V>(Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for HeaderEntries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<V> {
    type Value = HeaderEntries<V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HeaderEntries<V>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(HeaderEntries(entries))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TWO: &str = r#"{"__metadata__": {"format": "np"},
        "weights": {"dtype": "F16", "shape": [3], "data_offsets": [24, 30]},
        "embeddings": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}}  "#;

    fn check(header: &str, length: u64, part: &str) {
        let error = tensors(header.as_bytes(), length).unwrap_err();
        assert!(error.contains(part), "{header}: {error}");
    }

    /// A header with one tensor of the name "t".
    fn one(rest: &str) -> String {
        format!(r#"{{"t": {{{rest}}}}}"#)
    }

    #[test]
    fn tensors_are_told_in_the_order_of_their_places() {
        let read = tensors(TWO.as_bytes(), 30).unwrap();
        let facts: Vec<_> = read.iter().map(|it| (&*it.name, &*it.dtype, &it.shape[..])).collect();
        assert_eq!(facts, [("embeddings", "F32", &[3, 2][..]), ("weights", "F16", &[3][..])]);
        assert_eq!((read[0].place.clone(), read[1].place.clone()), (0..24, 24..30));
        assert!(tensors(b"{}", 0).unwrap().is_empty());
        let number = one(r#""dtype": "I64", "shape": [], "data_offsets": [0, 8]"#);
        assert!(tensors(number.as_bytes(), 8).unwrap()[0].shape.is_empty());
    }

    #[test]
    fn a_header_is_no_longer_than_its_file_nor_than_is_read() {
        assert_eq!(header_length(7_u64.to_le_bytes(), 15), Ok(7));
        let check = |header: u64, length: u64, part: &str| {
            let error = header_length(header.to_le_bytes(), length).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check(8, 15, "longer than the file");
        check(1, 3, "longer than the file");
        check(u64::MAX, u64::MAX, "longer than the file");
        check((1 << 20) + 1, 1 << 30, "longer than 1048576");
    }

    #[test]
    fn a_header_that_lies_is_refused() {
        check("", 0, "not a JSON object");
        check("[]", 0, "not a JSON object");
        check(" {}", 0, "not a JSON object");
        check("{", 0, "not a JSON object");
        check("{} {}", 0, "not a JSON object");
        check(r#"{"t": 7}"#, 0, "\"t\" is not described");
        check(&one(r#""dtype": "F32", "shape": [1]"#), 4, "not described");
        let whole = r#""dtype": "F32", "shape": [1], "data_offsets": [0, 4]"#;
        check(&one(&format!("{whole}, \"more\": 1")), 4, "not described");
        check(&one(&whole.replace("[0, 4]", "[0, 4, 4]")), 4, "not described");
        check(&one(&whole.replace("[0, 4]", "[-4, 0]")), 4, "not described");
        check(&one(&whole.replace("[1]", "[1.0]")), 4, "not described");
        check(&one(&whole.replace("F32", "F\\u001b7")), 4, "unknown type \"F\\u{1b}7\"");
        check(&one(&whole.replace("[1]", "[2]")), 4, "another length");
        check(&one(&whole.replace("[0, 4]", "[4, 0]")), 4, "another length");
        let endless = format!("[{}, 4]", u64::MAX);
        check(&one(&whole.replace("[1]", &endless)), 4, "another length");
        check(&one(whole), 8, "4 bytes, and there are 8");
        check(&one(whole), 3, "4 bytes, and there are 3");
        check(&one(&whole.replace("[0, 4]", "[4, 8]")), 8, "begins at byte 4 and not at 0");
        let twice = format!(r#"{{"t": {{{whole}}}, "t": {{{whole}}}}}"#);
        check(&twice, 4, "\"t\" stands in its header twice");
        let again = format!("{whole}, \"data_offsets\": [0, 4]");
        check(&one(&again), 4, "\"t\" has \"data_offsets\" twice");
        check(&one(&whole.replace("\"F32\"", "\"F64\", \"dtype\": \"F32\"")), 4, "\"dtype\" twice");
        let metadata = r#"{"__metadata__": {"format": "np", "format": "pt"}}"#;
        check(metadata, 0, "\"__metadata__\" has \"format\" twice");
        check(r#"{"t": ["F32", [1], [0, 4]]}"#, 4, "an entry of its header is not a JSON object");
        let shared = twice.replacen("\"t\"", "\"s\"", 1);
        check(&shared, 4, "begins at byte 0 and not at 4");
    }

    #[test]
    fn what_an_error_shows_of_a_name_is_short() {
        let long = one(r#""dtype": 7"#).replace("\"t\"", &format!("\"{}\"", "a".repeat(5000)));
        let error = tensors(long.as_bytes(), 0).unwrap_err();
        assert!(error.len() < 200, "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            header in prop::collection::vec(any::<u8>(), 0..200),
            prefix in any::<[u8; PREFIX]>(),
            length in any::<u64>(),
        ) {
            let _ = (header_length(prefix, length), tensors(&header, length));
            let braced = [b"{", &header[..], b"}"].concat();
            let _ = tensors(&braced, length);
        }

        /// Of a header with any numbers in it, what is read fills the file without a gap.
        #[test]
        fn what_is_read_fills_the_file(
            sides in prop::collection::vec(any::<u64>(), 0..3),
            small in prop::collection::vec(0_u64..5, 0..3),
            offsets in any::<[u64; 2]>(),
            start in 0_u64..40,
            length in 0_u64..80,
        ) {
            let bytes = 4 * small.iter().product::<u64>();
            for (shape, [from, to]) in [(&sides, offsets), (&small, [start, start + bytes]), (&small, [0, bytes])] {
                let rest = format!(r#""dtype": "F32", "shape": {shape:?}, "data_offsets": [{from}, {to}]"#);
                if let Ok(read) = tensors(one(&rest).as_bytes(), length) {
                    let place = &read[0].place;
                    prop_assert_eq!((place.start, place.end), (0, length));
                    prop_assert_eq!(4 * shape.iter().product::<u64>(), length);
                }
            }
        }

        #[test]
        fn a_damaged_header_is_refused_or_read_within_the_file(
            at in 0_usize..TWO.len(),
            byte in any::<u8>(),
        ) {
            let mut header = TWO.as_bytes().to_vec();
            header[at] = byte;
            if let Ok(read) = tensors(&header, 30) {
                prop_assert!(read.iter().all(|tensor| tensor.place.end <= 30));
            }
        }
    }
}
