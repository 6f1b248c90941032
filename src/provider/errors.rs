//! What went wrong with a call, in words, and what can be done.
//!
//! The words of a provider pass through [`ApiKey::excerpt`] before they become part of an
//! error: it cuts them short and takes the key out.

use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use super::call::{CallFailure, HttpReply};
use super::dialect::Dialect;
use super::host;
use super::key::ApiKey;
use super::retry::{self, CallError, Remedy};
use crate::account::tokens_of;
use crate::error::{Error, ErrorKind};
use crate::exact;
use crate::protocol::ProviderConfig;

/// A result whose failure may pass.
type Result<T, E = CallError> = std::result::Result<T, E>;

/// Words by which providers say that a text is too long; none has a status of its own.
const TOO_LONG: &[&str] = &[
    "context length",
    "context_length",
    "context size",
    "context window",
    "input length",
    "input token count",
    "prompt is too long",
    "too many tokens",
];

/// What providers are asked for, as messages call it.
pub struct CallPurpose {
    /// How the protocol is spoken.
    pub dialect: &'static Dialect,
    /// Where it is asked for, under `base_url`; "{model}" is the model's [`resource`].
    pub path: &'static str,
    /// What should come back.
    pub answer: &'static str,
    /// Where the model was named.
    pub model: &'static str,
    /// What can be done about a text that the model can't read.
    pub too_long: &'static str,
}

impl CallPurpose {
    /// Where `model` is asked for it, under `base_url`.
    pub fn path_of(&self, model: &str) -> String {
        self.path.replace("{model}", &resource(model))
    }
}

/// What a path calls `model`: "models/" and its name, unless the name says where it is. What
/// would mean something else in a path is written as `%` and two digits.
pub fn resource(model: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    let plain = |byte: u8| match is_plain(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let name: String = model.bytes().map(plain).collect();
    if model.contains('/') { name } else { format!("models/{name}") }
}

/// The provider that was called, with which key and for what: what every message of this file
/// needs.
pub struct ErrorFormatter<'a> {
    /// The provider as configured.
    pub provider: &'a ProviderConfig,
    /// The key that must not be shown.
    pub key: &'a ApiKey,
    /// What it was asked for.
    pub task: &'static CallPurpose,
}

