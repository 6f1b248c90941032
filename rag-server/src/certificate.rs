//! Is this the certificate of the database?

use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor, verify_server_name,
};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, ServerName, TrustAnchor, UnixTime,
};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::Decode;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage};

use crate::revocation::{RevocationList, RevocationLists, in_order_for, is_named};

/// What is asked of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Nothing but that the server has its key.
    Nothing,
    /// That an authority which is trusted has signed it.
    Authority,
    /// And that it is for the host of the connection string.
    AuthorityAndHost,
}

/// The authority that has signed a certificate is trusted, but not now.
#[derive(Debug)]
pub struct AuthorityOutOfDate;

impl std::fmt::Display for AuthorityOutOfDate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the certificate of its authority has expired or is not valid yet")
    }
}

impl std::error::Error for AuthorityOutOfDate {}

/// The lists of revoked certificates cannot be read, for this reason.
#[derive(Debug)]
pub struct UnreadableLists(String);

impl std::fmt::Display for UnreadableLists {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UnreadableLists {}

fn unreadable(reason: String) -> Error {
    CertificateError::Other(OtherError(Arc::new(UnreadableLists(reason)))).into()
}

/// Who may sign certificates, and when.
#[derive(Clone, Debug)]
struct Authority {
    certificate: CertificateDer<'static>,
    anchor: TrustAnchor<'static>,
    not_before: Duration,
    not_after: Duration,
}

impl Authority {
    /// Reads a certificate. There is no authority in that of a server: RFC 5280 has `cA` say who is one, and `keyUsage`,
    /// where it is there, that it signs certificates. The error says why it is no certificate.
    fn read(certificate: &CertificateDer<'static>) -> Result<Option<Self>, String> {
        let mut store = RootCertStore::empty();
        store.add(certificate.clone()).map_err(|error| error.to_string())?;
        let read = CertificateInner::<Raw>::from_der(certificate);
        let content = read.map_err(|error| error.to_string())?.tbs_certificate;
        let constraints = content.get::<BasicConstraints>().map_err(|error| error.to_string())?;
        let usage = content.get::<KeyUsage>().map_err(|error| error.to_string())?;
        let is_authority = constraints.is_some_and(|(_, constraints)| constraints.ca)
            && usage.is_none_or(|(_, usage)| usage.key_cert_sign());
        let anchor = store.roots.pop().filter(|_| is_authority);
        Ok(anchor.map(|anchor| Self {
            certificate: certificate.clone(),
            anchor,
            not_before: content.validity.not_before.to_unix_duration(),
            not_after: content.validity.not_after.to_unix_duration(),
        }))
    }

    fn is_valid(&self, now: UnixTime) -> bool {
        let now = now.as_secs();
        self.not_before.as_secs() <= now && now <= self.not_after.as_secs()
    }
}

/// Whether this is a certificate at all.
pub fn is_certificate(certificate: &CertificateDer<'static>) -> bool {
    Authority::read(certificate).is_ok()
}

/// Checks certificates of servers as `sslmode` says.
#[derive(Debug)]
pub struct CertificateCheck {
    check: Check,
    trusted: Vec<CertificateDer<'static>>,
    authorities: Vec<Authority>,
    revoked: Option<RevocationLists>,
    provider: Arc<CryptoProvider>,
}

impl CertificateCheck {
    /// `trusted` are the certificates of authorities, and those of servers that are trusted themselves and sign nothing.
    /// The error says what is wrong with one among them that is no certificate.
    pub fn new(
        check: Check,
        trusted: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let read: Result<Vec<_>, _> = trusted.iter().map(Authority::read).collect();
        let authorities = read?.into_iter().flatten().collect();
        Ok(Self { check, trusted, authorities, revoked: None, provider })
    }

    /// Accepts only what is not revoked: of each authority that has signed a certificate there must be a list. The error
    /// says which of the lists cannot be used.
    pub fn with_revocations(mut self, lists: Option<RevocationLists>) -> Result<Self, String> {
        self.revoked = lists;
        self.lists(UnixTime::now())?;
        Ok(self)
    }

    fn lists(&self, now: UnixTime) -> Result<Option<Vec<RevocationList>>, String> {
        self.revoked.as_ref().map_or(Ok(None), |lists| lists.read(now))
    }

