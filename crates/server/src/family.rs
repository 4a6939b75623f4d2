//! Formats of refusals: each family of routes has its own.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use headroom_api::headroomv1::{Code, Problem};
use headroom_api::wsv1::ErrorBody;
use headroom_core::RefusalCode;
use headroom_engine::Unavailable;

/// Routes whose refusals have the same format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `/ws/v1`, `/debug`, and related paths: the format of the reference.
    Reference,
    /// `/headroom/v1`: problems (RFC 9457).
    Headroom,
    /// gRPC: a status in the headers of the response.
    Rpc,
}

impl Family {
    /// Returns the family of a REST path.
    pub fn of_path(path: &str) -> Self {
        if path.starts_with("/headroom/v1/") { Self::Headroom } else { Self::Reference }
    }
}

/// A refusal that is made before the target of the request is determined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Kind of the refusal.
    pub code: Code,
    /// The rule, with both sides, and an action.
    pub detail: String,
    /// Seconds to wait before a retry.
    pub retry_after: Option<u32>,
    /// Code of the broken rule, if the rule has a code.
    pub rule: Option<RefusalCode>,
}

impl Refusal {
    /// Returns a refusal of this kind.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: None, rule: None }
    }

    /// Adds the number of seconds after which a retry might succeed.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Adds the code of the rule that was broken.
    #[must_use]
    pub fn by_rule(self, rule: RefusalCode) -> Self {
        Self { rule: Some(rule), ..self }
    }

    /// Returns the response in the format of a family.
    pub fn response(&self, family: Family, request_id: &str) -> Response {
        let Self { code, detail, retry_after, rule } = self;
        let mut response = match family {
            Family::Rpc => rpc(*code, detail),
            Family::Headroom => {
                let problem = Problem::new(*code, detail.as_str(), request_id);
                let problem =
                    rule.iter().fold(problem, |problem, rule| problem.by_rule(rule.as_str()));
                json(code.status(), Problem::MEDIA_TYPE, &problem)
            }
            Family::Reference => {
                let body = ErrorBody::new(code.status(), detail.as_str());
                json(code.status(), "application/json; charset=UTF-8", &body)
            }
        };
        let headers = response.headers_mut();
        if *code == Code::Unauthenticated && family != Family::Rpc {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(*seconds));
        }
        response
    }
}

impl From<Unavailable> for Refusal {
    fn from(unavailable: Unavailable) -> Self {
        let detail = unavailable.to_string();
        match unavailable {
            Unavailable::Busy { .. } => Self::new(Code::TooManyRequests, detail).retry_after(1),
            // An operator needs some seconds to restart it.
            Unavailable::Stopped { .. } => Self::new(Code::ReadOnly, detail).retry_after(10),
        }
    }
}

fn json(status: u16, media: &'static str, body: &impl serde::Serialize) -> Response {
    let mut text = serde_json::to_string(body).unwrap_or_default();
    text.push('\n');
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// Returns a response without messages: the status is in its headers, and the HTTP status is 200.
fn rpc(code: Code, detail: &str) -> Response {
    let status = tonic::Status::new(rpc_code(code), detail);
    status.into_http::<Body>()
}

/// Returns the gRPC status of a code.
pub fn rpc_code(code: Code) -> tonic::Code {
    match code {
        Code::Malformed | Code::UnsupportedMediaType | Code::Invalid => {
            tonic::Code::InvalidArgument
        }
        Code::Unauthenticated => tonic::Code::Unauthenticated,
        Code::Forbidden | Code::Misdirected => tonic::Code::PermissionDenied,
        Code::NotFound => tonic::Code::NotFound,
        Code::MethodNotAllowed => tonic::Code::Unimplemented,
        Code::Conflict | Code::PreconditionFailed | Code::PreconditionRequired => {
            tonic::Code::FailedPrecondition
        }
        Code::TooSlow => tonic::Code::DeadlineExceeded,
        Code::Gone => tonic::Code::OutOfRange,
        Code::TooLarge | Code::TooManyRequests => tonic::Code::ResourceExhausted,
        Code::Internal => tonic::Code::Internal,
        Code::Recovering | Code::ReadOnly => tonic::Code::Unavailable,
    }
}

/// Header with the id of a request in responses, logs, and the audit log.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
