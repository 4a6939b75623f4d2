//! Builds a router from the table of routes. Every operation gets its handler by name, and the features that all
//! responses share.
//!
//! [`crate::rest::handler`] has the handlers of `/ws/v1` and `/debug`. Other modules have the handlers of
//! `/headroom/v1`, metrics, and probes. Access rights are not checked here: the guard of the router finds each route by
//! its matched path.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, head, options};
use axum::{Extension, Router};
use headroom_api::headroomv1::Code;
use headroom_api::routes::{self, Header, Route};
use headroom_api::wsv1::message;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};

use crate::family::{self, Family};
use crate::listen::RequestId;
use crate::paths::{self, Found};
use crate::rest::{Refusal, Rest, TEXT, body};
use crate::service::Service;

/// Returns the handler of an operation by its name. `None` for operations of other modules.
pub type Handlers = fn(&str) -> Option<MethodRouter<Service>>;

/// Smallest size of a body that is compressed, in bytes. Source: REST API §1.3.
const COMPRESSED_FROM: u64 = 1_400;

/// Maximum size of a body in bytes. This size exceeds the limit of a queue file, so that the error can name that limit.
const BODY_BYTES_MAX: usize = 16 << 20;

/// A router, and the operations without a handler.
#[derive(Debug)]
pub struct Mounted {
    /// Routes with a handler.
    pub router: Router,
    /// Operations without a handler, in the order of the table. Empty in a complete server.
    pub lacking: Vec<&'static str>,
}

/// Returns a router with every route for which one of `modules` has a handler.
pub fn router(service: Service, rest: Arc<Rest>, modules: &[Handlers]) -> Mounted {
    let mut lacking = Vec::new();
    let mut by_path: BTreeMap<&'static str, Vec<(&'static Route, MethodRouter<Service>)>> =
        BTreeMap::new();
    for route in routes::all() {
        match modules.iter().find_map(|module| module(route.operation)) {
            Some(handler) => by_path.entry(route.path).or_default().push((route, handler)),
            None => lacking.push(route.operation),
        }
    }
    let is_shared = rest.settings.is_shared();
    let mut router = Router::new();
    for (path, handlers) in by_path {
        router = router.route(path, at_path(handlers, is_shared));
    }
    let router = router
        .fallback(elsewhere)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(Extension(rest))
        .with_state(service);
    Mounted { router, lacking }
}

/// Returns the router of all methods of one path.
fn at_path(
    handlers: Vec<(&'static Route, MethodRouter<Service>)>,
    is_shared: bool,
) -> MethodRouter<Service> {
    let mut methods: Vec<&str> = handlers.iter().map(|(route, _)| route.method.as_str()).collect();
    methods.push("OPTIONS");
    methods.sort_unstable();
    let allow = HeaderValue::try_from(methods.join(", ")).expect("methods are plain words");
    let is_reference = handlers.iter().all(|(route, _)| is_of_reference(route.path));
    let preflight = is_shared && handlers.iter().all(|(route, _)| has_common_headers(route));
    let mut all = MethodRouter::new();
    for (route, handler) in handlers {
        all = all.merge(with_common(route, handler, is_shared));
    }
    let allowed_methods = allow.clone();
    all = all.merge(options(move |request: Request| {
        let shared = preflight && request.headers().contains_key(REQUEST_METHOD);
        let (status, origin) = (StatusCode::OK, shared.then(|| request.method().clone()));
        std::future::ready(allowed(status, &allowed_methods, origin.as_ref()))
    }));
    if is_reference {
        // A `GET` handler would otherwise also answer `HEAD`.
        let allowed_methods = allow.clone();
        all = all.merge(head(move || std::future::ready(refused_method(&allowed_methods))));
        all = all.fallback(move || std::future::ready(refused_method(&allow)));
    }
    all
}

/// Header of a preflight request with the method that a page wants to use.
const REQUEST_METHOD: HeaderName = header::ACCESS_CONTROL_REQUEST_METHOD;

/// Returns whether clients of `YuniKorn` know this path.
fn is_of_reference(path: &str) -> bool {
    path.starts_with("/ws/") || path.starts_with("/debug/")
}

/// Returns whether responses of a route have the headers of section 1.2 of the REST API.
fn has_common_headers(route: &Route) -> bool {
    let is_moved = route.own_answers.first().is_some_and(|answer| answer.status == 301);
    route.family_headers().contains(&Header::AllowOrigin) && !is_moved
}

/// Returns a handler with the layers before and after it.
fn with_common(
    route: &'static Route,
    handler: MethodRouter<Service>,
    is_shared: bool,
) -> MethodRouter<Service> {
    let mut handler = handler;
    if is_shared && has_common_headers(route) {
        handler = handler.layer(middleware::map_response_with_state(route, share));
    }
    // This stream is never compressed, because each line must arrive at once.
    if route.operation == "streamEvents" {
        return handler;
    }
    let fitting = SizeAbove::new(COMPRESSED_FROM)
        .and(NotForContentType::SSE)
        // Profiles are compressed already.
        .and(NotForContentType::const_new("application/octet-stream"));
    let compress = CompressionLayer::new().quality(CompressionLevel::Fastest);
    handler.layer(compress.compress_when(fitting)).layer(middleware::from_fn(negotiate))
}

/// Allows pages of other origins to read the response.
async fn share(
    axum::extract::State(route): axum::extract::State<&'static Route>,
    mut response: Response,
) -> Response {
    let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap_or(Method::GET);
    add_shared(&mut response, &method);
    response
}

fn add_shared(response: &mut Response, method: &Method) {
    let methods = if *method == Method::POST { "OPTIONS, POST" } else { "GET, OPTIONS" };
    let headers = response.headers_mut();
    let entries = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, methods),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "X-Requested-With,Content-Type,Accept,Origin"),
    ];
    headers.extend(entries.map(|(name, value)| (name, HeaderValue::from_static(value))));
}

