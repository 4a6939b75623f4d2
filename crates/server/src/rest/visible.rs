//! Visibility of objects for a caller. All other modules use these decisions.
//!
//! A caller with a role that reads everything sees everything. For other callers, the access lists of the queues
//! decide. They see a queue and its descendants if they can submit to it or administer it; their own applications;
//! all applications of queues that they administer; and the usage of their own user and groups. Of the ancestors of
//! these queues, they see the name and the position, but no figures. All other objects appear not to exist. Source:
//! server §3.
//!
//! Access lists are for callers who submit to queues or administer them. Tenant roles give the queues of their
//! tenants with all descendants, independent of access lists. No access list allows submitting to a queue of tenants,
//! so only the list of administrators makes such a queue visible. Source: tenants TR-43.

use headroom_api::headroomv1::Role;
use headroom_core::Name;
use headroom_core::books::{Application, Books, Queue};
use headroom_core::id::{PartitionId, QueueId};
use headroom_core::view;

use crate::caller::Caller;

/// The objects that a caller sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// Whether the caller sees everything.
    all: bool,
    /// Whether access lists give further rights.
    lists: bool,
    user: Name,
    groups: Vec<Name>,
    /// Tenants that the caller reads.
    tenants: Vec<Name>,
}

/// Visible extent of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Nothing: the queue appears not to exist.
    Nothing,
    /// Only the existence, because a descendant is visible.
    Passage,
    /// Everything except the applications of other users.
    Figures,
    /// Everything.
    All,
}

impl Visibility {
    /// Returns the objects that this caller sees.
    pub fn of(caller: &Caller) -> Self {
        let is_one = |roles: &[Role]| roles.iter().any(|role| caller.is(*role));
        let of_tenants = is_one(&[Role::TenantAdmin, Role::TenantViewer]);
        Self {
            all: is_one(&[Role::Admin, Role::Operator, Role::Viewer]),
            lists: is_one(&[Role::Submitter, Role::QueueAdmin]),
            user: caller.user.clone(),
            groups: caller.groups.clone(),
            tenants: if of_tenants { caller.tenants.clone() } else { Vec::new() },
        }
    }

    /// Returns whether the caller sees everything.
    pub const fn is_all(&self) -> bool {
        self.all
    }

    /// Returns whether the caller sees the number of hidden objects. For a caller who reads only tenants, this number
    /// would reveal other tenants.
    pub const fn counts_hidden(&self) -> bool {
        self.all || self.lists
    }

    /// Returns how much of a queue the caller sees. Searches its descendants if the caller has no right on the queue
    /// itself.
    pub fn extent(&self, books: &Books, queue: QueueId) -> Extent {
        if self.all {
            return Extent::All;
        }
        match self.right(books, queue) {
            Extent::Nothing if self.any_below(books, queue) => Extent::Passage,
            right => right,
        }
    }

    /// Returns whether the caller sees a queue at all.
    pub fn sees_queue(&self, books: &Books, queue: QueueId) -> bool {
        self.extent(books, queue) > Extent::Nothing
    }

    /// Returns whether the caller sees anything of a partition.
    pub fn sees_partition(&self, books: &Books, partition: PartitionId) -> bool {
        self.all || self.sees_queue(books, books.partition(partition).root)
    }

    /// Returns whether the caller sees the totals of a partition, which are the totals of its root queue.
    pub fn sees_totals(&self, books: &Books, partition: PartitionId) -> bool {
        self.extent(books, books.partition(partition).root) >= Extent::Figures
    }

    /// Returns whether the caller sees an application that was accepted.
    pub fn sees_application(&self, books: &Books, application: &Application) -> bool {
        if self.all || self.is_user(&application.user) {
            return true;
        }
        // The queue of an ended application might be removed, and its slot reused.
        let queue = books.queue_at(application.partition, &application.queue_path);
        queue.is_some_and(|queue| self.right(books, queue) == Extent::All)
    }

    /// Returns whether the caller sees the usage of a user, or a rejected application of that user.
    pub fn sees_user(&self, user: &str) -> bool {
        self.all || self.is_user(user)
    }

    /// Returns whether the caller sees the usage of a group.
    pub fn sees_group(&self, group: &str) -> bool {
        self.all || self.groups.iter().any(|own| *own == *group)
    }

    /// A caller without a user name owns nothing.
    fn is_user(&self, user: &str) -> bool {
        !self.user.is_empty() && self.user == *user
    }

    /// Returns the rights from the caller's tenants, and from access lists of the queue and its ancestors. A right
    /// holds for all descendants.
    fn right(&self, books: &Books, queue: QueueId) -> Extent {
        let (mut right, mut is_of_tenants) = (Extent::Nothing, false);
        for (_, row) in books.up(queue) {
            if self.reads_tenant_of(row) || self.administers(row) {
                return Extent::All;
            }
            is_of_tenants |= belongs_to_tenants(books, row);
            if !is_of_tenants && self.submits_to(row) {
                right = Extent::Figures;
            }
        }
        right
    }

    fn any_below(&self, books: &Books, queue: QueueId) -> bool {
        let mut left: Vec<QueueId> = books.children(queue).map(|(id, _)| id).collect();
        while let Some(queue) = left.pop() {
            let row = books.queue(queue);
            let submits = self.submits_to(row) && !belongs_to_tenants(books, row);
            if submits || self.reads_tenant_of(row) || self.administers(row) {
                return true;
            }
            left.extend(books.children(queue).map(|(id, _)| id));
        }
        false
    }

    fn reads_tenant_of(&self, row: &Queue) -> bool {
        let mark = row.settings.tenant.as_ref();
        mark.is_some_and(|mark| self.tenants.contains(&mark.tenant))
    }

    fn administers(&self, row: &Queue) -> bool {
        self.lists && row.settings.admin_acl.allows(&self.user, &self.groups)
    }

    fn submits_to(&self, row: &Queue) -> bool {
        self.lists && row.settings.submit_acl.allows(&self.user, &self.groups)
    }
}

/// Returns whether a queue belongs to a tenant, or is the root of all tenants.
fn belongs_to_tenants(books: &Books, row: &Queue) -> bool {
    let is_root = || {
        view::tenants(books)
            .is_some_and(|(id, _, config)| id == row.partition && *config.root == *row.path)
    };
    row.settings.tenant.is_some() || is_root()
}
