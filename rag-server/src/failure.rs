//! What went wrong, as a client is told it.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio_postgres::error::DbError;

use crate::log;

/// An error for a client, in the shape that clients of OpenAI's API read.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The status of the response.
    pub status: StatusCode,
    /// A word for programs.
    pub code: &'static str,
    /// A sentence for people, lower case.
    pub message: String,
    /// What can be done.
    pub hint: Option<Box<str>>,
    /// More about it, from PostgreSQL.
    pub detail: Option<Box<str>>,
    /// PostgreSQL's own code.
    pub sqlstate: Option<Box<str>>,
    /// Seconds after which it may be tried again.
    pub retry_after: Option<u32>,
}

impl Failure {
    /// An error without more than a message.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            hint: None,
            detail: None,
            sqlstate: None,
            retry_after: None,
        }
    }

    /// A request that cannot be understood: 400.
    pub fn request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// The database cannot be asked now: 503, to be tried again after a second.
    pub fn unavailable(message: impl Into<String>) -> Self {
        let failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, "database_unavailable", message);
        Self { retry_after: Some(1), ..failure.hint("the request can be repeated") }
    }

    /// A defect of this program: 500.
    pub fn defect() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, "internal", "rag-server has failed, its log says why")
    }

    /// The error with something that can be done about it.
    pub fn hint(self, hint: impl Into<Box<str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Whether the session in which it happened is over: somebody or a timeout ended it, or the server goes down.
    pub fn ends_session(&self) -> bool {
        let ends = |state: &str| state.starts_with("57P") || matches!(state, "25P03" | "25P04");
        self.sqlstate.as_deref().is_some_and(ends)
    }

    /// The error as a JSON object with the member `error`.
    pub fn body(&self) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        };
        json!({"error": {
            "message": self.message,
            "type": kind,
            "param": null,
            "code": self.code,
            "sqlstate": self.sqlstate,
            "hint": self.hint,
            "detail": self.detail,
        }})
    }

    /// The error in lines, for a model that may correct itself.
    pub fn lines(&self) -> String {
        let mut text = format!("error: {}", self.message);
        for (name, value) in
            [("sqlstate", &self.sqlstate), ("detail", &self.detail), ("hint", &self.hint)]
        {
            if let Some(value) = value {
                text.push_str(&format!("\n{name}: {value}"));
            }
        }
        text
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(said) => from_postgres(said),
            // The server went away, or the network between.
            None => {
                log::say(with_causes(&error));
                Self::unavailable("the connection to the database was lost")
            }
        }
    }
}

fn from_postgres(said: &DbError) -> Failure {
    let sqlstate = said.code().code();
    let (status, code) = status_of(sqlstate);
    let repeat =
        (status == StatusCode::SERVICE_UNAVAILABLE).then_some("the request can be repeated");
    Failure {
        hint: said.hint().or(repeat).map(Box::from),
        detail: said.detail().map(Box::from),
        sqlstate: Some(sqlstate.into()),
        retry_after: matches!(status.as_u16(), 429 | 503).then_some(5),
        ..Failure::new(status, code, said.message())
    }
}

/// The status and the word for an SQLSTATE.
fn status_of(sqlstate: &str) -> (StatusCode, &'static str) {
    let by_class = match sqlstate.get(..2).unwrap_or_default() {
        "22" | "54" => Some((StatusCode::BAD_REQUEST, "invalid_request")),
        "28" => Some((StatusCode::SERVICE_UNAVAILABLE, "database_unavailable")),
        "08" | "53" | "57" | "58" => {
            Some((StatusCode::SERVICE_UNAVAILABLE, "database_unavailable"))
        }
        "38" => Some((StatusCode::BAD_GATEWAY, "provider_failed")),
        "39" => Some((StatusCode::GATEWAY_TIMEOUT, "provider_timeout")),
        _ => None,
    };
    match sqlstate {
        // The second one: nothing can be written, as on a standby.
        "42501" | "25006" => (StatusCode::FORBIDDEN, "not_permitted"),
        "42704" => (StatusCode::NOT_FOUND, "not_found"),
        "42P08" | "0A000" | "42809" | "42601" | "42703" | "42P01" | "42883" | "55000" => {
            (StatusCode::BAD_REQUEST, "invalid_request")
        }
        "53400" => (StatusCode::TOO_MANY_REQUESTS, "budget_spent"),
        // Of a statement, of waiting for a lock, and of a transaction that did nothing or was too long.
        "57014" | "55P03" | "25P03" | "25P04" => (StatusCode::GATEWAY_TIMEOUT, "timeout"),
        "40001" | "40P01" => (StatusCode::SERVICE_UNAVAILABLE, "database_unavailable"),
        _ => by_class.unwrap_or((StatusCode::INTERNAL_SERVER_ERROR, "internal")),
    }
}

/// An error with what led to it.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sqlstate_is_a_status() {
        let check = |sqlstate: &str, status: u16| {
            assert_eq!(status_of(sqlstate).0.as_u16(), status, "{sqlstate}");
        };
        check("22023", 400);
        check("42P08", 400);
        check("42501", 403);
        check("42704", 404);
        check("53400", 429);
        check("53000", 503);
        check("57P01", 503);
        check("57P05", 503);
        check("40001", 503);
        check("40P01", 503);
        check("57014", 504);
        check("55P03", 504);
        check("25P03", 504);
        check("25P04", 504);
        check("25006", 403);
        check("54000", 400);
        check("54001", 400);
        check("38000", 502);
        check("39000", 504);
        check("XX000", 500);
        check("", 500);
    }

    #[test]
    fn a_session_that_was_ended_is_not_used_again() {
        let ends = |sqlstate: &str| {
            let failure = Failure::unavailable("over");
            Failure { sqlstate: Some(sqlstate.into()), ..failure }.ends_session()
        };
        assert!(["57P01", "57P05", "25P03", "25P04"].into_iter().all(ends));
        assert!(!["57014", "55P03", "40P01", "25006"].into_iter().any(ends));
    }

    #[test]
    fn errors_have_the_shape_of_openai() {
        let failure = Failure {
            sqlstate: Some("42704".into()),
            ..Failure::new(StatusCode::NOT_FOUND, "not_found", "no pipeline \"x\"")
                .hint("look at rag.pipeline")
        };
        let body = failure.body();
        assert_eq!(body["error"]["type"], "invalid_request_error");
        assert_eq!(body["error"]["code"], "not_found");
        assert_eq!(body["error"]["sqlstate"], "42704");
        assert_eq!(body["error"]["hint"], "look at rag.pipeline");
        assert_eq!(
            failure.lines(),
            "error: no pipeline \"x\"\nsqlstate: 42704\nhint: look at rag.pipeline"
        );
    }

    #[test]
    fn what_may_be_repeated_says_when() {
        let response = Failure::unavailable("the database cannot be reached").into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }
}
