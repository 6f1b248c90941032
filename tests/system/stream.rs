//! `rag_answer_stream`: rows while the provider writes, and an end when nobody reads on.

use std::time::{Duration, Instant};

use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;

use super::cluster::{Cluster, wait_for};
use super::documents::{QUESTION, SETUP, count, describe};
use super::http_server::{Reply, Request, Server};
use super::provider::server;

const TELL: &str = "SELECT rag_answer_stream('How do I reset a password?', llm => 'teller')";

/// Longest time that a row may take after its piece on a machine that does other things too; what
/// it takes is printed.
const SLOW: Duration = Duration::from_secs(3);

fn teller(client: &mut Client, http: &Server) {
    client.batch_execute(&format!("{SETUP} {}", server("teller", http))).unwrap();
}

/// The rows of a statement, with the time at which each arrived.
fn rows(client: &mut Client, statement: &str) -> Vec<(String, Instant)> {
    let mut rows = client.query_raw(statement, std::iter::empty::<i32>()).unwrap();
    let mut arrived = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        arrived.push((row.get(0), Instant::now()));
    }
    arrived
}

#[test]
fn the_first_row_comes_with_the_first_piece() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let (gap, end) = (Duration::from_millis(300), Duration::from_secs(4));
    let pieces = [(gap, "Open the "), (gap, "settings page [1]."), (end, " Done.")];
    let http = Server::play([Reply::chat_stream(pieces)]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    let mut transaction = client.transaction().unwrap();
    let mut late = Vec::new();
    for round in 0..3 {
        transaction.batch_execute(&format!("DECLARE c{round} CURSOR FOR {TELL}")).unwrap();
        let fetch = format!("FETCH 1 FROM c{round}");
        let mut texts = Vec::new();
        let mut fetched = Vec::new();
        loop {
            let row = transaction.query_opt(&fetch, &[]).unwrap();
            let Some(row) = row else { break };
            fetched.push(Instant::now());
            texts.push(row.get::<_, String>(0));
        }
        let asked = http.requests()[round].at;
        late.push(fetched[0] - asked - gap);
        let (last, told) = texts.split_last().expect("rows");
        assert_eq!(told, ["Open the", " settings page [1].", " Done."]);
        assert!(fetched[0] < asked + gap + end, "the first row came when all was written");
        let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(last["citations"][0]["source_key"], "1", "{last}");
        assert_eq!(last["supported"], true);
        assert_eq!(last["usage"]["completion_tokens"], 7);
        assert!(last["usage"]["first_piece_ms"].as_f64() < last["usage"]["answer_ms"].as_f64());
        assert!(last.get("answer").is_none());
    }
    println!("from the provider's first piece to the first row: {late:?}");
    assert!(late.iter().all(|late| *late < SLOW), "{late:?}");
}

#[test]
fn markers_are_numbered_on_their_way() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let now = Duration::ZERO;
    let pieces =
        [(now, "Open the settings [3"), (now, "]. Or not [9"), (now, "]. A link comes [1].")];
    let http = Server::play([Reply::chat_stream(pieces)]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    let arrived = rows(&mut client, TELL);
    let told: Vec<&str> = arrived.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(told[..3], ["Open the settings", " [1]. Or not", ". A link comes [2]."]);
    let last: serde_json::Value = serde_json::from_str(told[3]).expect("JSON");
    assert!(last.get("answer").is_none(), "{last}");
    let markers: Vec<&serde_json::Value> =
        last["citations"].as_array().unwrap().iter().map(|it| &it["marker"]).collect();
    assert_eq!(markers, [1, 2, 9]);
    for citation in &last["citations"].as_array().unwrap()[..2] {
        let number = citation["marker"].as_u64().unwrap() as usize;
        let read = &last["context"][number - 1];
        assert_eq!((&read["number"], &read["chunk_id"]), (&number.into(), &citation["chunk_id"]));
    }
    assert_eq!(last["usage"]["problems"][0]["position"], 29);
}

#[test]
fn rows_are_sent_as_they_come_without_a_cursor_too() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let gap = Duration::from_millis(30);
    let words: Vec<String> = (0..40).map(|number| format!("word {number}, ")).collect();
    let pieces: Vec<_> = words.iter().map(|word| (gap, word.as_str())).collect();
    let http = Server::play([Reply::chat_stream(pieces)]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    let arrived = rows(&mut client, TELL);
    assert_eq!(arrived.len(), 41);
    let told: String = arrived[..40].iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(told, words.concat().trim_end());
}

