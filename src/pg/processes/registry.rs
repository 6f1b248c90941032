//! Which pipeline workers run, and how they are woken.
//!
//! A file with locks says which workers run: a worker of a server holds one of the first bytes, as
//! many as `rag.max_workers`, and the first worker of a database holds the byte that stands for it.
//! Locks go with their process, so nothing is ever stale, and they say which process holds them: it
//! is woken by a signal, after which its latch is set. So no shared memory is needed, which only a
//! preloaded library could have, and no NOTIFY, which locks the whole server at each commit.
//!
//! Empty files say what must outlive a process: that a database waits for a worker, from the time
//! on when the file was "modified", and that a worker is at work in it.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant, SystemTime};

use pgrx::bgworkers::{BackgroundWorkerBuilder, BgWorkerStartTime};
use pgrx::prelude::*;

use super::supervisor;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::guc;

const LOCK_FILE: &str = "pg_stat_tmp/pg_rag.workers";
/// Databases that wait for a worker to have its slot, as empty files with the time from which on.
const WAITING: &str = "pg_stat_tmp/pg_rag.waiting.";
/// Databases in which a worker is at work, likewise: what is left of one that was ended.
const ACTIVE: &str = "pg_stat_tmp/pg_rag.active.";
/// Where the bytes of databases begin: of their first worker, of one that is in a step for long,
/// and of the watcher of those. There are 2^32 numbers of databases.
const DATABASES: i64 = 1 << 16;
const SLOW: i64 = DATABASES + (1 << 32);
const WATCHED: i64 = SLOW + (1 << 32);
/// A worker that was started looks for what was committed until it is there; so another one is not
/// started for a while.
const START_AGAIN: Duration = Duration::from_millis(200);

/// Where there is no slot for a worker, its database waits at least so long for another attempt.
const START_LATER: Duration = Duration::from_secs(1);
/// Between two looks at databases in line, unless a process wakes the supervisor.
const LOOK_AT_LINE: Duration = Duration::from_secs(10);

thread_local! {
    static STARTED: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Workers notice by themselves what they commit.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
    /// In a worker, the open lock file.
    static HELD: Cell<Option<i32>> = const { Cell::new(None) };
}

/// Wakes the database's worker, or starts one; called after a commit, when nothing may fail.
pub fn after_commit() {
    if !IS_WORKER.get() {
        // What was committed stays where it is; a later commit or call tries again.
        drop(wake());
    }
}

/// Wakes this database's first worker, or starts one. Not on a standby: it would wait in its slot
/// until recovery has ended.
pub fn wake() -> Result<()> {
    // SAFETY: reads the state of the server.
    if unsafe { pg_sys::RecoveryInProgress() } {
        return Ok(());
    }
    // SAFETY: a variable of the server, set once a session.
    let database = unsafe { pg_sys::MyDatabaseId };
    match leader(database)? {
        Some(pid) => {
            // SAFETY: a signal that every server process knows, to one that holds a lock of ours.
            unsafe { libc::kill(pid, libc::SIGUSR1) };
            Ok(())
        }
        None => start_once(database),
    }
}

fn start_once(database: pg_sys::Oid) -> Result<()> {
    let is_starting = STARTED.get().is_some_and(|time| time.elapsed() < START_AGAIN);
    if is_starting || guc::max_workers() == 0 {
        return Ok(());
    }
    STARTED.set(Some(Instant::now()));
    start(database, WorkerRole::Leader).inspect_err(|_| {
        put_in_line(database, START_LATER);
        supervisor::wake();
    })
}

/// The process ID of a database's first worker.
pub fn leader(database: pg_sys::Oid) -> Result<Option<i32>> {
    match File::open(LOCK_FILE) {
        Ok(file) => holder(&file, database_byte(database)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_lock(&error)),
    }
}

/// What a worker is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerRole {
    /// The first of its database: it is the one that is woken.
    Leader,
    /// Helps while there is much to do.
    Helper,
    /// Helps with what others have not in hand, since they have been at it for long.
    Deputy,
}

