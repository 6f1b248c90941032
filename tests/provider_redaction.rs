//! What a provider with the option `redact` gets to read: no byte of the personal data of a request, in any protocol; and
//! that its reply has them all the same.

use std::time::Duration;

use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::protocol::{
    EmbedRequest, GenerateRequest, Generated, Lane, Message, ModelRef, OfferedTool, ProviderConfig,
    RedactionPolicy, RerankRequest, ToolCalling, ToolTurn, ToolUse, WithoutTools,
};
use pg_rag::provider::client_aid::{NameFinder, NameSearch};
use pg_rag::provider::schema::{SchemaCheck, SchemaFit, Unlimited};
use pg_rag::provider::{ProviderMemory, embed, generate, generate_stream, rerank};
use pg_rag::redact::withheld::WithheldValues;
use pg_rag::text::token_labels::LabelledSpan;
use serde_json::{Value, json};

#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
use http_server::{Reply, Server};
use provider::{chat, check_silent, says};

const APIS: [&str; 5] = ["openai", "anthropic", "ollama", "gemini", "cohere"];

/// What no provider may read.
const PERSONAL: [&str; 9] = [
    "anna@example.com",
    "Anna Schmidt",
    "Schmidt",
    "+49 30 1234567",
    "DE89 3704 0044 0532 0130 00",
    "4111 1111 1111 1111",
    "10.1.2.3",
    "app:s3cret",
    "123-45-6789",
];

const SYSTEM: &str = "You work for Herr Anna Schmidt. Never call +49 30 1234567.";
const QUESTION: &str = "Whose are anna@example.com, DE89 3704 0044 0532 0130 00, 4111 1111 1111 1111, 10.1.2.3, \
    https://app:s3cret@db.example.com/ and SSN 123-45-6789? Schmidt's?";

/// The configuration of `api` that hides personal data.
fn hiding(api: &str, server: &Server) -> ProviderConfig {
    let mut config = provider::provider(api, server);
    config.special.redact = RedactionPolicy::Pii;
    config
}

fn request(api: &str, server: &Server, messages: &[(&str, &str)]) -> GenerateRequest {
    GenerateRequest { provider: hiding(api, server), ..chat(api, server, messages) }
}

fn call(request: &GenerateRequest) -> Result<Generated> {
    generate(request, &ProviderMemory::default(), &Unlimited, &|| false).inspect_err(check_silent)
}

/// Nothing that came to `server` holds personal data; all of it.
fn check_wire(server: &Server, name: &str) -> Vec<String> {
    let requests: Vec<String> = server.requests().iter().map(|it| it.text().to_owned()).collect();
    assert!(!requests.is_empty());
    for request in &requests {
        for value in PERSONAL {
            assert!(!request.contains(value), "{name} was sent {value}: {request}");
        }
    }
    requests
}

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

/// The stream of `api` that says these pieces.
fn streams(api: &str, pieces: &[&str]) -> Reply {
    let event = |piece: &&str| match api {
        "anthropic" => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})
        }
        "ollama" => json!({"message": {"role": "assistant", "content": piece}, "done": false}),
        "gemini" => json!({"candidates": [{"content": {"parts": [{"text": piece}]}}]}),
        _ => {
            json!({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": piece}}}})
        }
    };
    let end = match api {
        "openai" => return Reply::chat_stream(pieces.iter().map(|piece| (Duration::ZERO, *piece))),
        "anthropic" => json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        "ollama" => json!({"message": {"content": ""}, "done": true, "done_reason": "stop"}),
        "gemini" => json!({"candidates": [{"finishReason": "STOP"}]}),
        _ => json!({"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}),
    };
    let events = pieces.iter().map(event).chain([end]).map(|event| event.to_string());
    if api == "ollama" {
        let lines: String = events.map(|event| event + "\n").collect();
        return Reply::new(200).header("Content-Type", "application/x-ndjson").body(lines);
    }
    let events: Vec<String> = events.collect();
    Reply::events(events.iter().map(|event| (Duration::ZERO, event.as_str())))
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

/// The tool `search`, with what came of earlier turns.
fn tools(turns: Vec<ToolTurn>) -> ToolUse {
    let parameters = json!({
        "type": "object",
        "properties": {"question": {"type": "string", "description": "such as 4111 1111 1111 1111"}},
        "required": ["question"],
    });
    let tool = OfferedTool {
        name: "search".into(),
        description: "searches as anna@example.com".into(),
        parameters: parameters.to_string(),
    };
    let message = Message {
        role: "user".into(),
        content: format!("Choose a step for Herr Anna Schmidt. {QUESTION}"),
    };
    let schema = json!({"type": "object", "required": ["step"], "examples": ["10.1.2.3"]});
    let otherwise = WithoutTools { messages: vec![message], schema: schema.to_string() };
    ToolUse { tools: vec![tool], turns, otherwise }
}

/// A reply of `api` that calls `search` with a question.
fn calls(api: &str, question: &str) -> Reply {
    let arguments = json!({"question": question});
    let function = json!({"name": "search", "arguments": arguments.to_string()});
    let reply = match api {
        "anthropic" => json!({
            "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": arguments}],
            "stop_reason": "tool_use",
        }),
        "ollama" => json!({
            "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "search", "arguments": arguments}}]},
            "done": true,
        }),
        "gemini" => json!({"candidates": [{
            "content": {"role": "model", "parts": [{"functionCall": {"id": "t1", "name": "search", "args": arguments}}]},
            "finishReason": "STOP",
        }]}),
        "cohere" => json!({
            "message": {"role": "assistant", "tool_calls": [{"id": "t1", "type": "function", "function": function}]},
            "finish_reason": "TOOL_CALL",
        }),
        _ => json!({"choices": [{"finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null,
            "tool_calls": [{"id": "t1", "type": "function", "function": function}],
        }}]}),
    };
    Reply::json(200, &reply.to_string())
}

