//! How do requests of HTTP reach the database?
//!
//! In: requests with a bearer token. Out: responses in the shapes of OpenAI's API, server-sent events, and the chat
//! page. `callers.rs` knows who may ask, and `admit.rs` says who it is and whether they may now. `chat.rs` reads what is
//! asked, `tools.rs` which function is to be called, and `completion.rs` writes the response; the other modules have a
//! path each.

mod admit;
mod ask;
mod callers;
mod chat;
mod completion;
mod embeddings;
mod health;
mod listen;
mod models;
mod page;
mod request;
mod search;
mod slow_reader;
mod tools;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

pub use self::callers::Caller;
use self::callers::Register;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::log;
use crate::mcp;
use crate::metrics::Metrics;
use crate::question::Question;

/// How long answers may go on when the server is told to end.
const GRACE: Duration = Duration::from_secs(10);

/// What all requests share.
pub struct Server {
    callers: Register,
    health: health::Health,
    /// Figures for Prometheus.
    pub metrics: Metrics,
    max_request: usize,
    conversations: bool,
}

impl Server {
    /// Reads the tokens. The error is a sentence for standard error.
    pub fn new(config: &Config) -> Result<Self, String> {
        Ok(Self {
            callers: Register::new(config)?,
            health: health::Health::default(),
            metrics: Metrics::default(),
            max_request: config.max_request,
            conversations: config.conversations,
        })
    }

    /// Refuses a question that goes on with a conversation, where none is kept: its turn would be.
    fn check_conversation(&self, question: &Question) -> Result<(), Failure> {
        if self.conversations || !question.names_conversation() {
            return Ok(());
        }
        let message = "this server keeps no conversations, and goes on with none";
        let hint = "leave conversation out, and send what was said before as a history; the server was started with --no-conversations";
        Err(Failure::request(message).param("conversation").hint(hint))
    }
}

/// Listens and answers until `stop`, then lets answers end for a while. The error is a sentence.
pub async fn serve(config: &Config, stop: CancellationToken) -> Result<(), String> {
    let server = Arc::new(Server::new(config)?);
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", config.listen))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let told = signal(SignalKind::hangup())
        .map_err(|error| format!("SIGHUP cannot be waited for: {error}"))?;
    tokio::spawn(read_tokens_again(Arc::clone(&server), told));
    log::say(format_args!("listening on http://{address}"));
    let asked = Arc::clone(&server);
    tokio::spawn(database::close_idle(move || asked.callers.databases()));
    let router = router(&server, config);
    tokio::select! {
        () = listen::serve(listener, router, &stop) => {}
        () = async { stop.cancelled().await; tokio::time::sleep(GRACE).await } => {}
    }
    // Clients may have gone away just before, so there can be statements in either case.
    database::end_all(server.callers.databases()).await;
    Ok(())
}

/// Reads the tokens again each time that SIGHUP tells to.
async fn read_tokens_again(server: Arc<Server>, mut told: Signal) {
    while told.recv().await.is_some() {
        match server.callers.read() {
            Ok(_) if server.callers.now().anybody().is_some() => {
                log::say("there is no token file to read again; --tokens names one");
            }
            Ok(count) => log::say(format_args!("tokens that hold from now on: {count}")),
            Err(error) => {
                log::say(format_args!("the tokens that were read before still hold: {error}"));
            }
        }
    }
}

fn router(server: &Arc<Server>, config: &Config) -> Router {
    let admitted = Router::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{model}", get(models::retrieve))
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/embeddings", post(embeddings::embed))
        .route("/ask", post(ask::ask))
        .route("/explain", post(ask::explain))
        .route("/search", post(search::search))
        .route("/source", post(ask::source))
        .route("/feedback", post(ask::feedback))
        .route("/metrics", get(metrics))
        .merge(mcp_route(server, config))
        .route_layer(middleware::from_fn_with_state(Arc::clone(server), admit::admit));
    Router::new()
        .merge(admitted)
        .merge(page::router())
        .route("/healthz", get(health::healthy))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(Arc::clone(server), admit::same_origin))
        .with_state(Arc::clone(server))
}

/// MCP, whose requests are read as those of the other paths.
fn mcp_route(server: &Arc<Server>, config: &Config) -> Router<Arc<Server>> {
    let whole = middleware::from_fn_with_state(Arc::clone(server), request::read_first);
    Router::new().route_service("/mcp", mcp::http_service(config)).route_layer(whole)
}

async fn no_such_path() -> Failure {
    // A client of OpenAI's that asks for a path of another of its APIs is told here which there are.
    Failure::new(StatusCode::NOT_FOUND, "not_found", "there is nothing under this path")
        .hint("of OpenAI's API there are /v1/models, /v1/chat/completions and /v1/embeddings")
}

async fn no_such_method() -> Failure {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    Failure::new(status, "method_not_allowed", "the path is there, but not for this method")
}

async fn metrics(State(server): State<Arc<Server>>) -> Response {
    let callers = server.callers.now();
    let connections = callers.all().map(|caller| caller.database.connections());
    let sum = connections.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, server.metrics.text(sum)).into_response()
}

/// Counts a request until it is dropped.
pub struct InFlight(Arc<Server>);

impl InFlight {
    /// One more.
    pub fn new(server: &Arc<Server>) -> Self {
        server.metrics.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(server))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.metrics.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