/// Starts a worker for a database. It leaves again at once where it is one too many. The last free slot
/// of the server is ragd's, without which a worker could do nothing.
pub fn start(database: pg_sys::Oid, role: WorkerRole) -> Result<()> {
    supervisor::start()?;
    register(
        "pg_rag worker",
        "pg_rag_worker_main",
        u64::from(database.to_u32()) | (role as u64) << 32,
    )
}

/// Starts the watcher of a database's workers, one of which is in a step for long.
fn start_watcher(database: pg_sys::Oid) -> Result<()> {
    register("pg_rag watcher", "pg_rag_watcher_main", u64::from(database.to_u32()))
}

fn register(name: &str, function: &str, argument: u64) -> Result<()> {
    let worker = BackgroundWorkerBuilder::new(name)
        .set_type(name)
        .set_library("pg_rag")
        .set_function(function)
        .set_argument(Some(pg_sys::Datum::from(argument)))
        .enable_spi_access()
        .set_start_time(BgWorkerStartTime::RecoveryFinished)
        .set_restart_time(None);
    worker.load_dynamic().map(drop).map_err(|_| {
        let message = "cannot start a pipeline worker: no background worker slot is free";
        Error::new(ErrorKind::OutOfResources, message)
            .hint("Raise max_worker_processes, or stop other extensions' workers.")
    })
}

/// Database and role of a worker, from its argument.
pub fn argument(argument: pg_sys::Datum) -> (pg_sys::Oid, WorkerRole) {
    let value = argument.value() as u64;
    let roles = [WorkerRole::Leader, WorkerRole::Helper, WorkerRole::Deputy];
    let role =
        roles.into_iter().find(|role| *role as u64 == value >> 32).unwrap_or(WorkerRole::Leader);
    (pg_sys::Oid::from_u32(value as u32), role)
}

/// A worker's place among the others, as long as it lives.
pub struct WorkerSlot {
    file: File,
    database: pg_sys::Oid,
}

impl WorkerSlot {
    /// Takes a slot of the server and, if it is to lead, the database; `None` where that is taken.
    pub fn take(database: pg_sys::Oid, role: WorkerRole) -> Result<Option<WorkerSlot>> {
        IS_WORKER.set(true);
        let file = open()?;
        if role == WorkerRole::Leader && !lock(&file, database_byte(database)) {
            return Ok(None);
        }
        let take_slot = || (0..guc::max_workers()).any(|slot| lock(&file, slot as i64));
        if !take_slot() {
            if role != WorkerRole::Leader {
                return Ok(None);
            }
            // A worker that leaves gives its slot back and then looks which database is in line.
            put_in_line(database, Duration::ZERO);
            if !take_slot() {
                return Ok(None);
            }
            drop(std::fs::remove_file(file_of(WAITING, database)));
        }
        HELD.set(Some(file.as_raw_fd()));
        Ok(Some(WorkerSlot { file, database }))
    }

    /// What tells others that this worker is in a step for long.
    pub fn alarm(&self) -> Alarm {
        let database = i64::from(self.database.to_u32());
        Alarm { file: self.file.as_raw_fd(), slow: SLOW + database, watched: WATCHED + database }
    }

    /// Stops being the worker that is woken: a session that commits from now on starts another one.
    pub fn stop_leading(&self) {
        set_lock(self.file.as_raw_fd(), database_byte(self.database), libc::F_UNLCK);
    }

    /// Leaves slot and database to others, and has the next in line started.
    pub fn give_back(self) {
        HELD.set(None);
        unlock_all(self.file.as_raw_fd());
        start_waiting();
    }

    /// Is again the one that is woken, unless another worker is.
    pub fn lead_again(&self) -> bool {
        lock(&self.file, database_byte(self.database))
    }
}

/// The open file of a worker, and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    file: i32,
    slow: i64,
    watched: i64,
}

