//! Which certificates have been revoked?
//!
//! Authorities publish a new list every few days, and rag-server runs for longer. So the lists are read for each connection,
//! as libpq reads them.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use webpki::BorrowedCertRevocationList;
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::crl::{CertificateList, TbsCertList};
use x509_cert::der::oid::AssociatedOid;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::AuthorityKeyIdentifier;

/// Where the lists are.
#[derive(Debug)]
pub enum RevocationLists {
    /// A file, a folder of files, or both.
    Named {
        /// The file.
        file: Option<PathBuf>,
        /// The folder.
        folder: Option<PathBuf>,
    },
    /// A file that may come to be there later, but that does not go again.
    InHome {
        /// The file.
        file: PathBuf,
        /// Whether it has been there.
        was_seen: AtomicBool,
    },
}

/// A list of an authority.
#[derive(Debug)]
pub struct RevocationList {
    /// As it was signed.
    pub der: CertificateRevocationListDer<'static>,
    content: TbsCertList,
}

impl RevocationLists {
    /// Those of a file and a folder; nothing is returned where there is neither.
    pub fn named(file: Option<PathBuf>, folder: Option<PathBuf>) -> Option<Self> {
        (file.is_some() || folder.is_some()).then_some(Self::Named { file, folder })
    }

    /// Those of a file that nobody has named, and that need not be there.
    pub fn of_home(file: PathBuf) -> Self {
        Self::InHome { file, was_seen: AtomicBool::new(false) }
    }

    /// Reads all lists that are valid by `now`, the newest first: of several lists of one authority webpki asks the first.
    /// There is at least one, or `None` where nothing says what is revoked. The error names the file or the folder and says
    /// what is wrong with it.
    pub fn read(&self, now: UnixTime) -> Result<Option<Vec<RevocationList>>, String> {
        let mut lists = match self {
            Self::Named { file, folder } => {
                let mut lists = file.as_deref().map_or(Ok(Vec::new()), lists_of_file)?;
                lists.extend(folder.as_deref().map_or(Ok(Vec::new()), lists_in)?);
                lists
            }
            Self::InHome { file, was_seen } => {
                if file.symlink_metadata().is_ok() {
                    was_seen.store(true, Relaxed);
                } else if !was_seen.load(Relaxed) {
                    return Ok(None);
                }
                lists_of_file(file)?
            }
        };
        // One that is not valid yet would take the place of one that is.
        lists.retain(|list| list.since().as_secs() <= now.as_secs());
        if lists.is_empty() {
            return Err(
                "no list of revoked certificates in sslcrl or sslcrldir is valid yet by the clock of this machine"
                    .to_owned(),
            );
        }
        lists.sort_by_key(|list| Reverse(list.since()));
        Ok(Some(lists))
    }
}

impl RevocationList {
    /// The error says what is wrong with it, after "a list".
    fn of(der: CertificateRevocationListDer<'static>) -> Result<Self, String> {
        // What webpki could not use is found where the file is known.
        BorrowedCertRevocationList::from_der(&der).map_err(|error| match error {
            // It takes version 1, which says no version, for damaged.
            webpki::Error::BadDer | webpki::Error::UnsupportedCrlVersion => {
                "is damaged, or not of version 2; openssl makes one with the setting crl_extensions"
                    .to_owned()
            }
            error => format!("cannot be used: {error}"),
        })?;
        let content = CertificateList::from_der(&der);
        let content = content.map_err(|error| format!("cannot be read: {error}"))?;
        Ok(Self { content: content.tbs_cert_list, der })
    }

    /// When it was made, as a time since 1970.
    fn since(&self) -> Duration {
        self.content.this_update.to_unix_duration()
    }

    /// Whether it says that it was signed with the key with which `certificate` says that it was: an authority may have
    /// two, one after the other.
    fn has_signer_of(&self, certificate: &CertificateInner<Raw>) -> bool {
        let certificate = &certificate.tbs_certificate;
        let of_list = signing_key(self.content.crl_extensions.as_deref());
        of_list.is_some() && of_list == signing_key(certificate.extensions.as_deref())
    }

