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
#[derive(Default)]
pub struct Health {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Which role was answered last; it is asked first.
    role: usize,
    said: Option<(Instant, Result<(), Failure>)>,
}

impl Health {
    /// Whether the database answers one of the roles of these connections, which are used for nothing else, within two
    /// seconds, as of a second ago at most. Those who ask at the same time wait for one answer.
    async fn ask(&self, databases: &[Arc<Database>]) -> Result<(), Failure> {
        let mut known = self.known.lock().await;
        if let Some((at, said)) = &known.said
            && at.elapsed() < FRESH
        {
            return said.clone();
        }
        let late = Err(Failure::unavailable("the database does not answer"));
        let said = timeout(PATIENCE, ask_all(databases, &mut known.role)).await.unwrap_or(late);
        known.said = Some((Instant::now(), said.clone()));
        said
    }
}

async fn ask_all(databases: &[Arc<Database>], first: &mut usize) -> Result<(), Failure> {
    let mut said = Err(Failure::unavailable("there is no role to ask as"));
    let begin = *first;
    for step in 0..databases.len() {
        let role = (begin + step) % databases.len();
        said = ask(&databases[role]).await;
        if said.is_ok() {
            *first = role;
            break;
        }
    }
    said
}

async fn ask(database: &Arc<Database>) -> Result<(), Failure> {
    database.lease().await?.rows(include_str!("../../sql/health.sql"), &[]).await.map(drop)
}

/// Whether the database answers; of several roles, whether it answers one of them.
pub async fn healthy(State(server): State<Arc<Server>>) -> Result<Json<Value>, Failure> {
    let databases: Vec<Arc<Database>> =
        server.callers.now().all().map(|caller| Arc::clone(&caller.health)).collect();
    // In a task of its own, so that a client that goes away takes no answer from the others.
    let asked = tokio::spawn(async move { server.health.ask(&databases).await });
    asked.await.unwrap_or_else(|_| Err(Failure::unavailable("the database was not asked")))?;
    Ok(Json(json!({"status": "ok"})))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::Connector;
    use crate::database::TimeLimits;
    use crate::encryption::Encryption;

    fn unreachable(folder: &tempfile::TempDir) -> Arc<Database> {
        let mut config = tokio_postgres::Config::new();
        config.host_path(folder.path()).user("nobody");
        let encryption = Encryption::read(&[], |_| None).unwrap();
        let limits = TimeLimits { answer: PATIENCE, reader: PATIENCE };
        Database::new(Connector::new(config, encryption).unwrap(), 1, limits)
    }

    #[tokio::test]
    async fn what_the_database_said_is_repeated_for_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let databases = [unreachable(&folder), unreachable(&folder)];
        // Another file of tokens may have fewer roles than the last one.
        let health = Health::default();
        health.known.lock().await.role = 7;
        let failure = health.ask(&databases).await.unwrap_err();
        assert_eq!(failure.message, "the database cannot be reached");
        health.known.lock().await.said = Some((Instant::now(), Ok(())));
        assert!(health.ask(&databases).await.is_ok());
        let before = Instant::now() - FRESH;
        health.known.lock().await.said = Some((before, Ok(())));
        assert!(health.ask(&databases).await.is_err());
    }
}
