//! What clients of MCP get, over HTTP and over standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{READER, STRANGER, Server, among_others, reader_url, request};

fn call(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn initialize() -> Value {
    let client = json!({"name": "test", "version": "1"});
    call(
        1,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
    )
}

fn tool(name: &str, arguments: Value) -> Value {
    call(2, "tools/call", json!({"name": name, "arguments": arguments}))
}

/// Calls a tool over HTTP: its text, and whether it is an error.
fn called(server: &Server, token: &str, name: &str, arguments: Value) -> (String, bool) {
    let response = server.post_as(token, "/mcp", &tool(name, arguments));
    assert_eq!(response.status, 200, "{response:?}");
    let result = &response.json()["result"];
    let text =
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {response:?}"));
    (text.to_owned(), result["isError"] == true)
}

#[test]
fn tools_read_as_the_role_of_the_token() {
    let Some(server) = Server::start(&[]) else { return };
    let begun = server.post("/mcp", &initialize()).json();
    assert_eq!(begun["result"]["serverInfo"]["name"], "rag-server");
    let tools = server.post("/mcp", &call(2, "tools/list", json!({}))).json();
    let names: Vec<_> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["list_sources", "search", "open", "ask", "schema"]);

    let (sources, _) = called(&server, READER, "list_sources", json!({}));
    assert!(sources.contains("docs\tdocs\tlang\twhat customers ask"), "{sources}");
    let (nothing, _) = called(&server, STRANGER, "list_sources", json!({}));
    assert!(!nothing.contains("docs"), "{nothing}");
    let (found, _) =
        called(&server, READER, "search", json!({"query": "invoices", "pipeline": "docs", "k": 1}));
    assert!(found.contains("rag://docs/2\t0\t\tInvoices are sent"), "{found}");
    assert!(found.ends_with("truncated: false"), "{found}");
    let (opened, _) =
        called(&server, READER, "open", json!({"uri": "rag://docs/2", "start_char": 9}));
    assert!(opened.starts_with("are sent on the first day"), "{opened}");
    let (hidden, is_error) = called(&server, READER, "open", json!({"uri": "rag://docs/3"}));
    assert!(is_error && !hidden.contains("4711"), "{hidden}");
    let (answer, _) = called(
        &server,
        READER,
        "ask",
        json!({"question": "When are invoices sent?", "pipeline": "docs"}),
    );
    assert!(answer.contains("supported: true") && answer.contains("[1]\trag://docs/2"), "{answer}");
    let negative = json!({"uri": "rag://docs/2", "start_char": i32::MIN});
    let (refused, is_error) = called(&server, READER, "open", negative);
    assert!(is_error && refused.contains("start_char must be 0 or more"), "{refused}");
    for strategy in ["sql", "combined", "agent"] {
        let with_sql = json!({"question": "How many?", "pipeline": "docs", "strategy": strategy});
        let (refused, is_error) = called(&server, READER, "ask", with_sql);
        assert!(is_error && refused.contains("not offered"), "{refused}");
    }
    let (schema, _) = called(&server, READER, "schema", json!({"tables": ["docs"]}));
    assert!(schema.contains("docs -- what customers ask\n  id integer"), "{schema}");
    for name in ["My Täble", "\"My Täble\"", "public.My Täble", "public.\"My Täble\""] {
        let (schema, _) = called(&server, READER, "schema", json!({"tables": [name]}));
        assert!(schema.starts_with("\"My Täble\"\n  id integer\ntruncated: false"), "{schema}");
    }
    let some = json!({"tables": ["docs_rag", "nothing"], "max_tokens": 50});
    let (schema, _) = called(&server, READER, "schema", some);
    assert!(schema.starts_with("not found, or not readable: nothing\n"), "{schema}");
    let (schema, _) =
        called(&server, READER, "schema", json!({"tables": ["docs_rag"], "max_tokens": 50}));
    assert!(schema.starts_with("docs_rag") && schema.contains("truncated: true"), "{schema}");
    let (opened, _) = called(&server, READER, "open", json!({"uri": "rag://pages/"}));
    assert!(opened.starts_with("Letters without a stamp"), "{opened}");
    let (found, _) =
        called(&server, READER, "search", json!({"query": "stamp", "pipeline": "pages", "k": 1}));
    assert!(found.contains("rag://pages/\t0"), "{found}");
    let (wrong, is_error) =
        called(&server, READER, "search", json!({"query": "a", "pipeline": "none"}));
    assert!(is_error && wrong.contains("sqlstate: 42704"), "{wrong}");
}

