//! Random histories and random queue trees.
//!
//! Actions select live rows by position, so that nearly every command finds its object. In some cases, an action uses a
//! name that does not exist.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use crate::books::NodeAttributes;
use crate::config::{
    Configuration, GangPlacement, LimitPrecedence, NodeOrder, PartitionConfig, QueueConfig,
    RuleConfig,
};
use crate::name::Name;
use crate::resource::Amounts;

mod furnish;
mod lending;
mod tenants;

use super::{amounts, leaf, parent, partition};

use furnish::furnish;
pub use lending::{lending_history, lending_tree};
pub(super) use tenants::{command_of as tenant_command, name_of as tenant_name, to_lower};

/// An action in a cluster, and the partition that it concerns.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Index into [`PARTITIONS`].
    pub(super) partition: usize,
    pub(super) deed: RandomAction,
}

/// Type of an action, with small numbers as parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum RandomAction {
    /// A node joins: name, size.
    AddNode(u8, u8),
    /// A node changes its size.
    ResizeNode(u8, u8),
    /// A node is drained or made schedulable.
    SetSchedulable(u8, bool),
    /// A node leaves.
    RemoveNode(u8),
    /// An application is submitted: name, queue, user, gang.
    Submit(u8, u8, u8, u8),
    /// An application adds an ask.
    Ask(AskDeed),
    /// An ask or allocation is released.
    Release(u8),
    /// The RM confirms some of the stop requests. The number selects them, and whether the confirmation is sent twice.
    Confirm(u8),
    /// The RM answers questions from now on, or none: the maximum of open questions, and whether it answers about
    /// victims.
    Questions(Option<(u16, bool)>),
    /// The RM answers some of its questions. The number selects the way.
    Answer(u8),
    /// The scheduler scans for queues above their maximum.
    ScanQuotas,
    /// An application releases everything.
    ReleaseAll(u8),
    /// An application is removed.
    Remove(u8),
    /// Time passes.
    Wait(u8),
    /// Another queue file is loaded.
    Reload(u16),
    /// A command with one of several errors.
    Nonsense(u8),
    /// A setting of a tenant changes: tenant, setting, amount. Or the RM was absent.
    Tenant(u8, u8, u8),
    /// An application of a tenant is submitted: name, tenant, user, gang.
    Task(u8, u8, u8, u8),
}

/// Parameters of an ask, as small numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskDeed {
    pub(super) application: u8,
    pub(super) key: u8,
    pub(super) size: u8,
    pub(super) priority: i8,
    /// Node on which the ask runs already, for numbers below 16.
    pub(super) node: u8,
    /// Age of the ask in seconds, for numbers from 128 on. For smaller numbers, it is created now.
    pub(super) age: u8,
    /// Role of the ask in a gang.
    pub(super) role: u8,
    /// Node that the ask requires, for numbers below [`NODES`].
    pub(super) required: u8,
    /// Whether the ask can preempt, is preemptable, and is the originator of its application.
    pub(super) flags: u8,
}

/// Partitions of every random configuration.
pub(super) const PARTITIONS: [&str; 2] = ["default", "second"];
/// Leaves of the random tree, followed by a queue that does not exist and a parent queue.
pub(super) const QUEUES: [&str; 6] =
    ["root.a.x", "root.a.y", "root.b", "root.c.d.e", "root.nowhere", "root.a"];
pub(super) const USERS: [&str; 4] = ["ann", "bob", "cid", "dan"];
/// Number of node names.
pub(super) const NODES: u8 = 5;
/// Number of application names.
pub(super) const APPLICATIONS: u8 = 9;

/// Returns a history of up to `steps` steps, after some initial nodes and applications.
pub fn history(steps: usize) -> impl Strategy<Value = Vec<Op>> {
    let partition = prop_oneof![3 => Just(0_usize), 1 => Just(1)];
    let op = |deed: BoxedStrategy<RandomAction>| {
        (partition.clone(), deed).prop_map(|(partition, deed)| Op { partition, deed })
    };
    let nodes = prop::collection::vec(op(add_node().boxed()), 0..4);
    let asking = prop::collection::vec(op(questions().boxed()), 0..2);
    let applications = prop::collection::vec(op(submit().boxed()), 0..6);
    let rest = prop::collection::vec(op(deed().boxed()), 1..steps);
    (asking, nodes, applications, rest).prop_map(|(asking, nodes, applications, rest)| {
        [asking, nodes, applications, rest].concat()
    })
}

