//! Why a request failed.

use std::time::Duration;

/// Why there is no usable configuration of a client.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the configuration for the API server is not usable: {0}")]
pub struct ConnectFault(pub(super) String);

impl From<kube::Error> for ConnectFault {
    fn from(error: kube::Error) -> Self {
        Self(error.to_string())
    }
}

/// Why a request failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    /// The API server refused the request.
    #[error("the API server answered {}: {}", .0.code, .0.message)]
    Refused(Refusal),
    /// No answer, or the connection ended within the answer.
    #[error("the API server cannot be reached: {0}")]
    Unreachable(String),
    /// No complete answer in time.
    #[error("the API server did not answer within {} s", .0.as_secs())]
    Late(Duration),
    /// The answer is too large.
    #[error("the answer of the API server has more than {0} bytes")]
    TooLarge(usize),
    /// The answer has another shape than expected.
    #[error("the answer of the API server is unreadable: {0}")]
    Unreadable(String),
    /// The request has no valid path.
    #[error("the request cannot be sent: {0}")]
    Unsendable(String),
}

/// A refusal of the API server.
#[derive(Clone, Debug, Default)]
pub struct Refusal {
    /// HTTP status.
    pub code: u16,
    /// Reason in one word, such as `AlreadyExists`. Can be empty.
    pub reason: String,
    /// Sentence of the API server.
    pub message: String,
    /// Pause that the API server requests.
    pub retry_after: Option<Duration>,
}

impl Fault {
    /// Returns the HTTP status of a refusal.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.code),
            Self::Unreachable(_)
            | Self::Late(_)
            | Self::TooLarge(_)
            | Self::Unreadable(_)
            | Self::Unsendable(_) => None,
        }
    }

    /// Returns whether the same request can succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Refused(refusal) => matches!(refusal.code, 408 | 429 | 500..=599),
            Self::Unreachable(_) | Self::Late(_) => true,
            Self::TooLarge(_) | Self::Unreadable(_) | Self::Unsendable(_) => false,
        }
    }

    /// Returns the pause that the API server requests.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused(refusal) => refusal.retry_after,
            Self::Unreachable(_)
            | Self::Late(_)
            | Self::TooLarge(_)
            | Self::Unreadable(_)
            | Self::Unsendable(_) => None,
        }
    }
}