#[test]
fn who_reads_no_further_ends_the_call() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let long = Duration::from_secs(100);
    let http = Server::play([Reply::chat_stream([(Duration::ZERO, "One "), (long, "two")])]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    let mut ended = 0;
    let mut check = |what: &str, ends: &mut dyn FnMut()| {
        ends();
        let end = Instant::now();
        ended += 1;
        assert!(wait_for(|| http.abandoned() == ended), "{what}: the provider writes on");
        println!("{what}: let go after {:?}", end.elapsed());
    };
    check("LIMIT", &mut || {
        let row = client.query_one(&format!("{TELL} LIMIT 1"), &[]).unwrap();
        assert_eq!(row.get::<_, &str>(0), "One");
    });
    check("CLOSE", &mut || {
        let mut transaction = client.transaction().unwrap();
        transaction.batch_execute(&format!("DECLARE c CURSOR FOR {TELL}")).unwrap();
        assert_eq!(transaction.query("FETCH 1 FROM c", &[]).unwrap().len(), 1);
        transaction.batch_execute("CLOSE c").unwrap();
    });
    check("ROLLBACK", &mut || {
        let mut transaction = client.transaction().unwrap();
        transaction.batch_execute(&format!("DECLARE c CURSOR FOR {TELL}")).unwrap();
        assert_eq!(transaction.query("FETCH 1 FROM c", &[]).unwrap().len(), 1);
        transaction.rollback().unwrap();
    });
    check("statement_timeout", &mut || {
        client.batch_execute("SET statement_timeout = 5000").unwrap();
        let error = client.query(TELL, &[]).unwrap_err();
        assert!(describe(&error).starts_with("57014"), "{error}");
        client.batch_execute("RESET statement_timeout").unwrap();
    });
    check("an error of the statement", &mut || {
        let error = client.query(
            &format!("SELECT (rag_answer_stream('{QUESTION}', llm => 'teller'))::integer"),
            &[],
        );
        assert!(describe(&error.unwrap_err()).starts_with("22P02"));
    });
    check("an end of the session", &mut || {
        let mut other = cluster.connect();
        let mut transaction = other.transaction().unwrap();
        transaction.batch_execute(&format!("DECLARE c CURSOR FOR {TELL}")).unwrap();
        assert_eq!(transaction.query("FETCH 1 FROM c", &[]).unwrap().len(), 1);
    });
    let answer = client.query_one("SELECT rag_answer($1)", &[&QUESTION]).unwrap();
    assert!(answer.get::<_, &str>(0).contains("settings page"));
}

#[test]
fn a_session_can_do_other_things_between_two_rows() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let gap = Duration::from_millis(50);
    let http = Server::play([Reply::chat_stream([(gap, "one "), (gap, "two "), (gap, "three")])]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    let both =
        format!("SELECT t.piece, rag_embed(t.piece) IS NOT NULL FROM ({TELL} AS piece) AS t");
    let rows = client.query(&both, &[]).unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.get::<_, bool>(1)));
    // Two streams at once, in turns.
    let mut transaction = client.transaction().unwrap();
    for cursor in ["a", "b"] {
        transaction.batch_execute(&format!("DECLARE {cursor} CURSOR FOR {TELL}")).unwrap();
    }
    for text in ["one", " two", " three"] {
        for cursor in ["a", "b"] {
            let row = transaction.query_one(&format!("FETCH 1 FROM {cursor}"), &[]).unwrap();
            assert_eq!(row.get::<_, &str>(0), text);
            transaction.batch_execute("SAVEPOINT s; SELECT rag_embed('x'); ROLLBACK TO s").unwrap();
        }
    }
}

#[test]
fn what_breaks_off_is_an_error_after_its_pieces() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let half = r#"{"choices":[{"delta":{"content":"Half "}}]}"#;
    let http = Server::play([Reply::events([(Duration::ZERO, half)]).close_after(0)]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    let mut transaction = client.transaction().unwrap();
    transaction.batch_execute(&format!("DECLARE c CURSOR FOR {TELL}")).unwrap();
    let first = transaction.query_one("FETCH 1 FROM c", &[]).unwrap();
    assert_eq!(first.get::<_, &str>(0), "Half");
    let error = describe(&transaction.query("FETCH 1 FROM c", &[]).unwrap_err());
    println!("{error}");
    assert!(error.starts_with("38000") && error.contains("teller"), "{error}");
    transaction.rollback().unwrap();
    assert_eq!(http.requests().len(), 1);
    client.batch_execute("SELECT rag_embed('the session goes on')").unwrap();
}

