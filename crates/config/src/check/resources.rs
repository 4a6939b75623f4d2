//! Checks that guarantees and maxima fit the guarantees and maxima of the parent queues.

use headroom_core::resource::exact;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Stage};
use crate::raw::Queue;
use crate::vector::{Excess, Measure, Vector, excesses, report_quantities, show, smallest};

/// The maxima on the path from root to a queue. A merged vector would have all types of the ancestors for every queue,
/// which costs more.
struct Path<'a> {
    max: &'a Vector,
    above: Option<&'a Path<'a>>,
}

impl Path<'_> {
    /// Returns the maximum of this type that applies at the end of the path.
    fn room(&self, resource: &str) -> Option<Measure> {
        let queues = std::iter::successors(Some(self), |path| path.above);
        smallest(queues.filter_map(|path| path.max.get(resource)))
    }
}

/// Checks the whole tree, including `root`.
pub(super) fn check(root: &Queue, report: &mut Report) {
    check_queue(root, None, report);
}

/// Checks a queue and its children. Returns the part of its parent's guarantee that the queue claims.
fn check_queue(queue: &Queue, above: Option<&Path<'_>>, report: &mut Report) -> Vector {
    let resources = &queue.resources;
    report_quantities(resources.guaranteed.as_ref(), Stage::Validation, report);
    report_quantities(resources.max.as_ref(), Stage::Validation, report);
    let guaranteed = Vector::of(resources.guaranteed.as_ref());
    let max = Vector::of(resources.max.as_ref());
    let name = &queue.name.value;

    for excess in excesses(|resource| max.get(resource), &guaranteed) {
        let subject = format!("queue `{name}` has a guarantee of");
        let message = compare(&subject, &excess, "but its own maximum is");
        report.push(over(Code::GuaranteeOverMax, &excess, message, "the maximum"));
    }
    for excess in excesses(|resource| above?.room(resource), &max) {
        let subject = format!("queue `{name}` has a maximum of");
        let message = compare(&subject, &excess, "but a queue above it has a maximum of");
        report.push(over(Code::MaxOverParent, &excess, message, "the maximum above"));
    }

    let in_force = Path { max: &max, above };
    let mut sum = Vector::default();
    for child in &queue.children {
        sum.add(check_queue(child, Some(&in_force), report));
    }
    let subject = format!("the child queues of `{name}` have guarantees of");
    for excess in excesses(|resource| guaranteed.get(resource), &sum) {
        if report.is_full() {
            break; // Looking for the summands costs more than counting what is left.
        }
        let message = compare(&subject, &excess, "but the queue itself has a guarantee of");
        report.push(over_sum(Code::SumOverGuarantee, queue, &excess, message));
    }
    for excess in excesses(|resource| in_force.room(resource), &sum) {
        if report.is_full() {
            break;
        }
        let message = compare(&subject, &excess, "but the maximum of the queue is");
        report.push(over_sum(Code::SumOverMax, queue, &excess, message));
    }
    claimed(guaranteed, sum)
}

/// Returns what a queue claims of its parent's guarantee. For a child of root, the nodes replace that guarantee.
pub(crate) fn claims(queue: &Queue) -> Vector {
    let mut sum = Vector::default();
    for child in &queue.children {
        sum.add(claims(child));
    }
    claimed(Vector::of(queue.resources.guaranteed.as_ref()), sum)
}

/// Returns the guarantee of a queue. Without a guarantee, returns the sum of its children's claims.
fn claimed(guaranteed: Vector, sum: Vector) -> Vector {
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
            exact(excess.resource, excess.room.amount)
        ))
}

fn over_sum(code: Code, queue: &Queue, excess: &Excess<'_>, message: String) -> Diagnostic {
    let (sum, room) = (excess.wanted, excess.room);
    // A few amounts are enough to show the sum, and only few queues are searched for them.
    let children = queue.children.iter().take(100);
    let parts = children
        .filter_map(|child| Vector::of(child.resources.guaranteed.as_ref()).get(excess.resource));
    let mut fault = Diagnostic::error(code, room.span, message)
        .label(format!("{} here", show(excess.resource, room.amount)))
        .help(format!(
            "raise it to {}, or lower the guarantees of the child queues",
            exact(excess.resource, sum.amount)
        ));
    for part in parts.take(3) {
        fault = fault.also(part.span, format!("{} there", show(excess.resource, part.amount)));
    }
    fault
}
