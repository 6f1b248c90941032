//! What was spent, in a file a day.
//!
//! ```text
//! folder/20779      [16384,16390,3,"openai","gpt-4o",1,812,64,0.00267,0,0,512]
//! ```
//!
//! A table would forget what a transaction spends that is rolled back, and a session that adds to
//! a row would wait for others that have. Here each call appends a line, which the operating
//! system does as one step and for all to see at once, and that works where tables can't be
//! written as well: on standbys, in transactions that only read.
//!
//! A reader remembers how far it has read, so that it reads each line once. A file that was long
//! for a reader that began at its start is replaced by one with the sums: a session that appends
//! holds a shared lock on the file, and one that replaces it an exclusive one.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Spent;

/// Bytes that a reader reads from the start of a file before it is replaced by its sums.
const LONG: u64 = 1 << 20;

/// Days that are kept: those of a year and of the month before it.
const KEPT: i32 = 400;

/// Which role has spent, where and on what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Account {
    /// OID of the database.
    pub database: u32,
    /// OID of the role.
    pub role: u32,
    /// ID of the pipeline; 0: none.
    pub pipeline: i32,
    /// The name of the foreign server.
    pub server: String,
    /// The name of the model.
    pub model: String,
}

/// Sums by account.
pub type Sums = HashMap<Account, Spent>;

/// The files, and what has been read of them.
#[derive(Debug)]
pub struct Ledger {
    folder: PathBuf,
    days: HashMap<i32, ReadFile>,
}

/// What has been read of a file.
#[derive(Debug, Default)]
struct ReadFile {
    inode: u64,
    offset: u64,
    sums: Sums,
}

/// A line: an account and what was spent on it.
#[derive(Serialize, Deserialize)]
struct LedgerLine(
    u32,
    u32,
    i32,
    String,
    String,
    u64,
    u64,
    u64,
    f64,
    u64,
    u64,
    // Cached tokens, which lines of earlier versions do not have.
    #[serde(default)] u64,
);

impl Ledger {
    /// The one in `folder`, which is made by the first entry.
    pub fn new(folder: impl Into<PathBuf>) -> Ledger {
        Ledger { folder: folder.into(), days: HashMap::new() }
    }

    /// Adds an entry of `day`.
    pub fn add(&self, day: i32, account: &Account, spent: &Spent) -> io::Result<()> {
        let path = self.path(day);
        loop {
            let mut file = match append_to(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    make_folder(&self.folder)?;
                    append_to(&path)?
                }
                other => other?,
            };
            locked(|| file.lock_shared())?;
            if is_at(&file, &path)? {
                if file.metadata()?.len() == 0 {
                    self.forget_before(day - KEPT);
                }
                // A line that a crash has cut short is not to take this one with it.
                return file.write_all(format!("\n{}\n", line(account, spent)?).as_bytes());
            }
        }
    }

    /// What was spent on `day`.
    pub fn day(&mut self, day: i32) -> io::Result<&Sums> {
        let path = self.path(day);
        let read = self.days.entry(day).or_default();
        match File::open(&path) {
            Ok(file) => {
                if read.go_on(file)? >= LONG {
                    replace_by_sums(&path)?;
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => *read = ReadFile::default(),
            Err(error) => return Err(error),
        }
        Ok(&read.sums)
    }

    /// What was spent from the day `from` to the day `to` by accounts that `counts`.
    pub fn sum(
        &mut self,
        from: i32,
        to: i32,
        counts: impl Fn(&Account) -> bool,
    ) -> io::Result<Spent> {
        let mut sum = Spent::default();
        for day in from..=to {
            let theirs = self.day(day)?.iter().filter(|(account, _)| counts(account));
            theirs.for_each(|(_, spent)| sum += *spent);
        }
        Ok(sum)
    }

    /// The days of which there are entries, in their order.
    pub fn days(&self) -> io::Result<Vec<i32>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let number =
            |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
        let mut days: Vec<i32> = entries.filter_map(number).collect();
        days.sort_unstable();
        Ok(days)
    }

    fn path(&self, day: i32) -> PathBuf {
        self.folder.join(day.to_string())
    }

    /// Old files are in no one's way, so that failing to remove one is no reason to stop.
    fn forget_before(&self, first: i32) {
        let days = self.days().unwrap_or_default();
        days.into_iter().filter(|day| *day < first).for_each(|day| {
            let _ = fs::remove_file(self.path(day));
        });
    }
}

impl ReadFile {
    /// Reads what is new; how many bytes, if that was all of the file, else 0.
    fn go_on(&mut self, mut file: File) -> io::Result<u64> {
        let inode = file.metadata()?.ino();
        if inode != self.inode {
            *self = ReadFile { inode, ..ReadFile::default() };
        }
        let is_first = self.offset == 0;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // The last line may still be on its way.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        add_lines(&bytes[..whole], &mut self.sums);
        self.offset += whole as u64;
        Ok(if is_first { self.offset } else { 0 })
    }
}

/// What is no line is left out: a crash may have cut one short.
fn add_lines(bytes: &[u8], sums: &mut Sums) {
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Ok(line) = serde_json::from_slice::<LedgerLine>(line) else { continue };
        let LedgerLine(database, role, pipeline, server, model, ..) = line;
        let LedgerLine(.., calls, input, output, cost, unpriced, failed, cached) = line;
        let account = Account { database, role, pipeline, server, model };
        let spent = Spent { calls, input, cached, output, cost, unpriced, failed };
        *sums.entry(account).or_default() += spent;
    }
}

