//! A server with the option `redact`: what leaves the database, what comes back, and what is kept of it.

#[path = "redact/answers.rs"]
mod answers;
#[path = "redact/found.rs"]
mod found;
#[path = "redact/later_calls.rs"]
mod later_calls;
#[path = "redact/logged.rs"]
mod logged;

use postgres::Client;

use super::cluster::Cluster;
use super::http_server::{Reply, Request, Server};
use super::provider::server;

const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE letters (id integer PRIMARY KEY, body text);
    INSERT INTO letters VALUES
        (1, 'Name: Anna Schmidt. Her invoices go to anna@example.com on the first day of each month.'),
        (2, 'Name: Bob Miller. His invoices go to bob@example.com on the last day of each month.');
    SELECT rag_create_pipeline('letters', 'body', refresh => 'sync');";

const PERSONAL: [&str; 6] =
    ["Anna Schmidt", "Schmidt", "anna@example.com", "Bob Miller", "Miller", "bob@example.com"];

fn start(http: &Server) -> Option<(Cluster, Client)> {
    let cluster = Cluster::start(&[])?;
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", http))).unwrap();
    client.batch_execute("ALTER SERVER writer OPTIONS (ADD redact 'pii')").unwrap();
    Some((cluster, client))
}

fn text(client: &mut Client, statement: &str) -> String {
    client.query_one(statement, &[]).unwrap().get(0)
}

fn check_silent(http: &Server) {
    for request in http.requests() {
        for value in PERSONAL {
            assert!(!request.text().contains(value), "{value} was sent: {}", request.text());
        }
    }
}
