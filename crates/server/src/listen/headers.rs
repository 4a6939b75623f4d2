//! Request headers that handlers read.

use axum::http::HeaderMap;
use headroom_api::headroomv1::Code;

use crate::family::Refusal;

/// Headers that handlers read. An unreadable value must not count as absent: without its `Idempotency-Key` a request
/// would submit a task twice, and without its `Last-Event-ID` a stream would lose events.
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

/// Rejects a request if a header is not visible ASCII.
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
