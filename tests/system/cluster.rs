//! A private PostgreSQL server, from initdb to its end.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postgres::{Client, Config, NoTls};
use tempfile::TempDir;

use super::process;

/// After so long, what is waited for is taken to never come.
const PATIENCE: Duration = Duration::from_secs(300);

/// A server. Dropping it ends it and removes its files.
pub struct Cluster {
    folder: TempDir,
    installation: Installation,
    postmaster: Option<Child>,
}

/// Where PostgreSQL is, and who runs it.
#[derive(Clone)]
struct Installation {
    programs: PathBuf,
    user: Option<(u32, u32)>,
}

impl Cluster {
    /// A new server with these lines in its configuration; `None`, with a word, where
    /// `PG_RAG_PG_CONFIG` does not say which PostgreSQL to test.
    pub fn start(settings: &[&str]) -> Option<Cluster> {
        Some(Cluster::of(Installation::find("PG_RAG_PG_CONFIG")?, settings))
    }

    /// A new server of an older PostgreSQL, which `PG_RAG_OLD_PG_CONFIG` names.
    pub fn start_older(settings: &[&str]) -> Option<Cluster> {
        Some(Cluster::of(Installation::find("PG_RAG_OLD_PG_CONFIG")?, settings))
    }

    /// A new server of the PostgreSQL with Citus that `PG_RAG_CITUS` names.
    pub fn start_with_citus(settings: &[&str]) -> Option<Cluster> {
        Some(Cluster::of(Installation::find("PG_RAG_CITUS")?, settings))
    }

    fn of(installation: Installation, settings: &[&str]) -> Cluster {
        let mut cluster = Cluster::empty(installation);
        cluster.initialise(settings);
        cluster.boot();
        cluster
    }

    /// A second server beside this one.
    pub fn beside(&self, settings: &[&str]) -> Cluster {
        Cluster::of(self.installation.clone(), settings)
    }

    /// What `pg_upgrade` makes of this server for the PostgreSQL that is tested. This one ends.
    pub fn upgrade(mut self, settings: &[&str]) -> Option<Cluster> {
        self.stop("INT");
        let mut new = Cluster::empty(Installation::find("PG_RAG_PG_CONFIG")?);
        new.initialise(settings);
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let (old_programs, new_programs) =
            (&self.installation.programs, &new.installation.programs);
        new.run(
            "pg_upgrade",
            &[
                "--username=postgres",
                "--socketdir",
                &new.socket(),
                "--old-bindir",
                &path(old_programs),
                "--new-bindir",
                &path(new_programs),
                "--old-datadir",
                &path(&self.data()),
                "--new-datadir",
                &path(&new.data()),
            ],
        );
        new.boot();
        Some(new)
    }

    /// A hot standby of this server.
    pub fn standby(&self) -> Cluster {
        let mut cluster = Cluster::empty(self.installation.clone());
        let data = cluster.data();
        self.run(
            "pg_basebackup",
            &[
                "-h",
                &self.socket(),
                "-U",
                "postgres",
                "-R",
                "-c",
                "fast",
                "-D",
                &data.to_string_lossy(),
            ],
        );
        let socket = format!("unix_socket_directories = '{}'", cluster.socket());
        cluster.configure(&[&socket]);
        cluster.boot();
        cluster
    }

