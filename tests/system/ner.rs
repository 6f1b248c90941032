//! A graph of which a token classifier finds the entities: from rag_add_model over changes to rag_drop_model.

use std::path::PathBuf;

use postgres::Client;
use serde_json::json;

use super::cluster::{Cluster, wait_for};
use super::documents::{assert_fails, count};
use super::graph::assert_waits_without_locks;
use super::token_classifier;

const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE band (id integer PRIMARY KEY, body text);
    INSERT INTO band VALUES
        (1, 'für könig steve hillage: he played with arzachel.'),
        (2, 'later steve hillage joined gong, whose founder was daevid allen.'),
        (3, 'then we met Anna Lind there.'),
        (4, NULL), (5, '');";

const CREATE: &str = "SELECT rag_create_pipeline('band', 'body', options => '{\"graph\": {\"entities\": \"ner\", \"ner_model\": \"names\"}}')";

/// What rows name: as it is written at its place, and its kind.
const WRITTEN: &str = "
    SELECT coalesce(string_agg(concat_ws(' ', c.source_id, substr(c.content, m.start_char + 1, m.end_char - m.start_char), m.kind), ', '
                               ORDER BY c.source_id, m.start_char), '')
    FROM band_rag_chunks_mentions AS m JOIN band_rag_chunks AS c USING (chunk_id)";

const OF_MODEL: &str =
    "1 steve hillage PER, 1 arzachel ORG, 2 steve hillage PER, 2 gong ORG, 2 daevid allen PER";

/// A client of a cluster that has the model `names`; `None` where the model cannot be made.
fn start(cluster: &Cluster) -> Option<(Client, PathBuf)> {
    let folder = cluster.folder().join("names");
    if !token_classifier::make_of_bands(&folder) {
        return None;
    }
    cluster.give(&folder);
    let mut client = cluster.connect();
    client.batch_execute(SETUP).expect("a table");
    let add = "SELECT dimension, max_tokens, pooling FROM rag_add_model('names', $1)";
    let added = client.query_one(add, &[&folder.to_str()]).expect("a model");
    assert_eq!(added.get::<_, Option<i32>>(0), None);
    assert_eq!((added.get(1), added.get::<_, Option<&str>>(2)), (64, None));
    Some((client, folder))
}

fn text(client: &mut Client, query: &str) -> String {
    client.query_one(query, &[]).expect("a row").get(0)
}

fn wait(client: &mut Client) {
    assert!(client.query_one("SELECT rag_wait('band')", &[]).expect("a row").get::<_, bool>(0));
}

#[test]
fn a_model_finds_what_chunks_name_through_all_changes() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some((mut client, _)) = start(&cluster) else { return };
    client.batch_execute(CREATE).unwrap();
    wait(&mut client);
    assert_eq!(text(&mut client, WRITTEN), OF_MODEL);
    // Who follows the hint keeps what there is.
    assert_fails(
        &mut client,
        "SELECT * FROM rag_graph('gong', predicate => '{*}')",
        &[
            "has no relations",
            r#"'{"graph": {"entities": "ner", "ner_model": "names", "relations": {"COLUMN": "PREDICATE"}}}'"#,
        ],
    );
    // A question needs no capitals either.
    let path = "SELECT entities::text FROM rag_graph('who founded gong?') WHERE rank = 1";
    assert!(text(&mut client, path).contains("gong"));

    client
        .batch_execute(
            "UPDATE band SET body = 'gong is a band.' WHERE id = 1; DELETE FROM band WHERE id = 2",
        )
        .unwrap();
    wait(&mut client);
    assert_eq!(text(&mut client, WRITTEN), "1 gong ORG");

    // Names stand on both sides of each edge between the windows of 64 tokens, and none is found twice or not at all.
    let long = "they say that gong met steve hillage. ".repeat(60);
    client.execute("INSERT INTO band VALUES (6, $1)", &[&long]).unwrap();
    wait(&mut client);
    let counts = "SELECT string_agg(norm || ' ' || n, ', ' ORDER BY norm)
                  FROM (SELECT m.norm, sum(m.mentions) AS n
                        FROM band_rag_chunks_mentions AS m JOIN band_rag_chunks AS c USING (chunk_id)
                        WHERE c.source_id = 6 GROUP BY m.norm) AS s";
    let per_chunk = "SELECT string_agg(w || ' ' || n, ', ' ORDER BY w)
                     FROM (SELECT w, sum((length(content) - length(replace(content, w, ''))) / length(w)) AS n
                           FROM band_rag_chunks, unnest(ARRAY['gong', 'steve hillage']) AS w
                           WHERE source_id = 6 GROUP BY w) AS s";
    assert_eq!(text(&mut client, counts), text(&mut client, per_chunk));
}

