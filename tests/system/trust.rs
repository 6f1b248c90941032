//! Answers of a language model are checked: by words, by another model, and what becomes of those
//! that are doubtful.

use postgres::{Client, Row};

use super::cluster::Cluster;
use super::cross_encoder;
use super::documents::{QUESTION, SETUP, assert_fails};
use super::http_server::{Reply, Server};
use super::provider;

/// The answer to [`QUESTION`] that `llm` writes, in detail.
fn details(client: &mut Client, llm: &str, options: &str) -> Row {
    let query = "SELECT answer, supported, confidence, needs_review, faithfulness,
                        claims::text, coalesce(usage->>'problems', ''), citations::text
                 FROM rag_answer_details($1, llm => $2, options => $3::text::jsonb)";
    client.query_one(query, &[&QUESTION, &llm, &options]).unwrap()
}

fn verdicts(claims: &str) -> Vec<(String, f64)> {
    let claims: Vec<serde_json::Value> = serde_json::from_str(claims).unwrap();
    let read = |it: &serde_json::Value| {
        (it["verdict"].as_str().unwrap().to_owned(), it["score"].as_f64().unwrap())
    };
    claims.iter().map(read).collect()
}

#[test]
fn a_doubtful_answer_is_flagged_or_not_given() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let good = "Open the settings page and choose Reset password [1].";
    let made_up = "Open the settings page and choose Reset password [1]. \
                   Nine elephants guard the vault beneath the harbour [1].";
    let (honest, liar) = (Server::play([Reply::chat(good)]), Server::play([Reply::chat(made_up)]));
    let mut client = cluster.connect();
    let servers = [provider::server("honest", &honest), provider::server("liar", &liar)].concat();
    client.batch_execute(&format!("{SETUP} {servers}")).unwrap();

    let row = details(&mut client, "honest", "{}");
    assert_eq!((row.get(0), row.get(1), row.get(3)), (good, Some(true), false));
    assert!(row.get::<_, f32>(2) > 0.5 && row.get::<_, f32>(4) > 0.5, "{row:?}");

    let row = details(&mut client, "liar", "{}");
    assert_eq!((row.get(0), row.get(1), row.get(3)), (made_up, Some(true), true));
    let found = verdicts(row.get(5));
    assert_eq!((found[0].0.as_str(), found[1].0.as_str()), ("supported", "unsupported"));
    assert!(
        (f64::from(row.get::<_, f32>(4)) - found[1].1).abs() < 1e-3,
        "the weakest claim counts"
    );

    let row = details(&mut client, "liar", "{\"verify\": {\"low_confidence\": \"abstain\"}}");
    assert_eq!((row.get(0), row.get(1)), ("The documents don't say.", Some(false)));
    assert_eq!((row.get(3), row.get(7)), (false, "[]"));
    assert_eq!(verdicts(row.get(5)).len(), 2, "what was wrong is told");

    let row = details(
        &mut client,
        "liar",
        "{\"verify\": {\"low_confidence\": \"abstain\"}, \"answer\": {\"min_confidence\": 0}}",
    );
    assert_eq!((row.get(0), row.get(3)), (made_up, false));
    let row = details(
        &mut client,
        "liar",
        "{\"verify\": {\"by\": \"none\", \"low_confidence\": \"abstain\"}}",
    );
    assert_eq!((row.get(0), row.get(2), row.get(5)), (made_up, None::<f32>, "[]"));
}

#[test]
fn wrong_and_missing_citations_are_told() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let text = "Open the settings page and choose Reset password [3][9]. A link is sent by mail.";
    let http = Server::play([Reply::chat(text)]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", provider::server("writer", &http))).unwrap();
    let row = details(&mut client, "writer", "{}");
    let problems: serde_json::Value = serde_json::from_str(row.get(6)).unwrap();
    let expected = serde_json::json!([
        {"problem": "wrong marker", "marker": 9, "position": 52},
        {"problem": "no citation", "claim_no": 2}
    ]);
    assert_eq!(problems, expected);
    let row = details(&mut client, "writer", "{\"cite\": {\"style\": \"numeric\"}}");
    let lines: Vec<&str> = row.get::<_, &str>(0).lines().collect();
    assert_eq!(
        lines[0],
        "Open the settings page and choose Reset password [1]. A link is sent by mail."
    );
    assert!(lines[2].starts_with("[1] ") && lines.len() == 3, "{lines:?}");
}

