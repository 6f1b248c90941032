//! Is this the certificate of the database?

use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::Decode;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage};

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

/// Who may sign certificates, and when.
#[derive(Clone, Debug)]
struct Authority {
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
    algorithms: WebPkiSupportedAlgorithms,
}

impl CertificateCheck {
    /// `trusted` are the certificates of authorities, and those of servers that are trusted themselves and sign nothing.
    /// The error says what is wrong with one among them that is no certificate.
    pub fn new(
        check: Check,
        trusted: Vec<CertificateDer<'static>>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<Self, String> {
        let read: Result<Vec<_>, _> = trusted.iter().map(Authority::read).collect();
        let authorities = read?.into_iter().flatten().collect();
        Ok(Self { check, trusted, authorities, algorithms })
    }

    fn verify_signed_by<'a>(
        &self,
        authorities: impl Iterator<Item = &'a Authority>,
        certificate: &ParsedCertificate<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let anchors = RootCertStore { roots: authorities.map(|one| one.anchor.clone()).collect() };
        verify_server_cert_signed_by_trust_anchor(
            certificate,
            &anchors,
            intermediates,
            now,
            self.algorithms.all,
        )
    }

    /// Anchors have no dates for webpki, so those out of date are left out.
    fn verify_authority(
        &self,
        certificate: &ParsedCertificate<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let valid = self.authorities.iter().filter(|one| one.is_valid(now));
        self.verify_signed_by(valid, certificate, intermediates, now).map_err(|error| {
            let all = self.authorities.iter();
            match self.verify_signed_by(all, certificate, intermediates, now) {
                Ok(()) => CertificateError::Other(OtherError(Arc::new(AuthorityOutOfDate))).into(),
                Err(_) => error,
            }
        })
    }

    /// A certificate that is trusted itself needs nobody who has signed it. As webpki looks at its dates and purpose
    /// before it says that nobody has, or that an authority is no server, it is asked without any authority.
    fn verify_trusted(
        &self,
        certificate: &ParsedCertificate<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        match self.verify_signed_by(std::iter::empty(), certificate, &[], now) {
            Err(Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::Other(_),
            )) => Ok(()),
            verified => verified,
        }
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
        if self.trusted.iter().any(|trusted| trusted == end_entity) {
            self.verify_trusted(&certificate, now)?;
        } else {
            self.verify_authority(&certificate, intermediates, now)?;
        }
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
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};

    use super::*;

    const NOW: u64 = 1_800_000_000;

    /// From 2020 to 2040, around `NOW`.
    fn dated(host: &str, is_ca: IsCa) -> CertificateParams {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2040, 1, 1);
        params
    }

    /// What signs with this certificate, whether it may or not.
    fn issuer(params: CertificateParams) -> (CertificateDer<'static>, Issuer<'static, KeyPair>) {
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        (certificate, Issuer::new(params, key))
    }

    fn authority() -> (CertificateDer<'static>, Issuer<'static, KeyPair>) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        issuer(params)
    }

    fn server(host: &str, issuer: &Issuer<'static, KeyPair>) -> CertificateDer<'static> {
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.signed_by(&KeyPair::generate().unwrap(), issuer).unwrap().der().clone()
    }

    fn verdict_of(
        check: Check,
        trusted: &[&CertificateDer<'static>],
        shown: &[CertificateDer<'static>],
        seconds: u64,
    ) -> Result<(), String> {
        let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
        let trusted = trusted.iter().map(|&one| one.clone()).collect();
        let check = CertificateCheck::new(check, trusted, algorithms).unwrap();
        let name = ServerName::try_from("db.example").unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let verified = check.verify_server_cert(&shown[0], &shown[1..], &name, &[], now);
        verified.map(drop).map_err(|error| error.to_string())
    }

    fn verdict(
        check: Check,
        trusted: &CertificateDer<'static>,
        shown: &CertificateDer<'static>,
        seconds: u64,
    ) -> Result<(), String> {
        verdict_of(check, &[trusted], std::slice::from_ref(shown), seconds)
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
        let own = |is_ca| issuer(dated("db.example", is_ca)).0;
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

    #[test]
    fn a_certificate_is_trusted_itself_whoever_has_signed_it() {
        let (other, unknown) = (authority().0, authority());
        let shown = server("db.example", &unknown.1);
        let expired = dated("db.example", IsCa::NoCa);
        let expired = expired.signed_by(&KeyPair::generate().unwrap(), &unknown.1).unwrap();
        let chain = [shown.clone(), unknown.0.clone()];
        let full = Check::AuthorityAndHost;
        assert_eq!(verdict_of(full, &[&other, &shown], &chain, NOW), Ok(()));
        assert_eq!(verdict_of(full, &[&unknown.0, &shown], &chain, NOW), Ok(()));
        verdict_of(full, &[&other], &chain, NOW).unwrap_err();
        let said = verdict(full, expired.der(), expired.der(), 2 * NOW).unwrap_err();
        assert!(said.contains("expired"), "{said}");
        let elsewhere = server("web.example", &unknown.1);
        assert_eq!(verdict(Check::Authority, &elsewhere, &elsewhere, NOW), Ok(()));
        verdict(full, &elsewhere, &elsewhere, NOW).unwrap_err();
    }

    #[test]
    fn a_server_that_is_trusted_is_no_authority() {
        let mut signs_nothing = dated("web.example", IsCa::Ca(BasicConstraints::Unconstrained));
        signs_nothing.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        for params in [
            dated("web.example", IsCa::NoCa),
            dated("web.example", IsCa::ExplicitNoCa),
            signs_nothing,
        ] {
            let (trusted, issuer) = issuer(params);
            let forged = server("db.example", &issuer);
            for check in [Check::Authority, Check::AuthorityAndHost] {
                let said = verdict(check, &trusted, &forged, NOW).unwrap_err();
                assert!(said.contains("UnknownIssuer"), "{said}");
                // Nor is it one that an authority has let sign.
                let chain = [forged.clone(), trusted.clone()];
                verdict_of(check, &[&authority().0, &trusted], &chain, NOW).unwrap_err();
            }
        }
        let mut signs = dated("web.example", IsCa::Ca(BasicConstraints::Unconstrained));
        signs.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let (trusted, issuer) = issuer(signs);
        let shown = server("db.example", &issuer);
        assert_eq!(verdict(Check::AuthorityAndHost, &trusted, &shown, NOW), Ok(()));
    }

    #[test]
    fn an_authority_signs_as_long_as_it_is_valid() {
        let (trusted, issuer) =
            issuer(dated("authority", IsCa::Ca(BasicConstraints::Unconstrained)));
        let (other, _) = authority();
        let shown = server("db.example", &issuer);
        let at = |seconds| {
            verdict_of(
                Check::AuthorityAndHost,
                &[&other, &trusted],
                std::slice::from_ref(&shown),
                seconds,
            )
        };
        // The first second of 2020, and that of 2040.
        let (first, last) = (1_577_836_800, 2_208_988_800);
        for seconds in [first, NOW, last] {
            assert_eq!(at(seconds), Ok(()), "{seconds}");
        }
        for seconds in [first - 1, last + 1, 2 * NOW] {
            let said = at(seconds).unwrap_err();
            assert!(said.contains("AuthorityOutOfDate"), "{said}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_certificate() {
        assert!(is_certificate(&authority().0));
        assert!(!is_certificate(&CertificateDer::from(vec![0; 3])));
        let mut longer = authority().0.to_vec();
        longer.push(0);
        assert!(!is_certificate(&CertificateDer::from(longer)));
    }
}