#[test]
fn another_option_has_all_rows_read_again() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some((mut client, _)) = start(&cluster) else { return };
    client.batch_execute(CREATE).unwrap();
    wait(&mut client);
    let embedded = "SELECT sum(chunks_embedded)::bigint FROM rag.activity";
    let before = count(&mut client, embedded);
    let alter = |graph: &serde_json::Value| {
        format!("SELECT rag_alter_pipeline('band', options => '{}')", json!({"graph": graph}))
    };
    let rules = alter(&json!({"entities": "rules"}));
    client.batch_execute(&format!("BEGIN; {rules}; ROLLBACK")).unwrap();
    assert_eq!(text(&mut client, WRITTEN), OF_MODEL);
    client.batch_execute(&rules).unwrap();
    wait(&mut client);
    assert_eq!(text(&mut client, WRITTEN), "3 Anna Lind");

    let other = cluster.folder().join("other");
    assert!(token_classifier::make(&other, &["O", "BAND"], &[("gong", "BAND")]));
    cluster.give(&other);
    client.execute("SELECT rag_add_model('other', $1)", &[&other.to_str()]).unwrap();
    client.batch_execute(&alter(&json!({"entities": "ner", "ner_model": "other"}))).unwrap();
    wait(&mut client);
    assert_eq!(text(&mut client, WRITTEN), "2 gong BAND");
    client.batch_execute(&alter(&json!({"entities": "ner", "ner_model": "names"}))).unwrap();
    wait(&mut client);
    assert_eq!(text(&mut client, WRITTEN), OF_MODEL);
    assert_eq!(count(&mut client, embedded), before, "nothing is embedded again");

    // A successor has it, too.
    client
        .batch_execute("SELECT rag_alter_pipeline('band', chunking => '{\"max_tokens\": 100}')")
        .unwrap();
    let live = "SELECT count(*) FROM rag.pipeline WHERE generation = 2 AND stage = 'live'";
    assert!(wait_for(|| count(&mut client, live) == 1));
    // Its chunks have the name of the old ones once these are gone.
    let renamed = "SELECT (to_regclass('band_rag_chunks_2') IS NULL)::integer::bigint";
    assert!(wait_for(|| count(&mut client, renamed) == 1));
    assert_eq!(text(&mut client, WRITTEN), OF_MODEL);

    // A model that is in use stays.
    let drop = "SELECT rag_drop_model('names')";
    assert_fails(&mut client, drop, &["22023", "is used by pipelines: band"]);
    client.batch_execute("SELECT rag_drop_model('other')").unwrap();
    client.batch_execute(&alter(&json!(false))).unwrap();
    client.batch_execute(drop).unwrap();
}

#[test]
fn nobody_who_reads_waits_for_another_option_and_no_model_goes_that_it_names() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some((mut client, _)) = start(&cluster) else { return };
    let rules = CREATE.replace("\"ner\", \"ner_model\": \"names\"", "\"rules\"");
    client.batch_execute(&rules).unwrap();
    wait(&mut client);
    client
        .batch_execute("BEGIN; SELECT rag_alter_pipeline('band', options => '{\"graph\": {\"entities\": \"ner\", \"ner_model\": \"names\"}}')")
        .unwrap();
    let mut other = cluster.connect();
    other.batch_execute("SET lock_timeout = '200ms'").unwrap();
    for relation in ["band", "band_rag", "band_rag_chunks"] {
        assert!(count(&mut other, &format!("SELECT count(*) FROM {relation}")) > 0, "{relation}");
    }
    let insert = "INSERT INTO band VALUES (7, 'later')";
    other.batch_execute(insert).unwrap();
    assert_fails(&mut other, "SELECT rag_drop_model('names')", &["55P03"]);
    client.batch_execute("COMMIT").unwrap();
    wait(&mut client);
    assert_eq!(text(&mut client, WRITTEN), OF_MODEL);
    assert_fails(
        &mut other,
        "SELECT rag_drop_model('names')",
        &["22023", "is used by pipelines: band"],
    );
}

