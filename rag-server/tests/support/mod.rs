//! A database with a few roles, servers in front of it, and a small client.

#[path = "../../../tests/support/http_server.rs"]
pub mod http_server;
pub mod relay;

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tokio_postgres::{Client, Config, NoTls};

/// The token of the role that may read.
pub const READER: &str = "reader-token-0123456789";
/// The token of a role that may read and has a language model write, without a budget.
pub const ASKER: &str = "asker-token-0123456789";
/// The token of the role that may read nothing.
pub const STRANGER: &str = "stranger-token-0123456789";
/// What the databases of all runs are called, before the process id of each.
const DATABASES: &str = "rag_server_test_";
/// Held by tests with sessions, and alone by those that look at the sessions of all.
static SESSIONS: RwLock<()> = RwLock::new(());

const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE docs (id integer PRIMARY KEY, body text NOT NULL, lang text NOT NULL, secret boolean NOT NULL);
    COMMENT ON TABLE docs IS 'what customers ask';
    INSERT INTO docs VALUES
        (1, 'To reset a password, open the sign-in page and choose \"Forgot password\".', 'en', false),
        (2, 'Invoices are sent on the first day of each month. They can be paid by card.', 'en', false),
        (3, 'The safe opens with the number 4711.', 'en', true);
    ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
    CREATE POLICY public ON docs FOR SELECT USING (NOT secret);
    GRANT SELECT ON docs TO rag_server_reader, rag_server_asker;
    SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync');
    CREATE TABLE slow (id integer PRIMARY KEY, body text NOT NULL);
    INSERT INTO slow VALUES (1, 'Snails are slow.');
    ALTER TABLE slow ENABLE ROW LEVEL SECURITY;
    CREATE POLICY slow ON slow FOR SELECT USING (pg_sleep(600) IS NOT NULL);
    GRANT SELECT ON slow TO rag_server_reader;
    SELECT rag_create_pipeline('slow', 'body', refresh => 'sync');
    CREATE DOMAIN short_code AS varchar(3);
    CREATE TABLE pages (code short_code PRIMARY KEY, body text NOT NULL);
    INSERT INTO pages VALUES ('abc', 'Parcels are weighed.'), ('', 'Letters without a stamp go back.'),
        ('a/b', 'Bridges close at night.'), ('..', 'Ferries leave at noon.'), ('ü %', 'Umbrellas are lent.');
    CREATE TABLE places (region varchar, code short_code, body text NOT NULL, PRIMARY KEY (region, code));
    INSERT INTO places VALUES ('north', 'abc', 'Snow falls in May.'), ('south', 'abc', 'Figs grow here.');
    GRANT SELECT ON pages, places TO rag_server_reader;
    CREATE TABLE \"My Täble\" (id integer PRIMARY KEY);
    GRANT SELECT ON \"My Täble\" TO rag_server_reader;
    CREATE TABLE wages (id integer PRIMARY KEY, person text, amount numeric(9, 2));
    COMMENT ON TABLE wages IS 'what people earn';
    COMMENT ON COLUMN wages.person IS 'who';
    GRANT SELECT (person, id) ON wages TO rag_server_reader;
    CREATE TABLE secrets (id integer PRIMARY KEY);
    SELECT rag_create_pipeline('pages', 'body', refresh => 'sync');
    SELECT rag_create_pipeline('places', 'body', refresh => 'sync');
    GRANT EXECUTE ON FUNCTION rag_sql_run TO rag_server_reader;
    GRANT EXECUTE ON FUNCTION rag_sql_check TO rag_server_reader;
    CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm
        OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/v1', model 'none', max_retries '0');
    GRANT USAGE ON FOREIGN SERVER writer TO rag_server_reader;
    INSERT INTO rag.budget (role, period, max_tokens) VALUES ('rag_server_reader', 'month', 1);";

/// Operators in a schema of everybody's search path, for just those types for which PostgreSQL has none of its own but by a
/// cast, so that they would go before it. Whoever may create them must not have others run code.
const TRAPS: &str = "
    DO $$
    DECLARE
        types text[];
    BEGIN
        FOREACH types SLICE 1 IN ARRAY ARRAY[
            ['=', 'varchar', 'varchar'], ['=', 'short_code', 'short_code'], ['=', 'short_code', 'varchar'],
            ['=', 'text[]', 'text[]'], ['=', 'oid', 'regclass'], ['=', 'regclass', 'oid'], ['=', '\"char\"', 'text'],
            ['->>', 'jsonb', 'jsonb'], ['~~', 'name', 'name'], ['!~~', 'name', 'name']]
        LOOP
            EXECUTE format('CREATE OR REPLACE FUNCTION trap(%s, %s) RETURNS boolean LANGUAGE plpgsql AS '
                '$f$ BEGIN RAISE EXCEPTION ''code of a stranger runs as %%'', current_user; END $f$', types[2], types[3]);
            EXECUTE format('CREATE OPERATOR %s (FUNCTION = trap, LEFTARG = %s, RIGHTARG = %s)', types[1], types[2], types[3]);
        END LOOP;
    END $$;";

