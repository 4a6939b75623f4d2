//! Converts the queues one after another.

use headroom_core::userlimit::Formula;

use super::capacity::{self, Mode};
use super::label::{self, Labels};
use super::limits;
use super::note::Kind;
use super::properties::Property;
use super::scope::Scope;
use super::template;
use super::tree::{Node, Tree, is_made_below};
use super::write::{Block, Pairs};

/// State that is the same for all queues of the traversal.
#[derive(Clone, Copy)]
struct Way<'w, 'p> {
    whole: &'w Scope<'p>,
    tree: &'w Tree,
    formula: Formula,
    /// Path in the queue file of the queue that accepts no applications.
    closed: Option<&'w str>,
}

/// Settings that a queue inherits.
#[derive(Clone, Copy)]
struct Above {
    /// Unit of the guarantees of the queue and its siblings.
    mode: Mode,
    /// Limit of running applications in all ancestors.
    parallel: Option<u64>,
    /// Whether the queue and its siblings are ordered by priority.
    by_priority: bool,
}

/// Returns the queue root with all its descendants.
pub(super) fn root(
    whole: &Scope<'_>,
    tree: &Tree,
    formula: Formula,
    closed: Option<&str>,
) -> Block {
    let way = Way { whole, tree, formula, closed };
    queue(way, tree.root(), Above { mode: Mode::Silent, parallel: None, by_priority: false })
}

fn queue(way: Way<'_, '_>, node: &Node, above: Above) -> Block {
    let scope = way.whole.queue(&node.path);
    let is_root = node.path == "root";
    let is_leaf = node.children.is_empty() && !is_made_below(way.whole, node) && !is_root;
    let order = if is_leaf { None } else { order_of_children(&scope, is_root) };
    let by_priority = order.map_or(above.by_priority, |order| order == BY_PRIORITY);
    let made = template::of(way.whole, way.tree, node, way.formula, by_priority);
    let mut block = Block::of(&node.path);
    block.push("name", node.name.as_str());
    if node.children.is_empty() && !is_leaf {
        block.push_plain("parent", "true");
    }
    access(&scope, is_root, &mut block);
    let labels = if is_root { Labels::default() } else { label::of_queue(&scope, above.mode) };
    if is_root {
        capacity::of_root(&scope);
        label::of_root(&scope);
    } else {
        let written = capacity::of_queue(&scope, above.mode, &labels);
        block.push_pairs("capacity", written.capacity);
        block.push_pairs("resources", written.resources);
    }
    if let Some(order) = order {
        block.push("orderingpolicy", order);
    }
    block.push_pairs("properties", properties(&scope, is_leaf, above.by_priority));
    block.push_pairs("userlimits", limits::of_queue(&scope, way.whole, is_leaf, way.formula));
    let parallel = limits::parallel(&scope, way.whole, above.parallel);
    block.push_pairs("applicationlimits", limits::applications_of_queue(&scope, parallel, is_leaf));
    block.push_pairs("preemption", preemption(&scope));
    state(&scope, way.closed == Some(node.full.as_str()), &mut block);
    lifetimes(&scope, &mut block);
    block.push_pairs("nodelabels", node_labels(&scope, is_root && labels_are_named(way), labels));
    if let Some(template) = made {
        block.push_pairs("childtemplate", template);
    }
    let mode = capacity::mode_below(way.whole, way.tree, node);
    let parallel = match (above.parallel, parallel) {
        (Some(above), Some(own)) => Some(above.min(own)),
        (above, own) => above.or(own),
    };
    let below = Above { mode, parallel, by_priority };
    let children = node.children.iter().map(|child| queue(way, &way.tree.nodes[*child], below));
    block.push_blocks("queues", children.collect());
    block
}

