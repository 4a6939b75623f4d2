//! Preemption settings of a queue.

use headroom_core::Millis;
use headroom_core::config::{QueuePreemptionConfig, WithinQueue};

use super::{At as _, Decoded, Field, words};
use crate::proto;

words!(WithinQueue = proto::WithinQueue { None, Priority });

impl Field<Option<proto::QueuePreemption>> for QueuePreemptionConfig {
    fn put(&self) -> Option<proto::QueuePreemption> {
        let Self { disabled, intra_queue_disabled, balance, within_queue, min_runtime } = *self;
        let all = proto::QueuePreemption {
            disabled,
            intra_queue_disabled,
            balance,
            within_queue: within_queue.map(|one| one.put()),
            min_runtime: min_runtime.map(|span| span.put()),
        };
        (!self.says_nothing()).then_some(all)
    }

    fn take(field: Option<proto::QueuePreemption>) -> Decoded<Self> {
        let proto::QueuePreemption {
            disabled,
            intra_queue_disabled,
            balance,
            within_queue,
            min_runtime,
        } = field.unwrap_or_default();
        Ok(Self {
            disabled,
            intra_queue_disabled,
            balance,
            within_queue: within_queue.map(Field::take).transpose().at("within_queue")?,
            min_runtime: min_runtime.map(Millis::new),
        })
    }
}
