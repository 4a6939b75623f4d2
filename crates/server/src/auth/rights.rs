//! Rights of callers: the access column of the table of routes, and the protection against other sites.

use axum::http::header::{HeaderName, ORIGIN};
use axum::http::{HeaderMap, Uri};
use headroom_api::headroomv1::{Code, Role};
use headroom_api::routes::{Access, Method, Route};

use super::roles::name_of;
use crate::caller::{Caller, Proof};
use crate::family::Refusal;

/// Header by which a client declares that no page of another site makes the request. To send this header, such a page
/// needs a preflight, which the server denies.
pub const NO_FOREIGN_PAGE: HeaderName = HeaderName::from_static("x-headroom-request");

/// Checks that a caller has access.
///
/// # Errors
/// If the caller is not authenticated, or lacks a right. The result depends only on the access, not on the requested
/// object. A caller therefore cannot distinguish a forbidden object from a missing object.
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

/// Checks that a caller can use the scheduler interface.
///
/// # Errors
/// The same as [`may`].
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

/// Returns a rejection that names the sufficient roles, and the roles of the caller.
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

/// Returns whether a route changes the state. Validations and predictions do not.
pub fn is_change(route: &Route) -> bool {
    route.method != Method::Get
        && !matches!(route.operation, "validateConfig" | "simulateUserLimits" | "checkQuota")
}

/// Checks that no page of another site can have made a request that changes the state.
///
/// Such a page cannot send a bearer token, but it can send a client certificate. Any other `Authorization` counts as
/// absent.
///
/// # Errors
/// If such a page can have made the request.
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
    // Programs send no `Origin`. Every browser sends it with a change.
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
