//! Answers in words over rows, and over rows and documents together.

use super::*;

/// An answer of rag_answer_details.
struct Prose {
    answer: String,
    supported: Option<bool>,
    citations: Value,
    context: Value,
    usage: Value,
    claims: Value,
}

fn prose(client: &mut Client, question: &str, options: &str) -> Prose {
    prose_from(client, "'manual', strategy => 'sql'", question, options)
}

/// What rag_answer_details says with these `arguments` after the question.
fn prose_from(client: &mut Client, arguments: &str, question: &str, options: &str) -> Prose {
    let query = format!(
        "SELECT answer, supported, citations::text, context::text, usage::text, claims::text
        FROM rag_answer_details($1, {arguments}, options => $2::text::jsonb)"
    );
    let row = client.query_one(&query, &[&question, &options]);
    let row = row.unwrap_or_else(|error| panic!("{question}: {}", describe(&error)));
    let json = |place: usize| serde_json::from_str::<Value>(row.get(place)).unwrap();
    let (citations, context, usage, claims) = (json(2), json(3), json(4), json(5));
    Prose { answer: row.get(0), supported: row.get(1), citations, context, usage, claims }
}

/// A pipeline that the agent may ask.
const MANUAL: &str = "
    CREATE TABLE manual (id integer PRIMARY KEY, body text);
    INSERT INTO manual VALUES (1, 'Orders are shipped within a day.');
    SELECT rag_create_pipeline('manual', 'body', refresh => 'sync');
    GRANT SELECT ON manual, manual_rag, manual_rag_chunks TO agent";

#[test]
fn an_answer_in_words_cites_rows_by_their_keys() {
    let script = [
        query("SELECT o.id, o.total, o.city FROM orders AS o ORDER BY o.total DESC LIMIT 2"),
        Reply::chat(
            "Id 2 in the city Bruges has a total of 120.00 [1]. Id 1 in the city Ghent has a total of 77.77 [2].",
        ),
    ];
    let Some((cluster, http, mut client)) = start(script) else { return };
    cluster.connect().batch_execute(MANUAL).unwrap();
    let prose = prose(&mut client, "Which orders cost most?", "{}");
    assert!(prose.answer.contains("a total of 120.00 [1]"), "{}", prose.answer);
    assert_eq!(prose.supported, Some(true));
    let row = |value: &Value| (value["relation"].clone(), value["key"].clone());
    assert_eq!(row(&prose.citations[0]), (json!("orders"), json!("2")));
    assert_eq!(prose.context[0]["content"], "id: 2\ntotal: 120.00\ncity: Bruges");
    assert_eq!(row(&prose.context[1]), (json!("orders"), json!("1")));
    assert!(prose.usage["sql"].as_str().unwrap().starts_with("SELECT o.id"), "{}", prose.usage);
    assert_eq!((&prose.usage["calls"], &prose.usage["strategy"]), (&json!(2), &json!("sql")));
    // A number that no row has is found out.
    let verdicts: Vec<&Value> =
        prose.claims.as_array().unwrap().iter().map(|claim| &claim["verdict"]).collect();
    assert_eq!(verdicts[0], "supported", "{}", prose.claims);
    assert_ne!(verdicts[1], "supported", "{}", prose.claims);
    let asked = messages(&http.requests()[1]);
    assert!(asked[1].1.contains("Heading: orders\nid: 2\ntotal: 120.00"), "{}", asked[1].1);
    assert!(!asked[1].1.contains("shipped within a day"), "{}", asked[1].1);
}

#[test]
fn computed_rows_have_no_key_and_some_questions_no_query() {
    let script = [
        query("SELECT o.city, count(*) AS orders FROM orders AS o GROUP BY o.city ORDER BY 1"),
        Reply::chat("Ghent has 2 orders [2]."),
        Reply::chat(
            &json!({"reason": "There is no weather.", "answerable": false, "sql": ""}).to_string(),
        ),
    ];
    let Some((cluster, http, mut client)) = start(script) else { return };
    cluster.connect().batch_execute(MANUAL).unwrap();
    let counted = prose(&mut client, "How many orders has each city?", "{}");
    assert_eq!(counted.context[0]["relation"], "orders");
    assert_eq!(counted.context[0]["key"], Value::Null);
    let refused = prose(&mut client, "Will it rain?", "{}");
    assert_eq!(
        (refused.supported, &refused.usage["reason"]),
        (Some(false), &json!("There is no weather."))
    );
    assert_eq!(http.requests().len(), 3, "nothing is written about no rows");
}

/// Reviews of the shop's customers.
const REVIEWS: &str = "
    CREATE TABLE reviews (id integer PRIMARY KEY, customer integer REFERENCES customers, body text);
    INSERT INTO reviews VALUES (10, 1, 'The delivery of my parcel was two weeks late.'), (11, 2, 'A comfortable chair.');
    SELECT rag_create_pipeline('reviews', 'body', refresh => 'sync');
    GRANT SELECT ON reviews, reviews_rag, reviews_rag_chunks TO agent";

const BOTH: &str = "Which customers complained about delivery, and what did they spend?";

