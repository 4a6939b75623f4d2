//! Guarantees and maxima fit into each other down the tree.

use crate::diagnostic::{Code, Diagnostic, Report, Stage};
use crate::raw::Queue;
use crate::vector::{Excess, Vector, report_quantities, show, write};

/// Check the whole tree below and with `root`.
pub(super) fn check(root: &Queue, report: &mut Report) {
    check_queue(root, None, report);
}

/// Check one queue and its children against `above`, the maximum in force there; what the
/// queue claims from its parent's guarantee.
fn check_queue(queue: &Queue, above: Option<&Vector>, report: &mut Report) -> Vector {
    report_quantities(queue.resources.guaranteed.as_ref(), Stage::Validation, report);
    report_quantities(queue.resources.max.as_ref(), Stage::Validation, report);
    let guaranteed = Vector::of(queue.resources.guaranteed.as_ref());
    let max = Vector::of(queue.resources.max.as_ref());
    let name = &queue.name.value;

    for excess in max.excesses(&guaranteed) {
        let message = compare(&format!("queue `{name}` guarantees"), &excess, "its own maximum is");
        report.push(over(Code::GuaranteeOverMax, &excess, message, "the maximum"));
    }
    for excess in above.into_iter().flat_map(|above| above.excesses(&max)) {
        let message =
            compare(&format!("queue `{name}` may use"), &excess, "a queue above it may use");
        report.push(over(Code::MaxOverParent, &excess, message, "the maximum above"));
    }

    let in_force = match above {
        Some(above) => max.min(above),
        None => max,
    };
    let mut sum = Vector::default();
    for child in &queue.children {
        sum.add(&check_queue(child, Some(&in_force), report));
    }
    for excess in guaranteed.excesses(&sum) {
        let message = compare(
            &format!("the children of queue `{name}` are guaranteed"),
            &excess,
            "the queue itself is guaranteed",
        );
        report.push(over_sum(Code::SumOverGuarantee, queue, &excess, message));
    }
    for excess in in_force.excesses(&sum) {
        let message = compare(
            &format!("the children of queue `{name}` are guaranteed"),
            &excess,
            "the queue may use",
        );
        report.push(over_sum(Code::SumOverMax, queue, &excess, message));
    }
    if guaranteed.is_zero() { sum } else { guaranteed }
}

fn compare(subject: &str, excess: &Excess<'_>, other: &str) -> String {
    format!(
        "{subject} {}, {other} {}",
        show(excess.resource, excess.wanted.amount),
        show(excess.resource, excess.room.amount)
    )
}

fn over(code: Code, excess: &Excess<'_>, message: String, room: &str) -> Diagnostic {
    let most = show(excess.resource, excess.room.amount);
    Diagnostic::error(code, excess.wanted.span, message)
        .label("too much")
        .also(excess.room.span, format!("{room}: {most}"))
        .help(format!(
            "write {} or less, or raise {room}",
            write(excess.resource, excess.room.amount)
        ))
}

fn over_sum(code: Code, queue: &Queue, excess: &Excess<'_>, message: String) -> Diagnostic {
    let (sum, room) = (excess.wanted, excess.room);
    let parts = queue.children.iter().filter_map(|child| {
        let own = Vector::of(child.resources.guaranteed.as_ref());
        let part = own.iter().find(|(name, _)| *name == excess.resource)?.1;
        Some(part)
    });
    let mut fault = Diagnostic::error(code, room.span, message)
        .label(format!("{} here", show(excess.resource, room.amount)))
        .help(format!(
            "raise it to {} or lower the guarantees of the children",
            write(excess.resource, sum.amount)
        ));
    // A few are enough to see what is added up.
    for part in parts.take(3) {
        fault = fault.also(part.span, format!("{} there", show(excess.resource, part.amount)));
    }
    fault
}
