//! What `CapacityScheduler`'s preemption monitor takes in a round: the law by which its users get
//! stuck, as arithmetic. Source: user-headroom §6 and §11.
//!
//! Amounts are of one resource type, in its units.

use headroom_core::userlimit::{Decimal, Party, split};

/// How much is taken at once, and from whom nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// Of the cluster, at most so much is taken in a round (`total_preemption_per_round`).
    pub per_round: Decimal,
    /// Of what is to be taken from a queue, so much is taken in a round
    /// (`natural_termination_factor`).
    pub natural: Decimal,
    /// A queue is left alone until it is above its guarantee by this part of it
    /// (`max_ignored_over_capacity`).
    pub dead_zone: Decimal,
    /// Whether nothing is taken for a queue beyond its guarantee: version 3 does not, 2.7.3 does.
    pub within_guarantee: bool,
}

/// A queue as the monitor sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// What it is guaranteed.
    pub guaranteed: i64,
    /// What it uses.
    pub used: i64,
    /// How much more its users may have of what they wait for.
    pub demand: i64,
}

impl Monitor {
    /// The defaults of `CapacityScheduler`.
    ///
    /// # Panics
    /// Never: the numbers are written here.
    pub fn by_default() -> Self {
        Self {
            per_round: Decimal::TENTH,
            natural: Decimal::parse("0.2").expect("a number"),
            dead_zone: Decimal::TENTH,
            within_guarantee: false,
        }
    }

    /// Everything that is to be taken is taken in one round, as in the recorded histories.
    pub fn at_once(within_guarantee: bool) -> Self {
        Self {
            per_round: Decimal::ONE,
            natural: Decimal::ONE,
            within_guarantee,
            ..Self::by_default()
        }
    }

    /// What each queue is to have in the end.
    pub fn ideal(&self, total: i64, sides: &[Side]) -> Vec<i64> {
        let party = |side: &Side| {
            let wish = side.used.saturating_add(side.demand);
            let most =
                if self.within_guarantee { wish.min(side.guaranteed.max(side.used)) } else { wish };
            Party { weight: side.guaranteed, least: side.used.min(side.guaranteed), most }
        };
        split(total, &sides.iter().map(party).collect::<Vec<_>>())
    }

    /// The most that a queue may use before anything is taken from it.
    pub fn ignored_up_to(&self, guaranteed: i64) -> i64 {
        part(guaranteed, Decimal::ONE.plus(self.dead_zone))
    }

    /// How much of what is to be taken from each queue is taken in this round: no more than its part
    /// of the cluster together, and of that its part again.
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

    /// How much is taken from each queue in this round.
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

/// What Headroom takes a queue to want that uses this much, has so many asks of this size and is
/// promised so much: one whole ask after the other while something is left of the promise before it.
/// Source: user-headroom §7.2, rule of whole asks; docs/decisions/0026-whole-asks.md.
pub fn whole_asks(used: i64, promised: i64, ask: i64, waiting: u64) -> i64 {
    let waiting = i64::try_from(waiting).unwrap_or(i64::MAX);
    let wanted = (promised - used).max(0);
    let count = wanted / ask.max(1) + i64::from(wanted % ask.max(1) > 0);
    ask.saturating_mul(count.min(waiting))
}

/// So much of an amount, rounded down.
fn part(amount: i64, of: Decimal) -> i64 {
    let product = i128::from(amount) * i128::from(of.millionths());
    i64::try_from(product / i128::from(Decimal::ONE.millionths())).unwrap_or(i64::MAX)
}
