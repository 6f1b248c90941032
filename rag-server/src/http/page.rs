//! The chat page: its files are in the program.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::Server;

/// What the page may do: load its own files and ask its own server, and be shown in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Where each file is, what it is, and its text.
const FILES: [(&str, &str, &str); 11] = [
    ("/", "text/html", include_str!("../../page/index.html")),
    ("/page.css", "text/css", include_str!("../../page/page.css")),
    ("/page.js", "text/javascript", include_str!("../../page/page.js")),
    ("/filter.js", "text/javascript", include_str!("../../page/filter.js")),
    ("/kept.js", "text/javascript", include_str!("../../page/kept.js")),
    ("/markdown.js", "text/javascript", include_str!("../../page/markdown.js")),
    ("/node.js", "text/javascript", include_str!("../../page/node.js")),
    ("/server.js", "text/javascript", include_str!("../../page/server.js")),
    ("/source.js", "text/javascript", include_str!("../../page/source.js")),
    ("/turn.js", "text/javascript", include_str!("../../page/turn.js")),
    ("/walk.js", "text/javascript", include_str!("../../page/walk.js")),
];

/// The paths of the page, which need no token: it asks for one.
pub fn router() -> Router<Arc<Server>> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, text)| {
        router.route(path, get(move || file(kind, text)))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_imports_is_there() {
        for (path, _, text) in FILES {
            for import in text.split("from './").skip(1) {
                let file = import.split('\'').next().unwrap();
                assert!(FILES.iter().any(|(path, ..)| path[1..] == *file), "{path} imports {file}");
            }
        }
    }

    #[test]
    fn no_text_becomes_markup_or_code() {
        let ways =
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc"];
        for (path, _, text) in FILES {
            assert!(ways.iter().all(|way| !text.contains(way)), "{path}");
        }
    }
}
