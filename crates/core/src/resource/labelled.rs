//! Types of a label: what nodes have for asks that name their label alone is counted in types of
//! its own. An example is `vcore@gpu` next to `vcore`. Source: user-headroom §10 (C18), decision
//! page 27.
//!
//! So each queue, user and group has books by label without any second set: a maximum, a
//! guarantee, a share and a limit hold by type, and these are types.

use alloc::format;

use crate::name::Name;

use super::Amounts;

/// What stands between a type and the label whose nodes have it.
const AT: char = '@';

/// The type and the label of which the name of a type speaks; none where it speaks of no label.
pub fn type_and_label(name: &str) -> Option<(&str, &str)> {
    name.split_once(AT).filter(|(base, label)| !base.is_empty() && !label.is_empty())
}

/// What a type is called without a label: the part before it, or all of it.
pub fn base_of(name: &str) -> &str {
    type_and_label(name).map_or(name, |(base, _)| base)
}

impl Amounts {
    /// The same amounts in the types of a label.
    #[must_use]
    pub fn at_label(&self, label: &Name) -> Self {
        self.iter().map(|(name, amount)| (format!("{name}{AT}{label}"), amount)).collect()
    }

    /// The same amounts in plain types, where they are in types of a label of which `is_label` is true;
    /// amounts that come to one type are added.
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
