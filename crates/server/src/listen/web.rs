//! Pages on the same port: the built-in page, or the pages of a separate web UI.

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

/// Serves the files of a folder. Some paths of its pages are not files, and the first page handles these paths. A path
/// in the form of a file name that is not a file is not found.
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

/// Result for a path in a folder of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// A file, or the first page of a folder.
    File,
    /// No file, and not a file name: the first page handles the path.
    Page,
    /// No file, or a file that is not public.
    Nothing,
}

/// Longest name of a file, in bytes. Source: `NAME_MAX` of Linux.
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
    // A link can lead outside the folder, so its target is checked.
    let (own, real) = (tokio::fs::canonicalize(folder).await, tokio::fs::canonicalize(&file).await);
    match (own, real) {
        (Ok(own), Ok(real)) if real.starts_with(&own) => Found::File,
        (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            let last = path.rsplit('/').next().unwrap_or_default();
            // A dangling link counts as a file name.
            let is_link = tokio::fs::symlink_metadata(&file).await.is_ok();
            if is_link || last.contains('.') { Found::Nothing } else { Found::Page }
        }
        (_, Ok(_) | Err(_)) => Found::Nothing,
    }
}

/// Uses `pages` for requests that `theirs` accepts, and `router` for all other requests.
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

/// Returns whether a request is for the built-in page. The page is public; its data needs rights.
pub(super) fn is_page(request: &Request) -> bool {
    page::has(request.uri().path())
}

/// Returns whether a request is neither in the table of routes nor gRPC.
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
