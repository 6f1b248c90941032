//! Damaged headers of models' files: each is read or refused, without a panic, in little memory. The other tests of
//! damage give such files to llama.cpp too, which takes seconds for each.

use std::fs::File;
use std::io::Cursor;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use pg_rag::error::ErrorKind;
use pg_rag::gguf::check::check;
use proptest::prelude::*;
use proptest::sample::Index;

use super::allocation::most_allocated;
use super::gguf::InstalledLlm;
use super::random::Random;
use super::writer::GgufWriter;

/// Bytes that a check may take whatever the file is: the block that is read at a time, and messages.
const BESIDE: usize = 128 << 10;

/// Bytes that a check may take for each byte of a file: a key of one letter has an entry of a hundred bytes.
const FOR_A_BYTE: usize = 8;

/// Bytes that it may take for a model of any size, whose vocabulary is not kept.
const FOR_A_MODEL: usize = 1 << 20;

/// How many times the header of a real model is damaged.
const DAMAGED_MODELS: usize = 200;

/// Checks that a file is read or refused, in at most so much memory; says whether it is read.
fn is_read(bytes: &[u8], length: u64, most: usize) -> bool {
    let (outcome, taken) = most_allocated(|| check(Cursor::new(bytes), length));
    assert!(taken <= most, "{taken} bytes for a file of {length}: {outcome:?}");
    match outcome {
        Ok(facts) => {
            assert!(facts.tensor_bytes <= length, "{facts:?}");
            true
        }
        Err(error) => {
            let kinds = [ErrorKind::FileCorrupted, ErrorKind::Unsupported];
            assert!(kinds.contains(&error.kind()), "{error}");
            false
        }
    }
}

fn is_small_file_read(bytes: &[u8]) -> bool {
    is_read(bytes, bytes.len() as u64, BESIDE + FOR_A_BYTE * bytes.len())
}

/// What is done to a file.
#[derive(Clone, Debug)]
enum Damage {
    /// A bit of the header is turned over.
    Flip(Index, u8),
    /// A count, length, type, shape or place is another number.
    Lie(Index, u64),
    /// Bytes of the header are there once more, at another place.
    Repeat { from: Index, to: Index, length: usize },
    /// Bytes of the header are missing.
    Remove(Index, usize),
    /// The file ends here.
    Cut(Index),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>, structure: &[Range<usize>]) {
        let header = structure.last().map_or(0, |last| last.end).min(bytes.len());
        if header == 0 {
            return;
        }
        let stretch = |from: usize, length: usize| from..header.min(from + length);
        match self {
            Damage::Flip(place, bit) => bytes[place.index(header)] ^= 1u8 << *bit,
            Damage::Lie(place, lie) => {
                let range = structure[place.index(structure.len())].clone();
                if let Some(number) = bytes.get_mut(range) {
                    number.iter_mut().zip(lie.to_le_bytes()).for_each(|(old, new)| *old = new);
                }
            }
            Damage::Repeat { from, to, length } => {
                let copy = bytes[stretch(from.index(header), *length)].to_vec();
                let behind = bytes.split_off(to.index(header));
                bytes.extend(copy);
                bytes.extend(behind);
            }
            Damage::Remove(from, length) => {
                bytes.drain(stretch(from.index(header), *length));
            }
            Damage::Cut(place) => bytes.truncate(place.index(bytes.len())),
        }
    }
}

fn lie() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0u64..100,
        (0u32..64).prop_map(|bit| 1u64 << bit),
        (0u64..200).prop_map(|below| u64::MAX - below),
    ]
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<Index>;
    prop_oneof![
        4 => (place(), 0..8u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        4 => (place(), lie()).prop_map(|(at, lie)| Damage::Lie(at, lie)),
        2 => (place(), place(), 1..64usize)
            .prop_map(|(from, to, length)| Damage::Repeat { from, to, length }),
        2 => (place(), 1..64usize).prop_map(|(from, length)| Damage::Remove(from, length)),
        1 => place().prop_map(Damage::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_damaged_file_takes_no_more_memory_than_it_is_long(
        damages in proptest::collection::vec(damage(), 1..8),
    ) {
        let file = GgufWriter::valid().write();
        let mut bytes = file.bytes;
        for damage in &damages {
            damage.apply(&mut bytes, &file.structure);
        }
        is_small_file_read(&bytes);
    }
}

/// Each count, length, type, shape and place is each power of two in turn, and a number beside it.
#[test]
fn no_number_of_a_header_is_believed() {
    let file = GgufWriter::valid().write();
    assert!(is_small_file_read(&file.bytes));
    let powers = (0..64).map(|bit| 1u64 << bit);
    let lies: Vec<u64> = powers.flat_map(|power| [power - 1, power, power + 1]).collect();
    let (mut tried, mut read) = (0, 0);
    for range in &file.structure {
        for lie in &lies {
            let mut bytes = file.bytes.clone();
            let number = &mut bytes[range.clone()];
            number.iter_mut().zip(lie.to_le_bytes()).for_each(|(old, new)| *old = new);
            if bytes != file.bytes {
                tried += 1;
                read += usize::from(is_small_file_read(&bytes));
            }
        }
    }
    println!("{tried} lies, of which {read} make another true file");
    assert!(read * 50 < tried, "{read} of {tried} lies are believed");
}

#[test]
fn a_damaged_header_of_a_model_takes_little_memory() {
    let Some(llm) = InstalledLlm::find() else { return };
    let file = File::open(&llm.file().path).unwrap();
    let length = file.metadata().unwrap().len();
    let mut whole = vec![0; check(&file, length).unwrap().data_offset as usize];
    file.read_exact_at(&mut whole, 0).unwrap();
    assert!(is_read(&whole, length, FOR_A_MODEL));
    let mut random = Random(17);
    let mut read = 0;
    for _ in 0..DAMAGED_MODELS {
        let mut bytes = whole.clone();
        // Most of a header is the vocabulary; what lies before it and behind it is to be hit too.
        let reach = [512, 16 << 10, bytes.len()][random.below(3)].min(bytes.len());
        let begin = if random.below(2) == 0 { 0 } else { bytes.len() - reach };
        for _ in 0..=random.below(24) {
            bytes[begin + random.below(reach)] = random.below(256) as u8;
        }
        if random.below(2) == 0 {
            let at = begin + random.below(reach - 8);
            bytes[at..at + 8].copy_from_slice(&(1u64 << random.below(64)).to_le_bytes());
        }
        let end = if random.below(4) == 0 { random.below(bytes.len()) } else { bytes.len() };
        let length = if end < bytes.len() { end as u64 } else { length };
        read += usize::from(is_read(&bytes[..end], length, FOR_A_MODEL));
    }
    println!("{DAMAGED_MODELS} damaged headers of a model: {read} read, the others refused");
    assert!(read < DAMAGED_MODELS);
}
