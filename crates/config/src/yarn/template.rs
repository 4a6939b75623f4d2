//! Queues that are created for applications: both methods of YARN become one template.

use headroom_core::userlimit::Formula;

use super::capacity;
use super::known;
use super::limits;
use super::note::Kind;
use super::queue::order_of_applications;
use super::scope::Scope;
use super::tree::{Node, Tree};
use super::write::Pairs;

/// Returns the template of a queue below which queues are created. `None` for other queues. `by_priority` specifies
/// whether the created queues are ordered by priority.
pub(super) fn of(
    whole: &Scope<'_>,
    tree: &Tree,
    node: &Node,
    formula: Formula,
    by_priority: bool,
) -> Option<Pairs> {
    let scope = whole.queue(&node.path);
    let managed = scope.own_flag("auto-create-child-queue.enabled", false);
    let flexible = scope.own_flag("auto-queue-creation-v2.enabled", false);
    if !managed && !flexible {
        return None;
    }
    let mode = capacity::mode_below(whole, tree, node);
    // The most specific template is first: that for leaves before that for all created queues.
    let mut scopes = vec![
        scope.below("auto-queue-creation-v2.leaf-template"),
        scope.below("auto-queue-creation-v2.template"),
    ];
    if managed {
        scopes.insert(0, scope.below("leaf-queue-template"));
    }
    let mut template = Pairs::default();
    let of = |name: &str| scopes.iter().find(|scope| scope.get(name).is_some());
    let weighed = of("capacity").unwrap_or(&scopes[0]);
    let largest = of("maximum-capacity").unwrap_or(weighed);
    let weight = capacity::of_template(weighed, largest, mode, flexible.then_some("1"));
    template.push_pairs("capacity", weight);
    let mut properties = Pairs::default();
    if !by_priority {
        // Otherwise the order of queues would be inherited. Applications are ordered by priority in any case.
        properties.push_text("application.sort.priority", "enabled");
    }
    if let Some(scope) = of("ordering-policy") {
        order_of_applications(scope, &mut properties);
    }
    template.push_pairs("properties", properties);
    let merged = Merged { scopes: &scopes, flexible };
    template.push_pairs("userlimits", limits::of_template(&merged, whole, formula));
    template.push_pairs("applicationlimits", limits::applications_of_template(&merged));
    for (place, scope) in scopes.iter().enumerate() {
        rest(scope, &scopes[..place]);
    }
    Some(template)
}

/// Several templates. The first that has a property counts.
pub(super) struct Merged<'m, 'p> {
    scopes: &'m [Scope<'p>],
    /// Whether the templates are for flexible creation, which has other defaults.
    pub(super) flexible: bool,
}

impl<'p> Merged<'_, 'p> {
    /// Returns the first template with this property. If no template has the property, returns the first template.
    pub(super) fn with(&self, name: &str) -> &Scope<'p> {
        let says = |scope: &&Scope<'p>| scope.get(name).is_some();
        self.scopes.iter().find(says).unwrap_or(&self.scopes[0])
    }

    /// Returns all templates, the most specific last.
    pub(super) fn nearest_last(&self) -> impl Iterator<Item = &Scope<'p>> {
        self.scopes.iter().rev()
    }
}

/// Reports properties that a template of a queue file lacks, or that a more specific template overrides.
fn rest(scope: &Scope<'_>, nearer: &[Scope<'_>]) {
    const TAKEN: [&str; 9] = [
        "capacity",
        "maximum-capacity",
        "ordering-policy",
        "minimum-user-limit-percent",
        "user-limit-factor",
        "maximum-applications",
        "maximum-am-resource-percent",
        "max-parallel-apps",
        "maximum-allocation",
    ];
    const WITH: &str = "ordering-policy";
    for (property, name) in scope.all() {
        let is_taken = TAKEN.contains(&name.as_str())
            || matches!(name.as_str(), "maximum-allocation-mb" | "maximum-allocation-vcores")
            || name.strip_prefix(WITH).is_some_and(|rest| rest.starts_with('.'))
            || name.starts_with("user-settings.") && name.ends_with(".weight");
        // Marks the property as read, so that it is not reported again.
        let _ = scope.get(&name);
        let says = |of: &str| nearer.iter().any(|scope| scope.get(of).is_some());
        if !is_taken && known::is_of_queue(&name) {
            let why = "a template has no key for this property";
            scope.tell(
                Kind::NoEquivalent,
                property,
                why,
                "add queues with this setting to the file",
            );
        } else if !is_taken {
            known::unknown_in_template(scope, property, &name);
        } else if says(&name) || name.starts_with(WITH) && says(WITH) {
            let why = "a nearer template sets the property for leaves, and a template applies only \
                       to leaves";
            let help = "define the parent queues in the queue file, and set the property there";
            scope.tell(Kind::NoEquivalent, property, why, help);
        } else if name.starts_with(WITH) && scope.get(WITH).is_none() {
            scope.tell(Kind::NoEffect, property, "the template has no ordering-policy", "");
        } else if name.ends_with(".exclusive-enforced-partitions") {
            let why = "every partition orders applications by age";
            scope.tell(Kind::NoEquivalent, property, why, "");
        }
    }
}
