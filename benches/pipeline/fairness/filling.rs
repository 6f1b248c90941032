//! A pipeline of role `bench_a` that is filled in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use postgres::Client;

use super::load::Work;
use crate::{Result, Server};

/// Between two looks at what has been done.
const LOOK: Duration = Duration::from_millis(50);

const PIPELINE: &str =
    r#"SELECT rag_create_pipeline('big', 'content', options => '{"backfill": "background"}')"#;

const DONE: &str = "SELECT coalesce(max(a.tokens_embedded), 0)
    FROM rag.activity AS a JOIN rag.pipeline AS p ON p.id = a.pipeline WHERE p.name = 'big'";

const LEFT: &str = "SELECT coalesce(sum(pending_rows + unqueued_changes), 0)::bigint
    FROM rag.pipeline_status WHERE pipeline = 'big'";

const END_WORKERS: &str = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
    WHERE backend_type = 'pg_rag worker'";

/// When how many tokens were embedded: a point for each batch, or for several at once.
type Points = Vec<(Instant, i64)>;

/// A pipeline that is being filled.
pub struct Filling {
    is_over: Arc<AtomicBool>,
    watcher: JoinHandle<Result<Points>>,
}

impl Filling {
    /// Has it begin.
    pub fn begin(server: &Server) -> Result<Filling> {
        server.session_as("bench_a").batch_execute(PIPELINE)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (client, over) = (server.session(), Arc::clone(&is_over));
        let watcher = thread::spawn(move || watch(client, &over));
        Ok(Filling { is_over, watcher })
    }

    /// Drops the pipeline, with what is in hand of it.
    pub fn end(self, server: &Server) -> Result<Work> {
        self.is_over.store(true, Ordering::SeqCst);
        let points = self.watcher.join().map_err(|_| "nobody watched the backfill")??;
        let mut client = server.session();
        let left: i64 = client.query_one(LEFT, &[])?.get(0);
        server.session_as("bench_a").batch_execute("SELECT rag_drop_pipeline('big')")?;
        // They may be at work on a batch that nobody wants any more.
        client.query_one(END_WORKERS, &[])?;
        let left = match left {
            0 => "it HAD ENDED before the phase did".to_owned(),
            left => format!("{left} rows were left at the end"),
        };
        Ok(Work {
            tokens_a_second: rate(&points),
            said: format!("batches were stored at {} moments; {left}", points.len()),
        })
    }
}

fn watch(mut client: Client, is_over: &AtomicBool) -> Result<Points> {
    let done = client.prepare(DONE)?;
    let mut points = Points::new();
    while !is_over.load(Ordering::SeqCst) {
        let tokens: i64 = client.query_one(&done, &[])?.get(0);
        if tokens > points.last().map_or(0, |(_, before)| *before) {
            points.push((Instant::now(), tokens));
        }
        thread::sleep(LOOK);
    }
    Ok(points)
}

/// Tokens a second from the first batch to the last: what was in hand before and after is in neither
/// sum. `None` with fewer than two.
fn rate(points: &Points) -> Option<f64> {
    let ((begin, before), (end, after)) = (points.first()?, points.last()?);
    let seconds = end.duration_since(*begin).as_secs_f64();
    (seconds > 0.0).then(|| (after - before) as f64 / seconds)
}
