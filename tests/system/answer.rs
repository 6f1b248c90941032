//! Answers in the form of a schema, and of other pipelines, over a real session, a real ragd and an HTTP server on
//! loopback that says what a script wants.

use std::time::Duration;

use postgres::Client;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::documents::assert_fails;
use super::http_server::{Reply, Request, Server};
use super::provider::server;

const UNKNOWN: &str = "I don't know: the sources do not say.";

/// Two pipelines that know of different things.
const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE flats (id integer PRIMARY KEY, body text);
    CREATE TABLE letters (id integer PRIMARY KEY, body text);
    INSERT INTO flats VALUES (1, 'The flat in Cologne has two rooms. It is let from May.');
    INSERT INTO letters VALUES (1, 'The owner of the flat moved to Bonn. He sells the flat in June.');
    SELECT rag_create_pipeline('flats', 'body', refresh => 'sync'),
           rag_create_pipeline('letters', 'body', refresh => 'sync');";

const SCHEMA: &str = r##"{"type": "object", "required": ["city", "rooms", "note"], "additionalProperties": false,
    "properties": {"city": {"$ref": "#/$defs/name"}, "rooms": {"type": "integer"}, "note": {"type": "string"}},
    "$defs": {"name": {"type": "string"}}}"##;

fn start(http: Server) -> Option<(Cluster, Server, Client)> {
    let cluster = Cluster::start(&[])?;
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute("SET rag.llm = 'writer'").unwrap();
    Some((cluster, http, client))
}

/// A row of `rag_answer_details`.
struct Details {
    answer: Option<String>,
    pipeline: String,
    row: Value,
}

fn ask(client: &mut Client, question: &str, pipeline: &str, options: &Value) -> Details {
    let query = "SELECT answer, pipeline, to_jsonb(d)::text
        FROM rag_answer_details($1, $2, options => $3::text::jsonb) AS d";
    let row = client.query_one(query, &[&question, &pipeline, &options.to_string()]).unwrap();
    let all = serde_json::from_str(row.get(2)).unwrap();
    Details { answer: row.get(0), pipeline: row.get(1), row: all }
}

/// The rows of `rag_answer_stream`: what is told, and the last one.
fn stream(
    client: &mut Client,
    question: &str,
    pipeline: &str,
    options: &Value,
) -> (Vec<String>, Value) {
    let query = "SELECT rag_answer_stream($1, $2, options => $3::text::jsonb)";
    let rows = client.query(query, &[&question, &pipeline, &options.to_string()]).unwrap();
    let mut told: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let last = told.pop().expect("a last row");
    (told, serde_json::from_str(&last).unwrap())
}

fn body(request: &Request) -> Value {
    serde_json::from_str(request.text()).unwrap()
}

