//! Strategies of answers over a real session, a real ragd, and an HTTP server on loopback that
//! says what a script wants.

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use postgres::Client;
use serde_json::Value;

use super::cluster::Cluster;
use super::documents::assert_fails;
use super::http_server::{Reply, Request, Server};
use super::provider::server;

const QUESTION: &str = "How do the mills of Ghent and Bruges differ?";

const MILLS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE docs (id integer PRIMARY KEY, body text);
    INSERT INTO docs VALUES
        (1, 'The mill of Ghent grinds corn.'),
        (2, 'The mill of Bruges saws wood.'),
        (3, 'The mill of Lier presses oil.'),
        (4, 'The mill of Mol fulls cloth.'),
        (5, 'Flanders has grain and timber.');
    SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');";

fn start(http: Server) -> Option<(Cluster, Server, Client)> {
    let cluster = Cluster::start(&[])?;
    let mut client = cluster.connect();
    client.batch_execute(&format!("{MILLS} {}", server("writer", &http))).unwrap();
    client.batch_execute("SET rag.llm = 'writer'").unwrap();
    Some((cluster, http, client))
}

/// Answer, whether it is one, usage, and the keys of what was read.
struct Answer {
    text: String,
    supported: bool,
    usage: Value,
    read: Vec<String>,
    cited: Vec<String>,
}

fn ask(client: &mut Client, strategy: &str, options: &str) -> Answer {
    let query = "SELECT answer, supported, usage::text, context::text, citations::text
        FROM rag_answer_details($1, 'docs', strategy => $2, k => 4, options => $3::text::jsonb)";
    let row = client.query_one(query, &[&QUESTION, &strategy, &options]).unwrap();
    let json = |place: usize| serde_json::from_str::<Value>(row.get(place)).unwrap();
    let keys = |list: Value| -> Vec<String> {
        let key = |one: &Value| one["source_key"].as_str().unwrap_or("none").to_owned();
        list.as_array().unwrap().iter().map(key).collect()
    };
    Answer {
        text: row.get(0),
        supported: row.get(1),
        usage: json(2),
        read: keys(json(3)),
        cited: keys(json(4)),
    }
}

fn user(request: &Request) -> String {
    let body: Value = serde_json::from_str(request.text()).unwrap();
    let messages = body["messages"].as_array().unwrap();
    assert_eq!((messages.len(), &messages[1]["role"]), (2, &Value::from("user")));
    messages[1]["content"].as_str().unwrap().to_owned()
}

/// What is shown of the document of this key.
fn body(client: &mut Client, key: &str) -> String {
    let query = "SELECT body FROM docs WHERE id = $1::text::int";
    client.query_one(query, &[&key]).unwrap().get(0)
}

/// The numbers of the sources that a request shows.
fn shown(request: &Request) -> Vec<usize> {
    let text = user(request);
    let number = |part: &str| part.split(' ').next().unwrap().parse().unwrap();
    text.split("<<<source ").skip(1).map(number).collect()
}

/// Requests that are answered as soon as all of them are there.
struct Meeting {
    all: usize,
    arrived: Mutex<usize>,
    changed: Condvar,
}

impl Meeting {
    fn of(all: usize) -> Meeting {
        Meeting { all, arrived: Mutex::new(0), changed: Condvar::new() }
    }

