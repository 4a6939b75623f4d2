//! What a caller may see: the one place that decides it.
//!
//! Who may read everything sees everything. All others see by the access lists of the queues: a
//! queue and all below it, if they may submit to it or administer it; their own applications; all
//! applications of queues that they administer; and what is counted for them and their groups.
//! Queues above those are passed through: they show their names and places, and no figures.
//! Whatever else there is looks as if it were not there. Source: the server's page, §3.

use headroom_api::headroomv1::Role;
use headroom_core::Name;
use headroom_core::books::{Application, Books};
use headroom_core::id::{PartitionId, QueueId};

use crate::caller::Caller;

/// What a caller may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// Whether everything.
    all: bool,
    user: Name,
    groups: Vec<Name>,
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

impl Sight {
    /// What this caller may see.
    pub fn of(caller: &Caller) -> Self {
        let reads_all = [Role::Admin, Role::Operator, Role::Viewer];
        Self {
            all: reads_all.into_iter().any(|role| caller.is(role)),
            user: caller.user.clone(),
            groups: caller.groups.clone(),
        }
    }

    /// Whether he sees everything.
    pub const fn is_all(&self) -> bool {
        self.all
    }

    /// How much of a queue he sees. Looks at the queues below one that he has no right in.
    pub fn extent(&self, books: &Books, queue: QueueId) -> Extent {
        if self.all {
            return Extent::All;
        }
        match self.right(books, queue) {
            Extent::Nothing if self.any_below(books, queue) => Extent::Passage,
            right => right,
        }
    }

    /// Whether he sees a queue at all.
    pub fn sees_queue(&self, books: &Books, queue: QueueId) -> bool {
        self.extent(books, queue) > Extent::Nothing
    }

    /// Whether he sees anything of a partition.
    pub fn sees_partition(&self, books: &Books, partition: PartitionId) -> bool {
        self.all || self.sees_queue(books, books.partition(partition).root)
    }

    /// Whether he sees the totals of a partition, which are those of its root.
    pub fn sees_totals(&self, books: &Books, partition: PartitionId) -> bool {
        self.extent(books, books.partition(partition).root) >= Extent::Figures
    }

    /// Whether he sees an application that was accepted.
    pub fn sees_application(&self, books: &Books, application: &Application) -> bool {
        if self.all || self.is_user(&application.user) {
            return true;
        }
        // The queue of one that has ended may be gone, and its place be taken.
        let queue = books.queue_at(application.partition, &application.queue_path);
        queue.is_some_and(|queue| self.right(books, queue) == Extent::All)
    }

    /// Whether he sees what is counted for a user; of an application that was refused, whose it
    /// was.
    pub fn sees_user(&self, user: &str) -> bool {
        self.all || self.is_user(user)
    }

    /// Whether he sees what is counted for a group.
    pub fn sees_group(&self, group: &str) -> bool {
        self.all || self.groups.iter().any(|own| *own == *group)
    }

    /// A caller without a user name is nobody's owner.
    fn is_user(&self, user: &str) -> bool {
        !self.user.is_empty() && self.user == *user
    }

    /// What access lists of the queue and those above it give: a right holds for all below.
    fn right(&self, books: &Books, queue: QueueId) -> Extent {
        let mut right = Extent::Nothing;
        for (_, queue) in books.up(queue) {
            if queue.settings.admin_acl.allows(&self.user, &self.groups) {
                return Extent::All;
            }
            if queue.settings.submit_acl.allows(&self.user, &self.groups) {
                right = Extent::Figures;
            }
        }
        right
    }

    fn any_below(&self, books: &Books, queue: QueueId) -> bool {
        let mut left: Vec<QueueId> = books.children(queue).map(|(id, _)| id).collect();
        while let Some(queue) = left.pop() {
            let settings = &books.queue(queue).settings;
            if settings.admin_acl.allows(&self.user, &self.groups)
                || settings.submit_acl.allows(&self.user, &self.groups)
            {
                return true;
            }
            left.extend(books.children(queue).map(|(id, _)| id));
        }
        false
    }
}
