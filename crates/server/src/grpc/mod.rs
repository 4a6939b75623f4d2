//! The scheduler interface over gRPC: RMs register, send nodes, applications and asks, and receive
//! what runs where.
//!
//! ```text
//! streams ──▶ requests ──▶ intake ── one order ──▶ engine
//!    ▲                        │                      │ feed
//!    └── outbox ◀─ notifier ◀─┴──────────────────────┘
//! ```
//!
//! [`Interface::router`] serves `si.v1.Scheduler` as generated clients know it (`compat`), our
//! ordered stream `headroom.si.v1.SchedulerSession` (`session`), questions to the RM in addition to the
//! former (`rm_questions`; their stream is `callbacks`), and the standard services for reflection and health.
//!
//! An RM is a `Manager` from its registration until another takes its place. Everything that it receives
//! goes through one `RmNotifier`, so it is in one order and durable; everything that it asks goes
//! through one `Intake`. Who is slow or away holds up nobody: messages wait in bounded lanes.

mod background;
mod callbacks;
mod caller;
mod coalesce;
mod compat;
mod constraints;
mod intake;
mod interface;
mod manager;
mod message_queue;
mod notifier;
mod outbox;
mod reflection;
mod requests;
mod rm_questions;
mod router;
mod session;
mod session_queue;
mod settings;
mod side_table;
mod tags;
mod teardown;
mod watching;

pub use interface::{Interface, Registered};
pub use manager::RmState;
pub use router::router;
pub use settings::Settings;
