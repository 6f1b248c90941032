//! Providers behind the server, of language models and of embeddings: an HTTP server on loopback.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{QUESTION, SETUP, assert_fails, describe};
use super::embedder::{DIMENSION, body, embeddings, texts};
use super::http_server::{Reply, Server};
use super::https_server::{Authority, HttpsServer};

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
fn whom_to_believe_is_said_by_a_file() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let reply = r#"{"choices": [{"message": {"content": "Safe."}, "finish_reason": "stop"}]}"#;
    let authority = Authority::new();
    let https = HttpsServer::new(authority.certify("localhost"), reply);
    let file = cluster.folder().join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    cluster.give(&file);
    let mut client = cluster.connect();
    let mut options = |options: &str| {
        client.batch_execute(&format!("ALTER SERVER safe OPTIONS ({options})")).unwrap();
    };
    let mut caller = cluster.connect();
    let create = format!(
        "CREATE EXTENSION pg_rag CASCADE;
         CREATE SERVER safe FOREIGN DATA WRAPPER rag_llm
             OPTIONS (base_url '{}', model 'm', timeout '120', connect_timeout '60');",
        https.base_url("localhost")
    );
    caller.batch_execute(&create).unwrap();
    let ask = "SELECT rag_generate('Is it safe?', 'safe')";
    let parts = ["38000", "\"safe\" is not trusted", "UnknownIssuer", "ca_file, if"];
    assert_fails(&mut caller, ask, &parts);
    options("ADD ca_file '/nonexistent/ca.pem'");
    assert_fails(&mut caller, ask, &["58P01", "No such file", "\"safe\": ca_file."]);
    options(&format!("SET ca_file '{}'", file.display()));
    assert_eq!(caller.query_one(ask, &[]).unwrap().get::<_, &str>(0), "Safe.");
    options(&format!("SET base_url '{}'", https.base_url("127.0.0.1")));
    let parts = ["38000", "is not trusted", "not valid for name", "the host in base_url"];
    assert_fails(&mut caller, ask, &parts);
    assert_eq!(https.requests().len(), 1);
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

/// A cluster with some documents, a server that embeds, which it knows as "embedder", and a session.
fn start_with_embedder() -> Option<(Cluster, Server, Client)> {
    let cluster = Cluster::start(&[])?;
    let http = Server::answer(embeddings);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("embedder", &http))).unwrap();
    Some((cluster, http, client))
}

#[test]
fn a_pipeline_works_with_a_model_behind_a_provider() {
    let Some((_cluster, http, mut client)) = start_with_embedder() else { return };
    let add = "SELECT dimension, max_tokens FROM rag_add_model('far', server => 'embedder')";
    let row = client.query_one(add, &[]).unwrap();
    assert_eq!((row.get::<_, i32>(0), row.get::<_, i32>(1)), (DIMENSION as i32, 512));
    client
        .batch_execute(
            "CREATE TABLE notes AS TABLE docs;
             ALTER TABLE notes ADD PRIMARY KEY (id);
             SELECT rag_create_pipeline('notes', 'body', model => 'far', refresh => 'sync');
             INSERT INTO notes VALUES (4, 'Parking', 'Visitors park behind the house.');",
        )
        .unwrap();
    for (question, key) in [(QUESTION, "1"), ("Where do visitors park?", "4")] {
        let find = "SELECT source_key FROM rag_retrieve($1, 'notes', 1, mode => 'dense')";
        assert_eq!(client.query_one(find, &[&question]).unwrap().get::<_, &str>(0), key);
    }
    let requests = http.requests();
    let wrong = requests.iter().find(|request| {
        request.path != "/v1/embeddings"
            || body(request)["model"] != "m"
            || request.header("authorization") != Some(&*format!("Bearer {KEY}"))
    });
    assert!(wrong.is_none(), "{wrong:?}");
}

