//! Histories in which idle nodes of a label are lent. Most nodes have a label, and few other limits hold asks back. In
//! other histories, this combination is too rare.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use crate::config::{Configuration, NodeLabelsConfig};
use crate::name::Name;
use crate::testkit::{amounts, leaf, limit, parent, partition};

use super::furnish::{call_back, furnish};
use super::{AskDeed, NODES, Op, RandomAction, add_node};

/// Returns a tree whose root lends nodes of a label. One leaf has a guarantee on these nodes, and another leaf can use
/// them up to a limit.
pub fn lending_tree() -> impl Strategy<Value = Configuration> {
    (prop::collection::vec(any::<u8>(), 31), any::<u8>()).prop_map(|(dice, die)| {
        let mut dice = dice.into_iter().cycle();
        let mut bound = leaf("x");
        bound.guaranteed = amounts([("vcore", 3)]);
        bound.limits.push(limit(&["ann"], &[], amounts([("vcore@gpu", 3)]), 0));
        let mut any = furnish(leaf("y"), &mut dice);
        any.start = None;
        let mut small = leaf("e");
        small.max = amounts([("vcore@gpu", i64::from(die % 8))]);
        let mut owner = leaf("b");
        call_back(&mut owner);
        let above = parent("d", vec![small]);
        let children = vec![parent("a", vec![bound, any]), owner, parent("c", vec![above])];
        let mut root = parent("root", children);
        root.node_labels = Some(NodeLabelsConfig {
            exclusive: vec![Name::new("fpga"), Name::new("gpu")],
            lends: vec![Name::new(if die.is_multiple_of(2) { "gpu" } else { "*" })],
            ..NodeLabelsConfig::default()
        });
        let mut one = partition(root);
        let preemption = &mut one.partitions[0].preemption;
        preemption.strict_guarantee = !die.is_multiple_of(3);
        preemption.balance = die % 16 == 5;
        one
    })
}

/// Returns a history of up to `steps` steps: asks, releases, and nodes that join, leave, and are drained.
pub fn lending_history(steps: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = |deed: BoxedStrategy<RandomAction>| deed.prop_map(|deed| Op { partition: 0, deed });
    let pick = any::<u8>;
    let submit =
        (0_u8..6, 0_u8..4, 0_u8..4).prop_map(|(a, q, user)| RandomAction::Submit(a, q, user, 0));
    let asked = (pick(), pick(), pick(), 0_i8..2, pick(), 0_u8..8, pick());
    let asked = asked.prop_map(|(application, key, size, priority, flags, odd, age)| {
        RandomAction::Ask(AskDeed {
            application,
            key: key % 60,
            size: size % 4 + 20,
            priority,
            node: if odd == 0 { flags % 20 } else { 255 },
            age,
            role: if odd == 1 { 130 } else { 0 },
            required: if odd == 2 { flags % (2 * NODES) } else { NODES },
            flags: if odd < 4 { flags } else { 1 + flags % 3 + 4 * (flags % 2) + 16 },
        })
    });
    let deed = prop_oneof![
        3 => add_node(),
        1 => (pick(), pick()).prop_map(|(node, size)| RandomAction::ResizeNode(node, size)),
        1 => (pick(), any::<bool>()).prop_map(|(node, on)| RandomAction::SetSchedulable(node, on)),
        1 => pick().prop_map(RandomAction::RemoveNode),
        3 => submit.clone(),
        40 => asked,
        10 => pick().prop_map(RandomAction::Release),
        6 => pick().prop_map(RandomAction::Confirm),
        1 => pick().prop_map(RandomAction::ReleaseAll),
        1 => pick().prop_map(RandomAction::Remove),
        8 => pick().prop_map(RandomAction::Wait),
    ];
    let nodes = prop::collection::vec(op(add_node().boxed()), 3..6);
    let applications = prop::collection::vec(op(submit.boxed()), 3..6);
    let rest = prop::collection::vec(op(deed.boxed()), 1..steps);
    (nodes, applications, rest)
        .prop_map(|(nodes, applications, rest)| [nodes, applications, rest].concat())
}
