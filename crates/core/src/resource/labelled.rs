//! Labeled types: the capacity of nodes with an exclusive label is counted in separate types, such as `vcore@gpu` in
//! addition to `vcore`. Source: user-headroom §10 (C18), decision page 27.
//!
//! With these types, each queue, user, and group has amounts by label without additional fields: maxima, guarantees,
//! shares, and limits apply by type.

use alloc::format;

use crate::name::Name;

use super::Amounts;

/// Separator between a type and its label.
const AT: char = '@';

/// Returns the base type and the label of a labeled type. `None` for a plain type.
pub fn type_and_label(name: &str) -> Option<(&str, &str)> {
    name.split_once(AT).filter(|(base, label)| !base.is_empty() && !label.is_empty())
}

/// Returns the base type: the part before the label, or the whole name.
pub fn base_of(name: &str) -> &str {
    type_and_label(name).map_or(name, |(base, _)| base)
}

impl Amounts {
    /// Returns the amounts in the types of a label.
    #[must_use]
    pub fn at_label(&self, label: &Name) -> Self {
        self.iter().map(|(name, amount)| (format!("{name}{AT}{label}"), amount)).collect()
    }

    /// Returns the amounts in plain types, for the labels that satisfy `is_label`. Amounts of the same resulting type
    /// are added.
    #[must_use]
    pub fn without_label(&self, is_label: impl Fn(&str) -> bool) -> Self {
        let mut plain = Self::EMPTY;
        for (name, amount) in self.iter() {
            match type_and_label(name).filter(|(_, label)| is_label(label)) {
                None => {
                    let before = plain.get(name).unwrap_or_default();
                    plain.set(name.clone(), before.plus(amount));
                }
                Some((base, _)) => {
                    let before = plain.get(base).unwrap_or_default();
                    plain.set(base, before.plus(amount));
                }
            }
        }
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_a_label_is_the_type_and_the_label() {
        let gpu = Name::new("gpu");
        let plain = Amounts::from([("memory", 7), ("nvidia.com/gpu", 2)]);
        let there = plain.at_label(&gpu);
        assert_eq!(there, Amounts::from([("memory@gpu", 7), ("nvidia.com/gpu@gpu", 2)]));
        assert_eq!(there.without_label(|label| label == "gpu"), plain);
        assert_eq!(there.without_label(|label| label == "fpga"), there);
        let both = Amounts::from([("vcore", 3), ("vcore@gpu", 4)]);
        assert_eq!(both.without_label(|_| true), Amounts::from([("vcore", 7)]));
        assert_eq!(type_and_label("vcore@a@b"), Some(("vcore", "a@b")), "a type has no sign in it");
        assert_eq!(
            (type_and_label("vcore"), type_and_label("@gpu"), type_and_label("vcore@")),
            (None, None, None)
        );
        assert_eq!((base_of("vcore@gpu"), base_of("vcore")), ("vcore", "vcore"));
    }
}
