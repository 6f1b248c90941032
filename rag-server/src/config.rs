//! What the command line and the environment say.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use crate::connection_string;
use crate::connector::Connector;
use crate::database::TimeLimits;
use crate::encryption::Encryption;

/// Most seconds of `--reader-timeout`: a connection of which nothing is read for so long is closed.
pub const LONGEST_READER: u64 = 120;

/// What `--help` prints.
pub const USAGE: &str = "Usage: rag-server [serve|mcp] --database-url URL [OPTION...]

  serve                       HTTP: OpenAI's API, MCP under /mcp, a chat page; the default
  mcp                         MCP over standard input and output, as the role of the URL

  --database-url URL          postgresql://... or host=... dbname=...    RAG_SERVER_DATABASE_URL
  --listen ADDRESS            where to listen, 127.0.0.1:8080           RAG_SERVER_LISTEN
  --tokens FILE               which token is which role                 RAG_SERVER_TOKENS
  --rate N                    requests a minute for each token, 120;
                              0 is no limit                             RAG_SERVER_RATE
  --connections N             most connections for each token, 10       RAG_SERVER_CONNECTIONS
  --timeout SECONDS           most time of an answer, 120               RAG_SERVER_TIMEOUT
  --reader-timeout SECONDS    longest wait for a slow reader, 30,
                              at most 120                               RAG_SERVER_READER_TIMEOUT
  --max-request KB            largest request, 1024                     RAG_SERVER_MAX_REQUEST
  --setting NAME=VALUE        of each session, such as rag.trace=summary; may be repeated
  --sql                       offer the MCP tool sql, which calls rag_sql_run
  --no-conversations          keep no conversations, whoever asks for it, and refuse
                              questions that go on with one
  --help, --version           say so and leave

A word on the command line goes before the environment.";

fn version() -> String {
    format!("rag-server {}", env!("CARGO_PKG_VERSION"))
}

/// How the program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// HTTP on a socket.
    Serve,
    /// MCP on standard input and output.
    Mcp,
}

/// What the command line asks for.
#[derive(Debug)]
pub enum Command {
    /// To run.
    Run(Box<Config>),
    /// To print this and leave.
    Print(String),
}

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct Config {
    /// How the program speaks.
    pub mode: Mode,
    /// The database, and the way there.
    pub database: Connector,
    /// Where to listen.
    pub listen: SocketAddr,
    /// The file with the tokens; without one everybody who reaches the socket is the role of the URL.
    pub tokens: Option<PathBuf>,
    /// Requests a minute for each token; 0 is no limit.
    pub rate: u32,
    /// Most connections for each token.
    pub connections: usize,
    /// How long an answer may take, with all its statements, and how long the database waits for its reader.
    pub limits: TimeLimits,
    /// Most bytes of a request.
    pub max_request: usize,
    /// Whether the MCP tool `sql` is offered.
    pub sql: bool,
    /// Whether conversations are kept for clients that ask for it, and gone on with.
    pub conversations: bool,
}

/// What was said, before it is checked.
#[derive(Default)]
struct Said {
    mode: Option<Mode>,
    database: Option<String>,
    listen: Option<String>,
    tokens: Option<OsString>,
    rate: Option<String>,
    connections: Option<String>,
    timeout: Option<String>,
    reader_timeout: Option<String>,
    max_request: Option<String>,
    settings: Vec<String>,
    sql: bool,
    no_conversations: bool,
}

/// Reads arguments, without the program's name; `environment` has the values of variables. The error is a sentence for
/// standard error.
pub fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Result<Command, String> {
    let mut said = Said::default();
    let mut parser = lexopt::Parser::from_args(arguments);
    if let Some(text) = said.read(&mut parser).map_err(|error| error.to_string())? {
        return Ok(Command::Print(text));
    }
    said.fill_from(&environment);
    said.check(environment).map(|config| Command::Run(Box::new(config)))
}

impl Said {
    /// Reads all arguments; a text is to be printed instead of running.
    fn read(&mut self, parser: &mut lexopt::Parser) -> Result<Option<String>, lexopt::Error> {
        while let Some(argument) = parser.next()? {
            match argument {
                Value(mode) if mode == "serve" => self.mode = Some(Mode::Serve),
                Value(mode) if mode == "mcp" => self.mode = Some(Mode::Mcp),
                Long("database-url") => self.database = Some(parser.value()?.string()?),
                Long("listen") => self.listen = Some(parser.value()?.string()?),
                Long("tokens") => self.tokens = Some(parser.value()?),
                Long("rate") => self.rate = Some(parser.value()?.string()?),
                Long("connections") => self.connections = Some(parser.value()?.string()?),
                Long("timeout") => self.timeout = Some(parser.value()?.string()?),
                Long("reader-timeout") => self.reader_timeout = Some(parser.value()?.string()?),
                Long("max-request") => self.max_request = Some(parser.value()?.string()?),
                Long("setting") => self.settings.push(parser.value()?.string()?),
                Long("sql") => self.sql = true,
                Long("no-conversations") => self.no_conversations = true,
                Short('h') | Long("help") => return Ok(Some(USAGE.to_owned())),
                Short('V') | Long("version") => return Ok(Some(version())),
                other => return Err(other.unexpected()),
            }
        }
        Ok(None)
    }

