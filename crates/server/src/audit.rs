//! Records who changed what: in the log under the target `audit`, and in the journal with each command.

use std::net::IpAddr;

use axum::http::{Method, StatusCode};
use headroom_engine::Origin;

use crate::caller::Caller;

/// Target of audit lines, which are written regardless of the log levels.
pub const TARGET: &str = "audit";

/// Returns the origin of a command of this caller, for the journal. The request ID is the same as in responses and in
/// the log.
pub fn origin(caller: &Caller, request_id: &str) -> Origin {
    // The length is bounded, because the journal stores it permanently.
    let identity = caller.identity.chars().take(IDENTITY_LENGTH_MAX).collect();
    Origin { identity, request_id: request_id.to_owned(), ..Origin::default() }
}

/// Maximum length of a stored identity, in characters.
const IDENTITY_LENGTH_MAX: usize = 256;

/// A request for a change, and its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) identity: &'a str,
    pub(crate) from: Option<IpAddr>,
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) request_id: &'a str,
    pub(crate) status: StatusCode,
    /// Reason of a refusal that was made before the target of the request was determined.
    pub(crate) refused: Option<&'a str>,
}

impl Change<'_> {
    /// Writes the audit line.
    pub(crate) fn log(self) {
        let Self { identity, from, method, path, request_id, status, refused } = self;
        let from = from.map(|address| address.to_string());
        tracing::info!(
            target: TARGET,
            identity,
            from,
            %method,
            path,
            request_id,
            status = status.as_u16(),
            refused,
            "change"
        );
    }
}
