//! Limits down the tree: nobody gets more in a queue than above it.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, Report, Span};
use crate::raw::{At, Limit, Queue, Text};
use crate::vector::{Excess, Vector, show, write};

/// What one name may use in the queues above.
#[derive(Clone, Default)]
struct Inherited {
    resources: BTreeMap<String, Vector>,
    applications: BTreeMap<String, At<u64>>,
}

/// Check the limits of all users, then of all groups.
pub(super) fn check(root: &Queue, report: &mut Report) {
    check_queue(root, &Inherited::default(), "user", Limit::users, report);
    check_queue(root, &Inherited::default(), "group", Limit::groups, report);
}

fn check_queue(
    queue: &Queue,
    above: &Inherited,
    noun: &str,
    names_of: fn(&Limit) -> &[Text],
    report: &mut Report,
) {
    let mut below = None;
    for limit in &queue.limits.value {
        for name in names_of(limit) {
            let who = Who { noun, name: &name.value, queue: &queue.name.value };
            let below = below.get_or_insert_with(|| above.clone());
            let resources = check_resources(&who, limit, above, report);
            below.resources.insert(name.value.clone(), resources);
            let applications = check_applications(&who, limit, name.span, above, report);
            below.applications.insert(name.value.clone(), applications);
        }
    }
    let below = below.as_ref().unwrap_or(above);
    for child in &queue.children {
        check_queue(child, below, noun, names_of, report);
    }
}

/// Who is limited where, for messages.
struct Who<'a> {
    noun: &'a str,
    name: &'a str,
    queue: &'a str,
}

/// The limit in force for the queues below.
fn check_resources(who: &Who<'_>, limit: &Limit, above: &Inherited, report: &mut Report) -> Vector {
    let own = Vector::of(limit.max_resources.as_ref());
    if let Some(most) = above.resources.get(who.name) {
        for excess in most.excesses(&own) {
            report.push(who.too_much(Code::LimitResourcesOverAncestor, &excess));
        }
        return own.min(most);
    }
    if let Some(most) = above.resources.get("*") {
        for excess in most.excesses(&own) {
            report.push(who.too_much(Code::LimitResourcesOverWildcard, &excess));
        }
    }
    own
}

/// The number in force for the queues below.
fn check_applications(
    who: &Who<'_>,
    limit: &Limit,
    named: Span,
    above: &Inherited,
    report: &mut Report,
) -> At<u64> {
    let own = &limit.max_applications;
    let (code, most) = match above.applications.get(who.name) {
        Some(same) => (Code::LimitApplicationsOverAncestor, Some(same)),
        None => (Code::LimitApplicationsOverWildcard, above.applications.get("*")),
    };
    if let Some(most) = most
        && most.value != 0
    {
        if own.value == 0 {
            report.push(who.no_number(code, named, most));
        } else if own.value > most.value {
            report.push(who.too_many(code, own, most));
        }
    }
    own.clone()
}

impl Who<'_> {
    fn too_much(&self, code: Code, excess: &Excess<'_>) -> Diagnostic {
        let most = show(excess.resource, excess.room.amount);
        let message = format!(
            "{} `{}` may use {} in queue `{}`, {} allows {most}",
            self.noun,
            self.name,
            show(excess.resource, excess.wanted.amount),
            self.queue,
            source(code)
        );
        Diagnostic::error(code, excess.wanted.span, message)
            .label("too much")
            .also(excess.room.span, "limited here")
            .help(format!(
                "write {} or less, or raise the limit above",
                write(excess.resource, excess.room.amount)
            ))
    }

    fn too_many(&self, code: Code, own: &At<u64>, most: &At<u64>) -> Diagnostic {
        let message = format!(
            "{} `{}` may run {} applications in queue `{}`, {} allows {}",
            self.noun,
            self.name,
            own.value,
            self.queue,
            source(code),
            most.value
        );
        Diagnostic::error(code, own.span, message)
            .label("too many")
            .also(most.span, "limited here")
            .help(format!("write {} or less", most.value))
    }

    fn no_number(&self, code: Code, named: Span, most: &At<u64>) -> Diagnostic {
        let message = format!(
            "the limit of {} `{}` in queue `{}` sets no `maxapplications`, {} allows {}",
            self.noun,
            self.name,
            self.queue,
            source(code),
            most.value
        );
        Diagnostic::error(code, named, message)
            .also(most.span, "limited here")
            .help(format!("set `maxapplications` to {} or less", most.value))
    }
}

/// Whose limit it is that the code compares with.
fn source(code: Code) -> &'static str {
    if matches!(code, Code::LimitResourcesOverWildcard | Code::LimitApplicationsOverWildcard) {
        "the wildcard above"
    } else {
        "a queue above"
    }
}
