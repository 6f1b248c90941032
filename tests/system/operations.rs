//! What is done with answers of a language model besides giving them: counted, paid for,
//! remembered, traced, and gone on with. An HTTP server on loopback stands in for the provider.

use std::thread;
use std::time::Duration;

use postgres::Client;
use serde_json::{Value, json};

use super::cluster::{Cluster, wait_for};
use super::documents::{QUESTION, SETUP, assert_fails, count, describe};
use super::http_server::{Reply, Server};
use super::provider::server;

/// Eleven tokens in and seven out, as [`Reply::chat`] says.
const ANSWER: &str = "Choose Reset password on the settings page [1].";

/// Two roles that may read the documents and call the provider "writer".
const ROLES: &str = "
    CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN;
    GRANT USAGE ON FOREIGN SERVER writer TO ann, bob;
    GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO ann, bob;";

fn start(script: impl IntoIterator<Item = Reply>) -> Option<(Cluster, Server, Client)> {
    let cluster = Cluster::start(&[])?;
    let http = Server::play(script);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {} {ROLES}", server("writer", &http))).unwrap();
    Some((cluster, http, client))
}

/// Waits for the next day where this one, by UTC, is about to end: expenses are counted by days.
fn not_at_midnight(client: &mut Client) {
    let left = count(client, "SELECT 86400 - extract(epoch FROM now())::bigint % 86400");
    if left < 60 {
        thread::sleep(Duration::from_secs(left as u64 + 1));
    }
}

fn ask_with(client: &mut Client, question: &str, options: &str) -> String {
    let query = "SELECT rag_answer($1, llm => 'writer', options => $2::text::jsonb)";
    client.query_one(query, &[&question, &options]).unwrap().get(0)
}

fn ask(client: &mut Client) -> String {
    ask_with(client, QUESTION, "{}")
}

#[test]
fn what_is_spent_is_counted_whatever_becomes_of_the_transaction() {
    let Some((cluster, http, mut client)) = start([Reply::chat(ANSWER)]) else { return };
    client.batch_execute("INSERT INTO rag.price VALUES ('writer', 'm', 1000000, 2000000)").unwrap();
    not_at_midnight(&mut client);
    let mut ann = cluster.connect_as("ann");
    ask(&mut ann);
    ann.batch_execute("BEGIN").unwrap();
    ask(&mut ann);
    ann.batch_execute("ROLLBACK").unwrap();
    ann.batch_execute("BEGIN READ ONLY").unwrap();
    ask(&mut ann);
    ann.batch_execute("COMMIT").unwrap();
    let used = "SELECT role || ' ' || pipeline || ' ' || server || ' ' || model || ' ' || sum(calls) || ' '
        || sum(tokens_in) || ' ' || sum(tokens_out) || ' ' || round(sum(cost))
        FROM rag.stat_usage GROUP BY role, pipeline, server, model";
    let row: String = ann.query_one(used, &[]).unwrap().get(0);
    assert_eq!(row, "ann docs writer m 3 33 21 75");
    // Others see nothing of it, administrators do, and so does a new session.
    assert_eq!(count(&mut cluster.connect_as("bob"), "SELECT count(*) FROM rag.stat_usage"), 0);
    let row: String = cluster.connect().query_one(used, &[]).unwrap().get(0);
    assert_eq!(row, "ann docs writer m 3 33 21 75");
    assert_eq!(http.requests().len(), 3);
}