/// The last message of a request.
fn user(request: &Request) -> String {
    body(request)["messages"].as_array().unwrap().last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn options(schema: &str) -> Value {
    json!({"answer": {"schema": serde_json::from_str::<Value>(schema).unwrap()}})
}

#[test]
fn an_answer_has_the_form_of_a_schema() {
    let answer = r#"{ "city": "Cologne", "rooms": 2, "note": "It is let from May [1]. See [7]." }"#;
    let reply = format!(r#"{{"answer": {answer}, "sources": [1]}}"#);
    let http = Server::play([Reply::chat(&reply)]);
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let question = "Which city, and how many rooms has the flat?";
    let told = ask(&mut client, question, "flats", &options(SCHEMA));
    let shown = r#"{ "city": "Cologne", "rooms": 2, "note": "It is let from May [1]. See." }"#;
    assert_eq!(told.answer.as_deref(), Some(shown));
    assert_eq!((&told.row["supported"], &*told.pipeline), (&json!(true), "flats"));
    let cited: Vec<&Value> =
        told.row["citations"].as_array().unwrap().iter().map(|it| &it["quote"]).collect();
    assert_eq!(cited[..2], ["The flat in Cologne has two rooms.", "It is let from May."]);
    assert_eq!(told.row["citations"][2]["unresolved"], true);
    assert_eq!(told.row["context"][0]["number"], 1);
    let claims: Vec<&Value> =
        told.row["claims"].as_array().unwrap().iter().map(|it| &it["claim"]).collect();
    assert_eq!(claims[..2], ["Cologne.", "It is let from May."]);
    assert_eq!(told.row["claims"][1]["verdict"], "supported");
    assert!(told.row["confidence"].as_f64().is_some(), "{}", told.row);

    let request = body(&http.requests()[0]);
    let sent = &request["response_format"]["json_schema"]["schema"];
    assert_eq!(sent["required"], json!(["answer", "sources"]), "{request}");
    assert_eq!(sent["$defs"], json!({"name": {"type": "string"}}));
    let inner = &sent["properties"]["answer"]["anyOf"][0];
    assert_eq!(inner["properties"]["city"]["$ref"], "#/$defs/name");
    let asked = user(&http.requests()[0]);
    assert!(asked.contains("The flat in Cologne has two rooms."), "{asked}");
    assert!(
        asked.contains(&format!("Question: {question}\n\nReply with a JSON object")),
        "{asked}"
    );

    let (rows, last) = stream(&mut client, question, "flats", &options(SCHEMA));
    assert_eq!((rows, &last["pipeline"]), (vec![shown.to_owned()], &json!("flats")));
    assert!(last.get("answer").is_none(), "{last}");
}

#[test]
fn a_refusal_is_null_and_a_misfit_is_repaired() {
    let script = [
        r#"{"answer": null, "sources": []}"#,
        r#"{"answer": null, "sources": []}"#,
        r#"{"answer": {"city": 5}, "sources": []}"#,
        r#"{"answer": {"city": "Cologne", "rooms": 2, "note": ""}, "sources": []}"#,
        "Cologne has two rooms.",
    ];
    let http = Server::play(script.map(Reply::chat));
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let question = "Which city, and how many rooms has the flat?";
    let told = ask(&mut client, question, "flats", &options(SCHEMA));
    assert_eq!((told.answer, &told.row["supported"]), (None, &json!(false)));
    let (rows, last) = stream(&mut client, question, "flats", &options(SCHEMA));
    assert_eq!((rows.len(), &last["answer"], &last["supported"]), (0, &Value::Null, &json!(false)));
    let told = ask(&mut client, question, "flats", &options(SCHEMA));
    assert!(told.answer.is_some_and(|json| json.contains("Cologne")));
    let requests = http.requests();
    assert_eq!(requests.len(), 4);
    assert!(user(&requests[3]).contains("does not fit the JSON schema"), "{}", user(&requests[3]));
    // What fits in no way is an error that says so.
    let ask = format!("SELECT rag_answer('{question}', 'flats', options => '{}')", options(SCHEMA));
    assert_fails(&mut client, &ask, &["38000", "did not answer in the form of the schema"]);
    let wrong = format!(
        "SELECT rag_answer('{question}', 'flats', options => '{}')",
        json!({"answer": {"schema": {"type": "thing"}}})
    );
    let before = http.requests().len();
    assert_fails(&mut client, &wrong, &["22023", "is not a JSON schema"]);
    assert_eq!(http.requests().len(), before);
}

#[test]
fn the_schema_is_for_the_last_call_and_for_the_key_of_the_cache() {
    let formed = r#"{"answer": ["Cologne"], "sources": [1]}"#;
    let http = Server::answer(move |request| match body(request).get("response_format") {
        Some(_) => Reply::chat(formed),
        None => Reply::chat("It is in Cologne [1].\nScore: 90"),
    });
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let question = "Which city is the flat in?";
    let list = json!({"type": "array", "items": {"type": "string"}});
    let several = json!({"answer": {"schema": list, "strategy": "map_rerank"}});
    let told = ask(&mut client, question, "flats", &several);
    assert_eq!(told.answer.as_deref(), Some(r#"["Cologne"]"#));
    let steps: Vec<&Value> =
        told.row["usage"]["steps"].as_array().unwrap().iter().map(|it| &it["step"]).collect();
    assert_eq!(steps, ["answer", "form"]);
    let requests = http.requests();
    let is_formed = |request: &Request| body(request).get("response_format").is_some();
    assert_eq!(requests.iter().map(is_formed).collect::<Vec<_>>(), [false, true]);
    assert!(user(&requests[1]).contains("It is in Cologne [1]."), "{}", user(&requests[1]));

    let cached = |schema: &Value| json!({"answer": {"schema": schema, "cache": "semantic"}});
    let mut count = |schema: &Value| {
        let told = ask(&mut client, question, "flats", &cached(schema));
        assert_eq!(told.answer.as_deref(), Some(r#"["Cologne"]"#));
        http.requests().len()
    };
    let before = count(&list);
    assert_eq!(count(&list), before);
    assert_eq!(count(&json!({"type": "array"})), before + 1);
}

#[test]
fn another_pipeline_is_asked_where_the_first_has_no_answer() {
    let http = Server::answer(|request| {
        let text = user(request);
        let reply = match (text.contains("moved to Bonn"), text.contains("Who sells")) {
            (true, false) => "The owner moved to Bonn [1].",
            (false, true) => "Somebody sells balloons to the moon [1].",
            _ => UNKNOWN,
        };
        match body(request)["stream"] == true {
            true => Reply::chat_stream([(Duration::ZERO, reply)]),
            false => Reply::chat(reply),
        }
    });
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let fallback = json!({"answer": {"fallback": "letters"}});
    let question = "Where did the owner of the flat move?";
    let told = ask(&mut client, question, "flats", &fallback);
    assert_eq!(told.answer.as_deref(), Some("The owner moved to Bonn [1]."));
    assert_eq!(
        (&*told.pipeline, &told.row["citations"][0]["pipeline"]),
        ("letters", &json!("letters"))
    );
    let others = &told.row["usage"]["others"];
    assert_eq!((&others[0]["pipeline"], &others[0]["supported"]), (&json!("flats"), &json!(false)));
    assert_eq!((&others[0]["usage"]["calls"], others.as_array().unwrap().len()), (&json!(1), 1));
    let shown: Vec<bool> =
        http.requests().iter().map(|it| user(it).contains("moved to Bonn")).collect();
    assert_eq!(shown, [false, true]);

    // The last one that can be asked is told as it is written.
    let (rows, last) = stream(&mut client, question, "flats", &fallback);
    assert_eq!(
        (rows.concat().as_str(), &last["pipeline"]),
        ("The owner moved to Bonn [1].", &json!("letters"))
    );
    assert_eq!(last["usage"]["others"][0]["pipeline"], "flats");
    let streamed: Vec<bool> = http.requests().iter().map(|it| body(it)["stream"] == true).collect();
    assert_eq!(streamed, [false, false, false, true]);

    // A doubtful answer is better than none, and is told all the same.
    let question = "Who sells balloons?";
    let told = ask(&mut client, question, "flats", &fallback);
    assert_eq!((&*told.pipeline, &told.row["needs_review"]), ("flats", &json!(true)));
    assert_eq!(told.row["usage"]["others"][0]["supported"], false);
    let (rows, last) = stream(&mut client, question, "flats", &fallback);
    assert_eq!(rows.concat(), "Somebody sells balloons to the moon [1].");
    assert_eq!((&last["pipeline"], &last["needs_review"]), (&json!("flats"), &json!(true)));
}

#[test]
fn a_question_is_embedded_once_for_its_pipelines() {
    let http = Server::play([Reply::chat(UNKNOWN)]);
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let explain =
        "SELECT coalesce(sum(rows) FILTER (WHERE stage = 'embed' AND tokens > 0), 0)::bigint,
            count(*) FILTER (WHERE stage = 'fallback'), count(*) FILTER (WHERE stage = 'dense')
        FROM rag_explain('Where did the owner move?', 'flats',
                         options => '{\"answer\": {\"fallback\": \"letters\"}}')";
    let row = client.query_one(explain, &[]).unwrap();
    let (embedded, asked, searched): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
    assert_eq!((asked, searched), (1, 2));
    assert!(embedded <= 1, "{embedded} texts were embedded");
    assert_eq!(http.requests().len(), 2);
}

#[test]
fn what_the_model_knows_itself_is_marked() {
    let reply = "The flat in Cologne has two rooms [1]. Cologne is on the Rhine. It is loud [0].";
    let http = Server::answer(move |request| match user(request).contains("<<<source ") {
        true => Reply::chat(reply),
        false => Reply::chat("Paris is in France [0]."),
    });
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let own = json!({"answer": {"own_knowledge": true}, "cite": {"own_mark": "(mine)"}});
    let question = "What is the flat in Cologne like?";
    let shown =
        "The flat in Cologne has two rooms [1]. Cologne is on the Rhine. (mine) It is loud (mine).";
    let told = ask(&mut client, question, "flats", &own);
    assert_eq!(told.answer.as_deref(), Some(shown));
    assert_eq!((&told.row["supported"], &told.row["needs_review"]), (&json!(true), &json!(false)));
    let verdicts: Vec<&Value> =
        told.row["claims"].as_array().unwrap().iter().map(|it| &it["verdict"]).collect();
    assert_eq!(verdicts, ["supported", "parametric", "parametric"]);
    assert_eq!(told.row["claims"][1]["claim"], "Cologne is on the Rhine.");
    assert!(told.row["faithfulness"].as_f64().unwrap() > 0.5, "{}", told.row);
    assert_eq!(told.row["usage"].get("problems"), None);
    assert!(http.requests()[0].text().contains("write [0] in the place of a citation"));
    let (rows, last) = stream(&mut client, question, "flats", &own);
    assert_eq!((rows.concat().as_str(), last.get("answer")), (shown, None));

    // It is off where nobody says so.
    let told = ask(&mut client, question, "flats", &json!({}));
    assert!(told.answer.unwrap().ends_with("Cologne is on the Rhine. It is loud."));
    assert!(!http.requests()[2].text().contains("[0]"));

    // The documents don't hold what no source says, and it is said all the same.
    let nothing =
        json!({"answer": {"own_knowledge": true}, "retrieve": {"threshold": 1, "mode": "dense"}});
    let told = ask(&mut client, "Where is Paris?", "flats", &nothing);
    assert_eq!(told.answer.as_deref(), Some("Paris is in France (own knowledge)."));
    assert_eq!((&told.row["supported"], &told.row["faithfulness"]), (&json!(false), &Value::Null));

    let ask = |options: Value| {
        format!("SELECT rag_answer('Where is Paris?', 'flats', options => '{options}')")
    };
    let defensive = json!({"answer": {"own_knowledge": true, "template": "defensive"}});
    assert_fails(
        &mut client,
        &ask(defensive),
        &["22023", "template \"defensive", "has no words for own knowledge"],
    );
    let extractive = json!({"llm": "extractive", "answer": {"own_knowledge": true}});
    assert_fails(&mut client, &ask(extractive), &["0A000", "own knowledge needs a language model"]);
}

#[test]
fn what_no_source_says_is_left_out_and_doubt_is_answered_by_quotes() {
    let (said, made_up) =
        ("The flat in Cologne has two rooms [1].", "A heated pool lies behind it [1].");
    let http = Server::answer(move |request| match user(request).contains("pool") {
        true => Reply::chat(made_up),
        false => Reply::chat(&format!("{said} {made_up} It is let from May [1].")),
    });
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let question = "How many rooms has the flat in Cologne?";
    let remove = json!({"verify": {"unsupported": "remove"}});
    let left = format!("{said} It is let from May [1].");
    let told = ask(&mut client, question, "flats", &remove);
    assert_eq!(told.answer.as_deref(), Some(left.as_str()));
    let claims = told.row["claims"].as_array().unwrap();
    let removed: Vec<Option<&Value>> = claims.iter().map(|it| it.get("removed")).collect();
    assert_eq!(removed, [None, Some(&json!(true)), None]);
    assert!(told.row["confidence"].as_f64().unwrap() > 0.5, "{}", told.row);
    assert_eq!(
        (&told.row["supported"], &told.row["needs_review"], told.row["usage"].get("problems")),
        (&json!(true), &json!(false), None)
    );
    // Nothing that was streamed can be taken back, so each sentence is checked before.
    let (rows, last) = stream(&mut client, question, "flats", &remove);
    assert_eq!((rows.concat().trim(), last.get("answer")), (left.as_str(), None));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(last["claims"][1]["removed"], true, "{last}");
    // It stays where nothing else is said.
    let told = ask(&mut client, question, "flats", &json!({}));
    assert!(told.answer.unwrap().contains("pool"));
    assert_eq!(told.row["needs_review"], true);

    // Where all of it is made up, the documents answer in their own words, or say nothing.
    let rooms = "How many rooms has the flat in Cologne, and has it a pool?";
    let refused = ask(&mut client, rooms, "flats", &remove);
    assert_eq!((&refused.row["supported"], &refused.row["citations"]), (&json!(false), &json!([])));
    let extractive = json!({"verify": {"low_confidence": "extractive"}});
    let told = ask(&mut client, rooms, "flats", &extractive);
    assert_eq!(told.answer.as_deref(), Some("The flat in Cologne has two rooms. [1]"));
    assert_eq!((&told.row["supported"], &told.row["needs_review"]), (&json!(true), &json!(false)));
    let kept_back = &told.row["usage"]["kept_back"];
    assert!(kept_back["confidence"].as_f64().unwrap() < 0.5, "{}", told.row);
    assert_eq!(kept_back["claims"][0]["verdict"], "unsupported");
    assert_eq!(told.row["usage"]["llm"], "writer");
    let both = json!({"verify": {"unsupported": "remove", "low_confidence": "extractive"}});
    for options in [&extractive, &both] {
        let (rows, last) = stream(&mut client, rooms, "flats", options);
        assert_eq!((Some(rows.concat()), last.get("answer")), (told.answer.clone(), None));
        assert_eq!(last["usage"]["kept_back"]["claims"][0]["verdict"], "unsupported", "{last}");
    }
    let told = ask(&mut client, "Who painted the pool?", "letters", &extractive);
    assert_eq!((&told.row["supported"], &told.row["citations"]), (&json!(false), &json!([])));
    assert!(!told.answer.unwrap().contains("heated"));
    assert!(http.requests().len() >= 8, "{} requests", http.requests().len());
}

#[test]
fn the_best_chunk_stands_at_the_end_once_more() {
    let http = Server::play([Reply::chat("It has two rooms [1].")]);
    let Some((_cluster, http, mut client)) = start(http) else { return };
    let more = "INSERT INTO flats SELECT n, 'The flat number ' || n || ' has a garden.' FROM generate_series(2, 6) AS n";
    client.batch_execute(more).unwrap();
    let question = "How many rooms has the flat in Cologne?";
    let shown = |request: &Request| -> Vec<String> {
        let text = user(request);
        text.split("<<<source ").skip(1).map(|part| part[..1].to_owned()).collect()
    };
    ask(&mut client, question, "flats", &json!({"k": 4}));
    assert_eq!(shown(&http.requests()[0]), ["1", "2", "3", "4"]);
    let told =
        ask(&mut client, question, "flats", &json!({"k": 4, "context": {"repeat_best": true}}));
    assert_eq!(shown(&http.requests()[1]), ["1", "2", "3", "4", "1"]);
    let last = user(&http.requests()[1]);
    assert_eq!(last.matches("The flat in Cologne has two rooms.").count(), 2);
    assert_eq!(told.row["context"].as_array().unwrap().len(), 4);
    assert_eq!(told.row["citations"][0]["quote"], "The flat in Cologne has two rooms.");
}
