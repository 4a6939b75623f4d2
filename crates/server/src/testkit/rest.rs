//! Arbitrary bytes as REST requests, through the gate and all routes.

use std::sync::OnceLock;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Builder;
use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use bytes::Bytes as Chunk;
use futures_util::stream;
use headroom_api::routes::{self, Route};
use tokio::runtime::Runtime;

use super::bytes::Bytes;
use super::call::{Length, call};
use super::judge::Expected;
use super::panics::watched;
use super::world::World;
use crate::auth::NO_FOREIGN_PAGE;
use crate::listen::{Peer, Unsent};

/// Servers that last as long as the process. Requests change only their tenants with quotas, and, with `force`, their
/// queue file.
struct Worlds {
    runtime: Runtime,
    /// A server that trusts every caller.
    open: World,
    /// A server on which all callers have to authenticate, with a small limit of bodies.
    closed: World,
}

/// Settings of the server with a small limit of bodies. The file that they name is not read.
const CLOSED: &str = "
auth: {tokens: tokens}
limits: {requestBody: 1KiB}
";

fn worlds() -> &'static Worlds {
    static WORLDS: OnceLock<Worlds> = OnceLock::new();
    WORLDS.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("there are threads");
        let (open, closed) = runtime.block_on(async {
            (World::with_settings("").await, World::with_settings(CLOSED).await)
        });
        Worlds { runtime, open, closed }
    })
}

/// Methods that the bytes select.
pub const METHODS: [&str; 8] = ["GET", "POST", "PUT", "OPTIONS", "HEAD", "DELETE", "PATCH", "X"];

/// Headers that influence the result. The values of the last ones are part of the bytes.
const HEADERS: [(HeaderName, Option<&str>); 9] = [
    (header::ACCEPT_ENCODING, Some("gzip")),
    (header::ACCEPT, Some("application/json")),
    (NO_FOREIGN_PAGE, Some("1")),
    (header::ACCESS_CONTROL_REQUEST_METHOD, Some("GET")),
    (header::ORIGIN, None),
    (header::IF_NONE_MATCH, None),
    (HeaderName::from_static("last-event-id"), None),
    (header::HOST, None),
    (header::IF_MATCH, None),
];

/// Returns the server of a request, and its token: the open server, or the closed one with a token or without.
fn world(choice: u8) -> (&'static World, Option<&'static str>) {
    let Worlds { open, closed, .. } = worlds();
    match usize::from(choice).checked_sub(1) {
        None => (open, None),
        Some(role) => {
            (closed, closed.tokens.get(role % (closed.tokens.len() + 1)).map(|one| &**one))
        }
    }
}

