//! Checks leaves that combine a strict order of applications with user limits. Decision page 29.

use std::collections::BTreeSet;

use headroom_core::config::property::SORT_POLICY;
use headroom_core::config::{Properties, PropertyValues};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::{Queue, Text, UserLimits};
use crate::tenants::root_of;

use super::Tree;
use super::template::is_absent;

/// Checks all leaves of a partition, and the queues of its tenants.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    let own = tree.partition.user_limits.as_deref().map(|block| block.span);
    let mut walk = Walk { seen: BTreeSet::new(), report };
    walk.queue(&tree.root, InForce { limits: own, policy: None });
    let tenants = tree.partition.tenants.as_ref().filter(|block| block.enabled == Some(true));
    let Some(block) = tenants else { return };
    // Queues on the path that the file lacks are created, and inherit the settings of their ancestors.
    let (mut limits, mut at) = (own, Some(&tree.root));
    let path = root_of(block);
    let mut names = path.split('.').skip(1);
    while let Some(queue) = at {
        limits = span_of(queue.user_limits.as_deref()).or(limits);
        let next = names.next();
        at = next.and_then(|name| {
            queue.children.iter().find(|child| child.name.value.eq_ignore_ascii_case(name))
        });
    }
    if let Some(limits) = limits {
        let message = format!(
            "`userlimits` apply below `{path}`, so the `strategy` of a tenant's waiting tasks has \
             no effect"
        );
        let warning = Diagnostic::warning(Code::NoEffect, block.span, message)
            .also(limits, "the `userlimits` that apply")
            .help(
                "set `userlimits` only in other queues; with `userlimits`, the users of a tenant \
                   share fairly, whatever the `strategy`",
            );
        report.push(warning);
    }
}

/// Settings that apply to a queue.
#[derive(Clone, Copy)]
struct InForce<'a> {
    /// Place that sets user limits.
    limits: Option<Span>,
    policy: Option<&'a Text>,
}

impl<'a> InForce<'a> {
    fn enter(self, limits: Option<&UserLimits>, properties: &'a [(Text, Text)]) -> Self {
        let policy = properties.iter().find(|(key, _)| key.value == SORT_POLICY);
        Self {
            limits: span_of(limits).or(self.limits),
            policy: policy.map(|(_, value)| value).or(self.policy),
        }
    }
}

struct Walk<'r> {
    /// Pairs of places that are already reported.
    seen: BTreeSet<(Span, Span)>,
    report: &'r mut Report,
}

impl Walk<'_> {
    fn queue(&mut self, queue: &Queue, above: InForce<'_>) {
        let here = above.enter(queue.user_limits.as_deref(), &queue.properties);
        if !queue.parent && queue.children.is_empty() {
            self.judge(here);
        }
        let template = queue.template.as_deref();
        if let Some(template) = template.filter(|template| !is_absent(template)) {
            self.judge(here.enter(template.user_limits.as_deref(), &template.properties));
        }
        for child in &queue.children {
            self.queue(child, here);
        }
    }

    fn judge(&mut self, here: InForce<'_>) {
        let (Some(limits), Some(policy)) = (here.limits, here.policy) else { return };
        if !is_line(&policy.value) || !self.seen.insert((limits, policy.span)) {
            return;
        }
        let message = format!(
            "`{}` reserves nothing for the head of line with `userlimits`, because the users of \
             the leaf share fairly",
            policy.value
        );
        let warning = Diagnostic::warning(Code::NoEffect, policy.span, message)
            .also(limits, "the `userlimits` that apply")
            .help("remove `userlimits` from this queue, or write `fifo` or `fair`");
        self.report.push(warning);
    }
}

fn span_of(block: Option<&UserLimits>) -> Option<Span> {
    block.map(|block| block.span)
}

fn is_line(policy: &str) -> bool {
    let properties: Properties = [(SORT_POLICY.into(), policy.into())].into_iter().collect();
    PropertyValues::read(&properties).application_order.has_head_of_line()
}