fn deed() -> impl Strategy<Value = RandomAction> {
    let pick = any::<u8>;
    let required = 0_u8..8 * NODES;
    let asked = (pick(), 0_u8..60, pick(), -1_i8..3, pick(), pick(), required, (pick(), pick()))
        .prop_map(|(application, key, size, priority, node, age, required, (role, flags))| {
            RandomAction::Ask(AskDeed {
                application,
                key,
                size,
                priority,
                node,
                age,
                role,
                required,
                flags,
            })
        });
    prop_oneof![
        5 => add_node(),
        2 => (pick(), pick()).prop_map(|(node, size)| RandomAction::ResizeNode(node, size)),
        2 => (pick(), prop::bool::weighted(0.7))
            .prop_map(|(node, on)| RandomAction::SetSchedulable(node, on)),
        4 => pick().prop_map(RandomAction::RemoveNode),
        8 => submit(),
        34 => asked,
        12 => pick().prop_map(RandomAction::Release),
        5 => pick().prop_map(RandomAction::Confirm),
        1 => questions(),
        3 => pick().prop_map(RandomAction::Answer),
        5 => Just(RandomAction::ScanQuotas),
        2 => pick().prop_map(RandomAction::ReleaseAll),
        2 => pick().prop_map(RandomAction::Remove),
        4 => pick().prop_map(RandomAction::Wait),
        3 => any::<u16>().prop_map(RandomAction::Reload),
        1 => pick().prop_map(RandomAction::Nonsense),
        4 => (pick(), pick(), pick()).prop_map(|(tenant, what, die)| RandomAction::Tenant(tenant, what, die)),
        12 => (0_u8..APPLICATIONS, pick(), 0_u8..4, pick())
            .prop_map(|(name, tenant, user, gang)| RandomAction::Task(name, tenant, user, gang)),
    ]
}

fn questions() -> impl Strategy<Value = RandomAction> {
    let at_once = prop_oneof![Just(1_u16), Just(2), Just(3), Just(64)];
    prop::option::weighted(0.7, (at_once, prop::bool::weighted(0.6)))
        .prop_map(RandomAction::Questions)
}

fn add_node() -> impl Strategy<Value = RandomAction> {
    (0_u8..NODES, any::<u8>()).prop_map(|(node, size)| RandomAction::AddNode(node, size))
}

fn submit() -> impl Strategy<Value = RandomAction> {
    (0_u8..APPLICATIONS, 0_u8..26, 0_u8..4, any::<u8>()).prop_map(|(a, q, u, gang)| {
        let queue = if q < 24 { q % 4 } else { q - 20 };
        RandomAction::Submit(a, queue, u, gang)
    })
}

/// Returns two partitions, each with a random queue tree with maxima, guarantees, limits, and policies. The leaves are
/// those of `QUEUES`.
pub fn tree() -> impl Strategy<Value = Configuration> {
    let trees = prop::collection::vec(one_tree(), PARTITIONS.len());
    (trees, any::<u8>()).prop_map(|(mut partitions, die)| {
        if !die.is_multiple_of(3) {
            tenants::switch_on(&mut partitions[0], die);
        }
        for (partition, name) in partitions.iter_mut().zip(PARTITIONS) {
            partition.name = Name::new(name);
        }
        Configuration { partitions, ..Configuration::default() }
    })
}

fn one_tree() -> impl Strategy<Value = PartitionConfig> {
    let dice = prop::collection::vec(any::<u8>(), 31);
    (dice, any::<bool>(), any::<bool>()).prop_map(|(dice, packed, user_first)| {
        let mut one = tree_of(&mut dice.into_iter().cycle());
        if packed {
            one.node_sort.order = NodeOrder::BinPacking;
        }
        if user_first {
            one.limit_precedence = LimitPrecedence::User;
        }
        one
    })
}

