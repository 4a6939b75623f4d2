//! Response types, and the error responses that several routes share.

use crate::headroomv1::Problem;

/// A response that a route can return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// When the route returns it.
    pub meaning: &'static str,
    /// One body for each media type. Empty if the response has no body.
    pub bodies: &'static [Body],
    /// Headers in addition to those that every response has.
    pub headers: &'static [Header],
}

/// A request or response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// The media type, without parameters.
    pub media: &'static str,
    /// The content.
    pub shape: Shape,
}

/// The content of a body. Names refer to schemas in the `OpenAPI` document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value of this schema.
    One(&'static str),
    /// A list of values of this schema.
    List(&'static str),
    /// One value of this schema on each line or in each frame. The stream does not end.
    Stream(&'static str),
    /// Any JSON object.
    Object,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

/// A response header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Header {
    /// Origins that can read the response in a browser.
    AllowOrigin,
    /// Methods that a browser can use across origins.
    AllowMethods,
    /// Headers that a browser can send across origins.
    AllowHeaders,
    /// The compression of the body.
    ContentEncoding,
    /// The request header that decided the compression.
    Vary,
    /// A tag that changes with the content and with what the caller can see of it.
    EntityTag,
    /// The processing time.
    ServerTiming,
    /// The time to wait before a retry.
    RetryAfter,
    /// The new path.
    Location,
    /// The authentication scheme.
    Challenge,
    /// The suggested file name.
    ContentDisposition,
}

impl Header {
    /// Every header.
    pub const ALL: [Self; 11] = [
        Self::AllowOrigin,
        Self::AllowMethods,
        Self::AllowHeaders,
        Self::ContentEncoding,
        Self::Vary,
        Self::EntityTag,
        Self::ServerTiming,
        Self::RetryAfter,
        Self::Location,
        Self::Challenge,
        Self::ContentDisposition,
    ];

    /// Returns the header name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllowOrigin => "Access-Control-Allow-Origin",
            Self::AllowMethods => "Access-Control-Allow-Methods",
            Self::AllowHeaders => "Access-Control-Allow-Headers",
            Self::ContentEncoding => "Content-Encoding",
            Self::Vary => "Vary",
            Self::EntityTag => "ETag",
            Self::ServerTiming => "Server-Timing",
            Self::RetryAfter => "Retry-After",
            Self::Location => "Location",
            Self::Challenge => "WWW-Authenticate",
            Self::ContentDisposition => "Content-Disposition",
        }
    }

    /// Returns the header description: its value, and when the header is present.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::AllowOrigin => {
                "`*`, if identities are configured or the configuration sets `cors: any`."
            }
            Self::AllowMethods => {
                "`GET, OPTIONS` or `OPTIONS, POST`. Present with `Access-Control-Allow-Origin`."
            }
            Self::AllowHeaders => {
                "`X-Requested-With,Content-Type,Accept,Origin`. Present with \
                 `Access-Control-Allow-Origin`."
            }
            Self::ContentEncoding => {
                "`gzip`, if the client accepts it and the body has 1,400 bytes or more."
            }
            Self::Vary => "`Accept-Encoding`, if the body is compressed.",
            Self::EntityTag => {
                "Identifies the content that the caller can see. Send it as `If-None-Match` to receive 304 \
                 while nothing changed."
            }
            Self::ServerTiming => "Processing time of the server, in milliseconds.",
            Self::RetryAfter => "Seconds to wait before a retry.",
            Self::Location => "The path that replaces this one.",
            Self::Challenge => "`Bearer`.",
            Self::ContentDisposition => "`attachment`, with a file name.",
        }
    }
}

/// Media type of JSON bodies.
pub(super) const JSON: &str = "application/json";
/// Media type of plain text.
pub(super) const TEXT: &str = "text/plain";

/// Error bodies of `/ws/v1`.
pub(super) const ERROR: &[Body] = &[Body { media: JSON, shape: Shape::One("ErrorBody") }];
/// Error bodies of `/headroom/v1`.
pub(super) const PROBLEM: &[Body] =
    &[Body { media: Problem::MEDIA_TYPE, shape: Shape::One("Problem") }];

/// Returns a 200 response with these bodies and no headers of its own.
pub(super) const fn ok(bodies: &'static [Body]) -> Answer {
    Answer { status: 200, meaning: "The request succeeded.", bodies, headers: &[] }
}

/// Returns an error response of `/ws/v1`.
pub(super) const fn error(status: u16, meaning: &'static str) -> Answer {
    Answer { status, meaning, bodies: ERROR, headers: &[] }
}

/// Returns an error response of `/headroom/v1`.
pub(super) const fn problem(status: u16, meaning: &'static str) -> Answer {
    Answer { status, meaning, bodies: PROBLEM, headers: &[] }
}

pub(super) const NO_PARTITION: Answer = error(404, "`Partition not found`");
pub(super) const NO_QUEUE: Answer = error(404, "`Queue not found`");
pub(super) const NO_APPLICATION: Answer = error(404, "`Application not found`");
pub(super) const NO_NODE: Answer = error(404, "`Node not found`");
pub(super) const BAD_ESCAPE: Answer = error(400, "The name contains a malformed `%` escape.");
pub(super) const BAD_QUEUE: Answer =
    error(400, "A part of the queue path is not a valid queue name.");
pub(super) const EVENTS_DISABLED: Answer = error(500, "`Event tracking is disabled`");
pub(super) const BAD_NUMBER: Answer =
    error(400, "`count` or `start` is not a number in the allowed range.");
