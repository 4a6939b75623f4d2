//! Entitlement of an ask to preempt: the promise to its queue or to its user. Source: user-headroom §6 and §7.2;
//! docs/decisions/0026-whole-asks.md.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Books, Queue, StopRequest};
use crate::id::{AllocationId, LevelId, QueueId};
use crate::resource::{Quantity, ResourceType, Resources};
use crate::userlimit::{Party, split};

use super::demand;

/// Percentage of its guarantee that a leaf must use before its users preempt each other. Source: user-headroom §6,
/// `minimum-threshold`.
const BUSY_FROM: i128 = 50;

/// Percentage of the guarantee of a leaf that can move between users at once. Source: user-headroom §6,
/// `max-allowable-limit`.
const AT_ONCE: i128 = 20;

/// Entitlement of an ask to preempt.
#[derive(Clone, Debug)]
pub(super) enum Entitlement {
    /// The guarantee of its queue.
    Guarantee,
    /// The ideal assignment of each queue from the available amounts, or its guarantee if that is larger.
    IdealAssignment(BTreeMap<QueueId, Resources>),
    /// The fair share of its user in the leaf.
    Share(Shares),
    /// Its priority among the allocations of its leaf.
    Priority,
}

/// Usage and protected amounts of the users of a leaf.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// User of the ask.
    pub(super) asking: LevelId,
    pub(super) users: BTreeMap<LevelId, Share>,
}

/// Usage and protected amount of one user.
#[derive(Clone, Debug, Default)]
pub(super) struct Share {
    /// Amount that preemption leaves the user at least.
    pub(super) keeps: Resources,
    /// Usage of the user, minus what the RM is already stopping.
    pub(super) used: Resources,
}

/// Returns the first entitlement to try, that of the queue.
pub(super) fn of_queue(books: &Books, ask: AllocationId) -> Entitlement {
    let application = books.application(books.allocation(ask).application);
    let balances = books.queue(application.queue).settings.preemption.balances();
    let strict = books.partition(application.partition).settings.preemption.strict_guarantee;
    if !balances || !strict {
        return Entitlement::Guarantee;
    }
    Entitlement::IdealAssignment(parts(books, application.queue, books.resources_of(ask)))
}

/// Returns the entitlement of the user, for a queue that has received its promise. `None` if users do not preempt each
/// other.
pub(super) fn of_user(books: &Books, ask: AllocationId) -> Option<Entitlement> {
    let application = books.application(books.allocation(ask).application);
    let leaf = application.queue;
    let queue = books.queue(leaf);
    let settings = &books.partition(application.partition).settings.preemption;
    let is_on = settings.intra_queue_enabled && settings.strict_guarantee;
    if !is_on || !queue.settings.preemption.is_within_queue() {
        return None;
    }
    let (asking, size) = (application.link?.user, books.resources_of(ask));
    let shares = books.shares_among_everyone(leaf)?;
    let guaranteed = queue.guaranteed.as_ref()?;
    let is_busy = guaranteed.iter().any(|(resource, amount)| {
        let used = i128::from(queue.allocated.get_or_zero(resource).get());
        size.has(resource) && used * 100 > i128::from(amount.get()) * BUSY_FROM
    });
    if !is_busy {
        return None;
    }
    let step = &books.users_of(leaf)?.rules().step;
    let keeps = |(level, share, used): (LevelId, Resources, Resources)| {
        // The victim retains one more step, so that rounding does not move allocations back and forth.
        let keeps = if level == asking { share } else { share.plus_existing(step) };
        (level, Share { keeps, used })
    };
    let mut users: BTreeMap<LevelId, Share> = shares.into_iter().map(keeps).collect();
    if !queue.preempting.is_empty() {
        for (id, level) in stopping_in(books, leaf) {
            if let Some(share) = users.get_mut(&level) {
                share.used.subtract(books.resources_of(id));
            }
        }
    }
    Some(Entitlement::Share(Shares { asking, users }))
}

/// Returns the entitlement by priority, if neither the queue nor the user is promised more.
pub(super) fn by_priority(books: &Books, ask: AllocationId) -> Option<Entitlement> {
    let leaf = books.application(books.allocation(ask).application).queue;
    goes_by_priority(books, leaf).then_some(Entitlement::Priority)
}

/// Returns whether asks of a leaf can preempt allocations of a lower priority there.
///
/// In a leaf with user limits, fair shares determine the next user, so freed capacity would go to a different ask.
/// Source: no-starvation NS-43.
pub(super) fn goes_by_priority(books: &Books, leaf: QueueId) -> bool {
    books.queue(leaf).settings.preemption.is_by_priority() && books.users_of(leaf).is_none()
}

/// Returns the allocations of a leaf that are being stopped, with the levels of their users.
fn stopping_in(books: &Books, leaf: QueueId) -> impl Iterator<Item = (AllocationId, LevelId)> {
    books.applications_in(leaf).flat_map(move |(id, application)| {
        let level = application.link.map(|link| link.user);
        let all = books.allocations_of(id);
        let marked =
            all.filter(|(_, row)| row.is_allocated() && row.mark == StopRequest::Preempted);
        marked.filter_map(move |(id, _)| Some((id, level?)))
    })
}