    fn fill_from(&mut self, environment: impl Fn(&str) -> Option<OsString>) {
        let text = |name: &str| environment(name).and_then(|value| value.into_string().ok());
        let fill = |place: &mut Option<String>, name: &str| {
            if place.is_none() {
                *place = text(name);
            }
        };
        fill(&mut self.database, "RAG_SERVER_DATABASE_URL");
        fill(&mut self.listen, "RAG_SERVER_LISTEN");
        fill(&mut self.rate, "RAG_SERVER_RATE");
        fill(&mut self.connections, "RAG_SERVER_CONNECTIONS");
        fill(&mut self.timeout, "RAG_SERVER_TIMEOUT");
        fill(&mut self.reader_timeout, "RAG_SERVER_READER_TIMEOUT");
        fill(&mut self.max_request, "RAG_SERVER_MAX_REQUEST");
        if self.tokens.is_none() {
            self.tokens = environment("RAG_SERVER_TOKENS");
        }
    }

    fn check(self, environment: impl Fn(&str) -> Option<OsString>) -> Result<Config, String> {
        let answer = Duration::from_secs(number("--timeout", self.timeout, 120, 1, 86_400)?);
        let reader = number("--reader-timeout", self.reader_timeout, 30, 1, LONGEST_READER)?;
        let config = Config {
            mode: self.mode.unwrap_or(Mode::Serve),
            database: database(self.database, &self.settings, answer, environment)?,
            listen: address(self.listen.as_deref().unwrap_or("127.0.0.1:8080"))?,
            tokens: self.tokens.map(PathBuf::from),
            rate: number("--rate", self.rate, 120, 0, 1_000_000)?,
            connections: number("--connections", self.connections, 10, 1, 10_000)?,
            limits: TimeLimits { answer, reader: Duration::from_secs(reader) },
            max_request: 1024 * number("--max-request", self.max_request, 1024, 1, 1 << 20)?,
            sql: self.sql,
            conversations: !self.no_conversations,
        };
        let is_open = config.mode == Mode::Serve && config.tokens.is_none();
        if is_open && !config.listen.ip().is_loopback() {
            return Err(format!(
                "without --tokens everybody who reaches {} would be the role of the database URL; give a file of \
                 tokens, or listen on 127.0.0.1",
                config.listen
            ));
        }
        Ok(config)
    }
}

/// A number within bounds, or what holds where nothing was said.
fn number<N>(name: &str, said: Option<String>, default: N, least: N, most: N) -> Result<N, String>
where
    N: std::str::FromStr + PartialOrd + std::fmt::Display + Copy,
{
    let Some(said) = said else { return Ok(default) };
    let number = said.parse().ok().filter(|number| (least..=most).contains(number));
    number
        .ok_or_else(|| format!("{name} must be a number between {least} and {most}, not {said:?}"))
}

fn address(said: &str) -> Result<SocketAddr, String> {
    let said = said.replace("localhost:", "127.0.0.1:");
    said.parse().map_err(|_| {
        format!("--listen must be an address with a port, such as 127.0.0.1:8080, not {said:?}")
    })
}

/// The database, with the settings of each session as options of the connection, where no later statement can be
/// between them and the first question.
fn database(
    url: Option<String>,
    settings: &[String],
    timeout: Duration,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Result<Connector, String> {
    let url = url.ok_or("--database-url is missing: which database, and as which role?")?;
    // The error of the parser may repeat a password, so it is not shown.
    let unreadable = "--database-url cannot be read; write postgresql://role@host/database, with %40 for @, %2F for / and %3F for ? in a name or a password, or host=... dbname=...";
    let parts = connection_string::split(&url).ok_or(unreadable)?;
    let mut config: tokio_postgres::Config = parts.rest.parse().map_err(|_| unreadable)?;
    let mut options = config.get_options().unwrap_or_default().to_owned();
    options.push_str(&format!(" -c statement_timeout={}", timeout.as_millis()));
    for setting in settings {
        options.push_str(&session_setting(setting)?);
    }
    config.options(options.trim_start()).application_name("rag-server");
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(5));
    }
    Connector::new(config, Encryption::read(&parts.encryption, environment)?)
}

