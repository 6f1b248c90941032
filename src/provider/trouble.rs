//! What went wrong with a call, in words, and what can be done.
//!
//! The words of a provider pass through [`Key::excerpt`] before they become part of an
//! error: it cuts them short and takes the key out.

use std::time::SystemTime;

use serde_json::Value;

use super::call::{Failure, MAX_BODY, Reply};
use super::key::Key;
use super::retry::{self, Remedy, Trouble};
use crate::daemon::protocol::ProviderConfig;
use crate::error::{Error, ErrorKind};

/// Words by which providers say that a prompt is too long; none has a status of its own.
const TOO_LONG: &[&str] =
    &["context length", "context_length", "context size", "context window", "too many tokens"];

/// Who was called, with which key: what every message of this file needs.
pub struct Teller<'a> {
    /// The provider as configured.
    pub provider: &'a ProviderConfig,
    /// The key that must not be shown.
    pub key: &'a Key,
}

impl Teller<'_> {
    /// A call that brought no reply.
    pub fn failure(&self, failure: Failure) -> Trouble {
        let ProviderConfig { base_url, connect_timeout_ms, timeout_ms, .. } = self.provider;
        let kind = failure.kind();
        let remedy = match &failure {
            Failure::NoAnswer(_) | Failure::ConnectTimeout => Remedy::Retry(None),
            _ => Remedy::None,
        };
        let error = match failure {
            Failure::Gone => retry::given_up(),
            Failure::NoAnswer(why) => self
                .says(kind, format_args!("cannot be reached at {base_url}: {}", self.show(&why)))
                .hint(self.check("base_url, and that something listens there")),
            Failure::ConnectTimeout => self
                .says(
                    kind,
                    format_args!(
                        "cannot be reached at {base_url} within connect_timeout of \
                         {connect_timeout_ms} ms"
                    ),
                )
                .hint(self.check("base_url, or raise connect_timeout")),
            Failure::Timeout => self
                .says(kind, format_args!("did not answer within timeout of {timeout_ms} ms"))
                .hint(format!("Raise timeout of server \"{}\".", self.provider.name)),
            Failure::TooLong => {
                self.says(kind, format_args!("sent more than the limit of {MAX_BODY} bytes"))
            }
            Failure::Broken(why) => self
                .says(kind, format_args!("failed at {base_url}: {}", self.show(&why)))
                .hint(self.check("base_url")),
        };
        Trouble { error, remedy }
    }

    /// A reply whose status is not a success.
    pub fn refusal(&self, reply: &Reply) -> Trouble {
        let said = explanation(&reply.body);
        let status = reply.status;
        let mut message = format!("answered with HTTP status {status}");
        if let (300..400, Some(location)) = (status, &reply.location) {
            message += &format!(", a redirect to {}, which is not followed", self.show(location));
        } else if !said.trim().is_empty() {
            message += &format!(": {}", self.show(&said));
        }
        let error = self.says(ErrorKind::ProviderFailed, format_args!("{message}"));
        let error = match self.hint_for(status, &said) {
            Some(hint) => error.hint(hint),
            None => error,
        };
        Trouble { error, remedy: remedy_for(reply) }
    }

    /// A reply of success that is not what was asked for, because of `why`.
    pub fn nonsense(&self, why: &str, reply: &Reply) -> Trouble {
        let body = self.show(&String::from_utf8_lossy(&reply.body));
        let what = if body.is_empty() { "nothing".to_string() } else { format!("\"{body}\"") };
        let error = self
            .says(
                ErrorKind::ProviderFailed,
                format_args!("did not answer with a chat completion: {}: {what}", self.show(why)),
            )
            .hint(self.check("base_url; it ends before /chat/completions, often with /v1"));
        Trouble { error, remedy: Remedy::None }
    }

    /// A reply of success that says that something failed.
    pub fn reported(&self, said: &str) -> Trouble {
        let message = format!("reports an error: {}", self.show(said));
        let error = self.says(ErrorKind::ProviderFailed, format_args!("{message}"));
        let error = match self.hint_for(400, said) {
            Some(hint) => error.hint(hint),
            None => error,
        };
        Trouble { error, remedy: Remedy::None }
    }

    /// A completion without text, because of `why`.
    pub fn silence(&self, why: &str, hint: Option<&str>) -> Trouble {
        let message = format!("wrote no text: {}", self.show(why));
        let error = self.says(ErrorKind::ProviderFailed, format_args!("{message}"));
        let error = match hint {
            Some(hint) => error.hint(hint),
            None => error,
        };
        Trouble { error, remedy: Remedy::None }
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
            404 | 405 => self.check("base_url and model"),
            413 => prompt_too_long(),
            400 | 422 if TOO_LONG.iter().any(|words| said.contains(words)) => prompt_too_long(),
            400 | 422 => self.check("model, and whether the provider speaks this api"),
            429 => {
                "The provider limits how much may be asked. Ask later, or have the limit raised."
                    .into()
            }
            _ => return None,
        })
    }
}

fn prompt_too_long() -> String {
    "The prompt is longer than the model reads. Give it fewer or shorter chunks.".into()
}

fn remedy_for(reply: &Reply) -> Remedy {
    match reply.status {
        429 | 500 | 502 | 503 | 504 => Remedy::Retry(
            reply
                .retry_after
                .as_deref()
                .and_then(|value| retry::retry_after(value, SystemTime::now())),
        ),
        _ => Remedy::None,
    }
}

/// What the body of an error says: the message inside where it is JSON, else all of it.
pub fn explanation(body: &[u8]) -> String {
    let whole = || String::from_utf8_lossy(body).into_owned();
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return whole() };
    error_message(&value).unwrap_or_else(whole)
}

/// The message of an error object, in the shapes that servers of this protocol send.
pub fn error_message(value: &Value) -> Option<String> {
    ["/error/message", "/error", "/message", "/detail"]
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
}
