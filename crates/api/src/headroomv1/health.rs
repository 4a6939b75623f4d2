//! `GET /headroom/v1/health`: version, state, and health of the server.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Stamp;

/// Version, state, and health of the server. The server returns it in every state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerHealth {
    /// The newest record, and the epoch of its number.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// The state of the server.
    pub state: ServerState,
    /// Version of Headroom, such as `0.1.0`.
    pub version: String,
    /// Build information: `commit`, `date`, and `target`.
    pub build: BTreeMap<String, String>,
    /// Start time of the process.
    pub started_at: Timestamp,
    /// Whether this process writes. A follower only reads.
    pub leader: bool,
    /// The journal that the server writes.
    pub journal: JournalHealth,
    /// The writer, which executes commands.
    pub writer: WriterHealth,
    /// Registered resource managers.
    pub rms: Vec<ResourceManager>,
    /// Number of open streams of all kinds.
    pub streams: u64,
    /// Memory of the process, in bytes.
    pub memory: u64,
    /// Number of sums in the scheduler state that differ from their parts. A value other than 0 is
    /// a bug.
    pub drift: u64,
    /// Progress while the server reads its journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovering: Option<RecoveryProgress>,
    /// Both times, if the system clock has jumped and the scheduler does not follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockOffset>,
}

/// The time of a system clock that has jumped, and the time of the scheduler, which counts elapsed
/// time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockOffset {
    /// The time of the system clock.
    pub system: Timestamp,
    /// The time of the scheduler, which records use.
    pub scheduler: Timestamp,
}

/// The state of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// Reads its journal, and responds only to health requests.
    #[default]
    Recovering,
    /// Accepts all requests.
    Ready,
    /// Accepts only reads, because the journal cannot be written or another process is the leader.
    ReadOnly,
    /// Temporarily accepts no commands.
    Overloaded,
    /// Finishes running requests before it stops.
    Stopping,
}

/// The journal that a server writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JournalHealth {
    /// Whether the journal can be written.
    pub state: JournalState,
    /// Time when the last record was durable. Absent before the first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_flush: Option<Timestamp>,
    /// 99th percentile of the flush time over the last minute, in milliseconds.
    pub flush_p99_ms: f64,
    /// Free disk space in bytes. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_free: Option<u64>,
}

/// Whether a journal can be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum JournalState {
    /// The server has no journal.
    #[default]
    None,
    /// The journal can be written.
    Ok,
    /// The journal cannot be written. The log states why.
    Failed,
}

/// The writer, which executes commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WriterHealth {
    /// Number of waiting commands.
    pub backlog: u64,
    /// Scheduler steps per second, over the last minute.
    pub steps_per_second: f64,
}

/// A resource manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceManager {
    /// ID of the resource manager.
    pub id: String,
    /// Whether the resource manager is connected.
    pub state: ResourceManagerState,
    /// Time of its last message.
    pub last_seen: Timestamp,
}

/// Whether a resource manager is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ResourceManagerState {
    /// Reports its objects. The scheduler places nothing yet.
    #[default]
    Init,
    /// Connected.
    Running,
    /// Its stream was lost. The scheduler keeps its objects for some time.
    Paused,
    /// Disconnected.
    Stopped,
}

/// Progress of reading the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryProgress {
    /// Number of records read.
    pub done: u64,
    /// Total number of records.
    pub of: u64,
}