impl ErrorFormatter<'_> {
    /// A call that brought no reply.
    pub fn failure(&self, failure: CallFailure) -> CallError {
        let ProviderConfig { base_url, connect_timeout_ms, .. } = self.provider;
        let kind = failure.kind();
        let remedy = match &failure {
            CallFailure::NoAnswer(_) | CallFailure::ConnectTimeout | CallFailure::Silence => {
                Remedy::Retry(None)
            }
            _ => Remedy::None,
        };
        let is_read = matches!(
            &failure,
            CallFailure::Timeout
                | CallFailure::Silence
                | CallFailure::TooLong(_)
                | CallFailure::BrokeOff(_)
        );
        let error = match failure {
            CallFailure::Gone => retry::given_up(),
            CallFailure::NoAnswer(why) => self
                .says(kind, format_args!("cannot be reached at {base_url}: {}", self.show(&why)))
                .hint(self.check("base_url, and that something listens there")),
            CallFailure::ConnectTimeout => self
                .says(
                    kind,
                    format_args!(
                        "cannot be reached at {base_url} within connect_timeout of \
                         {connect_timeout_ms} ms"
                    ),
                )
                .hint(self.check("base_url, or raise connect_timeout")),
            CallFailure::Timeout => self
                .says(kind, format_args!("did not answer within {}", self.timeout()))
                .hint(self.longer_timeout()),
            CallFailure::Silence => self
                .says(kind, format_args!("wrote nothing within {}", self.first_token_timeout()))
                .hint(format!("Raise first_token_timeout of server \"{}\".", self.provider.name)),
            CallFailure::TooLong(limit) => {
                self.says(kind, format_args!("sent more than the limit of {limit} bytes"))
            }
            CallFailure::Refused(refused) => host::refused(self.provider, &refused),
            CallFailure::Untrusted(why) => self
                .says(kind, format_args!("is not trusted at {base_url}: {}", self.show(&why)))
                .hint(self.whom_to_trust()),
            CallFailure::Unfit { option, why, .. } => self
                .says(kind, format_args!("is not called: {}", self.show(&why)))
                .hint(self.check(option)),
            CallFailure::UnfitEnvironment(why) => self
                .says(kind, format_args!("is not called: {}", self.show(&why)))
                .hint(format!(
                    "Name another proxy in the environment of PostgreSQL, or in the option proxy of server \"{}\".",
                    self.provider.name
                )),
            CallFailure::Broken(why) | CallFailure::BrokeOff(why) => self
                .says(kind, format_args!("failed at {base_url}: {}", self.show(&why)))
                .hint(self.check("base_url")),
        };
        let trouble = CallError { error, remedy };
        if is_read { trouble.billed(None, None) } else { trouble }
    }

    fn whom_to_trust(&self) -> String {
        let ca_file = match &self.provider.network.ca_file {
            Some(_) => "ca_file, which names the authorities that are trusted",
            None => "ca_file, if the certificate is of an authority of your own",
        };
        self.check(&format!("the host in base_url; {ca_file}"))
    }

    /// The limit of the server, and what was left of it where personal data were looked for first.
    fn timeout(&self) -> String {
        let limit = self.provider.timeout_in_words();
        match self.provider.special.redact_took_ms {
            0 => limit,
            took => format!("{limit}, of which redact_model took {took} ms"),
        }
    }

    fn longer_timeout(&self) -> String {
        format!("Raise {}.", self.provider.limit_to_raise())
    }

    fn first_token_timeout(&self) -> String {
        let limit = self.provider.limits.first_token_timeout_ms.unwrap_or_default();
        format!("first_token_timeout of {limit} ms")
    }

    /// A reply whose status is not a success.
    pub fn refusal(&self, reply: &HttpReply) -> CallError {
        let said = explanation(&reply.body);
        let words = self.words_of_refusal(reply, &said);
        let kind = match reply.status {
            400 | 413 | 422 => ErrorKind::ProviderRefused,
            _ => ErrorKind::ProviderFailed,
        };
        let error = self.says(kind, format_args!("{words}"));
        let error = match self.hint_for(reply.status, &said) {
            Some(hint) => error.hint(hint),
            None => error,
        };
        CallError { error, remedy: remedy_for(reply) }
    }

    /// A reply that makes the provider left alone for `pause`.
    pub fn busy(&self, reply: &HttpReply, pause: Duration) -> CallError {
        let words = self.words_of_refusal(reply, &explanation(&reply.body));
        self.paused(format_args!("{words}"), pause)
    }

    /// A call that is not made, because the provider is left alone for another `pause`.
    pub fn left_alone(&self, pause: Duration) -> CallError {
        let what = "said that it is busy and is not called for another";
        self.paused(format_args!("{what} {} ms", milliseconds(pause)), pause)
    }

    /// A call that is not made, because the provider is down and is left alone for another `pause`.
    pub fn is_down(&self, pause: Duration) -> CallError {
        let what = "could not be reached several times in a row and is not called for another";
        let error =
            self.says(ErrorKind::ProviderBusy, format_args!("{what} {} ms", milliseconds(pause)));
        let hint = format!(
            "Check that it runs, and base_url of server \"{}\"; then repeat the statement.",
            self.provider.name
        );
        CallError { error: error.retry_after(pause).hint(hint), remedy: Remedy::None }
    }

    /// A call that is not made, because so many have begun within a minute.
    pub fn minute_full(&self, pause: Duration) -> CallError {
        let most = self.provider.limits.requests_per_minute.unwrap_or_default();
        let what = format!("is called as often as requests_per_minute of {most} allows");
        self.limited(&what, "requests_per_minute", pause)
    }

    /// A call that is not made, because so many are running.
    pub fn all_taken(&self, pause: Duration) -> CallError {
        let most = self.provider.limits.max_concurrency.unwrap_or_default();
        let what = format!("answers as many calls as max_concurrency of {most} allows");
        self.limited(&what, "max_concurrency", pause)
    }

    fn limited(&self, what: &str, option: &str, pause: Duration) -> CallError {
        let hint = format!(
            "Repeat the statement in {} ms, or raise {option} of server \"{}\".",
            milliseconds(pause),
            self.provider.name
        );
        let error = self.says(ErrorKind::ProviderBusy, format_args!("{what}"));
        CallError { error: error.retry_after(pause).hint(hint), remedy: Remedy::None }
    }

    fn paused(&self, what: std::fmt::Arguments<'_>, pause: Duration) -> CallError {
        let error = self.says(ErrorKind::ProviderBusy, what).retry_after(pause).hint(format!(
            "Repeat the statement in {} ms. Only calls for many texts are held back.",
            milliseconds(pause)
        ));
        CallError { error, remedy: Remedy::None }
    }

    fn words_of_refusal(&self, reply: &HttpReply, said: &str) -> String {
        let status = reply.status;
        let mut words = format!("answered with HTTP status {status}");
        if let (300..400, Some(location)) = (status, &reply.location) {
            words += &format!(", a redirect to {}, which is not followed", self.show(location));
        } else if !said.trim().is_empty() {
            words += &format!(": {}", self.show(said));
        }
        words
    }

    /// Reads a reply of success as `T`.
    pub fn read<'r, T: Deserialize<'r>>(&self, reply: &'r HttpReply) -> Result<T> {
        let text = std::str::from_utf8(&reply.body)
            .map_err(|error| self.nonsense(&format!("not UTF-8: {error}"), reply))?;
        serde_json::from_str(text).map_err(|error| {
            let html = reply.content_type.starts_with("text/html");
            match error.classify() {
                Category::Data => match reported_error(text) {
                    Some(said) => self.reported(&said),
                    None => self.nonsense(&error.to_string(), reply),
                },
                _ if html => self.nonsense("a web page", reply),
                _ => self.nonsense(&format!("not JSON: {error}"), reply),
            }
        })
    }

    /// Reads a reply of success, with numbers as [`exact::read`] reads them: a call of a tool may have values of columns among
    /// its arguments.
    pub fn read_exact(&self, reply: &HttpReply) -> Result<Value> {
        let exact = std::str::from_utf8(&reply.body).ok().and_then(|text| exact::read(text).ok());
        exact.map_or_else(|| self.read(reply), Ok)
    }

    /// Reads an event of a streamed reply as `T`.
    pub fn read_event<'r, T: Deserialize<'r>>(&self, data: &'r str) -> Result<T> {
        serde_json::from_str(data).map_err(|error| {
            let why = match error.classify() {
                Category::Data => error.to_string(),
                _ => format!("an event is not JSON: {error}"),
            };
            self.nonsense_in(&why, data)
        })
    }

    /// A streamed reply that ended before its end, after `received` bytes of text.
    pub fn broke_off(&self, received: usize) -> CallError {
        let message = format!("broke off its answer after {received} bytes of text");
        let error = self.says(ErrorKind::ProviderFailed, format_args!("{message}"));
        CallError { error, remedy: Remedy::Retry(None) }.billed(None, Some(tokens_of(received)))
    }

    /// A reply of success that is not what was asked for, because of `why`.
    pub fn nonsense(&self, why: &str, reply: &HttpReply) -> CallError {
        self.nonsense_in(why, &String::from_utf8_lossy(&reply.body))
    }

    /// A reply of success of which a part, `body`, is not what was asked for, because of `why`.
    pub fn nonsense_in(&self, why: &str, body: &str) -> CallError {
        let body = self.show(body);
        let what = if body.is_empty() { "nothing".to_string() } else { format!("\"{body}\"") };
        let CallPurpose { answer, dialect, .. } = self.task;
        let (path, end) = (self.task.path_of(&self.provider.model), dialect.base_url_end);
        let error = self
            .says(
                ErrorKind::ProviderFailed,
                format_args!("did not answer with {answer}: {}: {what}", self.show(why)),
            )
            .hint(self.check(&format!("base_url; it ends before /{path}, often with {end}")));
        CallError { error, remedy: Remedy::None }.billed(None, None)
    }

    /// A reply of success that says that something failed.
    pub fn reported(&self, said: &str) -> CallError {
        let message = format!("reports an error: {}", self.show(said));
        let error = self.says(ErrorKind::ProviderFailed, format_args!("{message}"));
        let error = match self.hint_for(400, said) {
            Some(hint) => error.hint(hint),
            None => error,
        };
        CallError { error, remedy: Remedy::None }
    }

    /// A completion without text, because of `why`.
    pub fn silence(&self, why: &str, hint: Option<&str>) -> CallError {
        let message = format!("wrote no text: {}", self.show(why));
        let error = self.says(ErrorKind::ProviderFailed, format_args!("{message}"));
        let error = match hint {
            Some(hint) => error.hint(hint),
            None => error,
        };
        CallError { error, remedy: Remedy::None }
    }

    /// A vector of `found` numbers, where the model's should have `expected`.
    pub fn misfit(&self, found: usize, expected: u32) -> CallError {
        let model = &self.provider.model;
        let error = self
            .says(
                ErrorKind::ProviderFailed,
                format_args!(
                    "gave a vector of {found} dimensions for model \"{model}\", not {expected}"
                ),
            )
            .hint("Vectors of one model have one length. Add the model again under another name.");
        CallError { error, remedy: Remedy::None }.billed(None, None)
    }

    fn says(&self, kind: ErrorKind, what: std::fmt::Arguments<'_>) -> Error {
        Error::new(kind, format!("provider \"{}\" {what}", self.provider.name))
    }

    fn show(&self, text: &str) -> String {
        self.key.excerpt(text)
    }

    fn check(&self, what: &str) -> String {
        format!("Check the options of server \"{}\": {what}.", self.provider.name)
    }

    fn hint_for(&self, status: u16, said: &str) -> Option<String> {
        let said = said.to_lowercase();
        Some(match status {
            300..=399 => self.check("set base_url to where the provider really is"),
            401 | 403 => {
                format!("Check the key in the user mapping for server \"{}\".", self.provider.name)
            }
            400 if said.contains("api key") || said.contains("api_key") => {
                format!("Check the key in the user mapping for server \"{}\".", self.provider.name)
            }
            404 | 405 => self.check(&format!("base_url and {}", self.task.model)),
            413 => self.task.too_long.into(),
            400 | 422 if is_too_long(&said) => self.task.too_long.into(),
            400 | 422 => self
                .check(&format!("{}, and whether the provider speaks this api", self.task.model)),
            429 | 529 => {
                "The provider limits how much may be asked. Ask later, or have the limit raised."
                    .into()
            }
            _ => return None,
        })
    }
}

