//! Advice on guarantees that exceed the nodes.

use headroom_core::resource::exact;

use crate::check::claims;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::Queue;
use crate::vector::{Measure, Vector, excesses, show};

use super::survey::Survey;

/// Maximum number of queues that are marked in addition to the first.
const POINTED_AT_MAX: usize = 3;

/// Compares the sum of the guarantees below root with the total of all nodes.
pub(super) fn advise(survey: &Survey<'_>, report: &mut Report) {
    let Some(nodes) = survey.nodes() else { return };
    let root = survey.get(0).queue;
    let children: Vec<(&Queue, Vector)> =
        root.children.iter().map(|child| (child, claims(child))).collect();
    let mut all = Vector::default();
    for (_, claimed) in &children {
        all.add(claimed.clone());
    }
    let nothing = Measure { amount: headroom_core::resource::Quantity::ZERO, span: root.name.span };
    let room = |resource: &str| Some(nodes.get(resource).unwrap_or(nothing));
    for excess in excesses(room, &all) {
        if report.is_full_of_warnings() {
            return;
        }
        let of = |(child, claimed): &(&Queue, Vector)| {
            Some((child.name.value.clone(), claimed.get(excess.resource)?))
        };
        let parts: Vec<(String, Measure)> = children.iter().filter_map(of).collect();
        report.push(warning(excess.resource, &parts, excess.wanted, excess.room));
    }
}

fn warning(
    resource: &str,
    parts: &[(String, Measure)],
    wanted: Measure,
    room: Measure,
) -> Diagnostic {
    let most = show(resource, room.amount);
    // A guarantee that is too large by itself is reported alone.
    let alone = parts.iter().find(|(_, part)| part.amount > room.amount);
    let message = match alone {
        Some((name, part)) => format!(
            "queue `{name}` has a guarantee of {}, but all nodes together have {most}",
            show(resource, part.amount)
        ),
        None => format!(
            "the queues below root have guarantees of {} in total, but all nodes together have \
             {most}",
            show(resource, wanted.amount)
        ),
    };
    let first = alone.map_or(wanted.span, |(_, part)| part.span);
    let warning = Diagnostic::warning(Code::GuaranteeOverNodes, first, message).help(format!(
        "lower the guarantees to {} in total, or add nodes; a guarantee above the size of the \
         nodes has no effect",
        exact(resource, room.amount)
    ));
    let others = parts.iter().filter(|(_, part)| alone.is_none() && part.span != first);
    others.take(POINTED_AT_MAX).fold(warning, |warning, (_, part)| {
        warning.also(part.span, format!("{} here", show(resource, part.amount)))
    })
}
