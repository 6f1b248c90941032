//! What stands in front of a database and speaks TLS, with certificates made for the test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer,
    KeyIdMethod, KeyPair, RevokedCertParams,
};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// What a client sends first that wants to speak TLS.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// The serial number of each certificate that an authority signs.
const NUMBER: u64 = 7;

/// An authority, which signs certificates and writes them into a folder.
pub struct Authority {
    folder: tempfile::TempDir,
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// One that nobody knows yet.
    pub fn new() -> Self {
        Self::with("authority", 4096)
    }

    /// One of another name than the others have.
    pub fn named(name: &str) -> Self {
        Self::with(name, 4096)
    }

    /// One whose own certificate is valid until a year begins.
    pub fn until(year: i32) -> Self {
        Self::with("authority", year)
    }

    fn with(name: &str, year: i32) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let certificate = params.self_signed(&key).unwrap().pem();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("root.crt"), &certificate).unwrap();
        Self { folder, certificate, issuer: Issuer::new(params, key) }
    }

    /// The file with its certificate.
    pub fn file(&self) -> String {
        self.path("root.crt")
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// A certificate for a host or a role, and its key, as PEM.
    pub fn certify(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.serial_number = Some(NUMBER.into());
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// The file of a list of what it has revoked: all that it has signed, or nothing. It is valid until a year begins.
    pub fn list(&self, revokes_all: bool, until: i32) -> String {
        let revoked = revokes_all.then(|| RevokedCertParams {
            serial_number: NUMBER.into(),
            revocation_time: rcgen::date_time_ymd(2010, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: rcgen::date_time_ymd(2010, 1, 1),
            next_update: rcgen::date_time_ymd(until, 1, 1),
            crl_number: 1.into(),
            issuing_distribution_point: None,
            revoked_certs: revoked.into_iter().collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let file = self.path("root.crl");
        std::fs::write(&file, list.signed_by(&self.issuer).unwrap().pem().unwrap()).unwrap();
        file
    }

    /// `sslcert=... sslkey=...` of a certificate for a role.
    pub fn words_for(&self, role: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let (certificate, key) = self.certify(role);
        let (own, secret) = (self.path("own.crt"), self.path("own.key"));
        std::fs::write(&own, certificate).unwrap();
        std::fs::write(&secret, key).unwrap();
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
        format!("sslcert={own} sslkey={secret}")
    }
}

/// How a relay takes connections.
#[derive(Clone, Default)]
pub struct Taking {
    /// How it speaks TLS; `None`: not at all.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Refuses what is not encrypted, as a server without a line `host` or `hostnossl`.
    pub refuses_plain: bool,
    /// Refuses what is encrypted, as a server without a line `host` or `hostssl`.
    pub refuses_encrypted: bool,
    /// The socket of the database behind; `None`: there is none, and everybody is told that it is full.
    pub behind: Option<PathBuf>,
}

impl Taking {
    /// With a certificate for `host`; clients must have one of `clients`, if that is an authority.
    pub fn certified(authority: &Authority, host: &str, clients: Option<&Authority>) -> Self {
        let (certificate, key) = authority.certify(host);
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                let trusted = CertificateDer::from_pem_slice(authority.certificate.as_bytes());
                roots.add(trusted.unwrap()).unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let tls = builder.with_single_cert(vec![certificate], key).unwrap();
        Self { tls: Some(Arc::new(tls)), ..Self::default() }
    }
}

/// Takes connections on 127.0.0.1 until it is dropped.
pub struct Relay {
    /// The port.
    pub port: u16,
    counts: Arc<Counts>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Default)]
struct Counts {
    plain: AtomicUsize,
    encrypted: AtomicUsize,
    /// Wakes the connections that are to be closed.
    cut: Notify,
    /// Of how many more clients that want to speak TLS the connection is closed without an answer.
    unanswered: AtomicUsize,
}

impl Relay {
    /// Begins to take them.
    pub fn start(taking: Taking) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let counts = Arc::new(Counts::default());
        let (sender, port) = mpsc::channel();
        let counting = Arc::clone(&counts);
        runtime.spawn(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap().port()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (taking, counts) = (taking.clone(), Arc::clone(&counting));
                tokio::spawn(async move {
                    tokio::select! {
                        () = counts.cut.notified() => {}
                        // An error is a client that went away, or was refused.
                        _ = take(stream, taking, Arc::clone(&counts)) => {}
                    }
                });
            }
        });
        Self { port: port.recv().unwrap(), counts, _runtime: runtime }
    }

    /// How many connections came through without TLS, and with it.
    pub fn counts(&self) -> (usize, usize) {
        let Counts { plain, encrypted, .. } = &*self.counts;
        (plain.load(Ordering::SeqCst), encrypted.load(Ordering::SeqCst))
    }

    /// Closes the connections to the database that are open now, without a word to either side.
    pub fn cut(&self) {
        self.counts.cut.notify_waiters();
    }

    /// Does so, and lets the next `clients` that want to speak TLS try in vain.
    pub fn cut_and_leave_unanswered(&self, clients: usize) {
        self.counts.unanswered.store(clients, Ordering::SeqCst);
        self.cut();
    }

    /// How many of these have not come yet.
    pub fn unanswered(&self) -> usize {
        self.counts.unanswered.load(Ordering::SeqCst)
    }
}

async fn take(mut stream: TcpStream, taking: Taking, counts: Arc<Counts>) -> std::io::Result<()> {
    let mut head = [0; 8];
    stream.read_exact(&mut head).await?;
    if head == SSL_REQUEST {
        let left = |count: usize| count.checked_sub(1);
        if counts.unanswered.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() {
            return Ok(());
        }
        let Some(tls) = taking.tls.clone() else {
            stream.write_all(b"N").await?;
            stream.read_exact(&mut head).await?;
            return pass_on(stream, &head, &taking, &counts.plain, taking.refuses_plain).await;
        };
        stream.write_all(b"S").await?;
        let mut stream = TlsAcceptor::from(tls).accept(stream).await?;
        stream.read_exact(&mut head).await?;
        return pass_on(stream, &head, &taking, &counts.encrypted, taking.refuses_encrypted).await;
    }
    pass_on(stream, &head, &taking, &counts.plain, taking.refuses_plain).await
}

async fn pass_on(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    head: &[u8],
    taking: &Taking,
    count: &AtomicUsize,
    is_refused: bool,
) -> std::io::Result<()> {
    let refusal = match (&taking.behind, is_refused) {
        (_, true) => "28000",
        (None, false) => "53300",
        (Some(socket), false) => {
            count.fetch_add(1, Ordering::SeqCst);
            let mut database = UnixStream::connect(socket).await?;
            database.write_all(head).await?;
            return copy_bidirectional(&mut stream, &mut database).await.map(drop);
        }
    };
    count.fetch_add(usize::from(!is_refused), Ordering::SeqCst);
    // What is not read would be an end without an answer.
    let rest = i32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize - head.len();
    stream.read_exact(&mut vec![0; rest]).await?;
    let fields = format!("SFATAL\0VFATAL\0C{refusal}\0Mno\0\0");
    stream.write_all(b"E").await?;
    stream.write_all(&(fields.len() as i32 + 4).to_be_bytes()).await?;
    stream.write_all(fields.as_bytes()).await?;
    stream.shutdown().await
}
