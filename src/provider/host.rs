//! Which hosts may be called?
//!
//! ```text
//! (host, rules) → yes, or why not
//! name → addresses → those that the rules allow
//! ```
//!
//! A role that may create a foreign server could have the machine of the database call whatever
//! that machine can reach: a neighbour's administration pages, or the service by which a cloud
//! gives out credentials. So addresses that are not of the public Internet are refused, but for the
//! machine's own, on which language models commonly run. Administrators can say otherwise.
//!
//! What counts is the address that is about to be connected to, and not the name: names are looked
//! up once, and what the rules refuse is taken out before a connection is made.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{PrivateHosts, ProviderConfig};

/// Whether `provider` may be called at `url`, by the proxy of its options if there is one, as far as
/// that can be said without looking a name up.
///
/// Fails with [`ErrorKind::Forbidden`] where the host is not among the allowed ones, or is itself
/// an address that is refused.
pub fn check(provider: &ProviderConfig, url: &str) -> Result<()> {
    check_host(provider, url)?;
    // It gets to read all of a call that is not https.
    provider.network.proxy.as_deref().map_or(Ok(()), |proxy| check_host(provider, proxy))
}

fn check_host(provider: &ProviderConfig, url: &str) -> Result<()> {
    let uri: Uri = url.parse().map_err(|_| {
        // What stands before an @ may be a password.
        let shown = url.rsplit('@').next().unwrap_or_default();
        Error::invalid(format!("\"{shown}\" is not a URL"))
    })?;
    let host = bare(uri.host().unwrap_or_default());
    let rules = &provider.network.hosts;
    if !rules.allowed.is_empty() && !rules.allowed.iter().any(|rule| matches(&host, rule)) {
        return Err(not_allowed(provider, &host));
    }
    match host.parse() {
        Ok(address) if !is_allowed(address, rules.private) => {
            Err(refused(provider, &Refused { host, address }))
        }
        _ => Ok(()),
    }
}

/// Why a host was not called: each of its addresses was refused, `address` for one.
#[derive(Clone, Debug)]
pub struct Refused {
    host: String,
    address: IpAddr,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of host \"{}\"", self.address, self.host)
    }
}

impl std::error::Error for Refused {}

/// The error that a refused address of `provider` makes.
pub fn refused(provider: &ProviderConfig, refused: &Refused) -> Error {
    let setting = provider.network.hosts.private.name();
    let kind = if refused.address.is_loopback() { "this machine's" } else { "the private" };
    let message = format!(
        "provider \"{}\" is not called: {kind} address {refused} is refused",
        provider.name
    );
    Error::new(ErrorKind::Forbidden, message)
        .detail(format!("rag.allow_private_hosts is '{setting}'."))
        .hint("A superuser can allow it: rag.allow_private_hosts is none, loopback or all.")
}

fn not_allowed(provider: &ProviderConfig, host: &str) -> Error {
    let message = format!(
        "provider \"{}\" is not called: host \"{host}\" is not in rag.allowed_hosts",
        provider.name
    );
    Error::new(ErrorKind::Forbidden, message).hint("A superuser can add it to rag.allowed_hosts.")
}

/// Without brackets, the dot that ends a full name, and capitals.
pub fn bare(host: &str) -> String {
    let inner = host.trim_start_matches('[').trim_end_matches(']');
    inner.strip_suffix('.').unwrap_or(inner).to_ascii_lowercase()
}

fn matches(host: &str, rule: &str) -> bool {
    let rule = bare(rule.trim());
    match rule.strip_prefix("*.") {
        Some(domain) => {
            host.strip_suffix(domain).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        }
        None => host == rule,
    }
}

/// Whether the rules let `address` be connected to.
pub fn is_allowed(address: IpAddr, private: PrivateHosts) -> bool {
    let address = unwrapped(address);
    match private {
        PrivateHosts::All => true,
        PrivateHosts::Loopback => address.is_loopback() || is_public(address),
        PrivateHosts::None => is_public(address),
    }
}

/// The IPv4 address that stands in an IPv6 address, if one does: mapped, compatible, translated
/// (64:ff9b::/96), or tunnelled (2002::/16).
fn unwrapped(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else { return address };
    let embedded = match six.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some((high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some((high, low)),
        [0x2002, high, low, ..] => Some((high, low)),
        // ::1 and :: are addresses of their own.
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some((high, low)),
        _ => None,
    };
    match embedded {
        Some((high, low)) => Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into(),
        None => address,
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => is_public_v4(four),
        IpAddr::V6(six) => is_public_v6(six),
    }
}

/// By the registry of special addresses (RFC 6890).
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b));
    !is_special
}