#[test]
fn questions_that_were_embedded_of_late_are_not_paid_for_again() {
    let Some((_cluster, http, mut client)) = start_with_embedder() else { return };
    client
        .batch_execute(
            "SELECT rag_add_model('far', server => 'embedder', dimension => 64);
             CREATE TABLE notes AS TABLE docs;
             ALTER TABLE notes ADD PRIMARY KEY (id);
             SELECT rag_create_pipeline('notes', 'body', model => 'far', refresh => 'sync');",
        )
        .unwrap();
    // The keys that are found, question by question, and the questions that were sent for it.
    let mut ask = |questions: &[&str]| -> (Vec<String>, Vec<String>) {
        let before = http.requests().len();
        let batch = "SELECT source_key FROM rag_retrieve_batch($1, 'notes', 1, mode => 'dense')
            ORDER BY question_no";
        let rows = client.query(batch, &[&questions.to_vec()]).unwrap();
        let sent = http.requests()[before..].iter().flat_map(texts).collect::<Vec<String>>();
        let mut sent: Vec<String> = sent.into_iter().filter(|it| it.ends_with('?')).collect();
        sent.sort();
        (rows.iter().map(|row| row.get(0)).collect(), sent)
    };
    let (paid, sent) = ("How can invoices be paid?", "When are invoices sent each month?");
    assert_eq!(ask(&[QUESTION]), (vec!["1".to_owned()], vec![QUESTION.to_owned()]));
    let found = ["2", "1", "2", "2"].map(str::to_owned).to_vec();
    let questions = [sent, QUESTION, paid, sent];
    assert_eq!(ask(&questions), (found.clone(), vec![paid.to_owned(), sent.to_owned()]));
    assert_eq!(ask(&questions), (found, Vec::new()));
    // More questions than a session remembers are all answered, and what was asked before them stays known.
    let many: Vec<String> = (100..200).map(|n| format!("What is number {n}?")).collect();
    let asked: Vec<&str> = many.iter().chain(&many).map(String::as_str).collect();
    let (found, embedded) = ask(&asked);
    assert_eq!(found.len(), asked.len());
    assert_eq!(embedded, many);
    assert_eq!(ask(&questions).1, Vec::<String>::new());
}

#[test]
fn a_model_behind_a_provider_is_used_with_the_rights_and_key_of_the_caller() {
    let Some((_cluster, http, mut client)) = start_with_embedder() else { return };
    client
        .batch_execute(
            "SELECT rag_add_model('far', server => 'embedder', dimension => 8);
             CREATE ROLE guest;
             SET ROLE guest;",
        )
        .unwrap();
    let embed = "SELECT vector_dims(rag_embed('a text', 'far'))";
    assert_fails(&mut client, embed, &["42501", "embedder", "GRANT USAGE"]);
    assert!(http.requests().is_empty());
    client
        .batch_execute(
            "RESET ROLE;
             GRANT USAGE ON FOREIGN SERVER embedder TO guest;
             CREATE USER MAPPING FOR guest SERVER embedder OPTIONS (api_key 'sk-of-the-guest');
             SET ROLE guest;",
        )
        .unwrap();
    assert_eq!(client.query_one(embed, &[]).unwrap().get::<_, i32>(0), 8);
    let requests = http.requests();
    assert_eq!(requests.len(), 2, "the wanted length is asked for after the first answer");
    assert_eq!(requests[1].header("authorization"), Some("Bearer sk-of-the-guest"));
}

#[test]
fn bulk_work_of_all_sessions_leaves_a_busy_provider_alone() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::new(429).header("Retry-After", "60")]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("crowded", &http))).unwrap();
    client
        .batch_execute("SELECT rag_add_model('far', server => 'crowded', dimension => 3)")
        .unwrap();
    let embed = "SELECT rag_embed_batch(ARRAY['one', 'two'], 'far')";
    for client in [&mut client, &mut cluster.connect()] {
        assert_fails(client, embed, &["53000", "crowded", "Repeat the statement in"]);
    }
    assert_eq!(http.requests().len(), 1);
}

