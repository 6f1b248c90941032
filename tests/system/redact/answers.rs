//! Answers, traces and remembered replies of a provider that reads placeholders.

use super::*;

#[test]
fn answers_are_about_the_texts_as_they_were() {
    let http =
        Server::answer(|_| Reply::chat("They go to [EMAIL_1] on the first day of each month [1]."));
    let Some((_cluster, mut client)) = start(&http) else { return };
    let ask = "SELECT answer || citations::text FROM rag_answer_details('Where do the invoices of Anna Schmidt go?', k => 1, llm => 'writer')";
    let told = text(&mut client, ask);
    assert!(
        told.starts_with("They go to anna@example.com on the first day of each month [1]."),
        "{told}"
    );
    assert!(
        told.contains("Her invoices go to anna@example.com"),
        "the citation is of the row: {told}"
    );
    let streamed = text(
        &mut client,
        "SELECT string_agg(rag_answer_stream, '') FROM rag_answer_stream('Where do the invoices of Anna Schmidt go?', k => 1, llm => 'writer')",
    );
    assert!(streamed.contains("anna@example.com") && !streamed.contains("EMAIL_"), "{streamed}");
    check_silent(&http);
    assert!(http.requests().len() > 1);
}

#[test]
fn a_trace_holds_placeholders() {
    let http =
        Server::answer(|_| Reply::chat("They go to [EMAIL_1] on the first day of each month [1]."));
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute("SET rag.trace = 'full'").unwrap();
    let ask =
        "SELECT rag_answer('Where do the invoices of Frau Schmidt go?', k => 1, llm => 'writer')";
    assert!(text(&mut client, ask).contains("anna@example.com"));
    let kept = text(&mut client, "SELECT to_jsonb(t)::text FROM rag.trace_log AS t");
    assert!(kept.contains("[EMAIL_1]") && kept.contains("Frau [PERSON_1]"), "{kept}");
    assert!(PERSONAL.iter().all(|value| !kept.contains(value)), "{kept}");
    // The built-in answerer sends nothing, and its trace says what was asked.
    client.batch_execute("DELETE FROM rag.trace_log").unwrap();
    text(
        &mut client,
        "SELECT rag_answer('Where do the invoices of Frau Schmidt go?', llm => 'extractive')",
    );
    let kept = text(&mut client, "SELECT question FROM rag.trace_log");
    assert_eq!(kept, "Where do the invoices of Frau Schmidt go?");
}

#[test]
fn a_trace_follows_the_options_that_were_used() {
    let http =
        Server::answer(|_| Reply::chat("They go to [EMAIL_1] on the first day of each month [1]."));
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute("SET rag.trace = 'full'").unwrap();
    client
        .batch_execute(
            "BEGIN;
             DECLARE told CURSOR FOR SELECT * FROM rag_answer_stream(
                 'Where do the invoices of Frau Schmidt go?', k => 1, llm => 'writer');
             FETCH 1 FROM told;
             ALTER SERVER writer OPTIONS (DROP redact);
             FETCH ALL FROM told;
             COMMIT;",
        )
        .unwrap();
    let kept = text(&mut client, "SELECT to_jsonb(t)::text FROM rag.trace_log AS t");
    assert!(kept.contains("Frau [PERSON_1]"), "{kept}");
    assert!(PERSONAL.iter().all(|value| !kept.contains(value)), "{kept}");
}

#[test]
fn a_remembered_reply_is_that_of_the_same_person() {
    let http = Server::answer(|_| Reply::chat("Write to [EMAIL_1]."));
    let Some((cluster, mut client)) = start(&http) else { return };
    client
        .batch_execute("CREATE ROLE other LOGIN; GRANT USAGE ON FOREIGN SERVER writer TO other")
        .unwrap();
    let ask = |client: &mut Client, address: &str| {
        text(client, &format!("SELECT rag_generate('Is {address} right?', 'writer')"))
    };
    client.batch_execute("SET rag.cache = 'exact'").unwrap();
    // What both send is the same, letter by letter; what they get back is their own.
    for (address, calls) in
        [("anna@example.com", 1), ("anna@example.com", 1), ("bob@example.com", 2)]
    {
        assert_eq!(ask(&mut client, address), format!("Write to {address}."));
        assert_eq!(http.requests().len(), calls, "{address}");
    }
    let mut other = cluster.connect();
    other.batch_execute("SET ROLE other; SET rag.cache = 'exact'").unwrap();
    assert_eq!(ask(&mut other, "anna@example.com"), "Write to anna@example.com.");
    assert_eq!(http.requests().len(), 3, "another role's replies are not given again");
    check_silent(&http);
    // Without the option the same words are another question.
    client.batch_execute("ALTER SERVER writer OPTIONS (DROP redact)").unwrap();
    assert_eq!(ask(&mut client, "anna@example.com"), "Write to [EMAIL_1].");
    assert_eq!(http.requests().len(), 4);
}

#[test]
fn entities_to_be_picked_are_personal_data() {
    let http = Server::answer(|request| {
        Reply::chat(if request.text().contains("Predicates: ") {
            r#"{"entities": ["Mrs. [PERSON_1]"], "predicates": ["managed_by"]}"#
        } else {
            "[PERSON_1] manages it [1]."
        })
    });
    let Some((_cluster, mut client)) = start(&http) else { return };
    client
        .batch_execute(
            r#"CREATE TABLE deal (id integer PRIMARY KEY, body text, owner text, phone text, manager text);
               INSERT INTO deal VALUES (1, 'The deal is about wheat.', 'anna@example.com', '+49 30 1234567', 'Mrs. Anna Schmidt');
               SELECT rag_create_pipeline('deal', 'body', metadata => ARRAY['owner', 'phone', 'manager'], refresh => 'sync',
                   options => '{"graph": {"entities": "rules", "relations":
                       {"owner": "owned_by", "phone": "has_phone", "manager": "managed_by"}}}')"#,
        )
        .unwrap();
    let ask =
        "SELECT rag_answer('Who manages the deal?', 'deal', strategy => 'graph', llm => 'writer')";
    assert_eq!(text(&mut client, ask), "Anna Schmidt manages it [1].");
    let menu = http.requests()[0].text().to_owned();
    for told in ["has_phone [PHONE_1]", "managed_by Mrs. [PERSON_1]", "owned_by [EMAIL_1]"] {
        assert!(menu.contains(told), "{told} is not in {menu}");
    }
    for request in http.requests() {
        let sent = request.text().to_lowercase();
        assert!(!sent.contains("anna") && !sent.contains("1234567"), "{sent}");
    }
}
