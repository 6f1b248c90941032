//! How is a connection to the database made?

use rustls::{CertificateError, Error as TlsError, OtherError};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::certificate::{AuthorityOutOfDate, UnreadableLists};
use crate::encryption::{Encryption, Mode};
use crate::failure::with_causes;
use crate::hosts::{self, Hosts};
use crate::log;

/// The stream of a connection that is encrypted.
type Encrypted = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// The database, the role and the way there.
#[derive(Clone, Debug)]
pub struct Connector {
    config: Config,
    encryption: Encryption,
}

impl Connector {
    /// The error is a sentence: what of the two does not go together.
    pub fn new(mut config: Config, encryption: Encryption) -> Result<Self, String> {
        config.ssl_negotiation(encryption.negotiation);
        // The name in a certificate may be an address, and TLS needs one of both.
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
        }
        if hosts::is_drawn_among_unlike(&config) {
            return Err(
                "load_balance_hosts=random needs hosts that are all unix sockets, or none of them"
                    .to_owned(),
            );
        }
        Ok(Self { config, encryption })
    }

    /// Where the database is, and as which role it is asked.
    #[cfg(test)]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The way to the database as another role, with the password that was there before where there is no other.
    pub fn for_role(&self, role: String, password: Option<String>) -> Self {
        let mut other = self.clone();
        other.config.user(role);
        if let Some(password) = password {
            other.config.password(password);
        }
        other
    }

    /// Connects to the first host that can be. Where none can, the error is that of the last.
    pub async fn connect(&self) -> Result<(Client, Connection<Socket, Encrypted>), Error> {
        let (first, others) = hosts::alike(&self.config);
        let mut connected = self.connect_to(&first).await;
        for hosts in others {
            let Err(error) = &connected else { break };
            log::say(with_causes(error));
            connected = self.connect_to(&hosts).await;
        }
        connected
    }

    /// Connects, in two ways where `sslmode` allows it. Where neither is one, the error is that of the first.
    async fn connect_to(
        &self,
        hosts: &Hosts,
    ) -> Result<(Client, Connection<Socket, Encrypted>), Error> {
        let (way, other) = self.ways(hosts.is_local);
        let first = match (self.connect_with(&hosts.config, way).await, other) {
            (Err(error), Some(_)) if is_about_the_way(&error) => error,
            (over, _) => return over,
        };
        match self.connect_with(&hosts.config, other.unwrap_or(way)).await {
            Err(error) if is_about_the_way(&error) || is_about_encryption(&error) => {
                log::say(with_causes(&error));
                Err(first)
            }
            over => over,
        }
    }

    async fn connect_with(
        &self,
        config: &Config,
        way: SslMode,
    ) -> Result<(Client, Connection<Socket, Encrypted>), Error> {
        let mut config = config.clone();
        config.ssl_mode(way).connect(self.encryption.tls.clone()).await
    }

    /// How hosts are tried, and how else. Unix sockets are not encrypted.
    fn ways(&self, is_local: bool) -> (SslMode, Option<SslMode>) {
        match self.encryption.mode {
            _ if is_local => (SslMode::Disable, None),
            Mode::Disable => (SslMode::Disable, None),
            Mode::Allow => (SslMode::Disable, Some(SslMode::Require)),
            Mode::Prefer => (SslMode::Prefer, Some(SslMode::Disable)),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => (SslMode::Require, None),
        }
    }

    /// Asks the server to end a statement, over a connection that is encrypted as that of the statement is. Returns whether
    /// the request was sent; the server does not say what came of it.
    pub async fn cancel(&self, statement: &CancelToken) -> bool {
        statement.cancel_query(self.encryption.tls.clone()).await.is_ok()
    }
}

/// Whether the same might work with encryption, or without it: there is no line of `pg_hba.conf` for this one.
fn is_about_the_way(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
        || tls_error(error).is_some()
}

/// Whether a connection was not made because it could not be encrypted as `sslmode` wants it.
pub fn is_about_encryption(error: &Error) -> bool {
    // The driver tells it apart in words only.
    tls_error(error).is_some() || error.to_string().starts_with("error performing TLS handshake")
}

/// What can be done about an error between rustls and the server.
pub fn hint(error: &Error) -> Option<&'static str> {
    match tls_error(error)? {
        TlsError::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => Some(
            "sslrootcert does not hold the authority that has signed the certificate of the server; a certificate that is trusted itself signs no others unless it says cA=TRUE",
        ),
        TlsError::InvalidCertificate(CertificateError::Other(OtherError(other)))
            if other.is::<AuthorityOutOfDate>() =>
        {
            Some(
                "the authority of sslrootcert that has signed the certificate of the server has expired, or is not valid yet",
            )
        }
        TlsError::InvalidCertificate(CertificateError::Other(OtherError(other)))
            if other.is::<UnreadableLists>() =>
        {
            Some("the lists of sslcrl and sslcrldir are read for each connection")
        }
        TlsError::InvalidCertificate(CertificateError::Revoked) => Some(
            "a list of sslcrl or sslcrldir says that the certificate of the server, or of an authority before it, is revoked",
        ),
        TlsError::InvalidCertificate(CertificateError::UnknownRevocationStatus) => Some(
            "sslcrl and sslcrldir need a list of each authority that has signed a certificate which the server shows",
        ),
        TlsError::InvalidCertificate(CertificateError::ExpiredRevocationListContext { .. }) => {
            Some("a newer list of the authority must take its place in sslcrl or sslcrldir")
        }
        TlsError::InvalidCertRevocationList(_) => Some(
            "a list of sslcrl or sslcrldir was not signed by the authority that it names, or the authority may sign none; of two authorities with one name, lists and certificates must say by an authorityKeyIdentifier which has signed them",
        ),
        TlsError::InvalidCertificate(CertificateError::NotValidForNameContext { .. }) => Some(
            "the host of the connection string must be a subjectAltName of the certificate; sslmode=verify-ca does not compare them",
        ),
        TlsError::InvalidCertificate(CertificateError::Other(other))
            if other.to_string().contains("UnsupportedCertVersion") =>
        {
            Some("the certificate of the server is of X.509 version 1; have one of version 3 made")
        }
        TlsError::AlertReceived(_) => {
            Some("the server does not accept sslcert, or wants one; its log says why")
        }
        _ => None,
    }
}

/// What went wrong between rustls and the server, if it was that.
fn tls_error(error: &Error) -> Option<&TlsError> {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<TlsError>() {
            return Some(error);
        }
        cause = match error.downcast_ref::<std::io::Error>().and_then(|error| error.get_ref()) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
#[path = "connector_tests.rs"]
mod tests;
