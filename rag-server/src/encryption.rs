//! Is the connection to the database encrypted, and with whom is it?
//!
//! Names, values, files and defaults are those of libpq.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_postgres::config::SslNegotiation;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::certificate::{CertificateCheck, Check, is_certificate};
use crate::revocation::RevocationLists;

/// `sslmode`, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Never encrypted.
    Disable,
    /// Encrypted where the server wants it.
    Allow,
    /// Encrypted where the server can; the default.
    Prefer,
    /// Always encrypted.
    Require,
    /// With a certificate of an authority that is trusted.
    VerifyCa,
    /// With a certificate of such an authority for this host.
    VerifyFull,
}

const MODES: [(&str, Mode); 6] = [
    ("disable", Mode::Disable),
    ("allow", Mode::Allow),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
];

/// A parameter that is read.
struct Parameter {
    name: &'static str,
    /// The variable of the environment that speaks where the connection string does not.
    variable: &'static str,
    /// Whether its value names a file or a folder.
    is_path: bool,
    /// The file in the home of the user that is taken where neither speaks.
    default: Option<&'static str>,
}

const PARAMETERS: [Parameter; 7] = [
    Parameter::word("sslnegotiation", "PGSSLNEGOTIATION"),
    Parameter::word("sslmode", "PGSSLMODE"),
    Parameter::path("sslrootcert", "PGSSLROOTCERT", Some("root.crt")),
    Parameter::path("sslcrl", "PGSSLCRL", Some("root.crl")),
    Parameter::path("sslcrldir", "PGSSLCRLDIR", None),
    Parameter::path("sslcert", "PGSSLCERT", Some("postgresql.crt")),
    Parameter::path("sslkey", "PGSSLKEY", Some("postgresql.key")),
];

impl Parameter {
    const fn word(name: &'static str, variable: &'static str) -> Self {
        Self { name, variable, is_path: false, default: None }
    }

    const fn path(
        name: &'static str,
        variable: &'static str,
        default: Option<&'static str>,
    ) -> Self {
        Self { name, variable, is_path: true, default }
    }

    fn named(name: &str) -> Option<&'static Self> {
        PARAMETERS.iter().find(|parameter| parameter.name == name)
    }
}

/// Variables of the environment that libpq reads and nobody does here, with the values that change nothing. Who sets
/// another wants less to be accepted.
const NOT_READ: [(&str, &[&str]); 3] = [
    ("PGSSLMINPROTOCOLVERSION", &["TLSv1", "TLSv1.1", "TLSv1.2"]),
    ("PGSSLMAXPROTOCOLVERSION", &["TLSv1.3"]),
    ("PGSSLCERTMODE", &["allow"]),
];

/// The value of `sslrootcert` that stands for the authorities which the system trusts.
const SYSTEM: &str = "system";

/// How a connection is encrypted.
#[derive(Clone)]
pub struct Encryption {
    /// Whether, and what of the certificate has to be right.
    pub mode: Mode,
    /// Whether TLS is asked for first.
    pub negotiation: SslNegotiation,
    /// What makes TLS of a socket.
    pub tls: MakeRustlsConnect,
}

