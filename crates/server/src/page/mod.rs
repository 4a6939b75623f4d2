//! `/`: a page with the identity of the server, the state of the cluster, and the waiting asks with reasons.
//!
//! The page consists of static files, which use the public routes. The headers explicitly list everything that the
//! browser allows.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use axum::routing::get;

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

/// Headers that restrict the page in the browser. Source: web-ui.md, UI-84.
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

/// Returns a router for the files of the page.
pub fn router() -> Router {
    FILES.into_iter().fold(Router::new(), |router, file| {
        let answer = move |headers: HeaderMap| std::future::ready(answer(file, &headers));
        router.route(file.path, get(answer))
    })
}

/// Returns whether this is the path of a file of the page.
pub fn has(path: &str) -> bool {
    FILES.iter().any(|file| file.path == path)
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