#[test]
fn tools_run_with_values_and_are_told_without() {
    for api in APIS {
        let server =
            Server::play([calls(api, "Who is [EMAIL_1]?"), says(api, "[EMAIL_1] and [EMAIL_2].")]);
        // A later message, such as one that sums up what was dropped, changes no placeholder.
        let with = |text: &str, turns| GenerateRequest {
            tools: Some(tools(turns)),
            ..request(api, &server, &[("system", SYSTEM), ("user", text)])
        };
        let reply = call(&with(QUESTION, Vec::new())).unwrap().tools.expect("calls");
        assert_eq!(reply.calls.len(), 1, "{api}");
        let arguments: Value = serde_json::from_str(&reply.calls[0].arguments).unwrap();
        assert_eq!(arguments, json!({"question": "Who is anna@example.com?"}), "{api}");
        let results = vec!["anna@example.com wrote to bob@example.com.".to_owned()];
        let turns = vec![ToolTurn { reply, results }];
        let told = call(&with("First zoe@example.com. Go on.", turns)).unwrap();
        assert_eq!(told.text, "anna@example.com and zoe@example.com.", "{api}");
        let sent = check_wire(&server, api);
        assert!(sent[1].contains("Who is [EMAIL_1]?"), "{api}: {}", sent[1]);
        assert!(sent[1].contains("[EMAIL_1] wrote to [EMAIL_3]."), "{api}: {}", sent[1]);
        assert!(!sent[1].contains("bob@"), "{api}");
    }
}

#[test]
fn where_there_are_no_tools_the_step_has_values() {
    let server = Server::play([says("openai", r#"{"step": "search [EMAIL_1]"}"#)]);
    let mut asked = request("openai", &server, &[("user", QUESTION)]);
    asked.provider.special.tools = ToolCalling::Json;
    asked.tools = Some(tools(Vec::new()));
    assert_eq!(call(&asked).unwrap().text, r#"{"step": "search anna@example.com"}"#);
    check_wire(&server, "openai");
}

#[test]
fn texts_are_embedded_without_personal_data() {
    for api in ["openai", "ollama", "gemini", "cohere", "voyage"] {
        let vectors = [json!([3, 0]), json!([0, 1])];
        let reply = match api {
            "ollama" => json!({"embeddings": vectors}),
            "gemini" => json!({"embeddings": [{"values": vectors[0]}, {"values": vectors[1]}]}),
            "cohere" => json!({"embeddings": {"float": vectors}}),
            _ => {
                json!({"data": [{"embedding": vectors[0], "index": 0}, {"embedding": vectors[1], "index": 1}]})
            }
        };
        let server = Server::play([Reply::json(200, &reply.to_string())]);
        let texts = vec![format!("{SYSTEM} {QUESTION}"), "Mail bob@example.com.".to_owned()];
        let (provider, kind, lane) = (hiding(api, &server), EmbeddingKind::Passage, Lane::Bulk);
        let asked = EmbedRequest { provider, dimension: None, lane, kind, texts };
        let embedded = embed(&asked, &ProviderMemory::default(), &Unlimited, &|| false).unwrap();
        assert_eq!(embedded.values.len(), 4, "{api}");
        let sent = check_wire(&server, api).concat();
        assert!(
            sent.contains("Mail [EMAIL_1]."),
            "{api}: each text is numbered for itself: {sent}"
        );
        let plain = EmbedRequest { provider: provider::provider(api, &server), ..asked.clone() };
        assert_ne!(asked.identity(), plain.identity(), "their vectors are not mixed");
    }
}

#[test]
fn passages_are_ranked_without_personal_data() {
    for api in ["openai", "cohere", "voyage"] {
        let items =
            json!([{"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1}]);
        let list = if api == "voyage" { "data" } else { "results" };
        let reply = json!({list: items});
        let server = Server::play([Reply::json(200, &reply.to_string())]);
        let passages = vec![
            "bob@example.com and anna@example.com".to_owned(),
            format!("Frau Anna Schmidt, zoe@example.com. {QUESTION}"),
        ];
        let query = "Does Anna Schmidt have anna@example.com?".to_owned();
        let asked = RerankRequest { provider: hiding(api, &server), query, passages };
        rerank(&asked, &ProviderMemory::default(), &Unlimited, &|| false).unwrap();
        let sent = check_wire(&server, api).concat();
        assert!(sent.contains("Does [PERSON_1] have [EMAIL_1]?"), "{api}: {sent}");
        assert!(sent.contains("[EMAIL_2] and [EMAIL_1]"), "{api}: {sent}");
        assert!(sent.contains("Frau [PERSON_1], [EMAIL_2]."), "{api}: {sent}");
    }
}

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
