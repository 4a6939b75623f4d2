//! Properties without an equivalent in a queue file: the reasons, and alternatives. Also reports unknown properties,
//! with suggestions.

mod cluster;
mod defaults;
mod meant;
mod queue;
mod reason;

use super::note::Kind;
use super::properties::Property;
use super::scope::{PREFIX, Scope};
use super::tree::{Node, Tree};
use super::xml::{shown, shown_up_to};
use crate::spelling::{distance, nearest};

use cluster::{CLUSTER, OTHERS};
use defaults::holds_anyway;
use queue::QUEUE;

/// Property that enables monitors. Preemption is one.
pub(super) const MONITOR: &str = "yarn.resourcemanager.scheduler.monitor.enable";

/// Property with the monitors.
pub(super) const POLICIES: &str = "yarn.resourcemanager.scheduler.monitor.policies";

/// Default of that property: only preemption.
pub(super) const PREEMPTION_POLICY: &str = "org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity.ProportionalCapacityPreemptionPolicy";

/// Property with the scheduler of the cluster.
const SCHEDULER: &str = "yarn.resourcemanager.scheduler.class";

/// Property that enables access lists.
pub(super) const ACLS: &str = "yarn.acl.enable";

/// Prefix of the properties of preemption.
pub(super) const PREEMPTION: &str = "yarn.resourcemanager.monitor.capacity.preemption.";

/// A property, or a prefix if it ends with a star; why it is not converted; and an alternative.
type Row = (&'static str, Kind, &'static str, &'static str);

/// Converted properties of queues, for suggestions.
const OF_QUEUE: &[&str] = &[
    "queues",
    "capacity",
    "maximum-capacity",
    "minimum-user-limit-percent",
    "user-limit-factor",
    "maximum-allocation",
    "maximum-allocation-mb",
    "maximum-allocation-vcores",
    "maximum-applications",
    "maximum-am-resource-percent",
    "max-parallel-apps",
    "state",
    "acl_submit_applications",
    "acl_administer_queue",
    "ordering-policy",
    "priority",
    "disable_preemption",
    "intra-queue-preemption.disable_preemption",
    "maximum-application-lifetime",
    "default-application-lifetime",
    "accessible-node-labels",
    "default-node-label-expression",
    "auto-create-child-queue.enabled",
    "auto-queue-creation-v2.enabled",
];

/// Converted properties of the cluster.
const OF_CLUSTER: &[&str] = &[
    "maximum-applications",
    "maximum-am-resource-percent",
    "global-queue-max-application",
    "resource-calculator",
    "minimum-user-limit-percent",
    "user-limit-factor",
    "user.max-parallel-apps",
    "queue-mappings",
    "queue-mappings-override.enable",
    "mapping-rule-format",
    "mapping-rule-json",
    "mapping-rule-json-file",
];

/// Other converted properties, by their full names.
const OF_OTHERS: &[&str] = &[
    MONITOR,
    POLICIES,
    ACLS,
    "yarn.resourcemanager.monitor.capacity.preemption.observe_only",
    "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.enabled",
    "yarn.resourcemanager.monitor.capacity.preemption.preemption-to-balance-queue-after-satisfied.enabled",
    "yarn.scheduler.minimum-allocation-mb",
    "yarn.scheduler.minimum-allocation-vcores",
    "yarn.scheduler.maximum-allocation-mb",
    "yarn.scheduler.maximum-allocation-vcores",
];

/// Properties of a label of a queue.
const OF_LABEL: [&str; 3] = ["capacity", "maximum-capacity", AM_OF_LABEL];
const AM_OF_LABEL: &str = "maximum-am-resource-percent";

type Maker = (&'static str, &'static str, &'static [&'static str]);

/// The ways in which queues are created: the prefix of their properties, their switch, and their templates.
const MAKERS: [Maker; 3] = [
    (
        "auto-queue-creation-v2.",
        "auto-queue-creation-v2.enabled",
        &["template.", "leaf-template.", "parent-template."],
    ),
    ("auto-create-child-queue.", "auto-create-child-queue.enabled", &[]),
    ("leaf-queue-template.", "auto-create-child-queue.enabled", &[""]),
];

/// Prefix of the properties of created queues with child queues.
const OF_PARENTS: &str = "auto-queue-creation-v2.parent-template.";

