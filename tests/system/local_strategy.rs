//! The strategy `local`: what rows and texts state of the entities of a question stands in its one call, an HTTP server on
//! loopback, as far as the caller sees it.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::count;
use super::http_server::{Reply, Request, Server};
use super::provider::server;

/// Cites the source that says that somebody worked on Apollo.
fn cite_row(request: &Request) -> Reply {
    let before = request.text().split("Ada Berg worked_on Apollo").next().unwrap_or_default();
    let source = before.rsplit("<<<source ").next().unwrap_or_default();
    let number = source.split(' ').next().unwrap_or_default();
    Reply::chat(&format!("Ada Berg worked on Apollo [{number}]."))
}

/// What `local` says with one call, and what the language model was asked.
fn asked_locally(
    client: &mut Client,
    http: &Server,
    question: &str,
    rest: &str,
) -> (String, String) {
    let before = http.requests().len();
    let answer = format!(
        "SELECT concat_ws('; ', answer, citations -> 0 ->> 'relation', citations -> 0 ->> 'key')
         FROM rag_answer_details('{question}', strategy => 'local', llm => 'writer', {rest})"
    );
    let answer = client.query_one(&answer, &[]).unwrap().get(0);
    let requests = http.requests();
    assert_eq!(requests.len(), before + 1);
    (answer, requests[before].text().to_owned())
}

#[test]
fn local_tells_what_rows_state_unless_they_are_hidden() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(cite_row);
    let mut client = cluster.connect();
    client
        .batch_execute(&format!(
            r#"CREATE EXTENSION pg_rag CASCADE;
               CREATE TABLE report (id integer PRIMARY KEY, body text, engineer text, project text);
               INSERT INTO report VALUES
                   (1, 'The parser was written anew.', 'Ada Berg', 'Apollo'),
                   (2, 'The importer reads old archives.', 'Cleo Diaz', 'Apollo'),
                   (3, 'The dashboard shows errors by the hour.', NULL, NULL);
               CREATE ROLE guest; GRANT SELECT ON report TO guest;
               ALTER TABLE report ENABLE ROW LEVEL SECURITY; CREATE POLICY seen ON report USING (id <> 2);
               {}
               GRANT USAGE ON FOREIGN SERVER writer TO guest;
               SELECT rag_create_pipeline('report', 'body', metadata => ARRAY['engineer', 'project'],
                   options => '{{"backfill": "now", "graph": {{"entities": "rules", "relations": {{
                       "project": {{"predicate": "worked_on", "subject": "engineer"}}}}}}}}')"#,
            server("writer", &http)
        ))
        .unwrap();
    let ask = |client: &mut Client, rest: &str| {
        asked_locally(client, &http, "Who worked on Apollo?", rest)
    };
    let named = "pipeline => 'report'";
    let (ada, cleo) = ("Ada Berg — worked_on → Apollo", "Cleo Diaz — worked_on → Apollo");
    let (answer, prompt) = ask(&mut client, named);
    assert!(answer.ends_with("; report; 1"), "{answer}");
    for told in ["Relations of what the question names: ", ada, cleo] {
        assert!(prompt.contains(told), "{told} in {prompt}");
    }
    // What the filter does not let pass is as if it were not there.
    let of_cleo = format!("{named}, filter => '{{\"engineer\": \"Cleo Diaz\"}}'");
    let (_, prompt) = ask(&mut client, &of_cleo);
    assert!(prompt.contains(cleo) && !prompt.contains("Ada Berg"), "{prompt}");
    // What the caller does not see is in no prompt.
    client.batch_execute("SET ROLE guest").unwrap();
    for rest in [named, "k => 1"] {
        let (answer, prompt) = ask(&mut client, rest);
        assert!(answer.ends_with("; report; 1"), "{answer}");
        assert!(prompt.contains(ada) && !prompt.contains("Cleo"), "{prompt}");
    }
    // Who may not read relations is answered without them.
    client
        .batch_execute(
            "RESET ROLE; REVOKE SELECT ON report_rag_chunks_relations FROM guest; SET ROLE guest",
        )
        .unwrap();
    let (_, prompt) = ask(&mut client, named);
    assert!(!prompt.contains("worked_on"), "{prompt}");
}

/// Reads a relation in a text, and answers.
fn read_and_answer(request: &Request) -> Reply {
    let text = request.text();
    Reply::chat(if text.contains("Question: Who joined Gong?") {
        "Steve Hillage joined it [1]."
    } else if text.contains("Steve Hillage") {
        r#"{"relations": [{"subject": "Steve Hillage", "predicate": "joined", "object": "Gong", "quote": "Steve Hillage joined the band Gong"}]}"#
    } else {
        r#"{"relations": []}"#
    })
}

#[test]
fn local_tells_what_texts_state_with_the_chunks_that_do() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(read_and_answer);
    let mut client = cluster.connect();
    client
        .batch_execute(&format!(
            r#"CREATE EXTENSION pg_rag CASCADE;
               CREATE TABLE band (id integer PRIMARY KEY, body text);
               INSERT INTO band VALUES
                   (1, 'Later Steve Hillage joined the band Gong, whose founder was Daevid Allen.'),
                   (2, 'The canteen serves soup from noon.');
               CREATE ROLE guest; GRANT SELECT ON band TO guest;
               {}
               GRANT USAGE ON FOREIGN SERVER writer TO guest;
               SELECT rag_create_pipeline('band', 'body', refresh => 'manual', options =>
                   '{{"backfill": "now", "graph": {{"entities": "rules", "extract": {{"llm": "writer"}}}}}}')"#,
            server("writer", &http)
        ))
        .unwrap();
    client.batch_execute("CALL rag_run('band')").unwrap();
    assert_eq!(count(&mut client, "SELECT count(subject) FROM band_rag_chunks_extracted"), 1);
    let ask = |client: &mut Client| {
        asked_locally(client, &http, "Who joined Gong?", "pipeline => 'band', k => 1").1
    };
    let prompt = ask(&mut client);
    for told in ["Steve Hillage — joined → Gong", "Later Steve Hillage joined the band Gong"] {
        assert!(prompt.contains(told), "{told} in {prompt}");
    }
    client
        .batch_execute(
            "ALTER TABLE band ENABLE ROW LEVEL SECURITY; CREATE POLICY others ON band USING (id > 1); SET ROLE guest",
        )
        .unwrap();
    let prompt = ask(&mut client);
    assert!(prompt.contains("The canteen serves soup") && !prompt.contains("Hillage"), "{prompt}");
    assert!(!prompt.contains("Relations of what"), "{prompt}");
}
