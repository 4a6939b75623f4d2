//! Recommended keys. Without these keys, an ask can wait forever, or preemption can stop work in vain. Stock files have
//! none of these keys, so a recommendation is not a warning. Source: no-starvation.

use headroom_core::Millis;
use headroom_core::config::property::{BACKOFF, SORT_POLICY};
use headroom_core::config::{ApplicationOrder, GangPlacement, Properties, PropertyValues};
use headroom_core::userlimit::Decimal;

use crate::build::{gang_placement, reservation_share, starvation_after};
use crate::capacity::percent;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::ordering::Ordering;
use crate::raw::{Partition, Queue, Text};

use super::capacity::guarantees;
use super::survey::Survey;

/// Adds at most one recommendation for each key of a partition.
pub(super) fn advise(partition: &Partition, survey: &Survey<'_>, report: &mut Report) {
    let facts = Facts::of(survey);
    starvation(partition, &facts, report);
    reservations(partition, &facts, report);
    gangs(partition, &facts, report);
    preemption(partition, &facts, report);
}

fn starvation(partition: &Partition, facts: &Facts, report: &mut Report) {
    let can_starve = facts.maxima > 0 || facts.leaves > 1;
    if !can_starve || starvation_after(partition) > Millis::ZERO {
        return;
    }
    let written = partition.starvation.as_deref().and_then(|block| block.after.as_ref());
    let why = match written {
        Some(_) => "`starvation.after` is 0",
        None => "the partition has no `starvation.after`",
    };
    let message = format!("a large ask can wait forever while small asks start, because {why}");
    let span = place_of(partition, written);
    let found = Diagnostic::recommendation(Code::StarvationOff, span, message);
    report.push(found.help(
        "set `starvation: {after: 5m}` in the partition; its queues then hold capacity for an ask \
         that has waited this long",
    ));
}

fn reservations(partition: &Partition, facts: &Facts, report: &mut Report) {
    if facts.leaves < 2 || reservation_share(partition).is_some() {
        return;
    }
    let written = partition.reservations.as_deref().and_then(|block| block.share.as_ref());
    let why = match written {
        Some(_) => "`reservations.share` is `none`",
        None => "the partition has no `reservations.share`",
    };
    let message = format!("reserved nodes can stay idle for hours, because {why}");
    let span = place_of(partition, written);
    let found = Diagnostic::recommendation(Code::ReservationsOff, span, message);
    report.push(found.help(
        "set `reservations: {share: 10%}` in the partition; each application then reserves at \
         most one node, and gives the node up after 10 minutes without a release there",
    ));
}

fn gangs(partition: &Partition, facts: &Facts, report: &mut Report) {
    if !facts.places_gangs || gang_placement(partition) == GangPlacement::Whole {
        return;
    }
    let placement = partition.gangs.as_deref().map(|block| &block.placement);
    let written = placement.filter(|text| !text.value.is_empty());
    let span = place_of(partition, written);
    let message =
        "two gangs can each hold what the other needs, because `gangs.placement` is `members`";
    let found = Diagnostic::recommendation(Code::GangMembers, span, message);
    report.push(found.help(
        "set `gangs: {placement: whole}` in the partition; at most one incomplete gang then holds \
         capacity",
    ));
}

fn preemption(partition: &Partition, facts: &Facts, report: &mut Report) {
    let settings = &partition.preemption;
    let stops_work = settings.enabled != Some(false) && settings.observe_only != Some(true);
    let Some(strict) = settings.strict_guarantee.as_ref().filter(|strict| !strict.value) else {
        return;
    };
    // Victims are never in the leaf of the ask.
    if !stops_work || facts.leaves < 2 {
        return;
    }
    let what = match (facts.gangs_preempt, facts.shares_guarantee) {
        (true, true) => {
            "preemption can stop allocations for a gang that then cannot start, and queues can \
             repeatedly preempt each other's work"
        }
        (true, false) => "preemption can stop allocations for a gang that then cannot start",
        (false, true) => "queues can repeatedly preempt each other's work",
        (false, false) => return,
    };
    let message = format!("{what}, because `strictguarantee` is false");
    let found = Diagnostic::recommendation(Code::PreemptionNotStrict, strict.span, message);
    report.push(found.help(
        "remove `strictguarantee: false`, unless preemption must select victims as YuniKorn does",
    ));
}

