//! What clients of HTTP get.

use serde_json::{Value, json};

use crate::support::{READER, STRANGER, Server, number, request, text};

const QUESTION: &str = "When are invoices sent?";

fn chat(question: &str) -> Value {
    json!({"model": "docs", "messages": [{"role": "user", "content": question}], "temperature": 0.2})
}

#[test]
fn without_a_known_token_there_is_nothing() {
    let Some(server) = Server::start(&[]) else { return };
    for token in [None, Some("wrong-token-0123456789"), Some("")] {
        let response = request(&server.address, token, "/v1/models", None);
        assert_eq!(response.status, 401, "{response:?}");
        assert!(response.head.contains("www-authenticate: bearer"));
        assert_eq!(response.json()["error"]["code"], "invalid_api_key");
    }
    for path in ["/", "/page.js", "/turn.js", "/page.css", "/healthz"] {
        assert_eq!(request(&server.address, None, path, None).status, 200, "{path}");
    }
    assert_eq!(request(&server.address, None, "/metrics", None).status, 401);
    assert_eq!(server.get("/nothing").json()["error"]["code"], "not_found");
    assert_eq!(server.get("/ask").status, 405);
}

#[test]
fn a_token_is_a_role_and_no_stronger_one() {
    let Some(server) = Server::start(&[]) else { return };
    let models = server.get("/v1/models").json();
    let names: Vec<_> =
        models["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(names, ["docs", "pages", "places", "slow"]);
    assert_eq!(models["data"][0]["description"], "what customers ask");
    assert_eq!(models["data"][0]["filters"], json!(["lang"]));
    // What a session began as is what RESET ROLE would lead back to.
    let sessions = "SELECT string_agg(DISTINCT usename, ' ') FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'rag-server'";
    assert!(!text(sessions).contains("postgres"));

    let strange = request(&server.address, Some(STRANGER), "/v1/models", None).json();
    assert_eq!(strange["data"], json!([]));
    let refused = server.post_as(STRANGER, "/v1/chat/completions", &chat(QUESTION));
    assert!(matches!(refused.status, 403 | 404), "{refused:?}");
    assert!(refused.json()["error"]["sqlstate"].is_string());
}

#[test]
fn a_model_is_retrieved_by_its_name() {
    let Some(server) = Server::start(&[]) else { return };
    let listed = server.get("/v1/models").json();
    for model in listed["data"].as_array().unwrap() {
        let name = model["id"].as_str().unwrap();
        assert_eq!(server.get(&format!("/v1/models/{name}")).json(), *model);
    }
    assert_eq!(server.get("/v1/models/d%6Fcs").json()["id"], "docs");
    for missing in ["nothing", "docs%2Fpages", "Docs"] {
        let response = server.get(&format!("/v1/models/{missing}"));
        assert_eq!(response.status, 404, "{response:?}");
        assert_eq!(response.json()["error"]["code"], "model_not_found");
    }
    let broken = server.get("/v1/models/%FF");
    assert_eq!((broken.status, &broken.json()["error"]["param"]), (400, &json!("model")));
    // What a role does not see is not there.
    assert_eq!(request(&server.address, Some(STRANGER), "/v1/models/docs", None).status, 404);
    assert_eq!(request(&server.address, None, "/v1/models/docs", None).status, 401);
}

#[test]
fn row_level_security_decides_what_is_found() {
    let Some(server) = Server::start(&[]) else { return };
    let question = json!({"question": "With which number does the safe open?", "pipeline": "docs"});
    let response = server.post("/ask", &question);
    assert_eq!(response.status, 200);
    assert!(!response.body.contains("4711"), "{}", response.body);
    let hidden = server.post("/source", &json!({"pipeline": "docs", "source_key": "3"}));
    assert_eq!(hidden.status, 404);
    let shown = server.post("/source", &json!({"pipeline": "docs", "source_key": "2"})).json();
    assert!(shown["parts"][0]["text"].as_str().unwrap().starts_with("Invoices are sent"));
    assert_eq!(shown["truncated"], false);
    let behind = json!({"pipeline": "docs", "source_key": "2", "start_char": 5000});
    assert_eq!(server.post("/source", &behind).json()["parts"], json!([]));
}

#[test]
fn a_document_is_found_by_a_key_of_any_type() {
    let Some(server) = Server::start(&[]) else { return };
    let open = |pipeline: &str, key: &str| {
        server.post("/source", &json!({"pipeline": pipeline, "source_key": key}))
    };
    let check = |pipeline: &str, key: &str, expected: &str| {
        let opened = open(pipeline, key);
        assert_eq!(opened.status, 200, "{opened:?}");
        assert_eq!(opened.json()["parts"][0]["text"], expected);
    };
    check("pages", "abc", "Parcels are weighed.");
    check("places", r#"{"region": "north", "code": "abc"}"#, "Snow falls in May.");
    check("places", r#"{"region": "south", "code": "abc"}"#, "Figs grow here.");
    // A cast to varchar(3) would cut it off, and find the row of another key.
    assert_eq!(open("pages", "abcd").status, 404);
    assert_eq!(open("places", r#"{"region": "north", "code": "abcd"}"#).status, 404);
    assert_eq!(open("places", r#"{"region": "north"}"#).status, 404);
    assert_eq!(open("places", "north").status, 400);
}

#[test]
fn a_chat_is_answered_at_once_and_in_pieces_alike() {
    let Some(server) = Server::start(&[]) else { return };
    let whole = server.post("/v1/chat/completions", &chat(QUESTION)).json();
    let answer = whole["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(answer.starts_with("Invoices are sent on the first day"), "{whole}");
    assert_eq!(whole["citations"][0]["source_key"], "2");
    assert_eq!(whole["rag"]["supported"], true);

    let mut unsaid = chat(QUESTION);
    let members =
        ["stream", "stream_options", "n", "tools", "tool_choice", "stop", "options", "filter"];
    for member in members {
        unsaid[member] = Value::Null;
    }
    let unsaid = server.post("/v1/chat/completions", &unsaid).json();
    assert_eq!(unsaid["choices"], whole["choices"]);

    let mut told = chat(QUESTION);
    told["stream"] = json!(true);
    let response = server.post("/v1/chat/completions", &told);
    assert!(response.head.contains("content-type: text/event-stream"), "{response:?}");
    let events = response.events();
    assert_eq!(events.last().unwrap().1, "[DONE]");
    let chunks: Vec<Value> = events[..events.len() - 1]
        .iter()
        .map(|(_, data)| serde_json::from_str(data).unwrap())
        .collect();
    let pieces: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(pieces, answer);
    assert_eq!(chunks.last().unwrap()["citations"][0]["source_key"], "2");
}

/// What was looked up for an answer that has a trace.
fn looked_up(completion: &Value) -> String {
    let trace = completion["rag"]["trace_id"].as_str().expect("a trace");
    text(&format!("SELECT question FROM rag.trace_log WHERE id = '{trace}'"))
}

#[test]
fn a_chat_is_understood_by_its_history_and_nothing_is_kept() {
    let Some(server) = Server::start(&["--setting", "rag.trace=full"]) else { return };
    let begun = server.post("/v1/chat/completions", &chat(QUESTION)).json();
    let mut next = chat("And how are they paid?");
    let turns =
        [json!({"role": "user", "content": QUESTION}), begun["choices"][0]["message"].clone()];
    next["messages"].as_array_mut().unwrap().splice(0..0, turns);
    let whole = server.post("/v1/chat/completions", &next).json();
    assert_eq!(looked_up(&whole), "invoices sent And how are they paid?");
    next["stream"] = json!(true);
    let events = server.post("/v1/chat/completions", &next).events();
    let last: Value = serde_json::from_str(&events[events.len() - 2].1).unwrap();
    assert_eq!(looked_up(&last), "invoices sent And how are they paid?");
    for completion in [&begun, &whole, &last] {
        assert_eq!(completion["rag"]["conversation"], Value::Null);
    }
    let kept = format!("SELECT count(*) FROM rag.conversation WHERE title = '{QUESTION}'");
    assert_eq!(number(&kept), 0);
}

#[test]
fn a_chat_that_is_to_be_stored_is_a_conversation() {
    let Some(server) = Server::start(&[]) else { return };
    let first = "How do I reset a password?";
    let mut begin = chat(first);
    begin["store"] = json!(true);
    let begun = server.post("/v1/chat/completions", &begin).json();
    let conversation = begun["rag"]["conversation"].as_str().expect("a conversation begins");
    let mut next = chat("And how are they paid?");
    next["store"] = json!(true);
    let turns = [json!({"role": "user", "content": first}), begun["choices"][0]["message"].clone()];
    next["messages"].as_array_mut().unwrap().splice(0..0, turns);
    let went_on = server.post("/v1/chat/completions", &next).json();
    assert_eq!(went_on["rag"]["conversation"], conversation);
    let turns =
        format!("SELECT count(*) FROM rag.conversation_turn WHERE conversation = '{conversation}'");
    assert_eq!(number(&turns), 2);
    // Another history is another conversation.
    next["messages"][1]["content"] = json!("Something else.");
    let other = server.post("/v1/chat/completions", &next).json();
    let other_conversation = other["rag"]["conversation"].as_str().unwrap();
    assert_ne!(other_conversation, conversation);
    // What follows belongs to it, though not all that was said before does.
    let answer = other["choices"][0]["message"].clone();
    let more = [answer, json!({"role": "user", "content": "When are invoices sent?"})];
    next["messages"].as_array_mut().unwrap().extend(more);
    let followed = server.post("/v1/chat/completions", &next).json();
    assert_eq!(followed["rag"]["conversation"], other_conversation);
}

#[test]
fn nothing_is_stored_where_none_may_or_can_be_kept() {
    for options in [&["--no-conversations"][..], &["--setting", "default_transaction_read_only=on"]]
    {
        let Some(server) = Server::start(options) else { return };
        let mut asked = chat("And how are they paid?");
        asked["store"] = json!(true);
        let turns = [
            json!({"role": "user", "content": QUESTION}),
            json!({"role": "assistant", "content": "On the first day of each month."}),
        ];
        asked["messages"].as_array_mut().unwrap().splice(0..0, turns);
        let answered = server.post("/v1/chat/completions", &asked);
        let completion = answered.json();
        let rag = &completion["rag"];
        assert_eq!(rag["supported"], true, "{options:?}: {answered:?}");
        assert_eq!(rag["conversation"], Value::Null, "{options:?}");
    }
}

#[test]
fn no_conversation_is_gone_on_with_where_none_may_be_kept() {
    let Some(server) = Server::start(&["--no-conversations"]) else { return };
    let conversation = "00000000-0000-4000-8000-000000000000";
    let ask = json!({"question": QUESTION, "pipeline": "docs", "conversation": conversation});
    let in_options = json!({"question": QUESTION, "pipeline": "docs",
        "options": {"answer": {"conversation": conversation}}});
    let mut chat = chat(QUESTION);
    chat["conversation"] = json!(conversation);
    for (path, body) in
        [("/ask", &ask), ("/ask", &in_options), ("/explain", &ask), ("/v1/chat/completions", &chat)]
    {
        let refused = server.post(path, body);
        assert_eq!(refused.status, 400, "{refused:?}");
        let error = &refused.json()["error"];
        assert_eq!(error["param"], "conversation");
        assert!(error["message"].as_str().unwrap().contains("keeps no conversations"), "{error}");
    }
    drop(server);
    // Elsewhere it is the database that refuses it, since it does not know it.
    let Some(other) = Server::start(&[]) else { return };
    let unknown = other.post("/ask", &ask);
    assert!((400..500).contains(&unknown.status), "{unknown:?}");
    assert!(!unknown.body.contains("keeps no conversations"), "{unknown:?}");
}

#[test]
fn an_answer_is_told_as_events() {
    let Some(server) = Server::start(&["--setting", "rag.trace=full"]) else { return };
    let events = server.post("/ask", &json!({"question": QUESTION, "pipeline": "docs"})).events();
    let pieces = events.iter().filter(|(name, _)| name == "piece");
    let told: String = pieces
        .map(|(_, data)| {
            serde_json::from_str::<Value>(data).unwrap()["text"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(told.starts_with("Invoices are sent"), "{events:?}");
    let (name, details) = events.last().unwrap();
    let details: Value = serde_json::from_str(details).unwrap();
    assert_eq!((name.as_str(), &details["supported"]), ("details", &json!(true)));

    let rated = server.post("/feedback", &json!({"trace_id": details["trace_id"], "score": 1}));
    assert_eq!(rated.status, 200, "{rated:?}");
    let strange = server.post_as(
        STRANGER,
        "/feedback",
        &json!({"trace_id": details["trace_id"], "score": 0}),
    );
    assert!(strange.status >= 400);
    let steps = server.post("/explain", &json!({"question": QUESTION, "pipeline": "docs"})).json();
    assert_eq!(steps["steps"][0]["stage"], "answer");
}

#[test]
fn an_answer_that_looks_like_a_step_is_told_as_an_answer() {
    let Some(server) = Server::start(&[]) else { return };
    let refusal = r#"{"step": {"do": "nothing"}}"#;
    let question = json!({
        "question": "Who won the football world cup in 1998?", "pipeline": "docs",
        "options": {"answer": {"refusal": refusal}},
    });
    let events = server.post("/ask", &question).events();
    let (last, pieces) = events.split_last().unwrap();
    assert_eq!(last.0, "details");
    let text = |(name, data): &(String, String)| {
        assert_eq!(name, "piece", "{events:?}");
        serde_json::from_str::<Value>(data).unwrap()["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(pieces.iter().map(text).collect::<String>(), refusal);
}

#[test]
fn texts_become_vectors() {
    let Some(server) = Server::start(&[]) else { return };
    let floats = server.post("/v1/embeddings", &json!({"input": ["one", "two"]})).json();
    let vector = floats["data"][1]["embedding"].as_array().unwrap();
    assert_eq!(vector.len(), 384);
    let packed = json!({"input": "two", "encoding_format": "base64", "model": floats["model"]});
    let packed = server.post("/v1/embeddings", &packed).json();
    assert_eq!(packed["data"][0]["embedding"].as_str().unwrap().len(), 4 * 384 * 4 / 3);
    let whole = json!({"input": "one", "dimensions": 384, "encoding_format": null});
    assert_eq!(server.post("/v1/embeddings", &whole).status, 200);
    let shortened = server.post("/v1/embeddings", &json!({"input": "one", "dimensions": 64}));
    assert_eq!(shortened.status, 400, "{shortened:?}");
    assert!(shortened.body.contains("dimensions must be 384"), "{shortened:?}");
    let unknown = json!({"input": "a", "model": "no-model", "dimensions": 64});
    assert_eq!(server.post("/v1/embeddings", &unknown).status, 404);
    let unknown = server.post("/v1/embeddings", &json!({"input": "a", "model": "no-model"}));
    assert_eq!((unknown.status, &unknown.json()["error"]["sqlstate"]), (404, &json!("42704")));
}

/// A text that cannot be sent to the database is not: what is wrong with the request is known before.
#[test]
fn nothing_is_embedded_for_vectors_of_another_length() {
    let Some(server) = Server::start(&[]) else { return };
    for model in [Value::Null, json!("all-minilm-l6-v2"), Value::Null] {
        let embed = |dimensions: Value| {
            let body = json!({"input": "a\u{0}", "model": model, "dimensions": dimensions});
            let refused = server.post("/v1/embeddings", &body);
            assert_eq!(refused.status, 400, "{refused:?}");
            refused.json()["error"]["message"].as_str().unwrap().to_owned()
        };
        assert_eq!(embed(json!(64)), "dimensions must be 384, as the model has, not 64");
        assert!(!embed(json!(384)).contains("dimensions"));
    }
}

#[test]
fn what_is_wrong_is_said_in_the_shape_of_openai() {
    let Some(server) = Server::start(&[]) else { return };
    let check = |path: &str, body: Value, status: u16, word: &str| {
        let response = server.post(path, &body);
        assert_eq!(response.status, status, "{response:?}");
        assert!(
            response.json()["error"]["message"].as_str().unwrap().contains(word),
            "{response:?}"
        );
    };
    check("/ask", json!({"question": ""}), 400, "");
    check("/ask", json!({"question": "a", "pipline": "docs"}), 400, "pipline");
    check("/ask", json!({"question": "a", "pipeline": "none"}), 404, "none");
    check("/ask", json!({"question": "a", "pipeline": "docs", "k": 0}), 400, "k");
    check(
        "/ask",
        json!({"question": "a", "pipeline": "docs", "filter": {"nothing": 1}}),
        404,
        "nothing",
    );
    check("/ask", json!({"question": "a\u{0}b", "pipeline": "docs"}), 400, "");
    check("/ask", json!([]), 400, "must be a JSON object");
    check("/v1/chat/completions", json!({"model": "docs", "messages": []}), 400, "last message");
    let mut several = chat(QUESTION);
    several["n"] = json!(2);
    check("/v1/chat/completions", several, 400, "n must be 1");
    let mut of_tools = chat(QUESTION);
    let tool = |name: &str| json!({"type": "function", "function": {"name": name}});
    of_tools["tools"] = json!([tool("f"), tool("g")]);
    of_tools["tool_choice"] = json!("required");
    check("/v1/chat/completions", of_tools.clone(), 400, "tool_choice must name one function");
    // Whoever quotes writes no arguments.
    of_tools["tool_choice"] = tool("f");
    check("/v1/chat/completions", of_tools, 400, "schema");
    let mut number = chat(QUESTION);
    number["messages"][0]["content"] = json!(5);
    check("/v1/chat/completions", number, 400, "must be a text or an array of parts");
    check("/ask", json!({"question": "x".repeat(10 << 20)}), 413, "larger than 1024 KB");
    // The connections are well after all this.
    assert_eq!(server.get("/v1/models").status, 200);
}

#[test]
fn a_spent_budget_is_a_quota() {
    let Some(server) = Server::start(&[]) else { return };
    let mut beyond = chat(QUESTION);
    beyond["llm"] = json!("writer");
    let refused = server.post("/v1/chat/completions", &beyond);
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (429, &json!("insufficient_quota"))
    );
    assert!(refused.head.contains("x-should-retry: false"), "{refused:?}");
    assert!(!refused.head.contains("retry-after"), "{refused:?}");
}

#[test]
fn too_many_requests_are_told_when_to_come_back() {
    let Some(server) = Server::start(&["--rate", "1"]) else { return };
    let statuses: Vec<_> = (0..2).map(|_| server.get("/v1/models").status).collect();
    assert_eq!(statuses, [200, 429]);
    assert!(server.get("/v1/models").head.contains("retry-after: "));
    // Others are not limited by it.
    assert_eq!(request(&server.address, Some(STRANGER), "/v1/models", None).status, 200);
    assert_eq!(request(&server.address, Some(READER), "/v1/models", None).status, 429);
}