impl Alarm {
    /// Marks that this worker is in a step for long; whether the database has a watcher, so that
    /// none needs to be started. Nothing but system calls: for a signal's handler.
    pub fn give(self) -> bool {
        set_lock(self.file, self.slow, libc::F_WRLCK);
        let mut lock = byte_lock(self.watched, libc::F_WRLCK);
        // SAFETY: F_GETLK reads and writes the flock structure only.
        let is_known = unsafe { libc::fcntl(self.file, libc::F_GETLK, &mut lock) == 0 };
        is_known && i32::from(lock.l_type) != libc::F_UNLCK
    }

    /// The step is done.
    pub fn take_back(self) {
        set_lock(self.file, self.slow, libc::F_UNLCK);
    }
}

/// The watcher of a database's workers, as long as it lives.
pub struct WatcherLock {
    file: File,
    database: pg_sys::Oid,
}

impl WatcherLock {
    /// Becomes the database's watcher; `None` if it has one.
    pub fn take(database: pg_sys::Oid) -> Result<Option<WatcherLock>> {
        IS_WORKER.set(true);
        let file = open()?;
        let is_first = lock(&file, WATCHED + i64::from(database.to_u32()));
        Ok(is_first.then_some(WatcherLock { file, database }))
    }

    /// Whether a worker is in a step for long.
    pub fn is_needed(&self) -> bool {
        let byte = SLOW + i64::from(self.database.to_u32());
        matches!(holder(&self.file, byte), Ok(Some(_)))
    }

    /// Whether there may be another worker.
    pub fn has_room(&self) -> bool {
        (0..guc::max_workers()).any(|slot| matches!(holder(&self.file, slot as i64), Ok(None)))
    }
}

fn open() -> Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    options.open(LOCK_FILE).map_err(|error| cannot_lock(&error))
}

/// Whether another database than `mine` has something to do and waits for a worker.
pub fn others_wait(mine: pg_sys::Oid) -> bool {
    let now = SystemTime::now();
    in_line().iter().any(|(from, database)| *database != mine && *from <= now)
}

/// Starts workers for databases that wait for one, as many as there may be: those that have
/// something to do now, or else the one that has soonest.
pub fn start_waiting() {
    let (line, now) = (in_line(), SystemTime::now());
    let due = line.iter().take_while(|(from, _)| *from <= now).count().max(1);
    for (_, database) in line.into_iter().take(due.min(guc::max_workers() as usize)) {
        // If the file is gone already, another process is starting it.
        let is_ours = std::fs::remove_file(file_of(WAITING, database)).is_ok();
        if is_ours && start(database, WorkerRole::Leader).is_err() {
            put_in_line(database, START_LATER);
        }
    }
}

/// How long until a database that waits is worth another look, if one does: there may be a slot for
/// its worker now without any process having said so.
pub fn time_to_start() -> Option<Duration> {
    let (time, _) = in_line().into_iter().next()?;
    Some(time.duration_since(SystemTime::now()).unwrap_or_default().max(LOOK_AT_LINE))
}

/// Has a database wait for a worker, for which there is something to do after this time.
pub fn put_in_line(database: pg_sys::Oid, after: Duration) {
    // Without it, the database's next commit tries again.
    let Ok(file) = File::create(file_of(WAITING, database)) else { return };
    drop(file.set_modified(SystemTime::now() + after));
}

/// A worker begins its work. If it is ended before it has done all, the supervisor starts another.
pub fn mark_active(database: pg_sys::Oid) {
    // Without it, the database's next commit starts another.
    drop(File::create(file_of(ACTIVE, database)));
    // SAFETY: the callback only sends a signal.
    unsafe { pg_sys::before_shmem_exit(Some(at_exit), pg_sys::Datum::null()) };
}

/// A worker has done all there was to do.
pub fn unmark_active(database: pg_sys::Oid) {
    drop(std::fs::remove_file(file_of(ACTIVE, database)));
}

