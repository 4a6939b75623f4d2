//! States of queues, and lifetimes of applications.

use headroom_core::Millis;
use headroom_core::config::{LifetimesConfig, QueueStart};

use super::{Decoded, Field, words};
use crate::proto;

words!(QueueStart = proto::QueueStart { Running, Stopped });

impl Field<i32> for Option<QueueStart> {
    fn put(&self) -> i32 {
        self.as_ref().map_or(0, Field::put)
    }

    fn take(field: i32) -> Decoded<Self> {
        (field != 0).then(|| Field::take(field)).transpose()
    }
}

/// Absent if neither limit is set.
impl Field<Option<proto::Lifetimes>> for LifetimesConfig {
    fn put(&self) -> Option<proto::Lifetimes> {
        let Self { maximum, default } = *self;
        (!self.says_nothing()).then(|| proto::Lifetimes {
            maximum: maximum.map(Millis::get),
            default: default.map(Millis::get),
        })
    }

    fn take(field: Option<proto::Lifetimes>) -> Decoded<Self> {
        let proto::Lifetimes { maximum, default } = field.unwrap_or_default();
        Ok(Self { maximum: maximum.map(Millis::new), default: default.map(Millis::new) })
    }
}
