//! Tests of the tree against a map with a linear search.

use alloc::collections::BTreeMap;
use core::iter::successors;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

/// Two amounts, each of which can be the lowest.
#[derive(Clone, Debug, PartialEq)]
struct Pair(u8, u8);

impl Measure for Pair {
    fn lower(&mut self, other: &Self) {
        *self = Self(self.0.min(other.0), self.1.min(other.1));
    }
}

#[derive(Clone, Debug)]
enum Change {
    Insert(u16, Pair),
    Remove(u16),
    Set(u16, Pair),
    Rename(u16, u16),
    SetAll(Pair),
}

fn change() -> impl Strategy<Value = Change> {
    let pair = || (0..20_u8, 0..20_u8).prop_map(|(left, right)| Pair(left, right));
    prop_oneof![
        3 => (0..300_u16, pair()).prop_map(|(key, pair)| Change::Insert(key, pair)),
        2 => (0..300_u16).prop_map(Change::Remove),
        1 => (0..300_u16, pair()).prop_map(|(key, pair)| Change::Set(key, pair)),
        1 => (0..300_u16, 0..300_u16).prop_map(|(from, to)| Change::Rename(from, to)),
        1 => pair().prop_map(Change::SetAll),
    ]
}

/// Checks every node against its subtree. Returns the number of entries, and the lowest measure.
fn check(of: &MinTree<u16, Pair>, at: u32, above: u32) -> (u32, Option<Pair>) {
    if at == NONE {
        return (0, None);
    }
    let node = &of.nodes[index(at)];
    assert_eq!(node.above, above, "it knows what it hangs on");
    let (left, right) = (check(of, node.left, at), check(of, node.right, at));
    let mut lowest = node.measure.clone();
    for side in [&left.1, &right.1].into_iter().flatten() {
        lowest.lower(side);
    }
    assert_eq!(node.lowest, lowest, "the lowest of all below");
    assert_eq!(node.size, left.0 + right.0 + 1, "as many as there are");
    let (light, heavy) = (left.0.min(right.0) + 1, left.0.max(right.0) + 1);
    assert!(heavy <= LEANING * light, "{heavy} on one side and {light} on the other");
    (node.size, Some(lowest))
}

#[test]
fn it_finds_the_first_that_will_do_whatever_came_and_went() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[13; 32]);
    let mut runner = TestRunner::new_with_rng(Config::with_cases(300), rng);
    let run = |changes: Vec<Change>| {
        let (mut ranking, mut model) = (MinTree::default(), BTreeMap::new());
        for change in changes {
            match change {
                Change::Insert(key, pair) => {
                    ranking.insert(key, pair.clone());
                    model.insert(key, pair);
                }
                Change::Remove(key) => {
                    ranking.remove(&key);
                    model.remove(&key);
                }
                Change::Rename(from, to) => {
                    if let Some(seat) = ranking.find(&from).filter(|_| !model.contains_key(&to)) {
                        ranking.rename_at(seat, to);
                        assert_eq!(ranking.find(&to), Some(seat), "it keeps its seat");
                        let moved = model.remove(&from);
                        model.extend(moved.map(|pair| (to, pair)));
                    }
                }
                Change::SetAll(pair) => {
                    ranking.set_all(&pair);
                    for known in model.values_mut() {
                        known.clone_from(&pair);
                    }
                }
                Change::Set(key, pair) => {
                    ranking.set(&key, pair.clone());
                    model.entry(key).and_modify(|known| *known = pair);
                }
            }
            let (count, lowest) = check(&ranking, ranking.root, NONE);
            assert_eq!(count as usize, model.len());
            assert_eq!(ranking.lowest(), lowest.as_ref());
            assert!(ranking.iter().eq(model.keys()), "all of them, in order");
            for most in [Pair(0, 20), Pair(20, 0), Pair(3, 3), Pair(20, 20)] {
                let will_do = |pair: &Pair| pair.0 <= most.0 && pair.1 <= most.1;
                let expected = model.iter().find(|(_, pair)| will_do(pair)).map(|(key, _)| key);
                assert_eq!(ranking.first(will_do), expected);
                let first = ranking.first_seat(will_do);
                let all = successors(first, |seat| ranking.first_behind(*seat, will_do));
                let expected = model.iter().filter(|(_, pair)| will_do(pair)).map(|(key, _)| key);
                assert!(
                    all.map(|seat| ranking.at(seat).0).eq(expected),
                    "each after the one before"
                );
            }
        }
        Ok(())
    };
    runner.run(&vec(change(), 1..400), run).expect("every history");
}

#[test]
fn looking_for_one_among_many_looks_at_few() {
    let mut ranking = MinTree::default();
    for key in 0..10_000_u16 {
        ranking.insert(key, Pair(u8::from(key != 9_000), 0));
    }
    let mut looks = 0;
    let found = ranking.first(|pair| {
        looks += 1;
        pair.0 == 0
    });
    assert_eq!(found, Some(&9_000));
    assert!(looks <= 60, "{looks} looks for two at each of at most 24 levels");
}
