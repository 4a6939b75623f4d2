//! `GET /ws/v1/events/batch` and `/ws/v1/events/stream`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use super::{ErrorBody, is_default};

/// A page of the stored events. IDs are implicit: the first record has the ID `start`, and each
/// further record has the next ID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct EventBatch {
    /// ID of the process. Another process has another ID, and its event IDs start again.
    #[serde(rename = "InstanceUUID")]
    pub instance_uuid: String,
    /// ID of the oldest stored event.
    #[serde(rename = "LowestID")]
    pub lowest_id: u64,
    /// ID of the newest event.
    #[serde(rename = "HighestID")]
    pub highest_id: u64,
    /// The events. `null` if there are none.
    #[serde(serialize_with = "null_if_empty", deserialize_with = "empty_if_null")]
    #[schema(value_type = Option<Vec<EventRecord>>, required = true)]
    pub event_records: Vec<EventRecord>,
}

/// An event. The numbers are those of `EventRecord` in the scheduler interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    /// 1 ask, 2 application, 3 node, 4 queue, 5 user or group.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub kind: i32,
    /// The object: an allocation key, application, node, queue path, user, or group.
    #[serde(rename = "objectID", default, skip_serializing_if = "is_default")]
    pub object_id: String,
    /// Message for people.
    #[serde(default, skip_serializing_if = "is_default")]
    pub message: String,
    /// Time of the event, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamp_nano: i64,
    /// 1 set, 2 added, 3 removed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub event_change_type: i32,
    /// Detail of the change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub event_change_detail: i32,
    /// The related object.
    #[serde(rename = "referenceID", default, skip_serializing_if = "is_default")]
    pub reference_id: String,
    /// Amounts. `{}` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<EventResource>,
}

/// The amounts of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventResource {
    /// Amounts by resource type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: BTreeMap<String, EventQuantity>,
}

/// An amount of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventQuantity {
    /// Amount in the unit of the type. Absent: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: i64,
}

/// The first line of the event stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StreamStart {
    /// ID of the process. Another process has another ID.
    #[serde(rename = "InstanceUUID")]
    pub instance_uuid: String,
}

/// A line of the event stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum StreamLine {
    /// The first line.
    Start(StreamStart),
    /// The last line, for a reader that was too slow.
    Closed(ErrorBody),
    /// Every other line. This variant is last because it has no required field.
    Event(EventRecord),
}

fn null_if_empty<S: Serializer>(records: &[EventRecord], out: S) -> Result<S::Ok, S::Error> {
    if records.is_empty() { out.serialize_none() } else { records.serialize(out) }
}

fn empty_if_null<'de, D: Deserializer<'de>>(body: D) -> Result<Vec<EventRecord>, D::Error> {
    Ok(Option::deserialize(body)?.unwrap_or_default())
}
