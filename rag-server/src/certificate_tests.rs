use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
};

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
    verdict_of_check(&check_of(check, trusted), shown, seconds)
}

fn check_of(check: Check, trusted: &[&CertificateDer<'static>]) -> CertificateCheck {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trusted = trusted.iter().map(|&one| one.clone()).collect();
    CertificateCheck::new(check, trusted, provider).unwrap()
}

fn verdict_of_check(
    check: &CertificateCheck,
    shown: &[CertificateDer<'static>],
    seconds: u64,
) -> Result<(), String> {
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
    let (right, of_another_host) = (server("db.example", &issuer), server("web.example", &issuer));
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
    for params in
        [dated("web.example", IsCa::NoCa), dated("web.example", IsCa::ExplicitNoCa), signs_nothing]
    {
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
    let (trusted, issuer) = issuer(dated("authority", IsCa::Ca(BasicConstraints::Unconstrained)));
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

/// An authority with a name of its own, since lists are found by it.
fn named_authority(name: &str) -> (CertificateDer<'static>, Issuer<'static, KeyPair>) {
    issuer(params_of_authority(name))
}

fn params_of_authority(name: &str) -> CertificateParams {
    let mut params = dated(name, IsCa::Ca(BasicConstraints::Unconstrained));
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params
}

/// An authority with the number 5 that another one has let sign.
fn authority_between(
    above: &Issuer<'static, KeyPair>,
) -> (CertificateDer<'static>, Issuer<'static, KeyPair>) {
    let key = KeyPair::generate().unwrap();
    let mut params = params_of_authority("between");
    params.serial_number = Some(5.into());
    let certificate = params.signed_by(&key, above).unwrap().der().clone();
    (certificate, Issuer::new(params, key))
}

fn numbered(host: &str, number: u64, issuer: &Issuer<'static, KeyPair>) -> CertificateDer<'static> {
    let mut params = dated(host, IsCa::NoCa);
    params.serial_number = Some(number.into());
    params.use_authority_key_identifier_extension = true;
    params.signed_by(&KeyPair::generate().unwrap(), issuer).unwrap().der().clone()
}

/// A list from the beginning of a year to that of 2035.
fn list(year: i32, revoked: &[u64], issuer: &Issuer<'static, KeyPair>) -> String {
    let revoked = revoked.iter().map(|number| RevokedCertParams {
        serial_number: SerialNumber::from(*number),
        revocation_time: rcgen::date_time_ymd(year, 1, 1),
        reason_code: None,
        invalidity_date: None,
    });
    let list = CertificateRevocationListParams {
        this_update: rcgen::date_time_ymd(year, 1, 1),
        next_update: rcgen::date_time_ymd(2035, 1, 1),
        crl_number: SerialNumber::from(u64::from(year.unsigned_abs())),
        issuing_distribution_point: None,
        revoked_certs: revoked.collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    list.signed_by(issuer).unwrap().pem().unwrap()
}

/// A check by lists in a file, and the file.
fn check_with(
    check: Check,
    trusted: &[&CertificateDer<'static>],
    lists: &[String],
) -> (CertificateCheck, tempfile::NamedTempFile) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lists.concat()).unwrap();
    let lists = RevocationLists::named(Some(file.path().to_owned()), None);
    (check_of(check, trusted).with_revocations(lists).unwrap(), file)
}

#[test]
fn a_revoked_certificate_is_refused() {
    let (trusted, issuer) = named_authority("authority");
    let (good, revoked) = (numbered("db.example", 7, &issuer), numbered("db.example", 8, &issuer));
    let elsewhere = numbered("web.example", 7, &issuer);
    let lists = [list(2020, &[8, 9], &issuer)];
    for check in [Check::Authority, Check::AuthorityAndHost] {
        let (check_lists, _file) = check_with(check, &[&trusted], &lists);
        assert_eq!(verdict_of_check(&check_lists, std::slice::from_ref(&good), NOW), Ok(()));
        let said = verdict_of_check(&check_lists, std::slice::from_ref(&revoked), NOW).unwrap_err();
        assert!(said.contains("Revoked"), "{said}");
        let other = verdict_of_check(&check_lists, std::slice::from_ref(&elsewhere), NOW);
        assert_eq!(other.is_ok(), check == Check::Authority, "{other:?}");
    }
}

#[test]
fn each_authority_needs_a_list_that_it_has_signed() {
    let (root, root_issuer) = named_authority("root");
    let (between, issuer) = authority_between(&root_issuer);
    let chain = [numbered("db.example", 7, &issuer), between];
    let (of_root, of_between) = (list(2020, &[], &root_issuer), list(2020, &[], &issuer));
    let verdict = |lists: &[String], seconds| {
        let (check, _file) = check_with(Check::AuthorityAndHost, &[&root], lists);
        verdict_of_check(&check, &chain, seconds).map_err(|error| error.to_string())
    };
    let check = |lists: &[String], seconds, expected: &str| {
        let said = verdict(lists, seconds).err().unwrap_or_default();
        assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{said}");
    };
    check(&[of_root.clone(), of_between.clone()], NOW, "");
    check(std::slice::from_ref(&of_between), NOW, "UnknownRevocationStatus");
    check(std::slice::from_ref(&of_root), NOW, "UnknownRevocationStatus");
    check(&[list(2020, &[5], &root_issuer), of_between.clone()], NOW, "Revoked");
    // After 2035, when there should be another list.
    check(&[of_root.clone(), of_between], 2_100_000_000, "certificate revocation list expired");
    let (_, forger) = named_authority("between");
    check(&[of_root, list(2020, &[], &forger)], NOW, "BadSignature");
}

#[test]
fn the_newest_list_counts_and_is_read_without_a_restart() {
    let (trusted, issuer) = named_authority("authority");
    let shown = [numbered("db.example", 7, &issuer)];
    let (old, new) = (list(2020, &[], &issuer), list(2021, &[7], &issuer));
    for lists in [[old.clone(), new.clone()], [new.clone(), old.clone()]] {
        let (check, _file) = check_with(Check::Authority, &[&trusted], &lists);
        let said = verdict_of_check(&check, &shown, NOW).unwrap_err();
        assert!(said.contains("Revoked"), "{said}");
    }
    let (check, file) = check_with(Check::Authority, &[&trusted], &[old]);
    assert_eq!(verdict_of_check(&check, &shown, NOW), Ok(()));
    std::fs::write(file.path(), new).unwrap();
    verdict_of_check(&check, &shown, NOW).unwrap_err();
    std::fs::write(file.path(), "").unwrap();
    let said = verdict_of_check(&check, &shown, NOW).unwrap_err();
    assert!(said.contains("holds no list of revoked certificates"), "{said}");
}

#[test]
fn a_certificate_that_is_trusted_itself_may_be_revoked() {
    let (_, issuer) = named_authority("unknown");
    let (good, revoked) = (numbered("db.example", 7, &issuer), numbered("db.example", 8, &issuer));
    let lists = [list(2020, &[8], &issuer)];
    let (check, _file) = check_with(Check::AuthorityAndHost, &[&good, &revoked], &lists);
    assert_eq!(verdict_of_check(&check, &[good], NOW), Ok(()));
    let said = verdict_of_check(&check, &[revoked], NOW).unwrap_err();
    assert!(said.contains("Revoked"), "{said}");
}

#[test]
fn a_revoked_authority_signs_nothing_even_where_it_is_trusted_itself() {
    let (root, root_issuer) = named_authority("root");
    let (between, issuer) = authority_between(&root_issuer);
    let leaf = numbered("db.example", 7, &issuer);
    let of_root = |revoked: &[u64]| list(2020, revoked, &root_issuer);
    let verdict = |trusted: &[&CertificateDer<'static>], of_root: String, shown: &[_]| {
        let lists = [of_root, list(2020, &[], &issuer)];
        let (check, _file) = check_with(Check::AuthorityAndHost, trusted, &lists);
        verdict_of_check(&check, shown, NOW)
    };
    let chains = [vec![leaf.clone()], vec![leaf, between.clone()]];
    for (trusted, shown) in [
        (vec![&root, &between], &chains[0]),
        (vec![&root, &between], &chains[1]),
        (vec![&between], &chains[0]),
        (vec![&between], &chains[1]),
    ] {
        assert_eq!(verdict(&trusted, of_root(&[6]), shown), Ok(()));
        let said = verdict(&trusted, of_root(&[5]), shown).unwrap_err();
        assert!(said.contains("Revoked"), "{said}");
    }
}

#[test]
fn authorities_of_one_name_each_have_their_list() {
    let (old, old_issuer) = named_authority("authority");
    let (new, new_issuer) = named_authority("authority");
    let lists = [list(2020, &[8], &old_issuer), list(2021, &[9], &new_issuer)];
    let (check, _file) = check_with(Check::AuthorityAndHost, &[&old, &new], &lists);
    let verdict = |number, issuer| {
        verdict_of_check(&check, &[numbered("db.example", number, issuer)], NOW)
            .map_err(|said| said.contains("Revoked"))
    };
    assert_eq!(verdict(7, &old_issuer), Ok(()));
    assert_eq!(verdict(8, &old_issuer), Err(true));
    assert_eq!(verdict(9, &old_issuer), Ok(()));
    assert_eq!(verdict(7, &new_issuer), Ok(()));
    assert_eq!(verdict(8, &new_issuer), Ok(()));
    assert_eq!(verdict(9, &new_issuer), Err(true));
}

#[test]
fn a_list_that_is_not_valid_yet_takes_the_place_of_none() {
    let (trusted, issuer) = named_authority("authority");
    let (good, revoked) = (numbered("db.example", 7, &issuer), numbered("db.example", 8, &issuer));
    let (now, later) = (list(2020, &[8], &issuer), list(2030, &[7], &issuer));
    let (check, file) = check_with(Check::Authority, &[&trusted], &[later.clone(), now]);
    assert_eq!(verdict_of_check(&check, std::slice::from_ref(&good), NOW), Ok(()));
    verdict_of_check(&check, &[revoked], NOW).unwrap_err();
    // The first second of 2030.
    let said = verdict_of_check(&check, std::slice::from_ref(&good), 1_893_456_000).unwrap_err();
    assert!(said.contains("Revoked"), "{said}");
    std::fs::write(file.path(), later).unwrap();
    let said = verdict_of_check(&check, &[good], NOW).unwrap_err();
    assert!(said.contains("is valid yet"), "{said}");
}

#[test]
fn a_list_in_the_home_may_come_later_and_does_not_go_again() {
    let (trusted, issuer) = named_authority("authority");
    let shown = [numbered("db.example", 7, &issuer)];
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("root.crl");
    let lists = Some(RevocationLists::of_home(file.clone()));
    let check = check_of(Check::Authority, &[&trusted]).with_revocations(lists).unwrap();
    assert_eq!(verdict_of_check(&check, &shown, NOW), Ok(()));
    std::fs::write(&file, list(2020, &[7], &issuer)).unwrap();
    let said = verdict_of_check(&check, &shown, NOW).unwrap_err();
    assert!(said.contains("Revoked"), "{said}");
    std::fs::remove_file(&file).unwrap();
    let said = verdict_of_check(&check, &shown, NOW).unwrap_err();
    assert!(said.contains("root.crl cannot be read"), "{said}");
}