fn tree_of(dice: &mut impl Iterator<Item = u8>) -> PartitionConfig {
    let mut queue = |queue: QueueConfig| furnish(queue, dice);
    let (x, y, e) = (queue(leaf("x")), queue(leaf("y")), queue(leaf("e")));
    let d = queue(parent("d", vec![e]));
    let children =
        vec![queue(parent("a", vec![x, y])), queue(leaf("b")), queue(parent("c", vec![d]))];
    let mut root = queue(parent("root", children));
    (root.max, root.guaranteed) = (Amounts::EMPTY, Amounts::EMPTY);
    root.start = None; // Little would happen.
    let mut one = partition(root).partitions.remove(0);
    let preemption = dice.next().unwrap_or_default();
    if preemption % 3 == 1 {
        let labels = one.root.node_labels.get_or_insert_default();
        labels.exclusive = vec![Name::new(["gpu", "*"][usize::from(preemption / 3 % 2)])];
        if preemption / 6 % 2 == 1 {
            labels.lends = vec![Name::new("gpu")];
            furnish::call_back(&mut one.root.children[1]);
        }
    }
    one.preemption.enabled = !preemption.is_multiple_of(8);
    one.preemption.strict_guarantee = !preemption.is_multiple_of(3);
    one.preemption.quota_enabled = !preemption.is_multiple_of(5);
    one.preemption.intra_queue_enabled = !preemption.is_multiple_of(4);
    one.preemption.balance = preemption % 16 == 3;
    one.preemption.observe_only = preemption % 32 == 7;
    if preemption / 2 % 2 == 1 {
        one.gang_placement = GangPlacement::Whole;
    }
    if dice.next().unwrap_or_default().is_multiple_of(3) {
        let rule = RuleConfig { name: "provided".into(), create: true, ..RuleConfig::default() };
        one.placement_rules.push(rule);
    }
    super::random_parts::divide(&mut one, preemption);
    one
}

/// Returns another queue file for the same cluster. It has other settings and limits, and removes or adds queues, or
/// turns leaves into parents. Some files have one partition less. Equal seeds give equal files.
pub(super) fn other_file(seed: u16) -> Configuration {
    // A congruential generator: multiplied by a large odd number, and shifted.
    let mut state = u64::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut dice = core::iter::from_fn(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(state >> 56).ok()
    });
    let count = if seed.is_multiple_of(11) { 1 } else { PARTITIONS.len() };
    let partitions = PARTITIONS[..count].iter().map(|name| {
        let mut one = tree_of(&mut dice);
        let die = dice.next().unwrap_or_default();
        if *name == PARTITIONS[0] && !die.is_multiple_of(5) {
            tenants::switch_on(&mut one, die);
        }
        one.name = Name::new(name);
        let children = &mut one.root.children;
        match dice.next().unwrap_or_default() % 6 {
            0 => children.retain(|child| child.name != "b"),
            1 => children.retain(|child| child.name != "a"),
            2 => children[0].children.truncate(1),
            3 => children.push(leaf("f")),
            4 => children[1].children.push(leaf("z")),
            _ => {}
        }
        one
    });
    Configuration { partitions: partitions.collect(), ..Configuration::default() }
}

pub(super) fn groups_of(user: u8) -> Vec<Name> {
    let groups: &[&str] = match user {
        0 => &["dev", "ops"],
        1 => &["ops"],
        2 => &["elsewhere"],
        _ => &[],
    };
    groups.iter().map(Name::new).collect()
}

