//! The check of a whole header.

use std::io::{Read, Seek};

use super::facts::{self, GgufFacts};
use super::header::{HeaderReader, corrupted, excerpt, unsupported};
use super::metadata::{self, MetadataValue};
use super::{metadata::Metadata, tensor};
use crate::error::Result;

const MAGIC: [u8; 4] = *b"GGUF";

/// Versions of the format that are read. They differ in what they say of the order of bytes only.
const VERSIONS: [u32; 2] = [2, 3];

/// Where tensors begin if the file does not say.
const DEFAULT_ALIGNMENT: u64 = 32;

/// Largest alignment, in bytes: a large page of ARM.
const LARGEST_ALIGNMENT: u64 = 64 << 10;

/// Reads the header of the GGUF file `file`, which is `length` bytes long, and what it says of
/// the model. Weights are not read.
///
/// At most 256 MiB are read and a few MiB kept, whatever the file says. Fails with
/// [`ErrorKind::FileCorrupted`](crate::error::ErrorKind::FileCorrupted) and the place of the first
/// byte that lies, with [`ErrorKind::Unsupported`](crate::error::ErrorKind::Unsupported) where a
/// file is of another version, of the other order of bytes, one part of several or of a type of
/// tensors that is not known, and with
/// [`ErrorKind::FileUnavailable`](crate::error::ErrorKind::FileUnavailable) where it cannot be read.
pub fn check<R: Read + Seek>(file: R, length: u64) -> Result<GgufFacts> {
    let mut reader = HeaderReader::new(file, length)?;
    let version = version(&mut reader)?;
    let at = reader.offset();
    let tensors = reader.u64("number of tensors")?;
    let keys = reader.u64("number of keys")?;
    let metadata = metadata::read(&mut reader, keys)?;
    refuse_parts(&metadata)?;
    tensor::check_count(tensors, at)?;
    let alignment = alignment(&metadata)?;
    let list = tensor::read(&mut reader, tensors, alignment)?;
    facts::facts(&mut reader, version, &metadata, &list)
}

fn version<R: Read + Seek>(reader: &mut HeaderReader<R>) -> Result<u32> {
    let magic: [u8; 4] = reader.array("beginning of a GGUF file")?;
    if magic != MAGIC {
        let message = format!("it begins with {} and not with \"GGUF\"", excerpt(&magic));
        return Err(corrupted(0, &message).hint("Name a file of llama.cpp's format GGUF."));
    }
    let at = reader.offset();
    let version = reader.u32("version")?;
    if VERSIONS.contains(&version) {
        return Ok(version);
    }
    if VERSIONS.contains(&version.swap_bytes()) {
        return Err(unsupported(at, "its numbers are big endian")
            .hint("Download the model for little-endian processors, or convert it with gguf_convert_endian.py."));
    }
    let known = "versions 2 and 3 are read";
    Err(unsupported(at, &format!("it is of version {version} of the format; {known}"))
        .hint("Convert the model again with a recent llama.cpp."))
}

fn refuse_parts(metadata: &Metadata) -> Result<()> {
    let Some(entry) = metadata.get("split.count") else { return Ok(()) };
    match entry.value {
        MetadataValue::Scalar(bytes) if entry.value_type.name == "u16" => {
            let parts = u64::from_le_bytes(bytes);
            if parts <= 1 {
                return Ok(());
            }
            Err(unsupported(entry.offset, &format!("it is one of {parts} parts of a model"))
                .hint("Join the parts with llama-gguf-split --merge."))
        }
        _ => Err(corrupted(entry.offset, "key \"split.count\" is not a number of type u16")),
    }
}

fn alignment(metadata: &Metadata) -> Result<u64> {
    let Some(entry) = metadata.get("general.alignment") else { return Ok(DEFAULT_ALIGNMENT) };
    match entry.value {
        MetadataValue::Scalar(bytes) if entry.value_type.name == "u32" => {
            let alignment = u64::from_le_bytes(bytes);
            let is_sane =
                alignment.is_power_of_two() && (8..=LARGEST_ALIGNMENT).contains(&alignment);
            let wrong = format!(
                "key \"general.alignment\" is {alignment} and not a power of two from 8 to {LARGEST_ALIGNMENT}"
            );
            if is_sane { Ok(alignment) } else { Err(corrupted(entry.offset, &wrong)) }
        }
        _ => Err(corrupted(entry.offset, "key \"general.alignment\" is not of type u32")),
    }
}
