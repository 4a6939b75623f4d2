//! Who changed what: in the log under the target `audit`, and in the journal with each command.

use std::net::IpAddr;

use axum::http::{Method, StatusCode};
use headroom_engine::Origin;

use crate::caller::Caller;

/// The target of these lines; they are written whatever the levels of the log are.
pub const TARGET: &str = "audit";

/// The origin of a command of this caller, for the journal; the request is the one that responses and
/// the log name.
pub fn origin(caller: &Caller, request_id: &str) -> Origin {
    // What is stored for ever is bounded.
    let identity = caller.identity.chars().take(IDENTITY_LENGTH_MAX).collect();
    Origin { identity, request_id: request_id.to_owned(), ..Origin::default() }
}

/// The maximum length of a stored identity, in letters.
const IDENTITY_LENGTH_MAX: usize = 256;

/// A request that asked for a change, and what became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) identity: &'a str,
    pub(crate) from: Option<IpAddr>,
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) request_id: &'a str,
    pub(crate) status: StatusCode,
    /// Why it was refused before anybody looked at what it is about.
    pub(crate) refused: Option<&'a str>,
}

impl Change<'_> {
    /// Write it down.
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
