//! Event records of objects, in the form for the RM.

use headroom_api::si::v1::EventRecord;
use headroom_core::record::Record;

use super::outbound::nanoseconds;
use super::resource;

/// Returns a record for the RM. Source: scheduler interface §2.4, §11.
pub fn event(record: &Record) -> EventRecord {
    EventRecord {
        r#type: record.kind.number(),
        object_id: record.object.to_string(),
        message: record.message.as_ref().map(ToString::to_string).unwrap_or_default(),
        timestamp_nano: nanoseconds(record.at),
        event_change_type: record.change.number(),
        event_change_detail: record.detail.number(),
        reference_id: record.reference.as_ref().map(ToString::to_string).unwrap_or_default(),
        resource: (!record.resources.is_empty()).then(|| resource(&record.resources)),
    }
}
