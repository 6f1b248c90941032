//! A process of a local model, as ragd sees it.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::child::LocalModelOptions;
use crate::daemon::frame::{self, ReceivedFrame};
use crate::daemon::log;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::locked;
use crate::protocol::local_model::{LocalModelJob, LocalModelReply, LocalWrite};
use crate::protocol::{GgufFile, decode, encode};

/// How long a model may be loaded: hundreds of gigabytes from a disk.
const LONGEST_LOADING: Duration = Duration::from_secs(900);

/// Texts that a process writes side by side.
const SEQUENCES: u32 = 4;

/// The stack of the thread that reads what a process says.
const STACK: usize = 256 << 10;

/// What a process is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProcessKey {
    /// The model's file.
    pub file: GgufFile,
    /// Tokens that a text can have; `None`: as many as fit most machines.
    pub context_tokens: Option<u32>,
}

/// A process that was started.
pub struct LocalModelProcess {
    name: String,
    /// Frames on their way to it.
    jobs: Mutex<Sender<Vec<u8>>>,
    state: Mutex<ProcessState>,
    changed: Condvar,
    child: Mutex<Child>,
}

/// A thread that starts processes and lives as long as ragd: the kernel ends a process that is to die with its parent
/// when the thread ends that has started it, and the threads of connections come and go.
pub struct Spawner(Mutex<Sender<SpawnJob>>);

/// What is to be started, and where what became of it goes.
struct SpawnJob {
    command: Command,
    started: Sender<io::Result<Child>>,
}

impl Spawner {
    /// Starts the thread. Without it, [`Spawner::spawn`] fails.
    pub fn start() -> Spawner {
        let (sender, jobs) = channel::<SpawnJob>();
        let thread = thread::Builder::new().name("ragd-spawner".to_owned()).stack_size(STACK);
        let spawned = thread.spawn(move || {
            for SpawnJob { mut command, started } in jobs {
                // Nobody waits any more where a client has gone meanwhile; the process then ends with its input.
                let _ = started.send(command.spawn());
            }
        });
        if let Err(error) = spawned {
            log::line(format!("cannot start a thread for local models: {error}"));
        }
        Spawner(Mutex::new(sender))
    }

    fn spawn(&self, command: Command) -> io::Result<Child> {
        let (started, outcome) = channel();
        let gone = || io::Error::other("the thread that starts processes has ended");
        locked(&self.0).send(SpawnJob { command, started }).map_err(|_| gone())?;
        outcome.recv().map_err(|_| gone())?
    }
}

/// What is known of a process, and who waits for it.
struct ProcessState {
    phase: Phase,
    calls: HashMap<u64, Sender<LocalModelReply>>,
    last_id: u64,
    /// When it said something last.
    heard: Instant,
}

/// How far a process is.
enum Phase {
    Loading,
    Loaded,
    /// It cannot load the model.
    NotLoaded(Error),
    /// It has ended, for this reason.
    Ended(String),
}

impl LocalModelProcess {
    /// Starts a process that loads the model called `name`. Fails with [`ErrorKind::OutOfResources`] where that cannot be
    /// done; whether the model can be loaded is seen later.
    pub fn start(
        key: &ProcessKey,
        name: &str,
        options: &LocalModelOptions,
        spawner: &Spawner,
    ) -> Result<Arc<LocalModelProcess>> {
        let mut child = spawner.spawn(command(options)).map_err(|error| cannot_start(&error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::new(ErrorKind::Internal, "a child process has no pipes"));
        };
        let (jobs, frames) = channel();
        let calls = HashMap::new();
        let state =
            ProcessState { phase: Phase::Loading, calls, last_id: 0, heard: Instant::now() };
        let process = Arc::new(LocalModelProcess {
            name: name.to_owned(),
            jobs: Mutex::new(jobs),
            state: Mutex::new(state),
            changed: Condvar::new(),
            child: Mutex::new(child),
        });
        let reader = Arc::clone(&process);
        let thread = || thread::Builder::new().name("ragd-local".to_owned()).stack_size(STACK);
        let threads = thread()
            .spawn(move || pass_on(&frames, input))
            .and_then(|_| thread().spawn(move || reader.read(output)));
        if let Err(error) = threads {
            process.kill();
            return Err(cannot_start(&error));
        }
        let (file, context_tokens) = (key.file.clone(), key.context_tokens);
        process.send(&LocalModelJob::Load { file, context_tokens, sequences: SEQUENCES });
        Ok(process)
    }

    /// The name of its model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the model is in memory.
    pub fn is_loaded(&self) -> bool {
        matches!(self.state().phase, Phase::Loaded)
    }

    /// Whether it does no more.
    pub fn has_ended(&self) -> bool {
        matches!(self.state().phase, Phase::NotLoaded(_) | Phase::Ended(_))
    }

    /// Why the model cannot be loaded, if the process has said so.
    pub fn not_loaded(&self) -> Option<Error> {
        match &self.state().phase {
            Phase::NotLoaded(error) => Some(error.clone()),
            _ => None,
        }
    }

    /// Why the process has ended.
    pub fn end_in_words(&self) -> String {
        match &self.state().phase {
            Phase::Ended(why) => why.clone(),
            _ => "it closed its output".to_owned(),
        }
    }