fn remedy_for(reply: &HttpReply) -> Remedy {
    match reply.status {
        429 | 500 | 502 | 503 | 504 | 529 => Remedy::Retry(asked_wait(reply)),
        _ => Remedy::None,
    }
}

/// How long `reply` asks to wait: in its header, or in its body as Gemini does.
pub fn asked_wait(reply: &HttpReply) -> Option<Duration> {
    match reply.retry_after.as_deref() {
        Some(value) => retry::retry_after(value, SystemTime::now()),
        None => retry_delay(&serde_json::from_slice(&reply.body).ok()?),
    }
}

/// The `retryDelay` among the details of an error, such as "17.5s".
fn retry_delay(body: &Value) -> Option<Duration> {
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// Milliseconds, rounded up: a caller that comes back after so many is not early.
fn milliseconds(pause: Duration) -> u128 {
    pause.as_nanos().div_ceil(1_000_000)
}

fn reported_error(text: &str) -> Option<String> {
    error_message(&serde_json::from_str(text).ok()?)
}

/// What the body of an error says: the message inside where it is JSON, else all of it.
pub fn explanation(body: &[u8]) -> String {
    let whole = || String::from_utf8_lossy(body).into_owned();
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return whole() };
    error_message(&value).unwrap_or_else(whole)
}

