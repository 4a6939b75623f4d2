//! The single writer: takes commands one by one, asks the core, journals the answer, tells
//! everyone.
//!
//! ```text
//! Handle ──commands──▶ Engine (one thread) ──▶ Writer: decide, apply, next … ──▶ journal, one flush
//!   ▲                                                                                 │
//!   └── outcomes, then: Feed (what happened, numbered), Views (the books), Watched ◀──┘
//! ```
//!
//! Nothing is answered, published or shown before it is durable. [`recover()`] replays a journal;
//! [`Engine::start`] goes on from there. Time comes from a [`Clock`], and with [`Pace::ByHand`]
//! tests say when time passes and how many steps the scheduler takes.
//!
//! [`users`] finds out who submits and which groups that user is in, before the writer sees a
//! submission.

mod answers;
mod audit;
mod changes;
mod clock;
mod engine;
mod error;
mod feed;
mod handle;
mod health;
mod image;
mod keeper;
mod named;
mod notice;
mod progress;
mod published;
mod recent;
mod recover;
mod rounds;
pub mod snapshot;
mod trace;
mod trail;
pub mod users;
mod view;
mod watched;
mod work;
mod writer;

pub use answers::ANSWERS_KEPT;
pub use audit::{AuditError, Audited, audit, follow};
pub use changes::{CHANGES_MOST, Changes, changes_of};
pub use clock::{CLOCK_TOLERANCE, Clock, ClockOffset, HandClock, SteadyClock, SystemClock};
pub use engine::{Begin, Engine, Pace, Settings};
pub use error::{EngineError, Impossible, chain};
pub use feed::{ENTRIES_KEPT, Entry, Feed, Follower, TooOld};
pub use handle::{COMMANDS_WAITING, Handle, Moment, Unavailable};
/// Who gave a command.
pub use headroom_journal::Origin;
pub use health::{CHECK_EVERY, Checked, Health, SnapshotFailure, Verified};
pub use image::ImageError;
pub use keeper::{SNAPSHOT_AGAIN_AFTER, SNAPSHOT_EVERY};
pub use named::{Named, OfTenant};
pub use notice::{About, Allocated, Asked, NamedRemoval, News, Notice, Released, notices};
pub use published::Published;
pub use recover::{Recovered, Recovering, recover, recover_telling};
pub use trace::TRACES;
pub use trail::{
    AUDIT_FOLDER, AuditFault, AuditKnown, AuditPage, AuditReader, AuditRecord, AuditStatus,
    AuditType, AuditVerified, AuditWanted, Fault as AuditFaultKind, Head as AuditHead, Said,
    verify_audit, verify_audit_lines, written_time,
};
pub use view::{View, Views};
pub use watched::{Batch, Missed, Watched, Watcher};
pub use work::{Durations, OfDisk, OfSteps, Scale, Snapshots, Work};
pub use writer::{
    Accepted, Kept, Outcome, SCAN_EVERY, STEPS_PER_BATCH, Scheduled, Submission, Writer,
};

/// Journals without files, for tests of those who use an engine.
#[cfg(feature = "testkit")]
pub mod testkit {
    pub use headroom_journal::{MemoryJournal, MemoryStore};
}
