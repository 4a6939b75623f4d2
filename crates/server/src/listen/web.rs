//! Pages on the same port: our own, or those of a web UI that was built elsewhere.

use std::io;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use headroom_api::routes;
use percent_encoding::percent_decode_str;
use tower::ServiceExt as _;
use tower_http::services::{ServeDir, ServeFile};

use crate::page;

/// The files of a folder. Its pages have paths of their own that are no files: the first page understands them. What
/// looks like a file, and is none, is not found.
pub(super) fn pages(folder: &Path) -> Router {
    let files = ServeDir::new(folder).append_index_html_on_directories(true);
    let first = ServeFile::new(folder.join("index.html"));
    let folder: Arc<Path> = folder.into();
    Router::new().fallback(move |request: Request| {
        let (folder, files, first) = (Arc::clone(&folder), files.clone(), first.clone());
        async move {
            let found = found(&folder, request.uri().path()).await;
            let answered = match found {
                Found::File => files.oneshot(request).await.map(IntoResponse::into_response),
                Found::Page => first.oneshot(request).await.map(IntoResponse::into_response),
                Found::Nothing => return StatusCode::NOT_FOUND.into_response(),
            };
            match answered {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }
    })
}

/// What is behind a path of a folder of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// A file, or the first page of a folder.
    File,
    /// Nothing, and it is no name of a file: a page that the first page shows.
    Page,
    /// Nothing, or something that is not for everybody.
    Nothing,
}

/// The longest name of a file, in bytes. Source: `NAME_MAX` of Linux.
const NAME_BYTES_MAX: usize = 255;

async fn found(folder: &Path, path: &str) -> Found {
    let Ok(path) = percent_decode_str(path).decode_utf8() else { return Found::Nothing };
    let mut file = folder.to_path_buf();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        if name.len() > NAME_BYTES_MAX || matches!(name, "." | "..") || name.contains(['\\', '\0'])
        {
            return Found::Nothing;
        }
        file.push(name);
    }
    // A link may lead anywhere, so what counts is where it ends.
    let (own, real) = (tokio::fs::canonicalize(folder).await, tokio::fs::canonicalize(&file).await);
    match (own, real) {
        (Ok(own), Ok(real)) if real.starts_with(&own) => Found::File,
        (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            let last = path.rsplit('/').next().unwrap_or_default();
            // A dangling link is a name of a file as well.
            let is_link = tokio::fs::symlink_metadata(&file).await.is_ok();
            if is_link || last.contains('.') { Found::Nothing } else { Found::Page }
        }
        (_, Ok(_) | Err(_)) => Found::Nothing,
    }
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
