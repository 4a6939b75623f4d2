//! Serialization of values by priority: few values as a sequence, and many as a map.

use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

use crate::books::by_priority::{ByPriority, FEW};
use crate::ordered::OrderedMap;

impl<V: Copy + Serialize> Serialize for ByPriority<V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Few(few) => to.collect_seq(few),
            Self::Many(many) => many.serialize(to),
        }
    }
}

impl<'de, V: Copy + Deserialize<'de>> Deserialize<'de> for ByPriority<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either<V>(PhantomData<V>);

        impl<'de, V: Copy + Deserialize<'de>> Visitor<'de> for Either<V> {
            type Value = ByPriority<V>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("values by priority")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut from: S) -> Result<Self::Value, S::Error> {
                let mut few: SmallVec<[(i32, V); 1]> = SmallVec::new();
                while let Some(one) = from.next_element::<(i32, V)>()? {
                    let rises = few.last().is_none_or(|(last, _)| *last < one.0);
                    if !rises || few.len() == FEW {
                        return Err(S::Error::custom("priorities that do not rise, or too many"));
                    }
                    few.push(one);
                }
                few.shrink_to_fit();
                Ok(ByPriority::Few(few))
            }

            fn visit_map<M: MapAccess<'de>>(self, from: M) -> Result<Self::Value, M::Error> {
                let many = OrderedMap::deserialize(MapAccessDeserializer::new(from))?;
                Ok(ByPriority::Many(Box::new(many)))
            }
        }

        from.deserialize_any(Either(PhantomData))
    }
}
