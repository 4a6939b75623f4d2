//! The single writer. It executes commands one by one, lets the core decide, writes the resulting events to the
//! journal, and notifies all readers.
//!
//! ```text
//! Handle ──commands──▶ Engine (one thread) ──▶ Writer: decide, apply, next … ──▶ journal, one flush
//!   ▲                                                                                 │
//!   └── outcomes, then: Feed (what happened, numbered), Views (the books), Watched ◀──┘
//! ```
//!
//! Every answer, publication, and view contains only durable changes. [`recover()`] replays a journal, and
//! [`Engine::start`] continues after its last record. Time is read from a [`Clock`]. With [`Pace::ByHand`], tests
//! control the time and the number of scheduling steps.
//!
//! [`users`] determines the submitting user and the user's groups before a submission reaches the writer.

mod audit_log;
mod clock;
mod engine;
mod error;
mod feed;
mod handle;
mod health;
mod idempotency;
mod image;
mod maintenance;
mod notice;
mod progress;
mod published;
mod recent;
mod recover;
mod replay_check;
mod shared_copy;
pub mod snapshot;
mod snapshotter;
mod trace;
pub mod users;
mod view;
mod wait_history;
mod watched;
mod writer;
mod writer_stats;

pub use audit_log::{
    AUDIT_FOLDER, AuditFault, AuditFields, AuditKnown, AuditPage, AuditReader, AuditRecord,
    AuditStatus, AuditType, AuditVerified, AuditWanted, Fault as AuditFaultKind, Head as AuditHead,
    verify_audit, verify_audit_lines, written_time,
};
pub use clock::{CLOCK_TOLERANCE, Clock, ClockOffset, HandClock, SteadyClock, SystemClock};
pub use engine::{Begin, Engine, Pace, Settings};
pub use error::{EngineError, Impossible, chain};
pub use feed::{ENTRIES_KEPT, Entry, Feed, Follower, TooOld};
pub use handle::{COMMANDS_WAITING, Handle, Unavailable, WriterState};
/// Sender of a command.
pub use headroom_journal::Origin;
pub use health::{CHECK_EVERY, Checked, Health, SnapshotFailure, Verified};
pub use idempotency::ANSWERS_KEPT;
pub use image::ImageError;
pub use notice::{
    About, Allocated, NamedRemoval, Notice, NoticeKind, Released, RmQuestion, notices,
};
pub use published::Published;
pub use recover::{Recovered, Recovering, recover, recover_telling};
pub use replay_check::{ReplayError, ReplayReport, audit, follow};
pub use snapshotter::{SNAPSHOT_AGAIN_AFTER, SNAPSHOT_EVERY};
pub use trace::TRACES;
pub use view::{View, Views};
pub use wait_history::{CHANGES_MOST, WaitHistory, changes_of};
pub use watched::{Batch, Missed, Watched, Watcher};
pub use writer::{
    Accepted, Outcome, Retention, SCAN_EVERY, STEPS_PER_BATCH, Scheduled, Submission, Writer,
};
pub use writer_stats::{Durations, OfDisk, OfSteps, Scale, Snapshots, WriterStats};

/// Journals without files, for tests of code that uses an engine.
#[cfg(feature = "testkit")]
pub mod testkit {
    pub use headroom_journal::{MemoryJournal, MemoryStore};
}
