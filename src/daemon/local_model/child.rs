//! The process of a local model: jobs on standard input, what becomes of them on standard output.
//!
//! It holds one model, for all sessions. When nothing was asked for [`IDLE`] it ends, which gives its memory back; the
//! next call starts another.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::confine::confine;
use super::context::{ContextSize, LlamaContext};
use super::engine::{WritingCall, WritingEngine, WritingEvent};
use super::given_up::GivenUpCalls;
use super::library::LlamaLibrary;
use super::model::LlamaModel;
use crate::chat_template::{ChatForm, chat_text};
use crate::daemon::confine::limit_before;
use crate::daemon::frame::{self, ReceivedFrame};
use crate::daemon::{log, process};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::check::check;
use crate::gguf::facts::{GgufFacts, SpecialToken};
use crate::grammar::json_grammar;
use crate::protocol::local_model::{LocalModelJob, LocalModelReply, LocalWrite};
use crate::protocol::{GgufFile, LocalModelInfo, USUAL_LOCAL_CONTEXT, decode, encode};

/// How long a model stays in memory that nobody asks.
const IDLE: Duration = Duration::from_secs(300);

/// Most tokens of a text for which a call names no limit. Small models do not always come to an end.
const USUAL_LENGTH: usize = 1024;

/// Bytes read at a time.
const BLOCK: usize = 1 << 20;

/// How the process computes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalModelOptions {
    /// The llama.cpp library.
    pub library: PathBuf,
    /// Threads that compute.
    pub threads: usize,
    /// Most memory of its own, in bytes, 0 for no limit; the file of the model, which is mapped, is not counted.
    pub memory: u64,
}

/// A model with all that belongs to it.
struct LocalWriter {
    model: Rc<LlamaModel>,
    facts: GgufFacts,
    engine: WritingEngine<LlamaContext>,
}

/// Does the jobs on standard input until it ends.
pub fn run(options: &LocalModelOptions) -> ExitCode {
    if !process::detach_child() {
        return ExitCode::FAILURE;
    }
    limit_before(options.memory);
    let given_up = Arc::<GivenUpCalls>::default();
    let jobs = receive(Arc::clone(&given_up));
    let Ok(LocalModelJob::Load { file, context_tokens, sequences }) = jobs.recv() else {
        return ExitCode::FAILURE;
    };
    let wanted = context_tokens.unwrap_or(USUAL_LOCAL_CONTEXT) as usize;
    let loaded = LocalWriter::load(options, &file, wanted, sequences as usize);
    match loaded.and_then(|writer| confine().map(|()| writer)) {
        Err(error) => {
            let _ = send(&LocalModelReply::NotLoaded(error));
            ExitCode::FAILURE
        }
        Ok(mut writer) => {
            writer.engine.heed(given_up);
            let context_tokens = writer.engine.context_tokens() as u32;
            match send(&LocalModelReply::Loaded { context_tokens }) {
                Ok(()) => writer.serve(&jobs),
                Err(_) => ExitCode::FAILURE,
            }
        }
    }
}

/// Jobs as they come. A thread reads them, so that a call that is given up is noticed at once, which `given_up` has until
/// the job is taken.
fn receive(given_up: Arc<GivenUpCalls>) -> Receiver<LocalModelJob> {
    let (sender, receiver) = channel();
    let read = move || read_jobs(&sender, &given_up);
    let thread = thread::Builder::new().name("jobs".to_owned()).spawn(read);
    if let Err(error) = thread {
        log::line(format!("the process of a local model cannot start a thread: {error}"));
    }
    receiver
}

fn read_jobs(jobs: &Sender<LocalModelJob>, given_up: &GivenUpCalls) {
    let mut input = std::io::stdin().lock();
    while let Ok(ReceivedFrame::Body(body)) = frame::read(&mut input) {
        let Ok(job) = decode(&body) else { return };
        if let LocalModelJob::Cancel { id } = &job {
            given_up.note(*id);
        }
        if jobs.send(job).is_err() {
            return;
        }
    }
}

fn send(reply: &LocalModelReply) -> Result<()> {
    let mut output = std::io::stdout().lock();
    let sent = output.write_all(&encode(reply)?).and_then(|()| output.flush());
    sent.map_err(|error| Error::new(ErrorKind::DaemonLost, error.to_string()))
}

impl LocalWriter {
    fn load(
        options: &LocalModelOptions,
        file: &GgufFile,
        wanted: usize,
        sequences: usize,
    ) -> Result<LocalWriter> {
        let library = Rc::new(LlamaLibrary::load(&options.library)?);
        let mut opened = open(&file.path)?;
        let facts = read_facts(&file.path, &mut opened)?;
        check_digest(file, &mut opened)?;
        // What was looked at is what is loaded, whatever stands at the path by now.
        let path = format!("/proc/self/fd/{}", opened.as_raw_fd());
        let model = Rc::new(LlamaModel::load(library, Path::new(&path))?);
        let tokens = wanted.min(model.trained_context().max(1));
        let size = ContextSize { tokens, sequences, threads: options.threads.max(1) };
        let context = LlamaContext::new(Rc::clone(&model), size)?;
        let engine = WritingEngine::new(context, sequences);
        Ok(LocalWriter { model, facts, engine })
    }

