//! Who makes a request.

use headroom_api::headroomv1::Role;
use headroom_core::Name;

/// What proves who a caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing: an open server trusts everyone who reaches it.
    Nothing,
    /// A certificate, which a browser shows for any page.
    Certificate,
    /// A bearer token that was verified. No page of another site can have a browser send it.
    Bearer,
}

/// Who makes a request, as authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// As it goes into the audit: who this is, and how that is known; such as `token:ci`.
    pub identity: String,
    /// User name, as access lists and limits know it.
    pub user: Name,
    /// Groups of the user.
    pub groups: Vec<Name>,
    /// What the identity may do; in order, without repeats.
    pub roles: Vec<Role>,
    /// For which tenants, and those below them, the roles of tenants hold.
    pub tenants: Vec<Name>,
    /// What proves it.
    pub proof: Proof,
}

impl Caller {
    /// A caller of an open server, which trusts all callers.
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

    /// Whether this is one of the roles of the caller.
    pub fn is(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }
}
