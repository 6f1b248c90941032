//! Keys and values of a file.
//!
//! Short values are kept. Of arrays and of strings that nobody asks for only the place is.

use std::collections::HashMap;
use std::io::{Read, Seek};

use super::header::{HeaderReader, corrupted, excerpt};
use crate::error::Result;

/// Most keys of a file. Real ones have 20 to 100.
const MOST_KEYS: u64 = 4096;

/// Longest key, in bytes.
const LONGEST_KEY: u64 = 256;

/// Longest string as a value, in bytes. A whole `tokenizer.json` may be one.
const LONGEST_STRING: u64 = 64 << 20;

/// Longest string in an array, in bytes.
const LONGEST_ELEMENT: u64 = 64 << 10;

/// Most elements of an array.
const MOST_ELEMENTS: u64 = 1 << 24;

/// Keys whose strings are kept, and how many bytes of them at most.
const KEPT: [(&str, u64); 6] = [
    ("general.architecture", 64),
    ("general.name", 1 << 10),
    ("general.license", 1 << 10),
    ("tokenizer.ggml.model", 64),
    ("tokenizer.ggml.pre", 64),
    ("tokenizer.chat_template", 256 << 10),
];

/// The type of a value, or of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueType {
    /// What messages call it.
    pub name: &'static str,
    /// Bytes of a value; 0: a string, whose length comes first.
    bytes: u64,
}

const VALUE_TYPES: [(u32, ValueType); 12] = [
    (0, ValueType { name: "u8", bytes: 1 }),
    (1, ValueType { name: "i8", bytes: 1 }),
    (2, ValueType { name: "u16", bytes: 2 }),
    (3, ValueType { name: "i16", bytes: 2 }),
    (4, ValueType { name: "u32", bytes: 4 }),
    (5, ValueType { name: "i32", bytes: 4 }),
    (6, ValueType { name: "f32", bytes: 4 }),
    (7, ValueType { name: "bool", bytes: 1 }),
    (8, ValueType { name: "string", bytes: 0 }),
    (10, ValueType { name: "u64", bytes: 8 }),
    (11, ValueType { name: "i64", bytes: 8 }),
    (12, ValueType { name: "f64", bytes: 8 }),
];

const ARRAY: u32 = 9;

/// What is kept of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataValue {
    /// The bytes of a number or truth value, little endian, filled up with zeros.
    Scalar([u8; 8]),
    /// A string whose key is known, or its beginning where it is longer than may be kept.
    Text(Vec<u8>),
    /// Another string.
    Skimmed,
    /// An array, of which only its place is kept.
    Array {
        /// How many elements it has.
        count: u64,
        /// The byte at which the first one begins.
        offset: u64,
    },
}

/// A value with its type and place.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataEntry {
    /// The byte at which its key begins.
    pub offset: u64,
    /// The type of the value, or of the elements of an array.
    pub value_type: ValueType,
    /// The value.
    pub value: MetadataValue,
    /// Length of a string, in bytes; 0 for all else.
    pub length: u64,
}

/// The entries of a file by their keys.
pub type Metadata = HashMap<String, MetadataEntry>;

/// Reads `count` keys and their values.
///
/// Fails with [`ErrorKind::FileCorrupted`](crate::error::ErrorKind::FileCorrupted) at the first
/// count, length, type, key or truth value that cannot be, and at a key that is there twice.
pub fn read<R: Read + Seek>(reader: &mut HeaderReader<R>, count: u64) -> Result<Metadata> {
    if count > MOST_KEYS {
        let message = format!("{count} keys, more than {MOST_KEYS}");
        return Err(corrupted(reader.offset(), &message));
    }
    let mut metadata = Metadata::new();
    for _ in 0..count {
        let offset = reader.offset();
        let key = key(reader)?;
        let entry = entry(reader, &key, offset)?;
        let shown = excerpt(key.as_bytes());
        if metadata.insert(key, entry).is_some() {
            return Err(corrupted(offset, &format!("key {shown} is there twice")));
        }
    }
    Ok(metadata)
}

fn key<R: Read + Seek>(reader: &mut HeaderReader<R>) -> Result<String> {
    let at = reader.offset();
    let length = reader.u64("length of a key")?;
    if !(1..=LONGEST_KEY).contains(&length) {
        let message = format!("key of {length} bytes, not 1 to {LONGEST_KEY}");
        return Err(corrupted(at, &message));
    }
    let bytes = reader.bytes(length as usize, "key")?;
    let is_key = bytes.iter().all(u8::is_ascii_graphic);
    match String::from_utf8(bytes) {
        Ok(key) if is_key => Ok(key),
        Ok(key) => Err(corrupted(at, &format!("{} is not a key", excerpt(key.as_bytes())))),
        Err(error) => Err(corrupted(at, &format!("{} is not a key", excerpt(error.as_bytes())))),
    }
}