/// Reports all properties that no conversion has read.
pub(super) fn rest(whole: &Scope<'_>, tree: &Tree) {
    let mut elsewhere: Vec<&Property> = Vec::new();
    let unused: Vec<&Property> = whole.properties.unused().collect();
    for property in unused {
        let Some(name) = property.name.strip_prefix(PREFIX) else {
            match row(OTHERS, &property.name) {
                _ if holds_anyway(&property.name, None, &property.value) => {}
                _ if amount_of_type(whole, property) => {}
                _ if property.name == SCHEDULER => other_scheduler(whole, property),
                Some(row) => tell(whole, property, row),
                None if is_of_scheduler(&property.name) => unknown_elsewhere(whole, property),
                None => elsewhere.push(property),
            }
            continue;
        };
        if let Some((node, rest)) = tree.owner(name) {
            of_queue(&whole.queue(&node.path), tree, node, property, rest);
        } else if !holds_anyway(&property.name, None, &property.value) {
            match row(CLUSTER, name) {
                Some(row) => tell(whole, property, row),
                None => unknown_of_cluster(whole, tree, property, name),
            }
        }
    }
    let Some(first) = elsewhere.first() else { return };
    let others: Vec<&str> =
        elsewhere.iter().skip(1).map(|property| property.name.as_str()).collect();
    let why = match others.len() {
        0 => "the property configures another part of Hadoop, not scheduling".to_owned(),
        _ => format!(
            "the property configures another part of Hadoop, not scheduling; the same is true of {}",
            others.join(", ")
        ),
    };
    whole.tell(Kind::NoEffect, first, &why, "");
}

/// Reports that the cluster does not run `CapacityScheduler`.
fn other_scheduler(whole: &Scope<'_>, property: &Property) {
    let class = property.value.rsplit('.').next().unwrap_or(&property.value);
    if class == "CapacityScheduler" {
        return;
    }
    let why = format!(
        "the cluster runs {}, so capacity-scheduler.xml is not active, and this queue file differs \
         from the current behavior of the cluster",
        shown(class)
    );
    let help = match class {
        "FairScheduler" => {
            "pass capacity-scheduler.xml only if you change to it; queues of fair-scheduler.xml \
             are not converted"
        }
        _ => "pass the yarn-site.xml of the cluster that uses these queues",
    };
    whole.tell(Kind::NoEquivalent, property, &why, help);
}

/// Reports limits of asks for other types. The property follows the name of the type.
fn amount_of_type(whole: &Scope<'_>, property: &Property) -> bool {
    let Some(rest) = property.name.strip_prefix("yarn.resource-types.") else { return false };
    let Some((_, which)) = rest.rsplit_once('.') else { return false };
    let key = match which {
        "minimum-allocation" => "minimumallocation",
        "maximum-allocation" => "maximumallocation",
        _ => return false,
    };
    let why = "the ask size is converted only for memory and cores";
    let help = format!("set `{key}` in `userlimits` of the partition");
    whole.tell(Kind::NoEquivalent, property, why, &help);
    true
}

/// Reports a property of a queue that no conversion has read.
fn of_queue(scope: &Scope<'_>, tree: &Tree, node: &Node, property: &Property, rest: &str) {
    let is_off = |(prefix, switch, templates): &Maker| {
        let own = rest.strip_prefix(prefix)?;
        let is_known = row(QUEUE, rest).is_some()
            || templates.iter().any(|template| own.strip_prefix(template).is_some_and(is_of_queue));
        (is_known && !scope.own_flag(switch, false)).then_some(*switch)
    };
    if let Some(switch) = MAKERS.iter().find_map(is_off) {
        let why = format!("{switch} is not true");
        scope.tell(Kind::NoEffect, property, &why, "");
    } else if let Some(own) = rest.strip_prefix(OF_PARENTS) {
        let below = scope.below(OF_PARENTS.trim_end_matches('.'));
        if is_of_queue(own) {
            let help = "define the parent queues in the queue file, and set the property there";
            below.tell(Kind::NoEquivalent, property, "a template applies only to leaves", help);
        } else {
            unknown_in_template(&below, property, own);
        }
    } else if rest.starts_with("*.") {
        let why = "a path with * applies to queues that are created two or more levels below, but \
                   a template applies to all leaves below its queue";
        let help = "add queues with this setting to the file";
        scope.tell(Kind::NoEquivalent, property, why, help);
    } else if let Some(row) = row(QUEUE, rest) {
        if !holds_anyway(&property.name, Some(rest), &property.value) {
            tell(scope, property, row);
        }
    } else {
        unknown_of_queue(scope, tree, node, property, rest);
    }
}

/// Returns whether a name belongs to the scheduler, or was probably meant to.
fn is_of_scheduler(name: &str) -> bool {
    let begin = name.get(..PREFIX.len()).unwrap_or(name);
    name.starts_with("yarn.scheduler.")
        || name.starts_with("yarn.resourcemanager.monitor.capacity.")
        || distance(begin, PREFIX) <= 3
}

fn row(rows: &'static [Row], name: &str) -> Option<&'static Row> {
    rows.iter().find(|(pattern, ..)| match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *pattern,
    })
}

fn tell(scope: &Scope<'_>, property: &Property, (_, kind, why, help): &Row) {
    scope.tell(*kind, property, why, help);
}