#[test]
fn communities_are_of_what_the_model_of_now_finds() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some((mut client, _)) = start(&cluster) else { return };
    // Both models find as many names, and in these chunks.
    client
        .batch_execute("DELETE FROM band; INSERT INTO band SELECT n, 'gong met arzachel.' FROM generate_series(1, 4) AS n")
        .unwrap();
    let other = cluster.folder().join("other");
    assert!(token_classifier::make(&other, &["O", "B-X"], &[("gong", "B-X"), ("met", "B-X")]));
    cluster.give(&other);
    client.execute("SELECT rag_add_model('other', $1)", &[&other.to_str()]).unwrap();
    let create = CREATE.replace("\"names\"}", "\"names\"}, \"communities\": {\"min_size\": 2}");
    client.batch_execute(&create).unwrap();
    let members = "SELECT coalesce(string_agg(norm, ' ' ORDER BY norm), '') FROM band_rag_chunks_communities WHERE level = 0";
    assert!(wait_for(|| text(&mut client, members) == "arzachel gong"));
    client
        .batch_execute("SELECT rag_alter_pipeline('band', options => '{\"graph\": {\"entities\": \"ner\", \"ner_model\": \"other\"}}')")
        .unwrap();
    assert!(wait_for(|| text(&mut client, members) == "gong met"));
}

#[test]
fn a_statement_finds_names_with_synchronous_refresh() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some((mut client, _)) = start(&cluster) else { return };
    let create = CREATE.replace("'body',", "'body', refresh => 'sync',");
    client.batch_execute(&create).unwrap();
    assert_eq!(text(&mut client, WRITTEN), OF_MODEL);
    client.batch_execute("DELETE FROM band WHERE id = 1").unwrap();
    client.batch_execute("BEGIN; UPDATE band SET body = 'gong' WHERE id = 3; ROLLBACK").unwrap();
    client.batch_execute("UPDATE band SET body = 'arzachel' WHERE id = 2").unwrap();
    assert_eq!(text(&mut client, WRITTEN), "2 arzachel ORG");
}

#[test]
fn what_finds_no_names_is_refused() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some((mut client, folder)) = start(&cluster) else { return };
    let create = |model: &str| CREATE.replace("names", model);
    assert_fails(&mut client, &create("nobody"), &["42704", "token classifier \"nobody\""]);
    let embedder = create("multilingual-e5-small");
    assert_fails(&mut client, &embedder, &["42809", "is an embedding model and finds no names"]);
    let classifier = "is a token classifier and gives no";
    assert_fails(&mut client, "SELECT rag_embed('x', 'names')", &["42809", classifier]);
    let rerank = "SELECT rag_rerank('x', ARRAY['x'], 'names')";
    assert_fails(&mut client, rerank, &["42809", classifier]);
    let task = "SELECT rag_add_model('x', server => 'x', task => 'token_classification')";
    assert_fails(&mut client, task, &["22023", "unknown task"]);

    // What config.json must say.
    let config = folder.join("config.json");
    let mut said: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
    let mut add = |labels: serde_json::Value, parts: &[&str]| {
        said["id2label"] = labels;
        std::fs::write(&config, said.to_string()).unwrap();
        let add = format!("SELECT rag_add_model('x', '{}')", folder.display());
        assert_fails(&mut client, &add, parts);
    };
    add(json!(null), &["F0000", "it has no \"id2label\""]);
    add(json!({"1": "O"}), &["F0000", "do not count from 0"]);
    add(
        json!({"0": "LABEL_0", "1": "LABEL_1"}),
        &["0A000", "without the label \"O\"", "such as B-PER"],
    );
    add(json!({"0": "O", "1": "B-"}), &["0A000", "the label \"B-\", which names no kind"]);
}

#[test]
fn another_model_keeps_no_lock_while_it_waits_for_one() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some((mut client, _)) = start(&cluster) else { return };
    client
        .batch_execute(
            r#"ALTER TABLE band ADD tenant integer DEFAULT 1;
               SELECT rag_create_pipeline('band', 'body', metadata => ARRAY['tenant'], options =>
                   '{"graph": {"entities": "rules", "relations": {"tenant": "plays_for"}}}')"#,
        )
        .unwrap();
    wait(&mut client);
    // The relations go, and the mentions are emptied.
    let alteration = r#"options => '{"graph": {"entities": "ner", "ner_model": "names"}}'"#;
    assert_waits_without_locks(&cluster, "band_rag_chunks_mentions", alteration);
    wait(&mut client);
    assert!(text(&mut client, WRITTEN).starts_with(OF_MODEL));
}
