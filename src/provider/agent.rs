//! By which way is a host reached?
//!
//! ```text
//! (url, proxy, authorities, rules for hosts) → an agent, with its last connection if it is free
//! ```
//!
//! An agent serves one call at a time, so that shutting it down ends that call and no other. It is
//! kept for the next call that goes the same way. Where authorities are named by a file, what stood in
//! the file is part of the way: a host that is believed no more is not asked over an old connection.

use std::fs::File;
use std::io::Read;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Proxy, ProxyProtocol};

use super::call::CallFailure;
use super::host::{CheckedResolver, bare};
use crate::error::ErrorKind;
use crate::protocol::Network;

/// How many unused agents are kept.
const MAX_IDLE: usize = 16;

/// Longest file of certificates, in bytes: more than all public authorities have together.
const MAX_CERTIFICATES: u64 = 4 << 20;

/// Which URL is called, and by which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRoute {
    /// The URL that is called.
    pub url: String,
    /// By which way it is reached.
    pub network: Network,
}

/// A way that can be gone, with perhaps a connection.
pub struct ProxiedAgent {
    /// What makes the calls.
    pub agent: Agent,
    route: HostRoute,
    /// A digest of the file of authorities as it was.
    authorities: Option<Digest>,
}

type Digest = [u8; 32];

/// Lines whose connection may still be open.
static IDLE: Mutex<Vec<ProxiedAgent>> = Mutex::new(Vec::new());

/// A line for `route`, which no other call has.
pub fn take(route: HostRoute) -> Result<ProxiedAgent, CallFailure> {
    let file = route.network.ca_file.as_deref().map(read_authorities).transpose()?;
    let authorities = file.as_ref().map(|bytes| Sha256::digest(bytes).into());
    match kept(&route, authorities) {
        Some(line) => Ok(line),
        None => Ok(ProxiedAgent { agent: new(&route, file.as_deref())?, route, authorities }),
    }
}

/// The line that was kept last for `route`. Those with other authorities are of no use any more.
fn kept(route: &HostRoute, authorities: Option<Digest>) -> Option<ProxiedAgent> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let ca_file = &route.network.ca_file;
    idle.retain(|line| line.route.network.ca_file != *ca_file || line.authorities == authorities);
    let found = idle.iter().rposition(|line| line.route == *route)?;
    Some(idle.remove(found))
}

/// Keeps a line that is not used any more.
pub fn keep(line: ProxiedAgent) {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.len() >= MAX_IDLE {
        idle.remove(0);
    }
    idle.push(line);
}

fn new(route: &HostRoute, authorities: Option<&[u8]>) -> Result<Agent, CallFailure> {
    let HostRoute { url, network } = route;
    let proxy = proxy(url, network)?;
    // The proxy of the environment is the administrator's choice, that of an option a user's.
    let trusted = proxy.as_ref().filter(|proxy| proxy.is_from_env());
    let resolver = CheckedResolver {
        private: network.hosts.private,
        trusted: trusted.map(|proxy| (proxy.host().to_string(), proxy.port())),
        inner: DefaultResolver::default(),
    };
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("pg_rag/", env!("CARGO_PKG_VERSION")))
        .accept("application/json")
        .tls_config(tls(network, authorities)?)
        .proxy(proxy)
        .build();
    Ok(Agent::with_parts(config, DefaultConnector::default(), resolver))
}

/// The proxy of the server's options; else the one that the environment names. This machine is
/// behind neither: calls to it do not leave it, and for the proxy's own machine it would be another
/// machine.
///
/// This is safe because calls go through a tunnel (CONNECT): the proxy learns the name of
/// the host, and of an https call nothing else.
fn proxy(url: &str, network: &Network) -> Result<Option<Proxy>, CallFailure> {
    let named = network.proxy.as_deref().map(plain_proxy).transpose()?;
    let host = url.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_string));
    if host.is_none_or(|host| is_loopback(&host)) {
        return Ok(None);
    }
    if named.is_some() {
        return Ok(named);
    }
    match Proxy::try_from_env() {
        // The default agent would go past such a proxy without a word.
        Some(proxy) if !is_tunnel(proxy.protocol()) => {
            let why = "the environment names a SOCKS proxy, only http works";
            Err(CallFailure::UnfitEnvironment(why.into()))
        }
        proxy => Ok(proxy),
    }
}

fn plain_proxy(address: &str) -> Result<Proxy, CallFailure> {
    let proxy = Proxy::new(address).ok().filter(|proxy| is_plain(address, proxy));
    proxy.ok_or_else(|| CallFailure::Unfit {
        option: "proxy",
        kind: ErrorKind::InvalidParameter,
        why: "its proxy is not of the form http://host:port".into(),
    })
}

fn is_plain(address: &str, proxy: &Proxy) -> bool {
    address.starts_with("http://")
        && proxy.protocol() == ProxyProtocol::Http
        && !address.contains('@')
}

