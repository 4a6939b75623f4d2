//! Serialization of tables: the generation of each slot, the vacant slots in the order of their use, and the optional
//! row of each slot.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::Id;

use super::{CHUNK, NONE, Row, Table};

impl<I, T> Table<I, T> {
    fn slot(&self, index: u32) -> &Row<T> {
        &self.chunks[index as usize / CHUNK][index as usize % CHUNK]
    }
}

impl<I: Id, T: Serialize> Serialize for Table<I, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut parts = to.serialize_tuple(3)?;
        parts.serialize_element(&Generations(self))?;
        parts.serialize_element(&Vacant(self))?;
        parts.serialize_element(&Rows(self))?;
        parts.end()
    }
}

struct Generations<'table, I, T>(&'table Table<I, T>);

impl<I, T> Serialize for Generations<'_, I, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((0..self.0.slots).map(|index| self.0.slot(index).generation))
    }
}

struct Vacant<'table, I, T>(&'table Table<I, T>);

impl<I, T> Serialize for Vacant<'_, I, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut next = self.0.vacant;
        to.collect_seq((self.0.len..self.0.slots).map(|_| {
            let index = next;
            next = self.0.slot(index).next;
            index
        }))
    }
}

struct Rows<'table, I, T>(&'table Table<I, T>);

impl<I, T: Serialize> Serialize for Rows<'_, I, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((0..self.0.slots).map(|index| &self.0.slot(index).value))
    }
}

impl<'de, I: Id, T: Deserialize<'de> + Clone> Deserialize<'de> for Table<I, T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Parts<I, T>(PhantomData<(I, T)>);

        impl<'de, I: Id, T: Deserialize<'de> + Clone> Visitor<'de> for Parts<I, T> {
            type Value = Table<I, T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("generations, vacant slots and rows")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut from: S) -> Result<Self::Value, S::Error> {
                let short =
                    || S::Error::custom("a table without generations, vacant slots or rows");
                let generations: Vec<u32> = from.next_element()?.ok_or_else(short)?;
                let vacant: Vec<u32> = from.next_element()?.ok_or_else(short)?;
                let table = from.next_element_seed(Filling::new(&generations))?;
                let mut table: Table<I, T> = table.ok_or_else(short)?;
                table.chain(&vacant).map_err(S::Error::custom)?;
                Ok(table)
            }
        }

        from.deserialize_tuple(3, Parts(PhantomData))
    }
}

impl<I: Id, T: Clone> Table<I, T> {
    /// Links the vacant slots in this order.
    fn chain(&mut self, vacant: &[u32]) -> Result<(), &'static str> {
        let expected = u32::try_from(vacant.len()).ok().map(|count| count + self.len);
        if expected != Some(self.slots) {
            return Err("a table with more or fewer vacant slots than it lists");
        }
        for index in vacant.iter().rev() {
            if *index >= self.slots || self.slot(*index).value.is_some() {
                return Err("a slot that is listed as vacant and is not");
            }
            // The number matches, each slot is vacant, and no slot is listed twice, so the list has all vacant slots.
            if self.slot(*index).next != UNLISTED {
                return Err("a slot that is listed as vacant twice");
            }
            let next = self.vacant;
            self.row_mut(*index).next = next;
            self.vacant = *index;
        }
        Ok(())
    }
}

/// Marks a vacant slot before it is listed. No slot has this index, because no table is that large.
const UNLISTED: u32 = NONE - 1;

/// Deserializes the rows of a table with known generations.
struct Filling<'read, I, T> {
    generations: &'read [u32],
    rows: PhantomData<(I, T)>,
}

impl<'read, I, T> Filling<'read, I, T> {
    const fn new(generations: &'read [u32]) -> Self {
        Self { generations, rows: PhantomData }
    }
}

impl<'de, I: Id, T: Deserialize<'de> + Clone> DeserializeSeed<'de> for Filling<'_, I, T> {
    type Value = Table<I, T>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, I: Id, T: Deserialize<'de> + Clone> Visitor<'de> for Filling<'_, I, T> {
    type Value = Table<I, T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a row for each slot")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut from: S) -> Result<Self::Value, S::Error> {
        let mut table = Table::default();
        if self.generations.len() >= UNLISTED as usize {
            return Err(S::Error::custom("a table with more slots than there are ids"));
        }
        for generations in self.generations.chunks(CHUNK) {
            let mut failed = None;
            let chunk = core::array::from_fn(|place| {
                let absent = Row { generation: 0, next: NONE, value: None };
                let Some(generation) = generations.get(place).filter(|_| failed.is_none()) else {
                    return absent;
                };
                match from.next_element::<Option<T>>() {
                    Ok(Some(value)) => {
                        table.slots += 1;
                        table.len += u32::from(value.is_some());
                        let next = if value.is_some() { NONE } else { UNLISTED };
                        Row { generation: *generation, next, value }
                    }
                    Ok(None) => {
                        failed = Some(S::Error::custom("a table with fewer rows than slots"));
                        absent
                    }
                    Err(error) => {
                        failed = Some(error);
                        absent
                    }
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
            table.chunks.push(Arc::new(chunk));
        }
        Ok(table)
    }
}
