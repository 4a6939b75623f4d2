//! Checks placement rules against the configured queues: a `fixed` rule must select a queue.
//!
//! The reference compares names in their original case, and recognizes a parent only by its written `parent` flag.
//! Headroom corrects both. A file is accepted if either interpretation accepts the file, so that no working file is
//! rejected (K-4).

use std::collections::BTreeMap;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{Queue, Rule};

/// Interpretation of names and parents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Names in lower case. A queue with children is a parent. Only `root` and `root.…` are full paths.
    Repaired,
    /// Names as written. Only the flag makes a parent. Every value with the prefix `root` is a full path.
    Reference,
}

/// Queue that a chain of rules selects.
struct Route<'a> {
    path: String,
    /// Whether some rule of the chain is not `fixed`. Its queues then depend on the application.
    dynamic: bool,
    rule: &'a Rule,
}

/// Every queue by its parent and its name in lower case. The cost of a rule therefore depends on the length of its
/// path, and not on the number of queues.
struct Index<'a>(BTreeMap<(usize, String), &'a Queue>);

impl<'a> Index<'a> {
    fn of(root: &'a Queue) -> Self {
        let mut index = Self(BTreeMap::new());
        index.add(None, root);
        index
    }

    fn add(&mut self, parent: Option<&Queue>, queue: &'a Queue) {
        // Of two queues with one name, which is refused, the first counts.
        self.0.entry(Self::key(parent, &queue.name.value)).or_insert(queue);
        for child in &queue.children {
            self.add(Some(queue), child);
        }
    }

    fn child(&self, parent: Option<&Queue>, name: &str) -> Option<&'a Queue> {
        self.0.get(&Self::key(parent, name)).copied()
    }

    fn key(parent: Option<&Queue>, name: &str) -> (usize, String) {
        (parent.map_or(0, |parent| std::ptr::from_ref(parent).addr()), name.to_lowercase())
    }
}

/// Checks every rule.
pub(super) fn check(rules: &[Rule], root: &Queue, report: &mut Report) {
    if rules.is_empty() {
        return;
    }
    let queues = Index::of(root);
    for rule in rules {
        if let Err(fault) = judge(rule, &queues, Reading::Repaired)
            && judge(rule, &queues, Reading::Reference).is_err()
        {
            report.push(*fault);
        }
    }
}

fn judge(rule: &Rule, queues: &Index<'_>, reading: Reading) -> Result<(), Box<Diagnostic>> {
    match route(rule, reading)? {
        Some(route) => walk(&route, queues, rule.create, reading),
        None => Ok(()),
    }
}

/// Returns the fixed start of the chain. `None` if the first rule is not `fixed`.
fn route(rule: &Rule, reading: Reading) -> Result<Option<Route<'_>>, Box<Diagnostic>> {
    let mut chain = vec![rule];
    while let Some(parent) = chain.last().and_then(|rule| rule.parent.as_deref()) {
        chain.push(parent);
    }
    let mut found: Option<Route<'_>> = None;
    for link in chain.into_iter().rev() {
        if link.name.value != "fixed" {
            if let Some(route) = &mut found {
                route.dynamic = true;
            }
            break;
        }
        let value = match reading {
            Reading::Repaired => link.value.value.to_lowercase(),
            Reading::Reference => link.value.value.clone(),
        };
        let qualified = match reading {
            Reading::Repaired => value == "root" || value.starts_with("root."),
            Reading::Reference => value.starts_with("root"),
        };
        match &mut found {
            None => {
                found = Some(Route {
                    path: if qualified { value } else { format!("root.{value}") },
                    dynamic: false,
                    rule: link,
                });
            }
            Some(route) if qualified => {
                let message = format!(
                    "`{value}` is a full path, but the parent rule already selects `{}`",
                    route.path
                );
                let fault = Diagnostic::error(Code::RuleQualified, link.value.span, message)
                    .also(route.rule.value.span, "the parent rule")
                    .help("write a path without `root`, or remove the parent rule");
                return Err(Box::new(fault));
            }
            Some(route) => {
                route.path = format!("{}.{value}", route.path);
                route.rule = link;
            }
        }
    }
    Ok(found)
}

/// Follows the path through the configured queues.
fn walk(
    route: &Route<'_>,
    queues: &Index<'_>,
    create: bool,
    reading: Reading,
) -> Result<(), Box<Diagnostic>> {
    let path = route.path.to_lowercase();
    let mut last: Option<&Queue> = None;
    for part in path.split('.') {
        if let Some(leaf) = last
            && leaf.children.is_empty()
            && !leaf.parent
        {
            return Err(Box::new(under_leaf(route, leaf)));
        }
        let next = queues.child(last, part).filter(|queue| match reading {
            Reading::Repaired => true,
            Reading::Reference => queue.name.value == part,
        });
        let Some(queue) = next else {
            return if create { Ok(()) } else { Err(Box::new(no_queue(route))) };
        };
        last = Some(queue);
    }
    let Some(target) = last else {
        return Ok(());
    };
    let by_children = reading == Reading::Repaired && !target.children.is_empty();
    match (route.dynamic, target.parent) {
        (true, false) if !by_children => Err(Box::new(not_parent(route, target))),
        (false, true) => Err(Box::new(not_leaf(route, target))),
        _ => Ok(()),
    }
}

fn under_leaf(route: &Route<'_>, leaf: &Queue) -> Diagnostic {
    let message =
        format!("queue `{}` cannot exist, because `{}` is a leaf", route.path, leaf.name.value);
    Diagnostic::error(Code::RuleUnderLeaf, route.rule.value.span, message)
        .also(leaf.name.span, "this queue is a leaf")
        .help("set `parent: true` for the leaf, or use another path")
}

fn no_queue(route: &Route<'_>) -> Diagnostic {
    let message =
        format!("queue `{}` does not exist, and the rule does not set `create: true`", route.path);
    Diagnostic::error(Code::RuleNoQueue, route.rule.value.span, message)
        .help("set `create: true` in the rule, or set `value` to the path of a queue of the file")
}

fn not_parent(route: &Route<'_>, target: &Queue) -> Diagnostic {
    let message = format!("the rule creates queues below `{}`, which is a leaf", route.path);
    Diagnostic::error(Code::RuleNotParent, route.rule.value.span, message)
        .also(target.name.span, "this queue is a leaf")
        .help("set `parent: true` for the leaf")
}

fn not_leaf(route: &Route<'_>, target: &Queue) -> Diagnostic {
    let message = format!("queue `{}` is a parent and accepts no applications", route.path);
    Diagnostic::error(Code::RuleNotLeaf, route.rule.value.span, message)
        .also(target.name.span, "this queue is a parent")
        .help("set `value` to a leaf below this queue")
}