    fn empty(installation: Installation) -> Cluster {
        let folder = TempDir::with_prefix("pg_rag").expect("a temporary folder");
        if let Some((user, group)) = installation.user {
            chown(folder.path(), Some(user), Some(group)).expect("to give the folder away");
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Cluster { folder, installation, postmaster: None }
    }

    fn initialise(&mut self, settings: &[&str]) {
        let template = self.installation.template();
        if template.is_dir() {
            copy_folder(&template, &self.data());
            self.give(&self.data());
        } else {
            self.initdb();
            keep_as_template(&self.data(), &template);
        }
        let socket = format!("unix_socket_directories = '{}'", self.socket());
        self.configure(&["listen_addresses = ''", "fsync = off", "shared_buffers = 64MB", &socket]);
        // A busy machine starts ragd late, and after a few kills it is started with a pause.
        self.configure(&["rag.ragd_start_timeout = 60000"]);
        // Few tests depend on what a model knows, and this one is loaded in a fifth of the time.
        self.configure(&["rag.embedding_model = 'all-minilm-l6-v2'"]);
        self.configure(settings);
    }

    fn initdb(&self) {
        self.run(
            "initdb",
            &[
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                // As pg_upgrade wants: the default differs between versions.
                "--data-checksums",
                "--pgdata",
                &self.data().to_string_lossy(),
            ],
        );
    }

    /// Adds lines to the configuration; see [`Cluster::reload`].
    pub fn configure(&self, settings: &[&str]) {
        let path = self.data().join("postgresql.conf");
        let mut file = OpenOptions::new().append(true).open(path).expect("postgresql.conf");
        settings.iter().for_each(|line| writeln!(file, "{line}").unwrap());
    }

    /// Starts the server, which must not run, and waits until it answers.
    pub fn boot(&mut self) {
        let log = OpenOptions::new().create(true).append(true).open(self.log_path()).unwrap();
        let data = self.data();
        let mut postmaster = self
            .installation
            .command("postgres")
            .args(["-D", &data.to_string_lossy()])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .expect("to start postgres");
        let mut has_ended = false;
        let answers = wait_for(|| {
            has_ended = postmaster.try_wait().expect("the postmaster's state").is_some();
            has_ended || self.config("postgres").connect(NoTls).is_ok()
        });
        self.postmaster = (!has_ended).then_some(postmaster);
        assert!(answers && !has_ended, "the server did not start:\n{}", self.log());
    }

    /// Has the server read its configuration again. Sessions that there are read it before their
    /// next statement, other processes in their own time.
    pub fn reload(&self) {
        let before = self.configured_at();
        process::signal(self.postmaster_pid(), "HUP");
        let is_read = wait_for(|| self.configured_at() != before);
        assert!(is_read, "the server does not read its configuration:\n{}", self.log());
        // The postmaster tells all its children before it starts another one, such as this.
        drop(self.connect());
    }

    /// When a new session's configuration was read, which it has from the postmaster.
    fn configured_at(&self) -> String {
        let time = self.connect().query_one("SELECT pg_conf_load_time()::text", &[]);
        time.expect("a time").get(0)
    }

    /// Ends the server by a signal (INT: fast, QUIT: immediate, KILL) and waits for the
    /// postmaster's end; its children may live a little longer after KILL.
    pub fn stop(&mut self, signal: &str) {
        if let Some(mut postmaster) = self.postmaster.take() {
            process::signal(postmaster.id(), signal);
            postmaster.wait().expect("the postmaster's end");
        }
    }

    /// Kills the server with all its processes and waits until they, and with them the shared
    /// memory, are gone.
    pub fn kill(&mut self) {
        let children = self.halt();
        self.stop("KILL");
        // A child that computes would go on until it waits for something.
        children.iter().for_each(|child| process::signal(*child, "KILL"));
        let gone = wait_for(|| children.iter().all(|child| !process::is_alive(*child)));
        assert!(gone, "a process outlives the postmaster");
    }

    /// Stops the postmaster, which can only be killed then; its children, to which it adds none.
    pub fn halt(&self) -> Vec<u32> {
        let postmaster = self.postmaster_pid();
        process::signal(postmaster, "STOP");
        assert!(wait_for(|| process::is_stopped(postmaster)), "the postmaster goes on");
        process::children(postmaster, "postgres")
    }

    /// The postmaster's process.
    pub fn postmaster_pid(&self) -> u32 {
        self.postmaster.as_ref().expect("a running server").id()
    }

    /// A session of the superuser in the database postgres.
    pub fn connect(&self) -> Client {
        self.connect_to("postgres")
    }

    /// A session of the superuser.
    pub fn connect_to(&self, database: &str) -> Client {
        let result = self.config(database).connect(NoTls);
        result.unwrap_or_else(|error| panic!("{error}\n{}", self.log()))
    }

    /// A session of another role.
    pub fn connect_as(&self, role: &str) -> Client {
        self.config("postgres").user(role).connect(NoTls).expect("a session")
    }

    /// What can cancel the statements of `client`.
    pub fn canceller(&self, client: &mut Client) -> Canceller {
        let backend = client.query_one("SELECT pg_backend_pid()", &[]).expect("a number").get(0);
        Canceller { observer: self.connect(), backend }
    }

    /// Where to connect to, as the superuser.
    pub fn config(&self, database: &str) -> Config {
        let mut config = Config::new();
        config.host_path(self.folder.path()).user("postgres").dbname(database);
        config
    }

    /// Runs a program of this PostgreSQL's with the user that runs the server, and gives what
    /// it writes. Fails if it does.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = self.installation.command(program);
        let output = command.current_dir(self.folder()).args(arguments).output().expect(program);
        let said = |bytes| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}\n{}",
            said(&output.stderr),
            said(&output.stdout)
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// What psql prints for a script; the first error ends it.
    pub fn psql(&self, database: &str, script: &str) -> String {
        let file = self.folder.path().join("script.sql");
        fs::write(&file, script).unwrap();
        self.give(&file);
        self.run(
            "psql",
            &[
                "-X",
                "-q",
                "-h",
                &self.socket(),
                "-U",
                "postgres",
                "-d",
                database,
                "-v",
                "ON_ERROR_STOP=1",
                "-f",
                &file.to_string_lossy(),
            ],
        )
    }

    /// Dumps a database into a folder, by several sessions.
    pub fn dump(&self, database: &str) -> PathBuf {
        let folder = self.folder.path().join(format!("{database}.dump"));
        let path = folder.to_string_lossy().into_owned();
        let from = ["-h", &self.socket(), "-U", "postgres", database];
        self.run("pg_dump", &[&["-Fd", "-j2", "-f", &path], from.as_slice()].concat());
        folder
    }

