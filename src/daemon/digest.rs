//! Are these still the files that were registered?
//!
//! A digest answers exactly and reads every byte; a [`Fingerprint`] answers "nothing was
//! touched" from the file system alone, and is what a busy server looks at.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use sha2::{Digest, Sha256};

use crate::embed::manifest::Manifest;
use crate::error::{Error, ErrorKind, Result};

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Hex SHA-256 over name, length and content of every file of a model, in the manifest's order.
pub fn digest(manifest: &Manifest) -> Result<String> {
    let mut hasher = Sha256::new();
    for name in &manifest.files {
        let path = manifest.path(name);
        add_file(&mut hasher, name, &path).map_err(|error| {
            let message = format!("cannot read \"{}\": {error}", path.display());
            Error::new(ErrorKind::FileUnavailable, message)
        })?;
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Name and content are each preceded by their length, so that no two sets of files can
/// give the same bytes.
fn add_file(hasher: &mut Sha256, name: &str, path: &std::path::Path) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    hasher.update((name.len() as u64).to_le_bytes());
    hasher.update(name);
    hasher.update(file.metadata()?.len().to_le_bytes());
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(()),
            read => hasher.update(&block[..read]),
        }
    }
}

/// What the file system says about a model's files, without reading them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(Vec<Option<Stat>>);

/// Changes whenever a file's content does, unless the clock is turned back.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stat {
    length: u64,
    inode: (u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Fingerprint {
    /// Looks at every file that decides a model's vectors, and for those that would if they
    /// were there.
    pub fn take(manifest: &Manifest) -> Fingerprint {
        let names = manifest.files.iter().chain(&manifest.absent);
        Fingerprint(names.map(|name| stat(&manifest.path(name))).collect())
    }

    /// Bytes of all the files.
    pub fn bytes(&self) -> u64 {
        self.0.iter().flatten().map(|stat| stat.length).sum()
    }
}

fn stat(path: &std::path::Path) -> Option<Stat> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stat {
        length: metadata.len(),
        inode: (metadata.dev(), metadata.ino()),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::calibration::{CALIBRATION_FILE, Calibration};

    fn sample(name: &str) -> std::path::PathBuf {
        let folder =
            std::env::temp_dir().join(format!("pg_rag-digest-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("model.onnx"), "graph").unwrap();
        fs::write(folder.join("tokenizer.json"), "{}").unwrap();
        fs::write(folder.join("config.json"), r#"{"hidden_size": 8}"#).unwrap();
        folder
    }

    #[test]
    fn a_digest_depends_on_every_file() {
        let folder = sample("every");
        let read = || Manifest::read(folder.to_str().unwrap(), None).unwrap();
        let before = digest(&read()).unwrap();
        assert_eq!(before.len(), 64);
        assert_eq!(digest(&read()).unwrap(), before);

        let mut seen = vec![before];
        for (file, content) in [
            ("model.onnx", "grapf"),
            ("model.onnx_data", "weights"),
            ("tokenizer.json", "{ }"),
            ("config.json", r#"{"hidden_size": 9}"#),
            ("sentence_bert_config.json", r#"{"max_seq_length": 3}"#),
            (CALIBRATION_FILE, &Calibration::generic().unwrap().to_json().unwrap()),
        ] {
            let fingerprint = Fingerprint::take(&read());
            let names = read().files.into_iter();
            let bytes: u64 = names.map(|name| fs::metadata(folder.join(name)).unwrap().len()).sum();
            assert_eq!(fingerprint.bytes(), bytes);
            fs::write(folder.join(file), content).unwrap();
            assert_ne!(Fingerprint::take(&read()), fingerprint, "{file}");
            let digest = digest(&read()).unwrap();
            assert!(!seen.contains(&digest), "{file} does not count");
            seen.push(digest);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
