//! Which summaries an answer reads: those of what has the most of the passages that were found for the question.

use std::sync::Mutex;

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{count, describe};
use super::embedder::{embeddings, texts};
use super::http_server::Server;
use super::provider::server;

/// Four documents, each of a subject of its own, and a fifth that is the beginning of the fourth.
/// `summaries` says what an answer reads of them, in its order, and `root` what sums up a whole document.
const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE report (id integer PRIMARY KEY, body text);
    CREATE FUNCTION report(subject text, parts integer) RETURNS text LANGUAGE sql
    RETURN (SELECT string_agg(format(E'# Part %s\\n\\nRule %s on %s says what everybody has to know of %s. It holds from the year %s on, and for all who work here.',
                                     p, p, subject, subject, 2000 + p), E'\\n\\n' ORDER BY p)
            FROM generate_series(1, parts) AS p);
    INSERT INTO report VALUES (1, report('bicycles', 10)), (2, report('canteens', 11)), (3, report('lightning', 12)),
                              (4, report('passports', 13)), (5, report('passports', 5));
    CREATE FUNCTION summaries(question text, pipelines text) RETURNS TABLE (summary_id bigint, leaves jsonb, no bigint) LANGUAGE sql
    AS $$ SELECT (c ->> 'summary_id')::bigint, c -> 'leaves', no
          FROM rag_answer_details(question, pipelines) AS a, jsonb_array_elements(a.context) WITH ORDINALITY AS e (c, no)
          WHERE c ? 'summary_id' $$;
    CREATE FUNCTION root(document integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    AS $$ BEGIN
        RETURN (SELECT ('x' || encode(substr(sha256(string_agg(content_hash, ''::bytea ORDER BY chunk_no)), 1, 8), 'hex'))::bit(64)::bigint
                       & 9223372036854775807 FROM report_rag_chunks WHERE source_id = document);
    END $$;";

/// Trees over them, all made at once.
const CREATE: &str = "
    SELECT rag_create_pipeline('report', 'body', refresh => 'manual', chunking => '{\"by\": \"markdown\", \"max_tokens\": 48, \"overlap\": 0}',
                               options => '{\"tree\": {}}');
    CALL rag_run('report');";

fn run(client: &mut Client, statements: &str) {
    // A procedure that commits is a statement of its own.
    for statement in statements.split_inclusive(";\n") {
        let done = client.batch_execute(statement);
        done.unwrap_or_else(|error| panic!("{statement}: {}", describe(&error)));
    }
}

/// The documents whose root is the first summary for a question about each subject.
fn first_roots(client: &mut Client) -> Vec<Option<i32>> {
    let of = |subject: &str| {
        let statement = format!(
            "SELECT (SELECT d FROM generate_series(1, 5) AS d
                     WHERE root(d) = (SELECT summary_id FROM summaries('Summarise the rules on {subject}.', 'report') ORDER BY no LIMIT 1))"
        );
        let row = client.query_one(&statement, &[]);
        row.unwrap_or_else(|error| panic!("{statement}: {}", describe(&error))).get(0)
    };
    ["bicycles", "canteens", "lightning", "passports"].map(of).to_vec()
}

#[test]
fn the_first_summary_is_that_of_the_document_with_the_most_passages() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    run(&mut client, CREATE);
    assert_eq!(first_roots(&mut client), [1, 2, 3, 4].map(Some));
    // What a guest may not see is in no summary, also where it is nearest.
    client
        .batch_execute(
            "CREATE ROLE guest; GRANT SELECT ON report, report_rag, report_rag_chunks, report_rag_chunks_tree TO guest;
             ALTER TABLE report ENABLE ROW LEVEL SECURITY; CREATE POLICY some ON report USING (id NOT IN (2, 4));
             SET ROLE guest",
        )
        .unwrap();
    let roots = first_roots(&mut client);
    assert_eq!([roots[0], roots[2], roots[3]], [Some(1), Some(3), Some(5)]);
    let hidden = "
        SELECT count(*) FROM unnest(ARRAY['canteens', 'passports', 'all that everybody has to know']) AS subject,
                             summaries('Summarise the rules on ' || subject || '.', 'report') AS s, jsonb_array_elements(s.leaves) AS l
        WHERE s.summary_id IN (root(2), root(4)) OR l ->> 'source_key' IN ('2', '4')";
    assert_eq!(count(&mut client, hidden), 0);
}

#[test]
fn summaries_are_of_what_took_the_place_of_the_chunks_that_were_found() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    let other = Mutex::new(Some(cluster.connect()));
    // The chunks of the reports are found before another model embeds the question for the notes.
    let embedder = Server::answer(move |request| {
        let is_asked = texts(request).iter().any(|it| it.contains("Summarise"));
        if let Some(mut client) = other.lock().unwrap().take_if(|_| is_asked) {
            run(
                &mut client,
                "SELECT rag_alter_pipeline('report', chunking => '{\"by\": \"markdown\", \"max_tokens\": 24, \"overlap\": 0}');\n
                 CALL rag_run('report');",
            );
        }
        embeddings(request)
    });
    client.batch_execute(&format!("{SETUP} {}", server("embedder", &embedder))).unwrap();
    run(&mut client, CREATE);
    run(
        &mut client,
        "SELECT rag_add_model('far', server => 'embedder');
         CREATE TABLE notes (id integer PRIMARY KEY, body text);
         INSERT INTO notes VALUES (1, 'Ask at the desk.');
         SELECT rag_create_pipeline('notes', 'body', model => 'far', refresh => 'manual');
         CALL rag_run('notes');",
    );
    let first = "SELECT (leaves #>> '{0,source_key}')::bigint
                 FROM summaries('Summarise the rules on lightning.', '{report,notes}') ORDER BY no LIMIT 1";
    assert_eq!(count(&mut client, first), 3);
    let generation = "SELECT generation::bigint FROM rag.pipeline WHERE name = 'report'";
    assert_eq!(count(&mut client, generation), 2);
}
