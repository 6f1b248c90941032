//! ragd: holds pg_rag's models, once for all sessions of a server.
//!
//! The supervisor, a background worker of PostgreSQL, starts it in the data directory. It
//! listens on a socket there, says on standard error what happens, and ends on SIGTERM or
//! with its parent.

use std::ffi::OsString;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use lexopt::prelude::*;
use pg_rag::daemon::local_model::child::{self, LocalModelOptions};
use pg_rag::daemon::parse::run_child;
use pg_rag::daemon::server::{RagdServer, ServerOptions, batch_tokens};
use pg_rag::daemon::{log, process, runtime};

const USAGE: &str =
    "Usage: ragd --socket PATH --onnxruntime PATH --threads N [--max-batch-tokens N]
            [--llama PATH] [--llama-threads N] [--llama-memory BYTES]

  --socket PATH          where to listen
  --onnxruntime PATH     the ONNX Runtime library, loaded with the first model
  --threads N            threads that work on a batch
  --max-batch-tokens N   most tokens in a batch, padding included
  --llama PATH           the llama.cpp library, loaded with the first local language model
  --llama-threads N      threads with which such a model computes
  --llama-memory BYTES   most memory of such a model, the file that is mapped not counted
  --local-model          run one local language model: frames in, frames out; for ragd itself
  --parse SECONDS        read one document: a frame in, a frame out; for ragd itself
  --help, --version      say so and leave

PostgreSQL starts ragd by itself when it is needed.";

/// What the command line asks for.
enum Command {
    Serve(ServerOptions),
    /// Read one document, within so much time; ragd starts itself so.
    Parse(Duration),
    /// Run a local language model; ragd starts itself so.
    LocalModel(LocalModelOptions),
    Print(String),
}

fn main() -> ExitCode {
    if !runtime::refuse_telemetry() {
        log::line("ragd has threads before it begins");
        return ExitCode::FAILURE;
    }
    match parse(std::env::args_os().skip(1)) {
        Ok(Command::Serve(options)) => serve(&options),
        Ok(Command::Parse(time)) => run_child(time),
        Ok(Command::LocalModel(options)) => child::run(&options),
        Ok(Command::Print(text)) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            log::line(format!("{error}; see ragd --help"));
            ExitCode::from(2)
        }
    }
}

fn serve(options: &ServerOptions) -> ExitCode {
    if !process::detach() {
        log::line("the process that started ragd is gone");
        return ExitCode::FAILURE;
    }
    let server = match RagdServer::bind(options) {
        Ok(server) => server,
        Err(error) => {
            log::line(error);
            return ExitCode::FAILURE;
        }
    };
    let socket = server.socket();
    thread::spawn(move || server.serve());
    log::line(format!("listening on \"{}\"", options.socket.display()));
    let signal = process::wait_for_end();
    socket.remove();
    log::line(format!("ended by signal {signal}"));
    process::end(0)
}

fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, lexopt::Error> {
    let (mut socket, mut onnxruntime) = (None, None);
    let (mut threads, mut max_batch_tokens) = (None, None);
    let mut local = LocalModelOptions::default();
    let mut is_local_model = false;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("socket") => socket = Some(parser.value()?.into()),
            Long("onnxruntime") => onnxruntime = Some(parser.value()?.into()),
            Long("threads") => threads = Some(parser.value()?.parse()?),
            Long("max-batch-tokens") => max_batch_tokens = Some(parser.value()?.parse()?),
            Long("llama") => local.library = parser.value()?.into(),
            Long("llama-threads") => local.threads = parser.value()?.parse()?,
            Long("llama-memory") => local.memory = parser.value()?.parse()?,
            Long("local-model") => is_local_model = true,
            Long("parse") => {
                return Ok(Command::Parse(Duration::from_secs(parser.value()?.parse()?)));
            }
            Long("help") | Short('h') => return Ok(Command::Print(USAGE.to_string())),
            Long("version") | Short('V') => {
                return Ok(Command::Print(format!("ragd {}", env!("CARGO_PKG_VERSION"))));
            }
            other => return Err(other.unexpected()),
        }
    }
    if is_local_model {
        return Ok(Command::LocalModel(local));
    }
    let threads = threads.filter(|threads| *threads > 0).ok_or("missing option '--threads'")?;
    Ok(Command::Serve(ServerOptions {
        socket: socket.ok_or("missing option '--socket'")?,
        onnxruntime: onnxruntime.ok_or("missing option '--onnxruntime'")?,
        threads,
        max_batch_tokens: max_batch_tokens.unwrap_or_else(|| batch_tokens(threads)),
        local_models: local,
    }))
}
