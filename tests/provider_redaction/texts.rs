//! Texts that are embedded or ranked.

use pg_rag::embed::EmbeddingKind;
use pg_rag::protocol::{EmbedRequest, Lane, RerankRequest};
use pg_rag::provider::{embed, rerank};

use super::*;

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