impl std::fmt::Debug for Encryption {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Encryption").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// What was said of the parameters, and variables that nobody reads.
struct Said {
    values: HashMap<&'static str, OsString>,
    home: Option<PathBuf>,
    not_read: Vec<&'static str>,
}

impl Encryption {
    /// Reads the parameters `ssl...` of a connection string and the files that they name; `environment` has the values of
    /// variables. The error is a sentence for standard error.
    pub fn read(
        parameters: &[(String, String)],
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, String> {
        let said = Said::new(parameters, environment)?;
        let (mode, negotiation) = (said.mode()?, said.negotiation()?);
        // What is not encrypted at first cannot begin with TLS.
        if negotiation == SslNegotiation::Direct && mode < Mode::Require {
            return Err("sslnegotiation=direct needs sslmode=require or a stronger one".to_owned());
        }
        let config = match mode {
            Mode::Disable => client(Trust::nothing(), None)?,
            _ => client(said.trust(mode)?, said.identity()?)?,
        };
        Ok(Self { mode, negotiation, tls: MakeRustlsConnect::new(config) })
    }
}

impl Said {
    fn new(
        parameters: &[(String, String)],
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, String> {
        let mut values = HashMap::new();
        for Parameter { name, variable, .. } in PARAMETERS {
            if let Some(value) = environment(variable).filter(|value| !value.is_empty()) {
                values.insert(name, value);
            }
        }
        for (said, value) in parameters {
            let known = Parameter::named(said).ok_or_else(|| {
                let (last, others) = PARAMETERS.split_last().expect("there are parameters");
                let others: Vec<_> = others.iter().map(|parameter| parameter.name).collect();
                format!("{said} is not supported; {} and {} are", others.join(", "), last.name)
            })?;
            // An empty name stands for the file in the home, whatever the environment says.
            match value.as_str() {
                "" if known.is_path => values.remove(known.name),
                _ => values.insert(known.name, OsString::from(value)),
            };
        }
        let home = environment("HOME").map(|home| PathBuf::from(home).join(".postgresql"));
        let is_not_read = |(variable, harmless): &(&str, &[&str])| {
            let value = environment(variable).unwrap_or_default();
            !value.is_empty() && harmless.iter().all(|harmless| value != *harmless)
        };
        let not_read =
            NOT_READ.iter().filter(|one| is_not_read(one)).map(|(variable, _)| *variable);
        Ok(Self { values, home, not_read: not_read.collect() })
    }

    fn negotiation(&self) -> Result<SslNegotiation, String> {
        let Some(said) = self.values.get("sslnegotiation") else {
            return Ok(SslNegotiation::Postgres);
        };
        match said.to_str() {
            Some("postgres") => Ok(SslNegotiation::Postgres),
            Some("direct") => Ok(SslNegotiation::Direct),
            _ => Err(format!("sslnegotiation must be postgres or direct, not {said:?}")),
        }
    }

    fn mode(&self) -> Result<Mode, String> {
        let is_system = self.values.get("sslrootcert").is_some_and(|value| value == SYSTEM);
        let Some(said) = self.values.get("sslmode") else {
            return Ok(if is_system { Mode::VerifyFull } else { Mode::Prefer });
        };
        let mode = MODES.iter().find(|(name, _)| said == name).map(|(_, mode)| *mode);
        let mode = mode.ok_or_else(|| {
            let names = MODES.map(|(name, _)| name).join(", ");
            format!("sslmode must be one of {names}, not {said:?}")
        })?;
        if is_system && mode < Mode::VerifyFull {
            return Err(format!(
                "sslrootcert=system needs sslmode=verify-full, not {said:?}: anybody gets a certificate of such an authority"
            ));
        }
        Ok(mode)
    }

    /// The file of a parameter, and whether it was named; one in the home of the user need not be there.
    fn file(&self, parameter: &str) -> Option<(PathBuf, bool)> {
        if let Some(value) = self.values.get(parameter) {
            return Some((PathBuf::from(value), true));
        }
        self.file_in_home(parameter).filter(|file| file.exists()).map(|file| (file, false))
    }

    /// Where the file of a parameter is that was not named.
    fn file_in_home(&self, parameter: &str) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(Parameter::named(parameter)?.default?))
    }

    /// Which certificates of servers are accepted. Below `require` none is looked at: what would become of the connection
    /// is that it is not encrypted at all.
    fn trust(&self, mode: Mode) -> Result<Trust, String> {
        if mode < Mode::Require {
            return Ok(Trust::nothing());
        }
        if let Some(variable) = self.not_read.first() {
            return Err(format!(
                "{variable} is set, but rag-server cannot do what it asks for; unset it to connect without that"
            ));
        }
        let check =
            if mode == Mode::VerifyFull { Check::AuthorityAndHost } else { Check::Authority };
        match self.file("sslrootcert") {
            Some((file, true)) if file.as_os_str() == SYSTEM => {
                Ok(Trust { check, certificates: of_the_system()?, revoked: self.named_lists() })
            }
            Some((file, _)) => {
                let certificates = certificates("sslrootcert", &file)?;
                Ok(Trust { check, certificates, revoked: self.lists() })
            }
            None if mode == Mode::Require && self.named_lists().is_none() => Ok(Trust::nothing()),
            None if mode == Mode::Require => Err(
                "sslcrl and sslcrldir say nothing without authorities that are trusted; name a file with their \
                 certificates as sslrootcert, or write sslrootcert=system"
                    .to_owned(),
            ),
            None => Err(format!(
                "sslmode={} needs to know which authorities are trusted; name a file with their certificates as \
                 sslrootcert, or write sslrootcert=system",
                if mode == Mode::VerifyFull { "verify-full" } else { "verify-ca" }
            )),
        }
    }

