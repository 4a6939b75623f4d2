//! What every refusal of `/headroom/v1` looks like: `application/problem+json` (RFC 9457).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a request to `/headroom/v1` was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Names the kind of problem: `urn:headroom:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in a few words, the same for every such problem.
    pub title: String,
    /// The status of the response.
    pub status: u16,
    /// The kind for programs, such as `NOT_FOUND`.
    pub code: String,
    /// What is wrong here: which rule, both sides, what to do.
    pub detail: String,
    /// Names the request in logs and in the audit trail.
    pub request_id: String,
}

impl Problem {
    /// Media type of the body.
    pub const MEDIA_TYPE: &str = "application/problem+json";

    /// A problem of this kind, in this request.
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

    /// A problem of this kind that has a name of its own: that of the rule which was broken.
    #[must_use]
    pub fn by_rule(self, rule: &str) -> Self {
        Self { kind: format!("urn:headroom:problem:{rule}"), code: rule.to_owned(), ..self }
    }
}

/// The kinds of problems that any route may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A parameter or a body that cannot be read.
    Malformed,
    /// No identity, or one that cannot be trusted.
    Unauthenticated,
    /// The identity may not do this.
    Forbidden,
    /// Not there, or not visible to the caller.
    NotFound,
    /// The path does not take the method.
    MethodNotAllowed,
    /// Something that is there is in the way. What that is has a rule with a name of its own, which is what is
    /// sent.
    Conflict,
    /// It is not in the version that the client expects.
    PreconditionFailed,
    /// A change without a version that the client expects.
    PreconditionRequired,
    /// The body was not there in time.
    TooSlow,
    /// The place in a stream to resume from is not kept any more.
    Gone,
    /// The body is larger than the server takes.
    TooLarge,
    /// The body is of a media type that the server does not read.
    UnsupportedMediaType,
    /// A name in `Host` that is not this server's.
    Misdirected,
    /// Well formed, and impossible.
    Invalid,
    /// More requests than the server takes.
    TooManyRequests,
    /// A bug.
    Internal,
    /// The server still reads its journal.
    Recovering,
    /// The journal cannot be written; reads go on.
    ReadOnly,
}

impl Code {
    /// Every code that is sent as it is.
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

    /// As it is sent.
    pub const fn as_str(self) -> &'static str {
        self.parts().0
    }

    /// The status that goes with it.
    pub const fn status(self) -> u16 {
        self.parts().1
    }

    /// In a few words.
    pub const fn title(self) -> &'static str {
        self.parts().2
    }

    const fn parts(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::Malformed => ("MALFORMED", 400, "The request cannot be read"),
            Self::Unauthenticated => ("UNAUTHENTICATED", 401, "Who is asking is not known"),
            Self::Forbidden => ("FORBIDDEN", 403, "A right is missing"),
            Self::NotFound => ("NOT_FOUND", 404, "Not found, or not visible to you"),
            Self::MethodNotAllowed => ("METHOD_NOT_ALLOWED", 405, "Not a method of this path"),
            Self::Conflict => ("CONFLICT", 409, "Something is in the way"),
            Self::PreconditionFailed => {
                ("PRECONDITION_FAILED", 412, "Somebody else has changed it")
            }
            Self::PreconditionRequired => {
                ("PRECONDITION_REQUIRED", 428, "The expected version is missing")
            }
            Self::TooSlow => ("TOO_SLOW", 408, "The request took too long to arrive"),
            Self::Gone => ("GONE", 410, "Not kept any more"),
            Self::TooLarge => ("TOO_LARGE", 413, "The request is too large"),
            Self::UnsupportedMediaType => {
                ("UNSUPPORTED_MEDIA_TYPE", 415, "The body is of another media type")
            }
            Self::Misdirected => ("MISDIRECTED", 421, "Not a name of this server"),
            Self::Invalid => ("INVALID", 422, "The request is well formed and impossible"),
            Self::TooManyRequests => ("TOO_MANY_REQUESTS", 429, "Too many requests"),
            Self::Internal => ("INTERNAL", 500, "A bug of Headroom"),
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
                r#"{"type":"urn:headroom:problem:GONE","title":"Not kept any more","#,
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
