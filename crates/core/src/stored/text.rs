//! Serialization of the basic types: names, IDs, and amounts.

use core::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::Slot;
use crate::name::Name;
use crate::resource::Quantity;

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Name;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a name")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
                Ok(Name::new(text))
            }
        }

        from.deserialize_str(Text)
    }
}

/// Serialized as one number: the generation in the upper 32 bits, the index in the lower. Small for the first row of a
/// slot.
impl Serialize for Slot {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::from(self.generation()) << 32 | u64::from(self.number()))
    }
}

impl<'de> Deserialize<'de> for Slot {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(from)?;
        #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart")]
        Ok(Self::new(number as u32, (number >> 32) as u32))
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(self.get())
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let amount = i64::deserialize(from)?;
        if amount == i64::MIN {
            return Err(D::Error::custom("an amount below the smallest one"));
        }
        Ok(Self::of(amount))
    }
}