#[test]
fn cached_tokens_are_counted_and_have_a_price() {
    let reply = serde_json::json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 8}},
    });
    let Some((_cluster, _http, mut client)) = start([Reply::json(200, &reply.to_string())]) else {
        return;
    };
    not_at_midnight(&mut client);
    let price = "INSERT INTO rag.price (server, input, cached, output) VALUES ('writer', 1000000, 250000, 2000000)";
    client.batch_execute(&format!("{price}; SET rag.trace = 'summary'")).unwrap();
    let query =
        "SELECT concat_ws(' ', usage->>'prompt_tokens', usage->>'cached_tokens', usage->>'cost')
        FROM rag_answer_details($1, llm => 'writer')";
    assert_eq!(client.query_one(query, &[&QUESTION]).unwrap().get::<_, &str>(0), "11 8 19.0");
    let used = "SELECT concat_ws(' ', tokens_in, tokens_cached, tokens_out, cost::float8) FROM rag.stat_usage";
    assert_eq!(client.query_one(used, &[]).unwrap().get::<_, &str>(0), "11 8 7 19");
    let traced =
        "SELECT concat_ws(' ', llm_tokens, cached_tokens, cost::float8) FROM rag.trace_log";
    assert_eq!(client.query_one(traced, &[]).unwrap().get::<_, &str>(0), "18 8 19");
    // The step of the call has them, and no other; and so has who looks at the log of answers.
    let stepped =
        "SELECT string_agg(s ->> 'tokens' || ' ' || (s ->> 'cached_tokens'), ', ') || '; ' || min(l.cached_tokens)
        FROM rag.answer_log AS l JOIN rag.trace_log AS t ON t.id = l.trace_id, jsonb_array_elements(steps) AS s
        WHERE (s ->> 'cached_tokens')::int > 0";
    assert_eq!(client.query_one(stepped, &[]).unwrap().get::<_, &str>(0), "18 8; 8");
    // Without a price of their own they cost what others do.
    client.batch_execute("UPDATE rag.price SET cached = NULL").unwrap();
    assert_eq!(client.query_one(query, &[&QUESTION]).unwrap().get::<_, &str>(0), "11 8 25.0");
}