    /// Whether a certificate with this issuer and this number is on it. Who has signed the list is not looked at.
    fn names(&self, certificate: &CertificateInner<Raw>) -> bool {
        let certificate = &certificate.tbs_certificate;
        let issuers = (self.content.issuer.to_der(), certificate.issuer.to_der());
        let revoked = self.content.revoked_certificates.as_deref().unwrap_or_default();
        matches!(issuers, (Ok(own), Ok(other)) if own == other)
            && revoked.iter().any(|revoked| {
                revoked.serial_number.as_bytes() == certificate.serial_number.as_bytes()
            })
    }
}

/// Whether one of the lists names a certificate, whoever has signed that list.
pub fn is_named(lists: &[RevocationList], certificate: &CertificateDer<'_>) -> bool {
    CertificateInner::<Raw>::from_der(certificate)
        .is_ok_and(|certificate| lists.iter().any(|list| list.names(&certificate)))
}

/// The lists in the order in which webpki is to ask them for the certificates `shown`: it finds them by the name of their
/// authority alone, so those come first whose key is that of one of them.
pub fn in_order_for<'a>(
    lists: &[RevocationList],
    shown: impl Iterator<Item = &'a CertificateDer<'a>>,
) -> Vec<CertificateRevocationListDer<'static>> {
    let shown = shown.filter_map(|one| CertificateInner::<Raw>::from_der(one).ok());
    let shown: Vec<_> = shown.collect();
    let (first, others): (Vec<_>, Vec<_>) =
        lists.iter().partition(|list| shown.iter().any(|one| list.has_signer_of(one)));
    first.into_iter().chain(others).map(|list| list.der.clone()).collect()
}

/// The `authorityKeyIdentifier` among extensions.
fn signing_key(extensions: Option<&[Extension]>) -> Option<Vec<u8>> {
    let found = extensions?.iter().find(|it| it.extn_id == AuthorityKeyIdentifier::OID)?;
    let read = AuthorityKeyIdentifier::from_der(found.extn_value.as_bytes()).ok()?;
    read.key_identifier.map(|key| key.as_bytes().to_vec())
}

fn lists_of_file(file: &Path) -> Result<Vec<RevocationList>, String> {
    match lists_of("sslcrl", file)? {
        none if none.is_empty() => Err(no_list("sslcrl", file)),
        lists => Ok(lists),
    }
}

fn no_list(parameter: &str, file: &Path) -> String {
    format!(
        "{parameter} {} holds no list of revoked certificates in the format PEM",
        file.display()
    )
}

fn lists_of(parameter: &str, file: &Path) -> Result<Vec<RevocationList>, String> {
    let name = file.display();
    let failed = |error: PemError| match error {
        PemError::Io(error) => format!("{parameter} {name} cannot be read: {error}"),
        _ => format!("{parameter} {name} is not in the format PEM: {error}"),
    };
    CertificateRevocationListDer::pem_file_iter(file)
        .map_err(failed)?
        .map(|list| {
            RevocationList::of(list.map_err(failed)?).map_err(|error| {
                format!("{parameter} {name} holds a list of revoked certificates that {error}")
            })
        })
        .collect()
}

fn lists_in(folder: &Path) -> Result<Vec<RevocationList>, String> {
    let failed =
        |error: std::io::Error| format!("sslcrldir {} cannot be read: {error}", folder.display());
    let mut lists = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        lists.extend(lists_of_entry(&entry.map_err(failed)?.path())?);
    }
    match lists {
        none if none.is_empty() => Err(no_list("sslcrldir", folder)),
        lists => Ok(lists),
    }
}

/// The lists of a file in a folder. One that holds none is passed over, such as a certificate that lies beside them, but not
/// one that should hold some: a link that leads nowhere, an empty file, or one that is called as lists are.
fn lists_of_entry(file: &Path) -> Result<Vec<RevocationList>, String> {
    let metadata = file
        .metadata()
        .map_err(|error| format!("sslcrldir {} cannot be read: {error}", file.display()))?;
    if !metadata.is_file() {
        return Ok(Vec::new());
    }
    let lists = lists_of("sslcrldir", file)?;
    match lists.is_empty() && (metadata.len() == 0 || is_called_as_lists_are(file)) {
        true => Err(no_list("sslcrldir", file)),
        false => Ok(lists),
    }
}

/// Whether a file is called as in `root.crl` or `1f2e3d4c.r0`.
fn is_called_as_lists_are(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let number = extension.strip_prefix('r').unwrap_or_default();
    extension == "crl" || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
