use std::io::{self, Cursor, Read, Seek, SeekFrom};

use proptest::prelude::*;

use super::super::check::check;
use super::facts;
use super::writer::GgufWriter;

/// Of all ways to flip a bit of a count, length, type, shape or place, nearly each is refused.
/// What is not makes another true file: a type of the same size at a key that nobody needs.
#[test]
fn flipped_bits_are_refused() {
    let file = GgufWriter::valid().write();
    let (mut tried, mut passed) = (0, Vec::new());
    for place in file.structure.iter().cloned().flatten() {
        for bit in 0..8 {
            let mut bytes = file.bytes.clone();
            bytes[place] ^= 1 << bit;
            tried += 1;
            if facts(&bytes).is_ok() {
                passed.push((place, bit));
            }
        }
    }
    let refused = 100.0 - 100.0 * passed.len() as f64 / f64::from(tried);
    println!("{refused:.2} % of {tried} flipped bits are refused; not: {passed:?}");
    assert!(refused >= 99.0, "only {refused:.2} %: {passed:?}");
}

#[test]
fn cut_files_are_refused() {
    let file = GgufWriter::valid().write();
    for end in 0..file.bytes.len() - 4 {
        assert!(facts(&file.bytes[..end]).is_err(), "cut at {end}");
        // A length that is not that of the file.
        let (bytes, length) = (&file.bytes[..end], file.bytes.len() as u64);
        let header = file.structure.last().unwrap().end;
        assert!(end >= header || check(Cursor::new(bytes), length).is_err(), "cut at {end}");
    }
}

/// Counts what is read of a file without an end.
struct Endless {
    head: Vec<u8>,
    at: u64,
    read: u64,
}

impl Read for &mut Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for (place, byte) in buffer.iter_mut().enumerate() {
            let at = self.at as usize + place;
            *byte = self.head.get(at).copied().unwrap_or(0);
        }
        self.at += buffer.len() as u64;
        self.read += buffer.len() as u64;
        Ok(buffer.len())
    }
}

impl Seek for &mut Endless {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(at) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        self.at = at;
        Ok(at)
    }
}

/// An array of empty strings is nothing but zeros, so a file that says it is huge is read for long,
/// but not for ever.
#[test]
fn no_file_is_read_for_long() {
    let mut head = b"GGUF".to_vec();
    head.extend(3u32.to_le_bytes());
    head.extend(1u64.to_le_bytes());
    head.extend(4096u64.to_le_bytes());
    for key in ["a", "b", "c", "d", "e", "f"] {
        head.extend(1u64.to_le_bytes());
        head.extend(key.as_bytes());
        head.extend(9u32.to_le_bytes());
        head.extend(8u32.to_le_bytes());
        head.extend((1u64 << 24).to_le_bytes());
    }
    let mut file = Endless { head, at: 0, read: 0 };
    let error = check(&mut file, u64::MAX).unwrap_err();
    assert!(file.read <= 257 << 20, "{} bytes were read: {error}", file.read);
}

/// A number that lies, as those do who look for overflows.
fn lie() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(u64::MAX),
        Just(i64::MAX as u64),
        Just(1 << 63),
        Just(u64::from(u32::MAX)),
        Just(0),
        (0u32..64).prop_map(|bit| 1 << bit),
        any::<u64>(),
        0u64..100,
    ]
}

proptest! {
    /// Whatever is done to a file, it is refused or has facts; what it says stays within bounds.
    #[test]
    fn damage_never_panics(
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), 0..8u8), 0..8),
        cut in proptest::option::of(any::<proptest::sample::Index>()),
        length in proptest::option::of(lie()),
    ) {
        let mut bytes = GgufWriter::valid().write().bytes;
        for (place, bit) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let said = length.unwrap_or(bytes.len() as u64);
        if let Ok(facts) = check(Cursor::new(&bytes), said) {
            prop_assert!(facts.tensor_bytes <= said);
            prop_assert!(facts.chat_template.is_none_or(|it| it.len() <= 256 << 10));
        }
    }

    /// A lie about any number of the structure is refused, or was none.
    #[test]
    fn lies_are_refused(place in any::<proptest::sample::Index>(), lie in lie()) {
        let file = GgufWriter::valid().write();
        let range = file.structure[place.index(file.structure.len())].clone();
        let mut bytes = file.bytes.clone();
        let lie = lie.to_le_bytes();
        let length = range.len();
        bytes[range].copy_from_slice(&lie[..length]);
        if bytes != file.bytes && let Ok(changed) = facts(&bytes) {
            // Another type of the same size, version 2, or a last tensor that ends in its padding.
            let truth = facts(&file.bytes).unwrap();
            prop_assert!(changed.tensor_bytes.abs_diff(truth.tensor_bytes) < 32);
            prop_assert_eq!(changed.data_offset, truth.data_offset);
        }
    }

    #[test]
    fn noise_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400), headed: bool) {
        let head: &[u8] = if headed { b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0" } else { b"" };
        prop_assert!(facts(&[head, &bytes].concat()).is_err());
    }
}