#[test]
fn calls_without_a_price_and_failed_calls_are_told() {
    let refusal = Reply::json(400, r#"{"error": {"message": "no such thing"}}"#);
    let Some((_cluster, _http, mut client)) = start([Reply::chat(ANSWER), refusal]) else { return };
    not_at_midnight(&mut client);
    let used = "SELECT concat_ws(' ', sum(calls), coalesce(sum(cost)::text, 'no price'), sum(unpriced_calls), sum(failed_calls))
        FROM rag.stat_usage";
    ask(&mut client);
    assert_eq!(client.query_one(used, &[]).unwrap().get::<_, &str>(0), "1 no price 1 0");
    assert_fails(
        &mut client,
        "SELECT rag_generate('Hello', 'writer')",
        &["38000", "no such thing"],
    );
    assert_eq!(client.query_one(used, &[]).unwrap().get::<_, &str>(0), "1 no price 1 1");
}

#[test]
fn a_budget_stops_a_call_before_it_is_made() {
    let Some((cluster, http, mut client)) = start([Reply::chat(ANSWER)]) else { return };
    client
        .batch_execute(
            "INSERT INTO rag.price VALUES ('writer', NULL, 1000000, 1000000);
             INSERT INTO rag.budget VALUES ('ann', 'month', NULL, 10000), ('bob', 'day', 600, NULL);",
        )
        .unwrap();
    not_at_midnight(&mut client);
    let mut ann = cluster.connect_as("ann");
    let mut bob = cluster.connect_as("bob");
    let call = "SELECT rag_generate('Hello', 'writer')";
    // A rollback gives nothing back.
    for _ in 0..3 {
        bob.batch_execute(&format!("BEGIN; {call}; ROLLBACK;")).unwrap();
    }
    client.batch_execute("UPDATE rag.budget SET max_tokens = 54 WHERE role = 'bob'").unwrap();
    let parts = ["RG001", "\"bob\" for this day", "It starts again on"];
    assert_fails(&mut bob, call, &parts);
    assert_fails(&mut cluster.connect_as("bob"), call, &parts);
    client.batch_execute("UPDATE rag.budget SET max_cost = 18.5 WHERE role = 'ann'").unwrap();
    ann.batch_execute(call).unwrap();
    assert_fails(&mut ann, call, &["RG001", "\"ann\" for this month"]);
    assert_eq!(http.requests().len(), 4, "what a budget does not allow is not sent");
    let used = "SELECT used_tokens::bigint FROM rag.stat_budget WHERE role = 'bob'";
    assert_eq!(count(&mut client, used), 54);
    // A language model that is asked behind an answer is counted as well.
    assert_fails(&mut ann, "SELECT rag_answer('x', llm => 'writer')", &["RG001"]);
}

#[test]
fn a_call_that_is_cancelled_counts_as_made() {
    let slow = Reply::chat(ANSWER).delay(Duration::from_secs(60));
    let Some((cluster, http, _client)) = start([slow]) else { return };
    let mut ann = cluster.connect_as("ann");
    ann.batch_execute("SET statement_timeout = '10s'").unwrap();
    assert_fails(&mut ann, "SELECT rag_generate(repeat('word', 100), 'writer')", &["57014"]);
    ann.batch_execute("RESET statement_timeout").unwrap();
    assert_eq!(count(&mut ann, "SELECT tokens_in FROM rag.stat_usage"), 100);
    assert_eq!(http.requests().len(), 1);
}

#[test]
fn the_same_messages_are_answered_once_for_each_role() {
    let Some((cluster, http, mut client)) = start([Reply::chat(ANSWER)]) else { return };
    let exact = r#"{"answer": {"cache": "exact"}}"#;
    let mut ann = cluster.connect_as("ann");
    let asked = |client: &mut Client, question: &str| {
        let answer = ask_with(client, question, exact);
        assert_eq!(answer, ANSWER);
        http.requests().len()
    };
    assert_eq!(asked(&mut ann, QUESTION), 1);
    assert_eq!(asked(&mut ann, QUESTION), 1);
    // Another session of the role, too; another role not.
    assert_eq!(asked(&mut cluster.connect_as("ann"), QUESTION), 1);
    assert_eq!(asked(&mut cluster.connect_as("bob"), QUESTION), 2);
    // Other documents are other messages, and so are other rows that may be seen of them.
    client.batch_execute("UPDATE docs SET body = body || ' Then wait.' WHERE id = 1").unwrap();
    assert_eq!(asked(&mut ann, QUESTION), 3);
    client
        .batch_execute(
            "ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
             CREATE POLICY tenants ON docs USING (id::text = current_setting('app.row', true));
             SET app.row = '1';",
        )
        .unwrap();
    ann.batch_execute("SET app.row = '1'").unwrap();
    assert_eq!(asked(&mut ann, QUESTION), 4);
    assert_eq!(asked(&mut ann, QUESTION), 4);
    ann.batch_execute("SET app.row = '3'").unwrap();
    assert_eq!(asked(&mut ann, QUESTION), 5);
    // By default everything is asked.
    ask(&mut ann);
    ask(&mut ann);
    assert_eq!(http.requests().len(), 7);
    let hits = "SELECT cache_hits FROM rag.daemon_status()";
    assert!(count(&mut client, hits) >= 3);
}

#[test]
fn a_question_that_means_the_same_gets_the_answer_if_it_finds_the_same_chunks() {
    let Some((cluster, http, mut client)) = start([Reply::chat(ANSWER)]) else { return };
    let semantic = r#"{"answer": {"cache": "semantic", "cache_similarity": 0.8}}"#;
    let mut ann = cluster.connect_as("ann");
    ask_with(&mut ann, QUESTION, semantic);
    assert_eq!(http.requests().len(), 1);
    let again = "SELECT answer, usage->>'cache', citations->0->>'source_key'
        FROM rag_answer_details('How can I reset my password?', llm => 'writer', options => $1::text::jsonb)";
    let row = ann.query_one(again, &[&semantic]).unwrap();
    let said: (String, Option<String>, Option<String>) = (row.get(0), row.get(1), row.get(2));
    assert_eq!(said, (ANSWER.to_owned(), Some("semantic".to_owned()), Some("1".to_owned())));
    assert_eq!(http.requests().len(), 1);
    // The contrary, another role and another document are something else.
    ask_with(&mut ann, "How do I not reset a password?", semantic);
    assert_eq!(http.requests().len(), 2);
    ask_with(&mut cluster.connect_as("bob"), "How can I reset my password?", semantic);
    assert_eq!(http.requests().len(), 3);
    client.batch_execute("UPDATE docs SET body = body || ' Then wait.' WHERE id = 1").unwrap();
    ask_with(&mut ann, "How can I reset my password now?", semantic);
    assert_eq!(http.requests().len(), 4);
}

#[test]
fn a_question_about_something_else_of_the_same_product_gets_an_answer_of_its_own() {
    let replies = [Reply::chat("Two years [1]."), Reply::chat("Ten hours [1].")];
    let Some((_cluster, http, mut client)) = start(replies) else { return };
    client
        .batch_execute(
            "CREATE TABLE products (id integer PRIMARY KEY, body text);
             INSERT INTO products VALUES (1, 'The X200 has a warranty of two years. Its battery lasts ten hours.');
             SELECT rag_create_pipeline('products', 'body', refresh => 'sync');
             SET rag.cache = 'semantic';",
        )
        .unwrap();
    let mut ask = |question: &str| -> (String, usize) {
        let ask = "SELECT rag_answer($1, 'products', llm => 'writer')";
        let answer = client.query_one(ask, &[&question]).unwrap().get(0);
        (answer, http.requests().len())
    };
    for (question, answer, calls) in [
        ("How long does the warranty of the X200 last?", "Two years [1].", 1),
        ("How long does the battery of the X200 last?", "Ten hours [1].", 2),
        ("Could you tell me how long the X200 warranty lasts?", "Two years [1].", 2),
        ("How long does the X200 battery last, please?", "Ten hours [1].", 2),
    ] {
        assert_eq!(ask(question), (answer.to_owned(), calls), "{question}");
    }
}

#[test]
fn with_other_defaults_of_the_pipeline_a_question_gets_another_answer() {
    let Some((_cluster, http, mut client)) = start([Reply::chat(ANSWER)]) else { return };
    let set = |client: &mut Client, temperature: &str| {
        let defaults = format!(
            r#"{{"llm": "writer", "answer": {{"cache": "semantic", "cache_similarity": 0.8, "temperature": {temperature}}}}}"#
        );
        let set = "SELECT rag_alter_pipeline('docs', defaults => $1::text::jsonb)";
        client.execute(set, &[&defaults]).unwrap();
    };
    let asked = |client: &mut Client, question: &str| {
        let answer = client.query_one("SELECT rag_answer($1, 'docs')", &[&question]).unwrap();
        assert_eq!(answer.get::<_, String>(0), ANSWER);
        http.requests().len()
    };
    set(&mut client, "0");
    assert_eq!(asked(&mut client, QUESTION), 1);
    assert_eq!(asked(&mut client, "How can I reset my password?"), 1);
    set(&mut client, "0.5");
    assert_eq!(asked(&mut client, "How can I reset my password?"), 2);
    assert_eq!(asked(&mut client, QUESTION), 2);
    let body: Value = serde_json::from_str(http.requests()[1].text()).unwrap();
    assert_eq!(body["temperature"], 0.5);
    assert!(body.get("top_p").is_none() && body.get("top_k").is_none());
}

#[test]
fn a_model_is_told_how_to_sample() {
    let Some((_cluster, http, mut client)) = start([Reply::chat(ANSWER)]) else { return };
    let mut asked = |statement: &str| -> Value {
        let before = http.requests().len();
        client.batch_execute(statement).unwrap_or_else(|error| panic!("{}", describe(&error)));
        let sent = http.requests();
        assert_eq!(sent.len(), before + 1, "{statement}");
        serde_json::from_str(sent[before].text()).unwrap()
    };
    let names = ["temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty"];
    let options =
        r#""preset": "creative", "top_k": 5, "frequency_penalty": 0.25, "presence_penalty": -0.5"#;
    let expected = [json!(0.9), json!(0.95), json!(5), json!(0.25), json!(-0.5)];
    for statement in [
        format!("SELECT rag_generate('Hello', 'writer', options => '{{{options}}}')"),
        format!(
            r#"SELECT rag_answer('{QUESTION}', 'docs', llm => 'writer', options => '{{"answer": {{{options}}}}}')"#
        ),
    ] {
        let body = asked(&statement);
        let sent: Vec<Value> = names.iter().map(|name| body[name].clone()).collect();
        assert_eq!(sent, expected, "{statement}");
    }
}

#[test]
fn what_is_asked_for_chooses_how_freely_words_are_chosen() {
    let Some((_cluster, http, mut client)) = start([Reply::chat(ANSWER)]) else { return };
    let mut check = |question: &str, preset: &str, temperature: f64| {
        let explain = r#"SELECT detail FROM rag_explain($1, 'docs', llm => 'writer',
            options => '{"answer": {"preset": "auto"}}') WHERE stage = 'options'"#;
        let detail: String = client.query_one(explain, &[&question]).unwrap().get(0);
        let chosen = format!("answer.preset = auto (call), preset {preset} by the question");
        assert!(detail.ends_with(&chosen), "{question}: {detail}");
        let generate = r#"SELECT rag_generate($1, 'writer', options => '{"preset": "auto"}')"#;
        client.query_one(generate, &[&question]).unwrap();
        let sent = http.requests();
        for request in &sent[sent.len() - 2..] {
            let body: Value = serde_json::from_str(request.text()).unwrap();
            assert_eq!(body["temperature"].as_f64(), Some(temperature), "{question}");
        }
    };
    check("When are invoices sent?", "factual", 0.0);
    check("How do I reset a password?", "balanced", 0.4);
    check("Write a poem about invoices.", "creative", 0.9);
}

