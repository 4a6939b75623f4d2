//! `/`: a page that shows what this is, what there is, what waits and why; or a web UI that was
//! built elsewhere, in its place.
//!
//! The page is plain files, which ask the same routes as everybody else, and may do nothing that
//! the browser is not told to allow.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tower::ServiceExt;
use tower_http::services::{ServeDir, ServeFile};

use crate::service::Service;

/// A file of the page.
#[derive(Clone, Copy)]
struct File {
    path: &'static str,
    media: &'static str,
    content: &'static str,
}

const FILES: [File; 4] = [
    File { path: "/", media: "text/html; charset=utf-8", content: include_str!("index.html") },
    File { path: "/page.css", media: "text/css; charset=utf-8", content: include_str!("page.css") },
    File {
        path: "/page.js",
        media: "text/javascript; charset=utf-8",
        content: include_str!("page.js"),
    },
    File { path: "/page.svg", media: "image/svg+xml", content: include_str!("page.svg") },
];

/// What the browser is to forbid the page. Source: web-ui.md, UI-84.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// Whole families of paths that are the server's own, whatever a web UI has.
const OURS: [&str; 6] = ["/ws/", "/debug/", "/headroom/", "/metrics", "/livez", "/readyz"];

/// Our page at `/`; or, with a folder, the web UI in it, whose `index.html` also answers for the
/// addresses that it makes up itself.
///
/// With a folder, every path that no route knows comes here. Whoever has something to say about
/// unknown paths below `/ws/` or `/headroom/` routes `/ws/{*path}` and the like himself; here they
/// are not found.
pub fn router(web_dir: Option<PathBuf>) -> Router<Service> {
    match web_dir {
        None => FILES.into_iter().fold(Router::new(), |router, file| {
            router.route(file.path, get(move |headers| async move { answer(file, &headers) }))
        }),
        Some(folder) => {
            let folder: Arc<Path> = folder.into();
            let site = move |request| site(Arc::clone(&folder), request);
            Router::new().route("/", get(site.clone())).route("/{*path}", get(site))
        }
    }
}

fn answer(file: File, headers: &HeaderMap) -> Response<Body> {
    let mut hasher = DefaultHasher::new();
    file.content.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == *tag);
    let mut response = Response::new(Body::from(if known { "" } else { file.content }));
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let own = [
        (header::CONTENT_TYPE, file.media),
        (header::CACHE_CONTROL, "no-cache"),
        (header::ETAG, &tag),
    ];
    for (name, value) in own.into_iter().chain(HEADERS) {
        let value = HeaderValue::try_from(value).expect("it is made of plain letters");
        response.headers_mut().insert(name, value);
    }
    response
}

/// A file of the folder, or its `index.html` for what looks like no file.
async fn site(folder: Arc<Path>, request: Request) -> Response<Body> {
    let path = request.uri().path().to_owned();
    if OURS.iter().any(|ours| path.starts_with(ours)) {
        return not_found();
    }
    let looks_like_file = path.rsplit('/').next().is_some_and(|last| last.contains('.'));
    let reads = request.method() == Method::GET;
    let again = Request::get("/").body(Body::empty()).expect("it is a plain request");
    let found = ServeDir::new(&folder).oneshot(request).await.into_response();
    let mut response = if found.status() == StatusCode::NOT_FOUND && reads && !looks_like_file {
        ServeFile::new(folder.join("index.html")).oneshot(again).await.into_response()
    } else {
        found
    };
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

fn not_found() -> Response<Body> {
    (StatusCode::NOT_FOUND, "404 page not found\n").into_response()
}
