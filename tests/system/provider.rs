//! Language model providers behind the server: an HTTP server on loopback.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{SETUP, assert_fails, describe};
use super::http_server::{Reply, Server};

const KEY: &str = "sk-0123456789abcdef";

/// Statements that make `http` a foreign server, with a key for everybody.
pub fn server(name: &str, http: &Server) -> String {
    format!(
        "CREATE SERVER {name} FOREIGN DATA WRAPPER rag_llm
             OPTIONS (api 'openai', base_url '{}', model 'm', timeout '120', max_retries '1');
         CREATE USER MAPPING FOR PUBLIC SERVER {name} OPTIONS (api_key '{KEY}');",
        http.base_url()
    )
}

fn ask(client: &mut Client, llm: &str) -> Result<String, String> {
    let question = "SELECT rag_answer('How do I reset a password?', llm => $1)";
    client.query_one(question, &[&llm]).map(|row| row.get(0)).map_err(|error| describe(&error))
}

#[test]
fn a_provider_answers_from_the_context_with_citations() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::chat("Choose Reset password on the settings page [1].")]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    assert_eq!(
        ask(&mut client, "writer").unwrap(),
        "Choose Reset password on the settings page [1]."
    );
    let requests = http.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    let body = requests[0].text();
    let source = body.find("open the settings page").expect("the document is in the prompt");
    let question = body.rfind("How do I reset a password?").expect("the question is in the prompt");
    assert!(source < question, "the question comes after the context");
    let citations =
        "SELECT citations->0->>'source_key' FROM rag_answer_details($1, llm => 'writer')";
    let key: Option<String> =
        client.query_one(citations, &[&"How do I reset a password?"]).unwrap().get(0);
    assert_eq!(key.as_deref(), Some("1"));
}

#[test]
fn what_goes_wrong_is_said_without_the_key() {
    let Some(cluster) = Cluster::start(&["log_min_messages = debug1"]) else { return };
    let echo = format!("{{\"error\": {{\"message\": \"bad key {KEY}\"}}}}");
    let refusing = Server::play([Reply::json(401, &echo)]);
    let busy = Server::play([Reply::new(429).header("Retry-After", "0")]);
    let broken = Server::play([Reply::json(200, "{\"not\": \"an answer\"}")]);
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    for (name, http, expected) in
        [("refusing", &refusing, "401"), ("busy", &busy, "429"), ("broken", &broken, "")]
    {
        client.batch_execute(&server(name, http)).unwrap();
        let error = ask(&mut client, name).unwrap_err();
        println!("{name}: {error}");
        assert!(error.starts_with("38"), "an external routine's failure: {error}");
        assert!(error.contains(name) && error.contains(expected), "{error}");
        assert!(!error.contains(KEY), "the key is shown: {error}");
    }
    assert_eq!(busy.requests().len(), 2, "max_retries '1' makes two calls");
    let other_key = "SELECT * FROM rag_generate('x', 'nowhere')";
    assert_fails(&mut client, other_key, &["42704", "nowhere", "CREATE SERVER"]);
    let log = cluster.log();
    assert!(!log.lines().any(|line| line.contains(KEY)), "the key is in the server's log");
}
