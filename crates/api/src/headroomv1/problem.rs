//! Error responses of `/headroom/v1`: `application/problem+json` (RFC 9457).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An error response of `/headroom/v1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The problem type: `urn:headroom:problem:` followed by the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Short title, the same for every problem of this type.
    pub title: String,
    /// The status of the response.
    pub status: u16,
    /// Code for programs, such as `NOT_FOUND`.
    pub code: String,
    /// The specific problem: the rule, both sides, and an action.
    pub detail: String,
    /// ID of the request in logs and in the audit log.
    pub request_id: String,
}

impl Problem {
    /// Media type of the body.
    pub const MEDIA_TYPE: &str = "application/problem+json";

    /// Returns a problem with this code.
    pub fn new(code: Code, detail: impl Into<String>, request_id: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:headroom:problem:{}", code.as_str()),
            title: code.title().to_owned(),
            status: code.status(),
            code: code.as_str().to_owned(),
            detail: detail.into(),
            request_id: request_id.into(),
        }
    }

    /// Returns the problem with the code of the broken rule.
    #[must_use]
    pub fn by_rule(self, rule: &str) -> Self {
        Self { kind: format!("urn:headroom:problem:{rule}"), code: rule.to_owned(), ..self }
    }
}

/// The error codes that any route can return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A parameter or body cannot be parsed.
    Malformed,
    /// The request has no identity, or an invalid one.
    Unauthenticated,
    /// The identity lacks a permission.
    Forbidden,
    /// The object does not exist, or is not visible to the caller.
    NotFound,
    /// The path does not accept the method.
    MethodNotAllowed,
    /// The request conflicts with the current state. The response has the code of the specific rule
    /// instead.
    Conflict,
    /// The version differs from the version that the client expects.
    PreconditionFailed,
    /// A change has no expected version.
    PreconditionRequired,
    /// The body did not arrive in time.
    TooSlow,
    /// The position to resume a stream from is no longer stored.
    Gone,
    /// The body exceeds the size limit.
    TooLarge,
    /// The server does not support the media type of the body.
    UnsupportedMediaType,
    /// `Host` is not a name of this server.
    Misdirected,
    /// The request is well formed, but breaks a rule.
    Invalid,
    /// The caller exceeds a rate limit or another limit of requests.
    TooManyRequests,
    /// A bug of Headroom.
    Internal,
    /// The server is still reading its journal.
    Recovering,
    /// The journal cannot be written. Reads continue.
    ReadOnly,
}

impl Code {
    /// Every code that responses use directly.
    pub const ALL: [Self; 17] = [
        Self::Malformed,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::PreconditionFailed,
        Self::PreconditionRequired,
        Self::TooSlow,
        Self::Gone,
        Self::TooLarge,
        Self::UnsupportedMediaType,
        Self::Misdirected,
        Self::Invalid,
        Self::TooManyRequests,
        Self::Internal,
        Self::Recovering,
        Self::ReadOnly,
    ];

    /// Returns the code.
    pub const fn as_str(self) -> &'static str {
        self.parts().0
    }

    /// Returns the HTTP status.
    pub const fn status(self) -> u16 {
        self.parts().1
    }

    /// Returns the title.
    pub const fn title(self) -> &'static str {
        self.parts().2
    }

    const fn parts(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::Malformed => ("MALFORMED", 400, "Malformed request"),
            Self::Unauthenticated => ("UNAUTHENTICATED", 401, "Authentication required"),
            Self::Forbidden => ("FORBIDDEN", 403, "Permission denied"),
            Self::NotFound => ("NOT_FOUND", 404, "Not found, or not visible to you"),
            Self::MethodNotAllowed => ("METHOD_NOT_ALLOWED", 405, "Method not allowed"),
            Self::Conflict => ("CONFLICT", 409, "Conflict with the current state"),
            Self::PreconditionFailed => {
                ("PRECONDITION_FAILED", 412, "The expected version does not match")
            }
            Self::PreconditionRequired => {
                ("PRECONDITION_REQUIRED", 428, "The expected version is missing")
            }
            Self::TooSlow => ("TOO_SLOW", 408, "The request took too long to arrive"),
            Self::Gone => ("GONE", 410, "No longer stored"),
            Self::TooLarge => ("TOO_LARGE", 413, "The request is too large"),
            Self::UnsupportedMediaType => ("UNSUPPORTED_MEDIA_TYPE", 415, "Unsupported media type"),
            Self::Misdirected => ("MISDIRECTED", 421, "Unknown host name"),
            Self::Invalid => ("INVALID", 422, "The request breaks a rule"),
            Self::TooManyRequests => ("TOO_MANY_REQUESTS", 429, "Too many requests"),
            Self::Internal => ("INTERNAL", 500, "Internal error"),
            Self::Recovering => ("RECOVERING", 503, "The server is starting"),
            Self::ReadOnly => ("READ_ONLY", 503, "The server cannot write"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Code, Problem};

    #[test]
    fn a_problem_names_its_kind_three_times() {
        let problem = Problem::new(Code::Gone, "event 7 is older than 12", "r-1");
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            concat!(
                r#"{"type":"urn:headroom:problem:GONE","title":"No longer stored","#,
                r#""status":410,"code":"GONE","detail":"event 7 is older than 12","#,
                r#""requestId":"r-1"}"#
            )
        );
    }

    #[test]
    fn codes_differ() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