    /// The answer to one of them; an error where the others do not come.
    fn answer(&self, text: &str) -> Reply {
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        self.changed.notify_all();
        // Less than the provider is waited for.
        let patience = Duration::from_secs(100);
        let are_missing = |arrived: &mut usize| *arrived < self.all;
        let (_arrived, waited) =
            self.changed.wait_timeout_while(arrived, patience, are_missing).unwrap();
        match waited.timed_out() {
            true => Reply::json(400, r#"{"error": {"message": "nobody else came"}}"#),
            false => Reply::chat(text),
        }
    }
}

#[test]
fn refine_goes_on_from_group_to_group() {
    let script = ["Ghent grinds [1].", "Ghent grinds [1], one saws [2].", "All differ [1][2][4]."];
    let Some((_cluster, http, mut client)) = start(Server::play(script.map(Reply::chat))) else {
        return;
    };
    let answer =
        ask(&mut client, "refine", r#"{"answer": {"group_size": 1, "budget": {"calls": 3}}}"#);
    assert_eq!((answer.text.as_str(), answer.supported), ("All differ [1][2][3].", true));
    assert_eq!(answer.usage["strategy"], "refine");
    assert_eq!((&answer.usage["calls"], &answer.usage["stopped_by"]), (&3.into(), &"calls".into()));
    assert_eq!(
        (&answer.usage["prompt_tokens"], &answer.usage["completion_tokens"]),
        (&33.into(), &21.into())
    );
    let requests = http.requests();
    assert_eq!(requests.iter().map(shown).collect::<Vec<_>>(), [[1], [2], [3]]);
    // The third chunk is the last one of the context, since it is not cited.
    for (place, request) in [0, 1, 3].into_iter().zip(&requests) {
        assert!(user(request).contains(&body(&mut client, &answer.read[place])));
        assert!(user(request).ends_with(&format!("Question: {QUESTION}")));
    }
    assert!(user(&requests[1]).contains(&format!("\n{}\n<<<end note 1 ", script[0])));
    assert!(user(&requests[2]).contains(&format!("\n{}\n<<<end note 1 ", script[1])));
    // The fourth chunk was found and never shown, and is cited for what it is.
    assert_eq!(answer.cited, [&*answer.read[0], &*answer.read[1], &*answer.read[2]]);
}

#[test]
fn a_tree_asks_at_once_and_keeps_the_order() {
    let meeting = Meeting::of(4);
    let http = Server::answer(move |request| {
        let text = user(request);
        let number = |n: usize| text.contains(&format!("<<<source {n} "));
        match (1..=4).find(|n| number(*n)) {
            Some(n) => meeting.answer(&format!("Mill {n} [{n}].")),
            None => Reply::chat("All: [1][2][3][4]."),
        }
    });
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let answer = ask(
        &mut client,
        "tree_summarize",
        r#"{"answer": {"group_size": 1, "budget": {"calls": 5}}}"#,
    );
    assert_eq!(answer.text, "All: [1][2][3][4].");
    let requests = http.requests();
    // Four groups of one, two merges of two answers each would be seven calls; five were allowed.
    assert_eq!(answer.usage["calls"], requests.len());
    assert_eq!(requests.iter().filter(|it| !shown(it).is_empty()).count(), 4);
    let merged = user(requests.last().unwrap());
    let places: Vec<usize> = (1..=4)
        .map(|n| merged.find(&format!("Mill {n} [{n}].")).expect("a partial answer"))
        .collect();
    assert!(places.is_sorted(), "{merged}");
    assert_eq!(answer.cited, answer.read);
}

#[test]
fn corrective_grades_looks_again_and_abstains() {
    let script = [
        "1: 1\n2: 0\n3: 0\n4: 0",
        "grain and timber of Flanders",
        "5: 9",
        "There is grain and timber [5].",
        "1: 0\n2: 0\n3: 0\n4: 0",
        "nothing but mills",
        "5: 0",
    ];
    let Some((_cluster, http, mut client)) = start(Server::play(script.map(Reply::chat))) else {
        return;
    };
    let answer = ask(&mut client, "corrective", "{}");
    assert_eq!((answer.text.as_str(), answer.supported), ("There is grain and timber [1].", true));
    assert_eq!(answer.read.len(), 5);
    assert_eq!(answer.cited, [&*answer.read[0]]);
    let steps: Vec<&str> = answer.usage["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["step"].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["grade", "rewrite", "grade", "answer"]);
    let requests = http.requests();
    assert_eq!(requests.len(), 4);
    assert_eq!(
        requests.iter().map(shown).collect::<Vec<_>>(),
        [vec![1, 2, 3, 4], vec![], vec![5], vec![5]]
    );
    assert!(user(&requests[3]).contains(&body(&mut client, &answer.read[0])));
    // Where the second search finds nothing of use either, nobody is asked for an answer.
    let answer = ask(&mut client, "corrective", "{}");
    assert!(!answer.supported && answer.text.starts_with("I don't know"), "{}", answer.text);
    assert_eq!(answer.cited, [] as [&str; 0]);
    assert!(http.requests().len() <= 7);
}

#[test]
fn time_that_is_over_ends_with_what_there_is() {
    let http = Server::answer(|request| match user(request).contains("<<<note 1 ") {
        true => Reply::chat("too late").delay(Duration::from_secs(60)),
        false => Reply::chat("Ghent grinds [1]."),
    });
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let begun = Instant::now();
    let answer =
        ask(&mut client, "refine", r#"{"answer": {"group_size": 1, "budget": {"seconds": 15}}}"#);
    assert_eq!((answer.text.as_str(), answer.supported), ("Ghent grinds [1].", true));
    assert_eq!(answer.usage["stopped_by"], "seconds");
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
    assert_eq!(http.requests().len(), 2);
}

#[test]
fn a_failure_among_many_calls_is_an_error_and_a_cancel_gives_all_up() {
    let http = Server::answer(|request| match user(request).contains("<<<source 2 ") {
        true => Reply::json(400, r#"{"error": {"message": "no such thing"}}"#),
        false => Reply::chat("Score: 1"),
    });
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let query = format!("SELECT rag_answer('{QUESTION}', strategy => 'map_rerank', k => 3)");
    assert_fails(&mut client, &query, &["38000", "no such thing"]);
    drop(http);
    let http = Server::answer(|_| Reply::chat("late").delay(Duration::from_secs(60)));
    client.batch_execute(&server("slow", &http)).unwrap();
    client.batch_execute("SET rag.llm = 'slow'; SET statement_timeout = '10s'").unwrap();
    assert_fails(&mut client, &query, &["57014"]);
    // Sooner than they would be answered.
    let begun = Instant::now();
    while http.abandoned() < 3 && begun.elapsed() < Duration::from_secs(40) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(http.abandoned(), 3, "calls go on that nobody waits for");
}

#[test]
fn every_chunk_is_read_though_a_call_reads_few() {
    let http = Server::answer(|request| match shown(request).as_slice() {
        [] => Reply::chat("All of them [1][30]."),
        [first, ..] => Reply::chat(&format!("Mill {first} [{first}].")),
    });
    let Some((_cluster, http, mut client)) = start(http) else { return };
    client
        .batch_execute(
            "INSERT INTO docs SELECT n, format('The mill number %s of Flanders grinds corn.', n)
             FROM generate_series(6, 30) AS n",
        )
        .unwrap();
    let query = "SELECT answer, usage->>'calls', jsonb_array_length(context) FROM rag_answer_details(
        $1, k => 40, strategy => 'tree_summarize', options => '{\"answer\": {\"group_size\": 20}, \"context\": {\"tokens\": 250}}')";
    let row = client.query_one(query, &[&QUESTION]).unwrap();
    assert_eq!((row.get::<_, &str>(0), row.get::<_, i32>(2)), ("All of them [1][2].", 30));
    let requests = http.requests();
    assert_eq!(row.get::<_, &str>(1), requests.len().to_string());
    let mut numbers: Vec<usize> = requests.iter().flat_map(shown).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=30).collect::<Vec<_>>(), "each source is shown once");
    for request in &requests {
        // 250 tokens are 6 bytes each at most.
        let text = user(request);
        let sources = text.split("Question:").next().unwrap();
        assert!(sources.len() <= 250 * 6, "{} bytes", sources.len());
    }
    // What auto has found once it does not look up again.
    let searches = "SELECT count(*) FROM rag_explain($1, k => 40,
        options => '{\"answer\": {\"cache\": \"semantic\", \"group_size\": 20}}') WHERE stage = 'fetch'";
    assert_eq!(client.query_one(searches, &[&QUESTION]).unwrap().get::<_, i64>(0), 1);
}

#[test]
fn a_cost_is_reckoned_with_the_prices_of_the_server() {
    let Some((_cluster, http, mut client)) = start(Server::play([Reply::chat("Corn [1].")])) else {
        return;
    };
    let query = format!(
        "SELECT rag_answer('{QUESTION}', strategy => 'compact', options => '{{\"answer\": {{\"budget\": {{\"cost\": 20}}}}}}')"
    );
    assert_fails(&mut client, &query, &["22023", "a cost and no prices", "rag.price"]);
    client.batch_execute("INSERT INTO rag.price VALUES ('writer', NULL, 1000000, 0)").unwrap();
    // The prompt alone would cost more.
    let spent = ask(&mut client, "compact", r#"{"answer": {"budget": {"cost": 20}}}"#);
    assert_eq!((spent.supported, &spent.usage["stopped_by"]), (false, &"cost".into()));
    assert_eq!(http.requests().len(), 0);
    let answer = ask(&mut client, "compact", r#"{"answer": {"budget": {"cost": 20000}}}"#);
    assert_eq!((answer.text.as_str(), &answer.usage["cost"]), ("Corn [1].", &11.0.into()));
    // Prices of the call go before those of the table.
    let own = r#"{"answer": {"budget": {"cost": 20, "input_price": 0, "output_price": 1000000}}}"#;
    let answer = ask(&mut client, "compact", own);
    assert_eq!(
        (answer.text.as_str(), &answer.usage["stopped_by"]),
        ("I don't know: the sources do not say.", &"cost".into())
    );
}

#[test]
fn summaries_are_asked_for_at_once() {
    let meeting = Meeting::of(3);
    let http = Server::answer(move |_| meeting.answer("It grinds corn."));
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let long = "UPDATE docs SET body = body || (SELECT string_agg(format(' Stone %s of mill %s turns.', n, id), '')
        FROM generate_series(1, 15) AS n)";
    client.batch_execute(long).unwrap();
    let query = "SELECT count(*) FROM rag_context($1, k => 3, options => '{\"context\": {\"compression\": \"summarize\"}}')
        WHERE content = 'It grinds corn.'";
    assert_eq!(client.query_one(query, &[&QUESTION]).unwrap().get::<_, i64>(0), 3);
    assert_eq!(http.requests().len(), 3);
}
