//! Converts the mappings of YARN to placement rules.

use super::legacy;
use super::note::Kind;
use super::properties::Property;
use super::rules;
use super::scope::Scope;
use super::tree::{Node, Tree, is_made_below};
use super::write::Pairs;

/// Placeholder for the user.
pub(super) const USER: &str = "%user";

/// Users and groups that a rule applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    All,
    User(String),
    Group(String),
}

/// Result of converting the placement.
#[derive(Debug, Default)]
pub(super) struct Placement {
    /// Rules of the partition, in order.
    pub(super) rules: Vec<Pairs>,
    /// Path in the queue file of the queue that accepts no applications. No rule selects this queue, and in YARN an
    /// application that specifies it counts as an application without a queue.
    pub(super) closed: Option<String>,
}

impl Placement {
    /// Returns the rules and mappings of YARN as placement rules.
    pub(super) fn of(whole: &Scope<'_>, tree: &Tree) -> Self {
        let rules = rules(whole, tree);
        unknown_queues(whole, tree, &rules);
        let closed = closed(whole, tree, &rules);
        Self { rules, closed }
    }
}

/// Returns the queue `default` if no rule selects it and unplaced applications are rejected. In YARN, an application
/// that specifies this queue counts as an application without a queue.
fn closed(whole: &Scope<'_>, tree: &Tree, rules: &[Pairs]) -> Option<String> {
    let property = whole.get("mapping-rule-json")?;
    let default = tree.at("root.default").filter(|node| !takes_none(whole, node))?;
    let takes_named = |rule: &Pairs| rule.text("name") == Some("provided");
    let reaches = |rule: &Pairs| rule.text("value") == Some(default.full.as_str());
    let is_closed = rules.last() == Some(&reject(&Who::All))
        && rules.iter().any(takes_named)
        && !rules.iter().any(reaches);
    if !is_closed {
        return None;
    }
    let why = "in YARN, an application that specifies the queue `default` specifies no queue, and \
               no rule selects `default`; the queue file stops the queue so that the rules decide, \
               and reject";
    whole.tell(
        Kind::Adjusted,
        property,
        why,
        "remove `state: stopped` if applications can specify this queue",
    );
    Some(default.full.clone())
}

/// Reports that YARN rejects an application that specifies a missing queue.
fn unknown_queues(whole: &Scope<'_>, tree: &Tree, rules: &[Pairs]) {
    let has_default = tree.at("root.default").is_some_and(|node| !takes_none(whole, node));
    let asks_others = rules.iter().any(|rule| rule.text("name") != Some("provided"));
    if rules.last() == Some(&reject(&Who::All)) || !(has_default || asks_others) {
        return;
    }
    let Some(property) = whole.queue("root").get("queues") else { return };
    let at_last = if has_default { ", and finally uses `root.default`" } else { "" };
    let why = format!(
        "YARN rejects an application that specifies a queue that does not exist; Headroom tries \
         the next rule{at_last}"
    );
    let help = "specify only existing queues, or add a rule `reject` after `provided`";
    whole.tell(Kind::Adjusted, property, &why, help);
}

/// Returns the rules of the partition, in order.
fn rules(whole: &Scope<'_>, tree: &Tree) -> Vec<Pairs> {
    short_names(whole, tree);
    who_makes(whole, tree);
    let is_json = is_json(whole);
    other_format(whole, is_json);
    let overrides = whole.own_flag("queue-mappings-override.enable", false);
    let provided = provided(tree, &Who::All);
    if is_json {
        let mut rules = rules::read(whole, tree);
        if !overrides && rules.first() != Some(&provided) {
            named_first(whole, whole.get("mapping-rule-json").filter(|_| !rules.is_empty()));
            rules.insert(0, provided);
        }
        return rules;
    }
    let mut mapped = Vec::new();
    let mappings = whole.get("queue-mappings");
    if let Some(property) = mappings {
        legacy::read(whole, tree, property, &mut mapped);
    }
    let mut rules = Vec::new();
    if overrides {
        rules.append(&mut mapped);
        rules.push(provided);
    } else {
        named_first(whole, mappings.filter(|_| !mapped.is_empty()));
        rules.push(provided);
        rules.append(&mut mapped);
    }
    if let Some(default) = tree.meant("default").filter(|node| !takes_none(whole, node)) {
        rules.push(fixed(&default.full, false, &Who::All));
    }
    rules
}