    /// What verifies certificates by authorities and lists, of which there is at least one each: without lists it would
    /// accept whatever is revoked.
    fn verifier(
        &self,
        anchors: RootCertStore,
        lists: Vec<CertificateRevocationListDer<'static>>,
    ) -> Result<Arc<WebPkiServerVerifier>, String> {
        let provider = Arc::clone(&self.provider);
        WebPkiServerVerifier::builder_with_provider(Arc::new(anchors), provider)
            .with_crls(lists)
            .enforce_revocation_expiration()
            .build()
            .map_err(|error| {
                format!(
                    "a list of revoked certificates of sslcrl or sslcrldir cannot be used: {error}"
                )
            })
    }

    fn verify_signed_by<'a>(
        &self,
        authorities: impl Iterator<Item = &'a Authority>,
        shown: &Shown<'_>,
    ) -> Result<(), Error> {
        let anchors = anchors(authorities);
        let Some(lists) = shown.lists.filter(|_| !anchors.is_empty()) else {
            return verify_server_cert_signed_by_trust_anchor(
                &shown.parsed,
                &anchors,
                shown.intermediates,
                shown.now,
                self.provider.signature_verification_algorithms.all,
            );
        };
        let Shown { certificate, intermediates, name, now, .. } = shown;
        let lists = in_order_for(lists, std::iter::once(*certificate).chain(*intermediates));
        let verifier = self.verifier(anchors, lists).map_err(unreadable)?;
        // It compares the name last, which is not always asked for.
        match verifier.verify_server_cert(certificate, intermediates, name, &[], *now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(()),
            verified => verified.map(drop),
        }
    }

    /// Anchors have no dates for webpki, which looks none of them up in a list, either. So those that are out of date or
    /// revoked are left out.
    fn verify_authority(&self, shown: &Shown<'_>) -> Result<(), Error> {
        let is_valid = |one: &&Authority| one.is_valid(shown.now);
        let (revoked, trusted): (Vec<_>, Vec<_>) =
            self.authorities.iter().partition(|one| shown.is_revoked(&one.certificate));
        let valid = || trusted.iter().copied().filter(is_valid);
        self.verify_signed_by(valid(), shown).map_err(|error| {
            let with_revoked = valid().chain(revoked.iter().copied().filter(is_valid));
            if !revoked.is_empty() && self.verify_signed_by(with_revoked, shown).is_ok() {
                return CertificateError::Revoked.into();
            }
            match self.verify_signed_by(self.authorities.iter(), shown) {
                Ok(()) => CertificateError::Other(OtherError(Arc::new(AuthorityOutOfDate))).into(),
                Err(_) => error,
            }
        })
    }

    /// A certificate that is trusted itself needs nobody who has signed it. As webpki looks at its dates and purpose
    /// before it says that nobody has, or that an authority is no server, it is asked without any authority. It needs no list
    /// of revoked certificates, either, but must not be on one.
    fn verify_trusted(&self, shown: &Shown<'_>) -> Result<(), Error> {
        if shown.is_revoked(shown.certificate) {
            return Err(CertificateError::Revoked.into());
        }
        match self.verify_signed_by(std::iter::empty(), shown) {
            Err(Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::Other(_),
            )) => Ok(()),
            verified => verified,
        }
    }
}

/// What a server shows, and with what it is compared.
struct Shown<'a> {
    certificate: &'a CertificateDer<'a>,
    parsed: ParsedCertificate<'a>,
    intermediates: &'a [CertificateDer<'a>],
    name: &'a ServerName<'a>,
    lists: Option<&'a [RevocationList]>,
    now: UnixTime,
}

impl Shown<'_> {
    /// Whether one of the lists names a certificate.
    fn is_revoked(&self, certificate: &CertificateDer<'_>) -> bool {
        self.lists.is_some_and(|lists| is_named(lists, certificate))
    }
}

fn anchors<'a>(authorities: impl Iterator<Item = &'a Authority>) -> RootCertStore {
    RootCertStore { roots: authorities.map(|one| one.anchor.clone()).collect() }
}

impl ServerCertVerifier for CertificateCheck {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.check == Check::Nothing {
            return Ok(ServerCertVerified::assertion());
        }
        let lists = self.lists(now).map_err(unreadable)?;
        let shown = Shown {
            certificate: end_entity,
            parsed: ParsedCertificate::try_from(end_entity)?,
            intermediates,
            name: server_name,
            lists: lists.as_deref(),
            now,
        };
        if self.trusted.iter().any(|trusted| trusted == end_entity) {
            self.verify_trusted(&shown)?;
        } else {
            self.verify_authority(&shown)?;
        }
        if self.check == Check::AuthorityAndHost {
            verify_server_name(&shown.parsed, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
#[path = "certificate_tests.rs"]
mod tests;
