//! Models of the families that users bring, from `rag_add_model` to vectors, scores and verdicts. The table of
//! docs/models.md names the function of this file that keeps what it says of a family.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{assert_fails, count};
use super::http_server::{Reply, Server};
use super::static_table::{assert_same, normalized};
use super::tiny_families::{self, Given};
use super::{provider, static_table};

const QUESTION: &str = "What is ink?";

const PASSAGES: [&str; 3] = ["Ink is black.", "Ink", "Paper is white and thin."];

/// What may follow from the first passage.
const CLAIM: &str = "Ink is dark.";

/// The tokens that the model of each family should get: of the question and of the passages; for a cross-encoder, of the
/// question with each passage; for a model of inference, of the first passage with the claim.
const TOKENS: [(&str, &[&str]); 5] = [
    (
        "bge",
        &[
            "[CLS] represent this sentence for searching relevant passages : what is ink ? [SEP]",
            "[CLS] ink is black . [SEP]",
            "[CLS] ink [SEP]",
            "[CLS] paper is white and thin . [SEP]",
        ],
    ),
    (
        "gte",
        &[
            "[CLS] what is ink ? [SEP]",
            "[CLS] ink is black . [SEP]",
            "[CLS] ink [SEP]",
            "[CLS] paper is white and thin . [SEP]",
        ],
    ),
    (
        "mpnet",
        &[
            "<s> what is ink ? </s>",
            "<s> ink is black . </s>",
            "<s> ink </s>",
            "<s> paper is white and thin . </s>",
        ],
    ),
    (
        "roberta",
        &[
            "<s> What Ġis Ġink ? </s> </s> Ink Ġis Ġblack . </s>",
            "<s> What Ġis Ġink ? </s> </s> Ink </s>",
            "<s> What Ġis Ġink ? </s> </s> Paper Ġis Ġwhite Ġand Ġthin . </s>",
        ],
    ),
    ("deberta", &["[CLS] ▁Ink ▁is ▁black . [SEP] ▁Ink ▁is ▁dark . [SEP]"]),
];

/// A server with the extension, and folders of models beside it.
struct Brought {
    client: Client,
    folder: PathBuf,
    given: Given,
}

impl Brought {
    /// Registers the model in the folder of its name: its dimension, longest input, pooling, and whether its vectors have
    /// length 1.
    fn add(&mut self, name: &str) -> (Option<i32>, i32, Option<String>, bool) {
        let path = self.folder.join(name);
        let add = "SELECT dimension, max_tokens, pooling, normalized FROM rag_add_model($1, $2)";
        let row = self.client.query_one(add, &[&name, &path.to_str()]).unwrap();
        (row.get(0), row.get(1), row.get(2), row.get(3))
    }

    fn vector(&mut self, name: &str, text: &str) -> Vec<f32> {
        let embed = "SELECT rag_embed($1, $2)::real[]";
        self.client.query_one(embed, &[&text, &name]).unwrap().get(0)
    }