/// Returns the tags of an application. Some have sizes for the queue, which apply if a placement rule creates it.
pub(super) fn tags_of(number: u8, user: u8) -> Vec<(Name, Name)> {
    let vcore = |key, amount| {
        let value = alloc::format!(r#"{{"resources":{{"vcore":{{"value":{amount}}}}}}}"#);
        (Name::new(key), Name::from(value))
    };
    let (quota, guaranteed) = ("namespace.resourcequota", "namespace.resourceguaranteed");
    match (number % 4, user) {
        (0, 3) => vec![vcore(guaranteed, 1 + number)],
        (0, 2) => vec![vcore(quota, 5), vcore(guaranteed, 2)],
        (0, _) => vec![vcore(quota, 3 - user)],
        (1, 0 | 3) => {
            let many = Name::from(alloc::format!("{}", 1 + user));
            vec![(Name::new("namespace.resourcemaxapps"), many)]
        }
        (2, 1) => vec![(Name::new("application.create.force"), Name::new("true"))],
        (3, _) if number.is_multiple_of(3) => {
            let seconds = ["0", "10", "45", "70"][usize::from(user) % 4];
            vec![(Name::new("headroom/lifetime"), Name::new(seconds))]
        }
        (1, 1) => vec![(
            Name::new("headroom/deadline"),
            Name::from(alloc::format!("{}", 990 + u32::from(number))),
        )],
        (1, _) if number.is_multiple_of(5) => vec![
            (
                Name::new("headroom/deadline"),
                Name::from(alloc::format!("{}", 980 + 3 * u32::from(number))),
            ),
            (Name::new("headroom/estimate"), Name::new(["7", "60", "0"][usize::from(number) % 3])),
        ],
        (3, 3) => vec![(Name::new("yunikorn.apache.org/creationTime"), Name::new("5"))],
        _ => Vec::new(),
    }
}

pub(super) fn capacity(size: u8) -> Amounts {
    let (vcore, memory) = (i64::from(size % 6), i64::from(size / 20));
    match size % 8 {
        // Many nodes have this size, so that equal scores occur.
        3 | 6 => amounts([("vcore", 5), ("memory", 8)]),
        4 => amounts([("vcore", vcore), ("memory", memory), ("gpu", i64::from(size % 3) + 1)]),
        5 if size > 230 => amounts([("vcore", -1)]),
        5 if size > 200 => amounts([("vcore", 0)]),
        _ => amounts([("vcore", vcore), ("memory", memory)]),
    }
}

pub(super) fn wanted(size: u8) -> Amounts {
    let (vcore, memory) = (i64::from(size % 4), i64::from(size / 64));
    match size % 23 {
        0 => amounts([("gpu", i64::from(size % 3) + 1), ("vcore", vcore)]),
        1 => amounts([("fpga", 1)]),
        2 => amounts([("vcore", vcore)]),
        3 => amounts([("memory", i64::MAX - 1), ("vcore", -i64::from(size == 3))]),
        4 => amounts([("vcore", vcore), ("memory", 0), ("gpu", 0)]),
        _ => amounts([("vcore", vcore), ("memory", memory)]),
    }
}

/// Returns the label of a node. Most nodes have none, unless nodes with a label are lent.
pub(super) fn label_of(size: u8, lends: bool) -> NodeAttributes {
    let label =
        ["gpu", "fpga"][usize::from((!lends || size.is_multiple_of(4)) && size / 11 % 2 == 1)];
    let has_one = if lends { size % 2 == 1 } else { size % 29 == 3 };
    let some = has_one.then_some((NodeAttributes::LABEL, label));
    some.into_iter().collect()
}

/// Returns the label that an ask requests: mostly none, in some cases one that no node has.
pub(super) fn wished_label(flags: u8) -> Name {
    match flags % 53 {
        5 => Name::new("gpu"),
        6 => Name::new("fpga"),
        7 => Name::new("elsewhere"),
        _ => Name::default(),
    }
}

/// Returns the block list of an ask: mostly empty, not sorted, in some cases with duplicates.
pub(super) fn blocked_by(flags: u8, size: u8) -> Vec<Name> {
    let count = if flags % 19 == 4 { 1 + flags % 3 } else { 0 };
    let node = |number| Name::from(alloc::format!("n{}", size.wrapping_add(number * 3) % NODES));
    (0..count).map(node).collect()
}

/// Returns the total amount of the placeholders of an application: often nothing, otherwise one to three times the
/// usual size.
pub(super) fn gang_of(gang: u8) -> Amounts {
    let count = i64::from(gang % 4);
    amounts([("vcore", count), ("memory", count)])
}

/// Returns the role of an ask in a gang, and its task group. Roles are none, placeholder (`true`), and member of one of
/// two task groups.
pub(super) fn role_of(role: u8) -> (bool, Name) {
    match role {
        0..128 => (false, Name::default()),
        128..250 => (role.is_multiple_of(2), Name::new(["g0", "g1"][usize::from(role / 2 % 2)])),
        _ => (false, Name::new("g-unknown")),
    }
}

/// Returns the size of a placeholder, mostly the usual one, or of a member: smaller, equal, or larger.
pub(super) fn gang_size(placeholder: bool, size: u8) -> Amounts {
    match size % 8 {
        0 => amounts([("vcore", 2), ("memory", 1)]),
        1 if !placeholder => amounts([("vcore", 2), ("memory", 2)]),
        2 if !placeholder => amounts([("vcore", 1)]),
        _ => amounts([("vcore", 1), ("memory", 1)]),
    }
}
