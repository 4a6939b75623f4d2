//! Checks `tenants`: the queue of tenants, and their defaults. Tenants §9.

use headroom_core::config::tenant::OWN_LEAF;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span, Stage};
use crate::raw::{Defaults, Queue, Tenants, Text};
use crate::tenants::{on_lower, oversized, root_of, strategy, whole};
use crate::vector::report_quantities;

use super::Tree;
use super::names::{RECOVERY_QUEUE, is_queue_name};

/// Checks the tenants of a partition.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    let Some(block) = &tree.partition.tenants else { return };
    if block.enabled == Some(true) {
        check_root(block, &tree.root, report);
    }
    for name in &block.exempt {
        check_name(name, report);
    }
    let numbers = [
        ("recoverytimeoutseconds", &block.recovery),
        ("verifyintervalseconds", &block.verify),
        ("idempotencyttlseconds", &block.idempotency),
        ("retentiondays", &block.audit.retention_days),
    ];
    for (key, text) in numbers {
        check_number(key, text.as_ref(), 1, report);
    }
    if let Some(defaults) = &block.defaults {
        check_defaults(defaults, report);
    }
}

/// Checks that only one partition of a file has tenants, because requests name only the tenant.
pub(super) fn check_once(trees: &[Tree], report: &mut Report) {
    let with = trees.iter().filter_map(|tree| tree.partition.tenants.as_ref());
    let mut with = with.filter(|block| block.enabled == Some(true));
    let Some(first) = with.next() else { return };
    for second in with {
        let message =
            "two partitions have tenants, but only one partition of a queue file can have tenants";
        let fault = Diagnostic::error(Code::TenantsTwice, second.span, message)
            .label("second entry")
            .also(first.span, "first entry")
            .help("set `tenants: {enabled: true}` in only one partition");
        report.push(fault);
    }
}

fn check_root(block: &Tenants, root: &Queue, report: &mut Report) {
    let span = block.root.as_ref().map_or(block.span, |text| text.span);
    let path = root_of(block);
    let mut fault = |message: String, help: &str| {
        report.push(Diagnostic::error(Code::TenantsRoot, span, message).help(help));
    };
    let levels: Vec<&str> = path.split('.').collect();
    let legal = |level: &&str| is_queue_name(level) && *level != RECOVERY_QUEUE;
    let legal = levels.iter().all(legal);
    let Some((_, below)) = levels.split_first().filter(|(first, _)| legal && **first == "root")
    else {
        let message =
            format!("`rootqueue` is `{path}`, which is not the path of a queue below root");
        return fault(message, "write root, a dot, and a name, such as `root.tenants`");
    };
    let Some((last, above)) = below.split_last() else {
        let message =
            "`rootqueue` cannot be root, because the root queue can have other child queues";
        return fault(
            message.to_owned(),
            "set `rootqueue` to a queue below root, such as `root.tenants`",
        );
    };
    let Some(parent) = above.iter().try_fold(root, |queue, name| child(queue, name)) else {
        let message = format!("the queue file does not define the queue above `{path}`");
        return fault(
            message,
            "add that queue to the file, or set `rootqueue` to a child queue of root",
        );
    };
    let holds_queues = |queue: &Queue| queue.parent || !queue.children.is_empty();
    if !above.is_empty() && !holds_queues(parent) {
        let message = format!("the queue above `{path}` is a leaf");
        return fault(
            message,
            "set `parent: true` in that queue, or set `rootqueue` to another queue",
        );
    }
    let Some(own) = child(parent, last) else { return };
    if let Some(first) = own.children.first() {
        let message = format!(
            "the file defines a queue below `{path}`, but all queues there belong to tenants"
        );
        let fault = Diagnostic::error(Code::TenantsBelow, first.name.span, message)
            .also(span, "`rootqueue` of tenants")
            .help("remove the queue and create a tenant instead, or set another `rootqueue`");
        report.push(fault);
    } else if !own.parent {
        let message = format!("`{path}` is the `rootqueue` of tenants, but this queue is a leaf");
        fault(
            message,
            "set `parent: true` in the queue, or remove the queue from the file so that the server \
             creates it",
        );
    }
}

fn child<'tree>(queue: &'tree Queue, name: &str) -> Option<&'tree Queue> {
    queue.children.iter().find(|child| child.name.value.eq_ignore_ascii_case(name))
}

fn check_name(name: &Text, report: &mut Report) {
    let text = &name.value;
    let lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_queue_name(text) && lower && text != OWN_LEAF && text != RECOVERY_QUEUE {
        return;
    }
    let message = format!("`{text}` is not a valid tenant name");
    let fault = Diagnostic::error(Code::TenantName, name.span, message);
    report.push(
        fault.help("a tenant name has 1 to 64 characters of a-z 0-9 _ : # / @ - and is not `own`"),
    );
}

fn check_number(key: &str, text: Option<&Text>, least: u32, report: &mut Report) {
    let Some(text) = text.filter(|text| whole(text).is_none_or(|number| number < least)) else {
        return;
    };
    let message = format!("`{key}` must be a whole number from {least} to {}", u32::MAX);
    let fault = Diagnostic::error(Code::TenantValue, text.span, message);
    report.push(fault.help("write only digits, without a leading zero"));
}

fn check_defaults(block: &Defaults, report: &mut Report) {
    report_quantities(block.quota.as_ref(), Stage::Validation, report);
    check_number("maxwaiting", block.max_waiting.as_ref(), 0, report);
    check_number("graceseconds", block.lowered.grace.as_ref(), 0, report);
    if let Some(waiting) = &block.waiting {
        for (key, text, least) in [
            ("agingintervalseconds", &waiting.aging_interval, 1),
            ("agingstep", &waiting.aging_step, 0),
            ("agingmax", &waiting.aging_max, 0),
            ("maxovertakes", &waiting.max_overtakes, 0),
            ("maxheadwaitseconds", &waiting.max_head_wait, 0),
            ("maxwaitseconds", &waiting.max_wait, 0),
        ] {
            check_number(key, text.as_ref(), least, report);
        }
        let words = "fifo, fifo-backfill, priority or urgency";
        check_word(
            "strategy",
            waiting.strategy.as_ref(),
            words,
            |word| strategy(word).is_some(),
            report,
        );
    }
    let words = "block, preempt or refuse";
    let known = |word: &str| on_lower(word, None).is_some();
    check_word("action", block.lowered.action.as_ref(), words, known, report);
    let known = |word: &str| oversized(word).is_some();
    check_word("oversized", block.oversized.as_ref(), "reject or park", known, report);
}

fn check_word(
    key: &str,
    text: Option<&Text>,
    words: &str,
    is_known: impl Fn(&str) -> bool,
    report: &mut Report,
) {
    if let Some(text) = text.filter(|text| !is_known(&text.value)) {
        let message = format!("`{key}` in `tenants` is `{}`, but it must be {words}", text.value);
        let span: Span = text.span;
        report.push(
            Diagnostic::error(Code::TenantWord, span, message).help(format!("write {words}")),
        );
    }
}