#[test]
fn the_schema_is_what_the_role_may_read() {
    let Some(server) = Server::start(&[]) else { return };
    let schema = |arguments: Value| called(&server, READER, "schema", arguments).0;
    let wages = "wages -- what people earn\n  id integer\n  person text -- who\ntruncated: false";
    assert_eq!(schema(json!({"tables": ["wages"]})), wages);
    for hidden in ["secrets", "docs_rag_chunks", "docs_rag_content", "pg_class", "rag.pipeline"] {
        let said = schema(json!({"tables": [hidden, "wages"]}));
        let expected = format!("not found, or not readable: {hidden}\n{wages}");
        assert_eq!(said, expected);
    }
    let all = schema(json!({"max_tokens": 20_000}));
    let relations: Vec<_> = all.lines().filter(|line| !line.starts_with("  ")).collect();
    for relation in ["\"My Täble\"", "docs -- what customers ask", "wages -- what people earn"] {
        assert!(relations.contains(&relation), "{relation}: {all}");
    }
    assert!(relations.iter().any(|relation| relation.starts_with("docs_rag")), "{all}");
    let is_hidden = |relation: &&str| relation.split(' ').next() == Some("docs_rag_chunks");
    assert!(!relations.iter().any(is_hidden), "{all}");
    assert!(all.contains("\n  secret boolean\n") && !all.contains("amount"), "{all}");
    let nothing = called(&server, STRANGER, "schema", json!({})).0;
    assert_eq!(nothing, "truncated: false");
}

/// Filters with numbers that programs have no room for, each wrong in a way that its error repeats it.
const EXACT: [&str; 3] =
    ["12345678901234567890.123", "0.1000000000000000055", "89490200001234567890"];

/// A call of `search` with such a number in its filter, as JSON.
fn exact(number: &str) -> String {
    let filter = r#"{"lang": {"between": 1.5}}"#;
    let arguments = json!({"query": "invoices", "pipeline": "docs", "filter": "here"});
    let call = tool("search", arguments).to_string();
    call.replace("\"here\"", &filter.replace("1.5", number))
}

#[test]
fn a_filter_over_http_keeps_the_digits_of_its_numbers() {
    let Some(server) = Server::start(&[]) else { return };
    for number in EXACT {
        let response = request(&server.address, Some(READER), "/mcp", Some(&exact(number)));
        let text = response.json()["result"]["content"][0]["text"].to_string();
        assert!(text.contains(number) && text.contains("wants a list"), "{text}");
    }
    // As large as a request may be, and larger where its filter is a text.
    let quotes = r#"\""#.repeat((1 << 20) / 2 - 200);
    let large = exact("0").replace(r#"{"between": 0}"#, &format!("\"{quotes}\""));
    let response = request(&server.address, Some(READER), "/mcp", Some(&large));
    assert_eq!(response.status, 200, "{}", response.head);
    assert!(response.json()["result"].is_object(), "{}", response.body);
}

#[test]
fn sql_is_a_tool_only_where_it_is_offered() {
    let Some(server) = Server::start(&[]) else { return };
    let refused = server.post("/mcp", &tool("sql", json!({"query": "SELECT 1"}))).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("no tool"), "{refused}");
    drop(server);
    let Some(server) = Server::start(&["--sql"]) else { return };
    let (rows, is_error) =
        called(&server, READER, "sql", json!({"query": "SELECT id, lang FROM docs ORDER BY id"}));
    assert!(!is_error && rows.starts_with("id\tlang\n1\ten\n2\ten\ntruncated: false"), "{rows}");
    let check = |query: &str, expected: &str| {
        let (rows, is_error) = called(&server, READER, "sql", json!({"query": query}));
        assert!(!is_error && rows.starts_with(expected), "{query}: {rows}");
    };
    check(
        "SELECT 89490200001234567890::numeric AS a, NULL::text AS b, 49.90 AS c, 'x y' AS d",
        "a\tb\tc\td\n89490200001234567890\t\t49.90\tx y\n",
    );
    check("SELECT 1e400::numeric AS a", &format!("a\n1{}\n", "0".repeat(400)));
    let deep = "[".repeat(200) + &"]".repeat(200);
    check(&format!("SELECT '{deep}'::jsonb AS a"), &format!("a\n{deep}\n"));
    check("SELECT 1 AS a WHERE false", "truncated: false");
    let hostile = [
        "COMMIT; DELETE FROM docs; SELECT 1",
        "RESET ROLE",
        "SELECT set_config('role', 'postgres', false)",
        "SELECT pg_read_file('/etc/passwd')",
        "DELETE FROM docs",
    ];
    for query in hostile {
        let (text, is_error) = called(&server, READER, "sql", json!({"query": query}));
        assert!(is_error, "{query}: {text}");
    }
}

