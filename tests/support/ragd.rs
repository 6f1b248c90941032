//! A real ragd for tests: the built executable on a socket in a folder of its own.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::EmbeddingKind;
use pg_rag::error::Result;
use pg_rag::protocol::{Lane, ModelRef, Request, Response, Status};

/// Threads that work on a batch.
pub const THREADS: usize = 2;

/// The home directory of ragd, in its folder.
const HOME: &str = "home";
/// What tests are run with and ragd is not.
const OF_OUR_OWN: [&str; 4] =
    ["ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED", "XDG_CACHE_HOME", "CI"];

/// A path at which no library is.
const NO_LIBRARY: &str = "/nowhere/libonnxruntime.so";

/// A folder that is removed at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pg_rag-daemon-{}-{number}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A folder that looks like a model from outside.
    pub fn tiny_model(&self) -> ModelRef {
        let tokenizer = r#"{"version": "1.0", "truncation": null, "padding": null,
            "added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": null, "decoder": null, "model": {"type": "WordLevel",
            "vocab": {"[UNK]": 0, "x": 1}, "unk_token": "[UNK]"}}"#;
        fs::write(self.0.join("model.onnx"), "a graph").unwrap();
        fs::write(self.0.join("config.json"), r#"{"hidden_size": 8}"#).unwrap();
        fs::write(self.0.join("tokenizer.json"), tokenizer).unwrap();
        self.reference("tiny", None)
    }

    /// The files of `model` once more.
    pub fn copy_of(&self, model: &ModelRef) -> ModelRef {
        let from = Path::new(&model.path);
        let file = model.file.clone().unwrap();
        let others = ["config.json", "tokenizer.json", "modules.json", "1_Pooling/config.json"];
        for name in others.into_iter().chain([&*file]) {
            let to = self.0.join(name);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from.join(name), to).unwrap();
        }
        self.reference("copy", Some(file))
    }

    fn reference(&self, name: &str, file: Option<String>) -> ModelRef {
        let path = self.0.to_str().unwrap().to_string();
        ModelRef { name: name.to_string(), path, file, digest: None }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A model and ONNX Runtime, as `make` puts them into the cache.
pub struct Installed {
    model: PathBuf,
    library: PathBuf,
}

impl Installed {
    /// Finds ONNX Runtime and the smaller model, or says that what needs them is skipped.
    pub fn find() -> Option<Installed> {
        Installed::with(cache().join("models/all-minilm-l6-v2"))
    }

    /// The same with the model of `$PG_RAG_MODEL`, by default the default one.
    pub fn to_measure() -> Option<Installed> {
        let default = || cache().join("models/multilingual-e5-small");
        Installed::with(std::env::var_os("PG_RAG_MODEL").map_or_else(default, PathBuf::from))
    }

    fn with(model: PathBuf) -> Option<Installed> {
        let library = std::env::var_os("PG_RAG_ONNXRUNTIME")
            .map(PathBuf::from)
            .or_else(|| library_in(&cache().join("onnxruntime")));
        match library {
            Some(library) if model.join("onnx/model.onnx").is_file() => {
                Some(Installed { model, library })
            }
            _ => {
                println!("skipped: no ONNX Runtime or no {}", model.display());
                None
            }
        }
    }

    /// A ragd that can load models.
    pub fn start(&self) -> Ragd {
        Ragd::start_with(&self.library, &[])
    }

    /// Where ONNX Runtime is.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The model with one of its ONNX files.
    pub fn model(&self, file: &str) -> ModelRef {
        ModelRef {
            name: self.model.file_name().unwrap().to_string_lossy().into_owned(),
            path: self.model.to_str().unwrap().to_string(),
            file: Some(file.to_string()),
            digest: None,
        }
    }
}

/// Where `make` puts what it gets.
pub fn cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/pg_rag");
    std::env::var_os("PG_RAG_CACHE").map_or_else(home, PathBuf::from)
}

fn library_in(folder: &Path) -> Option<PathBuf> {
    let paths = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_library = |path: &PathBuf| path.to_string_lossy().contains("libonnxruntime.so");
    paths.filter(is_library).max()
}

/// A running ragd, killed at the end of the test.
pub struct Ragd {
    child: Child,
    library: PathBuf,
    socket: PathBuf,
    folder: Folder,
}

impl Ragd {
    /// One without ONNX Runtime.
    pub fn start() -> Ragd {
        Ragd::start_with(Path::new(NO_LIBRARY), &[])
    }

    /// One with the library at `library` and further arguments.
    pub fn start_with(library: &Path, arguments: &[&str]) -> Ragd {
        let folder = Folder::new();
        let child = launch(&folder, library, arguments);
        let socket = folder.path().join("ragd.sock");
        let ragd = Ragd { child, library: library.to_path_buf(), socket, folder };
        ragd.await_socket();
        ragd
    }

    /// Starts it again, on the same path.
    pub fn restart(&mut self) {
        self.child = launch(&self.folder, &self.library, &[]);
        self.await_socket();
    }

