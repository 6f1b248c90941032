//! How do requests of HTTP reach the database?
//!
//! In: requests with a bearer token. Out: responses in the shapes of OpenAI's API, server-sent events, and the chat
//! page. `admit.rs` says who it is and whether they may ask now. `chat.rs` reads what is asked, `tools.rs` which
//! function is to be called, and `completion.rs` writes the response; the other modules have a path each.

mod admit;
mod ask;
mod chat;
mod completion;
mod embeddings;
mod health;
mod listen;
mod models;
mod page;
mod request;
mod slow_reader;
mod tools;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::connector::Connector;
use crate::database::{self, Database};
use crate::failure::Failure;
use crate::log;
use crate::mcp;
use crate::metrics::Metrics;
use crate::rate::RateLimit;
use crate::tokens::{self, TokenDigest};

/// How long answers may go on when the server is told to end.
const GRACE: Duration = Duration::from_secs(10);

/// One who may ask: a role with its connections, and how often.
pub struct Caller {
    /// The connections of the role.
    pub database: Arc<Database>,
    limit: RateLimit,
}

/// What all requests share.
pub struct Server {
    callers: HashMap<TokenDigest, Arc<Caller>>,
    /// Who everybody is where there are no tokens.
    anybody: Option<Arc<Caller>>,
    health: health::Health,
    /// Figures for Prometheus.
    pub metrics: Metrics,
    max_request: usize,
    conversations: bool,
}

impl Server {
    /// Reads the tokens. The error is a sentence for standard error.
    pub fn new(config: &Config) -> Result<Self, String> {
        let now = Instant::now();
        let mut of_health = Vec::new();
        let mut caller = |database: Connector, rate| {
            of_health.push(Database::new(database.clone(), 1, config.timeout));
            let database = Database::new(database, config.connections, config.timeout);
            Arc::new(Caller { database, limit: RateLimit::new(rate, now) })
        };
        let accounts = config.tokens.as_deref().map(tokens::read).transpose()?.unwrap_or_default();
        let callers: HashMap<_, _> = accounts
            .into_iter()
            .map(|(digest, account)| {
                let database = config.database.for_role(account.role, account.password);
                (digest, caller(database, account.rate.unwrap_or(config.rate)))
            })
            .collect();
        let anybody = callers.is_empty().then(|| caller(config.database.clone(), config.rate));
        Ok(Self {
            anybody,
            callers,
            health: health::Health::new(of_health),
            metrics: Metrics::default(),
            max_request: config.max_request,
            conversations: config.conversations,
        })
    }

    fn all_callers(&self) -> impl Iterator<Item = &Arc<Caller>> {
        self.callers.values().chain(&self.anybody)
    }

    fn all_databases(&self) -> Vec<Arc<Database>> {
        let of_callers = self.all_callers().map(|caller| &caller.database);
        of_callers.chain(self.health.databases()).cloned().collect()
    }
}

/// Listens and answers until `stop`, then lets answers end for a while. The error is a sentence.
pub async fn serve(config: &Config, stop: CancellationToken) -> Result<(), String> {
    let server = Arc::new(Server::new(config)?);
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", config.listen))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    log::say(format_args!("listening on http://{address}"));
    tokio::spawn(database::close_idle(server.all_databases()));
    let router = router(&server, config);
    tokio::select! {
        () = listen::serve(listener, router, &stop) => {}
        () = async { stop.cancelled().await; tokio::time::sleep(GRACE).await } => {}
    }
    // Clients may have gone away just before, so there can be statements in either case.
    database::end_all(server.all_databases()).await;
    Ok(())
}

fn router(server: &Arc<Server>, config: &Config) -> Router {
    let admitted = Router::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{model}", get(models::retrieve))
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/embeddings", post(embeddings::embed))
        .route("/ask", post(ask::ask))
        .route("/explain", post(ask::explain))
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
    let connections = server.all_callers().map(|caller| caller.database.connections());
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
