//! The order in which victims are taken, and in which sets of victims are compared. No-starvation NS-40.

use core::cmp::Reverse;

use crate::books::{Allocation, Books};
use crate::id::PartitionId;
use crate::resource::{Quantity, Resources};
use crate::time::Timestamp;

/// Fractions of the cluster are counted in trillionths: a whole number, so that every build compares alike.
const WHOLE: i128 = 1_000_000_000_000;

/// What it costs to stop a set of victims. The fields are compared in their order, and this is the only order of victims:
/// a candidate is a set of one.
///
/// Without `strictguarantee` fields that the reference does not compare are equal for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the order")]
pub(super) struct Cost {
    /// Whether a victim has a node that was not lent to it. User-headroom §10 (C18).
    pub(super) owns: bool,
    /// Whether a victim does not offer itself. Scheduling §11.4.
    pub(super) reluctant: bool,
    /// Whether a victim is the first of its application. Scheduling §11.4.
    pub(super) originator: bool,
    /// Whether a gang stops as a whole. No-starvation NS-32.
    pub(super) gang: bool,
    /// The highest priority of a victim.
    pub(super) priority: i32,
    /// What is released beyond the need: the largest fraction of the cluster, of all types.
    pub(super) surplus: i128,
    /// Run times, each multiplied by the largest fraction of the cluster that the victim has.
    pub(super) work: i128,
    /// How many victims; a gang is one.
    pub(super) count: usize,
    /// The oldest victim: the newer it is, the less it costs.
    pub(super) age: Reverse<(Timestamp, u64)>,
}

impl Cost {
    /// The cost of stopping nothing.
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

    /// Whether the set has only victims that offer themselves and are not the first of their applications.
    pub(super) const fn is_easy(self) -> bool {
        !self.reluctant && !self.originator
    }

    /// The cost of both, apart from what they release beyond the need.
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

    /// Whether a victim of this cost makes a set no worse in what is compared before amounts.
    pub(super) fn is_no_worse_kind_than(&self, set: &Self) -> bool {
        self.owns <= set.owns
            && self.reluctant <= set.reluctant
            && self.originator <= set.originator
            && self.gang <= set.gang
            && self.priority <= set.priority
    }
}

/// Measures victims against the cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'books> {
    books: &'books Books,
    cluster: Option<&'books Resources>,
    now: Timestamp,
    /// Whether no queue may fall below its guarantee.
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

    /// The cost of one allocation alone, whatever is needed.
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

    /// The largest fraction of the cluster that some amounts are.
    pub(super) fn part(&self, amounts: &Resources) -> i128 {
        self.surplus(amounts, &Resources::new())
    }

    /// The largest fraction of the cluster by which some amounts exceed others.
    pub(super) fn surplus(&self, given: &Resources, need: &Resources) -> i128 {
        let beyond = given.iter().map(|(resource, amount)| {
            let beyond = amount.minus(need.get_or_zero(resource)).max(Quantity::ZERO);
            let there = self.cluster.map_or(0, |all| all.get_or_zero(resource).get());
            // A type that no node has is as scarce as can be.
            let is_there = there > 0;
            let all = if is_there { i128::from(there) } else { 1 };
            i128::from(beyond.get()) * WHOLE / all
        });
        beyond.max().unwrap_or(0)
    }
}