/// Returns whether this additional amount can move between users of a leaf, in the types of an ask. The first move is
/// always allowed.
pub(super) fn may_be_on_its_way(
    books: &Books,
    leaf: QueueId,
    victims: &[AllocationId],
    ask: &Resources,
) -> bool {
    let queue = books.queue(leaf);
    let (Some(guaranteed), false) = (&queue.guaranteed, queue.preempting.is_empty()) else {
        return true;
    };
    let mut all = queue.preempting.clone();
    for victim in victims {
        all.add(books.resources_of(*victim));
    }
    let mut types = guaranteed.iter().filter(|(resource, _)| ask.has(*resource));
    types.all(|(resource, amount)| {
        let most = i128::from(amount.get()) * AT_ONCE / 100;
        i128::from(all.get_or_zero(resource).get()) <= most
    })
}

/// Returns the ideal assignment of each queue of a partition, in the types of an ask: all available amounts split by
/// the guarantees, at least the guarantee.
///
/// Costs the queues, and the users of leaves with user limits.
fn parts(books: &Books, leaf: QueueId, ask: &Resources) -> BTreeMap<QueueId, Resources> {
    let root = books.partition(books.queue(leaf).partition).root;
    let mut wishes = BTreeMap::new();
    wish(books, root, &mut wishes);
    let there = books.queue(root).max.clone().unwrap_or_default();
    let mut parts = BTreeMap::new();
    share_out(books, root, &there, ask, &wishes, &mut parts);
    parts
}

/// Returns the usage and demand of a queue with its descendants. In leaves with user limits, the demand is in whole
/// asks. A leaf that became a parent can have applications of its own.
fn wish(books: &Books, at: QueueId, wishes: &mut BTreeMap<QueueId, Resources>) -> Resources {
    let queue = books.queue(at);
    let used = queue.used_after_preemption();
    let below: Vec<QueueId> = books.children(at).map(|(id, _)| id).collect();
    let mut wanted = if below.is_empty() {
        let waits = books.users_of(at).map(|users| demand::demand(books, at, users));
        used.plus(&waits.unwrap_or_else(|| queue.pending.clone()))
    } else {
        let sum = below.into_iter().map(|id| wish(books, id, wishes));
        sum.fold(Resources::new(), |sum, one| sum.plus(&one)).maximum(&used)
    };
    if let Some(max) = &queue.max {
        for (resource, most) in max.iter() {
            let capped = wanted.get_or_zero(resource).min(most);
            wanted.set(resource, capped);
        }
    }
    wishes.insert(at, wanted.clone());
    wanted
}

/// Returns the types of an ask in which siblings are compared: those with a guarantee of at least one sibling, or all
/// if there is none. A type without a guarantee does not show which queue has too much. Source: no-starvation NS-44.
fn compared_types<'books>(
    there: &Resources,
    ask: &Resources,
    guarantees: impl Iterator<Item = &'books Resources>,
) -> Vec<ResourceType> {
    let all = guarantees.fold(Resources::new(), |all, one| all.maximum(one));
    let is_guaranteed = |resource: &ResourceType| all.get_or_zero(*resource) > Quantity::ZERO;
    let types: Vec<_> = ask.iter().map(|(one, _)| one).filter(|one| there.has(*one)).collect();
    let named: Vec<_> = types.iter().copied().filter(is_guaranteed).collect();
    if named.is_empty() { types } else { named }
}

/// Splits the amount of a queue among its children.
fn share_out(
    books: &Books,
    at: QueueId,
    there: &Resources,
    ask: &Resources,
    wishes: &BTreeMap<QueueId, Resources>,
    parts: &mut BTreeMap<QueueId, Resources>,
) {
    let children: Vec<(QueueId, &Queue, Resources)> =
        books.children(at).map(|(id, queue)| (id, queue, queue.used_after_preemption())).collect();
    let mut theirs: Vec<Resources> = children.iter().map(|_| Resources::new()).collect();
    let guarantees = children.iter().filter_map(|(_, queue, _)| queue.guaranteed.as_ref());
    for resource in compared_types(there, ask, guarantees) {
        let party = |(id, queue, used): &(QueueId, &Queue, Resources)| {
            let of = |amounts: &Resources| amounts.get_or_zero(resource).get();
            let guaranteed = queue.guaranteed.as_ref().map_or(0, of);
            let used = of(used);
            let gives = !queue.is_preemption_disabled();
            let least = if gives { used.min(guaranteed) } else { used };
            Party { weight: guaranteed, least, most: of(&wishes[id]) }
        };
        let parties: Vec<Party> = children.iter().map(party).collect();
        for (one, part) in theirs.iter_mut().zip(split(there.get_or_zero(resource).get(), &parties))
        {
            one.set(resource, Quantity::of(part));
        }
    }
    for ((id, queue, _), part) in children.into_iter().zip(theirs) {
        share_out(books, id, &part, ask, wishes, parts);
        let promised = queue.guaranteed.as_ref();
        let all = promised.map_or_else(|| part.clone(), |promised| promised.maximum(&part));
        parts.insert(id, all);
    }
}
