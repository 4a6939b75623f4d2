//! The caller of the scheduler interface, and the check of its rights.

use headroom_api::headroomv1::Role;
use tonic::{Request, Status};

use crate::Caller;

/// Returns the caller of this request.
///
/// # Errors
/// If the caller is not authenticated, or is not an RM.
pub(super) fn rm<T>(request: &Request<T>) -> Result<Caller, Status> {
    let caller = request.extensions().get::<Caller>();
    let caller = caller.ok_or_else(|| {
        Status::unauthenticated(
            "the request has no identity. Send `authorization: Bearer …` or a client certificate",
        )
    })?;
    if caller.is(Role::Rm) || caller.is(Role::Admin) {
        return Ok(caller.clone());
    }
    Err(Status::permission_denied("the scheduler interface requires the role `rm` or `admin`"))
}
