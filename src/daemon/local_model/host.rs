//! ragd's side of local models: a process a model, started when it is asked, and calls of all sessions to it.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::child::LocalModelOptions;
use super::process::{LocalModelProcess, ProcessKey, Spawner};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::locked;
use crate::protocol::local_model::{LocalModelReply, LocalWrite};
use crate::protocol::{GenerateRequest, Generated};
use crate::provider::local::LocalModels;

/// How often a wait looks whether the client is still there.
const GLANCE: Duration = Duration::from_millis(50);

/// Most processes at a time: each has the memory of a model.
const MOST_PROCESSES: usize = 4;

/// How often a text is asked for in all where the process ends before there is anything of it.
const ATTEMPTS: u32 = 3;

/// Starts the processes of local models and keeps them.
pub struct LocalModelHost {
    options: LocalModelOptions,
    spawner: Spawner,
    processes: Mutex<HashMap<ProcessKey, Arc<LocalModelProcess>>>,
}

/// A call as it is waited for.
struct WaitingCall<'a> {
    request: &'a GenerateRequest,
    begun: Instant,
    gone: &'a dyn Fn() -> bool,
    text: String,
}

/// How an attempt has ended.
enum AttemptEnd {
    Written(Generated),
    /// The process has ended, for this reason, and nothing of the text was passed on.
    ProcessEnded(String),
}

impl LocalModelHost {
    /// No process runs yet; each is started as `options` say.
    pub fn new(options: LocalModelOptions) -> LocalModelHost {
        LocalModelHost { options, spawner: Spawner::start(), processes: Mutex::default() }
    }

    /// The names of the models in memory.
    pub fn loaded(&self) -> Vec<String> {
        let processes = locked(&self.processes);
        let alive = processes.values().filter(|process| process.is_loaded());
        alive.map(|process| process.name().to_owned()).collect()
    }

    /// The process of a model, which may be loading it. One that has ended is replaced.
    fn process(&self, request: &GenerateRequest) -> Result<Arc<LocalModelProcess>> {
        let special = &request.provider.special;
        let file = special.file.clone().ok_or_else(|| {
            Error::new(ErrorKind::Internal, "a call of a local model names no file")
        })?;
        let key = ProcessKey { file, context_tokens: special.num_ctx };
        let mut processes = locked(&self.processes);
        processes.retain(|_, process| !process.has_ended());
        if let Some(process) = processes.get(&key) {
            return Ok(Arc::clone(process));
        }
        make_room(&mut processes)?;
        let process =
            LocalModelProcess::start(&key, &request.provider.model, &self.options, &self.spawner)?;
        processes.insert(key, Arc::clone(&process));
        Ok(process)
    }
}

/// Ends the process that was asked the longest ago, if there are as many as there may be. Fails where all of them write.
fn make_room(processes: &mut HashMap<ProcessKey, Arc<LocalModelProcess>>) -> Result<()> {
    if processes.len() < MOST_PROCESSES {
        return Ok(());
    }
    let idle = processes.iter().filter(|(_, process)| process.is_idle());
    let oldest = idle.min_by_key(|(_, process)| process.last_heard()).map(|(key, _)| key.clone());
    let Some(key) = oldest else {
        let message = format!("{MOST_PROCESSES} local models are writing already");
        return Err(Error::new(ErrorKind::OutOfResources, message)
            .hint("A model with another num_ctx counts as another model."));
    };
    if let Some(process) = processes.remove(&key) {
        process.kill();
    }
    Ok(())
}

impl LocalModels for LocalModelHost {
    fn write(
        &self,
        request: &GenerateRequest,
        gone: &dyn Fn() -> bool,
        hear: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<Generated> {
        let begun = Instant::now();
        let mut attempt = 1;
        loop {
            let process = self.process(request)?;
            let waiting = WaitingCall { request, begun, gone, text: String::new() };
            match waiting.attempt(&process, hear)? {
                AttemptEnd::Written(generated) => {
                    return Ok(Generated { attempts: attempt, ..generated });
                }
                AttemptEnd::ProcessEnded(why) if attempt == ATTEMPTS => return Err(ended(&why)),
                AttemptEnd::ProcessEnded(_) => attempt += 1,
            }
        }
    }
}

impl WaitingCall<'_> {
    /// Asks `process` for the text. A call that has had no time left kills a process that hangs.
    fn attempt(
        self,
        process: &LocalModelProcess,
        hear: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<AttemptEnd> {
        let begun = self.begun;
        let outcome = self.ask(process, hear);
        if outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::ProviderTimeout) {
            process.kill_if_silent_since(begun);
        }
        outcome
    }