fn chosen(client: &mut Client, question: &str, options: &str) -> Prose {
    prose_from(client, "'reviews'", question, options)
}

fn guard(tables: &str) -> String {
    format!(r#"{{"k": 1, "answer": {{"sql": {{"guard": {{"tables": [{tables}]}}}}}}}}"#)
}

#[test]
fn documents_that_were_found_narrow_a_query() {
    let join = "WITH spent AS (SELECT customer, sum(total) AS spent FROM orders GROUP BY customer)
        SELECT f.id, c.name, s.spent FROM found_reviews AS f JOIN reviews AS r ON r.id = f.id
        JOIN customers AS c ON c.id = r.customer JOIN spent AS s ON s.customer = c.id ORDER BY f.place";
    let answer = "Ada spent 65.40 [1]. The delivery of the parcel was two weeks late [2].";
    let Some((cluster, http, mut client)) = start([query(join), Reply::chat(answer)]) else {
        return;
    };
    cluster.connect().batch_execute(REVIEWS).unwrap();
    let both = chosen(&mut client, BOTH, &guard(r#""orders", "customers", "reviews""#));
    assert_eq!(both.answer, answer);
    assert_eq!(both.usage["strategy"], "combined");
    assert_eq!(both.usage["calls"], 2, "{}", both.usage);
    assert_eq!(both.usage["sql"].as_str(), Some(join));
    assert_eq!(both.context[0]["content"], "id: 10\nname: Ada\nspent: 65.40");
    assert_eq!(both.context[1]["source_key"], "10");
    assert_eq!(both.citations.as_array().unwrap().len(), 2, "{}", both.citations);
    assert_eq!(both.citations[1]["source_key"], "10");
    let asked = messages(&http.requests()[0]);
    for part in [
        "create table found_reviews ( --",
        "  id integer primary key references reviews (id),\n  place integer, -- 1 is the best\n  content text -- what it says\n",
    ] {
        assert!(asked[1].1.contains(part), "{part:?} is not in {}", asked[1].1);
    }
    assert!(!asked[1].1.contains("two weeks late"), "a query is written without the rows");
}

#[test]
fn a_query_beside_documents_reads_a_table_or_them() {
    let cases = [
        ("SELECT 'Ada' AS name, 500 AS spent", false),
        ("WITH found AS (SELECT 'found_reviews' AS name) SELECT name FROM found", false),
        // A subquery may call its own words like the documents.
        (
            "SELECT s.id FROM (WITH found_reviews AS (SELECT 7 AS id) TABLE found_reviews) AS s",
            false,
        ),
        ("SELECT f.id FROM found_reviews AS f", true),
        ("WITH RECURSIVE a AS (TABLE b), b AS (SELECT id FROM found_reviews) TABLE a", true),
        ("SELECT (SELECT count(*) FROM found_reviews) AS found UNION SELECT 7", true),
        ("SELECT count(*) FROM orders", true),
    ];
    let answer = || Reply::chat("The delivery of the parcel was two weeks late [1].");
    let script = cases.iter().flat_map(|(sql, _)| [query(sql), answer()]);
    let Some((cluster, _http, mut client)) = start(script) else { return };
    cluster.connect().batch_execute(REVIEWS).unwrap();
    for (sql, has_rows) in cases {
        let both = chosen(&mut client, BOTH, &guard(r#""orders", "customers", "reviews""#));
        // Beside rows that are no source there is the one document.
        let sources = both.context.as_array().unwrap().len();
        assert_eq!(sources > 1, has_rows, "{sql}: {}", both.context);
        let said = both.usage["reason"].as_str();
        let is_refused = said == Some("The query that was written reads no table.");
        assert_eq!(is_refused, !has_rows, "{sql}: {}", both.usage);
    }
}

#[test]
fn a_strategy_is_chosen_without_a_call() {
    let count = "SELECT count(*) FROM orders";
    let unanswerable = json!({"reason": "No.", "answerable": false, "sql": ""}).to_string();
    let script = [
        query(count),
        Reply::chat("There are 3 [1]."),
        Reply::chat("It was late [1]."),
        Reply::chat("It was late [1]."),
        Reply::chat("It was late [1]."),
        Reply::chat(&unanswerable),
        Reply::chat("It was late [1]."),
    ];
    let Some((cluster, http, mut client)) = start(script) else { return };
    cluster.connect().batch_execute(REVIEWS).unwrap();
    let allowed = guard(r#""orders", "customers""#);
    for (question, options, strategy, calls, requests) in [
        ("How many orders are there?", allowed.as_str(), "sql", 2, 2),
        // What compact would do takes one call, with tables or without.
        ("How was the delivery?", allowed.as_str(), "compact", 1, 3),
        ("How many wheels has a mill?", allowed.as_str(), "compact", 1, 4),
        ("How many orders are there?", r#"{"k": 1}"#, "compact", 1, 5),
        // Documents answer what no query can.
        ("How many orders were late?", allowed.as_str(), "compact", 2, 7),
    ] {
        let prose = chosen(&mut client, question, options);
        assert_eq!(prose.usage["strategy"], strategy, "{question}");
        assert_eq!(prose.usage["calls"], calls, "{question}");
        assert_eq!(http.requests().len(), requests, "{question}");
    }
}

#[test]
fn a_choice_is_explained_and_wants_the_right_to_query() {
    let count = "SELECT count(*) FROM orders";
    let Some((cluster, http, mut client)) = start([query(count), Reply::chat("3 [1].")]) else {
        return;
    };
    let mut owner = cluster.connect();
    owner.batch_execute(REVIEWS).unwrap();
    let allowed = guard(r#""orders", "customers""#);
    let explain = "SELECT detail FROM rag_explain('How many orders are there?', 'reviews', options => $1::text::jsonb)
        WHERE stage = 'choose'";
    let row = client.query_one(explain, &[&allowed]).unwrap();
    assert_eq!(row.get::<_, String>(0), "sql: a figure of tables is asked for");
    owner.batch_execute("REVOKE EXECUTE ON FUNCTION rag_sql FROM agent").unwrap();
    let call = format!(
        "SELECT rag_answer('How many orders are there?', 'reviews', options => '{allowed}')"
    );
    assert_fails(&mut client, &call, &["42501", "rag_sql", "name no tables"]);
    assert_eq!(http.requests().len(), 2, "nobody is asked in vain");
    // What needs no query is answered as before.
    let call = format!("SELECT rag_answer('Was it late?', 'reviews', options => '{allowed}')");
    client.query_one(&call, &[]).unwrap();
}

#[test]
fn what_stands_in_a_document_is_no_part_of_a_query() {
    let hostile = [
        // A relation that the model calls like the documents, and one that nobody may read.
        query("WITH found_reviews AS (SELECT 1 AS id) SELECT * FROM found_reviews"),
        query("SELECT f.id, f.content FROM found_reviews AS f ORDER BY f.place"),
        Reply::chat("It says so [1]."),
    ];
    let Some((cluster, _http, mut client)) = start(hostile) else { return };
    let mut owner = cluster.connect();
    owner.batch_execute(REVIEWS).unwrap();
    let body = r#"'); DROP TABLE orders; -- $$ \\ "delivery" {0}"#;
    owner.execute("UPDATE reviews SET body = $1 WHERE id = 10", &[&body]).unwrap();
    let both = chosen(
        &mut client,
        BOTH,
        &guard(r#""orders", "customers", "reviews""#).replace("\"k\": 1", "\"k\": 5"),
    );
    assert_eq!(both.usage["strategy"], "combined");
    let rows = both.context.as_array().unwrap();
    let said = rows
        .iter()
        .any(|row| row["content"].as_str().unwrap().contains(&format!("content: {body}")));
    assert!(said, "{}", both.context);
    assert_eq!(count(&mut owner, "SELECT count(*) FROM orders"), 3);
    assert_eq!(both.usage["steps"][0], json!({"step": "query", "calls": 2}));
}

#[test]
fn the_strategy_is_bounded_by_rights_options_and_budget() {
    let script = [
        query("SELECT count(*) FROM customers"),
        query("SELECT count(*) FROM orders"),
        Reply::chat("Three [1]."),
    ];
    let Some((cluster, http, mut client)) = start(script) else { return };
    let mut owner = cluster.connect();
    owner.batch_execute(MANUAL).unwrap();
    let guarded = prose(
        &mut client,
        "How many?",
        r#"{"answer": {"sql": {"guard": {"tables": ["orders"]}}}}"#,
    );
    assert!(guarded.answer.starts_with("Three"), "{}", guarded.answer);
    assert_eq!(
        guarded.usage["steps"],
        json!([{"step": "query", "calls": 2}, {"step": "answer", "calls": 1}])
    );
    let budget = prose(&mut client, "How many?", r#"{"answer": {"budget": {"calls": 1}}}"#);
    assert_eq!((budget.supported, &budget.usage["stopped_by"]), (Some(false), &json!("calls")));
    assert_eq!(http.requests().len(), 3);
    let call = |options: &str, llm: &str| {
        format!(
            "SELECT rag_answer('How many?', 'manual', strategy => 'sql', llm => '{llm}', options => '{options}')"
        )
    };
    assert_fails(
        &mut client,
        &call(r#"{"answer": {"sql": {"attempt": 1}}}"#, "writer"),
        &["22023", "attempt"],
    );
    assert_fails(
        &mut client,
        &call(r#"{"answer": {"sql": {"budget": {"calls": 1}}}}"#, "writer"),
        &["22023", "answer.sql.budget"],
    );
    assert_fails(
        &mut client,
        &call("{}", "extractive"),
        &["0A000", "needs a language model", "rag_llm"],
    );
    owner.batch_execute("REVOKE EXECUTE ON FUNCTION rag_sql FROM agent").unwrap();
    assert_fails(&mut client, &call("{}", "writer"), &["42501", "rag_sql"]);
    let prompt = "SELECT * FROM rag_prompt('How many?', 'manual', strategy => 'sql')";
    assert_fails(&mut client, prompt, &["42501", "rag_sql"]);
    assert_eq!(http.requests().len(), 3);
}
