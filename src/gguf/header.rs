//! Bytes of a header, with the place of each.

use std::io::{ErrorKind as IoKind, Read, Seek, SeekFrom};

use crate::error::{Error, ErrorKind, Result};

/// Bytes that are read at once.
const AT_ONCE: usize = 64 << 10;

/// Longest header, in bytes: keys, values and the list of tensors. The vocabularies of 2025 take 20 MiB.
const LONGEST_HEADER: u64 = 256 << 20;

/// Longest excerpt of a file that an error shows, in characters.
const LONGEST_EXCERPT: usize = 64;

/// Reads numbers and strings, little endian, and never past the end or the longest header.
#[derive(Debug)]
pub struct HeaderReader<R> {
    file: R,
    /// Length of the file, in bytes.
    length: u64,
    buffer: Vec<u8>,
    /// What of the buffer has been read.
    used: usize,
    /// Where the buffer ends in the file.
    buffered_to: u64,
}

impl<R: Read + Seek> HeaderReader<R> {
    /// Reads `file`, `length` bytes long, from its beginning.
    ///
    /// Fails with [`ErrorKind::FileUnavailable`] where it cannot be read.
    pub fn new(file: R, length: u64) -> Result<HeaderReader<R>> {
        let mut reader = HeaderReader { file, length, buffer: Vec::new(), used: 0, buffered_to: 0 };
        reader.seek(0)?;
        Ok(reader)
    }

    /// The place of the next byte, from 0.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.buffered_to - (self.buffer.len() - self.used) as u64
    }

    /// Length of the file, in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Goes to the byte at `offset`.
    ///
    /// Fails with [`ErrorKind::FileUnavailable`] where the file cannot be read there.
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        self.file.seek(SeekFrom::Start(offset)).map_err(|error| unreadable(&error, offset))?;
        (self.used, self.buffered_to) = (0, offset);
        self.buffer.clear();
        Ok(())
    }

    /// Passes over `count` bytes.
    ///
    /// Fails with [`ErrorKind::FileCorrupted`] where the file or the longest header ends before.
    pub fn skip(&mut self, count: u64, what: &str) -> Result<()> {
        self.require(count, what)?;
        let buffered = (self.buffer.len() - self.used) as u64;
        if count <= buffered {
            self.used += count as usize;
            return Ok(());
        }
        self.seek(self.offset() + count)
    }

    /// The next byte.
    ///
    /// Errors are those of [`HeaderReader::skip`].
    pub fn u8(&mut self, what: &str) -> Result<u8> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    /// The next four bytes, a whole number.
    ///
    /// Errors are those of [`HeaderReader::skip`].
    pub fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// The next eight bytes, a whole number.
    ///
    /// Errors are those of [`HeaderReader::skip`].
    pub fn u64(&mut self, what: &str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// The next `N` bytes.
    ///
    /// Errors are those of [`HeaderReader::skip`].
    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    /// The next `count` bytes. The caller has bounded `count`.
    ///
    /// Errors are those of [`HeaderReader::skip`].
    pub fn bytes(&mut self, count: usize, what: &str) -> Result<Vec<u8>> {
        self.require(count as u64, what)?;
        let mut bytes = vec![0; count];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    /// Fails if fewer than `count` bytes are left of the file, or of the longest header.
    pub fn require(&self, count: u64, what: &str) -> Result<()> {
        let (at, end) = (self.offset(), self.length.min(LONGEST_HEADER));
        if count <= end.saturating_sub(at) {
            return Ok(());
        }
        if self.length > LONGEST_HEADER && count <= self.length - at {
            let message =
                format!("{what} reaches past the longest header of {LONGEST_HEADER} bytes");
            return Err(corrupted(at, &message));
        }
        let left = self.length.saturating_sub(at);
        Err(corrupted(at, &format!("{what} of {count} bytes where only {left} are left")))
    }

    fn fill(&mut self, mut bytes: &mut [u8], what: &str) -> Result<()> {
        self.require(bytes.len() as u64, what)?;
        while !bytes.is_empty() {
            if self.used == self.buffer.len() {
                self.read_on(what)?;
            }
            let count = bytes.len().min(self.buffer.len() - self.used);
            let (now, later) = bytes.split_at_mut(count);
            now.copy_from_slice(&self.buffer[self.used..self.used + count]);
            self.used += count;
            bytes = later;
        }
        Ok(())
    }

    fn read_on(&mut self, what: &str) -> Result<()> {
        let at = self.buffered_to;
        self.buffer.resize(AT_ONCE, 0);
        self.used = 0;
        let count = loop {
            match self.file.read(&mut self.buffer) {
                Err(error) if error.kind() == IoKind::Interrupted => {}
                result => break result,
            }
        };
        self.buffer.truncate(*count.as_ref().unwrap_or(&0));
        match count.map_err(|error| unreadable(&error, at))? {
            0 => Err(corrupted(at, &format!("{what} where the file ends"))),
            count => {
                self.buffered_to += count as u64;
                Ok(())
            }
        }
    }
}

/// An error of kind [`ErrorKind::FileCorrupted`] that names the byte `offset`.
#[must_use]
pub fn corrupted(offset: u64, what: &str) -> Error {
    Error::new(ErrorKind::FileCorrupted, format!("GGUF file is damaged at byte {offset}: {what}"))
        .hint("Download the file again and compare its checksum.")
}

/// An error of kind [`ErrorKind::Unsupported`] that names the byte `offset`.
#[must_use]
pub fn unsupported(offset: u64, what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("GGUF file cannot be read at byte {offset}: {what}"))
}

/// The beginning of a text of the file between quotes, with nothing in it that a terminal obeys.
#[must_use]
pub fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST_EXCERPT)]);
    let mut shown: String = text.chars().take(LONGEST_EXCERPT).collect();
    if shown.len() < bytes.len() {
        shown += "...";
    }
    format!("\"{}\"", shown.escape_debug())
}

fn unreadable(error: &std::io::Error, offset: u64) -> Error {
    let message = format!("GGUF file cannot be read at byte {offset}: {error}");
    Error::new(ErrorKind::FileUnavailable, message)
}
