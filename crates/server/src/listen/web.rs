//! Pages on the same port: our own, or those of a web UI that was built elsewhere.

use std::path::Path;

use axum::Router;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use headroom_api::routes;
use tower::ServiceExt as _;
use tower_http::services::{ServeDir, ServeFile};

use crate::page;

/// The files of a folder. Its pages have paths of their own, which are no files: they are the first
/// page's to understand.
pub(super) fn pages(folder: &Path) -> Router {
    let first = ServeFile::new(folder.join("index.html"));
    Router::new().fallback_service(ServeDir::new(folder).fallback(first))
}

/// Have what is `theirs` answered by `pages`, all else by `router`.
pub(super) fn before(router: Router, pages: Router, theirs: fn(&Request) -> bool) -> Router {
    Router::new().fallback(move |request: Request| {
        let next = if theirs(&request) { pages.clone() } else { router.clone() };
        async move {
            let answered: Result<Response, _> = next.oneshot(request).await;
            match answered {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }
    })
}

/// Whether this is for our own page. Everybody may have it; what it shows it asks for itself.
pub(super) fn is_page(request: &Request) -> bool {
    page::has(request.uri().path())
}

/// Whether this is neither of the table nor gRPC.
pub(super) fn is_foreign(request: &Request) -> bool {
    !is_ours(request)
}

fn is_ours(request: &Request) -> bool {
    let first = |path: &str| path.split('/').nth(1).unwrap_or_default().to_owned();
    let own = first(request.uri().path());
    let media = request.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
    media.is_some_and(|media| media.starts_with("application/grpc"))
        || (!own.is_empty() && routes::all().any(|route| first(route.path) == own))
}
