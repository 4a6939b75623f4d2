//! The scheduler interface over gRPC: RMs register, send nodes, applications, and asks, and receive allocations.
//!
//! ```text
//! streams ──▶ requests ──▶ intake ── one order ──▶ engine
//!    ▲                        │                      │ feed
//!    └── outbox ◀─ notifier ◀─┴──────────────────────┘
//! ```
//!
//! [`Interface::router`] serves four kinds of services: `si.v1.Scheduler` for generated clients (`compat`), the ordered
//! stream `headroom.si.v1.SchedulerSession` (`session`), additional questions to the RM (`rm_questions`, with the
//! stream in `callbacks`), and the standard services for reflection and health.
//!
//! An RM is a `Manager` from its registration until another registration replaces it. One `RmNotifier` sends all its
//! messages, so they are durable and in one order. All its requests pass through one `Intake`. A slow or disconnected
//! RM blocks no other client, because its messages wait in bounded queues.

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
mod waits;
mod watching;

pub use interface::{Interface, Registered};
pub use manager::RmState;
pub use router::router;
pub use settings::Settings;
pub use waits::{ASKS_MAX, AskWait, Lacking};
