//! Amounts that `CapacityScheduler`'s preemption monitor takes in a round, as arithmetic. By this rule, its users get
//! stuck. Source: user-headroom §6 and §11.
//!
//! Amounts are of one resource type, in its units.

use headroom_core::userlimit::{Decimal, Party, split};

/// Settings of the monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// Fraction of the cluster that is preempted in a round at most (`total_preemption_per_round`).
    pub per_round: Decimal,
    /// Fraction of the amount to preempt from a queue that is preempted in a round (`natural_termination_factor`).
    pub natural: Decimal,
    /// Fraction of the guarantee by which a queue can exceed its guarantee without preemption
    /// (`max_ignored_over_capacity`).
    pub dead_zone: Decimal,
    /// Whether nothing is preempted for a queue beyond its guarantee: true for version 3, false for 2.7.3.
    pub within_guarantee: bool,
}

/// A queue as the monitor sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Guarantee of the queue.
    pub guaranteed: i64,
    /// Usage of the queue.
    pub used: i64,
    /// Amount of its waiting asks that its users are allowed to use.
    pub demand: i64,
}

impl Monitor {
    /// Returns the default settings of `CapacityScheduler`.
    ///
    /// # Panics
    /// Never: the numbers are constants.
    pub fn by_default() -> Self {
        Self {
            per_round: Decimal::TENTH,
            natural: Decimal::parse("0.2").expect("a number"),
            dead_zone: Decimal::TENTH,
            within_guarantee: false,
        }
    }

    /// Returns settings that preempt everything in one round, as in the recorded histories.
    pub fn at_once(within_guarantee: bool) -> Self {
        Self {
            per_round: Decimal::ONE,
            natural: Decimal::ONE,
            within_guarantee,
            ..Self::by_default()
        }
    }

    /// Returns the ideal amount of each queue.
    pub fn ideal(&self, total: i64, sides: &[Side]) -> Vec<i64> {
        let party = |side: &Side| {
            let wish = side.used.saturating_add(side.demand);
            let most =
                if self.within_guarantee { wish.min(side.guaranteed.max(side.used)) } else { wish };
            Party { weight: side.guaranteed, least: side.used.min(side.guaranteed), most }
        };
        split(total, &sides.iter().map(party).collect::<Vec<_>>())
    }

    /// Returns the largest usage of a queue at which the monitor preempts nothing from the queue.
    pub fn ignored_up_to(&self, guaranteed: i64) -> i64 {
        part(guaranteed, Decimal::ONE.plus(self.dead_zone))
    }

    /// Returns the amounts to preempt from each queue in this round. Limits the sum to a fraction of the cluster, and
    /// then reduces each amount to a fraction.
    pub fn this_round(&self, total: i64, needs: &[i64]) -> Vec<i64> {
        let most = i128::from(part(total, self.per_round));
        let sum: i128 = needs.iter().copied().map(i128::from).sum();
        let scaled = |need: i64| {
            if sum <= most {
                return need;
            }
            let scaled = i128::from(need) * most / sum;
            i64::try_from(scaled).unwrap_or(i64::MAX)
        };
        needs.iter().map(|need| part(scaled(*need), self.natural)).collect()
    }

    /// Returns the amounts that are preempted from each queue in this round.
    pub fn round(&self, total: i64, sides: &[Side]) -> Vec<i64> {
        let ideal = self.ideal(total, sides);
        let needs: Vec<i64> = ideal
            .iter()
            .zip(sides)
            .map(|(ideal, side)| {
                let ignored = side.used <= self.ignored_up_to(side.guaranteed);
                if ignored { 0 } else { (side.used - ideal).max(0) }
            })
            .collect();
        self.this_round(total, &needs)
    }
}

/// Returns the demand that Headroom assumes for a queue: the sum of its next whole asks. An ask counts if some of the
/// promised amount is left before this ask. Source: user-headroom §7.2, rule of whole asks;
/// docs/decisions/0026-whole-asks.md.
pub fn whole_asks(used: i64, promised: i64, ask: i64, waiting: u64) -> i64 {
    let waiting = i64::try_from(waiting).unwrap_or(i64::MAX);
    let wanted = (promised - used).max(0);
    let count = wanted / ask.max(1) + i64::from(wanted % ask.max(1) > 0);
    ask.saturating_mul(count.min(waiting))
}

/// Returns a fraction of an amount, rounded down.
fn part(amount: i64, of: Decimal) -> i64 {
    let product = i128::from(amount) * i128::from(of.millionths());
    i64::try_from(product / i128::from(Decimal::ONE.millionths())).unwrap_or(i64::MAX)
}