#[test]
fn a_slow_reader_keeps_no_place_of_a_limited_provider() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let words = vec![(Duration::ZERO, "word "); 3000];
    let http = Server::play([Reply::chat_stream(words)]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    client.batch_execute("ALTER SERVER teller OPTIONS (ADD max_concurrency '1')").unwrap();
    let mut other = cluster.connect();
    let mut transaction = client.transaction().unwrap();
    transaction.batch_execute(&format!("DECLARE c CURSOR FOR {TELL}")).unwrap();
    assert_eq!(transaction.query("FETCH 1 FROM c", &[]).unwrap().len(), 1);
    other.batch_execute("SET statement_timeout = '100s'").unwrap();
    assert!(rows(&mut other, TELL).len() > 1);
    let rest = transaction.query("FETCH ALL FROM c", &[]).unwrap();
    let told: usize = rest[..rest.len() - 1].iter().map(|row| row.get::<_, &str>(0).len()).sum();
    assert_eq!(told + "word ".len(), 3000 * "word ".len());
}

/// Whether an answer in pieces is asked for.
fn is_stream(request: &Request) -> bool {
    request.text().contains("\"stream\":true")
}

fn last_row(texts: &[String]) -> (String, serde_json::Value) {
    let (last, told) = texts.split_last().expect("rows");
    (told.concat(), serde_json::from_str(last).expect("JSON"))
}

fn texts(client: &mut Client, call: &str) -> Vec<String> {
    let statement = format!("SELECT rag_answer_stream('{QUESTION}', llm => 'teller', {call})");
    rows(client, &statement).into_iter().map(|(text, _)| text).collect()
}

#[test]
fn the_last_call_of_a_strategy_is_told_counted_and_traced() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let pieces = || [(Duration::ZERO, "Open the "), (Duration::ZERO, "settings page [1].")];
    let http = Server::answer(move |request| match is_stream(request) {
        true => Reply::chat_stream(pieces()),
        false => Reply::chat("Open something [1]."),
    });
    let mut client = cluster.connect();
    teller(&mut client, &http);
    client.batch_execute("SET rag.trace = 'full'").unwrap();
    let call = "strategy => 'refine', k => 3, options => '{\"answer\": {\"group_size\": 1}}'";
    let told = texts(&mut client, call);
    assert_eq!(told[..2], ["Open the", " settings page [1]."]);
    let (answer, last) = last_row(&told);
    let asked: Vec<bool> = http.requests().iter().map(is_stream).collect();
    assert_eq!(asked, [false, false, true]);
    assert_eq!(last["usage"]["strategy"], "refine");
    assert_eq!(
        (&last["usage"]["calls"], &last["usage"]["completion_tokens"]),
        (&3.into(), &21.into())
    );
    assert_eq!(last["citations"][0]["source_key"], "1");
    let trace = client
        .query_one(
            "SELECT answer, llm_calls, llm_tokens, strategy,
                 (SELECT count(*) FROM jsonb_array_elements(steps) AS s
                  WHERE s->>'stage' = 'generate' AND (s->>'tokens')::int > 0)
             FROM rag.trace_log WHERE id = $1::text::uuid",
            &[&last["trace_id"].as_str().expect("a trace")],
        )
        .unwrap();
    assert_eq!((trace.get::<_, &str>(0), trace.get::<_, &str>(3)), (answer.as_str(), "refine"));
    let read = last["usage"]["prompt_tokens"].as_i64().unwrap();
    assert_eq!((trace.get::<_, i64>(1), trace.get::<_, i64>(2)), (3, read + 21));
    assert_eq!(trace.get::<_, i64>(4), 3, "each call is a step");
    let spent = "SELECT sum(calls)::bigint, sum(tokens_in + tokens_out)::bigint, max(pipeline)
        FROM rag.stat_usage WHERE server = 'teller'";
    let spent = client.query_one(spent, &[]).unwrap();
    assert_eq!((spent.get::<_, i64>(0), spent.get::<_, i64>(1)), (3, read + 21));
    assert_eq!(spent.get::<_, &str>(2), "docs");
    check_unread(&mut client);
}

