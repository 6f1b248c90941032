//! The chat page: three files in the program.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::Server;

/// What the page may do: load its own files and ask its own server, and be shown in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The paths of the page, which need no token: it asks for one.
pub fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/", get(|| file("text/html", include_str!("../../page/index.html"))))
        .route("/page.css", get(|| file("text/css", include_str!("../../page/page.css"))))
        .route("/page.js", get(|| file("text/javascript", include_str!("../../page/page.js"))))
}

async fn file(kind: &'static str, text: &'static str) -> Response {
    let kind = format!("{kind}; charset=utf-8");
    let headers = [
        (header::CONTENT_TYPE, kind.as_str()),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, text).into_response()
}
