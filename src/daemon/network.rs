//! How may a provider be reached, and how much may it be asked?
//!
//! Options of a foreign server and settings of the administrator, on their way to ragd, which
//! keeps none of them.

use serde::{Deserialize, Serialize};

/// How much a provider is asked, over all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLimits {
    /// Longest wait for the first piece of a streamed answer; `None`: the limit of the whole call.
    pub first_token_timeout_ms: Option<u64>,
    /// Most calls at a time.
    pub max_concurrency: Option<u32>,
    /// Most calls that begin within a minute.
    pub requests_per_minute: Option<u32>,
}

/// By which way, and to which hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// An HTTP proxy as `http://host:port`; `None`: the one that ragd's environment names.
    pub proxy: Option<String>,
    /// A file of certificates in PEM that are trusted in the place of the usual authorities.
    pub ca_file: Option<String>,
    /// Hosts that may be called.
    pub hosts: HostRules,
    /// The number of the role that has chosen all of this, the owner of the foreign server. Roles are
    /// those of all databases. What is learned on one role's way is not held against another's.
    pub owner: u32,
}

/// Which hosts may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRules {
    /// Which addresses besides the public ones.
    pub private: PrivateHosts,
    /// Names, `*.example.com` for all below one; none: all.
    pub allowed: Vec<String>,
}

/// Which addresses are allowed that are not of the public Internet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrivateHosts {
    /// None.
    None,
    /// Those of the machine itself.
    #[default]
    Loopback,
    /// All.
    All,
}

/// Whether the port that `authority`, a host with perhaps a port, names can be one: from 1 to 65535.
/// Without one there is nothing to object to.
#[must_use]
pub fn has_fit_port(authority: &str) -> bool {
    // An IPv6 address has colons of its own, in brackets.
    let rest = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    let Some((_, port)) = rest.split_once(':') else { return true };
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    is_number && port.parse::<u16>().is_ok_and(|port| port > 0)
}

impl PrivateHosts {
    /// As the setting `rag.allow_private_hosts` says it.
    pub fn name(self) -> &'static str {
        match self {
            PrivateHosts::None => "none",
            PrivateHosts::Loopback => "loopback",
            PrivateHosts::All => "all",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_from_1_to_65535() {
        for fit in ["host", "host:1", "host:65535", "[::1]", "[::1]:8080", "127.0.0.1:080"] {
            assert!(has_fit_port(fit), "{fit}");
        }
        for unfit in ["host:0", "host:65536", "host:99999", "host:", "host:+1", "host:x", "[::1]:0"]
        {
            assert!(!has_fit_port(unfit), "{unfit}");
        }
        assert!(!has_fit_port("host:1:2") && !has_fit_port("host:18446744073709551617"));
    }
}