/// All that is given out to the public lies in 2000::/3.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_documentation = first == 0x2001 && second == 0xdb8;
    let is_protocol = first == 0x2001 && second < 0x200;
    first & 0xe000 == 0x2000 && !is_documentation && !is_protocol
}

/// Looks names up, and leaves out the addresses that the rules refuse.
#[derive(Debug)]
pub struct CheckedResolver {
    /// Which addresses are allowed.
    pub private: PrivateHosts,
    /// The host and port of a proxy that the administrator has chosen, which may be anywhere.
    pub trusted: Option<(String, u16)>,
    /// What looks addresses up.
    pub inner: DefaultResolver,
}

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> std::result::Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        if self.is_trusted(uri) {
            return Ok(found);
        }
        let mut kept = self.empty();
        for address in found.iter().filter(|found| is_allowed(found.ip(), self.private)) {
            kept.push(*address);
        }
        match (kept.iter().next(), found.iter().next()) {
            (None, Some(first)) => {
                let host = bare(uri.host().unwrap_or_default());
                let refused = Refused { host, address: first.ip() };
                Err(io::Error::new(io::ErrorKind::PermissionDenied, refused).into())
            }
            _ => Ok(kept),
        }
    }
}

impl CheckedResolver {
    fn is_trusted(&self, uri: &Uri) -> bool {
        let Some((host, port)) = &self.trusted else { return false };
        uri.host() == Some(host.as_str()) && uri.port_u16().is_none_or(|given| given == *port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{HostRules, Network};

    fn provider(private: PrivateHosts, allowed: &[&str]) -> ProviderConfig {
        let allowed = allowed.iter().map(|rule| rule.to_string()).collect();
        let network = Network { hosts: HostRules { private, allowed }, ..Network::default() };
        ProviderConfig { network, ..ProviderConfig::unreachable() }
    }

    #[test]
    fn public_addresses_are_always_allowed() {
        for address in ["8.8.8.8", "1.1.1.1", "100.63.0.1", "172.32.0.1", "2606:4700::1111"] {
            assert!(is_allowed(address.parse().unwrap(), PrivateHosts::None), "{address}");
        }
    }

    #[test]
    fn the_machine_itself_is_allowed_unless_nothing_is() {
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            let address = address.parse().unwrap();
            assert!(!is_allowed(address, PrivateHosts::None), "{address}");
            assert!(is_allowed(address, PrivateHosts::Loopback), "{address}");
            assert!(is_allowed(address, PrivateHosts::All), "{address}");
        }
    }

    #[test]
    fn other_addresses_are_refused_in_every_disguise() {
        for address in [
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0.0.0.0",
            "::10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a9fe:a9fe::1",
            "fe80::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
        ] {
            let address = address.parse().unwrap();
            assert!(!is_allowed(address, PrivateHosts::Loopback), "{address}");
            assert!(!is_allowed(address, PrivateHosts::None), "{address}");
            assert!(is_allowed(address, PrivateHosts::All), "{address}");
        }
    }

    #[test]
    fn names_are_allowed_one_by_one_or_below_one() {
        let rules = ["api.example.com", " *.Example.org. "];
        let yes =
            ["https://api.example.com/v1", "http://API.example.com.:80", "http://a.example.org"];
        let no = [
            "https://example.com",
            "https://evil-api.example.com",
            "https://example.org",
            "https://evilexample.org",
            "https://.example.org",
            "https://a.example.org.evil.com",
            "http://127.0.0.1",
        ];
        for url in yes {
            check(&provider(PrivateHosts::Loopback, &rules), url).unwrap();
        }
        for url in no {
            let error = check(&provider(PrivateHosts::Loopback, &rules), url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Forbidden, "{url}");
            assert!(error.message().contains("is not in rag.allowed_hosts"), "{error}");
        }
    }

    #[test]
    fn an_address_in_the_url_is_refused_with_its_setting() {
        for (url, address) in [
            ("http://169.254.169.254/latest", "the private address 169.254.169.254 of host"),
            ("http://[::ffff:10.0.0.1]:80/v1", "the private address ::ffff:10.0.0.1"),
            ("http://0.0.0.0:11434", "0.0.0.0"),
        ] {
            let error = check(&provider(PrivateHosts::Loopback, &[]), url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Forbidden);
            assert!(error.message().contains(address), "{error}");
            assert_eq!(error.detail_text(), Some("rag.allow_private_hosts is 'loopback'."));
            check(&provider(PrivateHosts::All, &[]), url).unwrap();
        }
        check(&provider(PrivateHosts::Loopback, &[]), "http://[::1]:80").unwrap();
        let error = check(&provider(PrivateHosts::None, &[]), "http://127.0.0.1").unwrap_err();
        assert!(error.message().contains("this machine's address 127.0.0.1"), "{error}");
    }
}
