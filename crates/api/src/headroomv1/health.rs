//! `GET /headroom/v1/health`: what runs here, and how it fares.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Stamp;

/// The server: which one it is, and how it fares. Answered in every state of the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerHealth {
    /// The newest record, and the epoch of its number.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// What it does.
    pub state: ServerState,
    /// Version of Headroom, such as `0.1.0`.
    pub version: String,
    /// How it was built: `commit`, `date`, `target`.
    pub build: BTreeMap<String, String>,
    /// Start of the process.
    pub started_at: Timestamp,
    /// Whether this process writes; a follower only reads.
    pub leader: bool,
    /// What it writes to.
    pub journal: JournalHealth,
    /// The one that takes commands.
    pub writer: WriterHealth,
    /// Resource managers that are registered.
    pub rms: Vec<ResourceManager>,
    /// Open streams of all kinds.
    pub streams: u64,
    /// Memory of the process, bytes.
    pub memory: u64,
    /// Sums of the books that were found to disagree with what they sum up. Always 0, or a bug.
    pub drift: u64,
    /// While it reads the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovering: Option<RecoveryProgress>,
    /// Both times, if the system clock has jumped and the scheduler does not follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockOffset>,
}

/// The times of a system clock that has jumped, and of the scheduler, which goes on by the time that has passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockOffset {
    /// The time of the system clock.
    pub system: Timestamp,
    /// The time of the scheduler, which records have.
    pub scheduler: Timestamp,
}

/// What a server does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// Reads its journal; nothing is answered but this.
    #[default]
    Recovering,
    /// Everything.
    Ready,
    /// Reads only: the journal cannot be written, or another process leads.
    ReadOnly,
    /// Takes no commands for the moment.
    Overloaded,
    /// Finishes what it has begun.
    Stopping,
}

/// What a server writes to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JournalHealth {
    /// Whether it can be written.
    pub state: JournalState,
    /// When the last record was safe; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_flush: Option<Timestamp>,
    /// Time that 99 of 100 flushes took at most, over the last minute, milliseconds.
    pub flush_p99_ms: f64,
    /// Room left, bytes; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_free: Option<u64>,
}

/// Whether a journal can be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum JournalState {
    /// There is none: something else keeps what happened.
    #[default]
    None,
    /// It can.
    Ok,
    /// It cannot; the log says why.
    Failed,
}

/// The one that takes commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WriterHealth {
    /// Commands that wait for it.
    pub backlog: u64,
    /// Steps of the scheduler, over the last minute.
    pub steps_per_second: f64,
}

/// A resource manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceManager {
    /// Its id.
    pub id: String,
    /// Whether it is there.
    pub state: ResourceManagerState,
    /// When it said something last.
    pub last_seen: Timestamp,
}

/// Whether a resource manager is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ResourceManagerState {
    /// Tells what exists; nothing is placed yet.
    #[default]
    Init,
    /// It is.
    Running,
    /// Its stream was lost; what it has is kept for a while.
    Paused,
    /// It is gone.
    Stopped,
}

/// How far the journal has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryProgress {
    /// Records read.
    pub done: u64,
    /// Records there are.
    pub of: u64,
}
