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
    /// The member of the request that is wrong, where it is one.
    pub param: Option<&'static str>,
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
            param: None,
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

    /// The error with the member of the request that it is about.
    pub fn param(self, param: &'static str) -> Self {
        Self { param: Some(param), ..self }
    }

    /// Whether clients of OpenAI's API would repeat the request by themselves, though that is of no use: a provider was
    /// asked several times already, an answer would take as long again, and a budget lasts until its period is over.
    fn is_repeated_in_vain(&self) -> bool {
        self.retry_after.is_none() && (self.status.as_u16() == 429 || self.status.is_server_error())
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
            "param": self.param,
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
        if self.is_repeated_in_vain() {
            // No standard, but OpenAI's own clients go by it.
            response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
        }
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

/// The SQLSTATE by which pg_rag says that the budget of a role is spent. That of limits of settings and of a single question
/// is 53400.
const ROLE_BUDGET_SPENT: &str = "RG001";

fn from_postgres(said: &DbError) -> Failure {
    let failure = of_sqlstate(said.code().code(), said.message());
    Failure {
        hint: said.hint().map(Box::from).or(failure.hint),
        detail: said.detail().map(Box::from),
        ..failure
    }
}

/// An error of PostgreSQL's that has no hint of its own.
fn of_sqlstate(sqlstate: &str, message: &str) -> Failure {
    let (status, code) = status_of(sqlstate);
    // Whoever holds a lock may let go of it in a moment.
    let passes = status == StatusCode::SERVICE_UNAVAILABLE || sqlstate == "55P03";
    Failure {
        hint: passes.then(|| "the request can be repeated".into()),
        sqlstate: Some(sqlstate.into()),
        retry_after: passes.then_some(5),
        ..Failure::new(status, code, message)
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
        // The word by which clients of OpenAI's API know that waiting a moment does not help.
        ROLE_BUDGET_SPENT => (StatusCode::TOO_MANY_REQUESTS, "insufficient_quota"),
        "53400" => (StatusCode::BAD_REQUEST, "limit_exceeded"),
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
            assert_eq!(of_sqlstate(sqlstate, "it failed").status.as_u16(), status, "{sqlstate}");
        };
        check("22023", 400);
        check("42P08", 400);
        check("42501", 403);
        check("42704", 404);
        check("53400", 400);
        check("RG001", 429);
        check("RG000", 500);
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
        assert_eq!(body["error"]["param"], Value::Null);
        assert_eq!(Failure::request("no").param("n").body()["error"]["param"], "n");
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

    #[test]
    fn what_is_repeated_in_vain_says_so() {
        let check = |failure: Failure, expected: Option<&str>| {
            let response = failure.clone().into_response();
            let said =
                response.headers().get("x-should-retry").map(|value| value.to_str().unwrap());
            assert_eq!(said, expected, "{failure:?}");
        };
        for sqlstate in ["38000", "39000", "57014", "25P03", "25P04", "XX000"] {
            check(of_sqlstate(sqlstate, "it failed"), Some("false"));
        }
        check(of_sqlstate("RG001", "it is spent"), Some("false"));
        check(Failure::unavailable("gone"), None);
        check(Failure { retry_after: Some(3), ..of_sqlstate("RG001", "it is spent") }, None);
        check(Failure::request("no"), None);
        check(Failure::defect(), Some("false"));
    }

    #[test]
    fn what_passes_by_itself_stays_repeatable_and_says_when() {
        for sqlstate in ["40001", "40P01", "57P01", "57P03", "53300", "08006", "55P03"] {
            let response = of_sqlstate(sqlstate, "it failed").into_response();
            let header = |name: &str| response.headers().get(name).map(|it| it.to_str().unwrap());
            assert_eq!((header("x-should-retry"), header("retry-after")), (None, Some("5")));
        }
    }

    #[test]
    fn a_spent_budget_is_told_apart_from_other_limits() {
        let check = |sqlstate: &str, status: u16, code: &str| {
            // No message decides: whoever may raise errors may word them.
            let failure = of_sqlstate(sqlstate, "the budget of role \"ann\" is spent");
            assert_eq!((failure.status.as_u16(), failure.code), (status, code), "{sqlstate}");
            assert_eq!(failure.retry_after, None, "{sqlstate}");
        };
        check("RG001", 429, "insufficient_quota");
        check("53400", 400, "limit_exceeded");
    }
}
