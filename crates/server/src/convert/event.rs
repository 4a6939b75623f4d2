//! Events of objects.

use headroom_api::wsv1::{EventQuantity, EventRecord, EventResource};
use headroom_core::record::Record;

use super::value::{name_or_empty, nanos};

/// Returns one event.
pub(crate) fn event(record: &Record) -> EventRecord {
    let resources = record.resources.iter();
    let resources =
        resources.map(|(name, amount)| (name.to_string(), EventQuantity { value: amount.get() }));
    EventRecord {
        kind: record.kind.number(),
        object_id: record.object.to_string(),
        message: name_or_empty(record.message.as_ref()),
        timestamp_nano: nanos(record.at),
        event_change_type: record.change.number(),
        event_change_detail: record.detail.number(),
        reference_id: name_or_empty(record.reference.as_ref()),
        // The reference always sets this field, even if it is empty.
        resource: Some(EventResource { resources: resources.collect() }),
    }
}