    fn vectors(&mut self, name: &str, passages: &[&str]) -> Vec<Vec<f32>> {
        let embed = "SELECT v::real[] FROM unnest(rag_embed_batch($1, $2)) WITH ORDINALITY AS u (v, n) ORDER BY n";
        let rows = self.client.query(embed, &[&passages, &name]).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    fn scores(&mut self, name: &str, first: &str, passages: &[&str]) -> Vec<f64> {
        let rerank = "SELECT score FROM rag_rerank($1, $2, $3) ORDER BY ord";
        let rows = self.client.query(rerank, &[&first, &passages, &name]).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// The question by itself, and the passages in one batch, have the vectors that `pool` makes of those of their tokens.
    fn check_vectors(&mut self, name: &str, pool: fn(&[Vec<f32>]) -> Vec<f32>) {
        let expected: Vec<Vec<f32>> = self.given[name].iter().map(|rows| pool(rows)).collect();
        let mut found = vec![self.vector(name, QUESTION)];
        found.extend(self.vectors(name, &PASSAGES));
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_same(name, found, expected);
        }
    }
}

fn mean(rows: &[Vec<f32>]) -> Vec<f32> {
    let number = |column: usize| rows.iter().map(|row| row[column]).sum::<f32>();
    (0..rows[0].len()).map(|column| number(column) / rows.len() as f32).collect()
}

/// The probabilities of labels with these logits.
fn softmax(logits: &[f32]) -> Vec<f64> {
    let odds: Vec<f64> = logits.iter().map(|logit| f64::from(*logit).exp()).collect();
    odds.iter().map(|one| one / odds.iter().sum::<f64>()).collect()
}

fn static_embeddings(brought: &mut Brought) {
    let black = ["ink", "is", "black", "."];
    assert_eq!(brought.add("static"), (Some(4), 512, Some("mean".to_owned()), true));
    let vectors = brought.vectors("static", &[PASSAGES[0], "Nobody knows", "Paper"]);
    assert_same("static", &vectors[0], &normalized(static_table::mean(&black)));
    assert_same("static", &vectors[1], &[0.0; static_table::DIMENSION]);
    assert_same("static", &vectors[2], &normalized(static_table::mean(&["paper"])));
    let registered = "SELECT count(*) FROM rag.model WHERE name = 'static' AND file = 'model.safetensors' AND length(digest) = 64";
    assert_eq!(count(&mut brought.client, registered), 1);
    let pipeline = "CREATE TABLE sheets (id integer PRIMARY KEY, body text);
        INSERT INTO sheets VALUES (1, 'Ink is black.'), (2, 'Paper');
        SELECT rag_create_pipeline('sheets', 'body', model => 'static', refresh => 'sync');";
    brought.client.batch_execute(pipeline).unwrap();
    let find =
        "SELECT source_key::bigint FROM rag_retrieve('paper', 'sheets', mode => 'dense', k => 1)";
    assert_eq!(count(&mut brought.client, find), 2);
    vectors_without_direction(brought);
    let crafted = brought.folder.join("crafted");
    let add = format!("SELECT * FROM rag_add_model('crafted', '{}')", crafted.display());
    assert_fails(&mut brought.client, &add, &["F0000", "model.safetensors", "there are 73"]);
}

/// A text of unknown tokens is near to nothing: words find it, and its scores are numbers.
fn vectors_without_direction(brought: &mut Brought) {
    let client = &mut brought.client;
    client.batch_execute("INSERT INTO sheets VALUES (3, 'Nobody knows')").unwrap();
    let found = |client: &mut Client, question: &str, mode: &str, options: &str| -> Vec<String> {
        let find = format!(
            "SELECT source_key, score::text FROM rag_retrieve('{question}', 'sheets', mode => '{mode}', options => '{options}') ORDER BY rank"
        );
        let rows = client.query(&find, &[]).unwrap();
        for row in &rows {
            let score: String = row.get(1);
            assert!(score.parse::<f64>().unwrap().is_finite(), "{question}, {mode}: {score}");
        }
        rows.iter().map(|row| row.get(0)).collect()
    };
    assert_eq!(found(client, "paper", "dense", "{}"), ["2", "1"]);
    assert!(found(client, "Nobody knows", "dense", "{}").is_empty());
    assert_eq!(found(client, "Nobody knows", "hybrid", "{}"), ["3"]);
    let mut both = found(client, "Who knows paper?", "hybrid", "{}");
    both.sort();
    assert_eq!(both, ["1", "2", "3"]);
    let near = r#"{"retrieve": {"threshold": 0.5}}"#;
    assert_eq!(found(client, "Who knows paper?", "hybrid", near), ["2"]);
    assert_eq!(found(client, "Nobody knows", "hybrid", near), ["3"]);
}

fn bert_with_cls_pooling_and_a_prefix_for_questions(brought: &mut Brought) {
    assert_eq!(brought.add("bge"), (Some(8), 64, Some("cls".to_owned()), true));
    brought.check_vectors("bge", |rows| normalized(rows[0].clone()));
}

fn cls_pooling_without_types_of_tokens_and_normalisation(brought: &mut Brought) {
    assert_eq!(brought.add("gte"), (Some(8), 64, Some("cls".to_owned()), false));
    brought.check_vectors("gte", |rows| rows[0].clone());
}

fn mpnet(brought: &mut Brought) {
    assert_eq!(brought.add("mpnet"), (Some(8), 64, Some("mean".to_owned()), true));
    brought.check_vectors("mpnet", |rows| normalized(mean(rows)));
}

fn roberta_cross_encoder(brought: &mut Brought) {
    assert_eq!(brought.add("roberta"), (None, 64, None, false));
    let scores = brought.scores("roberta", QUESTION, &PASSAGES);
    let expected = brought.given["roberta"].iter();
    let expected: Vec<f64> =
        expected.map(|rows| 1.0 / (1.0 + f64::from(-rows[0][0]).exp())).collect();
    assert_eq!(scores.len(), expected.len());
    for (score, expected) in scores.iter().zip(&expected) {
        assert!((score - expected).abs() < 1e-4, "{scores:?} are not {expected:?}");
    }
}

/// Which label is entailment is read from their names, in whatever order they are.
fn deberta_for_inference(brought: &mut Brought) {
    let probabilities = softmax(&brought.given["deberta"][0][0]);
    let other = brought.folder.join("deberta-mnli");
    let labels = [
        ("deberta", r#"{"0": "entailment", "1": "neutral", "2": "contradiction"}"#, 0),
        ("deberta-mnli", r#"{"2": "ENTAILMENT", "0": "CONTRADICTION", "1": "NEUTRAL"}"#, 2),
    ];
    fs::create_dir(&other).unwrap();
    for file in ["config.json", "tokenizer.json", "model.onnx"] {
        fs::copy(brought.folder.join("deberta").join(file), other.join(file)).unwrap();
    }
    for (name, labels, entailment) in labels {
        let path = brought.folder.join(name).join("config.json");
        let mut config: HashMap<String, serde_json::Value> =
            serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        config.insert("id2label".to_owned(), serde_json::from_str(labels).unwrap());
        fs::write(&path, serde_json::to_vec(&config).unwrap()).unwrap();
        assert_eq!(brought.add(name), (None, 64, None, false));
        let score = brought.scores(name, PASSAGES[0], &[CLAIM])[0];
        let expected = probabilities[entailment];
        assert!((score - expected).abs() < 1e-4, "{name}: {score} is not {expected}");
    }
    assert!((probabilities[0] - probabilities[2]).abs() > 0.1, "{probabilities:?}");

    let writer = Server::play([Reply::chat("Ink is dark [1].")]);
    let pipeline = format!(
        "CREATE TABLE inks (id integer PRIMARY KEY, body text);
         INSERT INTO inks VALUES (1, '{}');
         SELECT rag_create_pipeline('inks', 'body', refresh => 'sync');
         {}",
        PASSAGES[0],
        provider::server("writer", &writer)
    );
    brought.client.batch_execute(&pipeline).unwrap();
    let answer = "SELECT (claims->0->>'score')::double precision FROM rag_answer_details('Is ink dark?', 'inks', llm => 'writer', options => '{\"verify\": {\"by\": \"deberta\"}}')";
    let score: f64 = brought.client.query_one(answer, &[]).unwrap().get(0);
    assert!((score - probabilities[0]).abs() < 2e-3, "{score} is not {}", probabilities[0]);
}

#[test]
fn models_of_all_families_give_what_their_files_say() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let folder = cluster.folder().join("families");
    let table = [static_table::embeddings("F16")];
    static_table::write(&folder.join("static"), &table, true);
    static_table::write(&folder.join("crafted"), &table, true);
    let crafted = folder.join("crafted/model.safetensors");
    // A byte more than the header tells of.
    fs::write(&crafted, [&static_table::file(&table)[..], b"!"].concat()).unwrap();
    let given = tiny_families::make(&folder, &TOKENS);
    cluster.give(&folder);
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    let is_made = given.is_some();
    let mut brought = Brought { client, folder, given: given.unwrap_or_default() };
    static_embeddings(&mut brought);
    if is_made {
        bert_with_cls_pooling_and_a_prefix_for_questions(&mut brought);
        cls_pooling_without_types_of_tokens_and_normalisation(&mut brought);
        mpnet(&mut brought);
        roberta_cross_encoder(&mut brought);
        deberta_for_inference(&mut brought);
    }
}
