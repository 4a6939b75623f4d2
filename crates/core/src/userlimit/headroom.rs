//! How much more a user may have at once: what is reported to his applications. Source:
//! user-headroom §2.5, decisions M-6 and M-17.

use crate::resource::{Quantity, ResourceType, Resources};

use super::calculator::Ops;
use super::{Formula, Leaf, Rules};

/// What bounds a user of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// How much he may have, [`super::Limit::limit`].
    pub limit: &'a Resources,
    /// What he uses in the leaf.
    pub used: &'a Resources,
    /// How much the leaf may have now: the lowest of its maximum and what the queues above leave it,
    /// with what it uses.
    pub queue: &'a Resources,
    /// What nobody uses of the partition.
    pub free: &'a Resources,
}

impl Rules {
    /// How much more a user may have at once: the least of what is left of his limit, of his queue and
    /// of the partition, in multiples of the step.
    ///
    /// Under `smooth` a type is bounded by those that name it, and never below zero. The others name
    /// every type and report what CapacityScheduler does: 3 takes what is free as a whole vector where
    /// its dominant share is smaller; 2.7.3 does not look at it, and raises memory alone to zero.
    pub fn headroom(&self, leaf: &Leaf, bounds: Bounds<'_>) -> Resources {
        let ops = self.ops(leaf);
        let Bounds { limit, used, queue, free } = bounds;
        match self.formula {
            Formula::Smooth => {
                let own = limit.minus_existing(used);
                let least = own.minimum(&queue.minus_existing(&leaf.used));
                self.whole_steps(ops, &floored(&least)).minimum(&floored(&ops.map(free, same)))
            }
            Formula::Yarn3 => {
                let [own, left] =
                    [limit.minus(used), queue.minus(&leaf.used)].map(|one| floored(&one));
                let least = self.whole_steps(ops, &ops.join(&own, &left, i64::min));
                with_memory(ops.smaller(&ops.map(free, same), &least))
            }
            Formula::Yarn27 => {
                let (own, left) = (limit.minus(used), queue.minus(&leaf.used));
                with_memory(self.whole_steps(ops, &ops.join(&own, &left, i64::min)))
            }
        }
    }

    /// Cut to multiples of the step, towards zero.
    fn whole_steps(&self, ops: Ops<'_>, of: &Resources) -> Resources {
        ops.map(of, |resource, amount| {
            let step = self.step.get_or_zero(resource).get();
            if step <= 0 { amount } else { amount - amount % step }
        })
    }
}

const fn same(_: ResourceType, amount: i64) -> i64 {
    amount
}

fn floored(of: &Resources) -> Resources {
    of.iter().map(|(resource, amount)| (resource, amount.max(Quantity::ZERO))).collect()
}

/// At least nothing in memory, whatever the other types are.
fn with_memory(mut of: Resources) -> Resources {
    let memory = of.get_or_zero(ResourceType::MEMORY).max(Quantity::ZERO);
    of.set(ResourceType::MEMORY, memory);
    of
}