#[test]
fn an_answer_is_not_given_again_where_the_metadata_has_changed() {
    let fare = r#"[[user]]
{{ sources }}

Question: {{ question }}"#;
    let replies = [Reply::chat("Three euros [1]."), Reply::chat("Four euros [1].")];
    let Some((_cluster, http, mut client)) = start(replies) else { return };
    client.execute("SELECT rag_template_set('fare', $1)", &[&fare]).unwrap();
    client
        .batch_execute(
            "CREATE TABLE fares (id integer PRIMARY KEY, body text, euros integer);
             INSERT INTO fares VALUES (1, 'The tram to the mill is cheap.', 3);
             SELECT rag_create_pipeline('fares', 'body', metadata => '{euros}', refresh => 'sync');",
        )
        .unwrap();
    let ask = |client: &mut Client, question: &str| -> String {
        let options =
            r#"{"answer": {"cache": "semantic", "cache_similarity": 0.5, "template": "fare"}}"#;
        let ask = "SELECT rag_answer($1, 'fares', llm => 'writer', options => $2::text::jsonb)";
        client.query_one(ask, &[&question, &options]).unwrap().get(0)
    };
    assert_eq!(ask(&mut client, "How much does the tram cost?"), "Three euros [1].");
    assert_eq!(ask(&mut client, "How much does a tram cost?"), "Three euros [1].");
    assert_eq!(http.requests().len(), 1);
    client.batch_execute("UPDATE fares SET euros = 4").unwrap();
    assert_eq!(ask(&mut client, "How much do trams cost?"), "Four euros [1].");
    assert!(http.requests()[1].text().contains("euros: 4"), "{}", http.requests()[1].text());
}