#[test]
fn wrong_parameters_are_told_from_an_unknown_method() {
    let Some(server) = Server::start(&[]) else { return };
    let code = |method: &str, params: Value| {
        server.post("/mcp", &call(2, method, params)).json()["error"]["code"].clone()
    };
    assert_eq!(code("tools/call", json!({"name": "search", "arguments": [1]})), -32602);
    assert_eq!(code("tools/call", json!({"arguments": {}})), -32602);
    assert_eq!(code("resources/read", json!({})), -32602);
    assert_eq!(code("tools/eat", json!({})), -32601);
}

#[test]
fn documents_are_resources() {
    let Some(server) = Server::start(&[]) else { return };
    let listed = server.post("/mcp", &call(2, "resources/list", json!({}))).json();
    assert_eq!(listed["result"]["resources"][0]["uri"], "rag://docs");
    let read =
        |uri: &str| server.post("/mcp", &call(3, "resources/read", json!({"uri": uri}))).json();
    let document = read("rag://docs/2");
    let text = document["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Invoices are sent"), "{document}");
    assert!(
        read("rag://docs")["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .contains("filters: lang")
    );
    assert!(
        read("rag://docs/3")["error"]["message"].as_str().unwrap().contains("no text of a row")
    );
    assert!(read("http://docs/3")["error"].is_object());
    let templates = server.post("/mcp", &call(2, "resources/templates/list", json!({}))).json();
    let template = &templates["result"]["resourceTemplates"][0];
    assert_eq!(template["uriTemplate"], "rag://{pipeline}/{key}");
    assert!(template["description"].as_str().unwrap().contains("rag://pipeline/;"), "{template}");
}

#[test]
fn a_document_of_any_key_has_an_address() {
    let Some(server) = Server::start(&[]) else { return };
    let all =
        json!({"query": "stamps, bridges, ferries and umbrellas", "pipeline": "pages", "k": 10});
    let (found, _) = called(&server, READER, "search", all);
    let read = |uri: &str| {
        let read = server.post("/mcp", &call(3, "resources/read", json!({"uri": uri}))).json();
        assert_eq!(read["result"]["contents"][0]["uri"], uri, "{read}");
        read["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    for (uri, text) in [
        ("rag://pages/", "Letters without a stamp go back."),
        ("rag://pages/a%2Fb", "Bridges close at night."),
        ("rag://pages/..", "Ferries leave at noon."),
        ("rag://pages/%C3%BC%20%25", "Umbrellas are lent."),
    ] {
        assert!(found.contains(&format!("\n{uri}\t0\t\t{text}")), "{uri}: {found}");
        let whole = format!("{text}\ntruncated: false");
        assert_eq!(called(&server, READER, "open", json!({"uri": uri})), (whole.clone(), false));
        assert_eq!(read(uri), whole);
    }
    assert!(read("rag://pages").starts_with("pipeline: pages\n"));
}

#[test]
fn a_program_speaks_over_standard_input() {
    let _among_others = among_others();
    let Some(url) = reader_url() else { return };
    let mut child = Command::new(env!("CARGO_BIN_EXE_rag-server"))
        .args(["mcp", "--database-url", &url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    let mut hear = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    say(initialize());
    assert_eq!(hear()["result"]["serverInfo"]["name"], "rag-server");
    say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    say(tool("search", json!({"query": "password", "pipeline": "docs", "max_tokens": 60})));
    let found = hear();
    let text = found["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("rag://docs/1"), "{found}");
    assert!(text.contains("truncated: "), "{found}");
    for number in EXACT {
        writeln!(input, "{}", exact(number)).unwrap();
        let said = hear()["result"]["content"][0]["text"].to_string();
        assert!(said.contains(number) && said.contains("wants a list"), "{said}");
    }
    // A client that leaves ends it.
    drop(input);
    assert!(child.wait().unwrap().success());
}
