//! The server that both indexes are in, and sessions in it.

use std::time::{Duration, Instant};

use postgres::{Client, Config, NoTls};

use crate::cluster::Cluster;
use crate::{Result, machine};

/// How long a server that was restarted, or has crashed, may take to answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A private server.
pub struct Server {
    cluster: Cluster,
}

/// Memory for building an index, in megabytes.
pub fn build_memory() -> u64 {
    2048.min(machine::memory() / 8)
}

/// `shared_buffers`, in megabytes.
fn buffers() -> u64 {
    4096.min(machine::memory() / 4)
}

impl Server {
    /// Starts one; `None`, with a word, where `PG_RAG_PG_CONFIG` is not set.
    pub fn start() -> Result<Option<Server>> {
        let settings = settings();
        let lines: Vec<&str> = settings.iter().map(String::as_str).collect();
        let Some(cluster) = Cluster::start(&lines) else { return Ok(None) };
        let server = Server { cluster };
        server.session()?.batch_execute("CREATE EXTENSION pg_rag CASCADE")?;
        Ok(Some(server))
    }

    /// A session of the superuser over the unix socket. What the server remarks is printed.
    pub fn session(&self) -> Result<Client> {
        let mut config = Config::new();
        config.host_path(self.cluster.socket()).user("postgres").dbname("postgres");
        config.notice_callback(|notice| {
            // Of what does not matter here, DROP ... IF EXISTS says the most.
            if !notice.message().ends_with("skipping") {
                println!("  {}: {}", notice.severity(), notice.message());
            }
        });
        let end = Instant::now() + PATIENCE;
        loop {
            match config.connect(NoTls) {
                Ok(client) => return Ok(client),
                Err(error) if Instant::now() > end => return Err(error.into()),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// Restarts the server with other `shared_buffers`, in megabytes.
    pub fn restart_with_buffers(&mut self, megabytes: u64) {
        self.cluster.stop("INT");
        self.cluster.configure(&[&format!("shared_buffers = {megabytes}MB")]);
        self.cluster.boot();
    }

    /// Restarts the server with the buffers that it had at first.
    pub fn restart(&mut self) {
        self.restart_with_buffers(buffers());
    }
}

/// Lines of the configuration. Nothing but the measured statements should do work.
fn settings() -> Vec<String> {
    let mut lines = vec![
        format!("shared_buffers = {}MB", buffers()),
        format!("maintenance_work_mem = {}MB", build_memory()),
        "max_parallel_maintenance_workers = 2".to_owned(),
        "max_parallel_workers_per_gather = 0".to_owned(),
        "jit = off".to_owned(),
        "autovacuum = off".to_owned(),
        "checkpoint_timeout = 1h".to_owned(),
        "max_wal_size = 16GB".to_owned(),
    ];
    // A parallel build keeps its graph in shared memory.
    if machine::shared_memory() < build_memory() + 256 {
        lines.push("dynamic_shared_memory_type = sysv".to_owned());
    }
    lines
}

/// What was measured, where.
pub fn description(client: &mut Client) -> Result<Vec<String>> {
    let versions = "SELECT concat_ws(', ', split_part(version(), ' on ', 1), \
        (SELECT string_agg(extname || ' ' || extversion, ', ' ORDER BY extname DESC) \
         FROM pg_extension WHERE extname IN ('vector', 'pg_rag')))";
    let versions: String = client.query_one(versions, &[])?.get(0);
    let memory = format!(
        "shared_buffers {} MB, maintenance_work_mem {} MB, 2 workers for builds",
        buffers(),
        build_memory()
    );
    Ok(vec![machine::description(), versions, memory])
}
