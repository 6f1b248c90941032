//! Vectors in a file: for each its dimension and its values, four bytes a number, little-endian
//! (the format fvecs). What was written when the power went is cut off at the last whole one.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::Result;

/// A file that grows.
pub struct VectorFile {
    path: PathBuf,
}

impl VectorFile {
    pub fn new(path: PathBuf) -> VectorFile {
        VectorFile { path }
    }

    /// How many whole vectors it holds.
    pub fn len(&self) -> Result<usize> {
        let Some(dimension) = self.dimension()? else { return Ok(0) };
        let length = self.path.metadata()?.len();
        Ok(length as usize / record(dimension))
    }

    /// Adds vectors after the last whole one.
    pub fn append(&self, vectors: &[Vec<f32>]) -> Result<()> {
        let whole = self.dimension()?.map_or(0, record) * self.len()?;
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        file.set_len(whole as u64)?;
        let mut bytes = Vec::new();
        for vector in vectors {
            bytes.extend((vector.len() as u32).to_le_bytes());
            bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        }
        file.write_all(&bytes)?;
        Ok(())
    }

    /// The dimension, and the values of the first `count` vectors.
    pub fn read(&self, count: usize) -> Result<(usize, Vec<f32>)> {
        let dimension = self.dimension()?.ok_or("a file without vectors")?;
        let mut bytes = vec![0; count * record(dimension)];
        File::open(&self.path)?.read_exact(&mut bytes)?;
        let values = bytes.chunks_exact(record(dimension)).flat_map(|record| {
            record[4..].chunks_exact(4).map(|value| f32::from_le_bytes(array(value)))
        });
        Ok((dimension, values.collect()))
    }

    /// `None` of a file that is not there, or holds nothing yet.
    fn dimension(&self) -> Result<Option<usize>> {
        if !is_longer_than(&self.path, 4) {
            return Ok(None);
        }
        let mut bytes = [0; 4];
        File::open(&self.path)?.read_exact(&mut bytes)?;
        match u32::from_le_bytes(bytes) {
            0 => Err(format!("{} holds no vectors", self.path.display()).into()),
            dimension => Ok(Some(dimension as usize)),
        }
    }
}

fn is_longer_than(path: &Path, bytes: u64) -> bool {
    path.metadata().is_ok_and(|file| file.len() > bytes)
}

/// Bytes of a vector with its dimension.
fn record(dimension: usize) -> usize {
    4 + 4 * dimension
}

fn array(bytes: &[u8]) -> [u8; 4] {
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}
