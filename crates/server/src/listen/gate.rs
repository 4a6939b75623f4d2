//! The gate before all routes: host names, limits, authentication, rights, and the audit log.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use headroom_api::headroomv1::Code;
use headroom_api::routes::{self, Access, Route, Tag};
use headroom_api::wsv1::message;
use headroom_config::process::Process;
use headroom_engine::{Handle, Unavailable};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Instrument as _;

use super::acceptor::Peer;
use super::body::{self, Taken};
use super::byte_budget::ByteBudget;
use super::cors;
use super::headers;
use super::host::{self, Hosts};
use super::message::messages;
use super::outgoing::{self, Endless, Outgoing, Unsent};
use super::rate::Rates;
use super::traced::{self, Begun, Parents};
use crate::audit::Change;
use crate::auth::{self, Authenticator};
use crate::caller::{Caller, Proof};
use crate::family::{Family, REQUEST_ID, Refusal};

/// The gate before all routes.
#[derive(Debug)]
pub struct Gate {
    /// `None` if every caller is trusted.
    auth: Option<Authenticator>,
    hosts: Hosts,
    /// Whether pages of other sites can read the answers that the reference allows them to read.
    cors: bool,
    body_bytes_max: usize,
    time_max: Duration,
    requests_max: usize,
    requests: Arc<Semaphore>,
    /// Budget of bodies that are being read and answered.
    bodies: ByteBudget,
    /// Budget of incomplete gRPC messages.
    messages: ByteBudget,
    /// Budget of answers that clients have not read.
    answers: ByteBudget,
    engine: Handle,
    /// Rates of requests of tenants. `None` without a limit.
    rates: Option<Rates>,
    ids: Ids,
    /// Continues the traces of callers, if tracing is on.
    parents: Option<Parents>,
}

/// Id of a request in responses, logs, and the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

/// A generator of IDs that no other process generates.
#[derive(Debug)]
struct Ids {
    process: String,
    next: AtomicU64,
}

/// Interface to which a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    Rest,
    Rpc,
}

/// The parts of a request that the gate uses.
struct Asked {
    surface: Surface,
    method: Method,
    path: String,
    /// Whether a route has the path.
    is_matched: bool,
    route: Option<&'static Route>,
    /// Methods of the path in the table, if the request has another method.
    others: Vec<&'static str>,
    family: Family,
    id: RequestId,
}

/// Number of concurrent bodies of the largest size. Small bodies are not counted.
const LARGE_BODIES_MAX: usize = 2;
/// Budget of incomplete messages in bytes: two of the largest.
const MESSAGES_BYTES_MAX: usize = 32 << 20;

/// The health of a server is public, as `/livez` is.
const OPEN_RPC: &str = "/grpc.health.v1.Health/";

/// Services whose calls change nothing. Their calls are not in the audit log, and are answered even after the journal
/// failed.
const READ_RPCS: [&str; 3] = [
    OPEN_RPC,
    "/grpc.reflection.v1.ServerReflection/",
    "/grpc.reflection.v1alpha.ServerReflection/",
];

impl Gate {
    /// Returns the gate for the process settings. `instance` is the id of the process.
    pub fn new(
        process: &Process,
        auth: Option<Authenticator>,
        engine: Handle,
        instance: &str,
    ) -> Self {
        let limits = &process.limits;
        Self {
            cors: auth.is_some() || process.cors_any,
            auth,
            hosts: Hosts::new(&process.hosts, &process.listen),
            body_bytes_max: limits.request_body,
            time_max: limits.request_time,
            requests_max: limits.requests,
            requests: Arc::new(Semaphore::new(limits.requests.min(Semaphore::MAX_PERMITS))),
            bodies: ByteBudget::new(limits.request_body.saturating_mul(LARGE_BODIES_MAX)),
            messages: ByteBudget::new(MESSAGES_BYTES_MAX),
            answers: ByteBudget::new(outgoing::BYTES_MAX),
            engine,
            rates: limits.tenants.map(Rates::new),
            ids: Ids { process: instance.chars().take(8).collect(), next: AtomicU64::new(1) },
            parents: None,
        }
    }

    /// Continues the traces of callers.
    #[must_use]
    pub fn going_on_with(self, parents: Option<Parents>) -> Self {
        Self { parents, ..self }
    }

