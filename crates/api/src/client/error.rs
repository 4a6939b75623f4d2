//! Errors of the client.

use std::fmt;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{StatusCode, Url};

use crate::headroomv1::{MalformedFrame, Problem};
use crate::wsv1::ErrorBody;

/// The reason why a request failed. Each message has an action.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not an address.
    #[error(
        "{address:?} is not a server address. Use `http://HOST:PORT` or `https://HOST:PORT`, \
         without credentials or a query."
    )]
    Address {
        /// What was given.
        address: String,
    },
    /// The token is malformed.
    #[error("the token has a character that a header cannot contain. Copy it again, as one line")]
    Token,
    /// Not a name.
    #[error("{name:?} is not a name. Use a name that is neither empty nor `.` or `..`")]
    Name {
        /// What was given.
        name: String,
    },
    /// TLS cannot be set up.
    #[error("cannot set up TLS. Check the certificates of this machine")]
    Setup {
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// No server, or none that answers in time.
    #[error("no response from {address}. Check that the server runs there and is reachable")]
    Unreachable {
        /// Where it was looked for.
        address: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The server rejected the request.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// An answer without end.
    #[error(
        "the response of {url} has more than {bytes_max} bytes. Request less, or raise the limit"
    )]
    TooLarge {
        /// What was asked for.
        url: Url,
        /// What is allowed.
        bytes_max: usize,
    },
    /// Another answer than the contract says.
    #[error(
        "the response of {url} is malformed. Check that a Headroom server of this version runs there"
    )]
    Unreadable {
        /// What was asked for.
        url: Url,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// Another answer than the contract says.
    #[error("the response of {url} is not UTF-8. Check that a Headroom server runs there")]
    NotText {
        /// What was asked for.
        url: Url,
    },
    /// Another stream than the contract says.
    #[error("the stream of {url} is malformed. Open it again")]
    Stream {
        /// What was asked for.
        url: Url,
        /// What is wrong with it.
        #[source]
        source: MalformedFrame,
    },
}

impl ClientError {
    pub(super) fn unreachable(error: reqwest::Error) -> Self {
        // The path may hold names; the address alone says which server is meant.
        let address = error.url().map(|url| url.origin().ascii_serialization());
        Self::Unreachable {
            address: address.unwrap_or_else(|| "the server".to_owned()),
            source: error.without_url(),
        }
    }

    /// Returns the HTTP status, if the server responded with one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            _ => None,
        }
    }

    /// Returns whether the same request can succeed later without an action.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused(refusal) => matches!(refusal.status, 429 | 503),
            _ => false,
        }
    }
}

/// An error response of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The requested URL.
    pub url: Url,
    /// The HTTP status.
    pub status: u16,
    /// Code for programs. Only from `/headroom/v1`.
    pub code: Option<String>,
    /// The message of the server.
    pub reason: String,
    /// ID of the request in the log of the server.
    pub request_id: Option<String>,
    /// Time to wait before a retry, if the server sent one.
    pub retry_after: Option<Duration>,
}

/// Bodies that are neither of ours are shown up to here.
const REASON_CHARS_MAX: usize = 200;

impl Refusal {
    pub(super) fn new(url: Url, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let media = text(CONTENT_TYPE).unwrap_or_default();
        let seconds = text(RETRY_AFTER).and_then(|text| text.parse().ok());
        let mut refusal = Self {
            url,
            status: status.as_u16(),
            code: None,
            reason: String::new(),
            request_id: None,
            retry_after: seconds.map(Duration::from_secs),
        };
        if media.starts_with(Problem::MEDIA_TYPE)
            && let Ok(problem) = serde_json::from_slice::<Problem>(body)
        {
            refusal.code = Some(problem.code);
            refusal.reason = problem.detail;
            refusal.request_id = Some(problem.request_id);
        } else if let Ok(error) = serde_json::from_slice::<ErrorBody>(body) {
            refusal.reason = error.message;
        } else {
            let text = String::from_utf8_lossy(body);
            // A foreign body must not drive the terminal that shows it.
            let plain = text.trim().chars().map(|one| if one.is_control() { ' ' } else { one });
            refusal.reason = plain.take(REASON_CHARS_MAX).collect();
        }
        if refusal.reason.is_empty() {
            status.canonical_reason().unwrap_or("refused").clone_into(&mut refusal.reason);
        }
        refusal
    }

    /// Returns the action for this error.
    pub fn remedy(&self) -> &'static str {
        match self.status {
            301..=308 => "use the current address of the server",
            400 | 422 => "correct the request",
            401 => "use a valid token",
            403 => "ask an administrator for this permission",
            404 => "check the name and your permissions",
            409 => "resolve the conflict first",
            412 => "read it again, and retry with its version",
            428 => "send the version that you read",
            410 => "start again without a resume position",
            413 => "send less, or raise `limits.requestBody` of the server",
            421 => "use a name of this server, or add this name to `hosts` of its configuration",
            429 | 503 => "try again later",
            501 => "use a server that was built with this feature",
            500..=599 => "see the log of the server",
            _ => "check that a Headroom server of this version runs there",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({}", self.reason, self.status)?;
        if let Some(code) = &self.code {
            write!(out, " {code}")?;
        }
        write!(out, ", {}): {}", self.url, self.remedy())?;
        if let Some(wait) = self.retry_after {
            write!(out, ", in {} s", wait.as_secs())?;
        }
        if let Some(id) = &self.request_id {
            write!(out, " [request {id}]")?;
        }
        Ok(())
    }
}
