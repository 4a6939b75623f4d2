//! Sections of resource types: plain types, and the types of each exclusive label. Computations on whole vectors, and
//! splits among queues, apply to each section separately. Source: user-headroom §10 (C18).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::name::Name;

use super::{ResourceType, ResourceTypes, Resources, type_and_label};

/// Sections of the types of a partition by number: first the plain types, then those of each label, in the order of
/// labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    labels: Vec<Name>,
    /// Section of each type, by its lane. Empty if there is only one section.
    of_type: Vec<u16>,
    /// Memory type of each section except the first.
    memory: Vec<Option<ResourceType>>,
}

impl Sections {
    /// Returns the sections of all known types, for the labels that satisfy `is_label`.
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
        // Plain types that are registered later do not change the sections.
        while of_type.pop_if(|section| *section == 0).is_some() {}
        let memory = labels.iter().map(|label| {
            let mut all = types.iter().filter(|(_, name)| label_of(name).as_ref() == Some(label));
            all.find(|(resource, _)| types.plain(*resource) == ResourceType::MEMORY)
        });
        let memory = memory.map(|found| found.map(|(resource, _)| resource)).collect();
        Self { labels, of_type, memory }
    }

    /// Returns the numbers of the sections.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        0..=self.labels.len()
    }

    /// Returns whether there is only one section.
    pub(crate) const fn is_single(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns the label of a section. `None` for the first one.
    pub(crate) fn label(&self, section: usize) -> Option<&str> {
        section.checked_sub(1).map(|place| self.labels[place].as_str())
    }

    /// Returns the section of a type.
    pub(crate) fn section(&self, resource: ResourceType) -> usize {
        self.of_type.get(resource.lane()).map_or(0, |section| usize::from(*section))
    }

    /// Returns the memory type of a section. `None` if it is not known yet.
    pub(crate) fn memory(&self, section: usize) -> Option<ResourceType> {
        let label = section.checked_sub(1);
        label.map_or(Some(ResourceType::MEMORY), |place| self.memory[place])
    }

    /// Returns the amounts in the types of a section.
    pub(crate) fn only(&self, section: usize, amounts: &Resources) -> Resources {
        if self.is_single() {
            return amounts.clone();
        }
        amounts.iter().filter(|(resource, _)| self.section(*resource) == section).collect()
    }

    /// Copies the amounts of plain types to the types of each label without an amount.
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