/// Converts the access lists of a queue.
fn access(scope: &Scope<'_>, is_root: bool, block: &mut Block) {
    for (name, key) in
        [("acl_submit_applications", "submitacl"), ("acl_administer_queue", "adminacl")]
    {
        let Some(property) = scope.get(name) else {
            if is_root && key == "submitacl" {
                block.push(key, "*");
            } else if is_root {
                let why = "no file sets this property; by default, every user can administer all \
                           queues in YARN, but no user in Headroom";
                scope.tell_absent(&scope.full(name), why, "set `adminacl` in the root queue");
            }
            continue;
        };
        let raw = &property.raw;
        if raw.trim() == "*" {
            block.push(key, "*");
            continue;
        }
        let (users, groups) = raw.split_once(' ').unwrap_or((raw.as_str(), ""));
        let names = |list: &str| -> Vec<String> {
            list.split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let is_plain =
            |name: &String| !name.contains(char::is_whitespace) && !name.starts_with('~');
        let (mut users, mut groups) = (names(users), names(groups));
        let written = users.len() + groups.len();
        users.retain(is_plain);
        groups.retain(is_plain);
        if users.len() + groups.len() < written {
            let why = "names that contain blanks or begin with ~ are not converted";
            scope.tell(Kind::Adjusted, property, why, "list the users and groups by name");
        }
        let text = if groups.is_empty() {
            users.join(",")
        } else {
            format!("{} {}", users.join(","), groups.join(","))
        };
        if !text.is_empty() {
            block.push(key, text);
        }
    }
}

/// The two orders of queues.
const BY_SHARE: &str = "utilization";
const BY_PRIORITY: &str = "priority-utilization";

/// Returns the order of the children of a queue, if the queue sets an order. Otherwise, the queue inherits the order of
/// its parent. The root queue has the default of YARN.
fn order_of_children(scope: &Scope<'_>, is_root: bool) -> Option<&'static str> {
    let otherwise = is_root.then_some(BY_SHARE);
    let Some(property) = scope.get("ordering-policy") else { return otherwise };
    match property.value.as_str() {
        BY_SHARE => Some(BY_SHARE),
        BY_PRIORITY => {
            let why = "queues are ordered by the priority of their waiting asks, and then by usage \
                       relative to the guarantee, both below and above the guarantee";
            scope.tell(Kind::Adjusted, property, why, "see docs/limits.md");
            Some(BY_PRIORITY)
        }
        _ => {
            let why = "queues can be ordered only by usage relative to the guarantee, or by \
                       priority first";
            let help = "set `orderingpolicy` to `utilization` or `priority-utilization`";
            scope.tell(Kind::NoEquivalent, property, why, help);
            otherwise
        }
    }
}

fn properties(scope: &Scope<'_>, is_leaf: bool, by_priority: bool) -> Pairs {
    let mut pairs = Pairs::default();
    if is_leaf {
        order_of_applications(scope, &mut pairs);
    }
    if let Some(property) = scope.get("priority") {
        match property.value.parse::<i32>() {
            Ok(priority) if by_priority => pairs.push_text("priority.offset", priority.to_string()),
            Ok(_) if scope.is_root() => {
                let why = "root has no siblings, so a priority has no effect";
                scope.tell(Kind::NoEffect, property, why, "");
            }
            Ok(_) => {
                let why = "the queue above is ordered by utilization, which ignores the priority";
                let help = "to apply the priority, set `orderingpolicy: priority-utilization` in \
                            the queue above and `priority.offset` in this queue";
                scope.tell(Kind::NoEffect, property, why, help);
            }
            Err(_) => scope.tell(
                Kind::NoEquivalent,
                property,
                "the value is not a whole number",
                "set `priority.offset`",
            ),
        }
    }
    pairs
}

/// Converts the order of applications of a leaf, or of created leaves.
pub(super) fn order_of_applications(scope: &Scope<'_>, pairs: &mut Pairs) {
    let policy = scope.get("ordering-policy");
    if let Some(property) = policy {
        sort_policy(scope, property, pairs);
    }
    let sized = "ordering-policy.fair.enable-size-based-weight";
    let Some(property) = scope.get(sized).filter(|_| scope.own_flag(sized, false)) else { return };
    if policy.is_some_and(is_fair) {
        let why = "the share of an application does not depend on the size of its asks";
        scope.tell(Kind::NoEquivalent, property, why, "");
    } else {
        let why = "the property applies only to queues with the ordering-policy `fair`";
        scope.tell(Kind::NoEffect, property, why, "");
    }
}

fn is_fair(property: &Property) -> bool {
    matches!(limits::class(property), "fair" | "FairOrderingPolicy")
}

fn sort_policy(scope: &Scope<'_>, property: &Property, pairs: &mut Pairs) {
    match limits::class(property) {
        _ if is_fair(property) => pairs.push_text("application.sort.policy", "fair"),
        "fifo" | "FifoOrderingPolicy" => pairs.push_text("application.sort.policy", "fifo"),
        "fifo-with-partitions" | "FifoOrderingPolicyWithExclusivePartitions" => {
            pairs.push_text("application.sort.policy", "fifo");
            let why = "the policy is written as `fifo`, because every partition orders \
                       applications by age";
            scope.tell(Kind::Adjusted, property, why, "");
        }
        _ => {
            let why = "applications can be ordered only by age or by share";
            let help = "set `application.sort.policy` to `fifo` or `fair`";
            scope.tell(Kind::NoEquivalent, property, why, help);
        }
    }
}

fn preemption(scope: &Scope<'_>) -> Pairs {
    let mut pairs = Pairs::default();
    for (name, key) in [
        ("disable_preemption", "disabled"),
        ("intra-queue-preemption.disable_preemption", "intraqueuedisabled"),
    ] {
        let Some(property) = scope.get(name) else { continue };
        match property.value.to_ascii_lowercase().as_str() {
            word @ ("true" | "false") => pairs.push(key, word),
            _ => {
                scope.tell(Kind::NoEquivalent, property, "the value is neither true nor false", "");
            }
        }
    }
    pairs
}

fn state(scope: &Scope<'_>, is_closed: bool, block: &mut Block) {
    if is_closed {
        block.push_plain("state", "stopped");
    }
    let Some(property) = scope.get("state") else { return };
    match property.value.to_ascii_uppercase().as_str() {
        "RUNNING" | "STOPPED" | "DRAINING" if is_closed => {}
        "RUNNING" => block.push_plain("state", "running"),
        "STOPPED" | "DRAINING" => block.push_plain("state", "stopped"),
        _ => {
            let why = "the state of a queue must be RUNNING or STOPPED";
            scope.tell(
                Kind::NoEquivalent,
                property,
                why,
                "set `state: stopped` if the queue must be stopped",
            );
        }
    }
}

fn lifetimes(scope: &Scope<'_>, block: &mut Block) {
    for (name, key) in [
        ("maximum-application-lifetime", "maximumapplicationlifetime"),
        ("default-application-lifetime", "defaultapplicationlifetime"),
    ] {
        let Some(property) = scope.get(name) else { continue };
        match property.value.parse::<i64>() {
            // A negative value counts as absent, so the value of the parent applies.
            Ok(..0) => {}
            Ok(seconds) => block.push_plain(key, seconds.to_string()),
            Err(_) => {
                let why = "the value is not a number of seconds";
                scope.tell(
                    Kind::NoEquivalent,
                    property,
                    why,
                    "correct the value in the queue file",
                );
            }
        }
    }
}

/// Returns whether any queue has a property of labels. Adds a note to the first such property that labels are
/// exclusive.
fn labels_are_named(way: Way<'_, '_>) -> bool {
    let has_labels = |node: &Node| {
        let scope = way.whole.queue(&node.path);
        let Some(property) = scope.get("accessible-node-labels") else { return false };
        let why = "labels are written as exclusive, which is their default in YARN";
        let help = "add labels that are not exclusive to `nodelabels.lends` of root, so that their \
                    idle nodes are lent";
        scope.tell(Kind::Adjusted, property, why, help);
        true
    };
    way.tree.nodes.iter().any(has_labels)
}

/// Converts the node labels that asks of a queue can name, and the default label.
fn node_labels(scope: &Scope<'_>, exclusive: bool, labels: Labels) -> Pairs {
    let mut pairs = Pairs::default();
    if let Some(property) = scope.get("accessible-node-labels") {
        let labels = property.value.split(',').map(str::trim).filter(|label| !label.is_empty());
        pairs.push_words("accessible", labels.map(str::to_owned).collect());
    }
    if let Some(property) = scope.get("default-node-label-expression") {
        pairs.push_text("default", property.value.as_str());
    }
    if exclusive {
        pairs.push_words("exclusive", vec!["*".to_owned()]);
    }
    for (label, part) in labels.parts {
        pairs.push_pairs(&label, part);
    }
    pairs
}
