//! What a caller may see: the one place that decides it.
//!
//! Who may read everything sees everything. All others see by the access lists of the queues: a
//! queue and all below it, if they may submit to it or administer it; their own applications; all
//! applications of queues that they administer; and what is counted for them and their groups.
//! Queues above those are passed through: they show their names and places, and no figures.
//! Whatever else there is looks as if it were not there. Source: server §3.
//!
//! Access lists are for who submits or administers queues. Roles of tenants see the queues of their tenants and all
//! below, and nothing by a list; and no list lets anybody submit to a queue of tenants, so none but that of
//! who administers it shows it. Source: tenants TR-43.

use headroom_api::headroomv1::Role;
use headroom_core::Name;
use headroom_core::books::{Application, Books, Queue};
use headroom_core::id::{PartitionId, QueueId};
use headroom_core::view;

use crate::caller::Caller;

/// What a caller may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// Whether everything.
    all: bool,
    /// Whether access lists say more.
    lists: bool,
    user: Name,
    groups: Vec<Name>,
    /// The tenants that the caller reads.
    tenants: Vec<Name>,
}

/// How much of a queue is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Nothing: it is as if it were not there.
    Nothing,
    /// That it is there, since queues below it are seen.
    Passage,
    /// All but the applications of others.
    Figures,
    /// All.
    All,
}

impl Visibility {
    /// What this caller may see.
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

    /// Whether the caller sees everything.
    pub const fn is_all(&self) -> bool {
        self.all
    }

    /// Whether the caller sees how many objects are hidden. For a caller who reads only tenants, that would reveal
    /// others.
    pub const fn counts_hidden(&self) -> bool {
        self.all || self.lists
    }

    /// How much of a queue the caller sees. Looks at the queues below one without a right of the caller.
    pub fn extent(&self, books: &Books, queue: QueueId) -> Extent {
        if self.all {
            return Extent::All;
        }
        match self.right(books, queue) {
            Extent::Nothing if self.any_below(books, queue) => Extent::Passage,
            right => right,
        }
    }

    /// Whether the caller sees a queue at all.
    pub fn sees_queue(&self, books: &Books, queue: QueueId) -> bool {
        self.extent(books, queue) > Extent::Nothing
    }

    /// Whether the caller sees anything of a partition.
    pub fn sees_partition(&self, books: &Books, partition: PartitionId) -> bool {
        self.all || self.sees_queue(books, books.partition(partition).root)
    }

    /// Whether the caller sees the totals of a partition, which are those of its root.
    pub fn sees_totals(&self, books: &Books, partition: PartitionId) -> bool {
        self.extent(books, books.partition(partition).root) >= Extent::Figures
    }

    /// Whether the caller sees an application that was accepted.
    pub fn sees_application(&self, books: &Books, application: &Application) -> bool {
        if self.all || self.is_user(&application.user) {
            return true;
        }
        // The queue of one that has ended may be gone, and its place be taken.
        let queue = books.queue_at(application.partition, &application.queue_path);
        queue.is_some_and(|queue| self.right(books, queue) == Extent::All)
    }

    /// Whether the caller sees what is counted for a user; of an application that was refused, whose it
    /// was.
    pub fn sees_user(&self, user: &str) -> bool {
        self.all || self.is_user(user)
    }

    /// Whether the caller sees what is counted for a group.
    pub fn sees_group(&self, group: &str) -> bool {
        self.all || self.groups.iter().any(|own| *own == *group)
    }

    /// A caller without a user name is nobody's owner.
    fn is_user(&self, user: &str) -> bool {
        !self.user.is_empty() && self.user == *user
    }

    /// What the caller's tenants, and access lists of the queue and those above it, give: a right holds for all below.
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

/// Whether a queue is a tenant's, or the one that all of them are below.
fn belongs_to_tenants(books: &Books, row: &Queue) -> bool {
    let is_root = || {
        view::tenants(books)
            .is_some_and(|(id, _, config)| id == row.partition && *config.root == *row.path)
    };
    row.settings.tenant.is_some() || is_root()
}
