//! A private server with the extension in it.

use postgres::Client;

use crate::cluster::Cluster;
use crate::{Result, machine};

/// A private server. Dropping it ends it.
pub struct Server {
    pub cluster: Cluster,
}

impl Server {
    /// Starts one with these lines in its configuration.
    pub fn start(settings: &[&str]) -> Result<Server> {
        let server = Self::try_start(settings)?;
        server.ok_or_else(|| "no PostgreSQL to measure in".into())
    }

    /// `None`, with a word, where `PG_RAG_PG_CONFIG` is not set.
    fn try_start(settings: &[&str]) -> Result<Option<Server>> {
        let buffers = format!("shared_buffers = {}MB", buffers());
        let mut lines = vec![buffers.as_str(), "max_wal_size = 8GB", "jit = off"];
        lines.extend(settings);
        let Some(cluster) = Cluster::start(&lines) else { return Ok(None) };
        let server = Server { cluster };
        server.session().batch_execute("CREATE EXTENSION pg_rag CASCADE")?;
        Ok(Some(server))
    }

    /// A session of the superuser.
    pub fn session(&self) -> Client {
        self.cluster.connect()
    }

    /// A session of another role.
    pub fn session_as(&self, role: &str) -> Client {
        self.cluster.connect_as(role)
    }
}

/// `shared_buffers`, in megabytes.
fn buffers() -> u64 {
    1024.min(machine::memory() / 8)
}

/// What is measured, where; `None`, with a word, where there is no server to measure in.
pub fn description() -> Result<Option<Vec<String>>> {
    let Some(server) = Server::try_start(&[])? else { return Ok(None) };
    let versions = "SELECT concat_ws(', ', split_part(version(), ' on ', 1), \
        (SELECT string_agg(extname || ' ' || extversion, ', ' ORDER BY extname DESC) \
         FROM pg_extension WHERE extname IN ('vector', 'pg_rag')))";
    let versions: String = server.session().query_one(versions, &[])?.get(0);
    let settings = format!("shared_buffers {} MB, fsync off, rag.max_workers 2", buffers());
    Ok(Some(vec![machine::description(), versions, settings]))
}
