//! Which summaries an answer reads: those of what has the most of the passages that were found for the question.

use std::sync::Mutex;

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{count, describe};
use super::embedder::{embeddings, texts};
use super::http_server::Server;
use super::provider::server;

/// Four documents, each of a subject of its own, and a fifth that is the beginning of the fourth.
/// `summaries` says what an answer reads of them, and `root` what sums up a whole document.
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

/// For each subject, how many of its document's root are among the summaries that are read, and how many of other documents.
/// `documents` are those of each subject, the one with the most passages first.
fn read_of(client: &mut Client, documents: [&[i32]; 4]) -> Vec<(i64, i64)> {
    let subjects = ["bicycles", "canteens", "lightning", "passports"];
    let of = |(subject, documents): (&str, &[i32])| {
        let statement = format!(
            "SELECT count(*) FILTER (WHERE summary_id = root(($1::integer[])[1])),
                    count(*) FILTER (WHERE EXISTS (SELECT FROM jsonb_array_elements(leaves) AS l
                                                   WHERE (l ->> 'source_key')::integer <> ALL ($1::integer[])))
             FROM summaries('Summarise the rules on {subject}.', 'report')"
        );
        let row = client.query_one(&statement, &[&documents]);
        let row = row.unwrap_or_else(|error| panic!("{statement}: {}", describe(&error)));
        (row.get(0), row.get(1))
    };
    subjects.into_iter().zip(documents).map(of).collect()
}

#[test]
fn summaries_are_of_the_document_with_the_most_passages() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    run(&mut client, CREATE);
    assert_eq!(read_of(&mut client, [&[1], &[2], &[3], &[4, 5]]), [(1, 0); 4]);
    // What a guest may not see is in no summary, also where it is nearest.
    client
        .batch_execute(
            "CREATE ROLE guest; GRANT SELECT ON report, report_rag, report_rag_chunks, report_rag_chunks_tree TO guest;
             ALTER TABLE report ENABLE ROW LEVEL SECURITY; CREATE POLICY others ON report USING (id NOT IN (2, 4));
             SET ROLE guest",
        )
        .unwrap();
    let read = read_of(&mut client, [&[1, 3, 5], &[], &[3, 1, 5], &[5, 1, 3]]);
    assert_eq!([read[0], read[2], read[3]], [(1, 0); 3]);
    let hidden = "
        SELECT count(*) FROM unnest(ARRAY['canteens', 'passports', 'all that everybody has to know']) AS subject,
                             summaries('Summarise the rules on ' || subject || '.', 'report') AS s, jsonb_array_elements(s.leaves) AS l
        WHERE s.summary_id IN (root(2), root(4)) OR l ->> 'source_key' IN ('2', '4')";
    assert_eq!(count(&mut client, hidden), 0);
}

#[test]
fn summaries_are_of_the_generation_whose_chunks_were_found() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    let other = Mutex::new(Some(cluster.connect()));
    // While a model embeds the question for the notes, other chunks take the place of those that are to be searched next.
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
                 FROM summaries('Summarise the rules on lightning.', '{notes,report}') ORDER BY no LIMIT 1";
    assert_eq!(count(&mut client, first), 3);
    let generation = "SELECT generation::bigint FROM rag.pipeline WHERE name = 'report'";
    assert_eq!(count(&mut client, generation), 2);
}
