//! Entitlement of an ask for preemption, directly from user-headroom §6 and §7.2 and from decision 26. Every sum is
//! recomputed.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Books, StopRequest};
use crate::config::WithinQueue;
use crate::id::{AllocationId, LevelId, QueueId};
use crate::resource::{Quantity, ResourceType, Resources};
use crate::userlimit::{Among, Enforcement, Formula, Limit, Party, ShareQuery, split};

use super::naive_preempt::{Question, Usage};

/// Owner of a promised amount: a queue, or a user of the leaf of the ask, who is a child of that leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Queue.
    Queue(QueueId),
    /// User of this level.
    User(LevelId),
}

/// Promise that entitles the ask to preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// Guarantee of the queue.
    Guarantee,
    /// Fraction of the available amount, or the guarantee of the queue if it is larger.
    Split,
    /// Share of the user.
    Share,
    /// Priority, compared with the running allocations of the leaf.
    Priority,
}

impl Question<'_> {
    /// Returns the promise of a queue that applies.
    pub(super) fn basis_of_queue(books: &Books, leaf: QueueId) -> Basis {
        let queue = books.queue(leaf);
        let strict = books.partition(queue.partition).settings.preemption.strict_guarantee;
        let balances = queue.settings.preemption.balance == Some(true);
        if strict && balances { Basis::Split } else { Basis::Guarantee }
    }

    /// Returns the same question for the user. `None` if users of the leaf do not preempt each other.
    pub(super) fn within(&self) -> Option<Self> {
        let queue = self.books.queue(self.leaf);
        let settings = &self.books.partition(queue.partition).settings.preemption;
        let off = queue.settings.preemption.intra_queue_disabled == Some(true);
        self.books.users_of(self.leaf)?;
        let half = queue.guaranteed.as_ref()?.iter().any(|(resource, amount)| {
            let used = i128::from(queue.allocated.get_or_zero(resource).get());
            self.size.has(resource) && 2 * used > i128::from(amount.get())
        });
        let linked = self.books.application(self.row(self.ask).application).link.is_some();
        (settings.intra_queue_enabled && settings.strict_guarantee && !off && half && linked)
            .then_some(Self { basis: Basis::Share, ..*self })
    }

    /// Returns the same question by priority. `None` if the leaf does not preempt by priority.
    pub fn by_priority(&self) -> Option<Self> {
        let queue = self.books.queue(self.leaf);
        let by_priority = queue.settings.preemption.within_queue == Some(WithinQueue::Priority);
        let is_shared = self.books.users_of(self.leaf).is_some();
        (by_priority && !is_shared).then_some(Self { basis: Basis::Priority, ..*self })
    }

    /// Whether a victim can be stopped at all. It must have run for long enough, and a task of a tenant must be
    /// preemptable. A task of several members is stopped as a whole or not at all.
    pub(super) fn may_be_stopped(&self, id: AllocationId) -> bool {
        let row = self.row(id);
        let application = self.books.application(row.application);
        let least = self.books.queue(application.queue).settings.preemption.min_runtime;
        let long = least.is_none_or(|least| self.now >= row.placed + least);
        let alone = self.books.members_of(row.application) == 1;
        let may_be_whole = self.is_strict() && self.basis != Basis::Priority;
        long && (application.task.is_none() || (row.preemptable && (alone || may_be_whole)))
    }

    /// Whether all pending placeholders of the gang of the ask might fit (NS-31). Free amounts, amounts that become
    /// free, and victims count. Beyond the guarantee, only the free amounts count.
    pub(super) fn completes_gang(&self, candidates: &[AllocationId]) -> bool {
        let row = self.row(self.ask);
        let partition = self.books.partition(self.books.queue(self.leaf).partition);
        if !row.placeholder || !partition.settings.preemption.strict_guarantee {
            return true;
        }
        let all = self.books.allocations().iter();
        let waits = all.filter(|(_, one)| {
            one.application == row.application && one.placeholder && one.is_pending()
        });
        let missing = waits.fold(Resources::new(), |sum, (id, _)| sum.plus(self.size_of(id)));
        let stopped =
            candidates.iter().fold(Resources::new(), |sum, id| sum.plus(self.size_of(*id)));
        let root = self.books.queue(partition.root);
        let promised = (matches!(self.basis, Basis::Guarantee | Basis::Split) && !self.is_whole())
            .then(|| self.remaining(&self.usage(), self.asking()))
            .flatten();
        self.size.iter().filter(|(_, amount)| amount.get() > 0).all(|(resource, _)| {
            let of = |amounts: &Resources| amounts.get_or_zero(resource).get();
            let max = root.max.as_ref().and_then(|max| max.get(resource));
            let free = max
                .map_or(0, |max| (max.get() - of(&root.allocated) + of(&root.preempting)).max(0));
            let within = promised.as_ref().and_then(|left| left.get(resource));
            of(&missing) <= free + of(&stopped)
                && within.is_none_or(|left| of(&missing) - left.get().max(0) <= free)
        })
    }

    /// Returns the allocations that can be stopped because of their lower priority.
    pub(super) fn eligible_below(&self) -> Vec<AllocationId> {
        let mine = self.row(self.ask);
        let mut found: Vec<AllocationId> = Vec::new();
        for (id, row) in self.books.allocations().iter() {
            let application = self.books.application(row.application);
            if row.is_allocated()
                && application.queue == self.leaf
                && application.gang.is_none()
                && row.application != mine.application
                && row.priority < mine.priority
                && row.required_node().is_none()
                && row.mark == StopRequest::None
                && self.may_be_stopped(id)
            {
                found.push(id);
            }
        }
        found
    }

    /// Whether a part of the ask can exceed the promise.
    pub(super) fn is_whole(&self) -> bool {
        let queue = self.books.queue(self.leaf);
        let strict = self.books.partition(queue.partition).settings.preemption.strict_guarantee;
        self.basis != Basis::Guarantee || (strict && self.books.users_of(self.leaf).is_some())
    }

    /// Returns the owner of the ask.
    pub fn asking(&self) -> Who {
        self.who_has(self.ask)
    }

    /// Returns the owner that an allocation is counted for.
    pub fn who_has(&self, id: AllocationId) -> Who {
        let application = self.books.application(self.row(id).application);
        match application.link {
            Some(link) if self.basis == Basis::Share && application.queue == self.leaf => {
                Who::User(link.user)
            }
            _ => Who::Queue(application.queue),
        }
    }

    /// Returns a user or a queue, followed by all of its ancestor queues.
    pub(super) fn up(&self, who: Who) -> Vec<Who> {
        let (first, queue) = match who {
            Who::Queue(queue) => (None, queue),
            Who::User(_) => (Some(who), self.leaf),
        };
        let queues = self.books.up(queue).map(|(id, _)| Who::Queue(id));
        first.into_iter().chain(queues).collect()
    }

    /// Returns the use of all owners, without the allocations that are being stopped.
    pub fn usage(&self) -> Usage {
        let used = |queue: &crate::books::Queue| queue.allocated.minus_existing(&queue.preempting);
        let queues = self.books.queues().iter();
        let mut usage: Usage = queues.map(|(id, row)| (Who::Queue(id), used(row))).collect();
        if self.basis == Basis::Share {
            let users = self.books.users_of(self.leaf).expect("its users share it");
            usage.extend(users.users().map(|(level, user)| (Who::User(level), user.used())));
            for (id, row) in self.books.allocations().iter() {
                if let (Who::User(level), StopRequest::Preempted) = (self.who_has(id), row.mark) {
                    let of = usage.get_mut(&Who::User(level)).expect("the user uses it");
                    of.subtract(self.size_of(id));
                }
            }
        }
        usage
    }

    /// Returns the promise of an owner. `None` if it has none.
    pub(super) fn promised_to(&self, who: Who) -> Option<Resources> {
        let promised = match who {
            Who::User(level) => Some(self.keeps(level)),
            Who::Queue(queue) if self.basis == Basis::Split => {
                self.parts().remove(&queue).or_else(|| self.books.queue(queue).guaranteed.clone())
            }
            Who::Queue(queue) => self.books.queue(queue).guaranteed.clone(),
        };
        promised.filter(|one| !one.is_empty())
    }

    /// Returns the amount that a user keeps.
    fn keeps(&self, level: LevelId) -> Resources {
        let users = self.books.users_of(self.leaf).expect("its users share it");
        let among = self.books.among_everyone(self.leaf).expect("its users share it");
        let mut leaf = users.state();
        if users.rules().formula == Formula::Yarn27 {
            let names = self.books.applications_in(self.leaf).map(|(_, one)| one.user.clone());
            leaf.active = names.collect::<alloc::collections::BTreeSet<_>>().len() as u64;
        }
        let step = &users.rules().step;
        let weight = users.user(level).map(|user| user.weight).unwrap_or_default();
        let mut keeps = users.rules().limit(&leaf, ShareQuery { weight, among, ask: step }).limit;
        if self.asking() != Who::User(level) {
            for (resource, amount) in step.iter() {
                if let Some(least) = keeps.get(resource) {
                    keeps.set(resource, least.plus(amount));
                }
            }
        }
        keeps
    }

    /// Returns the fractions of the queues as amounts.
    fn parts(&self) -> BTreeMap<QueueId, Resources> {
        let root = self.books.partition(self.books.queue(self.leaf).partition).root;
        let there = self.books.queue(root).max.clone().unwrap_or_default();
        let mut parts = BTreeMap::new();
        let known = self.size.iter().map(|(resource, _)| resource);
        let amounts: Vec<_> =
            known.filter_map(|resource| Some((resource, there.get(resource)?.get()))).collect();
        let mut open = alloc::vec![(root, amounts)];
        while let Some((queue, mut amounts)) = open.pop() {
            let children: Vec<QueueId> = self.books.children(queue).map(|(id, _)| id).collect();
            let is_guaranteed = |resource: ResourceType| {
                children.iter().any(|id| {
                    let guaranteed = self.books.queue(*id).guaranteed.as_ref();
                    guaranteed.is_some_and(|one| one.get_or_zero(resource) > Quantity::ZERO)
                })
            };
            // Types without a guarantee do not decide which queue has too much, unless no type has a guarantee.
            if amounts.iter().any(|(resource, _)| is_guaranteed(*resource)) {
                amounts.retain(|(resource, _)| is_guaranteed(*resource));
            }
            for child in &children {
                parts.insert(
                    *child,
                    self.books.queue(*child).guaranteed.clone().unwrap_or_default(),
                );
            }
            let mut theirs = alloc::vec![Vec::new(); children.len()];
            for (resource, amount) in amounts {
                let parties: Vec<Party> =
                    children.iter().map(|id| self.party(*id, resource)).collect();
                for ((child, part), own) in
                    children.iter().zip(split(amount, &parties)).zip(&mut theirs)
                {
                    let all: &mut Resources = parts.get_mut(child).expect("it was just put there");
                    all.set(resource, all.get_or_zero(resource).max(Quantity::of(part)));
                    own.push((resource, part));
                }
            }
            open.extend(children.into_iter().zip(theirs));
        }
        parts
    }

    fn party(&self, id: QueueId, resource: ResourceType) -> Party {
        let queue = self.books.queue(id);
        let of = |amounts: &Resources| amounts.get_or_zero(resource).get();
        let weight = queue.guaranteed.as_ref().map_or(0, of);
        let used = of(&queue.allocated.minus_existing(&queue.preempting));
        let least = if queue.is_preemption_disabled() { used } else { used.min(weight) };
        Party { weight, least, most: self.wish(id, resource) }
    }

    /// Returns the amount that a queue uses and wants, at most its maximum.
    fn wish(&self, id: QueueId, resource: ResourceType) -> i64 {
        let queue = self.books.queue(id);
        let of = |amounts: &Resources| amounts.get_or_zero(resource);
        let used = of(&queue.allocated.minus_existing(&queue.preempting));
        let all = if self.books.children(id).next().is_none() {
            used.plus(of(&self.whole_asks(id)))
        } else {
            let each = self.books.children(id);
            let each = each.map(|(child, _)| Quantity::of(self.wish(child, resource)));
            each.fold(Quantity::ZERO, Quantity::plus).max(used)
        };
        let most = queue.max.as_ref().and_then(|max| max.get(resource));
        most.map_or(all, |most| all.min(most)).get()
    }

    /// Returns the pending amount of a leaf. In a shared leaf, an ask counts only if it is allowed after the asks
    /// before it.
    fn whole_asks(&self, id: QueueId) -> Resources {
        let queue = self.books.queue(id);
        let Some(users) = self.books.users_of(id) else { return queue.pending.clone() };
        let trackers = &self.books.partition(queue.partition).trackers;
        let (rules, leaf) = (users.rules(), users.state());
        let start = queue.allocated.minus_existing(&queue.preempting);
        let mut all = Resources::new();
        for (level, user) in users.users() {
            let (mut own, mut counted) = (Resources::new(), user.used());
            for (shape, count) in user.waits() {
                let size = self.books.shapes().get(*shape);
                let counts = users.normalised(size);
                let limit = users.limit(&user, Among::Active, &counts);
                let hard =
                    Limit { soft: limit.hard.clone(), limit: limit.hard.clone(), ..limit.clone() };
                let limit = if rules.enforcement == Enforcement::Strict { limit } else { hard };
                for _ in 0..*count {
                    let in_all = start.plus(&all).plus(size);
                    let beyond = |(resource, amount): (_, Quantity)| {
                        amount > Quantity::ZERO
                            && leaf
                                .max
                                .get(resource)
                                .is_some_and(|max| in_all.get_or_zero(resource) > max)
                    };
                    let refused = size.iter().any(beyond)
                        || trackers.up(level).any(|(_, at)| {
                            at.left().is_some_and(|left| !left.allows(&own.plus(size)))
                        })
                        || !rules.admits(&leaf, &limit, &counted, &counts);
                    if refused {
                        break;
                    }
                    all.add(size);
                    own.add(size);
                    counted.add(&counts);
                }
            }
        }
        all
    }

    /// Returns the allocations of other users of the same leaf that exceed the amounts which these users keep.
    pub(super) fn eligible_within(&self) -> Vec<AllocationId> {
        let usage = self.usage();
        let suits = |id: &AllocationId| {
            let row = self.row(*id);
            row.is_allocated()
                && self.leaf_of(*id) == self.leaf
                && matches!(self.who_has(*id), Who::User(_))
                && self.who_has(*id) != self.asking()
                && self.is_above(&usage, *id)
                && row.required_node().is_none()
                && row.mark == StopRequest::None
                && row.priority <= self.row(self.ask).priority
                && self.may_be_stopped(*id)
        };
        let all = self.books.allocations().iter().map(|(id, _)| id);
        all.filter(suits).collect()
    }

    /// Whether the leaf can preempt these victims at the same time: at most a fifth of its guarantee can be stopping.
    pub(super) fn may_be_on_its_way(&self, victims: &[AllocationId]) -> bool {
        let queue = self.books.queue(self.leaf);
        let Some(guaranteed) = queue.guaranteed.as_ref() else { return true };
        let all =
            victims.iter().fold(queue.preempting.clone(), |sum, id| sum.plus(self.size_of(*id)));
        queue.preempting.is_empty()
            || guaranteed.iter().all(|(resource, amount)| {
                let fifth = i128::from(amount.get()) / 5;
                !self.size.has(resource) || i128::from(all.get_or_zero(resource).get()) <= fifth
            })
    }
}
