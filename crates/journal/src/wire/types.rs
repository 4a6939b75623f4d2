//! Numbers, names, ids, amounts, and plain enums.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::books::{ApplicationState, GangStyle, NodeAttributes, QueueState};
use headroom_core::id::{AllocationId, ApplicationId, Id as _, NodeId, PartitionId, QueueId, Slot};
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::{Millis, Name, Termination, Timestamp};

use super::{At as _, Decoded, Fault, Field, message, words};
use crate::proto;
use crate::record::What;

words!(
    Termination = proto::Termination {
        StoppedByRm,
        NodeRemoved,
        PartitionRemoved,
        Timeout,
        Preempted,
        PlaceholderReplaced,
        LifetimeOver,
    }
);
words!(GangStyle = proto::GangStyle { Soft, Hard });
words!(QueueState = proto::QueueState { Active, Draining, Stopped });
words!(
    ApplicationState = proto::ApplicationState {
        New,
        Accepted,
        Running,
        Completing,
        Completed,
        Resuming,
        Failing,
        Failed,
    }
);

/// Converts a value that is written unchanged.
macro_rules! plain {
    ($($type:ty),*) => {$(
        impl Field<$type> for $type {
            fn put(&self) -> $type {
                self.clone()
            }

            fn take(field: $type) -> Decoded<Self> {
                Ok(field)
            }
        }
    )*};
}

plain!(bool, u32, u64, i32, String, Option<u32>, Option<u64>);

/// Converts a value that is written as another type, and that can be absent.
macro_rules! convert {
    ($type:ty as $field:ty, $put:expr, $take:expr) => {
        impl Field<$field> for $type {
            fn put(&self) -> $field {
                $put(self)
            }

            fn take(field: $field) -> Decoded<Self> {
                Ok($take(field))
            }
        }

        impl Field<Option<$field>> for Option<$type> {
            fn put(&self) -> Option<$field> {
                self.as_ref().map($put)
            }

            fn take(field: Option<$field>) -> Decoded<Self> {
                Ok(field.map($take))
            }
        }
    };
}

convert!(Name as String, |name: &Name| name.as_str().to_owned(), Name::from);
convert!(Timestamp as u64, |time: &Timestamp| time.as_millis(), Timestamp::from_millis);
convert!(Millis as u64, |span: &Millis| span.get(), Millis::new);

macro_rules! ids {
    ($($id:ty),*) => {$(
        impl Field<proto::Id> for $id {
            fn put(&self) -> proto::Id {
                let slot = self.slot();
                proto::Id { slot: slot.number(), generation: slot.generation() }
            }

            fn take(field: proto::Id) -> Decoded<Self> {
                let proto::Id { slot, generation } = field;
                Ok(Self::from_slot(Slot::new(slot, generation)))
            }
        }

        message!($id = proto::Id);

        impl Field<Option<proto::Id>> for Option<$id> {
            fn put(&self) -> Option<proto::Id> {
                self.as_ref().map(Field::put)
            }

            fn take(field: Option<proto::Id>) -> Decoded<Self> {
                field.map(Field::take).transpose()
            }
        }
    )*};
}

ids!(PartitionId, QueueId, NodeId, ApplicationId, AllocationId);

impl Field<i64> for Quantity {
    fn put(&self) -> i64 {
        self.get()
    }

    fn take(field: i64) -> Decoded<Self> {
        let quantity = Self::of(field);
        if quantity.get() == field {
            Ok(quantity)
        } else {
            Err(Fault::new(What::TooSmall { number: field }))
        }
    }
}

impl Field<Vec<proto::Amount>> for Amounts {
    fn put(&self) -> Vec<proto::Amount> {
        let amount = |(resource, quantity): (&Name, Quantity)| proto::Amount {
            resource: resource.put(),
            quantity: quantity.get(),
        };
        self.iter().map(amount).collect()
    }

    fn take(field: Vec<proto::Amount>) -> Decoded<Self> {
        ascending(field.iter().map(|one| &one.resource))?;
        let amount = |(index, one): (usize, proto::Amount)| {
            let quantity = Quantity::take(one.quantity).at("quantity").at_index(index)?;
            Ok((Name::from(one.resource), quantity))
        };
        field.into_iter().enumerate().map(amount).collect()
    }
}

impl Field<Option<proto::Amounts>> for Option<Amounts> {
    fn put(&self) -> Option<proto::Amounts> {
        self.as_ref().map(|amounts| proto::Amounts { amounts: amounts.put() })
    }

    fn take(field: Option<proto::Amounts>) -> Decoded<Self> {
        field.map(|one| Amounts::take(one.amounts).at("amounts")).transpose()
    }
}

impl Field<proto::Pair> for (Name, Name) {
    fn put(&self) -> proto::Pair {
        proto::Pair { key: self.0.put(), value: self.1.put() }
    }

    fn take(field: proto::Pair) -> Decoded<Self> {
        let proto::Pair { key, value } = field;
        Ok((Name::from(key), Name::from(value)))
    }
}

impl Field<Vec<proto::Pair>> for NodeAttributes {
    fn put(&self) -> Vec<proto::Pair> {
        self.iter().map(|(key, value)| (key.clone(), value.clone()).put()).collect()
    }

    fn take(field: Vec<proto::Pair>) -> Decoded<Self> {
        ascending(field.iter().map(|one| &one.key))?;
        Ok(field.into_iter().map(|one| (one.key, one.value)).collect())
    }
}

impl Field<BTreeMap<String, String>> for BTreeMap<Name, Name> {
    fn put(&self) -> BTreeMap<String, String> {
        self.iter().map(|(key, value)| (key.put(), value.put())).collect()
    }

    fn take(field: BTreeMap<String, String>) -> Decoded<Self> {
        Ok(field.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl Field<Vec<String>> for BTreeSet<Name> {
    fn put(&self) -> Vec<String> {
        self.iter().map(Field::put).collect()
    }

    fn take(field: Vec<String>) -> Decoded<Self> {
        ascending(field.iter())?;
        Ok(field.into_iter().map(Name::from).collect())
    }
}

/// The core stores names in order. The journal contains each name once, in this order.
pub(super) fn ascending<'names>(names: impl Iterator<Item = &'names String>) -> Decoded<()> {
    let mut before: Option<&String> = None;
    for (index, name) in names.enumerate() {
        if before.is_some_and(|before| before >= name) {
            return Err(Fault::new(What::Disorder)).at_index(index);
        }
        before = Some(name);
    }
    Ok(())
}
