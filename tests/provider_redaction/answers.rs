//! What is asked and answered: whole, in pieces, and in the form of a schema.

use super::*;

#[test]
fn answers_have_what_was_not_sent() {
    let said = "It is [EMAIL_1] of [PERSON_1], born [PERSON_2], at [PHONE_1]; [EMAIL_9] and [email_1] are nobody [1].";
    let heard = "It is anna@example.com of Anna Schmidt, born Schmidt, at +49 30 1234567; [EMAIL_9] and [email_1] are nobody [1].";
    for api in APIS {
        let server = Server::play([says(api, said)]);
        let told = call(&request(api, &server, &[("system", SYSTEM), ("user", QUESTION)])).unwrap();
        assert_eq!(told.text, heard, "{api}");
        let sent = check_wire(&server, api).concat();
        let expected = "Whose are [EMAIL_1], [IBAN_1], [CARD_1], [IP_1], https://[CREDENTIALS_1]@db.example.com/ and SSN [ID_1]? [PERSON_2]'s?";
        assert!(sent.contains(expected), "{api}: {sent}");
        assert!(sent.contains("Herr [PERSON_1]. Never call [PHONE_1]."), "{api}: {sent}");
    }
}

#[test]
fn what_an_earlier_call_withheld_is_not_sent_later() {
    let server = Server::play([says("openai", "It was [PERSON_1].")]);
    let note = "Note: Anna Schmidt signed it. Did Schmidt pay?";
    let mut asked = request("openai", &server, &[("user", note)]);
    asked.provider.special.withheld = WithheldValues::begin();
    let withheld = asked.provider.special.withheld.clone();
    withheld.learn(["It was signed by Mrs. Anna Schmidt, see a@b.de."], &mut || {});
    assert_eq!(call(&asked).unwrap().text, "It was Anna Schmidt.");
    let sent = check_wire(&server, "openai").concat();
    assert!(sent.contains("Note: [PERSON_1] signed it. Did [PERSON_2] pay?"), "{sent}");
}

#[test]
fn without_the_option_texts_are_sent_as_they_are() {
    let server = Server::play([says("openai", "It is [EMAIL_1].")]);
    let told = call(&chat("openai", &server, &[("user", "Is it anna@example.com?")])).unwrap();
    assert_eq!(told.text, "It is [EMAIL_1].");
    assert!(server.requests()[0].text().contains("anna@example.com"));
}

#[test]
fn all_of_a_conversation_has_the_same_placeholders() {
    let server = Server::play([says("openai", "[EMAIL_2] is not [EMAIL_1].")]);
    let messages = [
        ("user", "Who is anna@example.com?"),
        ("assistant", "anna@example.com wrote to bob@example.com [1]."),
        ("user", "And bob@example.com? And [EMAIL_1]?"),
    ];
    let told = call(&request("openai", &server, &messages)).unwrap();
    assert_eq!(told.text, "bob@example.com is not anna@example.com.");
    let sent = check_wire(&server, "openai").concat();
    assert!(sent.contains("[EMAIL_1] wrote to [EMAIL_2] [1]."), "{sent}");
    assert!(sent.contains("And [EMAIL_2]? And [EMAIL_3]?"), "{sent}");
}

#[test]
fn two_persons_with_the_same_question_get_their_own_values() {
    let memory = ProviderMemory::default();
    let server = Server::answer(|_| says("openai", "Write to [EMAIL_1]."));
    for address in ["anna@example.com", "bob@example.com"] {
        let asked = request("openai", &server, &[("user", &format!("Is {address} right?"))]);
        let told = generate(&asked, &memory, &Unlimited, &|| false).unwrap();
        assert_eq!(told.text, format!("Write to {address}."));
    }
    let sent = check_wire(&server, "openai");
    assert_eq!(sent[0], sent[1], "the provider cannot tell them apart");
}

#[test]
fn a_placeholder_in_pieces_is_told_whole() {
    let pieces = [
        "It is [",
        "EM",
        "AIL_",
        "1",
        "] of [PERSON_1",
        "], see [1] and [EMA",
        "IL_77] and [EMAIL",
    ];
    for api in APIS {
        let server = Server::play([streams(api, &pieces)]);
        let asked = request(api, &server, &[("system", SYSTEM), ("user", QUESTION)]);
        let mut told = Vec::new();
        let memory = ProviderMemory::default();
        let hear = &mut |piece: &str| {
            told.push(piece.to_owned());
            Ok(())
        };
        let whole = generate_stream(&asked, &memory, &Unlimited, &|| false, hear).unwrap();
        let expected = "It is anna@example.com of Anna Schmidt, see [1] and [EMAIL_77] and [EMAIL";
        assert_eq!(whole.text, expected, "{api}");
        assert_eq!(told.concat(), expected, "{api}");
        assert!(told.iter().all(|piece| !piece.is_empty()), "{api}: {told:?}");
        assert_eq!(told[0], "It is ", "{api}");
        check_wire(&server, api);
    }
}

#[test]
fn an_answer_of_a_form_is_checked_with_its_values() {
    let schema = json!({
        "type": "object",
        "properties": {"address": {"type": "string", "pattern": "^[^@ ]+@example[.]com$", "examples": ["anna@example.com"]}},
        "required": ["address"],
    });
    let server = Server::play([
        says("openai", r#"{"address": "[EMAIL_5]"}"#),
        says("openai", r#"{"address": "[EMAIL_1]"}"#),
    ]);
    let mut asked =
        request("openai", &server, &[("user", "Where does Anna Schmidt, anna@example.com, live?")]);
    asked.schema = Some(schema.to_string());
    let told = call(&asked).unwrap();
    assert_eq!(told.text, r#"{"address": "anna@example.com"}"#);
    let sent: Vec<Value> = server.requests().iter().map(provider::body).collect();
    assert_eq!(sent.len(), 2, "the first one does not fit");
    assert!(!sent[1].to_string().contains("anna@example.com"));
    let examples =
        &sent[0]["response_format"]["json_schema"]["schema"]["properties"]["address"]["examples"];
    assert_eq!(*examples, json!(["[EMAIL_1]"]));
}
