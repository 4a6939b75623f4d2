//! Serialization of the books for snapshots.
//!
//! Structs are sequences of their fields. Append new fields at the end, each with `#[serde(default)]`. Never remove or
//! move a field, or change its meaning. Derived data is not stored but recomputed: indexes by name, lists in both
//! directions, timers, and sums of trackers. All input comes from a disk, so it is checked and never trusted.
//!
//! Decision 16 has the reasons, and the list of stored, recomputed, and checked data.

mod numbers;
mod text;

use alloc::collections::BTreeMap;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serializer};
use smallvec::{Array, SmallVec};

/// Reason why well-formed bytes are not valid books.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unsound {
    /// A row refers to another row that does not exist or has a different role.
    #[error("{holder} names {what}, which does not exist")]
    Dangling { holder: alloc::string::String, what: &'static str },
    /// A list or an index disagrees with the rows.
    #[error("{holder}: mismatch between {what} and the stored rows")]
    Disagree { holder: alloc::string::String, what: &'static str },
    /// The keys of an index are not in ascending order.
    #[error(transparent)]
    Unsorted(#[from] crate::ordered::stored::Unsorted),
}

impl Unsound {
    pub(crate) fn dangling(holder: impl fmt::Display, what: &'static str) -> Self {
        Self::Dangling { holder: alloc::format!("{holder}"), what }
    }

    pub(crate) fn disagree(holder: impl fmt::Display, what: &'static str) -> Self {
        Self::Disagree { holder: alloc::format!("{holder}"), what }
    }

    /// Returns an error that `what` of `holder` disagrees, unless `holds` is true.
    pub(crate) fn unless(
        holds: bool,
        holder: impl fmt::Display,
        what: &'static str,
    ) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::disagree(holder, what)) }
    }
}

/// Serialization of a field that is a short vector. Reads element by element and ignores the announced length, which
/// can be wrong.
pub(crate) mod few {
    use super::{
        Array, Deserialize, Deserializer, PhantomData, SeqAccess, Serializer, SmallVec, Visitor,
        fmt,
    };

    pub(crate) fn serialize<A, S>(few: &SmallVec<A>, to: S) -> Result<S::Ok, S::Error>
    where
        A: Array<Item: serde::Serialize>,
        S: Serializer,
    {
        to.collect_seq(few)
    }

    pub(crate) fn deserialize<'de, A, D>(from: D) -> Result<SmallVec<A>, D::Error>
    where
        A: Array<Item: Deserialize<'de>>,
        D: Deserializer<'de>,
    {
        struct Few<A>(PhantomData<A>);

        impl<'de, A: Array<Item: Deserialize<'de>>> Visitor<'de> for Few<A> {
            type Value = SmallVec<A>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a sequence")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut from: S) -> Result<SmallVec<A>, S::Error> {
                let mut few = SmallVec::new();
                while let Some(one) = from.next_element()? {
                    few.push(one);
                }
                few.shrink_to_fit();
                Ok(few)
            }
        }

        from.deserialize_seq(Few(PhantomData))
    }
}

/// Serialization of a map whose keys must be in ascending order, because a duplicate key would be ambiguous.
pub(crate) mod rising {
    use super::{
        BTreeMap, Deserialize, Deserializer, Error, MapAccess, PhantomData, Serializer, Visitor,
        fmt,
    };

    pub(crate) fn serialize<K, V, S>(map: &BTreeMap<K, V>, to: S) -> Result<S::Ok, S::Error>
    where
        K: serde::Serialize,
        V: serde::Serialize,
        S: Serializer,
    {
        to.collect_map(map)
    }

    pub(crate) fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        struct Rising<K, V>(PhantomData<(K, V)>);

        impl<'de, K, V> Visitor<'de> for Rising<K, V>
        where
            K: Deserialize<'de> + Ord,
            V: Deserialize<'de>,
        {
            type Value = BTreeMap<K, V>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map whose keys rise")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut from: M) -> Result<Self::Value, M::Error> {
                let mut map = BTreeMap::new();
                while let Some((key, value)) = from.next_entry()? {
                    if map.last_key_value().is_some_and(|(last, _)| *last >= key) {
                        return Err(M::Error::custom(
                            "the keys of a map are not in ascending order",
                        ));
                    }
                    map.insert(key, value);
                }
                Ok(map)
            }
        }

        from.deserialize_map(Rising(PhantomData))
    }
}