/// Whether `said`, a refusal in small letters, is about the length of a text.
pub fn is_too_long(said: &str) -> bool {
    TOO_LONG.iter().any(|words| said.contains(words))
}

/// The message of an error object, in the shapes that servers of this protocol send.
pub fn error_message(value: &Value) -> Option<String> {
    ["/error/message", "/0/error/message", "/error", "/message", "/detail"]
        .iter()
        .filter_map(|place| value.pointer(place))
        .find(|found| !found.is_null())
        .map(|found| found.as_str().map_or_else(|| found.to_string(), str::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanation_finds_the_message() {
        for (body, said) in [
            (r#"{"error":{"message":"no such model","code":7}}"#, "no such model"),
            (r#"{"error":"overloaded"}"#, "overloaded"),
            (r#"[{"error":{"code":400,"message":"no such field"}}]"#, "no such field"),
            (r#"{"error":{"code":7}}"#, r#"{"code":7}"#),
            (r#"{"message":"busy","error":null}"#, "busy"),
            (r#"{"detail":[{"loc":"model"}]}"#, r#"[{"loc":"model"}]"#),
            (r#"{"other":1}"#, r#"{"other":1}"#),
            ("<html>502</html>", "<html>502</html>"),
            ("", ""),
        ] {
            assert_eq!(explanation(body.as_bytes()), said, "{body}");
        }
    }

    #[test]
    fn a_path_names_the_model() {
        let check = |model: &str, path: &str| assert_eq!(resource(model), path);
        check("gemini-2.5-flash", "models/gemini-2.5-flash");
        check("tunedModels/mine", "tunedModels/mine");
        check("a?b#c %é", "models/a%3Fb%23c%20%25%C3%A9");
    }

    #[test]
    fn a_wait_may_stand_in_the_body() {
        let check = |body: &str, seconds: Option<f64>| {
            let found = serde_json::from_str(body).ok().as_ref().and_then(retry_delay);
            assert_eq!(found, seconds.map(Duration::from_secs_f64), "{body}");
        };
        let with = |delay: &str| {
            format!(r#"{{"error":{{"details":[{{"a":1}},{{"retryDelay":{delay}}}]}}}}"#)
        };
        check(&with(r#""17.5s""#), Some(17.5));
        check(&with(r#""-1s""#), None);
        check(&with(r#""1e300s""#), None);
        check(&with(r#""NaNs""#), None);
        check(&with("17"), None);
        check(r#"{"error":{"details":{}}}"#, None);
        check("<html>", None);
    }
}
