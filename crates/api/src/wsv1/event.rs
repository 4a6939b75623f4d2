//! `GET /ws/v1/events/batch` and `/ws/v1/events/stream`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use super::{ErrorBody, is_default};

/// A part of the events that are kept. Ids are implicit: the first record has the id that was
/// asked for as `start`, each further one the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct EventBatch {
    /// Another one means another process, whose ids begin anew.
    #[serde(rename = "InstanceUUID")]
    pub instance_uuid: String,
    /// Id of the oldest event that is kept.
    #[serde(rename = "LowestID")]
    pub lowest_id: u64,
    /// Id of the newest event.
    #[serde(rename = "HighestID")]
    pub highest_id: u64,
    /// The events; `null` when there are none.
    #[serde(serialize_with = "null_if_empty", deserialize_with = "empty_if_null")]
    #[schema(value_type = Option<Vec<EventRecord>>, required = true)]
    pub event_records: Vec<EventRecord>,
}

/// An event. The numbers are those of `EventRecord` of the scheduler interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    /// 1 ask, 2 application, 3 node, 4 queue, 5 user or group.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub kind: i32,
    /// Whom it happened to: allocation key, application, node, queue path, user or group.
    #[serde(rename = "objectID", default, skip_serializing_if = "is_default")]
    pub object_id: String,
    /// For people.
    #[serde(default, skip_serializing_if = "is_default")]
    pub message: String,
    /// When, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamp_nano: i64,
    /// 1 set, 2 added, 3 removed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub event_change_type: i32,
    /// What exactly.
    #[serde(default, skip_serializing_if = "is_default")]
    pub event_change_detail: i32,
    /// Who else is concerned.
    #[serde(rename = "referenceID", default, skip_serializing_if = "is_default")]
    pub reference_id: String,
    /// How much. `{}` where there is no amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<EventResource>,
}

/// Amounts of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventResource {
    /// By resource type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: BTreeMap<String, EventQuantity>,
}

/// An amount of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventQuantity {
    /// In the unit of the type; absent: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: i64,
}

/// First line of the event stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StreamStart {
    /// Another one means another process.
    #[serde(rename = "InstanceUUID")]
    pub instance_uuid: String,
}

/// A line of the event stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum StreamLine {
    /// The first line.
    Start(StreamStart),
    /// The last line, for a reader who was too slow.
    Closed(ErrorBody),
    /// Any line between. Stands last, for it has no field that must be there.
    Event(EventRecord),
}

fn null_if_empty<S: Serializer>(records: &[EventRecord], out: S) -> Result<S::Ok, S::Error> {
    if records.is_empty() { out.serialize_none() } else { records.serialize(out) }
}

fn empty_if_null<'de, D: Deserializer<'de>>(body: D) -> Result<Vec<EventRecord>, D::Error> {
    Ok(Option::deserialize(body)?.unwrap_or_default())
}