fn line(account: &Account, spent: &Spent) -> io::Result<String> {
    let Account { database, role, pipeline, server, model } = account.clone();
    let Spent { calls, input, cached, output, cost, unpriced, failed } = *spent;
    #[rustfmt::skip]
    let line = LedgerLine(database, role, pipeline, server, model, calls, input, output, cost, unpriced, failed, cached);
    Ok(serde_json::to_string(&line)?)
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Whether `file` is still the one at `path`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(there) => Ok(there.ino() == file.metadata()?.ino()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A signal may come in between.
fn locked(mut lock: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match lock() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Puts sums in the place of a file's lines. Another session may have done so meanwhile; then there
/// is nothing to do.
fn replace_by_sums(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    locked(|| file.lock())?;
    if !is_at(&file, path)? {
        return Ok(());
    }
    let (mut bytes, mut sums) = (Vec::new(), Sums::new());
    file.read_to_end(&mut bytes)?;
    add_lines(&bytes, &mut sums);
    let mut text = String::new();
    for (account, spent) in &sums {
        text += &line(account, spent)?;
        text.push('\n');
    }
    let new = path.with_extension("new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn account(role: u32) -> Account {
        let (server, model) = ("a\n\"b".to_owned(), "m\t".to_owned());
        Account { database: 1, role, pipeline: 3, server, model }
    }

    const ONE: Spent =
        Spent { calls: 1, input: 10, cached: 4, output: 2, cost: 0.5, unpriced: 1, failed: 2 };

    fn ledger(folder: &tempfile::TempDir) -> Ledger {
        Ledger::new(folder.path().join("usage"))
    }

    #[test]
    fn what_is_added_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = ledger(&folder);
        assert_eq!(ledger.day(5).unwrap(), &Sums::new());
        ledger.add(5, &account(1), &ONE).unwrap();
        ledger.add(5, &account(1), &ONE).unwrap();
        ledger.add(5, &account(2), &ONE).unwrap();
        ledger.add(7, &account(1), &ONE).unwrap();
        let two =
            Spent { calls: 2, input: 20, cached: 8, output: 4, cost: 1.0, unpriced: 2, failed: 4 };
        assert_eq!(ledger.day(5).unwrap()[&account(1)], two);
        assert_eq!(ledger.day(5).unwrap()[&account(2)], ONE);
        let three =
            Spent { calls: 3, input: 30, cached: 12, output: 6, cost: 1.5, unpriced: 3, failed: 6 };
        assert_eq!(ledger.sum(5, 7, |account| account.role == 1).unwrap(), three);
        assert_eq!(ledger.days().unwrap(), [5, 7]);
        // Another session sees the same, and what comes later.
        let mut other = Ledger::new(folder.path().join("usage"));
        assert_eq!(other.day(5).unwrap()[&account(1)], two);
        ledger.add(5, &account(1), &ONE).unwrap();
        assert_eq!(other.day(5).unwrap()[&account(1)], three);
    }

    #[test]
    fn lines_without_cached_tokens_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = ledger(&folder);
        ledger.add(5, &account(1), &ONE).unwrap();
        let earlier = br#"[1,1,3,"a\n\"b","m\t",1,10,2,0.5,1,2]"#;
        append_to(&ledger.path(5)).unwrap().write_all(&[&earlier[..], b"\n"].concat()).unwrap();
        let sum = ledger.day(5).unwrap()[&account(1)];
        assert_eq!((sum.calls, sum.input, sum.cached), (2, 20, 4));
    }

    #[test]
    fn a_line_that_was_cut_short_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = ledger(&folder);
        ledger.add(5, &account(1), &ONE).unwrap();
        append_to(&ledger.path(5)).unwrap().write_all(b"[1,1,3,\"a").unwrap();
        assert_eq!(ledger.day(5).unwrap()[&account(1)], ONE);
        ledger.add(5, &account(1), &ONE).unwrap();
        assert_eq!(ledger.day(5).unwrap()[&account(1)].calls, 2);
        append_to(&ledger.path(5)).unwrap().write_all(b"\xff\0nonsense\n{}\n[]\n").unwrap();
        assert_eq!(ledger.day(5).unwrap()[&account(1)].calls, 2);
    }

    #[test]
    fn a_long_file_is_replaced_by_its_sums_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let first = ledger(&folder);
        first.add(5, &account(1), &ONE).unwrap();
        let length = fs::metadata(first.path(5)).unwrap().len();
        let count = LONG / length + 10;
        (1..count).for_each(|_| first.add(5, &account(1), &ONE).unwrap());
        // Threads that go on adding meanwhile are not disturbed.
        let adders: Vec<_> = (2..6)
            .map(|role| {
                let ledger = ledger(&folder);
                thread::spawn(move || {
                    (0..500).for_each(|_| ledger.add(5, &account(role), &ONE).unwrap());
                })
            })
            .collect();
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let mut ledger = ledger(&folder);
                thread::spawn(move || ledger.day(5).unwrap()[&account(1)].calls)
            })
            .collect();
        adders.into_iter().for_each(|adder| adder.join().unwrap());
        readers.into_iter().for_each(|reader| assert_eq!(reader.join().unwrap(), count));
        let mut last = ledger(&folder);
        assert_eq!(last.day(5).unwrap()[&account(1)].calls, count);
        (2..6).for_each(|role| assert_eq!(last.day(5).unwrap()[&account(role)].calls, 500));
        assert!(fs::metadata(last.path(5)).unwrap().len() < LONG);
    }

    #[test]
    fn old_days_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder);
        ledger.add(5, &account(1), &ONE).unwrap();
        ledger.add(6, &account(1), &ONE).unwrap();
        ledger.add(6 + KEPT, &account(1), &ONE).unwrap();
        assert_eq!(ledger.days().unwrap(), [6, 6 + KEPT]);
    }
}