#[test]
fn a_language_model_checks_what_another_wrote() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let writer = Server::play([Reply::chat("Pick a fresh secret word in your preferences [1].")]);
    let quoted = "[{\"claim\": 1, \"verdict\": \"supported\", \"source\": 1, \
                   \"quote\": \"choose Reset password\"}]";
    let judge = Server::play([
        Reply::chat(quoted),
        Reply::chat("[{\"claim\": 1, \"verdict\": \"supported\", \"quote\": \"pick a secret\"}]"),
        Reply::chat("I would rather not."),
    ]);
    let mut client = cluster.connect();
    let servers = [provider::server("writer", &writer), provider::server("judge", &judge)].concat();
    client.batch_execute(&format!("{SETUP} {servers}")).unwrap();
    let options = "{\"verify\": {\"by\": \"llm\", \"llm\": \"judge\"}}";

    let row = details(&mut client, "writer", options);
    assert_eq!(verdicts(row.get(5)), [("supported".to_owned(), 1.0)]);
    assert_eq!((row.get(2), row.get(3)), (Some(1.0f32), false));
    let requests = judge.requests();
    let asked = requests[0].text();
    assert!(asked.contains("<<<claim 1 ") && asked.contains("fresh secret word"), "{asked}");
    let span = "SELECT substr(d.body, (c->>'start_char')::int + 1, (c->>'end_char')::int - (c->>'start_char')::int)
                FROM jsonb_array_elements($1::text::jsonb) AS c JOIN docs d ON d.id::text = c->>'source_key'";
    let claims: &str = row.get(5);
    let found: String = client.query_one(span, &[&claims]).unwrap().get(0);
    assert_eq!(found, "choose Reset password");

    let words = details(&mut client, "writer", "{}");
    for problems in ["", "[{\"problem\": \"unreadable verdicts\"}]"] {
        let row = details(&mut client, "writer", options);
        assert_eq!(verdicts(row.get(5)), verdicts(words.get(5)), "words decide");
        assert_eq!((row.get(3), row.get(6)), (true, problems));
    }
}

#[test]
fn a_model_of_inference_checks_what_was_written() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let folder = cluster.folder().join("nli");
    let claim = "Pick a fresh secret word in your preferences.";
    let context = "To reset a password, open the settings page and choose Reset password. A link is sent by mail.";
    let Some(logits) = cross_encoder::make(&folder, 3, &[(context, claim)]) else { return };
    let config = std::fs::read_to_string(folder.join("config.json")).unwrap();
    let labels = ["contradiction", "entailment", "neutral"];
    let named = (0..3).fold(config, |config, n| config.replace(&format!("LABEL_{n}"), labels[n]));
    std::fs::write(folder.join("config.json"), named).unwrap();
    cluster.give(&folder);
    let odds: Vec<f64> = logits[0].iter().map(|logit| f64::from(*logit).exp()).collect();
    let expected = odds[1] / odds.iter().sum::<f64>();

    let writer = Server::play([Reply::chat("Pick a fresh secret word in your preferences [1].")]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", provider::server("writer", &writer))).unwrap();
    client.execute("SELECT rag_add_model('nli', $1)", &[&folder.to_str()]).unwrap();
    let row = details(&mut client, "writer", "{\"verify\": {\"by\": \"nli\"}}");
    let found = verdicts(row.get(5));
    assert!((found[0].1 - expected).abs() < 2e-3, "{found:?}, not {expected}");
    assert_eq!(found[0].0 == "supported", expected >= 0.5);
    assert!((f64::from(row.get::<_, f32>(2)) - expected).abs() < 2e-3);

    let ask = |verifier: &str| {
        format!(
            "SELECT rag_answer('{QUESTION}', llm => 'writer', options => '{{\"verify\": {{\"by\": \"{verifier}\"}}}}')"
        )
    };
    assert_fails(&mut client, &ask("all-minilm-l6-v2"), &["42809", "reads no pairs"]);
    assert_fails(&mut client, &ask("nobody"), &["22023", "unknown verifier"]);
}

#[test]
fn answerers_are_compared_on_judged_questions() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let writer = Server::play([Reply::chat("Backups are kept for thirty days [1][2].")]);
    let judge = Server::answer(|request| {
        let text = request.text();
        Reply::chat(if text.contains("<<<claim 1 ") {
            "[{\"claim\": 1, \"verdict\": \"supported\", \"source\": 1, \"quote\": \"Backups are made every night\"}]"
        } else if text.contains("You grade how useful") {
            "[2, 0, 0]"
        } else {
            "{\"questions\": [\"How long are backups kept?\"]}"
        })
    });
    let mut client = cluster.connect();
    let servers = [provider::server("writer", &writer), provider::server("judge", &judge)].concat();
    client.batch_execute(&format!("{SETUP} {servers}")).unwrap();
    client
        .batch_execute(
            "SELECT rag_eval_load('help', '[{\"question\": \"How long are backups kept?\", \
                 \"relevant\": [\"3\"], \"answer\": \"Backups are kept for thirty days.\"}]')",
        )
        .unwrap();
    let query = "SELECT metric, value FROM rag_eval(
            configurations => '{\"quoted\": {}, \"written\": {\"llm\": \"writer\", \"verify\": {\"by\": \"words\"}}}',
            options => '{\"answers\": true, \"judge\": \"llm\", \"llm\": \"judge\"}')
        WHERE configuration = 'written' AND k IS NULL";
    let rows = client.query(query, &[]).unwrap();
    let value = |metric: &str| -> f64 {
        let row = rows.iter().find(|row| row.get::<_, &str>(0) == metric);
        row.unwrap_or_else(|| panic!("no {metric}")).get(1)
    };
    for metric in
        ["exact_match", "token_f1", "context_precision", "answer_holds", "answer_llm_calls"]
    {
        assert_eq!(value(metric), 1.0, "{metric}");
    }
    assert!(value("answer_relevance") > 0.99 && value("semantic_similarity") > 0.99);
    assert_eq!((value("abstention"), value("needs_review")), (0.0, 0.0));
    let kept = "SELECT answer FROM rag.eval_result WHERE configuration = 'written'";
    let kept: String = client.query_one(kept, &[]).unwrap().get(0);
    assert_eq!(kept, "Backups are kept for thirty days [1][2].");
}
