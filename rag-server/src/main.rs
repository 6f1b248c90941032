//! rag-server: HTTP and MCP in front of a database with pg_rag.
//!
//! It holds no documents, no models and no keys of providers: it turns requests into SQL of the role that asks, and
//! rows into responses. What a role may see is decided by its grants and by row-level security.

mod certificate;
mod config;
mod connection_string;
mod connector;
mod database;
mod document;
mod encryption;
mod failure;
mod hosts;
mod http;
mod log;
mod mcp;
mod members;
mod metrics;
mod pipelines;
mod question;
mod rate;
mod revocation;
mod sse;
mod tokens;

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use config::{Command, Config, Mode};

fn main() -> ExitCode {
    let environment = |name: &str| std::env::var_os(name);
    match config::parse(std::env::args_os().skip(1), environment) {
        Ok(Command::Run(config)) => run(&config),
        Ok(Command::Print(text)) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            log::say(format_args!("{error}; see rag-server --help"));
            ExitCode::from(2)
        }
    }
}

fn run(config: &Config) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            log::say(format_args!("no threads: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let ran = runtime.block_on(until_stopped(config));
    // A read of standard input that waits cannot be ended, so it is not waited for.
    runtime.shutdown_background();
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::say(error);
            ExitCode::FAILURE
        }
    }
}

async fn until_stopped(config: &Config) -> Result<(), String> {
    let stop = CancellationToken::new();
    let signalled = stop.clone();
    let no_signal = |error: std::io::Error| format!("signals cannot be waited for: {error}");
    let mut terminated = signal(SignalKind::terminate()).map_err(no_signal)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(no_signal)?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        log::say("ending");
        signalled.cancel();
    });
    match config.mode {
        Mode::Serve => http::serve(config, stop).await,
        Mode::Mcp => mcp::serve_stdio(config, stop).await,
    }
}
