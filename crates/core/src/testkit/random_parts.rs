//! Fractions of queues in random trees.

use alloc::vec::Vec;

use crate::config::{
    ApplicationLimitsConfig, CapacityConfig, CapacityShare, LabelCapacity, PartitionConfig,
};
use crate::config::{QueueConfig, TemplateConfig};
use crate::name::Name;
use crate::resource::Amounts;
use crate::userlimit::Decimal;

/// Gives the queues of some trees fractions of their parents. These are derived from earlier numbers, so that the other
/// trees do not change.
pub(super) fn divide(one: &mut PartitionConfig, seed: u8) {
    if seed % 6 != 1 {
        return;
    }
    let mut state = u32::from(seed);
    let queues = one.root.children.iter().map(|queue| queue.limits.len() * 5 + queue.max.len());
    for drawn in queues {
        state = state.wrapping_mul(31).wrapping_add(u32::try_from(drawn).unwrap_or_default());
    }
    let mut die = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    below(&mut one.root, &mut die);
    if die() % 2 == 0 {
        let limits = one.application_limits.get_or_insert_default();
        limits.max = Some(u64::from(die() % 12) + 2);
        if die().is_multiple_of(4) {
            limits.max_per_queue = Some(u64::from(die() % 3) + 1);
        }
    }
}

/// Sets fractions of one type for the children of a queue, and for their descendants.
fn below(parent: &mut QueueConfig, die: &mut impl FnMut() -> u8) {
    let maximum =
        |drawn: u8| drawn.is_multiple_of(3).then(|| Decimal::whole(u32::from(drawn) % 101));
    let kind = die() % 5;
    let mut left = 100_u32;
    let mut children: Vec<&mut QueueConfig> = parent.children.iter_mut().collect();
    let last = children.len().saturating_sub(1);
    for (place, child) in children.iter_mut().enumerate() {
        let share = match kind {
            0 => None,
            1 | 2 => {
                let part = if place == last { left } else { u32::from(die()) % (left + 1) };
                left -= part;
                Some(CapacityShare::Percent(Decimal::whole(part)))
            }
            3 => Some(CapacityShare::Weight(Decimal::whole(u32::from(die()) % 4))),
            _ => Some(CapacityShare::Absolute),
        };
        let Some(share) = share else { continue };
        let is_absolute = share == CapacityShare::Absolute;
        if !is_absolute {
            child.guaranteed = Amounts::EMPTY;
        }
        let maximum = maximum(die()).filter(|_| !is_absolute);
        child.capacity = Some(CapacityConfig { share, maximum });
        if !is_absolute && child.limits.len() % 2 == 1 {
            // The same fraction of the nodes of a label, which adds up like the other fractions.
            let capacity = CapacityConfig { share, maximum: None };
            let label = Name::new("gpu");
            child.label_capacities = alloc::vec![LabelCapacity { label, capacity }];
        }
    }
    if kind == 3 || die().is_multiple_of(4) {
        let share = CapacityShare::Weight(Decimal::whole(u32::from(die()) % 3));
        let capacity = Some(CapacityConfig { share, maximum: maximum(die()) });
        parent.template = Some(TemplateConfig { capacity, ..TemplateConfig::default() });
    }
    for child in parent.children.iter_mut().filter(|child| child.is_parent()) {
        below(child, die);
    }
    if die().is_multiple_of(16) {
        let limits = ApplicationLimitsConfig { max: Some(3), ..ApplicationLimitsConfig::default() };
        parent.application_limits.get_or_insert(limits);
    }
}
