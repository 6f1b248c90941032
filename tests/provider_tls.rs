//! Providers over https: whose certificate is believed, and what is said of one that is not.

use std::fs;
use std::path::Path;

use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::protocol::{GenerateRequest, KeySource, Lane, Message, ProviderConfig};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate};
use tempfile::TempDir;

#[path = "support/https_server.rs"]
mod https_server;
use https_server::{Authority, HttpsServer};

const SECRET: &str = "sk-loopback-7Kq2vX9";

const REPLY: &str = r#"{"choices": [{"message": {"content": "Safe."}, "finish_reason": "stop"}]}"#;

/// An authority, and its file.
struct Own {
    authority: Authority,
    folder: TempDir,
}

impl Own {
    fn new() -> Own {
        let (authority, folder) = (Authority::new(), TempDir::new().unwrap());
        fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        Own { authority, folder }
    }

    fn ca_file(&self) -> String {
        path(&self.folder.path().join("ca.pem"))
    }

    /// A server with a certificate for `host`.
    fn server(&self, host: &str) -> HttpsServer {
        HttpsServer::new(self.authority.certify(host), REPLY)
    }
}

fn path(path: &Path) -> String {
    path.to_str().expect("a path of UTF-8").to_owned()
}

#[test]
fn a_certificate_of_an_authority_of_ones_own_is_believed() {
    let own = Own::new();
    for host in ["127.0.0.1", "localhost"] {
        let server = own.server(host);
        assert_eq!(ask(&server.base_url(host), Some(own.ca_file())).unwrap(), "Safe.");
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        assert!(requests[0].starts_with("POST /v1/chat/completions "), "{}", requests[0]);
        assert!(requests[0].contains(&format!("Bearer {SECRET}")), "{}", requests[0]);
    }
}

#[test]
fn one_of_several_authorities_is_enough() {
    let (own, other) = (Own::new(), Own::new());
    let both = own.folder.path().join("both.pem");
    fs::write(&both, format!("{}\n{}", other.authority.pem(), own.authority.pem())).unwrap();
    let server = own.server("localhost");
    assert_eq!(ask(&server.base_url("localhost"), Some(path(&both))).unwrap(), "Safe.");
}

#[test]
fn an_authority_that_nobody_has_named_is_not_believed() {
    let (own, other) = (Own::new(), Own::new());
    let server = own.server("localhost");
    let base_url = server.base_url("localhost");
    for (ca_file, hint) in [
        (None, "ca_file, if the certificate is of an authority of your own"),
        (Some(other.ca_file()), "ca_file, which names the authorities that are trusted"),
    ] {
        let error = ask(&base_url, ca_file).unwrap_err();
        check(
            &error,
            ErrorKind::ProviderFailed,
            &["is not trusted at https://", "invalid peer certificate"],
        );
        assert!(error.hint_text().is_some_and(|said| said.contains(hint)), "{error:?}");
    }
    assert_eq!(server.requests(), Vec::<String>::new(), "something was sent all the same");
}

#[test]
fn an_authority_that_is_named_no_more_is_not_believed_on_an_old_connection_either() {
    let (own, other) = (Own::new(), Own::new());
    let server = own.server("localhost");
    let base_url = server.base_url("localhost");
    for _ in 0..2 {
        assert_eq!(ask(&base_url, Some(own.ca_file())).unwrap(), "Safe.");
    }
    assert_eq!(server.connections(), 1, "a connection is kept, or there is nothing to see here");
    fs::write(own.ca_file(), other.authority.pem()).unwrap();
    let error = ask(&base_url, Some(own.ca_file())).unwrap_err();
    check(&error, ErrorKind::ProviderFailed, &["is not trusted at https://"]);
    assert_eq!(server.requests().len(), 2);
    fs::write(own.ca_file(), own.authority.pem()).unwrap();
    assert_eq!(ask(&base_url, Some(own.ca_file())).unwrap(), "Safe.");
}

#[test]
fn a_certificate_for_another_host_is_not_believed() {
    let own = Own::new();
    for (certified, called) in [
        ("example.com", "localhost"),
        ("localhost", "127.0.0.1"),
        ("127.0.0.2", "127.0.0.1"),
        ("*.localhost", "localhost"),
    ] {
        let server = own.server(certified);
        let error = ask(&server.base_url(called), Some(own.ca_file())).unwrap_err();
        check(&error, ErrorKind::ProviderFailed, &["is not trusted at https://", called]);
        assert!(error.message().contains("not valid for name"), "{error}");
        assert!(error.hint_text().is_some_and(|said| said.contains("the host in base_url")));
        assert_eq!(server.requests(), Vec::<String>::new(), "something was sent all the same");
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named_in_the_hint() {
    let own = Own::new();
    let server = own.server("localhost");
    for (name, content, why) in [
        ("gone.pem", None, "No such file"),
        ("empty.pem", Some(""), "holds no certificate"),
        ("broken.pem", Some("-----BEGIN CERTIFICATE-----\nAAAA\n"), "not PEM"),
    ] {
        let file = own.folder.path().join(name);
        if let Some(content) = content {
            fs::write(&file, content).unwrap();
        }
        let error = ask(&server.base_url("localhost"), Some(path(&file))).unwrap_err();
        check(&error, ErrorKind::FileUnavailable, &["is not called", name, why]);
        assert_eq!(error.hint_text(), Some("Check the options of server \"test\": ca_file."));
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn a_proxy_that_cannot_be_used_is_named_in_the_hint() {
    let mut request = request("https://localhost:9/v1", None);
    request.provider.network.proxy = Some("socks5://proxy:1080".into());
    let error = call(&request).unwrap_err();
    check(&error, ErrorKind::InvalidParameter, &["is not called", "http://host:port"]);
    assert_eq!(error.hint_text(), Some("Check the options of server \"test\": proxy."));
}

fn ask(base_url: &str, ca_file: Option<String>) -> Result<String> {
    call(&request(base_url, ca_file))
}

fn call(request: &GenerateRequest) -> Result<String> {
    generate(request, &ProviderMemory::default(), &Unlimited, &|| false)
        .map(|generated| generated.text)
}

fn request(base_url: &str, ca_file: Option<String>) -> GenerateRequest {
    let mut provider = ProviderConfig {
        name: "test".into(),
        api: "openai".into(),
        base_url: base_url.into(),
        model: "tiny".into(),
        api_key: KeySource::Inline(SECRET.into()),
        connect_timeout_ms: 20_000,
        timeout_ms: 60_000,
        max_retries: 3,
        special: Default::default(),
        limits: Default::default(),
        network: Default::default(),
    };
    provider.network.ca_file = ca_file;
    GenerateRequest {
        provider,
        messages: vec![Message { role: "user".into(), content: "Is it safe?".into() }],
        sampling: Default::default(),
        max_tokens: None,
        schema: None,
        tools: None,
        lane: Lane::Query,
    }
}

/// An error of the provider that holds these parts, and not the key.
fn check(error: &Error, kind: ErrorKind, parts: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().starts_with("provider \"test\" "), "{error}");
    for part in parts {
        assert!(error.message().contains(part), "{error}\ndoes not hold\n{part}");
    }
    assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
}
