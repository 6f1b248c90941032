//! What a token classifier finds, in all that is sent.

use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{Error, ErrorKind};
use pg_rag::protocol::{EmbedRequest, Lane, ModelRef, RerankRequest};
use pg_rag::provider::client_aid::{NameFinder, NameSearch};
use pg_rag::provider::schema::{SchemaCheck, SchemaFit};
use pg_rag::provider::{embed, rerank};
use pg_rag::text::token_labels::LabelledSpan;

use super::*;

/// A model that finds these names, and has an error for everything where there is one.
struct Labeller(&'static [(&'static str, &'static str)], Option<Error>);

impl SchemaCheck for Labeller {
    fn check(&self, schema: &str, answer: Option<&str>) -> Result<SchemaFit> {
        Unlimited.check(schema, answer)
    }
}

impl NameFinder for Labeller {
    fn names(&self, search: &NameSearch<'_>) -> Result<Vec<Vec<LabelledSpan>>> {
        assert_eq!(search.model.name, "names");
        self.1.clone().map_or(Ok(()), Err)?;
        let of_text = |text: &String| {
            let span = |(name, kind): &(&str, &str)| {
                let at = text.find(name)?;
                Some(LabelledSpan { place: at..at + name.len(), kind: (*kind).to_owned() })
            };
            let mut found: Vec<LabelledSpan> = self.0.iter().filter_map(span).collect();
            found.sort_by_key(|it| it.place.start);
            found
        };
        Ok(search.texts.iter().map(of_text).collect())
    }
}

const NAMES: &[(&str, &str)] =
    &[("anna lind", "PER"), ("main road 5, +49 30 1234567", "ADDRESS"), ("acme", "MISC")];

fn hiding_names(server: &Server) -> ProviderConfig {
    let mut config = hiding("openai", server);
    let (name, path) = ("names".to_owned(), "/srv/names".to_owned());
    config.special.redact_model = Some(ModelRef { name, path, file: None, digest: None });
    config
}

#[test]
fn what_a_model_finds_is_not_sent_either() {
    let server =
        Server::play([says("openai", "[PERSON_1] of [LOCATION_1] calls [PHONE_1]; [DATA_1].")]);
    let messages = [
        ("system", "anna lind lives in main road 5, +49 30 1234567."),
        ("user", "does anna lind work for acme? write to anna@example.com."),
    ];
    let asked =
        GenerateRequest { provider: hiding_names(&server), ..chat("openai", &server, &messages) };
    let aid = Labeller(NAMES, None);
    let told = generate(&asked, &ProviderMemory::default(), &aid, &|| false).unwrap();
    assert_eq!(told.text, "anna lind of main road 5 calls +49 30 1234567; acme.");
    let sent = check_wire(&server, "openai").concat();
    assert!(sent.contains("[PERSON_1] lives in [LOCATION_1], [PHONE_1]."), "{sent}");
    assert!(sent.contains("does [PERSON_1] work for [DATA_1]? write to [EMAIL_1]."), "{sent}");
}

#[test]
fn what_a_model_has_found_once_is_not_sent_later() {
    let server = Server::answer(|_| says("openai", "It was [PERSON_1] of [DATA_1]."));
    let mut provider = hiding_names(&server);
    provider.special.withheld = WithheldValues::begin();
    let withheld = provider.special.withheld.clone();
    let ask = |text: &str, aid: &Labeller| {
        let chat = chat("openai", &server, &[("user", text)]);
        let asked = GenerateRequest { provider: provider.clone(), ..chat };
        generate(&asked, &ProviderMemory::default(), aid, &|| false).unwrap()
    };
    let told = ask("who is anna lind of acme?", &Labeller(NAMES, None));
    assert_eq!(json!(told.withheld), json!({"acme": "data", "anna lind": "person"}));
    withheld.add(told.withheld);
    // Here the model finds nothing.
    let told = ask("anna lind left acme.", &Labeller(&[], None));
    assert_eq!(told.text, "It was anna lind of acme.");
    assert!(told.withheld.is_empty(), "only what is new is told");
    let sent = check_wire(&server, "openai");
    assert!(sent[1].contains("[PERSON_1] left [DATA_1]."), "{}", sent[1]);
}

#[test]
fn streams_forms_and_ranks_tell_what_was_found_for_them() {
    let found = json!({"acme": "data", "anna lind": "person"});
    let server = Server::play([
        streams("openai", &["No."]),
        says("openai", "7"),
        says("openai", "{}"),
        Reply::json(200, r#"{"results": [{"index": 0, "relevance_score": 0.5}]}"#),
    ]);
    let (aid, memory) = (Labeller(NAMES, None), ProviderMemory::default());
    let provider = hiding_names(&server);
    let messages = [("user", "who is anna lind of acme?")];
    let mut asked =
        GenerateRequest { provider: provider.clone(), ..chat("openai", &server, &messages) };
    let told = generate_stream(&asked, &memory, &aid, &|| false, &mut |_| Ok(())).unwrap();
    assert_eq!(json!(told.withheld), found);
    // The first reply does not fit, and the second one tells what was found for both.
    asked.schema = Some(r#"{"type": "object"}"#.to_owned());
    let told = generate(&asked, &memory, &aid, &|| false).unwrap();
    assert_eq!((told.text.as_str(), json!(told.withheld)), ("{}", found.clone()));
    let (query, passages) = ("who is anna lind?".to_owned(), vec!["she is of acme".to_owned()]);
    let ranked =
        rerank(&RerankRequest { provider, query, passages }, &memory, &aid, &|| false).unwrap();
    assert_eq!((ranked.scores.len(), json!(ranked.withheld)), (1, found));
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn names_in_escapes_and_in_streams_are_put_back() {
    let pieces = ["It is [PER", "SON_1", "]."];
    let server = Server::play([streams("openai", &pieces)]);
    let messages = [("user", "{\"to\": \"x\\nanna lind\"} and the anna lind of acme")];
    let asked =
        GenerateRequest { provider: hiding_names(&server), ..chat("openai", &server, &messages) };
    let (aid, mut heard) = (Labeller(NAMES, None), String::new());
    let hear = &mut |piece: &str| {
        heard += piece;
        Ok(())
    };
    let told = generate_stream(&asked, &ProviderMemory::default(), &aid, &|| false, hear).unwrap();
    assert_eq!((told.text.as_str(), heard.as_str()), ("It is anna lind.", "It is anna lind."));
    let sent = server.requests()[0].text().to_owned();
    assert!(!sent.contains("anna") && !sent.contains("acme"), "{sent}");
}

#[test]
fn nothing_is_sent_that_a_model_has_not_read() {
    let server = Server::answer(|_| says("openai", "no"));
    let late = Error::new(ErrorKind::ProviderTimeout, "model \"names\" has not found it");
    let (aid, memory) = (Labeller(NAMES, Some(late.hint("Wait."))), ProviderMemory::default());
    let provider = hiding_names(&server);
    let messages = [("user", "who is anna lind?")];
    let asked =
        GenerateRequest { provider: provider.clone(), ..chat("openai", &server, &messages) };
    let texts = vec!["anna lind".to_owned()];
    let (kind, lane) = (EmbeddingKind::Passage, Lane::Bulk);
    let to_embed = EmbedRequest {
        provider: provider.clone(),
        dimension: None,
        lane,
        kind,
        texts: texts.clone(),
    };
    let to_rank = RerankRequest { provider, query: "who?".to_owned(), passages: texts };
    let hear = &mut |_: &str| Ok(());
    for error in [
        generate(&asked, &memory, &aid, &|| false).unwrap_err(),
        generate_stream(&asked, &memory, &aid, &|| false, hear).unwrap_err(),
        embed(&to_embed, &memory, &aid, &|| false).unwrap_err(),
        rerank(&to_rank, &memory, &aid, &|| false).unwrap_err(),
        // Where no model is run at all.
        generate(&asked, &memory, &Unlimited, &|| false).unwrap_err(),
    ] {
        let expected = "nothing was sent to provider \"test\": ";
        assert!(error.message().starts_with(expected), "{error}");
        assert!(!error.message().contains("anna"), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn embedded_and_ranked_texts_have_no_names_of_a_model() {
    let vector = json!({"data": [{"embedding": [1, 0], "index": 0}]});
    let ranks = json!({"results": [{"index": 0, "relevance_score": 0.5}]});
    let server = Server::play([vector, ranks].map(|it| Reply::json(200, &it.to_string())));
    let (aid, memory) = (Labeller(NAMES, None), ProviderMemory::default());
    let (provider, texts) = (hiding_names(&server), vec!["anna lind of acme".to_owned()]);
    let (kind, lane) = (EmbeddingKind::Passage, Lane::Bulk);
    let to_embed = EmbedRequest {
        provider: provider.clone(),
        dimension: None,
        lane,
        kind,
        texts: texts.clone(),
    };
    embed(&to_embed, &memory, &aid, &|| false).unwrap();
    let by_rules = EmbedRequest { provider: hiding("openai", &server), ..to_embed.clone() };
    assert_ne!(to_embed.identity(), by_rules.identity(), "their vectors are not mixed");
    let to_rank =
        RerankRequest { provider, query: "is anna lind there?".to_owned(), passages: texts };
    rerank(&to_rank, &memory, &aid, &|| false).unwrap();
    let sent: Vec<String> = server.requests().iter().map(|it| it.text().to_owned()).collect();
    assert!(sent[0].contains("[PERSON_1] of [DATA_1]"), "{}", sent[0]);
    assert!(sent[1].contains("is [PERSON_1] there?"), "{}", sent[1]);
    assert!(sent[1].contains("[PERSON_1] of [DATA_1]"), "{}", sent[1]);
}

#[test]
fn what_a_model_has_found_is_told_of_a_call_that_fails() {
    let server = Server::answer(|_| Reply::json(401, "{}"));
    let (aid, memory) = (Labeller(NAMES, None), ProviderMemory::default());
    let messages = [("user", "who is anna lind of acme?")];
    let provider = hiding_names(&server);
    let asked =
        GenerateRequest { provider: provider.clone(), ..chat("openai", &server, &messages) };
    let (query, passages) = ("who is anna lind?".to_owned(), vec!["she is of acme".to_owned()]);
    let to_rank = RerankRequest { provider, query, passages };
    for error in [
        generate(&asked, &memory, &aid, &|| false).unwrap_err(),
        generate_stream(&asked, &memory, &aid, &|| false, &mut |_| Ok(())).unwrap_err(),
        rerank(&to_rank, &memory, &aid, &|| false).unwrap_err(),
    ] {
        check_withheld(&error);
    }
}

#[test]
fn what_a_model_has_found_is_told_of_a_reply_that_does_not_fit() {
    let cut = r#"{"choices": [{"message": {"content": "{"}, "finish_reason": "length"}]}"#;
    let twice = vec![says("openai", "7"), says("openai", "8")];
    for replies in [twice, vec![Reply::json(200, cut)]] {
        let (count, server) = (replies.len(), Server::play(replies));
        let mut asked = chat("openai", &server, &[("user", "who is anna lind of acme?")]);
        asked.provider = hiding_names(&server);
        asked.schema = Some(r#"{"type": "object"}"#.to_owned());
        let (aid, memory) = (Labeller(NAMES, None), ProviderMemory::default());
        let error = generate(&asked, &memory, &aid, &|| false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReplyMisfit, "{error}");
        assert_eq!(server.requests().len(), count);
        check_withheld(&error);
    }
}

/// An error has what was kept from the provider, and does not show it.
fn check_withheld(error: &Error) {
    let withheld: Vec<(&str, &str)> = error.withheld().collect();
    assert_eq!(withheld, [("acme", "DATA"), ("anna lind", "PERSON")]);
    assert!(!format!("{error:?}").contains("anna"), "{error:?}");
}
