//! Serialization of vectors as their lanes, with nothing for an absent one, and of the resource types.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::name::Name;

use super::lanes::WIDTH;
use super::{PackedUsage, Quantity, ResourceType, ResourceTypes, Resources, type_and_label};

impl Serialize for Resources {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(
            self.raw().iter().map(|lane| Some(*lane).filter(|lane| *lane != Self::ABSENT)),
        )
    }
}

impl<'de> Deserialize<'de> for Resources {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Lanes;

        impl<'de> Visitor<'de> for Lanes {
            type Value = Resources;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("amounts by type")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut from: S) -> Result<Resources, S::Error> {
                let mut resources = Resources::new();
                let (mut lane, mut trimmed) = (0, true);
                while let Some(amount) = from.next_element::<Option<Quantity>>()? {
                    if lane == ResourceTypes::LIMIT {
                        return Err(S::Error::custom("more resource types than there may be"));
                    }
                    trimmed = amount.is_some();
                    if let Some(amount) = amount {
                        resources.set(ResourceType::at(lane), amount);
                    }
                    lane += 1;
                }
                if trimmed { Ok(resources) } else { Err(S::Error::custom("an absent last type")) }
            }
        }

        from.deserialize_seq(Lanes)
    }
}

impl Serialize for PackedUsage {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let used = WIDTH - self.raw().iter().rev().take_while(|lane| **lane == 0).count();
        to.collect_seq(&self.raw()[..used])
    }
}

impl<'de> Deserialize<'de> for PackedUsage {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let lanes = Vec::<Quantity>::deserialize(from)?;
        if lanes.len() > WIDTH || lanes.last() == Some(&Quantity::ZERO) {
            return Err(D::Error::custom(
                "a use of more than eight types, or of a last one nothing",
            ));
        }
        let mut all = [0; WIDTH];
        for (lane, used) in all.iter_mut().zip(lanes) {
            *lane = used.get();
        }
        Ok(Self::of_raw(all))
    }
}

impl Serialize for ResourceTypes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.names.serialize(to)
    }
}

impl<'de> Deserialize<'de> for ResourceTypes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let names = Vec::<Name>::deserialize(from)?;
        let first = |lane: usize| names.get(lane).map(Name::as_str);
        if (first(0), first(1)) != (Some("memory"), Some("vcore")) || names.len() > Self::LIMIT {
            return Err(D::Error::custom(
                "resource types that do not begin with memory and vcore, or are too many",
            ));
        }
        let numbers = names.iter().enumerate();
        let numbers: BTreeMap<Name, ResourceType> =
            numbers.map(|(lane, name)| (name.clone(), ResourceType::at(lane))).collect();
        if numbers.len() < names.len() {
            return Err(D::Error::custom("two resource types of one name"));
        }
        // Without its plain type, no amount was ever counted in a type of that label.
        let plain = numbers.iter().filter_map(|(name, number)| {
            let (base, _) = type_and_label(name)?;
            Some((*number, *numbers.get(base)?))
        });
        let plain = plain.collect();
        Ok(Self { names, numbers, plain })
    }
}

impl ResourceTypes {
    /// Returns whether all types of a vector are known.
    pub(crate) fn know(&self, resources: &Resources) -> bool {
        resources.raw().len() <= self.len()
    }

    /// Returns whether all types of a usage are known.
    pub(crate) fn know_used(&self, tally: &PackedUsage) -> bool {
        tally.raw().iter().skip(self.len()).all(|lane| *lane == 0)
    }
}
