//! Placement: selects the queue of an application.
//!
//! [`Rules`] are compiled once when a queue file is applied, and [`place`] tries them in order. It reads the books and
//! changes nothing. The caller that executes the submission creates a missing queue.
//!
//! Source: queues and limits §5 and §6.

mod access;
mod fault;
mod filter;
mod json;
mod rules;
mod tags;

pub use access::{is_recovery, may_administer, may_submit};
pub use fault::{Fault, Miss, Refused, RuleError, Wrong};
pub use rules::Rules;
pub use tags::is_forced;

pub(crate) use tags::QueueTags;

use alloc::vec::Vec;

use crate::books::{Books, QueueState};
use crate::config::legal::RECOVERY_QUEUE;
use crate::id::{PartitionId, QueueId};
use crate::name::Name;

use fault::{RULES_TOLD, clip};
use rules::Stop;

/// Queue of an application that no rule places, if the queue file defines this queue.
const DEFAULT_QUEUE: &str = "root.default";

/// Properties of a submission that rules use.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Requested queue. Can be empty.
    pub queue: &'a str,
    /// User who submits.
    pub user: &'a str,
    /// Groups of the user.
    pub groups: &'a [Name],
    /// Arbitrary keys and values. The first of keys that are equal in lower case counts.
    pub tags: &'a [(Name, Name)],
    /// Whether the application already runs and must not be lost. If no rule matches, it is placed in the recovery
    /// queue.
    pub forced: bool,
}

impl<'a> Request<'a> {
    /// Returns the value of a tag. `name` must be in lower case.
    pub fn tag(&self, name: &str) -> Option<&'a str> {
        tags::find(self.tags, name)
    }
}

/// Placement of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Path of its queue in lower case.
    pub path: Name,
    /// Path as the rule spells it.
    pub spelled: Name,
    /// Its queue, or the nearest existing ancestor.
    pub nearest: QueueId,
    /// Whether the queue exists.
    pub exists: bool,
}

/// Selects the queue of an application.
///
/// An existing result is a leaf to which the user can submit. A missing one has an existing ancestor to which the user
/// can submit; whether it can be created there is not checked. In both cases, all existing ancestors are active;
/// otherwise, the next rule is tried. Only a forced application is placed in the recovery queue.
///
/// # Errors
///
/// Returns [`Refused`] with the reason of each rule.
pub fn place(
    books: &Books,
    partition: PartitionId,
    request: &Request<'_>,
) -> Result<Placed, Refused> {
    let tree = Tree { books, partition };
    let rules = &books.partition(partition).rules;
    let rules = rules.built().map_err(|error| Refused::NoRules(error.clone()))?;
    let mut misses = Vec::new();
    for (position, rule) in rules.iter().enumerate() {
        let answer = rule.find(tree, request);
        let miss = match answer.and_then(|path| tree.admit(&path, request).map_err(Stop::Miss)) {
            Ok(placed) => return Ok(placed),
            Err(Stop::Fault(fault)) => {
                return Err(Refused::Fault { rule: (position + 1, rule.name), fault });
            }
            Err(Stop::Miss(miss)) => miss,
        };
        if position < RULES_TOLD {
            misses.push((rule.name, miss));
        }
    }
    if request.forced {
        return Ok(tree.recovery());
    }
    let fallback = match tree.find(DEFAULT_QUEUE) {
        None => Miss::NoDefault { path: Name::new(DEFAULT_QUEUE) },
        Some(_) => match tree.admit(DEFAULT_QUEUE, request) {
            Ok(placed) => return Ok(placed),
            Err(miss) => miss,
        },
    };
    Err(Refused::NoMatch { misses, rules: rules.len(), fallback })
}

/// Queues of one partition.
#[derive(Clone, Copy)]
struct Tree<'a> {
    books: &'a Books,
    partition: PartitionId,
}

impl Tree<'_> {
    fn find(self, path: &str) -> Option<QueueId> {
        self.books.queue_at(self.partition, path)
    }

    fn is_leaf(self, path: &str) -> bool {
        self.find(path).is_some_and(|queue| self.books.queue(queue).leaf)
    }

    /// Returns the number of levels of a path, without the root, that the queue file defines. Searches from the root,
    /// because a path of a client can be very long.
    fn managed_levels(self, path: &str) -> usize {
        let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
        let queues = ends.map_while(|end| self.find(&path[..end]));
        queues.take_while(|queue| self.books.queue(*queue).managed).count().saturating_sub(1)
    }

    /// Returns the queue at a path, or the nearest existing ancestor.
    fn nearest(self, path: &str) -> QueueId {
        let mut path = path;
        loop {
            if let Some(queue) = self.find(path) {
                return queue;
            }
            match path.rsplit_once('.') {
                Some((above, _)) => path = above,
                None => return self.books.partition(self.partition).root,
            }
        }
    }

    /// Checks whether the application can use the queue that a rule selected.
    fn admit(self, spelled: &str, request: &Request<'_>) -> Result<Placed, Miss> {
        let path = spelled.to_ascii_lowercase();
        let mut levels = path.split('.').skip(1);
        if levels.next() == Some(RECOVERY_QUEUE) {
            return Err(Miss::Reserved { path: clip(&path) });
        }
        let nearest = self.nearest(&path);
        let row = self.books.queue(nearest);
        let exists = row.path == *path;
        if exists && !row.leaf {
            return Err(Miss::NotLeaf { path: clip(&path) });
        }
        if !may_submit(self.books, nearest, request.user, request.groups) {
            let (user, groups) = (clip(request.user), request.groups.len());
            return Err(Miss::NotAllowed { path: clip(&row.path), user, groups });
        }
        // Below a draining queue, no application is accepted, and no queue is created.
        let mut up = self.books.up(nearest);
        if let Some((_, closed)) = up.find(|(_, above)| above.state != QueueState::Active) {
            let stopped = self.books.up(nearest).filter(|(_, above)| above.settings.stopped).last();
            let stopped = stopped.map(|(_, above)| clip(&above.path));
            return Err(Miss::NotActive { path: clip(&closed.path), state: closed.state, stopped });
        }
        Ok(Placed { path: Name::from(path), spelled: Name::new(spelled), nearest, exists })
    }

    fn recovery(self) -> Placed {
        let path = Name::from(alloc::format!("root.{RECOVERY_QUEUE}"));
        let nearest = self.nearest(&path);
        let exists = self.books.queue(nearest).path == path;
        Placed { spelled: path.clone(), path, nearest, exists }
    }
}
