//! Figures for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the histogram's buckets, in seconds.
const BUCKETS: [f64; 9] = [0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

/// What is counted since the program was started.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, u16), Requests>>,
    /// Requests that are being answered, told answers until their last byte.
    pub in_flight: AtomicI64,
    /// Requests without a token that is known.
    pub unknown_tokens: AtomicU64,
    /// Requests beyond a token's rate.
    pub limited: AtomicU64,
}

#[derive(Clone, Copy, Default)]
struct Requests {
    count: u64,
    seconds: f64,
    buckets: [u64; BUCKETS.len()],
}

impl Metrics {
    /// Counts a response. `route` is the path of the router, never that of a request, of which there is no end; the
    /// time is that until the head of the response.
    pub fn count(&self, route: &'static str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().expect("nobody panics with the figures in hand");
        let entry = requests.entry((route, status)).or_default();
        let seconds = took.as_secs_f64();
        entry.count += 1;
        entry.seconds += seconds;
        for (bucket, bound) in entry.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
    }

    /// Everything in Prometheus's text format. `connections` are those in use and those idle.
    pub fn text(&self, connections: (usize, usize)) -> String {
        let mut text = String::new();
        self.write(&mut text, connections).expect("writing to a string never fails");
        text
    }

    fn write(&self, text: &mut String, connections: (usize, usize)) -> std::fmt::Result {
        let requests =
            self.requests.lock().expect("nobody panics with the figures in hand").clone();
        head(text, "rag_server_request_seconds", "histogram", "time until the head of a response")?;
        for ((route, status), entry) in &requests {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            for (bound, count) in BUCKETS.iter().zip(entry.buckets) {
                writeln!(
                    text,
                    "rag_server_request_seconds_bucket{{{labels},le=\"{bound}\"}} {count}"
                )?;
            }
            let count = entry.count;
            writeln!(text, "rag_server_request_seconds_bucket{{{labels},le=\"+Inf\"}} {count}")?;
            writeln!(text, "rag_server_request_seconds_sum{{{labels}}} {}", entry.seconds)?;
            writeln!(text, "rag_server_request_seconds_count{{{labels}}} {count}")?;
        }
        let gauge = "rag_server_requests_in_flight";
        head(text, gauge, "gauge", "requests that are being answered")?;
        writeln!(text, "{gauge} {}", self.in_flight.load(Ordering::Relaxed))?;
        let counter = "rag_server_unknown_tokens_total";
        head(text, counter, "counter", "requests without a token that is known")?;
        writeln!(text, "{counter} {}", self.unknown_tokens.load(Ordering::Relaxed))?;
        let counter = "rag_server_rate_limited_total";
        head(text, counter, "counter", "requests beyond the rate of their token")?;
        writeln!(text, "{counter} {}", self.limited.load(Ordering::Relaxed))?;
        let gauge = "rag_server_connections";
        head(text, gauge, "gauge", "connections to the database")?;
        writeln!(text, "{gauge}{{state=\"used\"}} {}", connections.0)?;
        writeln!(text, "{gauge}{{state=\"idle\"}} {}", connections.1)
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_count_what_is_below_them() {
        let metrics = Metrics::default();
        metrics.count("/ask", 200, Duration::from_millis(7));
        metrics.count("/ask", 200, Duration::from_millis(700));
        metrics.count("/ask", 503, Duration::from_millis(1));
        let text = metrics.text((2, 3));
        let has = |line: &str| assert!(text.lines().any(|have| have == line), "{line}\n{text}");
        has("rag_server_request_seconds_bucket{route=\"/ask\",status=\"200\",le=\"0.005\"} 0");
        has("rag_server_request_seconds_bucket{route=\"/ask\",status=\"200\",le=\"0.01\"} 1");
        has("rag_server_request_seconds_bucket{route=\"/ask\",status=\"200\",le=\"+Inf\"} 2");
        has("rag_server_request_seconds_count{route=\"/ask\",status=\"503\"} 1");
        has("rag_server_connections{state=\"used\"} 2");
        has("rag_server_connections{state=\"idle\"} 3");
    }
}
