use std::os::unix::fs::PermissionsExt;

use rcgen::{CertificateParams, KeyPair};
use tempfile::TempDir;

use super::*;

fn read(words: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Mode, String> {
    read_whole(words, environment).map(|encryption| encryption.mode)
}

fn read_whole(words: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Encryption, String> {
    let words: Vec<_> =
        words.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let value = |name: &str| {
        environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
    };
    Encryption::read(&words, value)
}

/// A home with `.postgresql`, and in a folder beside it a certificate with its key and one with another key.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("home/.postgresql")).unwrap();
        let files = Self(folder);
        for name in ["own", "other"] {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
            files.write(&format!("{name}.crt"), &params.self_signed(&key).unwrap().pem());
            files.write(&format!("{name}.key"), &key.serialize_pem());
        }
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
        self.allow(name, 0o600);
    }

    fn allow(&self, name: &str, mode: u32) {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.path(name), permissions).unwrap();
    }
}

#[test]
fn the_connection_string_goes_before_the_environment() {
    let require = [("PGSSLMODE", "require")];
    assert_eq!(read(&[], &[]), Ok(Mode::Prefer));
    assert_eq!(read(&[], &require), Ok(Mode::Require));
    assert_eq!(read(&[("sslmode", "disable")], &require), Ok(Mode::Disable));
    assert_eq!(read(&[("sslmode", "allow"), ("sslmode", "prefer")], &require), Ok(Mode::Prefer));
    assert_eq!(read(&[], &[("PGSSLMODE", "")]), Ok(Mode::Prefer));
}

#[test]
fn verifying_needs_authorities() {
    let files = Files::new();
    let root = files.path("own.crt");
    for mode in ["verify-ca", "verify-full"] {
        let error = read(&[("sslmode", mode)], &[]).unwrap_err();
        assert!(error.starts_with(&format!("sslmode={mode} needs to know")), "{error}");
        read(&[("sslmode", mode), ("sslrootcert", &root)], &[]).unwrap();
        read(&[("sslmode", mode)], &[("PGSSLROOTCERT", &root)]).unwrap();
    }
    let home = files.path("home");
    files.write("home/.postgresql/root.crt", &std::fs::read_to_string(&root).unwrap());
    assert_eq!(read(&[("sslmode", "verify-full")], &[("HOME", &home)]), Ok(Mode::VerifyFull));
}

#[test]
fn authorities_of_the_system_are_for_hosts_that_are_compared() {
    let system = ("sslrootcert", "system");
    let error = read(&[system, ("sslmode", "require")], &[]).unwrap_err();
    assert!(error.contains("needs sslmode=verify-full, not \"require\""), "{error}");
    // A machine without ca-certificates says so.
    match read(&[system], &[]) {
        Ok(mode) => assert_eq!(mode, Mode::VerifyFull),
        Err(error) => assert!(error.contains("ca-certificates"), "{error}"),
    }
}