    fn ask(
        mut self,
        process: &LocalModelProcess,
        hear: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<AttemptEnd> {
        while !process.is_loaded() {
            if process.has_ended() {
                return process.not_loaded().map_or_else(|| Ok(self.process_ended(process)), Err);
            }
            self.look()?;
            process.wait_until_loaded(GLANCE);
        }
        let Some((id, replies)) = process.write(|id| self.job(id)) else {
            return Ok(self.process_ended(process));
        };
        let outcome = self.listen(process, &replies, hear);
        process.forget(id, outcome.is_err());
        outcome
    }

    fn job(&self, id: u64) -> LocalWrite {
        let GenerateRequest { messages, sampling, max_tokens, schema, lane, .. } = self.request;
        LocalWrite {
            id,
            lane: *lane,
            messages: messages.clone(),
            sampling: *sampling,
            // A new hasher has new random keys.
            seed: RandomState::new().hash_one(id) as u32,
            max_tokens: *max_tokens,
            schema: schema.clone(),
        }
    }

    fn listen(
        &mut self,
        process: &LocalModelProcess,
        replies: &Receiver<LocalModelReply>,
        hear: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<AttemptEnd> {
        loop {
            match replies.recv_timeout(GLANCE) {
                Ok(LocalModelReply::Piece { text, .. }) => {
                    hear(&text)?;
                    self.text += &text;
                }
                Ok(LocalModelReply::Done {
                    finish_reason,
                    prompt_tokens,
                    cached_tokens,
                    completion_tokens,
                    ..
                }) => {
                    return Ok(AttemptEnd::Written(Generated {
                        text: std::mem::take(&mut self.text),
                        finish_reason,
                        prompt_tokens: Some(prompt_tokens),
                        cached_tokens: Some(cached_tokens),
                        completion_tokens: Some(completion_tokens),
                        attempts: 1,
                        tools: None,
                        withheld: Default::default(),
                    }));
                }
                Ok(LocalModelReply::Failed { error, .. }) => return Err(error),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.text.is_empty() => {
                    return Ok(self.process_ended(process));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(ended(&process.end_in_words())),
            }
            self.look()?;
        }
    }

    /// Fails if the client has gone or the time is up.
    fn look(&self) -> Result<()> {
        if (self.gone)() {
            return Err(Error::new(ErrorKind::DaemonLost, "the client has gone"));
        }
        let provider = &self.request.provider;
        let took = self.begun.elapsed();
        let first = provider.limits.first_token_timeout_ms.map(Duration::from_millis);
        match first.filter(|_| self.text.is_empty()) {
            Some(first) if took > first => {
                let within = format!("{} s", first.as_secs_f64());
                Err(too_slow(
                    &provider.name,
                    &within,
                    "the option first_token_timeout of the server",
                ))
            }
            _ if took > Duration::from_millis(provider.call_ms()) => {
                let seconds = Duration::from_millis(provider.timeout_ms).as_secs_f64();
                let within = match provider.is_cut_short() {
                    false => format!("{seconds} s"),
                    true => provider.timeout_in_words(),
                };
                Err(too_slow(&provider.name, &within, &provider.limit_to_raise()))
            }
            _ => Ok(()),
        }
    }

    fn process_ended(&self, process: &LocalModelProcess) -> AttemptEnd {
        AttemptEnd::ProcessEnded(process.end_in_words())
    }
}

fn too_slow(server: &str, within: &str, limit: &str) -> Error {
    let message = format!("local model of server \"{server}\" did not answer within {within}");
    Error::new(ErrorKind::ProviderTimeout, message).hint(format!(
        "Reading a prompt takes a processor seconds for each thousand tokens. Raise {limit}, \
         or give the model less to read (\"context\": {{\"max_tokens\": …}})."
    ))
}

fn ended(why: &str) -> Error {
    let message = format!("the process of the local model has ended: {why}");
    Error::new(ErrorKind::ProviderFailed, message)
        .hint("It is started again with the next call. The server log has what it said.")
}