#[test]
fn nobody_speaks_for_the_provider_of_somebody_else() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    // Whoever asks for the model "sick" is refused for an hour.
    let http = Server::answer(|request| match body(request)["model"].as_str() {
        Some("sick") => Reply::new(429).header("Retry-After", "3600"),
        _ => embeddings(request),
    });
    let mut client = cluster.connect();
    let shared = |name: &str, model: &str| {
        format!(
            "CREATE SERVER {name} FOREIGN DATA WRAPPER rag_llm
                 OPTIONS (base_url '{}', model '{model}', timeout '120', max_retries '0');",
            http.base_url()
        )
    };
    client.batch_execute(&format!("{SETUP} {}", shared("embedder", "m"))).unwrap();
    let add = |client: &mut Client, name: &str, server: &str| {
        let add = "SELECT rag_add_model($1, server => $2, dimension => 8)";
        client.query_one(add, &[&name, &server]).unwrap();
    };
    add(&mut client, "far", "embedder");
    client
        .batch_execute(
            "CREATE ROLE stranger; GRANT USAGE ON FOREIGN DATA WRAPPER rag_llm TO stranger;
             SET ROLE stranger;",
        )
        .unwrap();
    client.batch_execute(&shared("sickening", "sick")).unwrap();
    assert_fails(&mut client, "SELECT rag_generate('x', 'sickening')", &["429"]);
    // What listens there is no proxy, and it is not asked: this machine is reached directly.
    client
        .batch_execute("ALTER SERVER sickening OPTIONS (ADD proxy 'http://127.0.0.1:1')")
        .unwrap();
    let before = http.requests().len();
    for _ in 0..6 {
        assert_fails(&mut client, "SELECT rag_generate('x', 'sickening')", &["429"]);
    }
    assert_eq!(http.requests().len(), before + 6);
    let embed = "SELECT vector_dims((rag_embed_batch(ARRAY['one', 'two'], 'far'))[1])";
    client.batch_execute("RESET ROLE").unwrap();
    assert_eq!(client.query_one(embed, &[]).unwrap().get::<_, i32>(0), 8);

    // A vector that came by one way is not another's, also within a session.
    let zeros = Server::answer(|_| {
        Reply::json(200, r#"{"data": [{"index": 0, "embedding": [1, 0, 0, 0, 0, 0, 0, 0]}]}"#)
    });
    let vector = "SELECT rag_embed('a text', 'far', 'query')::text";
    let right: String = client.query_one(vector, &[]).unwrap().get(0);
    let elsewhere = format!("ALTER SERVER embedder OPTIONS (SET base_url '{}')", zeros.base_url());
    client.batch_execute(&elsewhere).unwrap();
    let other: String = client.query_one(vector, &[]).unwrap().get(0);
    assert_eq!(other, "[1,0,0,0,0,0,0,0]");
    assert_ne!(right, other);
}

#[test]
fn a_language_model_grades_what_was_found() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([
        Reply::chat("1: 3\n2: 9.5"),
        Reply::chat("[1] 0/10\n[2] 2/10\n[3] 10/10\n[4] 1/10"),
        Reply::chat("I would rather not."),
        Reply::chat("I would rather not."),
        Reply::json(500, "{}"),
    ]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("judge", &http))).unwrap();
    client.batch_execute("SET rag.llm = 'judge'").unwrap();
    let rerank = "SELECT ord, score FROM rag_rerank('Which?', ARRAY['ink', 'paper'], 'llm')";
    let rows = client.query(rerank, &[]).unwrap();
    let graded: Vec<(i32, f64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(graded.iter().map(|(ord, _)| *ord).collect::<Vec<_>>(), [2, 1]);
    assert!((graded[0].1 - 0.95).abs() < 1e-6 && (graded[1].1 - 0.3).abs() < 1e-6, "{graded:?}");
    let requests = http.requests();
    let body = requests[0].text();
    assert!(body.contains("Question: Which?") && body.contains("paper"), "{body}");

    let retrieve = "SELECT rerank_score, score FROM rag_retrieve($1, k => 1, rerank => 'llm')";
    let best = client.query_one(retrieve, &[&QUESTION]).unwrap();
    assert_eq!((best.get::<_, Option<f64>>(0), best.get::<_, f64>(1)), (Some(1.0), 1.0));

    assert_fails(&mut client, rerank, &["38000", "instead of grades", "rather not"]);
    // A search goes on without grades, and says so.
    let found = |client: &mut Client, rerank: &str| -> Vec<(String, Option<f64>)> {
        let query = format!(
            "SELECT source_key, rerank_score FROM rag_retrieve($1, rerank => {rerank}) ORDER BY rank"
        );
        let rows = client.query(&query, &[&QUESTION]).unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    };
    let searched = found(&mut client, "NULL");
    assert_eq!(found(&mut client, "'llm'"), searched);
    assert!(searched.iter().all(|(_, score)| score.is_none()));
    assert_fails(&mut client, rerank, &["38", "judge", "500"]);
}
