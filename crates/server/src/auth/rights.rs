//! What a caller may do: the access of the table of routes, and the rule against other sites.

use axum::http::header::{HeaderName, ORIGIN};
use axum::http::{HeaderMap, Uri};
use headroom_api::headroomv1::{Code, Role};
use headroom_api::routes::{Access, Method, Route};

use super::roles::name_of;
use crate::caller::{Caller, Proof};
use crate::family::Refusal;

/// The header by which a client says that no page of another site makes the request: such a page
/// cannot send it without asking first, and is not allowed to.
pub const NO_FOREIGN_PAGE: HeaderName = HeaderName::from_static("x-headroom-request");

/// Judge whether a caller has access.
///
/// # Errors
/// When the caller is not authenticated, or lacks a right. It depends on the access alone, never on
/// what is asked for, so that what is forbidden looks like what is not there.
pub fn may(access: Access, caller: Option<&Caller>) -> Result<(), Refusal> {
    if access == Access::Open {
        return Ok(());
    }
    let caller = caller.ok_or_else(|| {
        Refusal::new(
            Code::Unauthenticated,
            "the request needs a bearer token or a client certificate",
        )
    })?;
    if access == Access::Identity || caller.roles.iter().any(|role| access.allows(Some(*role))) {
        return Ok(());
    }
    Err(lacking(caller, |role| access.allows(Some(role))))
}

/// Judge whether a caller may use the scheduler interface.
///
/// # Errors
/// As [`may`].
pub fn may_schedule(caller: Option<&Caller>) -> Result<(), Refusal> {
    may(Access::Identity, caller)?;
    let suffices = |role| matches!(role, Role::Rm | Role::Admin);
    match caller {
        Some(caller) if !caller.roles.iter().any(|role| suffices(*role)) => {
            Err(lacking(caller, suffices))
        }
        _ => Ok(()),
    }
}

/// Names the roles that suffice, and those that the caller has.
fn lacking(caller: &Caller, suffices: impl Fn(Role) -> bool) -> Refusal {
    let names = |roles: &mut dyn Iterator<Item = Role>| {
        let names: Vec<_> = roles.map(name_of).collect();
        if names.is_empty() { "no role".to_owned() } else { names.join(", ") }
    };
    let needed = names(&mut Role::ALL.into_iter().filter(|role| suffices(*role)));
    let has = names(&mut caller.roles.iter().copied());
    let identity = &caller.identity;
    Refusal::new(
        Code::Forbidden,
        format!("the request needs one of {needed}, but {identity} has {has}"),
    )
}

/// Whether a route changes anything. Judging a queue file does not, nor asking what would be.
pub fn is_change(route: &Route) -> bool {
    route.method != Method::Get
        && !matches!(route.operation, "validateConfig" | "simulateUserLimits" | "checkQuota")
}

/// Judge whether a page of another site may have made a request that changes something.
///
/// Such a page cannot send a bearer token. A client certificate it can, and any other `Authorization` counts as none.
///
/// # Errors
/// When it may have.
pub fn not_from_elsewhere(
    proof: Proof,
    headers: &HeaderMap,
    host: Option<&str>,
) -> Result<(), Refusal> {
    match proof {
        Proof::Bearer => return Ok(()),
        Proof::Nothing | Proof::Certificate => {}
    }
    if headers.get(NO_FOREIGN_PAGE).is_none_or(|value| value != "1") {
        let why = "a change needs a bearer token, or the header `X-Headroom-Request: 1`.";
        return Err(Refusal::new(Code::Forbidden, why));
    }
    // Programs send no `Origin`; every browser does with a change.
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
    let from = origin.as_ref().and_then(Uri::authority).map(ToString::to_string);
    match (from, host) {
        (Some(from), Some(host)) if from.eq_ignore_ascii_case(host) => Ok(()),
        (from, host) => {
            let (from, host) = (from.unwrap_or_default(), host.unwrap_or_default());
            let why = format!(
                "the request comes from a page of {from:?}, but only pages of {host:?} can make \
                 changes"
            );
            Err(Refusal::new(Code::Forbidden, why))
        }
    }
}