    /// The executable, without arguments: `$PG_RAG_RAGD` or the one built with the tests.
    pub fn executable() -> Command {
        let built = || env!("CARGO_BIN_EXE_ragd").into();
        Command::new(std::env::var_os("PG_RAG_RAGD").unwrap_or_else(built))
    }

    /// A ragd on `socket` that is not started yet.
    pub fn command(socket: &Path) -> Command {
        let mut command = Ragd::executable();
        command.arg("--socket").arg(socket).args(["--onnxruntime", NO_LIBRARY, "--threads", "1"]);
        command
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What it has written into its home directory.
    pub fn written_at_home(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join(HOME)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> ClientConnection {
        ClientConnection::connect(self.socket()).unwrap()
    }

    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: the child has not been waited for, so the number is its own.
        assert_eq!(unsafe { libc::kill(self.child.id() as libc::pid_t, signal) }, 0);
    }

    /// The processes that it has started and that have not ended.
    pub fn children(&self) -> Vec<libc::pid_t> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap().flatten();
        let listed = threads.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
        let listed = listed.collect::<Vec<_>>().join(" ");
        listed.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }

    /// Sends a signal to each of them, and gives their number.
    pub fn signal_children(&self, signal: libc::c_int) -> usize {
        let children = self.children();
        for child in &children {
            // SAFETY: a number of a process that ragd has started; at worst there is none any more.
            unsafe { libc::kill(*child, signal) };
        }
        children.len()
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Bytes of memory it occupies.
    pub fn resident(&self) -> u64 {
        self.status("VmRSS:") * 1024
    }

    pub fn threads(&self) -> u64 {
        self.status("Threads:")
    }

    fn status(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn await_socket(&self) {
        let started = Instant::now();
        while ClientConnection::connect(self.socket()).is_err() {
            assert!(started.elapsed() < Duration::from_secs(60), "ragd does not listen");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Ragd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts ragd with a relative socket path and, as a careless parent would, with an open
/// file, a blocked and an ignored signal.
fn launch(folder: &Folder, library: &Path, arguments: &[&str]) -> Child {
    let leaked = File::open("Cargo.toml").unwrap();
    let descriptor = leaked.as_raw_fd();
    let mut command = Ragd::executable();
    let home = folder.path().join(HOME);
    fs::create_dir_all(&home).unwrap();
    for name in OF_OUR_OWN {
        command.env_remove(name);
    }
    command
        .current_dir(folder.path())
        .env("HOME", home)
        .args(["--socket", "ragd.sock", "--threads", &THREADS.to_string(), "--onnxruntime"])
        .arg(library)
        .args(arguments)
        .stdin(Stdio::null());
    // SAFETY: the closure makes system calls only, on local data and an open descriptor.
    unsafe {
        command.pre_exec(move || {
            let mut blocked = std::mem::zeroed();
            libc::sigemptyset(&mut blocked);
            libc::sigaddset(&mut blocked, libc::SIGUSR1);
            libc::sigprocmask(libc::SIG_BLOCK, &blocked, std::ptr::null_mut());
            libc::signal(libc::SIGUSR2, libc::SIG_IGN);
            libc::fcntl(descriptor, libc::F_SETFD, 0);
            Ok(())
        });
    }
    command.spawn().unwrap()
}

/// A process that has ragd for a child.
pub fn shell_that_starts_ragd(socket: &Path) -> Child {
    let line = format!(
        "'{}' --socket '{}' --onnxruntime {NO_LIBRARY} --threads 1 & wait",
        env!("CARGO_BIN_EXE_ragd"),
        socket.display()
    );
    Command::new("sh").args(["-c", &line]).stdin(Stdio::null()).spawn().unwrap()
}

/// How ragd is.
pub fn status(client: &mut ClientConnection) -> Status {
    match client.call(&Request::Status).unwrap() {
        Response::Status(status) => status,
        other => panic!("{other:?}"),
    }
}

/// A request for vectors of the default sort.
pub fn request(model: &ModelRef, kind: EmbeddingKind, lane: Lane, texts: &[&str]) -> Request {
    let texts = texts.iter().map(|text| text.to_string()).collect();
    Request::Embed { model: model.clone(), kind, lane, texts }
}

/// The vectors of passages.
pub fn embed(
    client: &mut ClientConnection,
    model: &ModelRef,
    texts: &[&str],
) -> Result<Vec<Vec<f32>>> {
    match client.call(&request(model, EmbeddingKind::Passage, Lane::Bulk, texts))? {
        Response::Vectors { dimension, values, .. } => {
            assert_eq!(values.len(), texts.len() * dimension as usize);
            Ok(values.chunks(dimension.max(1) as usize).map(<[f32]>::to_vec).collect())
        }
        other => panic!("{other:?}"),
    }
}

/// Tries until `check` holds; a wait for something that happens in another thread.
pub fn eventually(what: &str, check: impl Fn() -> bool) {
    let started = Instant::now();
    while !check() {
        assert!(started.elapsed() < Duration::from_secs(120), "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