#[pg_guard]
unsafe extern "C-unwind" fn at_exit(_code: i32, _argument: pg_sys::Datum) {
    let Some(file) = HELD.get() else { return };
    // The supervisor looks at once, and must not find this process in its place still.
    unlock_all(file);
    if !databases(ACTIVE).is_empty() {
        supervisor::wake();
    }
}

/// Starts workers in databases whose worker was ended, or that wait for the slot it leaves, and
/// watchers of workers that are in a step for long; called by the supervisor.
pub fn start_abandoned() {
    for database in databases(ACTIVE) {
        if needs_watcher(database).unwrap_or(false) {
            drop(start_watcher(database));
        }
        let is_abandoned = matches!(leader(database), Ok(None));
        // A new worker marks it again as soon as it is connected: the database may be gone.
        if is_abandoned && std::fs::remove_file(file_of(ACTIVE, database)).is_ok() {
            drop(start(database, WorkerRole::Leader));
        }
    }
    start_waiting();
}

fn needs_watcher(database: pg_sys::Oid) -> Result<bool> {
    let file = File::open(LOCK_FILE).map_err(|error| cannot_lock(&error))?;
    let number = i64::from(database.to_u32());
    Ok(holder(&file, SLOW + number)?.is_some() && holder(&file, WATCHED + number)?.is_none())
}

/// The databases that wait, and since or from when; the longest waiting first.
fn in_line() -> Vec<(SystemTime, pg_sys::Oid)> {
    let mut line = files_of_databases(WAITING);
    line.sort_unstable_by_key(|(time, database)| (*time, database.to_u32()));
    line
}

fn databases(files: &str) -> Vec<pg_sys::Oid> {
    files_of_databases(files).into_iter().map(|(_, database)| database).collect()
}

/// Databases with a file of this kind, and when it was modified.
fn files_of_databases(files: &str) -> Vec<(SystemTime, pg_sys::Oid)> {
    let (folder, prefix) = files.split_once('/').unwrap_or(("", files));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let database = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let number = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
        Some((entry.metadata().ok()?.modified().ok()?, pg_sys::Oid::from_u32(number)))
    };
    entries.filter_map(database).collect()
}

fn file_of(files: &str, database: pg_sys::Oid) -> String {
    format!("{files}{}", database.to_u32())
}

fn database_byte(database: pg_sys::Oid) -> i64 {
    DATABASES + i64::from(database.to_u32())
}

fn lock(file: &File, byte: i64) -> bool {
    set_lock(file.as_raw_fd(), byte, libc::F_WRLCK)
}

fn set_lock(file: i32, byte: i64, kind: i32) -> bool {
    // SAFETY: F_SETLK reads the flock structure only.
    unsafe { libc::fcntl(file, libc::F_SETLK, &byte_lock(byte, kind)) == 0 }
}

fn unlock_all(file: i32) {
    let mut lock = byte_lock(0, libc::F_UNLCK);
    // To the end of the file, wherever that is.
    lock.l_len = 0;
    // SAFETY: F_SETLK reads the flock structure only.
    unsafe { libc::fcntl(file, libc::F_SETLK, &lock) };
}

fn holder(file: &File, byte: i64) -> Result<Option<i32>> {
    let mut lock = byte_lock(byte, libc::F_WRLCK);
    // SAFETY: F_GETLK reads and writes the flock structure only.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &mut lock) } {
        0 => Ok((i32::from(lock.l_type) != libc::F_UNLCK).then_some(lock.l_pid)),
        _ => Err(cannot_lock(&std::io::Error::last_os_error())),
    }
}

fn byte_lock(byte: i64, kind: i32) -> libc::flock {
    // SAFETY: flock is plain data.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as i16;
    lock.l_whence = libc::SEEK_SET as i16;
    lock.l_start = byte;
    lock.l_len = 1;
    lock
}

fn cannot_lock(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::FileUnavailable, format!("cannot lock {LOCK_FILE}: {error}"))
}
