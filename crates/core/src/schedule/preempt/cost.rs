//! Order of victims and of sets of victims. Source: no-starvation NS-40.

use core::cmp::Reverse;

use crate::books::{Allocation, Books};
use crate::id::PartitionId;
use crate::resource::{Quantity, Resources};
use crate::time::Timestamp;

/// Fractions of the cluster are counted in trillionths. Integers compare equally in every build.
const WHOLE: i128 = 1_000_000_000_000;

/// Cost of stopping a set of victims. The fields are compared in their order. This is the only order of victims, and a
/// candidate is a set of one.
///
/// Without `strictguarantee`, fields that YuniKorn does not compare are equal for all sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the order")]
pub(super) struct Cost {
    /// Whether a victim has a node that was not lent to it. Source: user-headroom §10 (C18).
    pub(super) owns: bool,
    /// Whether a victim is not a preferred victim. Source: scheduling §11.4.
    pub(super) reluctant: bool,
    /// Whether a victim is the originator of its application. Source: scheduling §11.4.
    pub(super) originator: bool,
    /// Whether a gang stops as a whole. Source: no-starvation NS-32.
    pub(super) gang: bool,
    /// Highest priority of the victims.
    pub(super) priority: i32,
    /// Released amount beyond the need: the largest fraction of the cluster over all types.
    pub(super) surplus: i128,
    /// Sum of the run times, each multiplied by the largest fraction of the cluster that the victim uses.
    pub(super) work: i128,
    /// Number of victims. A gang counts as one.
    pub(super) count: usize,
    /// Oldest victim. A newer one costs less.
    pub(super) age: Reverse<(Timestamp, u64)>,
}

impl Cost {
    /// Cost of stopping nothing.
    pub(super) const NOTHING: Self = Self {
        owns: false,
        reluctant: false,
        originator: false,
        gang: false,
        priority: i32::MIN,
        surplus: 0,
        work: 0,
        count: 0,
        age: Reverse((Timestamp::from_millis(u64::MAX), u64::MAX)),
    };

    /// Returns whether the set has only preferred victims, none of them an originator.
    pub(super) const fn is_easy(self) -> bool {
        !self.reluctant && !self.originator
    }

    /// Returns the cost of both sets together, without the surplus.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            owns: self.owns || other.owns,
            reluctant: self.reluctant || other.reluctant,
            originator: self.originator || other.originator,
            gang: self.gang || other.gang,
            priority: self.priority.max(other.priority),
            surplus: 0,
            work: self.work.saturating_add(other.work),
            count: self.count.saturating_add(other.count),
            age: self.age.max(other.age),
        }
    }

    /// Returns whether a victim of this cost does not increase the criteria of the set that precede the amounts.
    pub(super) fn is_no_worse_kind_than(&self, set: &Self) -> bool {
        self.owns <= set.owns
            && self.reluctant <= set.reluctant
            && self.originator <= set.originator
            && self.gang <= set.gang
            && self.priority <= set.priority
    }
}

/// Measures victims in fractions of the cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'books> {
    books: &'books Books,
    cluster: Option<&'books Resources>,
    now: Timestamp,
    /// Whether no queue can fall below its guarantee.
    strict: bool,
}

impl<'books> Scale<'books> {
    pub(super) fn of(books: &'books Books, partition: PartitionId, now: Timestamp) -> Self {
        let partition = books.partition(partition);
        let strict = partition.settings.preemption.strict_guarantee;
        Self { books, cluster: books.queue(partition.root).max.as_ref(), now, strict }
    }

    pub(super) const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Returns the cost of one allocation alone, regardless of the need.
    pub(super) fn cost_of(&self, row: &Allocation) -> Cost {
        let run = i128::from(self.now.since(row.placed).get());
        let part = || self.part(self.books.shapes().get(row.shape));
        Cost {
            owns: !self.books.is_lent(row),
            reluctant: !row.preemptable,
            originator: row.originator,
            gang: false,
            priority: if self.strict { row.priority } else { 0 },
            surplus: 0,
            work: if self.strict { run.saturating_mul(part()) } else { 0 },
            count: 1,
            age: Reverse((row.created, row.number.unsigned_abs())),
        }
    }

    /// Returns the largest fraction of the cluster among the amounts, in trillionths.
    pub(super) fn part(&self, amounts: &Resources) -> i128 {
        self.surplus(amounts, &Resources::new())
    }

    /// Returns the largest fraction of the cluster by which `given` exceeds `need`, in trillionths.
    pub(super) fn surplus(&self, given: &Resources, need: &Resources) -> i128 {
        let beyond = given.iter().map(|(resource, amount)| {
            let beyond = amount.minus(need.get_or_zero(resource)).max(Quantity::ZERO);
            let there = self.cluster.map_or(0, |all| all.get_or_zero(resource).get());
            // A type that no node has counts as the scarcest type.
            let is_there = there > 0;
            let all = if is_there { i128::from(there) } else { 1 };
            i128::from(beyond.get()) * WHOLE / all
        });
        beyond.max().unwrap_or(0)
    }
}
