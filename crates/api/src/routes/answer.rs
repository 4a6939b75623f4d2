//! Answers, and the refusals that several routes share.

use crate::headroomv1::Problem;

/// What a route may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// When it is given.
    pub meaning: &'static str,
    /// One for each media type; none: no body.
    pub bodies: &'static [Body],
    /// Headers beside those of all answers.
    pub headers: &'static [Header],
}

/// A body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its media type, without parameters.
    pub media: &'static str,
    /// What it is made of.
    pub shape: Shape,
}

/// What a body is made of. Names are those of schemas in the `OpenAPI` document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One of these.
    One(&'static str),
    /// A list of these.
    List(&'static str),
    /// One of these on each line or in each frame, without end.
    Stream(&'static str),
    /// Any JSON object.
    Object,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

/// A header of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Header {
    /// Who may read the answer in a browser.
    AllowOrigin,
    /// With which methods.
    AllowMethods,
    /// With which headers.
    AllowHeaders,
    /// How the body is compressed.
    ContentEncoding,
    /// What of the request decided about the compression.
    Vary,
    /// Changes with the content and with what the caller may see of it.
    EntityTag,
    /// Where the time went.
    ServerTiming,
    /// When to come back.
    RetryAfter,
    /// Where it is now.
    Location,
    /// How to say who one is.
    Challenge,
    /// Under which name to keep it.
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

    /// Its name.
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

    /// What it holds, and when it is there.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::AllowOrigin => {
                "`*`, where identities are configured or the configuration says `cors: any`."
            }
            Self::AllowMethods => {
                "`GET, OPTIONS`, or `OPTIONS, POST`; comes with `Access-Control-Allow-Origin`."
            }
            Self::AllowHeaders => {
                "`X-Requested-With,Content-Type,Accept,Origin`; comes with \
                 `Access-Control-Allow-Origin`."
            }
            Self::ContentEncoding => {
                "`gzip`, where the client takes it and the body has 1,400 bytes or more."
            }
            Self::Vary => "`Accept-Encoding`, where the body is compressed.",
            Self::EntityTag => {
                "Of the content and of what the caller may see; for `If-None-Match`, which is answered by \
                 304."
            }
            Self::ServerTiming => "Milliseconds that the server took.",
            Self::RetryAfter => "Seconds to wait.",
            Self::Location => "The path that takes the place of this one.",
            Self::Challenge => "`Bearer`.",
            Self::ContentDisposition => "`attachment` and a file name.",
        }
    }
}

/// Media type of JSON bodies.
pub(super) const JSON: &str = "application/json";
/// Media type of texts.
pub(super) const TEXT: &str = "text/plain";

/// How `/ws/v1` refuses.
pub(super) const ERROR: &[Body] = &[Body { media: JSON, shape: Shape::One("ErrorBody") }];
/// How `/headroom/v1` refuses.
pub(super) const PROBLEM: &[Body] =
    &[Body { media: Problem::MEDIA_TYPE, shape: Shape::One("Problem") }];

/// A success with this body and no headers of its own.
pub(super) const fn ok(bodies: &'static [Body]) -> Answer {
    Answer { status: 200, meaning: "What was asked for.", bodies, headers: &[] }
}

/// A refusal of `/ws/v1`.
pub(super) const fn error(status: u16, meaning: &'static str) -> Answer {
    Answer { status, meaning, bodies: ERROR, headers: &[] }
}

/// A refusal of `/headroom/v1`.
pub(super) const fn problem(status: u16, meaning: &'static str) -> Answer {
    Answer { status, meaning, bodies: PROBLEM, headers: &[] }
}

pub(super) const NO_PARTITION: Answer = error(404, "`Partition not found`");
pub(super) const NO_QUEUE: Answer = error(404, "`Queue not found`");
pub(super) const NO_APPLICATION: Answer = error(404, "`Application not found`");
pub(super) const NO_NODE: Answer = error(404, "`Node not found`");
pub(super) const BAD_ESCAPE: Answer = error(400, "A `%` escape in the name cannot be read.");
pub(super) const BAD_QUEUE: Answer = error(400, "A part of the queue path is no queue name.");
pub(super) const EVENTS_DISABLED: Answer = error(500, "`Event tracking is disabled`");
pub(super) const BAD_NUMBER: Answer = error(400, "`count` or `start` is no number that may be.");