/// The URL of a database where the tests may make another, or nothing, with a word about it.
pub fn url() -> Option<String> {
    let url = std::env::var("PG_RAG_TEST_DATABASE_URL").ok();
    if url.is_none() {
        eprintln!("skipped: PG_RAG_TEST_DATABASE_URL names no database");
    }
    url
}

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A session of the superuser, with what runs it.
async fn connect(url: &str, database: Option<&str>) -> Client {
    let mut config: Config = url.parse().unwrap();
    if let Some(database) = database {
        config.dbname(database);
    }
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The database of this run.
fn name() -> String {
    format!("{DATABASES}{}", std::process::id())
}

/// Drops what runs have left behind whose process is gone.
async fn drop_old(admin: &Client) {
    let sql = "SELECT datname::text FROM pg_database WHERE datname ~ '^rag_server_test_[0-9]+$'";
    for row in admin.query(sql, &[]).await.unwrap() {
        let old: String = row.get(0);
        let process = format!("/proc/{}", old.trim_start_matches(DATABASES));
        if old == name() || !std::path::Path::new(&process).exists() {
            let drop = format!("DROP DATABASE IF EXISTS {old} WITH (FORCE)");
            admin.batch_execute(&drop).await.unwrap();
        }
    }
}

/// Lets a test have sessions, but not while another looks at all of them.
pub fn among_others() -> RwLockReadGuard<'static, ()> {
    SESSIONS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Lets a test look at all sessions: no other test has any meanwhile.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    SESSIONS.write().unwrap_or_else(PoisonError::into_inner)
}

/// The URL of the database of the tests, which is made once a run.
pub fn database() -> Option<&'static str> {
    static MADE: OnceLock<Option<String>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let url = url()?;
        block_on(async {
            let admin = connect(&url, None).await;
            for role in ["rag_server_reader", "rag_server_asker", "rag_server_stranger"] {
                let create = format!(
                    "DO $$ BEGIN CREATE ROLE {role} LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
                );
                admin.batch_execute(&create).await.unwrap();
            }
            drop_old(&admin).await;
            admin.batch_execute(&format!("CREATE DATABASE {}", name())).await.unwrap();
            let made = connect(&url, Some(&name())).await;
            made.batch_execute(SETUP).await.unwrap();
            made.batch_execute(TRAPS).await.unwrap();
        });
        Some(url)
    });
    made.as_deref()
}

/// One number from the database, as the superuser.
pub fn number(sql: &str) -> i64 {
    let url = database().unwrap();
    block_on(async { connect(url, Some(&name())).await.query_one(sql, &[]).await.unwrap().get(0) })
}

/// Runs statements in the database, as the superuser.
pub fn execute(sql: &str) {
    let url = database().unwrap();
    block_on(async { connect(url, Some(&name())).await.batch_execute(sql).await.unwrap() });
}

/// One text from the database, as the superuser.
pub fn text(sql: &str) -> String {
    let url = database().unwrap();
    block_on(async { connect(url, Some(&name())).await.query_one(sql, &[]).await.unwrap().get(0) })
}

