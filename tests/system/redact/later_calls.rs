//! Names that one call withholds, in the calls that follow it: of strategies, conversations, routing and reranking.

use super::*;

/// A contract of which one row says who has signed it, with a title by which the name is known as one.
const CONTRACT: &str = "
    CREATE TABLE contract (id integer PRIMARY KEY, body text);
    INSERT INTO contract VALUES
        (1, 'The contract of the mill was signed by Mrs. Anna Schmidt.'),
        (2, 'The contract of the mill has forty pages.'),
        (3, 'The contract of the mill ends in May.');
    SELECT rag_create_pipeline('contract', 'body', refresh => 'sync');";

/// Says who has signed, without the title, to whoever may know it; and writes the question of a conversation.
fn signer(request: &Request) -> Reply {
    let text = request.text();
    Reply::chat(if text.contains("Answer: The contract") {
        "When does the contract of [PERSON_1] end?"
    } else if text.contains("signed by") {
        "The contract was signed by [PERSON_1] [1]."
    } else {
        "It ends in May [1]."
    })
}

#[test]
fn what_is_made_of_a_reply_is_sent_without_its_names() {
    let http = Server::answer(signer);
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute(CONTRACT).unwrap();
    for strategy in ["refine", "tree_summarize"] {
        let before = http.requests().len();
        let ask = format!(
            "SELECT rag_answer('Who signed the contract of the mill?', 'contract', k => 3, llm => 'writer',
                               strategy => '{strategy}', options => '{{\"answer\": {{\"group_size\": 1}}}}')"
        );
        assert!(text(&mut client, &ask).contains("signed by Anna Schmidt"), "{strategy}");
        let requests = http.requests();
        let is_note = |it: &&Request| it.text().contains("The contract was signed by [PERSON_1]");
        assert!(requests[before..].iter().any(|it| is_note(&it)), "{strategy} sends a note");
    }
    check_silent(&http);
}

#[test]
fn a_conversation_goes_on_without_the_names_of_its_turns() {
    let http = Server::answer(signer);
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute(CONTRACT).unwrap();
    let id = text(&mut client, "SELECT rag_conversation()::text");
    for question in ["Who signed the contract of the mill?", "And when does it end?"] {
        let ask = format!(
            "SELECT rag_answer('{question}', 'contract', k => 3, llm => 'writer',
                               options => '{{\"answer\": {{\"conversation\": \"{id}\"}}}}')"
        );
        text(&mut client, &ask);
    }
    let turns = "SELECT string_agg(standalone || ' ' || coalesce(withheld::text, ''), '; ' ORDER BY id) FROM rag.conversation_turn";
    let withheld = r#"{"Schmidt": "person", "Anna Schmidt": "person"}"#;
    assert_eq!(
        text(&mut client, turns),
        format!(
            "Who signed the contract of the mill? {withheld}; When does the contract of Anna Schmidt end? {withheld}"
        )
    );
    assert_eq!(http.requests().len(), 3);
    assert!(http.requests()[1].text().contains("Answer: The contract was signed by [PERSON_1]"));
    check_silent(&http);
}

/// Deeds that name who has signed, and no title by which the name would be known as one.
const DEEDS: &str = r#"
    CREATE TABLE deed (id integer PRIMARY KEY, body text);
    INSERT INTO deed VALUES
        (1, 'The deed of the mill was signed by Schmidt.'),
        (2, 'The library opens at nine.');
    SELECT rag_create_pipeline('deed', 'body', refresh => 'sync',
                               options => '{"description": "what Mrs. Anna Schmidt has signed"}');"#;

#[test]
fn what_chooses_a_pipeline_announces_names_of_the_answer() {
    let http = Server::play([Reply::chat("deed"), Reply::chat("It was signed by [PERSON_1] [1].")]);
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute(DEEDS).unwrap();
    let ask =
        "SELECT rag_answer('Who signed the deed of the mill?', 'auto', k => 1, llm => 'writer',
                                 options => '{\"retrieve\": {\"route\": \"llm\"}}')";
    let told = text(&mut client, ask);
    assert!(told.contains("signed by Schmidt"), "{told}");
    let sent = |number: usize| http.requests()[number].text().to_owned();
    assert!(sent(0).contains("deed: what Mrs. [PERSON_1] has signed"), "{}", sent(0));
    assert!(sent(1).contains("was signed by [PERSON_1]."), "{}", sent(1));
    // The session remembers the choice, and with it the names.
    text(&mut client, ask);
    assert_eq!(http.requests().len(), 3);
    assert!(sent(2).contains("was signed by [PERSON_1]."), "{}", sent(2));
    check_silent(&http);
    // Nothing else would have known the name.
    text(&mut client, &ask.replace("'auto'", "'deed'"));
    assert!(sent(3).contains("was signed by Schmidt."), "{}", sent(3));
}

#[test]
fn what_ranks_passages_announces_names_of_the_answer() {
    let http =
        Server::play([Reply::chat("1: 10"), Reply::chat("It was signed by [PERSON_1] [1].")]);
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute(DEEDS).unwrap();
    client.batch_execute("INSERT INTO deed VALUES (3, 'Mrs. Anna Schmidt has a dog.')").unwrap();
    let ask =
        "SELECT rag_answer('Who signed the deed of the mill?', 'deed', k => 1, llm => 'writer',
                                 options => '{\"retrieve\": {\"rerank\": \"llm\"}}')";
    let told = text(&mut client, ask);
    assert!(told.contains("signed by Schmidt"), "{told}");
    let sent: Vec<String> = http.requests().iter().map(|it| it.text().to_owned()).collect();
    assert_eq!(sent.len(), 2);
    assert!(sent[0].contains("Mrs. [PERSON_"), "{}", sent[0]);
    assert!(sent[1].contains("was signed by [PERSON_1]."), "{}", sent[1]);
    assert!(!sent[1].contains("Mrs. "), "the answer is made of one chunk: {}", sent[1]);
    check_silent(&http);
}