fn is_tunnel(protocol: ProxyProtocol) -> bool {
    matches!(protocol, ProxyProtocol::Http | ProxyProtocol::Https)
}

fn is_loopback(host: &str) -> bool {
    let bare = bare(host);
    bare == "localhost" || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// Which authorities are trusted to say that a host is the one it claims to be: Mozilla's list, or
/// those of a file.
fn tls(network: &Network, authorities: Option<&[u8]>) -> Result<TlsConfig, CallFailure> {
    let (Some(path), Some(bytes)) = (&network.ca_file, authorities) else {
        return Ok(TlsConfig::default());
    };
    let certificates = certificates(bytes).map_err(|why| unfit_file(path, &why))?;
    Ok(TlsConfig::builder().root_certs(RootCerts::from(certificates)).build())
}

fn unfit_file(path: &str, why: &str) -> CallFailure {
    CallFailure::Unfit {
        option: "ca_file",
        kind: ErrorKind::FileUnavailable,
        why: format!("cannot use the certificates of ca_file \"{path}\": {why}"),
    }
}

/// The file of authorities, which is read for each call: it may have changed.
fn read_authorities(path: &str) -> Result<Vec<u8>, CallFailure> {
    read_whole(path).map_err(|why| unfit_file(path, &why))
}

fn read_whole(path: &str) -> Result<Vec<u8>, String> {
    let said = |error: std::io::Error| error.to_string();
    // A pipe or a terminal would keep the caller waiting for ever.
    if !std::fs::metadata(path).map_err(said)?.is_file() {
        return Err("it is not a regular file".into());
    }
    let file = File::open(path).map_err(said)?;
    let mut bytes = Vec::new();
    file.take(MAX_CERTIFICATES + 1).read_to_end(&mut bytes).map_err(said)?;
    if bytes.len() as u64 > MAX_CERTIFICATES {
        return Err(format!("it is longer than {MAX_CERTIFICATES} bytes"));
    }
    Ok(bytes)
}

fn certificates(bytes: &[u8]) -> Result<Vec<Certificate<'static>>, String> {
    let mut found = Vec::new();
    for item in parse_pem(bytes) {
        if let PemItem::Certificate(certificate) = item.map_err(|_| "it is not PEM".to_string())? {
            found.push(certificate);
        }
    }
    if found.is_empty() { Err("it holds no certificate in PEM".into()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_never_behind_a_proxy() {
        let check = |host: &str, is_direct: bool| {
            assert_eq!(is_loopback(host), is_direct, "{host}");
            let named = Some("http://proxy:3128".to_owned());
            let network = Network { proxy: named, ..Network::default() };
            let found = proxy(&format!("http://{host}/v1"), &network).unwrap();
            assert_eq!(found.is_none(), is_direct, "{host}");
        };
        for host in ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.1.2.3", "[::1]"] {
            check(host, true);
        }
        for host in ["example.com", "10.0.0.1", "localhost.example.com", "[::2]"] {
            check(host, false);
        }
    }

    #[test]
    fn a_proxy_is_plain_http_without_a_name() {
        let check = |address: &str, fits: bool| {
            let network = Network { proxy: Some(address.into()), ..Network::default() };
            let found = proxy("http://example.com/v1", &network);
            assert_eq!(found.is_ok_and(|proxy| proxy.is_some()), fits, "{address}");
            // It is as unfit where it would not be used.
            assert_eq!(proxy("http://127.0.0.1/v1", &network).is_ok(), fits, "{address}");
        };
        check("http://proxy:3128", true);
        check("http://10.0.0.1:80", true);
        check("https://proxy:3128", false);
        check("socks5://proxy:1080", false);
        check("http://me:secret@proxy:3128", false);
        check("proxy:3128", false);
        check("http://", false);
    }

    #[test]
    fn a_file_without_certificates_is_refused_by_name() {
        let folder = std::env::temp_dir().join(format!("pg_rag_ca_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let check = |name: &str, content: Option<&[u8]>, why: &str| {
            let path = folder.join(name);
            if let Some(content) = content {
                std::fs::write(&path, content).unwrap();
            }
            let network =
                Network { ca_file: path.to_str().map(str::to_string), ..Network::default() };
            let path = network.ca_file.as_deref().unwrap();
            let used = read_authorities(path).and_then(|bytes| tls(&network, Some(&bytes)));
            let Err(CallFailure::Unfit { option, kind, why: said }) = used else {
                panic!("{name} was taken")
            };
            assert_eq!((option, kind), ("ca_file", ErrorKind::FileUnavailable));
            assert!(said.contains(name) && said.contains(why), "{said}");
        };
        check("missing", None, "No such file");
        check("empty", Some(b""), "no certificate");
        check("noise", Some(b"\xff\xfe not PEM"), "no certificate");
        let key = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        check("key", Some(key), "no certificate");
        check("half", Some(b"-----BEGIN CERTIFICATE-----\nAAAA\n"), "not PEM");
        check("", None, "not a regular file");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