    /// Works until standard input ends, nobody reads what is written, or nothing was asked for [`IDLE`].
    fn serve(&mut self, jobs: &Receiver<LocalModelJob>) -> ExitCode {
        loop {
            let job = match self.engine.is_idle() {
                true => match jobs.recv_timeout(IDLE) {
                    Ok(job) => Some(job),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                        process::end(0);
                    }
                },
                false => match jobs.try_recv() {
                    Ok(job) => Some(job),
                    Err(TryRecvError::Empty) => None,
                    Err(TryRecvError::Disconnected) => process::end(0),
                },
            };
            let sent = match job {
                Some(job) => self.take(job),
                None => self.engine.step().into_iter().try_for_each(|event| send(&reply(event))),
            };
            if sent.is_err() {
                return ExitCode::FAILURE;
            }
        }
    }

    fn take(&mut self, job: LocalModelJob) -> Result<()> {
        match job {
            LocalModelJob::Load { .. } => Ok(()),
            LocalModelJob::Cancel { id } => {
                self.engine.cancel(id);
                Ok(())
            }
            LocalModelJob::Write(write) => {
                let id = write.id;
                match self.call(write) {
                    Ok(call) => {
                        self.engine.add(call);
                        Ok(())
                    }
                    Err(error) => send(&LocalModelReply::Failed { id, error }),
                }
            }
        }
    }

    /// How the model reads a chat. None of what tokenizing puts before it anyway.
    fn form(&self) -> ChatForm<'_> {
        let GgufFacts { chat_template, bos, eos, .. } = &self.facts;
        ChatForm {
            template: chat_template.as_deref(),
            bos: text_of(bos.as_ref()),
            eos: text_of(eos.as_ref()),
            ..ChatForm::default()
        }
    }

    fn call(&self, write: LocalWrite) -> Result<WritingCall> {
        let LocalWrite { id, lane, mut messages, sampling, seed, max_tokens, schema } = write;
        for message in &mut messages {
            message.content = self.model.without_control_tokens(&message.content);
        }
        let grammar = schema.map(|schema| json_grammar(Some(&schema))).transpose()?;
        let prompt = chat_text(&self.form(), &messages)?;
        let max_tokens = max_tokens.map_or(USUAL_LENGTH, |tokens| tokens as usize);
        Ok(WritingCall { id, lane, prompt, sampling, seed, max_tokens, grammar })
    }
}

fn text_of(token: Option<&SpecialToken>) -> &str {
    token.map_or("", |token| &token.text)
}

fn reply(event: WritingEvent) -> LocalModelReply {
    match event {
        WritingEvent::Piece { id, text } => LocalModelReply::Piece { id, text },
        WritingEvent::Failed { id, error } => LocalModelReply::Failed { id, error },
        WritingEvent::Done { id, finish_reason, tokens } => LocalModelReply::Done {
            id,
            finish_reason: finish_reason.to_owned(),
            prompt_tokens: tokens.prompt as u64,
            cached_tokens: tokens.cached as u64,
            completion_tokens: tokens.completion as u64,
        },
    }
}

/// What the file at `path` says of its model.
///
/// Fails where there is no regular file, and as [`check`] does.
pub fn describe(path: &str) -> Result<LocalModelInfo> {
    let mut file = open(path)?;
    let context_tokens = read_facts(path, &mut file)?.context_length;
    Ok(LocalModelInfo { context_tokens, digest: digest(path, &mut file)? })
}

fn open(path: &str) -> Result<File> {
    let file = File::open(path).map_err(|error| unreadable(path, &error.to_string()))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(unreadable(path, "it is not a regular file")),
        Err(error) => Err(unreadable(path, &error.to_string())),
    }
}

fn read_facts(path: &str, file: &mut File) -> Result<GgufFacts> {
    let length = file.metadata().map_err(|error| unreadable(path, &error.to_string()))?.len();
    let facts = check(std::io::BufReader::new(&mut *file), length);
    facts.map_err(|error| {
        let message = format!("model \"{path}\": {}", error.message());
        let kind = Error::new(error.kind(), message);
        error.hint_text().map_or(kind.clone(), |hint| kind.hint(hint))
    })
}

fn check_digest(file: &GgufFile, opened: &mut File) -> Result<()> {
    if digest(&file.path, opened)? == file.digest {
        return Ok(());
    }
    let message = format!("the file \"{}\" is not the one that was registered", file.path);
    Err(Error::new(ErrorKind::FileCorrupted, message).hint(
        "Put the old file back, or register the new one: rag_drop_model, then rag_add_model.",
    ))
}

fn digest(path: &str, file: &mut File) -> Result<String> {
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut read = || -> std::io::Result<()> {
        file.seek(SeekFrom::Start(0))?;
        loop {
            match file.read(&mut block)? {
                0 => return Ok(()),
                read => hasher.update(&block[..read]),
            }
        }
    };
    read().map_err(|error| unreadable(path, &error.to_string()))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn unreadable(path: &str, why: &str) -> Error {
    Error::new(ErrorKind::FileUnavailable, format!("cannot read \"{path}\": {why}"))
}
