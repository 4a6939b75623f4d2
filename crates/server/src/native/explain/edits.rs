//! Remedies in words. Remedies with hidden objects are omitted.

use headroom_api::headroomv1::{InTurn, Remedies, Remedy, display_amount};
use headroom_core::Blocker;
use headroom_core::books::Books;
use headroom_core::explain::remedy::{self, Edit, InTurnOutcome, StartsAfter};
use headroom_core::id::{AllocationId, LevelId, PartitionId, QueueId};
use headroom_core::resource::{Amounts, Quantity, ResourceType};

use super::super::request::PodNames;
use super::super::visible;
use super::super::words::time;
use super::Viewer;
use crate::caller::Caller;
use crate::rest::Visibility;

/// Returns all remedies that the caller can see, and the number of the hidden remedies.
pub(super) fn visible_remedies(
    books: &Books,
    viewer: &Viewer,
    found: &remedy::Remedies,
) -> Remedies {
    let words = Words { books, caller: &viewer.caller, pods: &viewer.pods };
    let items: Vec<Option<Remedy>> = found.found.iter().map(|one| words.remedy(one)).collect();
    Remedies {
        starts_alone: found.starts_after == Some(StartsAfter::Others),
        starts_once_accepted: found.starts_after == Some(StartsAfter::RmAccepts),
        in_turn: found.in_turn.map(turn),
        hidden: items.iter().filter(|one| one.is_none()).count() as u64,
        items: items.into_iter().flatten().collect(),
        ran_out: found.ran_out,
    }
}

const fn turn(turn: InTurnOutcome) -> InTurn {
    match turn {
        InTurnOutcome::Starts => InTurn::Starts,
        InTurnOutcome::Waits => InTurn::Waits,
        InTurnOutcome::Unknown => InTurn::Unknown,
    }
}

struct Words<'a> {
    books: &'a Books,
    caller: &'a Caller,
    pods: &'a PodNames,
}

impl Words<'_> {
    fn remedy(&self, one: &remedy::Remedy) -> Option<Remedy> {
        let edits: Option<Vec<String>> = one.edits.iter().map(|edit| self.edit(edit)).collect();
        let ends = one.edits.iter().filter_map(|edit| match edit {
            Edit::End { at, .. } => Some(*at),
            _ => None,
        });
        Some(Remedy {
            kind: one.kind.word().to_owned(),
            exact: one.exact,
            edits: edits?,
            at: ends.max().map(time),
            in_turn: one.in_turn.map(turn),
        })
    }

    /// Returns an edit in a few words. `None` if the caller cannot see an object of the edit.
    fn edit(&self, edit: &Edit) -> Option<String> {
        let books = self.books;
        match edit {
            Edit::QueueMax { queue, resource, from, to } => {
                let path = self.queue(*queue)?;
                let bound = self.bound("maximum", &path, Blocker::QueueMax(*queue));
                Some(format!("{bound}: {}", self.change(*resource, *from, *to)))
            }
            Edit::Limit { partition, level, resource, from, to } => {
                let subject = self.level(*partition, *level)?;
                let bound = self.bound("limit", &subject, Blocker::Limit(*partition, *level));
                Some(format!("{bound}: {}", self.change(*resource, *from, *to)))
            }
            Edit::QueueApplications { queue, from, to } => {
                Some(format!("application limit of {}: {from} to {to}", self.queue(*queue)?))
            }
            Edit::LimitApplications { partition, level, from, to } => {
                let subject = self.level(*partition, *level)?;
                Some(format!("application limit of {subject}: {from} to {to}"))
            }
            Edit::ParallelApplications { queue, from, to } => {
                let path = self.queue(*queue)?;
                Some(format!("`maxparallelapps` of {path}: {from} to {to}"))
            }
            Edit::ParallelOfUser { queue, user, from, to } => {
                let seen = visible::user_in(books, self.caller, user, *queue);
                seen.then(|| format!("limit of started applications of {user}: {from} to {to}"))
            }
            Edit::Setting { queue, setting, from, to } => {
                Some(format!("`{}` of {}: {from} to {to}", setting.key(), self.queue(*queue)?))
            }
            Edit::Resume { tenant, queue, .. } => visible::queue(books, self.caller, *queue)
                .then(|| format!("resume tenant {tenant}")),
            Edit::End { allocation, at } => {
                let what = self.allocation(*allocation)?;
                Some(format!("{what} ends at {}", time(*at)))
            }
            Edit::Release { allocation } => {
                let what = self.allocation(*allocation)?;
                Some(if books.allocation(*allocation).is_pending() {
                    format!("withdraw the ask {what}, which has a reservation")
                } else {
                    format!("release {what}")
                })
            }
            Edit::Size { resource, from, to, .. } => {
                Some(format!("request less: {}", self.change(*resource, *from, *to)))
            }
            Edit::Node { name, label, capacity, .. } => {
                let name = if name.is_empty() { String::new() } else { format!(" {name}") };
                let label =
                    if label.is_empty() { String::new() } else { format!(" with label {label}") };
                Some(format!("add node{name}{label}: {}", amounts(capacity)))
            }
            Edit::Larger { node, by } => {
                let seen = visible::everything(self.caller);
                seen.then(|| {
                    let name = &books.node(*node).name;
                    format!("enlarge node {name} by {}", amounts(by))
                })
            }
            Edit::Leaf { queue, .. } => {
                Some(format!("submit to {}", self.books.queue(*queue).path))
            }
        }
    }

    fn allocation(&self, allocation: AllocationId) -> Option<String> {
        let row = self.books.allocation(allocation);
        let application = self.books.application(row.application);
        let (user, queue) = (&application.user, application.queue);
        let seen = visible::user_in(self.books, self.caller, user, queue);
        let size = amounts(&self.books.plain_size_of(allocation));
        let partition = &self.books.partition(application.partition).name;
        let pod = self.pods.of(partition, &row.key).filter(|_| seen);
        let name = pod.unwrap_or_else(|| row.key.to_string());
        seen.then(|| format!("{name} of {} ({size})", application.name))
    }

    fn queue(&self, queue: QueueId) -> Option<String> {
        let seen = visible::queue(self.books, self.caller, queue);
        seen.then(|| self.books.queue(queue).path.to_string())
    }

    fn level(&self, partition: PartitionId, level: LevelId) -> Option<String> {
        let blocker = Blocker::Limit(partition, level);
        let open = Visibility::of(self.caller).sees_use_of(self.books, blocker);
        open.then(|| blocker.subject(self.books))
    }

    /// Returns the name of a bound: the quota of a tenant, or a bound of the queue file.
    fn bound(&self, bound: &str, subject: &str, blocker: Blocker) -> String {
        match blocker.tenant(self.books) {
            Some(tenant) => format!("quota of tenant {tenant}"),
            None => format!("{bound} of {subject}"),
        }
    }

    fn change(&self, resource: ResourceType, from: Quantity, to: Quantity) -> String {
        let name = self.books.types().name(resource);
        let of = |amount: Quantity| display_amount(name, amount.get());
        format!("{name} {} to {}", of(from), of(to))
    }
}

fn amounts(all: &Amounts) -> String {
    let each = all.iter().map(|(name, amount)| {
        let amount = display_amount(name, amount.get());
        format!("{name} {amount}")
    });
    each.collect::<Vec<String>>().join(", ")
}