/// Negotiates compression as the reference does. Only the word `gzip` counts, and only exactly `q=0` disables it.
/// `Vary` is sent only with a compressed response.
async fn negotiate(mut request: Request, next: Next) -> Response {
    let accepted = request.headers().get_all(header::ACCEPT_ENCODING);
    let takes_gzip = accepted.iter().filter_map(|value| value.to_str().ok()).any(takes_gzip);
    let headers = request.headers_mut();
    headers.remove(header::ACCEPT_ENCODING);
    if takes_gzip {
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // A `Vary` header that the handler set stays.
    let own: Vec<HeaderValue> = headers.get_all(header::VARY).iter().cloned().collect();
    headers.remove(header::VARY);
    let is_ours = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"accept-encoding");
    for value in own.into_iter().filter(|value| !is_ours(value)) {
        headers.append(header::VARY, value);
    }
    if headers.contains_key(header::CONTENT_ENCODING) {
        headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    response
}

/// Returns whether a list of encodings has `gzip` without a weight of exactly `q=0`.
fn takes_gzip(accepted: &str) -> bool {
    accepted.split(',').any(|one| {
        let (word, parameters) = one.split_once(';').unwrap_or((one, ""));
        word.trim().eq_ignore_ascii_case("gzip") && parameters.trim() != "q=0"
    })
}

/// Returns a response with the methods of a path.
fn allowed(status: StatusCode, allow: &HeaderValue, shared_with: Option<&Method>) -> Response {
    let mut response = status.into_response();
    response.headers_mut().insert(header::ALLOW, allow.clone());
    if shared_with.is_some() {
        let posts = allow.as_bytes().ends_with(b"POST");
        add_shared(&mut response, if posts { &Method::POST } else { &Method::GET });
    }
    response
}

fn refused_method(allow: &HeaderValue) -> Response {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, message::NO_SUCH_METHOD);
    response.headers_mut().insert(header::ALLOW, allow.clone());
    response
}

/// Returns a refusal as text, for requests without a handler.
fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = body(TEXT, text);
    *response.status_mut() = status;
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

/// Answers a path that no route has, such as another spelling of an existing path.
async fn elsewhere(method: Method, uri: Uri, id: Option<Extension<RequestId>>) -> Response {
    let nothing = || match Family::of_path(uri.path()) {
        Family::Headroom => {
            let id = id.map(|Extension(RequestId(id))| id).unwrap_or_default();
            let why = format!("the path {} does not exist", uri.path());
            family::Refusal::new(Code::NotFound, why).response(Family::Headroom, &id)
        }
        Family::Reference | Family::Rpc => plain(StatusCode::NOT_FOUND, message::NO_SUCH_PATH),
    };
    match paths::find(uri.path()) {
        Found::Nothing => nothing(),
        Found::Empty(parameter) => empty(parameter).into_response(),
        Found::At(path) => {
            let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
            let permanent = match method {
                Method::GET => StatusCode::MOVED_PERMANENTLY,
                _ => StatusCode::PERMANENT_REDIRECT,
            };
            match HeaderValue::try_from(format!("{path}{query}")) {
                Ok(to) => (permanent, [(header::LOCATION, to)]).into_response(),
                Err(_) => nothing(),
            }
        }
    }
}

/// Returns the rejection of a path in which this parameter is empty. Does not resolve the other parameters, because the
/// caller is not authenticated yet.
fn empty(parameter: &str) -> Refusal {
    match parameter {
        "partition" => Refusal::missing(message::PARTITION_NOT_FOUND),
        "queue" => Refusal::missing(message::QUEUE_NOT_FOUND),
        "node" => Refusal::missing(message::NODE_NOT_FOUND),
        "application" => Refusal::missing(message::APPLICATION_NOT_FOUND),
        "user" => Refusal::bad(message::INVALID_USER_NAME),
        "group" => Refusal::bad(message::INVALID_GROUP_NAME),
        "state" => Refusal::bad(message::APPLICATION_STATES),
        _ => Refusal::bad(message::MISSING_PARAMETERS),
    }
}

#[cfg(test)]
mod tests {
    use super::takes_gzip;

    #[test]
    fn compression_is_negotiated_as_the_reference_does() {
        for (accepted, expected) in [
            ("gzip", true),
            ("GZip", true),
            ("deflate, gzip;q=0.5", true),
            ("gzip;q=0.0", true),
            ("gzip; q=0", false),
            ("gzip;q=0", false),
            ("gzip;q=0, gzip", true),
            ("*", false),
            ("br", false),
            ("", false),
            ("x-gzip", false),
        ] {
            assert_eq!(takes_gzip(accepted), expected, "{accepted:?}");
        }
    }
}
