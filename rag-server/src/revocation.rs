//! Which certificates have been revoked?
//!
//! Authorities publish a new list every few days, and rag-server runs for longer. So the lists are read for each connection,
//! as libpq reads them.

use std::path::{Path, PathBuf};

use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::crl::{CertificateList, TbsCertList};
use x509_cert::der::{Decode, Encode};

/// Where the lists are: a file, a folder of files, or both.
#[derive(Clone, Debug)]
pub struct RevocationLists {
    file: Option<PathBuf>,
    folder: Option<PathBuf>,
}

/// A list of an authority.
#[derive(Debug)]
pub struct RevocationList {
    /// As it was signed.
    pub der: CertificateRevocationListDer<'static>,
    content: TbsCertList,
}

impl RevocationLists {
    /// Nothing is returned where there is neither.
    pub fn of(file: Option<PathBuf>, folder: Option<PathBuf>) -> Option<Self> {
        (file.is_some() || folder.is_some()).then_some(Self { file, folder })
    }

    /// Reads all lists, the newest first: of several lists of one authority webpki asks the first. The error names the file
    /// or the folder and says what is wrong with it.
    pub fn read(&self) -> Result<Vec<RevocationList>, String> {
        let mut lists = Vec::new();
        if let Some(file) = &self.file {
            let read = lists_of("sslcrl", file)?;
            if read.is_empty() {
                return Err(format!(
                    "sslcrl {} holds no list of revoked certificates",
                    file.display()
                ));
            }
            lists.extend(read);
        }
        if let Some(folder) = &self.folder {
            lists.extend(lists_in(folder)?);
        }
        lists.sort_by_key(|list| std::cmp::Reverse(list.content.this_update.to_unix_duration()));
        Ok(lists)
    }
}

impl RevocationList {
    fn of(der: CertificateRevocationListDer<'static>) -> Result<Self, String> {
        let content = CertificateList::from_der(&der).map_err(|error| error.to_string())?;
        Ok(Self { content: content.tbs_cert_list, der })
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
                format!(
                    "{parameter} {name} holds a list of revoked certificates that is not one of version 2: {error}; \
                     openssl makes one with the setting crl_extensions"
                )
            })
        })
        .collect()
}

/// Files of a folder that hold no list are passed over, such as certificates that lie beside them.
fn lists_in(folder: &Path) -> Result<Vec<RevocationList>, String> {
    let failed =
        |error: std::io::Error| format!("sslcrldir {} cannot be read: {error}", folder.display());
    let mut lists = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.is_file() {
            lists.extend(lists_of("sslcrldir", &file)?);
        }
    }
    match lists {
        none if none.is_empty() => {
            Err(format!("sslcrldir {} holds no list of revoked certificates", folder.display()))
        }
        lists => Ok(lists),
    }
}
