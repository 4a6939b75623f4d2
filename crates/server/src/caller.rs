//! The sender of a request.

use headroom_api::headroomv1::Role;
use headroom_core::Name;

/// Proof of a caller's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// No proof: an open server trusts every caller who reaches it.
    Nothing,
    /// A certificate. A browser presents the certificate for any page.
    Certificate,
    /// A verified bearer token. A page of another site cannot make a browser send the token.
    Bearer,
}

/// The sender of a request, as authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Identity in the audit log, with the method of authentication, such as `token:ci`.
    pub identity: String,
    /// User name in access lists and limits.
    pub user: Name,
    /// Groups of the user.
    pub groups: Vec<Name>,
    /// Roles of the identity, in order and without duplicates.
    pub roles: Vec<Role>,
    /// Tenants for which, with their descendants, the tenant roles hold.
    pub tenants: Vec<Name>,
    /// Proof of the identity.
    pub proof: Proof,
}

impl Caller {
    /// Returns the caller of an open server, which trusts all callers.
    pub fn open() -> Self {
        Self {
            identity: "open".to_owned(),
            user: Name::default(),
            groups: Vec::new(),
            roles: vec![Role::Admin],
            tenants: Vec::new(),
            proof: Proof::Nothing,
        }
    }

    /// Returns whether the caller has this role.
    pub fn is(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }
}