/// Returns whether a queue has a property with this name.
pub(super) fn is_of_queue(name: &str) -> bool {
    OF_QUEUE.contains(&name)
        || row(QUEUE, name).is_some()
        || name.starts_with("user-settings.") && name.ends_with(".weight")
        || name.strip_prefix("accessible-node-labels.").is_some_and(is_of_label)
}

fn is_of_label(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| OF_LABEL.contains(&last))
}

/// Maximum number of characters of a name that are shown.
const NAME: usize = 300;

fn did_you_mean(name: &str) -> String {
    format!("did you mean {}?", shown_up_to(name, NAME))
}

const COMPARE: &str = "compare the name with the user guide of Hadoop";

/// Returns a suggestion for an unknown name. `head` is the prefix of the name.
fn meant(head: &str, name: &str, converted: &[&'static str], rows: &[Row]) -> Option<String> {
    let rows = rows.iter().map(|(name, ..)| *name).filter(|name| !name.ends_with('*'));
    let known: Vec<&str> = converted.iter().copied().chain(rows).collect();
    meant::meant(name, &known).map(|known| did_you_mean(&format!("{head}{known}")))
}

fn unknown_elsewhere(whole: &Scope<'_>, property: &Property) {
    let why = "CapacityScheduler has no property with this name";
    let name = property.name.as_str();
    let begin = name.get(..PREFIX.len()).unwrap_or(name);
    let help = match meant("", name, OF_OTHERS, OTHERS) {
        Some(help) => help,
        None if distance(begin, PREFIX) <= 3 => {
            format!("correct the name, which must begin with {PREFIX}, and convert again")
        }
        None => COMPARE.to_owned(),
    };
    whole.tell(Kind::Unknown, property, why, &help);
}

fn unknown_of_cluster(whole: &Scope<'_>, tree: &Tree, property: &Property, name: &str) {
    let why = "CapacityScheduler has no property with this name";
    let below_root = format!("root.{name}");
    let of_queue = tree.owner(&below_root).filter(|(node, _)| node.path != "root");
    let help = match of_queue {
        Some(_) => did_you_mean(&format!("{PREFIX}{below_root}")),
        None => meant(PREFIX, name, OF_CLUSTER, CLUSTER).unwrap_or_else(|| COMPARE.to_owned()),
    };
    whole.tell(Kind::Unknown, property, why, &help);
}

fn unknown_of_queue(scope: &Scope<'_>, tree: &Tree, node: &Node, property: &Property, rest: &str) {
    let why = match rest.split_once('.') {
        Some((first, _)) => {
            format!(
                "a queue has no property with this name, and no child queue has the name `{}`",
                shown(first)
            )
        }
        None => "a queue has no property with this name".to_owned(),
    };
    let below = || {
        let (first, last) = rest.split_once('.')?;
        let children = node.children.iter().map(|child| tree.nodes[*child].path.as_str());
        let names: Vec<&str> =
            children.filter_map(|path| path.rsplit('.').next()).take(NAMES_MAX).collect();
        if let Some(other) = tree.meant(first) {
            // A queue elsewhere has that name.
            return Some(did_you_mean(&format!("{PREFIX}{}.{last}", other.path)));
        }
        let meant = nearest(first, &names)?;
        Some(did_you_mean(&scope.full(&format!("{meant}.{last}"))))
    };
    let help = meant(&scope.full(""), rest, OF_QUEUE, QUEUE).or_else(below);
    let help = help.unwrap_or_else(|| format!("{COMPARE}, and with `queues`"));
    scope.tell(Kind::Unknown, property, &why, &help);
}

/// Maximum number of queues with which a name is compared.
const NAMES_MAX: usize = 200;

/// Reports a property of a label of a queue other than its capacity. `name` follows the prefix.
pub(super) fn of_label(scope: &Scope<'_>, property: &Property, name: &str) {
    let (label, last) = name.rsplit_once('.').unwrap_or(("", name));
    if last == AM_OF_LABEL {
        let why = "the percentage of the queue applies to the nodes of every label";
        scope.tell(Kind::NoEquivalent, property, why, "");
        return;
    }
    let help = match nearest(last, &OF_LABEL) {
        Some(meant) if !label.is_empty() => {
            let full = scope.full(&format!("accessible-node-labels.{label}.{meant}"));
            did_you_mean(&full)
        }
        _ => COMPARE.to_owned(),
    };
    let why = if OF_LABEL.contains(&last) {
        "no label has this name"
    } else {
        "labels have no property with this name"
    };
    scope.tell(Kind::Unknown, property, why, &help);
}

/// Reports a name in a template that no queue has.
pub(super) fn unknown_in_template(scope: &Scope<'_>, property: &Property, name: &str) {
    let help = meant(&scope.full(""), name, OF_QUEUE, QUEUE).unwrap_or_else(|| COMPARE.to_owned());
    scope.tell(Kind::Unknown, property, "a queue has no property with this name", &help);
}
