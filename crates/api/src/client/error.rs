//! Why there is no answer.

use std::fmt;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{StatusCode, Url};

use crate::headroomv1::{MalformedFrame, Problem};
use crate::wsv1::ErrorBody;

/// Why a request has no answer. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not an address.
    #[error(
        "{address:?} is no address of a server: write `http://` or `https://`, a name or number, \
         and no user, password or `?`"
    )]
    Address {
        /// What was given.
        address: String,
    },
    /// Not a token.
    #[error("the token has a character that a header cannot hold: copy it again, as one line")]
    Token,
    /// Not a name.
    #[error("{name:?} cannot be looked up: give a name")]
    Name {
        /// What was given.
        name: String,
    },
    /// TLS cannot be set up.
    #[error("cannot set up TLS: check the certificates of this machine")]
    Setup {
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// No server, or none that answers in time.
    #[error("no answer from {address}: check that the server runs there and is not cut off")]
    Unreachable {
        /// Where it was looked for.
        address: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The server refused.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// An answer without end.
    #[error("the answer of {url} has more than {bytes_max} bytes: ask for less, or allow more")]
    TooLarge {
        /// What was asked for.
        url: Url,
        /// What is allowed.
        bytes_max: usize,
    },
    /// Another answer than the contract says.
    #[error(
        "the answer of {url} cannot be read: check that a Headroom server of this version is there"
    )]
    Unreadable {
        /// What was asked for.
        url: Url,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// Another answer than the contract says.
    #[error("the answer of {url} is not UTF-8: check that a Headroom server is there")]
    NotText {
        /// What was asked for.
        url: Url,
    },
    /// Another stream than the contract says.
    #[error("the stream of {url} cannot be read: open it again")]
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

    /// The status, where the server answered with one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            _ => None,
        }
    }

    /// Whether the same request may succeed later without anybody doing anything.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused(refusal) => matches!(refusal.status, 429 | 503),
            _ => false,
        }
    }
}

/// What the server said when it refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was asked for.
    pub url: Url,
    /// The status.
    pub status: u16,
    /// The kind for programs, from `/headroom/v1` alone.
    pub code: Option<String>,
    /// Why, in the server's words.
    pub reason: String,
    /// Names the request in the server's log.
    pub request_id: Option<String>,
    /// How long to wait before the next attempt, where the server says so.
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

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self.status {
            301..=308 => "give the address that the server has now",
            400 | 422 => "correct the request",
            401 => "give a token that the server knows",
            403 => "ask an administrator for this right",
            404 => "check the name; what you may not see looks the same",
            409 => "change what is in the way first",
            412 => "read it again, and decide anew",
            428 => "say which version was read",
            410 => "begin anew, without a place to resume from",
            413 => "send less, or raise `limits.requestBody` of the server",
            421 => "use a name of this server, or add this one to `hosts` of its configuration",
            429 | 503 => "try again later",
            501 => "use a server that was built with it",
            500..=599 => "look into the log of the server",
            _ => "check that a Headroom server of this version is there",
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