    /// Returns the authenticator, if authentication is on.
    pub fn authenticator(&self) -> Option<&Authenticator> {
        self.auth.as_ref()
    }

    /// Wraps the routes of REST.
    pub fn guard(self: &Arc<Self>, router: Router) -> Router {
        self.stand_before(router, Surface::Rest)
    }

    /// Wraps the services of gRPC.
    pub fn guard_rpc(self: &Arc<Self>, router: Router) -> Router {
        self.stand_before(router, Surface::Rpc)
    }

    fn stand_before(self: &Arc<Self>, router: Router, surface: Surface) -> Router {
        // The body is bounded here, so that every handler has the same limit and answer.
        let router = router.layer(DefaultBodyLimit::disable());
        router.layer(from_fn_with_state((Arc::clone(self), surface), admit))
    }

    /// Checks a request by its headers. Returns its caller.
    async fn judge(&self, asked: &Asked, request: &Parts) -> Result<Option<Caller>, Refusal> {
        let (head, uri) = (&request.headers, &request.uri);
        let host = host::asked(uri, head);
        if self.auth.is_none() {
            self.hosts.check(host)?;
        }
        let Some(access) = asked.access() else { return Ok(self.anybody()) };
        let caller = self.identify(access, request).await?;
        match asked.surface {
            Surface::Rest => auth::may(access, caller.as_ref())?,
            Surface::Rpc if access == Access::Open => {}
            Surface::Rpc => auth::may_schedule(caller.as_ref())?,
        }
        if let Some(rates) = &self.rates {
            rates.take(&self.engine, caller.as_ref(), (asked.route, &asked.path))?;
        }
        if asked.surface == Surface::Rest {
            headers::are_readable(head)?;
        }
        if asked.surface == Surface::Rest && asked.is_change() {
            let proof = caller.as_ref().map_or(Proof::Nothing, |caller| caller.proof);
            auth::not_from_elsewhere(proof, head, host)?;
        }
        if asked.is_change() {
            self.takes_commands()?;
        }
        if asked.surface == Surface::Rest {
            self.fits(request)?;
        }
        Ok(caller)
    }

    fn anybody(&self) -> Option<Caller> {
        self.auth.is_none().then(Caller::open)
    }

    async fn identify(&self, access: Access, request: &Parts) -> Result<Option<Caller>, Refusal> {
        match &self.auth {
            // A probe needs no credentials, so invalid ones are ignored.
            Some(auth) if access != Access::Open => {
                auth.identify(request.extensions.get::<Peer>(), &request.headers).await
            }
            _ => Ok(self.anybody()),
        }
    }

    fn takes_commands(&self) -> Result<(), Refusal> {
        if let Some(reason) = self.engine.stopped() {
            return Err(Unavailable::Stopped { reason: reason.to_owned() }.into());
        }
        match self.engine.room() {
            0 => Err(Unavailable::Busy { waiting: self.engine.commands_max() }.into()),
            _ => Ok(()),
        }
    }

    /// Checks the length of a body, if a header contains the length.
    fn fits(&self, request: &Parts) -> Result<(), Refusal> {
        let length = request.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        match length.and_then(|text| text.parse::<u64>().ok()) {
            Some(bytes)
                if usize::try_from(bytes).is_ok_and(|bytes| bytes <= self.body_bytes_max) =>
            {
                Ok(())
            }
            Some(bytes) => Err(self.too_large(&format!("the body has {bytes} bytes"))),
            None => Ok(()),
        }
    }

    fn too_large(&self, found: &str) -> Refusal {
        let most = self.body_bytes_max;
        Refusal::new(
            Code::TooLarge,
            format!("{found}, but at most {most} bytes are allowed (`limits.requestBody`)"),
        )
    }

    /// Returns a permit for another request, if the limit allows one.
    fn admit_one(&self, asked: &Asked) -> Result<Option<OwnedSemaphorePermit>, Refusal> {
        // A probe is answered even under load. gRPC streams last long, and are not counted.
        if asked.surface == Surface::Rpc || asked.access() == Some(Access::Open) {
            return Ok(None);
        }
        Arc::clone(&self.requests).try_acquire_owned().map(Some).map_err(|_| {
            let why = format!(
                "the server is already processing {} requests, which is the limit (`limits.requests`). Try again later.",
                self.requests_max
            );
            Refusal::new(Code::TooManyRequests, why).retry_after(1)
        })
    }

