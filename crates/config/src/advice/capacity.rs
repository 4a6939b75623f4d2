//! Advice on fractions of queues that were probably not meant: siblings without any guarantee, and users who can use
//! more than their queue. Source: user-headroom §7.4 and §10, C2.

use headroom_core::config::CapacityShare;
use headroom_core::userlimit::Decimal;

use crate::capacity::{percent, share};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{Capacity, Queue, Text};
use crate::vector::Vector;

use super::survey::Survey;

pub(super) fn advise(survey: &Survey<'_>, report: &mut Report) {
    for (position, place) in survey.iter() {
        let blocks = place.queue.children.iter().filter_map(|child| child.capacity.as_deref());
        let mut parts = blocks.filter_map(part).peekable();
        let Some((first, _)) = parts.peek().copied() else { continue };
        if parts.all(|(_, part)| part == Decimal::ZERO) {
            let message = format!(
                "no queue below `{}` has a guarantee, because the `capacity` of each is 0",
                survey.name(position)
            );
            let warning = Diagnostic::warning(Code::CapacityAllZero, first.span, message);
            report.push(warning.help(
                "for equal shares, set `value: 1` and `mode: weight`; a queue without a guarantee \
                 cannot preempt, and has no maximum of applications of its own",
            ));
        }
    }
}

/// Returns the number of a block by percent or weight.
fn part(block: &Capacity) -> Option<(&Text, Decimal)> {
    match share(block)? {
        CapacityShare::Percent(part) | CapacityShare::Weight(part) => {
            Some((block.value.as_ref()?, part))
        }
        CapacityShare::Absolute => None,
    }
}

/// Returns whether a queue itself sets a guarantee above zero.
pub(super) fn guarantees(queue: &Queue) -> bool {
    match queue.capacity.as_deref().and_then(part) {
        Some((_, part)) => part > Decimal::ZERO,
        None => !Vector::of(queue.resources.guaranteed.as_ref()).is_zero(),
    }
}

/// Returns the ratio of a queue's maximum to its guarantee, as dividend and divisor. `None` if amounts or weights
/// affect the ratio, or if the guarantee is zero.
pub(super) fn times_guaranteed(survey: &Survey<'_>, position: usize) -> Option<(u128, u128)> {
    let (mut most, mut least) = (1_u128, 1_u128);
    for (_, place) in survey.path(position).filter(|(_, place)| place.above.is_some()) {
        let block = place.queue.capacity.as_deref()?;
        let CapacityShare::Percent(value) = share(block)? else { return None };
        let maximum = block.maximum.as_ref().map_or(Some(Decimal::HUNDRED), percent)?;
        let [value, maximum] =
            [value, maximum].map(|one| u128::try_from(one.millionths()).unwrap_or(0));
        (most, least) = (most.checked_mul(maximum)?, least.checked_mul(value)?);
        let common = common(most, least);
        (most, least) = (most.checked_div(common)?, least.checked_div(common)?);
    }
    (least > 0).then_some((most, least))
}

/// Returns the greatest common divisor.
const fn common(mut left: u128, mut right: u128) -> u128 {
    while right > 0 {
        (left, right) = (right, left % right);
    }
    left
}
