//! Refusals of requests to `/ws/v1`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use headroom_api::wsv1::{ErrorBody, message};

use super::respond;

/// Result of a handler.
pub(crate) type Answer = Result<Response, Refusal>;

/// A refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
    /// Seconds to wait before a retry.
    retry_after: Option<u32>,
}

impl Refusal {
    /// Returns a refusal with this status and reason.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }

    /// Returns a refusal of an invalid request.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Returns a refusal because an object does not exist.
    pub(crate) fn missing(message: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// Returns a refusal because of an error of the server.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// Returns a refusal of a request that can succeed after `seconds`.
    pub(crate) fn later(seconds: u32, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).retry_after(seconds)
    }

    /// Sets the number of seconds after which a retry can succeed.
    pub(crate) fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Returns a refusal because a limit of concurrent requests is reached, with seconds to wait.
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

    /// Returns the body of the response.
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
