//! Shared parts of the answers of `/headroom/v1`: entity tags, timing, and the format of refusals.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use headroom_api::headroomv1::{Code, Problem};
use headroom_core::RefusalCode;
use headroom_engine::Unavailable;
use serde::Serialize;

use super::request::NativeRequest;
use super::visible;

/// Header with the time that the server needed.
const SERVER_TIMING: &str = "server-timing";

/// A refusal of a request.
#[derive(Debug)]
pub(crate) struct Refused {
    code: Code,
    detail: String,
    request_id: String,
    /// Code of the broken rule, if the rule has a code.
    rule: Option<RefusalCode>,
    /// Entity tag of the existing object.
    tag: Option<String>,
}

impl Refused {
    pub(crate) fn new(asked: &NativeRequest, code: Code, detail: impl Into<String>) -> Self {
        Self::before(asked.request_id.clone(), code, detail)
    }

    pub(super) fn before(request_id: String, code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), request_id, rule: None, tag: None }
    }

    /// Returns the code of the refusal.
    pub(super) const fn code(&self) -> Code {
        self.code
    }

    /// Adds the code of the rule that was broken.
    pub(super) fn by_rule(self, rule: RefusalCode) -> Self {
        Self { rule: Some(rule), ..self }
    }

    /// Adds the entity tag of the existing object. Without an object, changes nothing.
    pub(super) fn with_tag(self, tag: Option<String>) -> Self {
        Self { tag, ..self }
    }

    /// Returns the refusal if the writer did not answer.
    pub(super) fn unavailable(asked: &NativeRequest, why: &Unavailable) -> Self {
        Self::new(asked, Code::ReadOnly, why.to_string())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response<Body> {
        debug_assert!(
            self.code != Code::Conflict || self.rule.is_some(),
            "the file conflicts with an existing object: {}",
            self.detail
        );
        let mut problem = Problem::new(self.code, self.detail, self.request_id);
        if let Some(rule) = self.rule {
            problem = problem.by_rule(rule.as_str());
        }
        let body = serde_json::to_vec(&problem).expect("a problem is numbers and texts");
        let status = StatusCode::from_u16(self.code.status()).expect("codes have statuses");
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let media = HeaderValue::from_static(Problem::MEDIA_TYPE);
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        if let Some(tag) = self.tag {
            response.headers_mut().insert(header::ETAG, value(tag));
        }
        match self.code {
            Code::Unauthenticated => {
                let challenge = HeaderValue::from_static("Bearer");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            Code::TooManyRequests | Code::Recovering | Code::ReadOnly => {
                let seconds = HeaderValue::from_static("5");
                response.headers_mut().insert(header::RETRY_AFTER, seconds);
            }
            _ => {}
        }
        response
    }
}

/// Returns a body as JSON, or 304 if the client already has this body.
///
/// The tag is computed from the whole body, because ages and rates change without a record.
pub(super) fn json(asked: &NativeRequest, body: &impl Serialize) -> Response<Body> {
    let bytes = serde_json::to_vec(body).expect("bodies are maps of texts");
    let tag = tag_of_content((visible::rights(&asked.caller), &bytes));
    sent(asked, StatusCode::OK, tag, bytes.into())
}

/// Returns a document that is the same for all callers, or 304 if the client already has this document.
pub(super) fn document(asked: &NativeRequest, tag: String, bytes: Bytes) -> Response<Body> {
    sent(asked, StatusCode::OK, tag, bytes)
}

/// Returns the entity tag of a body that has no version of its own.
pub(super) fn tag_of_content(content: impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

/// Returns the entity tag of an object with its own version.
pub(super) fn tag_of(version: u64) -> String {
    format!("\"{version}\"")
}

/// Returns a body as JSON with the tag of its version. For a read, returns 304 if the client already has this version.
pub(super) fn versioned(
    asked: &NativeRequest,
    status: StatusCode,
    version: u64,
    body: &impl Serialize,
) -> Response<Body> {
    let bytes = serde_json::to_vec(body).expect("bodies are maps of texts");
    sent(asked, status, tag_of(version), bytes.into())
}

fn sent(asked: &NativeRequest, status: StatusCode, tag: String, bytes: Bytes) -> Response<Body> {
    let known = asked.reads && asked.has(&tag);
    let mut response = Response::new(if known { Body::empty() } else { Body::from(bytes) });
    let headers = response.headers_mut();
    if !known {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    // Other callers might see other content at the same address.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(header::ETAG, value(tag));
    let took = asked.began.elapsed().as_secs_f64() * 1_000.0;
    headers.insert(SERVER_TIMING, value(format!("total;dur={took:.3}")));
    *response.status_mut() = if known { StatusCode::NOT_MODIFIED } else { status };
    response
}

fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("it is made of plain letters")
}