    /// Lets a request be answered within the time limit.
    async fn run(&self, asked: &Asked, request: Request, next: Next) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        let (body, taken) = match asked.surface {
            Surface::Rest => {
                let (body, taken) = body::bounded(body, self.body_bytes_max, &self.bodies);
                (body, Some(taken))
            }
            Surface::Rpc => (messages(body, &self.messages, self.time_max), None),
        };
        let request = Request::from_parts(parts, body);
        let answer = AssertUnwindSafe(next.run(request)).catch_unwind();
        // Streams have no time limit, and profiles have their own.
        let is_bounded = asked.surface == Surface::Rest
            && asked.route.is_none_or(|route| route.tag != Tag::Debug);
        let answer = if is_bounded {
            match tokio::time::timeout(self.time_max, answer).await {
                Ok(answer) => answer,
                Err(_) => return Err(self.too_late(taken.is_none_or(|taken| taken.has_ended()))),
            }
        } else {
            answer.await
        };
        let response = answer.map_err(|_| {
            tracing::error!(
                request_id = &*asked.id.0,
                path = asked.path,
                "a request panicked"
            );
            Refusal::new(
                Code::Internal,
                "internal error of Headroom. For details, search the log of the server for the ID of the request.",
            )
        })?;
        if let Some(no_room) = taken.as_ref().and_then(Taken::crowded) {
            return Err(Refusal::new(Code::TooManyRequests, no_room.to_string()).retry_after(1));
        }
        // The framework answers a body that is too long with plain text. The answers of handlers are JSON.
        let media = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_ours = media.is_some_and(|media| media.contains("json"));
        if asked.surface == Surface::Rest
            && response.status() == StatusCode::PAYLOAD_TOO_LARGE
            && !is_ours
        {
            return Err(self.too_large("the body continues past the limit"));
        }
        Ok(response)
    }

    /// Counts an answer until its last byte is read.
    async fn counted(
        &self,
        response: Response,
        permit: Option<OwnedSemaphorePermit>,
        unsent: &Unsent,
    ) -> Result<Response, Refusal> {
        let (head, body) = response.into_parts();
        let permit = permit.filter(|_| head.extensions.get::<Endless>().is_none());
        let body = Outgoing::wrap(body, permit, unsent, &self.answers).await;
        let body = body.map_err(|no_room| {
            Refusal::new(Code::TooManyRequests, no_room.of_answers()).retry_after(5)
        })?;
        Ok(Response::from_parts(head, body))
    }

    fn too_late(&self, is_all_there: bool) -> Refusal {
        let seconds = self.time_max.as_secs_f32();
        if is_all_there {
            let why = format!(
                "the server did not respond within {seconds} s (`limits.requestTime`). Try again later."
            );
            Refusal::new(Code::TooManyRequests, why).retry_after(1)
        } else {
            let why = format!(
                "the body did not arrive within {seconds} s (`limits.requestTime`). Send the request again."
            );
            Refusal::new(Code::TooSlow, why)
        }
    }
}

/// Checks a request, forwards it, and logs changes in the audit log.
async fn admit(
    State((gate, surface)): State<(Arc<Gate>, Surface)>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let asked = Asked::of(surface, &parts, gate.ids.next());
    let span = traced::span(&asked.begun(), &parts.headers, gate.parents.as_ref());
    let answered = answer(&gate, &asked, parts, body, next).instrument(span.clone());
    let response = answered.await;
    traced::answered(&span, response.status());
    response
}