/// Returns the place of a written value, else of the name of the partition, else the start of the partition.
fn place_of(partition: &Partition, written: Option<&Text>) -> Span {
    if let Some(text) = written {
        return text.span;
    }
    let Span { start, end } = partition.name.span;
    let is_written = !partition.name.value.is_empty();
    Span { start, end: if is_written { end } else { start } }
}

/// Facts about all queues of a partition. Queues that placement rules can create do not count, because the file does
/// not determine whether they will exist.
#[derive(Default)]
struct Facts {
    leaves: usize,
    /// Queues with a maximum.
    maxima: usize,
    /// Whether the placement of gangs matters in a leaf.
    places_gangs: bool,
    /// Whether a leaf admits gangs, and has a guarantee for which they can preempt.
    gangs_preempt: bool,
    /// Whether two leaves without a guarantee of their own have the same ancestor with a guarantee.
    shares_guarantee: bool,
}

impl Facts {
    fn of(survey: &Survey<'_>) -> Self {
        let mut facts = Self::default();
        let mut all: Vec<InForce<'_>> = Vec::new();
        // Leaves that have the guarantee of the queue at this position.
        let mut sharing: Vec<usize> = Vec::new();
        for (position, place) in survey.iter() {
            let above = place.above.map_or_else(InForce::default, |above| all[above]);
            let here = above.below(position, place.queue);
            all.push(here);
            sharing.push(0);
            let has_maximum = !place.max.is_empty() || has_part_of_parent(place.queue);
            facts.maxima += usize::from(has_maximum);
            if place.is_parent() {
                continue;
            }
            facts.leaves += 1;
            let values = here.values(place.queue);
            let admits_gangs = values.application_order != ApplicationOrder::Fair;
            // With a back-off, placeholders are placed one by one in any case.
            facts.places_gangs |= admits_gangs && values.backoff == 0;
            let Some(guarantee) = here.guarantee else { continue };
            facts.gangs_preempt |= admits_gangs;
            sharing[guarantee] += 1;
            facts.shares_guarantee |= sharing[guarantee] > 1;
        }
        facts
    }
}

/// Returns whether the maximum of a queue is a fraction of its parent's maximum.
fn has_part_of_parent(queue: &Queue) -> bool {
    let maximum = queue.capacity.as_deref().and_then(|block| block.maximum.as_ref());
    maximum.and_then(percent).is_some_and(|maximum| maximum < Decimal::HUNDRED)
}

/// Settings that apply to a queue, its own or inherited.
#[derive(Clone, Copy, Default)]
struct InForce<'a> {
    order: &'a str,
    backoff: &'a str,
    /// Position of the nearest queue with a guarantee.
    guarantee: Option<usize>,
}

impl<'a> InForce<'a> {
    fn below(self, position: usize, queue: &'a Queue) -> Self {
        let own = |wanted: &str| {
            let found = queue.properties.iter().find(|(key, _)| key.value == wanted);
            found.map(|(_, value)| value.value.as_str())
        };
        Self {
            order: own(SORT_POLICY).unwrap_or(self.order),
            backoff: own(BACKOFF).unwrap_or(self.backoff),
            guarantee: if guarantees(queue) { Some(position) } else { self.guarantee },
        }
    }

    /// Returns the values of these properties for a leaf.
    fn values(self, leaf: &Queue) -> PropertyValues {
        let word = leaf.ordering.as_ref().and_then(|word| Ordering::of(&word.value, true));
        let order = word.map_or(self.order, |word| word.value);
        let properties = [(SORT_POLICY, order), (BACKOFF, self.backoff)];
        let properties: Properties =
            properties.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        PropertyValues::read(&properties)
    }
}