#[test]
fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
    let files = Files::new();
    let (own, other) = (files.path("own.crt"), files.path("other.key"));
    let check = |words: &[(&str, &str)], expected: &str| {
        let error = read(words, &[]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    let require = ("sslmode", "require");
    check(&[require, ("sslrootcert", "/nothing")], "sslrootcert /nothing cannot be read");
    check(&[require, ("sslrootcert", &files.path("own.key"))], "own.key holds no certificate");
    files.write("junk.crt", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    check(
        &[require, ("sslrootcert", &files.path("junk.crt"))],
        "junk.crt is not in the format PEM",
    );
    files.write("no.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    check(&[require, ("sslrootcert", &files.path("no.crt"))], "that is no certificate");
    check(&[("sslcert", &own)], "but no key; name its file as sslkey");
    check(&[("sslcert", &own), ("sslkey", "/nothing")], "sslkey /nothing cannot be read");
    check(&[("sslcert", &own), ("sslkey", &other)], "sslkey is not the key of sslcert");
    check(&[("sslcert", &own), ("sslkey", &own)], "holds no key in the format PEM");
    let locked =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    files.write("locked.key", locked);
    check(&[("sslcert", &own), ("sslkey", &files.path("locked.key"))], "or one with a password");
    files.allow("own.key", 0o644);
    check(&[("sslcert", &own), ("sslkey", &files.path("own.key"))], "may be read by others");
}

#[test]
fn a_certificate_of_ones_own_comes_from_the_home_too() {
    let files = Files::new();
    let home = files.path("home");
    let text = |name: &str| std::fs::read_to_string(files.path(name)).unwrap();
    files.write("home/.postgresql/postgresql.crt", &text("own.crt"));
    let error = read(&[], &[("HOME", &home)]).unwrap_err();
    assert!(error.contains("name its file as sslkey"), "{error}");
    files.write("home/.postgresql/postgresql.key", &text("own.key"));
    assert_eq!(read(&[], &[("HOME", &home)]), Ok(Mode::Prefer));
    // What is not encrypted needs no certificate.
    files.write("home/.postgresql/postgresql.key", &text("other.key"));
    read(&[], &[("HOME", &home)]).unwrap_err();
    assert_eq!(read(&[("sslmode", "disable")], &[("HOME", &home)]), Ok(Mode::Disable));
}

#[test]
fn what_is_not_known_is_named() {
    let error = read(&[("sslcompression", "1")], &[]).unwrap_err();
    assert!(
        error.starts_with("sslcompression is not supported; sslnegotiation, sslmode, "),
        "{error}"
    );
    let error = read(&[("sslmode", "VERIFY")], &[]).unwrap_err();
    assert!(error.ends_with("verify-ca, verify-full, not \"VERIFY\""), "{error}");
}

#[test]
fn the_environment_may_say_that_tls_begins_at_once() {
    let negotiation = |words: &[(&str, &str)], environment: &[(&str, &str)]| {
        read_whole(words, environment).map(|encryption| encryption.negotiation)
    };
    let (require, direct) = (("sslmode", "require"), ("PGSSLNEGOTIATION", "direct"));
    assert_eq!(negotiation(&[require], &[]), Ok(SslNegotiation::Postgres));
    assert_eq!(negotiation(&[require], &[direct]), Ok(SslNegotiation::Direct));
    let words = [require, ("sslnegotiation", "postgres")];
    assert_eq!(negotiation(&words, &[direct]), Ok(SslNegotiation::Postgres));
    let error = negotiation(&[], &[direct]).unwrap_err();
    assert!(error.ends_with("needs sslmode=require or a stronger one"), "{error}");
    let error = negotiation(&[require, ("sslnegotiation", "")], &[]).unwrap_err();
    assert_eq!(error, "sslnegotiation must be postgres or direct, not \"\"");
}

#[test]
fn an_empty_name_stands_for_the_file_in_the_home() {
    let files = Files::new();
    let (home, root) = (files.path("home"), files.path("own.crt"));
    files.write("home/.postgresql/root.crt", &std::fs::read_to_string(&root).unwrap());
    let words = [("sslmode", "verify-full"), ("sslrootcert", ""), ("sslcert", ""), ("sslkey", "")];
    assert_eq!(read(&words, &[("HOME", &home)]), Ok(Mode::VerifyFull));
    let environment = [("HOME", home.as_str()), ("PGSSLROOTCERT", "/nothing")];
    assert_eq!(read(&words, &environment), Ok(Mode::VerifyFull));
    read(&words[..1], &environment).unwrap_err();
    // But no mode is weaker than it was meant.
    let error = read(&[("sslmode", "")], &[("PGSSLMODE", "verify-full")]).unwrap_err();
    assert!(error.ends_with("not \"\""), "{error}");
}

#[test]
fn what_would_accept_less_is_not_passed_over() {
    let files = Files::new();
    let root = files.path("own.crt");
    let words = [("sslmode", "verify-full"), ("sslrootcert", root.as_str())];
    for (variable, value) in [
        ("PGSSLMINPROTOCOLVERSION", "TLSv1.3"),
        ("PGSSLMAXPROTOCOLVERSION", "TLSv1.2"),
        ("PGSSLCERTMODE", "disable"),
    ] {
        let error = read(&words, &[(variable, value)]).unwrap_err();
        assert!(error.starts_with(&format!("{variable} is set, but")), "{error}");
        read(&[("sslmode", "require")], &[(variable, value)]).unwrap_err();
        read(&[("sslmode", "prefer")], &[(variable, value)]).unwrap();
        read(&words, &[(variable, "")]).unwrap();
    }
    read(&words, &[("PGSSLMINPROTOCOLVERSION", "TLSv1.2"), ("PGSSLCERTMODE", "allow")]).unwrap();
}

/// A list of an authority "a", without extensions.
const VERSION_1: &str = "-----BEGIN X509 CRL-----
MIGPMDgwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYRcNMjYxMTI3MjM0NjE0WhcN
MzYxMTI0MjM0NjE0WjAKBggqhkjOPQQDAgNHADBEAiBPQtLlfMjWQIFKOwa76ehD
FXDGsijddUGXexxnzWR2fwIgDRMTTFzoB96eQKTFyFjS+dPwAObU5JIvSLy2Plko
tVQ=
-----END X509 CRL-----
";

/// Writes an authority and a list of what it has revoked: nothing.
fn write_authority(files: &Files, certificate: &str, list: &str) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    files.write(certificate, &params.self_signed(&key).unwrap().pem());
    let revoked = rcgen::CertificateRevocationListParams {
        this_update: rcgen::date_time_ymd(2020, 1, 1),
        next_update: rcgen::date_time_ymd(2040, 1, 1),
        crl_number: 1.into(),
        issuing_distribution_point: None,
        revoked_certs: Vec::new(),
        key_identifier_method: rcgen::KeyIdMethod::Sha256,
    };
    let revoked = revoked.signed_by(&rcgen::Issuer::new(params, key)).unwrap();
    files.write(list, &revoked.pem().unwrap());
}

#[test]
fn lists_of_revoked_certificates_are_found_where_libpq_finds_them() {
    let files = Files::new();
    std::fs::create_dir_all(files.path("lists")).unwrap();
    write_authority(&files, "root.crt", "good.crl");
    let (home, root, good) = (files.path("home"), files.path("root.crt"), files.path("good.crl"));
    let words = [("sslmode", "verify-full"), ("sslrootcert", root.as_str())];
    let check = |more: &[(&str, &str)], environment: &[(&str, &str)], expected: &str| {
        let words = [&words[..], more].concat();
        let environment = [&[("HOME", home.as_str())], environment].concat();
        let error = read(&words, &environment).err().unwrap_or_default();
        assert!(error.contains(expected) && error.is_empty() == expected.is_empty(), "{error}");
    };
    check(&[], &[], "");
    files.write("home/.postgresql/root.crl", "nothing");
    check(&[], &[], "root.crl holds no list of revoked certificates");
    // What is named takes the place of the file in the home, and an empty name does not.
    check(&[("sslcrl", &good)], &[], "");
    check(&[], &[("PGSSLCRL", &good)], "");
    check(&[("sslcrl", "")], &[("PGSSLCRL", &good)], "root.crl holds no list");
    let lists = files.path("lists");
    check(&[("sslcrldir", &lists)], &[], "lists holds no list of revoked certificates");
    files.write("lists/0.r0", &std::fs::read_to_string(&good).unwrap());
    files.write("lists/root.crt", &std::fs::read_to_string(&root).unwrap());
    check(&[("sslcrldir", &lists)], &[], "");
    check(&[], &[("PGSSLCRLDIR", &lists)], "");
    check(&[("sslcrldir", "")], &[("PGSSLCRLDIR", "/nothing")], "root.crl holds no list");
    check(&[("sslcrl", "/nothing"), ("sslcrldir", &lists)], &[], "sslcrl /nothing cannot be read");
    check(&[("sslcrldir", "/nothing")], &[], "sslcrldir /nothing cannot be read");
    let broken = "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n";
    files.write("broken.crl", broken);
    let broken = files.path("broken.crl");
    check(
        &[("sslcrl", &broken)],
        &[],
        "broken.crl holds a list of revoked certificates that cannot be used",
    );
    files.write("v1.crl", VERSION_1);
    check(
        &[("sslcrl", &files.path("v1.crl"))],
        &[],
        "v1.crl holds a list of revoked certificates that is damaged, or not of version 2",
    );
}

#[test]
fn what_should_hold_a_list_is_not_passed_over() {
    let files = Files::new();
    write_authority(&files, "root.crt", "good.crl");
    std::fs::create_dir_all(files.path("lists/folder.crl")).unwrap();
    let text = |name: &str| std::fs::read_to_string(files.path(name)).unwrap();
    let (root, lists) = (files.path("root.crt"), files.path("lists"));
    let words = [("sslmode", "verify-full"), ("sslrootcert", &*root), ("sslcrldir", &*lists)];
    files.write("lists/good", &text("good.crl"));
    files.write("lists/root.pem", &text("root.crt"));
    read(&words, &[]).unwrap();
    for (name, content) in [("0.r1", "other"), ("ROOT.CRL", "other"), ("empty.txt", "")] {
        files.write(&format!("lists/{name}"), content);
        let error = read(&words, &[]).unwrap_err();
        let expected = format!("{name} holds no list of revoked certificates in the format PEM");
        assert!(error.ends_with(&expected), "{error}");
        std::fs::remove_file(files.path(&format!("lists/{name}"))).unwrap();
    }
    std::os::unix::fs::symlink(files.path("good.crl"), files.path("lists/link")).unwrap();
    read(&words, &[]).unwrap();
    std::fs::remove_file(files.path("good.crl")).unwrap();
    let error = read(&words, &[]).unwrap_err();
    assert!(error.contains("lists/link cannot be read"), "{error}");
}

/// What a client says to a server, and hears from it, until neither has anything to say.
fn talk(client: &mut rustls::ClientConnection, server: &mut rustls::ServerConnection) {
    while client.wants_write() || server.wants_write() {
        let (mut said, mut heard) = (Vec::new(), Vec::new());
        client.write_tls(&mut said).unwrap();
        server.read_tls(&mut said.as_slice()).unwrap();
        server.process_new_packets().unwrap();
        server.write_tls(&mut heard).unwrap();
        client.read_tls(&mut heard.as_slice()).unwrap();
        client.process_new_packets().unwrap();
    }
}

#[test]
fn no_session_is_resumed_without_a_check() {
    let files = Files::new();
    let chain = certificates("sslrootcert", Path::new(&files.path("own.crt"))).unwrap();
    let key = private_key(Path::new(&files.path("own.key"))).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    for version in rustls::ALL_VERSIONS {
        let server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain.clone(), key.clone_key());
        let mut server = server.unwrap();
        server.alpn_protocols = vec![b"postgresql".to_vec()];
        let server = Arc::new(server);
        let client = Arc::new(client(Trust::nothing(), None).unwrap());
        for _ in 0..2 {
            let name = "db.example".try_into().unwrap();
            let mut client = rustls::ClientConnection::new(Arc::clone(&client), name).unwrap();
            let mut server = rustls::ServerConnection::new(Arc::clone(&server)).unwrap();
            talk(&mut client, &mut server);
            assert_eq!(client.handshake_kind(), Some(rustls::HandshakeKind::Full));
        }
    }
}

#[test]
fn lists_of_revoked_certificates_need_authorities() {
    let files = Files::new();
    write_authority(&files, "root.crt", "good.crl");
    let good = files.path("good.crl");
    let require = ("sslmode", "require");
    let error = read(&[require, ("sslcrl", &good)], &[]).unwrap_err();
    assert!(error.starts_with("sslcrl and sslcrldir say nothing without"), "{error}");
    read(&[require, ("sslcrl", &good), ("sslrootcert", &files.path("root.crt"))], &[]).unwrap();
    // Nobody looks at certificates below that, nor at a list in the home where no authorities are known.
    read(&[("sslmode", "prefer"), ("sslcrl", "/nothing")], &[]).unwrap();
    files.write("home/.postgresql/root.crl", "nothing");
    assert_eq!(read(&[require], &[("HOME", &files.path("home"))]), Ok(Mode::Require));
}
