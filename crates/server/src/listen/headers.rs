//! The headers that handlers read.

use axum::http::HeaderMap;
use headroom_api::headroomv1::Code;

use crate::family::Refusal;

/// The headers that handlers read. What cannot be read must not count as absent: an `Idempotency-Key` would submit a
/// task twice, a `Last-Event-ID` would lose events.
const READ_HEADERS: [&str; 9] = [
    "accept",
    "content-length",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "last-event-id",
    "origin",
    "x-headroom-request",
];

/// Refuses a header that is read and is not visible ASCII.
pub(super) fn are_readable(headers: &HeaderMap) -> Result<(), Refusal> {
    let is_unreadable =
        |name: &&&str| headers.get_all(**name).iter().any(|one| one.to_str().is_err());
    READ_HEADERS.iter().find(is_unreadable).map_or(Ok(()), |name| {
        let why = format!(
            "the header `{name}` has bytes that are not visible ASCII. Send only visible ASCII."
        );
        Err(Refusal::new(Code::Malformed, why))
    })
}