async fn answer(gate: &Gate, asked: &Asked, mut parts: Parts, body: Body, next: Next) -> Response {
    let from = parts.extensions.get::<Peer>().map(|peer| peer.address.ip());
    let unsent = parts.extensions.get::<Peer>().map(|peer| peer.unsent.clone());
    let mut identity = String::new();
    let mut permit = None;
    let outcome = async {
        permit = gate.admit_one(asked)?;
        let caller = gate.judge(asked, &parts).await?;
        if let Some(wrong) = asked.wrong_method() {
            return Ok(wrong);
        }
        if let Some(caller) = caller {
            identity.clone_from(&caller.identity);
            parts.extensions.insert(caller);
        }
        parts.extensions.insert(asked.id.clone());
        gate.run(asked, Request::from_parts(parts, body), next).await
    };
    let outcome: Result<Response, Refusal> = outcome.await;
    let outcome = match outcome {
        Ok(answer) => gate.counted(answer, permit.take(), &unsent.unwrap_or_default()).await,
        refused => refused,
    };
    let refused = outcome.as_ref().err().map(|refusal| refusal.detail.clone());
    let mut response =
        outcome.unwrap_or_else(|refusal| refusal.response(asked.family, &asked.id.0));
    if asked.is_change() {
        let (status, refused) = (response.status(), refused.as_deref());
        let (method, path, request_id) = (&asked.method, &*asked.path, &*asked.id.0);
        Change { identity: &identity, from, method, path, request_id, status, refused }.log();
    }
    if asked.surface == Surface::Rest {
        cors::set(response.headers_mut(), &asked.method, asked.route, gate.cors);
    }
    if let Ok(id) = HeaderValue::from_str(&asked.id.0) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    tracing::debug!(
        request_id = &*asked.id.0,
        method = %asked.method,
        path = asked.path,
        status = response.status().as_u16(),
        "request"
    );
    response
}

impl Asked {
    fn of(surface: Surface, request: &Parts, id: RequestId) -> Self {
        let matched = request.extensions.get::<MatchedPath>();
        let (method, path) = (request.method.clone(), request.uri.path());
        let known = matched.filter(|_| surface == Surface::Rest).map(MatchedPath::as_str);
        let of_path = routes::all().filter(|route| known == Some(route.path));
        let of_path: Vec<_> = of_path.collect();
        let route = of_path.iter().find(|route| method == route.method.as_str()).copied();
        let others = of_path.iter().filter(|_| route.is_none());
        let others = others.map(|route| route.method.as_str()).collect();
        let family = match surface {
            Surface::Rest => Family::of_path(path),
            Surface::Rpc => Family::Rpc,
        };
        let path = path.to_owned();
        Self { surface, is_matched: matched.is_some(), route, others, family, id, method, path }
    }

    /// Returns the fields of the request for its trace.
    fn begun(&self) -> Begun<'_> {
        Begun {
            is_rpc: self.surface == Surface::Rpc,
            method: &self.method,
            path: &self.path,
            route: self.route.map(|route| route.path),
            id: &self.id.0,
        }
    }

    /// Returns the required access. `None` if no route matches.
    fn access(&self) -> Option<Access> {
        match (self.surface, self.route) {
            (Surface::Rpc, _) if self.path.starts_with(OPEN_RPC) => Some(Access::Open),
            (Surface::Rpc, _) => Some(Access::Identity),
            (Surface::Rest, Some(route)) => Some(route.access),
            // Routes that are not in the table need the role that reads or changes everything.
            (Surface::Rest, None) if self.is_matched && self.others.is_empty() => {
                Some(if self.method == Method::GET { Access::Viewer } else { Access::Admin })
            }
            (Surface::Rest, None) => None,
        }
    }

    fn is_change(&self) -> bool {
        match self.surface {
            Surface::Rest => self.route.is_some_and(auth::is_change),
            Surface::Rpc => !READ_RPCS.iter().any(|prefix| self.path.starts_with(prefix)),
        }
    }

    /// Returns the refusal of a method that a path in the table does not have. `OPTIONS` is left to the route.
    fn wrong_method(&self) -> Option<Response> {
        if self.others.is_empty() || self.method == Method::OPTIONS {
            return None;
        }
        let mut allowed = self.others.clone();
        allowed.push(Method::OPTIONS.as_str());
        allowed.sort_unstable();
        let allowed = allowed.join(", ");
        let mut response = match self.family {
            Family::Headroom => {
                let why = format!("{} accepts {allowed}, not {}", self.path, self.method);
                Refusal::new(Code::MethodNotAllowed, why).response(self.family, &self.id.0)
            }
            // In the reference, the router sends this answer, not a handler.
            Family::Reference | Family::Rpc => {
                let plain = [
                    (CONTENT_TYPE, "text/plain; charset=utf-8"),
                    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
                ];
                (StatusCode::METHOD_NOT_ALLOWED, plain, message::NO_SUCH_METHOD).into_response()
            }
        };
        if let Ok(allowed) = HeaderValue::from_str(&allowed) {
            response.headers_mut().insert(ALLOW, allowed);
        }
        Some(response)
    }
}

impl Ids {
    fn next(&self) -> RequestId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        RequestId(format!("{}-{number:x}", self.process).into())
    }
}
