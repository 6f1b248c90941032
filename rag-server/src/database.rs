//! Connections to the database, as one role.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{CancelToken, Client, Row, Transaction};

use crate::connector::{self, Connector};
use crate::failure::{Failure, with_causes};
use crate::log;

/// How long a request waits for a connection while all are in use.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a server may take to let a session begin.
const BEGINNING: Duration = Duration::from_secs(10);
/// How long a connection is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(300);
/// How often it is looked for connections that nobody has used for so long.
const BETWEEN_LOOKS: Duration = Duration::from_secs(30);
/// How long statements may take to end when the program does.
const ENDING: Duration = Duration::from_secs(2);
/// How often a statement that nobody waits for is cancelled, until its connection is closed.
const CANCELS: u32 = 50;
/// The time between two of these.
const BETWEEN_CANCELS: Duration = Duration::from_millis(200);
/// How long one may take: a few round trips, where its connection is encrypted.
const CANCEL: Duration = Duration::from_secs(1);
/// How often it is tried to cancel a statement whose connection was lost, until the server has been told.
const CANCELS_OF_LOST: u32 = 20;

/// How long is waited for an answer and for who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// How long an answer may take, with all its statements.
    pub answer: Duration,
    /// How long the database waits for a slow reader during an answer, all waits together.
    pub reader: Duration,
}

/// A parameter of a statement, with its type, so that no round trip is needed to learn it.
pub type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// A session, and the task that reads its socket, which ends with it and says whether that was in order: not by an error or
/// because the connection was lost.
struct Session {
    client: Client,
    connection: JoinHandle<bool>,
}

/// The connections of one role, made when they are needed.
pub struct Database {
    connector: Connector,
    permits: Arc<Semaphore>,
    most: usize,
    limits: TimeLimits,
    idle: Mutex<Vec<(Session, Instant)>>,
    /// How statements are cancelled that run now.
    running: Mutex<HashMap<u64, CancelToken>>,
    next: AtomicU64,
}

impl Database {
    /// Connects to nothing yet. At most `most` connections are open at the same time.
    pub fn new(connector: Connector, most: usize, limits: TimeLimits) -> Arc<Self> {
        Arc::new(Self {
            connector,
            permits: Arc::new(Semaphore::new(most)),
            most,
            limits,
            idle: Mutex::default(),
            running: Mutex::default(),
            next: AtomicU64::new(0),
        })
    }

    /// A session for the caller alone. Waits for one where all are in use, at most two minutes.
    pub async fn lease(self: &Arc<Self>) -> Result<Lease, Failure> {
        let permit =
            timeout(PATIENCE, self.permits.clone().acquire_owned()).await.map_err(|_| {
                Failure::unavailable(format!(
                    "all {} connections of this role are in use",
                    self.most
                ))
            })?;
        let permit = permit.map_err(|_| Failure::unavailable("the server is going down"))?;
        let session = match self.take_idle() {
            Some(session) => session,
            None => timeout(BEGINNING, connect(&self.connector))
                .await
                .map_err(|_| Failure::unavailable("the database does not answer"))??,
        };
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.running().insert(id, session.client.cancel_token());
        Ok(Lease {
            database: Arc::clone(self),
            session: Some(session),
            permit: Some(permit),
            id,
            is_busy: false,
        })
    }

    /// Cancels all statements and waits until they are over, those of dropped leases too, at most two seconds. Nobody
    /// gets a session meanwhile.
    pub async fn end(&self) {
        let all = u32::try_from(self.most).unwrap_or(u32::MAX);
        let mut over = std::pin::pin!(self.permits.acquire_many(all));
        let ending = async {
            // A cancel that comes before its statement is lost, so it is repeated.
            while timeout(BETWEEN_CANCELS, &mut over).await.is_err() {
                self.cancel_all().await;
            }
        };
        let _ = timeout(ENDING, ending).await;
        self.idle().clear();
    }

    async fn cancel_all(&self) {
        let running: Vec<_> = self.running().values().cloned().collect();
        let cancel = |statement: CancelToken, connector: Connector| async move {
            let _ = timeout(CANCEL, connector.cancel(&statement)).await;
        };
        running
            .into_iter()
            .map(|statement| cancel(statement, self.connector.clone()))
            .collect::<JoinSet<()>>()
            .join_all()
            .await;
    }

    /// How many connections are in use, and how many are idle.
    pub fn connections(&self) -> (usize, usize) {
        (self.most - self.permits.available_permits(), self.idle().len())
    }

    fn take_idle(&self) -> Option<Session> {
        self.close_idle(IDLE);
        self.idle().pop().map(|(session, _)| session)
    }