/// Returns whether the JSON mappings apply.
fn is_json(whole: &Scope<'_>) -> bool {
    let Some(format) = whole.get("mapping-rule-format") else { return false };
    let is_json = format.value == "json";
    if !is_json && format.value != "legacy" {
        let why = "the format is neither legacy nor json, so `queue-mappings` applies";
        whole.tell(
            Kind::Adjusted,
            format,
            why,
            "set the format to legacy or json, and convert again",
        );
    }
    is_json
}

/// Reports the mappings in the format that does not apply.
fn other_format(whole: &Scope<'_>, is_json: bool) {
    let no_effect = |name: &str, why: &str| {
        if let Some(property) = whole.get(name) {
            whole.tell(Kind::NoEffect, property, why, "");
        }
    };
    if !is_json {
        let why = "mapping-rule-format is not json";
        no_effect("mapping-rule-json", why);
        no_effect("mapping-rule-json-file", why);
        return;
    }
    no_effect("queue-mappings", "mapping-rule-format is json, so the JSON rules apply");
    if whole.get("mapping-rule-json").is_some() {
        no_effect("mapping-rule-json-file", "mapping-rule-json takes precedence");
    } else if let Some(property) = whole.get("mapping-rule-json-file") {
        let help = "copy the content of the file to mapping-rule-json, and convert again";
        whole.tell(Kind::NoEquivalent, property, "the converter does not read this file", help);
    }
}

/// Reports that the queue in a submission overrides the mappings.
fn named_first(whole: &Scope<'_>, mappings: Option<&Property>) {
    let Some(property) = mappings else { return };
    let why = "a queue that an application specifies overrides the mappings, as in YARN; in \
               Headroom, this also applies to the queue `default`";
    let help = "submit without a queue to use the mappings";
    whole.tell(Kind::Adjusted, property, why, help);
}

/// Returns whether a queue cannot have applications, because it has or can have child queues.
pub(super) fn takes_none(whole: &Scope<'_>, node: &Node) -> bool {
    !node.children.is_empty() || node.path == "root" || is_made_below(whole, node)
}

/// Returns why a mapping to a parent queue has no rule, with a suggested leaf.
pub(super) fn is_no_leaf(tree: &Tree, node: &Node) -> String {
    let first = |node: &Node| node.children.first().map(|child| &tree.nodes[*child]);
    let leaf = std::iter::successors(first(node), |node| first(node)).last();
    let such_as = leaf.map_or_else(String::new, |leaf| format!(", such as {}", leaf.path));
    format!(
        "queue `{}` has or can have child queues, and accepts no applications; CapacityScheduler \
         also rejects such a mapping; map to a leaf below the queue{such_as}",
        super::xml::shown(&node.path)
    )
}

/// Reports that applications have to name queues by their full paths.
fn short_names(whole: &Scope<'_>, tree: &Tree) {
    let is_deep = |node: &Node| node.path.matches('.').count() > 1;
    if !tree.nodes.iter().any(is_deep) {
        return;
    }
    if let Some(property) = whole.queue("root").get("queues") {
        let why = "an application must specify the full path of its queue; in YARN, the last name \
                   is enough";
        whole.tell(
            Kind::Adjusted,
            property,
            why,
            "submit to a full path such as root.parent.leaf, or add a `fixed` rule",
        );
    }
}

/// Reports that rules create queues, not queues.
fn who_makes(whole: &Scope<'_>, tree: &Tree) {
    let Some(node) = tree.maker() else { return };
    let scope = whole.queue(&node.path);
    let switch = ["auto-queue-creation-v2.enabled", "auto-create-child-queue.enabled"];
    if let Some(property) = switch.iter().find_map(|name| scope.get(name)) {
        let why = "a rule with `create: true` creates queues below every queue with `parent: true` \
                   or with child queues, not only below this queue";
        scope.tell(
            Kind::Adjusted,
            property,
            why,
            "remove `create` from rules that must not create queues",
        );
    }
}

/// Returns the rule for the queue in the submission.
pub(super) fn provided(tree: &Tree, who: &Who) -> Pairs {
    let mut rule = Pairs::default();
    rule.push("name", "provided");
    rule.push("create", if tree.maker().is_some() { "true" } else { "false" });
    filter(&mut rule, who);
    rule
}

