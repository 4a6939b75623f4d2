//! Who may be stopped for whom in a queue.

use headroom_core::config::QueuePreemptionConfig;

use super::{Decoded, Field};
use crate::proto;

impl Field<Option<proto::QueuePreemption>> for QueuePreemptionConfig {
    fn put(&self) -> Option<proto::QueuePreemption> {
        let Self { disabled, intra_queue_disabled, balance } = *self;
        let all = proto::QueuePreemption { disabled, intra_queue_disabled, balance };
        (!self.says_nothing()).then_some(all)
    }

    fn take(field: Option<proto::QueuePreemption>) -> Decoded<Self> {
        let proto::QueuePreemption { disabled, intra_queue_disabled, balance } =
            field.unwrap_or_default();
        Ok(Self { disabled, intra_queue_disabled, balance })
    }
}