    /// The lists of revoked certificates that count beside a file of authorities: where none is named, that in the home,
    /// also one that is put there later.
    fn lists(&self) -> Option<RevocationLists> {
        self.named_lists().or_else(|| self.file_in_home("sslcrl").map(RevocationLists::of_home))
    }

    fn named_lists(&self) -> Option<RevocationLists> {
        let named = |parameter| self.values.get(parameter).map(PathBuf::from);
        RevocationLists::named(named("sslcrl"), named("sslcrldir"))
    }

    /// The certificate that the server is shown, with those between it and an authority, and its key.
    fn identity(&self) -> Result<Option<Identity>, String> {
        let Some((certificate, _)) = self.file("sslcert") else { return Ok(None) };
        let (key, _) = self.file("sslkey").ok_or_else(|| {
            format!(
                "there is the certificate {}, but no key; name its file as sslkey",
                certificate.display()
            )
        })?;
        Ok(Some((certificates("sslcert", &certificate)?, private_key(&key)?)))
    }
}

/// A certificate with those that follow it, and the key of the first.
type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// What is asked of a server, and who may have signed that it is so.
struct Trust {
    check: Check,
    certificates: Vec<CertificateDer<'static>>,
    revoked: Option<RevocationLists>,
}

impl Trust {
    fn nothing() -> Self {
        Self { check: Check::Nothing, certificates: Vec::new(), revoked: None }
    }
}

fn of_the_system() -> Result<Vec<CertificateDer<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        return Err(format!(
            "the system has no authorities for sslrootcert=system; install its package ca-certificates {}",
            errors.join(", ")
        ));
    }
    // Stores of systems hold some that nobody can read, and do without them.
    Ok(found.certs.into_iter().filter(is_certificate).collect())
}

fn certificates(parameter: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let failed = |error: PemError| match error {
        PemError::Io(error) => format!("{parameter} {} cannot be read: {error}", file.display()),
        _ => format!("{parameter} {} is not in the format PEM: {error}", file.display()),
    };
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).map_err(failed)?.collect();
    match read.map_err(failed)? {
        none if none.is_empty() => {
            Err(format!("{parameter} {} holds no certificate", file.display()))
        }
        certificates => Ok(certificates),
    }
}

/// As for libpq, nobody else may read a key but the group of one that belongs to root.
fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let name = file.display();
    let metadata =
        file.metadata().map_err(|error| format!("sslkey {name} cannot be read: {error}"))?;
    let of_others = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    if metadata.mode() & of_others != 0 {
        return Err(format!("sslkey {name} may be read by others; chmod 600 {name}"));
    }
    PrivateKeyDer::from_pem_file(file).map_err(|error| match error {
        PemError::Io(error) => format!("sslkey {name} cannot be read: {error}"),
        PemError::NoItemsFound => format!(
            "sslkey {name} holds no key in the format PEM, or one with a password; openssl pkey -in {name} takes it away"
        ),
        _ => format!("sslkey {name} is not in the format PEM: {error}"),
    })
}

fn client(trust: Trust, identity: Option<Identity>) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let check = CertificateCheck::new(trust.check, trust.certificates, Arc::clone(&provider))
        .map_err(|error| format!("sslrootcert holds something that is no certificate: {error}"))?
        .with_revocations(trust.revoked)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(check));
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some((certificates, key)) => builder
            .with_client_auth_cert(certificates, key)
            .map_err(|error| format!("sslkey is not the key of sslcert: {error}"))?,
    };
    // A session that is resumed is not checked again, whatever has been revoked since. libpq resumes none, either.
    config.resumption = Resumption::disabled();
    // What servers since PostgreSQL 17 want where TLS is not asked for first.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(config)
}

#[cfg(test)]
#[path = "encryption_tests.rs"]
mod tests;