/// One `-c name=value`, with white space and backslashes escaped as PostgreSQL reads them.
fn session_setting(setting: &str) -> Result<String, String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
    };
    let (name, value) = setting
        .split_once('=')
        .filter(|(name, _)| is_name(name))
        .ok_or_else(|| format!("--setting must be NAME=VALUE, not {setting:?}"))?;
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        if c.is_whitespace() || c == '\\' {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    Ok(format!(" -c {name}={escaped}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Config, String> {
        let value = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        };
        match parse(arguments.iter().map(OsString::from), value)? {
            Command::Run(config) => Ok(*config),
            Command::Print(text) => Err(text),
        }
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        let config = check(&["--database-url", "postgresql://reader@db/shop"], &[]).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!((config.mode, config.rate, config.connections), (Mode::Serve, 120, 10));
        let (answer, reader) = (Duration::from_secs(120), Duration::from_secs(30));
        assert_eq!(config.limits, TimeLimits { answer, reader });
        assert_eq!((config.max_request, config.sql, config.conversations), (1 << 20, false, true));
        assert_eq!(config.database.config().get_user(), Some("reader"));
        assert_eq!(config.database.config().get_options(), Some("-c statement_timeout=120000"));
    }

    #[test]
    fn the_command_line_goes_before_the_environment() {
        let environment = [("RAG_SERVER_DATABASE_URL", "dbname=shop"), ("RAG_SERVER_RATE", "7")];
        assert_eq!(check(&[], &environment).unwrap().rate, 7);
        assert_eq!(check(&["--rate", "0"], &environment).unwrap().rate, 0);
        assert_eq!(check(&["mcp"], &environment).unwrap().mode, Mode::Mcp);
        let environment = [environment[0], ("RAG_SERVER_READER_TIMEOUT", "5")];
        assert_eq!(check(&[], &environment).unwrap().limits.reader, Duration::from_secs(5));
    }

    #[test]
    fn the_packaged_configuration_names_every_variable() {
        let packaged = include_str!("../../debian/rag-server.conf");
        let variables: Vec<&str> =
            USAGE.split_whitespace().filter(|word| word.starts_with("RAG_SERVER_")).collect();
        assert_eq!(variables.len(), 8, "{variables:?}");
        for variable in variables {
            let is_set = |line: &str| {
                line.trim_start_matches('#').split_once('=').is_some_and(|it| it.0 == variable)
            };
            assert!(packaged.lines().any(is_set), "{variable}");
        }
    }

    #[test]
    fn settings_become_options_of_the_session() {
        let url = [
            "--database-url",
            "dbname=shop",
            "--setting",
            "rag.trace=full",
            "--setting",
            "a.b=c d",
        ];
        let config = check(&url, &[]).unwrap();
        let expected = "-c statement_timeout=120000 -c rag.trace=full -c a.b=c\\ d";
        assert_eq!(config.database.config().get_options(), Some(expected));
    }

    #[test]
    fn what_cannot_be_is_said_with_its_value() {
        let error = |more: &[&str]| {
            let mut arguments = vec!["--database-url", "dbname=shop"];
            arguments.extend(more);
            check(&arguments, &[]).unwrap_err()
        };
        assert!(error(&["--rate", "fast"]).contains("not \"fast\""));
        assert!(error(&["--connections", "0"]).contains("between 1 and 10000"));
        assert!(error(&["--reader-timeout", "0"]).contains("between 1 and 120, not \"0\""));
        // The connection of who reads nothing for longer is closed.
        let longer = "--reader-timeout must be a number between 1 and 120, not \"121\"";
        assert!(error(&["--reader-timeout", "121"]).contains(longer));
        assert!(error(&["--listen", "8080"]).contains("127.0.0.1:8080"));
        assert!(error(&["--listen", "0.0.0.0:80"]).contains("without --tokens"));
        assert!(error(&["--setting", "x y=1"]).contains("NAME=VALUE"));
        assert!(error(&["--colour"]).contains("--colour"));
        assert!(error(&["--help"]).starts_with("Usage"));
        assert!(check(&[], &[]).unwrap_err().contains("--database-url is missing"));
        let secret = check(&["--database-url", "postgresql://a:geheim@[:x/"], &[]).unwrap_err();
        assert!(!secret.contains("geheim"));
        let lost = "postgresql://db?sslmode=verify-full&user=a@b";
        assert!(check(&["--database-url", lost], &[]).unwrap_err().contains("with %40 for @"));
        let url = |url| check(&["--database-url", url], &[("PGSSLMODE", "on")]).unwrap_err();
        assert!(url("postgresql://db/shop").contains("verify-full, not \"on\""));
        assert!(
            url("host=db sslmode=require sslcompression=1")
                .contains("sslcompression is not supported")
        );
        assert!(url("host=db sslmode=prefer sslnegotiation=direct").contains("or a stronger one"));
    }
}