/// Begins a request with the headers that the next two bytes select, the lower byte first.
fn begun(bytes: &mut Bytes<'_>, token: Option<&str>) -> Builder {
    let chosen = u16::from_le_bytes([bytes.byte(), bytes.byte()]);
    let mut request = Request::builder();
    let mut has_host = false;
    for (place, (name, value)) in HEADERS.into_iter().enumerate() {
        if chosen >> place & 1 == 0 {
            continue;
        }
        let value = match value {
            Some(value) => Ok(HeaderValue::from_static(value)),
            None => HeaderValue::from_bytes(bytes.until(0)),
        };
        if let Ok(value) = value {
            has_host |= name == header::HOST;
            request = request.header(name, value);
        }
    }
    if !has_host {
        request = request.header(header::HOST, "localhost");
    }
    match token {
        Some(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
        None => request,
    }
}

/// Sends a request, and checks the response.
fn exchange(world: &World, request: Request) -> Option<u16> {
    let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
    let asked = format!("{method} {}", request.uri());
    let expected = Expected::of(&method, &path);
    let answered = call(&world.router, request, expected.length());
    let answered = worlds().runtime.block_on(answered)?;
    expected.judge(&asked, &method, &answered);
    Some(answered.status.as_u16())
}

/// Sends arbitrary bytes as method, path, query, and headers: `who, method, headers, [value 0]…, target`. A target
/// that does not begin with `/` begins with the number of a route in the table, followed by values of its parameters,
/// each up to a 0.
///
/// # Panics
/// If the server panics or does not answer, or if the table of routes does not document the answer.
pub fn rest_path(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let (world, token) = world(bytes.byte());
    let method = bytes.pick(&METHODS).copied().unwrap_or_default();
    let request = begun(&mut bytes, token);
    let target = match bytes.rest().first() {
        Some(b'/') | None => bytes.rest().to_vec(),
        Some(_) => filled(&mut bytes),
    };
    // An invalid target is refused before it reaches the router.
    let Ok(uri) = Uri::from_maybe_shared(target) else { return };
    if uri.path().is_empty() {
        return;
    }
    let peer =
        Peer { address: ([127, 0, 0, 1], 1).into(), certificate: None, unsent: Unsent::default() };
    let request = request.method(method).uri(uri).extension(peer).body(Body::empty());
    let Ok(request) = request else { return };
    watched(|| exchange(world, request));
}

/// Returns the path of a route with parameters from the bytes, followed by the remaining bytes.
fn filled(bytes: &mut Bytes<'_>) -> Vec<u8> {
    let routes: Vec<&Route> = routes::all().collect();
    let Some(route) = bytes.pick(&routes) else { return Vec::new() };
    let mut target = Vec::new();
    for part in route.path.split('/').skip(1) {
        target.push(b'/');
        match part.strip_prefix('{') {
            Some(_) => target.extend_from_slice(bytes.until(0)),
            None => target.extend_from_slice(part.as_bytes()),
        }
    }
    target.extend_from_slice(bytes.rest());
    target
}

/// Media types that a client might send.
const MEDIA: [&str; 6] = [
    "",
    "application/json",
    "application/json; charset=utf-8",
    "application/x-yaml",
    "application/json; charset=utf-16",
    "multipart/form-data; boundary=x",
];

/// Sends arbitrary bytes as the body of a route that has one: `route, who, media, how, piece, headers, [value 0]…,
/// body`. `how` sets whether the length is declared, whether the body is declared as compressed, and whether it
/// breaks off. `piece` is the number of bytes that arrive at once.
///
/// # Panics
/// The same as [`rest_path`]. Also if the server does not have in force what it reported as accepted.
pub fn rest_body(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let takers: Vec<&Route> = routes::all().filter(|route| route.request.is_some()).collect();
    let route = *bytes.pick(&takers).expect("there are routes that take a body");
    let (world, token) = world(bytes.byte());
    let media = bytes.pick(&MEDIA).copied().unwrap_or_default();
    let (how, piece) = (bytes.byte(), usize::from(bytes.byte()) + 1);
    let mut request = begun(&mut bytes, token);
    let content = bytes.rest().to_vec();
    if !media.is_empty() {
        request = request.header(header::CONTENT_TYPE, media);
    }
    if how & 1 != 0 {
        request = request.header(header::CONTENT_LENGTH, content.len());
    }
    if how & 2 != 0 {
        request = request.header(header::CONTENT_ENCODING, "gzip");
    }
    let breaks_off = (how & 4 != 0).then(|| Err(std::io::ErrorKind::ConnectionReset.into()));
    let pieces: Vec<_> = content.chunks(piece).map(Chunk::copy_from_slice).map(Ok).collect();
    let pieces: Vec<std::io::Result<Chunk>> = pieces.into_iter().chain(breaks_off).collect();
    let peer =
        Peer { address: ([127, 0, 0, 1], 1).into(), certificate: None, unsent: Unsent::default() };
    let named = [("{partition}", "default"), ("{queue}", "root.fair"), ("{tenant}", "ours")];
    let path =
        named.into_iter().fold(route.path.to_owned(), |path, (from, to)| path.replace(from, to));
    let request = request.method(route.method.as_str()).uri(path).extension(peer);
    let request = request.body(Body::from_stream(stream::iter(pieces)));
    let request = request.expect("a route of the table can be asked");
    watched(|| {
        if how & 4 != 0 {
            // A disconnected client does not read the answer, but there must be one.
            let answered = call(&world.router, request, Length::Whole);
            assert!(worlds().runtime.block_on(answered).is_some());
        } else if exchange(world, request) == Some(200) && route.operation == "setLogLevel" {
            holds_levels(world, token, &content);
        }
    });
}

/// Checks that the accepted log levels are those in force.
fn holds_levels(world: &World, token: Option<&str>, content: &[u8]) {
    let mut request = Request::builder().method(Method::GET).uri("/headroom/v1/log-level");
    request = request.header(header::HOST, "localhost");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(Body::empty()).expect("it is a good request");
    let answered = call(&world.router, request, Length::Whole);
    let answered = worlds().runtime.block_on(answered).expect("it is waited for");
    let read = |bytes: &[u8]| -> headroom_api::headroomv1::LogLevel {
        serde_json::from_slice(bytes).expect("what was taken can be read")
    };
    assert_eq!(read(&answered.body), read(content), "what was taken is in force");
}
