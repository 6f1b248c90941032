//! Queries that do not run: what is mended without the language model, and what it is told.

use serde_json::json;

use super::{ask, messages, query, start};

/// A schema that the search path does not have, with columns that are called nearly as others.
const DEPOT: &str = "
    RESET ROLE;
    CREATE SCHEMA depot;
    CREATE TABLE depot.boxes (box_id integer PRIMARY KEY, weight double precision);
    CREATE TABLE depot.moves (m_box_id integer, day date, cost integer);
    INSERT INTO depot.boxes VALUES (1, 1.25), (2, 2.5);
    INSERT INTO depot.moves VALUES (2, '2026-01-31', 7);
    GRANT USAGE ON SCHEMA depot TO agent;
    GRANT SELECT ON depot.boxes TO agent;
    GRANT SELECT (m_box_id, day) ON depot.moves TO agent;
    SET ROLE agent";

#[test]
fn a_misspelled_column_needs_no_second_call() {
    let sql = "SELECT o.cty FROM orders AS o ORDER BY o.id LIMIT 1";
    let Some((_cluster, http, mut client)) = start([query(sql)]) else { return };
    // The hint is read in English, whatever the session speaks.
    let answer = ask(&mut client, "Which city was first?", "NULL", "{}");
    assert_eq!(answer.rows, Some(json!([{"city": "Ghent"}])));
    assert_eq!(answer.attempts.len(), 2);
    assert_eq!(
        (&answer.attempts[0]["by"], &answer.attempts[1]["by"]),
        (&json!("model"), &json!("hint"))
    );
    assert_eq!(http.requests().len(), 1);
}

#[test]
fn what_can_be_mended_in_one_way_needs_no_second_call() {
    let cases = [
        ("SELECT orders.city FROM orders AS o WHERE o.id = 1", json!([{"city": "Ghent"}])),
        ("SELECT count(*) AS boxes FROM boxes", json!([{"boxes": 2}])),
        ("SELECT round(avg(b.weight), 1) AS mean FROM depot.boxes AS b", json!([{"mean": 1.9}])),
        // PostgreSQL suggests the other side of the equation.
        (
            "SELECT b.weight FROM depot.moves AS m JOIN depot.boxes AS b ON m.box_id = b.box_id",
            json!([{"weight": 2.5}]),
        ),
    ];
    let Some((_cluster, http, mut client)) = start(cases.clone().map(|(sql, _)| query(sql))) else {
        return;
    };
    client.batch_execute(DEPOT).unwrap();
    for (sql, rows) in cases {
        let answer = ask(&mut client, "What is it?", "NULL", r#"{"attempts": 1}"#);
        assert_eq!(answer.rows, Some(rows), "{sql}: {:?}", answer.attempts);
        assert_eq!(answer.attempts[1]["by"], "hint");
    }
    assert_eq!(http.requests().len(), 4);
}

#[test]
fn a_model_is_told_the_columns_of_the_tables_in_its_query() {
    let wrong = query("SELECT m.weather FROM depot.moves AS m JOIN customers AS c ON true");
    let Some((_cluster, http, mut client)) =
        start([wrong, query("SELECT 1 AS one FROM orders LIMIT 1")])
    else {
        return;
    };
    client.batch_execute(DEPOT).unwrap();
    let answer = ask(&mut client, "What is it?", "NULL", "{}");
    assert_eq!(answer.rows, Some(json!([{"one": 1}])));
    let repair = messages(&http.requests()[1]).pop().unwrap().1;
    let columns =
        " customers has the columns id, name; depot.moves has the columns m_box_id, day. ";
    assert!(repair.contains(columns), "{repair}");
}

/// Tables that refer to each other, which nobody has declared.
const CLINIC: &str = "
    RESET ROLE;
    CREATE TABLE patients (patient_id integer PRIMARY KEY, name text);
    CREATE TABLE treatments (treatment_id integer PRIMARY KEY, patient_id integer, started date);
    CREATE TABLE outcomes (outcome_id integer PRIMARY KEY, treatment_id integer, score integer);
    INSERT INTO patients VALUES (1, 'Ada'), (2, 'Grace');
    INSERT INTO treatments VALUES (5, 2, '2026-01-31'), (6, 1, '2026-02-28');
    INSERT INTO outcomes VALUES (9, 5, 70), (10, 6, 40);
    GRANT SELECT ON patients, outcomes TO agent;
    GRANT SELECT (treatment_id, patient_id) ON treatments TO agent;
    SET ROLE agent";

#[test]
fn tables_join_by_way_of_a_third_though_no_key_is_declared() {
    let sql = "SELECT p.name FROM outcomes AS o JOIN patients AS p ON o.patient_id = p.patient_id ORDER BY o.score";
    let Some((_cluster, http, mut client)) = start([query(sql), query(sql)]) else { return };
    client.batch_execute(CLINIC).unwrap();
    let answer = ask(&mut client, "Who feels best?", "NULL", r#"{"attempts": 1}"#);
    assert_eq!(answer.rows, Some(json!([{"name": "Ada"}, {"name": "Grace"}])));
    assert_eq!(answer.attempts[1]["by"], "hint");
    let asked = messages(&http.requests()[0]).pop().unwrap().1;
    for part in [
        "  patient_id integer references patients (patient_id)\n);",
        "  treatment_id integer references treatments (treatment_id),",
    ] {
        assert!(asked.contains(part), "{asked}");
    }
    // There is no way over what the caller may not read.
    client
        .batch_execute(
            "RESET ROLE; REVOKE ALL (patient_id) ON treatments FROM agent; SET ROLE agent",
        )
        .unwrap();
    let call = "SELECT * FROM rag_sql('Who feels best?', options => '{\"attempts\": 1}')";
    let error = client.query(call, &[]).unwrap_err();
    let error = error.as_db_error().unwrap();
    assert_eq!(error.code().code(), "38000");
    let detail = error.detail().unwrap();
    assert!(detail.contains("o.patient_id") && !detail.contains("via"), "{detail}");
    assert_eq!(http.requests().len(), 2);
}

#[test]
fn prompts_about_the_same_tables_begin_alike() {
    let Some((_cluster, http, mut client)) = start([query("TABLE orders"), query("TABLE tenants")])
    else {
        return;
    };
    for question in ["How many?", "How much?"] {
        ask(&mut client, question, "NULL", "{}");
    }
    let prompts: Vec<Vec<(String, String)>> = http.requests().iter().map(messages).collect();
    assert_eq!(prompts[0][0], prompts[1][0]);
    let before = |prompt: &[(String, String)]| {
        prompt[1].1.split_once("Question: ").map(|(before, _)| before.to_owned())
    };
    assert!(before(&prompts[0]).is_some());
    assert_eq!(before(&prompts[0]), before(&prompts[1]));
}