fn entry<R: Read + Seek>(
    reader: &mut HeaderReader<R>,
    key: &str,
    offset: u64,
) -> Result<MetadataEntry> {
    let at = reader.offset();
    let code = reader.u32("type of a value")?;
    let entry = |value_type, value, length| MetadataEntry { offset, value_type, value, length };
    if code == ARRAY {
        let (value_type, value) = array(reader, key)?;
        return Ok(entry(value_type, value, 0));
    }
    let value_type = value_type(code, key, at)?;
    if value_type.bytes == 0 {
        let (value, length) = string(reader, key)?;
        return Ok(entry(value_type, value, length));
    }
    let mut bytes = [0; 8];
    let read = reader.bytes(value_type.bytes as usize, key)?;
    bytes[..read.len()].copy_from_slice(&read);
    if value_type.name == "bool" && bytes[0] > 1 {
        let message =
            format!("key {} is {} and not true or false", excerpt(key.as_bytes()), bytes[0]);
        return Err(corrupted(at + 4, &message));
    }
    Ok(entry(value_type, MetadataValue::Scalar(bytes), 0))
}

fn value_type(code: u32, key: &str, at: u64) -> Result<ValueType> {
    let known = VALUE_TYPES.into_iter().find(|(it, _)| *it == code);
    known.map(|(_, it)| it).ok_or_else(|| {
        let key = excerpt(key.as_bytes());
        corrupted(at, &format!("key {key} has a value of type {code}, which is not known"))
    })
}

fn string<R: Read + Seek>(reader: &mut HeaderReader<R>, key: &str) -> Result<(MetadataValue, u64)> {
    let length = string_length(reader, LONGEST_STRING, key)?;
    let kept = KEPT.into_iter().find(|(it, _)| *it == key).map(|(_, most)| length.min(most));
    let value = match kept {
        Some(kept) => MetadataValue::Text(reader.bytes(kept as usize, key)?),
        None => MetadataValue::Skimmed,
    };
    reader.skip(length - kept.unwrap_or(0), key)?;
    Ok((value, length))
}

fn string_length<R: Read + Seek>(
    reader: &mut HeaderReader<R>,
    longest: u64,
    key: &str,
) -> Result<u64> {
    let at = reader.offset();
    let length = reader.u64("length of a string")?;
    if length > longest {
        let key = excerpt(key.as_bytes());
        let message = format!("string of {length} bytes at key {key}, longer than {longest}");
        return Err(corrupted(at, &message));
    }
    Ok(length)
}

fn array<R: Read + Seek>(
    reader: &mut HeaderReader<R>,
    key: &str,
) -> Result<(ValueType, MetadataValue)> {
    let at = reader.offset();
    let code = reader.u32("type of an array")?;
    if code == ARRAY {
        let key = excerpt(key.as_bytes());
        return Err(corrupted(at, &format!("key {key} is an array of arrays")));
    }
    let value_type = value_type(code, key, at)?;
    let count = reader.u64("length of an array")?;
    if count > MOST_ELEMENTS {
        let key = excerpt(key.as_bytes());
        let message = format!("array of {count} elements at key {key}, more than {MOST_ELEMENTS}");
        return Err(corrupted(at + 4, &message));
    }
    let offset = reader.offset();
    if value_type.bytes == 0 {
        // Each has at least its length.
        reader.require(8 * count, key)?;
        for _ in 0..count {
            let length = string_length(reader, LONGEST_ELEMENT, key)?;
            reader.skip(length, key)?;
        }
    } else {
        reader.skip(value_type.bytes * count, key)?;
    }
    Ok((value_type, MetadataValue::Array { count, offset }))
}

/// The string number `wanted`, from 0, of the array of strings whose first one begins at `offset`.
/// Where the reader stands afterwards is not said.
///
/// Errors are those of [`HeaderReader::skip`].
pub fn element<R: Read + Seek>(
    reader: &mut HeaderReader<R>,
    offset: u64,
    wanted: u32,
) -> Result<Vec<u8>> {
    reader.seek(offset)?;
    for _ in 0..wanted {
        let length = string_length(reader, LONGEST_ELEMENT, "token")?;
        reader.skip(length, "token")?;
    }
    let length = string_length(reader, LONGEST_ELEMENT, "token")?;
    reader.bytes(length as usize, "token")
}
