//! How is a connection to the database made?

use rustls::{CertificateError, Error as TlsError};
use tokio_postgres::config::{Host, SslMode, SslNegotiation};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::encryption::{Encryption, Mode};
use crate::failure::with_causes;

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
        // What is not encrypted at first cannot begin with TLS.
        if config.get_ssl_negotiation() == SslNegotiation::Direct && encryption.mode < Mode::Require
        {
            return Err("sslnegotiation=direct needs sslmode=require or a stronger one".to_owned());
        }
        // The name in a certificate may be an address, and TLS needs one of both.
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
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

    /// Connects, in two ways where `sslmode` allows it. Where neither is one, the error is that of the first.
    pub async fn connect(&self) -> Result<(Client, Connection<Socket, Encrypted>), Error> {
        let (way, other) = self.ways();
        let first = match (self.connect_with(way).await, other) {
            (Err(error), Some(_)) if is_about_the_way(&error) => error,
            (over, _) => return over,
        };
        match self.connect_with(other.unwrap_or(way)).await {
            Err(error) if is_about_the_way(&error) || is_about_encryption(&error) => {
                eprintln!("rag-server: {}", with_causes(&error));
                Err(first)
            }
            over => over,
        }
    }

    async fn connect_with(
        &self,
        way: SslMode,
    ) -> Result<(Client, Connection<Socket, Encrypted>), Error> {
        let mut config = self.config.clone();
        config.ssl_mode(way).connect(self.encryption.tls.clone()).await
    }

    /// How it is tried, and how else. Unix sockets are not encrypted.
    fn ways(&self) -> (SslMode, Option<SslMode>) {
        let is_local = |host: &Host| matches!(host, Host::Unix(_));
        if self.config.get_hosts().iter().all(is_local) {
            return (SslMode::Disable, None);
        }
        match self.encryption.mode {
            Mode::Disable => (SslMode::Disable, None),
            Mode::Allow => (SslMode::Disable, Some(SslMode::Require)),
            Mode::Prefer => (SslMode::Prefer, Some(SslMode::Disable)),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => (SslMode::Require, None),
        }
    }

    /// Asks the server to end a statement, over a connection that is encrypted as that of the statement is.
    pub async fn cancel(&self, statement: &CancelToken) {
        // A statement that is over needs no cancelling, and whoever cancels looks whether it is.
        let _ = statement.cancel_query(self.encryption.tls.clone()).await;
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
            "sslrootcert does not hold the authority that has signed the certificate of the server",
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