    /// Closes the connections that nobody has used for so long, and forgets those that are closed.
    fn close_idle(&self, longest: Duration) {
        self.idle()
            .retain(|(session, since)| !session.client.is_closed() && since.elapsed() < longest);
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(Session, Instant)>> {
        self.idle.lock().expect("nobody panics with the idle sessions in hand")
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<u64, CancelToken>> {
        self.running.lock().expect("nobody panics with the running statements in hand")
    }
}

/// Ends the statements of several roles at the same time, as [`Database::end`] does.
pub async fn end_all(databases: impl IntoIterator<Item = Arc<Database>>) {
    let end = |database: Arc<Database>| async move { database.end().await };
    databases.into_iter().map(end).collect::<JoinSet<()>>().join_all().await;
}

/// Closes connections that nobody has used for five minutes, for as long as the program runs. `databases` says each time
/// which there are.
pub async fn close_idle(databases: impl Fn() -> Vec<Arc<Database>>) {
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        databases().iter().for_each(|database| database.close_idle(IDLE));
    }
}

async fn connect(connector: &Connector) -> Result<Session, Failure> {
    let (client, connection) = connector.connect().await.map_err(|error| refused(&error))?;
    // Whoever waits for an answer is told of an error, too.
    let connection = tokio::spawn(async move { connection.await.is_ok() });
    let found = client.query_typed_opt(include_str!("../sql/connect.sql"), &[]).await?;
    if found.is_none() {
        let missing = Failure::unavailable("the database has no extension pg_rag");
        return Err(missing.hint("CREATE EXTENSION pg_rag CASCADE"));
    }
    Ok(Session { client, connection })
}

/// Why there is no connection. Addresses and names of roles are for the log and not for clients.
fn refused(error: &tokio_postgres::Error) -> Failure {
    log::say(format_args!("no connection to the database: {}", with_causes(error)));
    if let Some(hint) = connector::hint(error) {
        log::say(hint);
    }
    match error.code().map(|code| code.code()) {
        Some(code) if code.starts_with("28") => {
            Failure::unavailable("the database does not accept the role of this token")
        }
        Some("53300") => Failure::unavailable("the database has no connection left"),
        _ if connector::is_about_encryption(error) => Failure::unavailable(
            "the connection to the database cannot be encrypted as it has to be",
        ),
        _ => Failure::unavailable("the database cannot be reached"),
    }
}

/// A session that one caller has. One that is dropped in the middle of a statement is cancelled and closed; else it
/// goes back.
pub struct Lease {
    database: Arc<Database>,
    session: Option<Session>,
    permit: Option<OwnedSemaphorePermit>,
    id: u64,
    is_busy: bool,
}

impl Lease {
    /// How long an answer and its reader may take.
    pub fn limits(&self) -> TimeLimits {
        self.database.limits
    }

    /// Runs a statement and returns its rows.
    pub async fn rows(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Failure> {
        self.is_busy = true;
        let rows = self.client().query_typed(sql, parameters).await;
        let rows = rows.map_err(Failure::from);
        self.done(rows.as_ref().err());
        rows
    }

    /// Begins a transaction. The session counts as busy until [`Lease::done`].
    pub async fn begin(&mut self) -> Result<Transaction<'_>, Failure> {
        self.is_busy = true;
        let session = self.session.as_mut().expect("a lease has its session until it is dropped");
        Ok(session.client.transaction().await?)
    }

    /// A statement or a transaction is over, by its end or by an error that the server has answered with. After an error
    /// that ends the session nobody else gets it. Of a connection that was lost it is not known whether the server has
    /// noticed: its statement may go on, so it is cancelled as that of a client that has left.
    pub fn done(&mut self, failure: Option<&Failure>) {
        self.is_busy = failure.is_some_and(Failure::ends_session) || self.client().is_closed();
    }

    fn client(&self) -> &Client {
        &self.session.as_ref().expect("a lease has its session until it is dropped").client
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.database.running().remove(&self.id);
        let Some(session) = self.session.take() else { return };
        if !self.is_busy {
            self.database.idle().push((session, Instant::now()));
            return;
        }
        let permit = self.permit.take();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // Whoever ends all statements has to find this one, also if the token of its role is gone.
            let database = Arc::clone(&self.database);
            runtime.spawn(async move {
                abandon(session, &database.connector).await;
                drop(permit);
            });
        }
    }
}

/// Cancels what a session does and closes it. A cancel that comes before the statement has begun is lost, so it is
/// repeated until the connection is over; until then its place counts as taken.
async fn abandon(session: Session, connector: &Connector) {
    let Session { client, mut connection } = session;
    let statement = client.cancel_token();
    drop(client);
    for _ in 0..CANCELS {
        let is_told = tell_to_cancel(&statement, connector).await;
        let Ok(ended) = timeout(BETWEEN_CANCELS, &mut connection).await else { continue };
        // A connection ends in order after its statement. Of a lost one nobody hears whether that is over.
        if !is_told && !ended.unwrap_or(false) {
            cancel_lost(&statement, connector).await;
        }
        return;
    }
    connection.abort();
}

/// Cancels the statement of a connection that was lost. What has cut it may keep the server out of reach for a while, too.
async fn cancel_lost(statement: &CancelToken, connector: &Connector) {
    for _ in 0..CANCELS_OF_LOST {
        tokio::time::sleep(BETWEEN_CANCELS).await;
        if tell_to_cancel(statement, connector).await {
            return;
        }
    }
}

/// Whether the server could be told in time to cancel a statement.
async fn tell_to_cancel(statement: &CancelToken, connector: &Connector) -> bool {
    timeout(CANCEL, connector.cancel(statement)).await.unwrap_or(false)
}
