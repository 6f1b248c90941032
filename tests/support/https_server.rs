//! An HTTPS server on 127.0.0.1 with a certificate of an authority made for the test.
//!
//! ```ignore
//! let authority = Authority::new();
//! std::fs::write(&path, authority.pem());            // what ca_file names
//! let server = HttpsServer::new(authority.certify("127.0.0.1"), "{\"choices\": ...}");
//! ```
//!
//! Connections are kept as long as the client keeps them. A client that does not trust the certificate ends
//! the handshake, so nothing of what it would have sent arrives.

// Each test crate uses a part of it.
#![allow(dead_code)]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Who signs certificates.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// What a server shows, and its key.
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Authority {
    /// One that nobody knows yet.
    pub fn new() -> Authority {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Authority { pem, issuer: Issuer::new(params, key) }
    }

    /// Its certificate, for a `ca_file`.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// An identity for a server called `host`.
    pub fn certify(&self, host: &str) -> Identity {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec![host.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Identity { certificate: certificate.der().clone(), key }
    }
}

/// A running server. Dropping it closes its port.
pub struct HttpsServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    config: Arc<ServerConfig>,
    reply: String,
    /// Heads of requests as they came.
    requests: Mutex<Vec<String>>,
    /// Connections on which something was asked.
    connections: AtomicUsize,
    stopped: AtomicBool,
}

impl HttpsServer {
    /// A server that shows `identity` and answers every request with `reply`, which is JSON.
    pub fn new(identity: Identity, reply: &str) -> HttpsServer {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate], identity.key)
            .expect("a key that fits");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("the port that was bound");
        let shared = Arc::new(Shared {
            config: Arc::new(config),
            reply: reply.to_owned(),
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        HttpsServer { address, shared }
    }

    /// `https://host:port/v1`, as a provider's `base_url`.
    pub fn base_url(&self, host: &str) -> String {
        format!("https://{host}:{}/v1", self.address.port())
    }

    /// The first lines and headers of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// How many connections there were on which something was asked.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for HttpsServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts, which then drops the listener.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let (Ok(stream), serving) = (stream, Arc::clone(shared)) else { continue };
        // An error here is a client that has ended the handshake, or left.
        thread::spawn(move || serve(stream, &serving).is_ok());
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let connection = ServerConnection::new(Arc::clone(&shared.config)).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let mut is_new = true;
    loop {
        let head = read_head(&mut reader)?;
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        io::copy(&mut (&mut reader).take(length.unwrap_or(0)), &mut io::sink())?;
        shared.connections.fetch_add(usize::from(is_new), Ordering::SeqCst);
        is_new = false;
        shared.requests.lock().unwrap().push(head);
        let (Shared { reply, .. }, stream) = (shared, reader.get_mut());
        write!(
            stream,
            "HTTP/1.1 200 Scripted\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{reply}",
            reply.len()
        )?;
        stream.flush()?;
    }
}

fn read_head(reader: &mut impl BufRead) -> io::Result<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}