    /// Restores such a folder into an empty database, by several sessions; the first error ends it.
    pub fn restore(&self, folder: &Path, database: &str) {
        let path = folder.to_string_lossy().into_owned();
        let to = ["-h", &self.socket(), "-U", "postgres", "-d", database, &path];
        self.run("pg_restore", &[&["-j4", "--exit-on-error"], to.as_slice()].concat());
    }

    /// The folder of the server's files, which the server's user may write to.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a file or folder, with all in it, the server's own.
    pub fn give(&self, path: &Path) {
        if let Some((user, group)) = self.installation.user {
            chown(path, Some(user), Some(group)).expect("to give a file away");
        }
        if path.is_dir() {
            fs::read_dir(path).unwrap().flatten().for_each(|entry| self.give(&entry.path()));
        }
    }

    /// The folder of the server's socket, as an option of its programs.
    pub fn socket(&self) -> String {
        self.folder.path().to_string_lossy().into_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// What the server has written.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop("QUIT");
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let last = &lines[lines.len().saturating_sub(60)..];
            eprintln!("end of the server's log:\n{}", last.join("\n"));
        }
    }
}

impl Installation {
    /// The one whose pg_config a variable names; `None`, with a word, where it is not set.
    fn find(variable: &str) -> Option<Installation> {
        let Some(pg_config) = std::env::var(variable).ok().filter(|path| !path.is_empty()) else {
            eprintln!("skipped: {variable} is not set");
            return None;
        };
        let output = Command::new(&pg_config).arg("--bindir").output().expect(&pg_config);
        let programs = String::from_utf8(output.stdout).expect("a path").trim().into();
        Some(Installation { programs, user: server_user() })
    }

    /// Where what initdb of this very PostgreSQL makes is kept: to copy it takes a fourth of the time.
    fn template(&self) -> PathBuf {
        let postgres = fs::metadata(self.programs.join("postgres")).expect("postgres");
        let name = format!("cluster-{}-{}", postgres.mtime(), postgres.ino());
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir("/").env("LC_ALL", "C");
        for name in ["PGHOST", "PGDATABASE", "PGOPTIONS"] {
            command.env_remove(name);
        }
        // Where they are wanted, Rust's backtraces still are not for clients.
        command.env("RUST_BACKTRACE", "1").env_remove("RUST_LIB_BACKTRACE");
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }
}

/// Keeps a copy of a new server's files. Of several tests at once, the first one's stays.
fn keep_as_template(data: &Path, template: &Path) {
    let beside =
        TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder beside the template");
    let copy = beside.path().join("data");
    copy_folder(data, &copy);
    let kept = fs::rename(&copy, template);
    assert!(kept.is_ok() || template.is_dir(), "the template of servers cannot be kept: {kept:?}");
}

/// Copies a folder with all in it, which nobody changes meanwhile; what is copied is its owner's alone.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).expect("to close a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let copy = to.join(entry.file_name());
        if entry.file_type().expect("its kind").is_dir() {
            copy_folder(&entry.path(), &copy);
        } else {
            fs::copy(entry.path(), &copy).expect("a copy");
        }
    }
}

/// PostgreSQL does not run as root. Root's servers run as the user in `PG_RAG_RUN_AS`, else as
/// "postgres".
fn server_user() -> Option<(u32, u32)> {
    let own = fs::metadata("/proc/self").expect("/proc").uid();
    if own != 0 {
        return None;
    }
    let name = std::env::var("PG_RAG_RUN_AS").ok().filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "postgres".to_owned());
    let id = |option: &str| {
        let output = Command::new("id").args([option, name.as_str()]).output().expect("id");
        let number = String::from_utf8_lossy(&output.stdout).trim().parse();
        number.unwrap_or_else(|_| {
            panic!("PostgreSQL does not run as root, and there is no user {name}")
        })
    };
    Some((id("-u"), id("-g")))
}

/// Waits until something holds; `false` after [`PATIENCE`].
pub fn wait_for(mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Cancels what another session does. The protocol's own request would do so twice: PostgreSQL
/// signals the backend and then its process group, and on a busy machine the second signal can
/// meet the next statement.
pub struct Canceller {
    observer: Client,
    backend: i32,
}

impl Canceller {
    /// Cancels the statement under way, and says when this was asked for.
    pub fn cancel(&mut self) -> Instant {
        let asked = Instant::now();
        self.observer.execute("SELECT pg_cancel_backend($1)", &[&self.backend]).expect("to cancel");
        asked
    }

    /// Whether a statement is under way.
    pub fn is_active(&mut self) -> bool {
        let state = "SELECT coalesce(state = 'active', false) FROM pg_stat_activity WHERE pid = $1";
        self.observer.query_one(state, &[&self.backend]).expect("the session's state").get(0)
    }

    /// Whether `statement` is under way, sent as one message. The one before it may still be when its client has
    /// read that it failed.
    pub fn is_at(&mut self, statement: &str) -> bool {
        let state = "SELECT coalesce(state = 'active' AND query = $2, false)
                     FROM pg_stat_activity WHERE pid = $1";
        self.observer.query_one(state, &[&self.backend, &statement]).expect("the state").get(0)
    }

    /// The session that cancels.
    pub fn observer(&mut self) -> &mut Client {
        &mut self.observer
    }
}
