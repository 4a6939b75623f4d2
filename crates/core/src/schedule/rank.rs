//! Ranks: numbers in the order of names, so that the scheduling loop does not compare text.

use alloc::collections::BTreeMap;
use core::ops::Bound;

use crate::name::Name;

/// Gap between neighbors when names are added in ascending or descending order, also between existing names.
const STRIDE: u64 = 1 << 32;

/// Names with their ranks. Ranks have the same order as the names.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks {
    by_name: BTreeMap<Name, Rank>,
    /// Number of names added so far.
    came: u64,
}

/// Rank of a name, and its number of uses. Partitions can have queues with the same path.
#[derive(Clone, Copy, Debug)]
struct Rank {
    number: u64,
    uses: u32,
    /// Sequence number of the addition.
    came: u64,
}

impl Ranks {
    /// Adds a name. Returns its rank, or `None` if all names got new ranks, which the caller must then read again.
    pub(super) fn insert(&mut self, name: &Name) -> Option<u64> {
        if let Some(known) = self.by_name.get_mut(name) {
            known.uses += 1;
            return Some(known.number);
        }
        let below = self.by_name.range(..name.clone()).next_back().map(|(_, rank)| *rank);
        let above = (Bound::Excluded(name.clone()), Bound::Unbounded);
        let above = self.by_name.range(above).next().map(|(_, rank)| *rank);
        let rank = match (below, above) {
            (None, None) => Some(1 << 63),
            (Some(below), None) => below.number.checked_add(STRIDE),
            (None, Some(above)) => above.number.checked_sub(STRIDE),
            (Some(below), Some(above)) => between(below, above),
        };
        self.came += 1;
        let fresh = Rank { number: rank.unwrap_or(0), uses: 1, came: self.came };
        self.by_name.insert(name.clone(), fresh);
        if rank.is_none() {
            self.spread();
        }
        rank
    }

    /// Adds many names and renumbers all names.
    pub(super) fn fill<'name>(&mut self, names: impl Iterator<Item = &'name Name>) {
        for name in names {
            let fresh = Rank { number: 0, uses: 0, came: 0 };
            self.by_name.entry(name.clone()).or_insert(fresh).uses += 1;
        }
        self.spread();
    }

    /// Removes one use of a name, and the name with its last use.
    pub(super) fn remove(&mut self, name: &Name) {
        if let Some(rank) = self.by_name.get_mut(name) {
            rank.uses -= 1;
            if rank.uses == 0 {
                self.by_name.remove(name);
            }
        }
    }

    /// Returns the rank of a name.
    ///
    /// # Panics
    /// Panics if the name was not added, because a wrong rank would break the order permanently.
    pub(super) fn get(&self, name: &Name) -> u64 {
        self.by_name.get(name).expect("a name is ranked before its number is used").number
    }

    /// Assigns new ranks to all names, with equal gaps.
    fn spread(&mut self) {
        let room = u64::MAX / (self.by_name.len() as u64 + 1);
        for (position, rank) in self.by_name.values_mut().enumerate() {
            rank.number = (position as u64 + 1) * room;
        }
    }
}

/// Returns a rank between two neighbors. `None` if the gap is exhausted.
///
/// The rank is close to the neighbor that was added later, because more names are likely in the same direction.
fn between(below: Rank, above: Rank) -> Option<u64> {
    let step = ((above.number - below.number) / 2).min(STRIDE);
    let upwards = below.came >= above.came;
    let number = if upwards { below.number + step } else { above.number - step };
    (step > 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_order_as_names_do(names in prop::collection::vec("[ab]{1,9}", 1..60)) {
            let mut ranks = Ranks::default();
            for name in &names {
                ranks.insert(&Name::new(name));
            }
            for left in &names {
                for right in &names {
                    let number = |name: &str| ranks.get(&Name::new(name));
                    prop_assert_eq!(number(left).cmp(&number(right)), left.cmp(right));
                }
            }
        }
    }

    #[test]
    fn a_name_stays_until_the_last_who_has_it_leaves() {
        let (mut ranks, name) = (Ranks::default(), Name::new("root"));
        assert_eq!(ranks.insert(&name), ranks.insert(&name));
        ranks.remove(&name);
        assert_eq!(Some(ranks.get(&name)), ranks.insert(&name));
        ranks.remove(&name);
        ranks.remove(&name);
        assert!(ranks.by_name.is_empty());
    }

    #[test]
    fn names_that_come_together_are_numbered_in_order_and_counted() {
        let names = ["root.b", "root.a", "root.b"].map(Name::new);
        let mut ranks = Ranks::default();
        ranks.fill(names.iter());
        assert!(ranks.get(&names[1]) < ranks.get(&names[0]));
        ranks.remove(&names[0]);
        assert!(ranks.get(&names[0]) > 0, "another one has the name still");
    }

    /// Returns how often all names are renumbered while these names are added between two others.
    fn renumbered(names: impl Iterator<Item = String>) -> usize {
        let mut ranks = Ranks::default();
        ranks.insert(&Name::new("a"));
        ranks.insert(&Name::new("z"));
        let count = names.filter(|name| ranks.insert(&Name::new(name)).is_none()).count();
        assert!(
            ranks.by_name.values().map(|rank| rank.number).is_sorted_by(|one, next| one < next)
        );
        count
    }

    #[test]
    fn names_that_come_in_order_between_others_keep_their_numbers() {
        let names = || (0..20_000).map(|number| format!("b{number:05}"));
        // The first gap is the one between two names of the initial numbering.
        assert!(renumbered(names()) <= 1);
        assert!(renumbered(names().rev()) <= 1);
        let two = names().zip(names()).flat_map(|(one, two)| [one, format!("c{two}")]);
        assert!(renumbered(two) <= 2);
    }

    #[test]
    fn a_crowded_place_makes_room_and_says_so() {
        // Each name is between the previous two.
        let pair = |step: usize| ["b", "y"].map(|end| format!("{}{end}", "m".repeat(step)));
        let names = (0..32).flat_map(pair);
        assert!(renumbered(names) >= 1, "64 halvings exhaust 32 bits of room");
    }
}