/// The words of a connection string for the database of the tests, as the role that may read.
pub fn reader_url() -> Option<String> {
    let url = database()?;
    let config: Config = url.parse().unwrap();
    let host = match &config.get_hosts()[0] {
        tokio_postgres::config::Host::Tcp(host) => host.clone(),
        tokio_postgres::config::Host::Unix(path) => path.display().to_string(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    Some(format!("host={host} port={port} dbname={} user=rag_server_reader", name()))
}

/// The unix socket of the database, and what the database of the tests is called; nothing where it is reached in
/// another way.
pub fn socket() -> Option<(PathBuf, String)> {
    let config: Config = reader_url()?.parse().unwrap();
    let tokio_postgres::config::Host::Unix(folder) = &config.get_hosts()[0] else { return None };
    Some((folder.join(format!(".s.PGSQL.{}", config.get_ports()[0])), name()))
}

/// Sends a signal, such as `TERM`.
pub fn signal(name: &str, process: i64) {
    // The program kill is not on every machine; the shell always has its own.
    let kill = ["-c", "kill -s \"$0\" \"$1\"", name, &process.to_string()];
    assert!(Command::new("sh").args(kill).status().unwrap().success());
}

/// A server that ends with the test.
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: String,
    /// Reads what it says from then on, until it ends.
    saying: Option<JoinHandle<()>>,
    heard: Arc<Mutex<String>>,
    folder: tempfile::TempDir,
    _among_others: Option<RwLockReadGuard<'static, ()>>,
}

impl Server {
    /// A server with both tokens, or nothing where there is no database.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let among_others = among_others();
        let mut server = Self::of(&reader_url()?, true, arguments);
        server._among_others = Some(among_others);
        Some(server)
    }

    /// A server with both tokens for a test that is [`alone`], or nothing where there is no database.
    pub fn start_alone(arguments: &[&str]) -> Option<Self> {
        Some(Self::of(&reader_url()?, true, arguments))
    }

    /// A server in front of any database.
    pub fn of(url: &str, with_tokens: bool, arguments: &[&str]) -> Self {
        let (mut server, lines) = Self::begin(url, with_tokens, arguments);
        // What else it says is shown with the output of the test.
        let heard = Arc::clone(&server.heard);
        server.saying = Some(std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                eprintln!("{line}");
                heard.lock().unwrap().push_str(&format!("{line}\n"));
            }
        }));
        server
    }

    /// A server without tokens in front of any database, and nobody reads what it says once it listens.
    pub fn unheard(url: &str) -> Self {
        Self::begin(url, false, &[]).0
    }

    fn begin(
        url: &str,
        with_tokens: bool,
        arguments: &[&str],
    ) -> (Self, Lines<BufReader<ChildStderr>>) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rag-server"));
        command.args(["--database-url", url, "--listen", "127.0.0.1:0"]).args(arguments);
        if with_tokens {
            command.arg("--tokens").arg(tokens(&folder));
        }
        // Else the memory that it takes would depend on the number of processors, for each of which malloc has arenas.
        command.env("MALLOC_ARENA_MAX", "2");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .find_map(|line| {
                line.unwrap().split_once("http://").map(|(_, address)| address.to_owned())
            })
            .expect("a server says where it listens");
        let heard = Arc::default();
        (Self { child, address, saying: None, heard, folder, _among_others: None }, lines)
    }

    /// Asks as the role that may read.
    pub fn get(&self, path: &str) -> Response {
        request(&self.address, Some(READER), path, None)
    }

    /// Sends JSON as the role that may read.
    pub fn post(&self, path: &str, body: &Value) -> Response {
        request(&self.address, Some(READER), path, Some(&body.to_string()))
    }

    /// Sends JSON with a token.
    pub fn post_as(&self, token: &str, path: &str, body: &Value) -> Response {
        request(&self.address, Some(token), path, Some(&body.to_string()))
    }

    /// Ends the server, and returns what it said on standard error since it began to listen.
    pub fn said(mut self) -> String {
        let _ = self.child.kill();
        let saying = self.saying.take().expect("nobody else takes it");
        saying.join().expect("a thread that reads lines");
        self.heard()
    }

    /// What it has said on standard error so far.
    pub fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }

    /// Writes another file of tokens, and tells the server to read it.
    pub fn change_tokens(&self, text: &str) {
        write_tokens(&self.folder, text);
        self.hang_up();
    }

    /// Tells the server to read its tokens again.
    pub fn hang_up(&self) {
        signal("HUP", self.child.id().into());
    }

    /// The most memory that it has had, in megabytes.
    pub fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        most.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }

    /// Tells the server to end, and returns whether it did so well.
    pub fn terminate(mut self) -> bool {
        signal("TERM", self.child.id().into());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tokens(folder: &tempfile::TempDir) -> PathBuf {
    let text = format!(
        r#"[{{"token": "{READER}", "role": "rag_server_reader"}}, {{"token": "{ASKER}", "role": "rag_server_asker"}},
            {{"token": "{STRANGER}", "role": "rag_server_stranger"}}]"#
    );
    write_tokens(folder, &text)
}

fn write_tokens(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("tokens.json");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// What came back.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The lines of the head.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Response {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The data of the events, with their names.
    pub fn events(&self) -> Vec<(String, String)> {
        let field = |frame: &str, name: &str| {
            let lines = frame.lines().filter_map(|line| line.strip_prefix(name));
            lines.collect::<Vec<_>>().join("\n")
        };
        let frames = self.body.split("\n\n").filter(|frame| frame.contains("data: "));
        frames.map(|frame| (field(frame, "event: "), field(frame, "data: "))).collect()
    }
}

/// Begins a request.
pub fn send(address: &str, token: Option<&str>, path: &str, body: Option<&str>) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let method = if body.is_some() { "POST" } else { "GET" };
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    head.push_str("Accept: application/json, text/event-stream\r\n");
    if let Some(token) = token {
        head.push_str(&format!("Authorization: Bearer {token}\r\n"));
    }
    let body = body.unwrap_or_default();
    if !body.is_empty() {
        head.push_str("Content-Type: application/json\r\n");
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    stream
}

/// Asks and reads the whole response.
pub fn request(address: &str, token: Option<&str>, path: &str, body: Option<&str>) -> Response {
    let mut bytes = Vec::new();
    send(address, token, path, body).read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").expect("a response has a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    let head = head.to_ascii_lowercase();
    let body = match head.contains("transfer-encoding: chunked") {
        true => unchunked(body),
        false => body.to_owned(),
    };
    Response { status, head, body }
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    body
}