/// Who does not read to the end leaves a trace of what there was, unless it is rolled back.
fn check_unread(client: &mut Client) {
    let traces = "SELECT count(*) FROM rag.trace_log";
    let mut expected = count(client, traces);
    client.batch_execute(&format!("{TELL} LIMIT 1")).unwrap();
    expected += 1;
    assert_eq!(count(client, traces), expected);
    let last = "SELECT owner::text, answer, question, supported, llm_calls,
            (SELECT count(*) FROM jsonb_array_elements(steps) AS s WHERE s->>'detail' ~ 'not read to the end')
        FROM rag.trace_log ORDER BY created_at DESC LIMIT 1";
    let check = |client: &mut Client, role: &str| {
        let row = client.query_one(last, &[]).unwrap();
        assert_eq!((row.get::<_, &str>(0), row.get::<_, &str>(1)), (role, "Open the"));
        assert_eq!((row.get::<_, &str>(2), row.get::<_, Option<bool>>(3)), (QUESTION, None));
        assert_eq!((row.get::<_, i64>(4), row.get::<_, i64>(5)), (1, 1));
    };
    let user: String = client.query_one("SELECT current_user::text", &[]).unwrap().get(0);
    check(client, &user);

    // Of a cursor, by another role, that is no longer the session's when it is written.
    client
        .batch_execute(
            "CREATE ROLE asker; GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO asker;
             GRANT USAGE ON FOREIGN SERVER teller TO asker;",
        )
        .unwrap();
    for (ends, is_kept) in [("CLOSE c", true), ("SELECT 1", true), ("ROLLBACK TO s", false)] {
        let mut transaction = client.transaction().unwrap();
        let declare = format!("SAVEPOINT s; SET ROLE asker; DECLARE c CURSOR FOR {TELL}");
        transaction.batch_execute(&declare).unwrap();
        assert_eq!(transaction.query("FETCH 1 FROM c", &[]).unwrap().len(), 1);
        transaction.batch_execute(&format!("RESET ROLE; {ends}")).unwrap();
        transaction.commit().unwrap();
        expected += i64::from(is_kept);
        assert_eq!(count(client, traces), expected, "{ends}");
        if is_kept {
            check(client, "asker");
        }
    }
    let mut transaction = client.transaction().unwrap();
    transaction.batch_execute(&format!("{TELL} LIMIT 1")).unwrap();
    transaction.rollback().unwrap();
    client.batch_execute("SELECT 1").unwrap();
    assert_eq!(count(client, traces), expected);
    // The answerer that needs no language model has its whole answer before it tells it.
    client
        .batch_execute(&format!(
            "SELECT rag_answer_stream('{QUESTION}', llm => 'extractive') LIMIT 1"
        ))
        .unwrap();
    let kept = "SELECT count(*) FROM rag.trace_log WHERE llm = 'extractive' AND answer ~ 'settings page' AND supported";
    assert_eq!(count(client, kept), 1);
}

#[test]
fn an_answer_that_is_chosen_is_told_whole() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::chat("Open the settings page [1]. Choose it.\nScore: 90")]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    let told = texts(&mut client, "strategy => 'map_rerank', k => 1");
    assert_eq!(last_row(&told).0, "Open the settings page [1]. Choose it.");
    assert!(!is_stream(&http.requests()[0]));
    assert_eq!(last_row(&told).1["usage"]["strategy"], "map_rerank");
}

#[test]
fn a_remembered_answer_is_told_again() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::chat_stream([(Duration::ZERO, "Open settings [1].")])]);
    let mut client = cluster.connect();
    teller(&mut client, &http);
    for cache in ["exact", "semantic"] {
        for calls in [1, 0] {
            let call = format!(
                "options => '{{\"answer\": {{\"cache\": \"{cache}\", \"cache_similarity\": 0.9}}}}'"
            );
            let (answer, last) = last_row(&texts(&mut client, &call));
            assert_eq!(answer, "Open settings [1].");
            assert_eq!(last["citations"][0]["source_key"], "1", "{cache} {calls}: {last}");
        }
        assert_eq!(http.requests().len(), 1, "{cache}");
    }
}
