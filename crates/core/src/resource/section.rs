//! The types of no label, and those of each label that has types of its own: what is computed by whole
//! vectors, and what is divided among queues, is so for each of them by itself. Source: user-headroom
//! §10 (C18).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::name::Name;

use super::{ResourceType, ResourceTypes, Resources, type_and_label};

/// The sections of the types of a partition, by number: first the types of no label, then those of each
/// label, in the order of labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    labels: Vec<Name>,
    /// The section of each type, by its lane; empty where there is but one.
    of_type: Vec<u16>,
    /// Which type is memory, in each section but the first.
    memory: Vec<Option<ResourceType>>,
}

impl Sections {
    /// All types that are met so far; only labels count of which `is_label` is true.
    pub(crate) fn of(types: &ResourceTypes, is_label: impl Fn(&str) -> bool) -> Self {
        if !types.has_labelled() {
            return Self::default();
        }
        let label_of = |name: &Name| {
            let (_, label) = type_and_label(name)?;
            is_label(label).then(|| Name::new(label))
        };
        let labels: BTreeSet<Name> = types.iter().filter_map(|(_, name)| label_of(name)).collect();
        let labels: Vec<Name> = labels.into_iter().collect();
        if labels.is_empty() {
            return Self::default();
        }
        let number = |label: Name| {
            let place = labels.binary_search(&label).expect("it was just collected");
            u16::try_from(place + 1).expect("there are no more labels than types")
        };
        let of_type = types.iter().map(|(_, name)| label_of(name).map_or(0, number));
        let mut of_type: Vec<u16> = of_type.collect();
        // Plain types that are met later change nothing.
        while of_type.pop_if(|section| *section == 0).is_some() {}
        let memory = labels.iter().map(|label| {
            let mut all = types.iter().filter(|(_, name)| label_of(name).as_ref() == Some(label));
            all.find(|(resource, _)| types.plain(*resource) == ResourceType::MEMORY)
        });
        let memory = memory.map(|found| found.map(|(resource, _)| resource)).collect();
        Self { labels, of_type, memory }
    }

    /// Their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        0..=self.labels.len()
    }

    /// Whether there is but one.
    pub(crate) const fn is_single(&self) -> bool {
        self.labels.is_empty()
    }

    /// The label of a section; none of the first.
    pub(crate) fn label(&self, section: usize) -> Option<&str> {
        section.checked_sub(1).map(|place| self.labels[place].as_str())
    }

    /// The section of a type.
    pub(crate) fn section(&self, resource: ResourceType) -> usize {
        self.of_type.get(resource.lane()).map_or(0, |section| usize::from(*section))
    }

    /// Which type is memory in a section; none where nobody has met it.
    pub(crate) fn memory(&self, section: usize) -> Option<ResourceType> {
        let label = section.checked_sub(1);
        label.map_or(Some(ResourceType::MEMORY), |place| self.memory[place])
    }

    /// What of some amounts is of a section.
    pub(crate) fn only(&self, section: usize, amounts: &Resources) -> Resources {
        if self.is_single() {
            return amounts.clone();
        }
        amounts.iter().filter(|(resource, _)| self.section(*resource) == section).collect()
    }

    /// Copy the amounts of the plain types to the types of each label that have no amount.
    pub(crate) fn spread(&self, types: &ResourceTypes, amounts: &mut Resources) {
        if self.is_single() || amounts.is_empty() {
            return;
        }
        for (resource, _) in types.iter().filter(|(resource, _)| self.section(*resource) > 0) {
            if let (None, Some(amount)) =
                (amounts.get(resource), amounts.get(types.plain(resource)))
            {
                amounts.set(resource, amount);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Amounts;

    #[test]
    fn types_of_a_label_are_a_section_of_their_own() {
        let mut types = ResourceTypes::default();
        let all = types.intern_all(&Amounts::from([
            ("memory", 1),
            ("memory@gpu", 2),
            ("vcore@fpga", 3),
            ("vcore@x", 4),
        ]));
        let sections = Sections::of(&types, |label| label != "x");
        let labels: Vec<Option<&str>> = sections.iter().map(|one| sections.label(one)).collect();
        assert_eq!(labels, [None, Some("fpga"), Some("gpu")]);
        let of = |section| types.amounts(&sections.only(section, &all));
        assert_eq!(of(0), Amounts::from([("memory", 1), ("vcore@x", 4)]));
        assert_eq!(of(1), Amounts::from([("vcore@fpga", 3)]));
        assert_eq!(of(2), Amounts::from([("memory@gpu", 2)]));
        assert_eq!(sections.memory(0), Some(ResourceType::MEMORY));
        assert_eq!((sections.memory(1), sections.memory(2)), (None, types.find("memory@gpu")));
        let mut step = types.intern_all(&Amounts::from([("memory", 5), ("vcore", 6)]));
        sections.spread(&types, &mut step);
        let spread = [("memory", 5), ("memory@gpu", 5), ("vcore", 6), ("vcore@fpga", 6)];
        assert_eq!(types.amounts(&step), Amounts::from(spread));
        assert!(Sections::of(&types, |_| false).is_single(), "no label is exclusive");
    }
}
