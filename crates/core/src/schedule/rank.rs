//! Numbers that order like names, so that the placing loop compares no text.

use alloc::collections::BTreeMap;
use core::ops::Bound;

use crate::name::Name;

/// Room left between neighbours when names arrive in order, upwards or downwards, be it between
/// others.
const STRIDE: u64 = 1 << 32;

/// Names, each with a number; numbers order as the names do.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks {
    by_name: BTreeMap<Name, Rank>,
    /// How many names came so far.
    came: u64,
}

/// The number of a name, and how many have the name: partitions share paths.
#[derive(Clone, Copy, Debug)]
struct Rank {
    number: u64,
    uses: u32,
    /// Counts names as they came.
    came: u64,
}

impl Ranks {
    /// Give a name its number; `None` when all numbers were assigned again, so that the caller must
    /// fetch every one of them again.
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

    /// Give many names their numbers at once, those that are there already included.
    pub(super) fn fill<'name>(&mut self, names: impl Iterator<Item = &'name Name>) {
        for name in names {
            let fresh = Rank { number: 0, uses: 0, came: 0 };
            self.by_name.entry(name.clone()).or_insert(fresh).uses += 1;
        }
        self.spread();
    }

    /// Forget a name that one of those who have it leaves.
    pub(super) fn remove(&mut self, name: &Name) {
        if let Some(rank) = self.by_name.get_mut(name) {
            rank.uses -= 1;
            if rank.uses == 0 {
                self.by_name.remove(name);
            }
        }
    }

    /// The number of a name.
    ///
    /// # Panics
    /// When it is not in the set: any number would put it in a wrong place for good.
    pub(super) fn get(&self, name: &Name) -> u64 {
        self.by_name.get(name).expect("a name is ranked before its number is used").number
    }

    /// Give all names new numbers with equal room between them.
    fn spread(&mut self) {
        let room = u64::MAX / (self.by_name.len() as u64 + 1);
        for (position, rank) in self.by_name.values_mut().enumerate() {
            rank.number = (position as u64 + 1) * room;
        }
    }
}

/// A number between two neighbours, if there is one: next to the one that came later, since
/// more may come in this direction.
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

    /// How often all names get other numbers while these come between two others.
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
        // The first room is what two names without a history have between them.
        assert!(renumbered(names()) <= 1);
        assert!(renumbered(names().rev()) <= 1);
        let two = names().zip(names()).flat_map(|(one, two)| [one, format!("c{two}")]);
        assert!(renumbered(two) <= 2);
    }

    #[test]
    fn a_crowded_place_makes_room_and_says_so() {
        // Each comes between the two before it.
        let pair = |step: usize| ["b", "y"].map(|end| format!("{}{end}", "m".repeat(step)));
        let names = (0..32).flat_map(pair);
        assert!(renumbered(names) >= 1, "64 halvings exhaust 32 bits of room");
    }
}
