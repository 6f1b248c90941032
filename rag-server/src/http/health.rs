//! `/healthz`: does the database answer?
//!
//! Anybody may ask this, without a token and as often as they like. So it has connections of its own, one for each
//! role, and takes none from those who ask questions; and what the database said is repeated for a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::Server;
use crate::database::Database;
use crate::failure::Failure;

/// How long the database may take to say that it is well.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long that is believed.
const FRESH: Duration = Duration::from_secs(1);

/// What is known of the database.
pub struct Health {
    databases: Vec<Arc<Database>>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Which role was answered last; it is asked first.
    role: usize,
    said: Option<(Instant, Result<(), Failure>)>,
}

impl Health {
    /// Asks as the roles of these connections, which are used for nothing else.
    pub fn new(databases: Vec<Arc<Database>>) -> Self {
        Self { databases, known: Mutex::default() }
    }

    /// The connections.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<Database>> {
        self.databases.iter()
    }

    /// Whether the database answers one of the roles within two seconds, as of a second ago at most. Those who ask at
    /// the same time wait for one answer.
    async fn ask(&self) -> Result<(), Failure> {
        let mut known = self.known.lock().await;
        if let Some((at, said)) = &known.said
            && at.elapsed() < FRESH
        {
            return said.clone();
        }
        let late = Err(Failure::unavailable("the database does not answer"));
        let said = timeout(PATIENCE, self.ask_all(&mut known.role)).await.unwrap_or(late);
        known.said = Some((Instant::now(), said.clone()));
        said
    }

    async fn ask_all(&self, first: &mut usize) -> Result<(), Failure> {
        let mut said = Err(Failure::unavailable("there is no role to ask as"));
        let begin = *first;
        for step in 0..self.databases.len() {
            let role = (begin + step) % self.databases.len();
            said = ask(&self.databases[role]).await;
            if said.is_ok() {
                *first = role;
                break;
            }
        }
        said
    }
}

async fn ask(database: &Arc<Database>) -> Result<(), Failure> {
    database.lease().await?.rows(include_str!("../../sql/health.sql"), &[]).await.map(drop)
}

/// Whether the database answers; of several roles, whether it answers one of them.
pub async fn healthy(State(server): State<Arc<Server>>) -> Result<Json<Value>, Failure> {
    // In a task of its own, so that a client that goes away takes no answer from the others.
    let asked = tokio::spawn(async move { server.health.ask().await });
    asked.await.unwrap_or_else(|_| Err(Failure::unavailable("the database was not asked")))?;
    Ok(Json(json!({"status": "ok"})))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::Connector;
    use crate::encryption::Encryption;

    fn unreachable(folder: &tempfile::TempDir) -> Arc<Database> {
        let mut config = tokio_postgres::Config::new();
        config.host_path(folder.path()).user("nobody");
        let encryption = Encryption::read(&[], |_| None).unwrap();
        Database::new(Connector::new(config, encryption).unwrap(), 1, PATIENCE)
    }

    #[tokio::test]
    async fn what_the_database_said_is_repeated_for_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let health = Health::new(vec![unreachable(&folder), unreachable(&folder)]);
        let failure = health.ask().await.unwrap_err();
        assert_eq!(failure.message, "the database cannot be reached");
        health.known.lock().await.said = Some((Instant::now(), Ok(())));
        assert!(health.ask().await.is_ok());
        let before = Instant::now() - FRESH;
        health.known.lock().await.said = Some((before, Ok(())));
        assert!(health.ask().await.is_err());
    }
}
