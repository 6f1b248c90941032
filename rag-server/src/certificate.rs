//! Is this the certificate of the database?

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

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

/// Checks certificates of servers as `sslmode` says.
#[derive(Debug)]
pub struct CertificateCheck {
    check: Check,
    trusted: Vec<CertificateDer<'static>>,
    anchors: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl CertificateCheck {
    /// `trusted` are the certificates of authorities, and those of servers that have signed their own. The error is one
    /// among them that is no certificate.
    pub fn new(
        check: Check,
        trusted: Vec<CertificateDer<'static>>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<Self, Error> {
        let mut anchors = RootCertStore::empty();
        for certificate in &trusted {
            anchors.add(certificate.clone())?;
        }
        Ok(Self { check, trusted, anchors, algorithms })
    }

    /// A certificate that has signed itself is an authority, which webpki accepts from no server. As for OpenSSL it
    /// suffices here that the very same one is trusted. The dates of it have been looked at before that error.
    fn is_trusted_itself(&self, certificate: &CertificateDer<'_>, error: &Error) -> bool {
        matches!(error, Error::InvalidCertificate(CertificateError::Other(_)))
            && self.trusted.iter().any(|trusted| trusted == certificate)
    }
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
        let certificate = ParsedCertificate::try_from(end_entity)?;
        verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &self.anchors,
            intermediates,
            now,
            self.algorithms.all,
        )
        .or_else(|error| self.is_trusted_itself(end_entity, &error).then_some(()).ok_or(error))?;
        if self.check == Check::AuthorityAndHost {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn authority() -> (CertificateDer<'static>, Issuer<'static, KeyPair>) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().der().clone();
        (certificate, Issuer::new(params, key))
    }

    fn server(host: &str, issuer: &Issuer<'static, KeyPair>) -> CertificateDer<'static> {
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.signed_by(&KeyPair::generate().unwrap(), issuer).unwrap().der().clone()
    }

    fn verdict(
        check: Check,
        trusted: &CertificateDer<'static>,
        shown: &CertificateDer<'static>,
        seconds: u64,
    ) -> Result<(), String> {
        let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
        let check = CertificateCheck::new(check, vec![trusted.clone()], algorithms).unwrap();
        let name = ServerName::try_from("db.example").unwrap();
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let verified = check.verify_server_cert(shown, &[], &name, &[], now);
        verified.map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn each_check_asks_more_than_the_one_before() {
        let ((trusted, issuer), (_, other)) = (authority(), authority());
        let (right, of_another_host) =
            (server("db.example", &issuer), server("web.example", &issuer));
        let of_another_authority = server("db.example", &other);
        let accepted = |check| {
            [&right, &of_another_host, &of_another_authority]
                .map(|shown| verdict(check, &trusted, shown, NOW).is_ok())
        };
        assert_eq!(accepted(Check::Nothing), [true, true, true]);
        assert_eq!(accepted(Check::Authority), [true, true, false]);
        assert_eq!(accepted(Check::AuthorityAndHost), [true, false, false]);
        let error = verdict(Check::AuthorityAndHost, &trusted, &of_another_host, NOW).unwrap_err();
        assert!(error.contains("db.example") && error.contains("web.example"), "{error}");
    }

    #[test]
    fn a_certificate_that_signed_itself_is_trusted_where_it_is_named() {
        let own = |is_ca| {
            let mut params = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
            params.is_ca = is_ca;
            params.not_before = rcgen::date_time_ymd(2020, 1, 1);
            params.not_after = rcgen::date_time_ymd(2040, 1, 1);
            params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
        };
        for is_ca in [IsCa::NoCa, IsCa::ExplicitNoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
            let (shown, other) = (own(is_ca), own(is_ca));
            assert_eq!(verdict(Check::AuthorityAndHost, &shown, &shown, NOW), Ok(()));
            verdict(Check::Authority, &other, &shown, NOW).unwrap_err();
            let expired = verdict(Check::Authority, &shown, &shown, 2 * NOW).unwrap_err();
            assert!(expired.contains("expired"), "{expired}");
            let early = verdict(Check::Authority, &shown, &shown, NOW / 2).unwrap_err();
            assert!(early.contains("not valid yet"), "{early}");
        }
    }
}