/// Returns the rule for a fixed queue.
pub(super) fn fixed(path: &str, create: bool, who: &Who) -> Pairs {
    let mut rule = Pairs::default();
    rule.push("name", "fixed");
    rule.push_text("value", path);
    rule.push("create", if create { "true" } else { "false" });
    filter(&mut rule, who);
    rule
}

/// Returns the rule that rejects.
pub(super) fn reject(who: &Who) -> Pairs {
    let mut rule = Pairs::default();
    rule.push("name", "reject");
    filter(&mut rule, who);
    rule
}

/// Returns the rule for a queue with the name of the user, optionally below a parent.
fn user(parent: Option<&Node>, create: bool, who: &Who) -> Pairs {
    let mut rule = Pairs::default();
    rule.push("name", "user");
    rule.push("create", if create { "true" } else { "false" });
    filter(&mut rule, who);
    if let Some(parent) = parent.filter(|parent| parent.path != "root") {
        rule.push_pairs("parent", fixed(&parent.full, false, &Who::All));
    }
    rule
}

fn filter(rule: &mut Pairs, who: &Who) {
    let (key, name) = match who {
        Who::All => return,
        Who::User(name) => ("users", name),
        Who::Group(name) => ("groups", name),
    };
    let mut filter = Pairs::default();
    filter.push("type", "allow");
    // In a queue file, a single name can be an expression; a name in a mapping never is.
    filter.push_words(key, vec![name.clone()]);
    rule.push_pairs("filter", filter);
}

/// Returns the rule for a target such as `etl`, `root.users.%user`, or `%user`.
///
/// # Errors
/// Reason why there is no rule.
pub(super) fn target(
    whole: &Scope<'_>,
    tree: &Tree,
    target: &str,
    may_create: bool,
    who: &Who,
) -> Result<Pairs, String> {
    if let Who::User(name) | Who::Group(name) = who {
        let is_legal = match who {
            Who::User(_) => headroom_core::config::legal::is_user_name(name),
            _ => headroom_core::config::legal::is_group_name(name),
        };
        if !is_legal {
            return Err(format!("`{name}` is not a valid name in a filter"));
        }
    }
    if target == USER {
        let root = tree.root();
        return Ok(user(None, may_create && is_made_below(whole, root), who));
    }
    if !target.contains('%') {
        return plain(whole, tree, target, may_create, who);
    }
    let above = target.strip_suffix(USER).and_then(|above| above.strip_suffix('.'));
    let Some(above) = above.filter(|above| !above.contains('%')) else {
        return Err("a rule can use the name of the user, but not the groups of the user or the \
             application name"
            .to_owned());
    };
    let Some(parent) = tree.meant(above) else {
        return Err(format!("queue `{above}` does not exist"));
    };
    if !takes_none(whole, parent) {
        return Err(format!("`{above}` is a leaf, so it has no queues of users"));
    }
    Ok(user(Some(parent), may_create && is_made_below(whole, parent), who))
}

/// Returns the rule for a queue by its name. The queue exists, or the rule creates it below an existing queue.
fn plain(
    whole: &Scope<'_>,
    tree: &Tree,
    target: &str,
    may_create: bool,
    who: &Who,
) -> Result<Pairs, String> {
    if let Some(node) = tree.meant(target) {
        if takes_none(whole, node) {
            return Err(is_no_leaf(tree, node));
        }
        return Ok(fixed(&node.full, false, who));
    }
    let made = target.rsplit_once('.').and_then(|(above, name)| {
        let parent = tree.meant(above).filter(|parent| is_made_below(whole, parent))?;
        headroom_core::config::legal::is_queue_name(name).then(|| format!("{}.{name}", parent.full))
    });
    match made {
        Some(path) if may_create => Ok(fixed(&path, true, who)),
        Some(path) => Err(format!(
            "queue `{path}` does not exist, and the rule has no `create: true`; YARN skips the \
             rule too"
        )),
        None => Err(format!("queue `{target}` does not exist, or several queues have this name")),
    }
}

/// Reports a mapping that has no rule.
pub(super) fn no_rule(whole: &Scope<'_>, property: &Property, mapping: &str, why: &str) {
    let why = format!("no rule for `{}`: {why}", super::xml::shown(mapping));
    let help = "add a `fixed`, `user` or `tag` rule, or specify the queue in the submission";
    whole.tell(Kind::NoEquivalent, property, &why, help);
}