#[test]
fn a_question_in_a_conversation_is_written_anew() {
    let script = [
        Reply::chat(ANSWER),
        Reply::chat("How long is the password link valid?"),
        Reply::chat("Two hours [1]."),
    ];
    let Some((cluster, http, _client)) = start(script) else { return };
    let mut ann = cluster.connect_as("ann");
    let id: String = ann.query_one("SELECT rag_conversation()::text", &[]).unwrap().get(0);
    let options = format!(r#"{{"answer": {{"conversation": "{id}"}}}}"#);
    assert_eq!(ask_with(&mut ann, QUESTION, &options), ANSWER);
    assert_eq!(ask_with(&mut ann, "How long is it valid?", &options), "Two hours [1].");
    let requests = http.requests();
    assert_eq!(requests.len(), 3, "the first question is not written anew");
    let condense: Value = serde_json::from_str(requests[1].text()).unwrap();
    let user = condense["messages"][1]["content"].as_str().unwrap();
    assert!(user.contains(QUESTION) && user.contains(ANSWER), "{user}");
    assert!(user.ends_with("Question: How long is it valid?"), "{user}");
    let system = condense["messages"][0]["content"].as_str().unwrap();
    assert!(!system.contains(ANSWER), "what was answered is data: {system}");
    assert!(requests[2].text().contains("Question: How long is the password link valid?"));
    let turns = "SELECT count(*) FROM rag.conversation_turn WHERE standalone = 'How long is the password link valid?'";
    assert_eq!(count(&mut ann, turns), 1);
    // Where the answer could not be kept, nobody is asked for it.
    ann.batch_execute("BEGIN READ ONLY").unwrap();
    let ask = format!("SELECT rag_answer('And then?', llm => 'writer', options => '{options}')");
    assert_fails(&mut ann, &ask, &["25006", "rag_answer() in a conversation"]);
    ann.batch_execute("ROLLBACK").unwrap();
    assert_eq!(http.requests().len(), 3);
}

#[test]
fn a_question_with_a_history_is_written_anew_and_nothing_is_kept() {
    let script =
        [Reply::chat("How long is the password link valid?"), Reply::chat("Two hours [1].")];
    let Some((cluster, http, mut client)) = start(script) else { return };
    let mut ann = cluster.connect_as("ann");
    let said = json!([
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": ANSWER},
        // Nobody has answered it.
        {"role": "user", "content": "And by telephone?"},
    ]);
    let options = json!({"answer": {"history": said}}).to_string();
    ann.batch_execute("BEGIN READ ONLY").unwrap();
    assert_eq!(ask_with(&mut ann, "How long is it valid?", &options), "Two hours [1].");
    ann.batch_execute("COMMIT").unwrap();
    let requests = http.requests();
    assert_eq!(requests.len(), 2);
    let condense: Value = serde_json::from_str(requests[0].text()).unwrap();
    let user = condense["messages"][1]["content"].as_str().unwrap();
    assert!(user.contains(&format!("Question: {QUESTION}\nAnswer: {ANSWER}")), "{user}");
    assert!(user.ends_with("Question: How long is it valid?"), "{user}");
    assert!(!user.contains("telephone"), "{user}");
    assert!(requests[1].text().contains("Question: How long is the password link valid?"));
    assert!(!requests[1].text().contains("settings page [1]"), "a history is for the question");
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.conversation"), 0);
}

#[test]
fn a_trace_has_tokens_and_cost_of_each_step() {
    let Some((_cluster, _http, mut client)) = start([Reply::chat(ANSWER)]) else { return };
    client.batch_execute("INSERT INTO rag.price VALUES ('writer', 'm', 1000000, 1)").unwrap();
    client.batch_execute("SET rag.trace = 'summary'").unwrap();
    let steps = "SELECT tokens, cost::float8, detail FROM rag_explain($1, llm => 'writer') WHERE stage = 'generate'";
    let row = client.query_one(steps, &[&QUESTION]).unwrap();
    let (tokens, cost, detail): (i64, f64, String) = (row.get(0), row.get(1), row.get(2));
    assert_eq!((tokens, detail.as_str()), (18, "writer m"));
    assert!((cost - 11.000_007).abs() < 1e-6, "{cost}");
    let kept = "SELECT llm_calls * 1000 + llm_tokens FROM rag.trace_log";
    assert_eq!(count(&mut client, kept), 1018);
    let words = "SELECT count(*) FROM rag.trace_log WHERE (trace_log.*)::text ~* 'password'";
    assert_eq!(count(&mut client, words), 0);
}

#[test]
fn activity_says_what_a_session_waits_for() {
    let slow = Reply::chat(ANSWER).delay(Duration::from_secs(10));
    let Some((cluster, _http, mut client)) = start([slow]) else { return };
    let version = count(&mut client, "SELECT current_setting('server_version_num')::bigint");
    let expected = if version >= 170_000 { "RagProvider" } else { "Extension" };
    let mut ann = cluster.connect_as("ann");
    let waiting = thread::spawn(move || ask(&mut ann));
    let query = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE usename = 'ann' AND wait_event_type = 'Extension' AND wait_event = '{expected}'"
    );
    assert!(wait_for(|| count(&mut client, &query) == 1), "no session waits for {expected}");
    assert_eq!(waiting.join().unwrap(), ANSWER);
}
