//! Connections of clients: how many there are, and how long they may take to ask and to read.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::slow_reader::ReadInTime;
use crate::config::LONGEST_READER;

/// Most connections that are open at the same time; more wait to be accepted.
const MOST_CONNECTIONS: u32 = 2048;
/// How long a client may take to send the head of a request, and how long a connection is kept on which none comes.
const HEAD: Duration = Duration::from_secs(10);
/// Most bytes of the head of a request: all connections together do not take much memory before they say who they are.
const LARGEST_HEAD: usize = 64 << 10;
/// How long a client may leave unread what it has asked for.
const UNREAD: Duration = Duration::from_secs(LONGEST_READER);
/// How long nothing is accepted when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// Accepts connections until `stop`, and returns when the last answer is over.
pub async fn serve(listener: TcpListener, router: Router, stop: &CancellationToken) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS as usize));
    // Returns at once when it is told to stop, since what it waits for can be given up.
    let accepting = stop.run_until_cancelled(accept(&listener, &router, stop, &places));
    accepting.await;
    drop(listener);
    let _ = places.acquire_many(MOST_CONNECTIONS).await;
}

async fn accept(
    listener: &TcpListener,
    router: &Router,
    stop: &CancellationToken,
    places: &Arc<Semaphore>,
) {
    while let Ok(place) = Arc::clone(places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let (router, stop) = (router.clone(), stop.clone());
        tokio::spawn(async move {
            answer(stream, router, stop).await;
            drop(place);
        });
    }
}

/// Answers the requests of one connection; after `stop` only the one that has begun.
async fn answer(stream: TcpStream, router: Router, stop: CancellationToken) {
    // Pieces of an answer are small, and are not to wait for each other.
    let _ = stream.set_nodelay(true);
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LARGEST_HEAD);
    let stream = ReadInTime::new(stream, UNREAD);
    let service = TowerToHyperService::new(router);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    // What breaks a connection is the client's affair.
    let answered = stop.run_until_cancelled(connection.as_mut()).await;
    if answered.is_none() {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}
