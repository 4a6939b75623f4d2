//! Why a request to `/ws/v1` was refused.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use headroom_api::wsv1::{ErrorBody, message};

use super::respond;

/// What a handler answers.
pub(crate) type Answer = Result<Response, Refusal>;

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
    /// When to come back, in seconds.
    retry_after: Option<u32>,
}

impl Refusal {
    /// Refused with this status, for this reason.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }

    /// What was sent cannot be used.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Nothing of that name is there.
    pub(crate) fn missing(message: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// It failed here, through no fault of the client.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// Not now; come back in so many seconds.
    pub(crate) fn later(seconds: u32, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).retry_after(seconds)
    }

    /// That may be different after so many seconds.
    pub(crate) fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// As many ask as may; come back in so many seconds.
    pub(crate) fn crowded(seconds: u32, message: impl Into<String>) -> Self {
        let retry_after = Some(seconds);
        Self { retry_after, ..Self::new(StatusCode::TOO_MANY_REQUESTS, message) }
    }

    pub(crate) fn no_partition() -> Self {
        Self::missing(message::PARTITION_NOT_FOUND)
    }

    pub(crate) fn no_queue() -> Self {
        Self::missing(message::QUEUE_NOT_FOUND)
    }

    pub(crate) fn no_application() -> Self {
        Self::missing(message::APPLICATION_NOT_FOUND)
    }

    /// What a client reads of it.
    pub(crate) fn body(&self) -> ErrorBody {
        ErrorBody::new(self.status.as_u16(), self.message.clone())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = respond::json(&self.body()).into_response();
        *response.status_mut() = self.status;
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