    /// Waits until something is known of the model, for at most `time`.
    pub fn wait_until_loaded(&self, time: Duration) {
        let loading = |state: &mut ProcessState| matches!(state.phase, Phase::Loading);
        drop(self.changed.wait_timeout_while(self.state(), time, loading));
    }

    /// Asks for a text, and gives where the replies come; `None` where the process has ended.
    pub fn write(
        &self,
        job: impl FnOnce(u64) -> LocalWrite,
    ) -> Option<(u64, Receiver<LocalModelReply>)> {
        let (sender, receiver) = channel();
        let id = {
            let mut state = self.state();
            if !matches!(state.phase, Phase::Loaded) {
                return None;
            }
            state.last_id += 1;
            let id = state.last_id;
            state.calls.insert(id, sender);
            id
        };
        self.send(&LocalModelJob::Write(job(id)));
        Some((id, receiver))
    }

    /// Waits for a call no more, and gives it up where it is not done.
    pub fn forget(&self, id: u64, give_up: bool) {
        let was_open = self.state().calls.remove(&id).is_some();
        if was_open && give_up {
            self.send(&LocalModelJob::Cancel { id });
        }
    }

    /// Kills the process if it has said nothing at all since `moment`: it hangs. One that loads its model has
    /// [`LONGEST_LOADING`] for that.
    pub fn kill_if_silent_since(&self, moment: Instant) {
        let state = self.state();
        let limit =
            if matches!(state.phase, Phase::Loading) { LONGEST_LOADING } else { Duration::ZERO };
        let (silent_since, is_over) = (state.heard, state.heard.elapsed() > limit);
        drop(state);
        if silent_since < moment && is_over {
            log::line(format!("local model \"{}\" hangs, and its process is killed", self.name));
            self.kill();
        }
    }

    /// Whether it has nothing to write.
    pub fn is_idle(&self) -> bool {
        self.state().calls.is_empty()
    }

    /// When it said something last.
    pub fn last_heard(&self) -> Instant {
        self.state().heard
    }

    /// Ends the process.
    pub fn kill(&self) {
        // One that has ended already cannot be killed, which does not matter.
        let _ = locked(&self.child).kill();
    }

    /// What cannot be sent is lost with the process, which the reader notices.
    fn send(&self, job: &LocalModelJob) {
        let Ok(frame) = encode(job) else { return };
        let _ = locked(&self.jobs).send(frame);
    }

    fn read(&self, output: ChildStdout) {
        let mut output = BufReader::new(output);
        while let Ok(ReceivedFrame::Body(body)) = frame::read(&mut output) {
            let Ok(reply) = decode::<LocalModelReply>(&body) else { break };
            self.take(reply);
        }
        self.kill();
        let status = locked(&self.child).wait();
        let why = status.map_or_else(|error| error.to_string(), in_words);
        let mut state = self.state();
        if !matches!(state.phase, Phase::NotLoaded(_)) {
            log::line(format!("the process of local model \"{}\" has ended: {why}", self.name));
            state.phase = Phase::Ended(why);
        }
        // Who waits sees that no reply comes any more.
        state.calls.clear();
        self.changed.notify_all();
    }

    fn take(&self, reply: LocalModelReply) {
        let mut state = self.state();
        state.heard = Instant::now();
        let id = match &reply {
            LocalModelReply::Loaded { context_tokens } => {
                let name = &self.name;
                log::line(format!(
                    "loaded local model \"{name}\" for {context_tokens} tokens a text"
                ));
                state.phase = Phase::Loaded;
                self.changed.notify_all();
                return;
            }
            LocalModelReply::NotLoaded(error) => {
                state.phase = Phase::NotLoaded(error.clone());
                self.changed.notify_all();
                return;
            }
            LocalModelReply::Piece { id, .. } => *id,
            LocalModelReply::Done { id, .. } | LocalModelReply::Failed { id, .. } => *id,
        };
        // Nobody waits any more for a call that was given up.
        if let Some(call) = state.calls.get(&id) {
            let _ = call.send(reply);
        }
    }

    fn state(&self) -> MutexGuard<'_, ProcessState> {
        locked(&self.state)
    }
}

/// Writes frames to a process until it has ended. A thread does that and nothing else: a process that is stopped takes
/// nothing, and who waits for a text has to look at the clock meanwhile.
fn pass_on(frames: &Receiver<Vec<u8>>, mut input: ChildStdin) {
    for frame in frames {
        if input.write_all(&frame).is_err() {
            return;
        }
    }
}

fn command(options: &LocalModelOptions) -> Command {
    // The executable that runs, also where the package was replaced meanwhile.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg("--local-model")
        .arg("--llama")
        .arg(&options.library)
        .args(["--llama-threads", &options.threads.to_string()])
        .args(["--llama-memory", &options.memory.to_string()])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "it had nothing to do".to_owned(),
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "for a reason that is not known".to_owned(),
    }
}

fn cannot_start(error: &std::io::Error) -> Error {
    let message = format!("cannot start a process for a local model: {error}");
    Error::new(ErrorKind::OutOfResources, message)
}
