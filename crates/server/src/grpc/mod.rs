//! The scheduler interface over gRPC: RMs register, send nodes, applications and asks, and are
//! told what runs where.
//!
//! ```text
//! streams ──▶ requests ──▶ intake ── one order ──▶ engine
//!    ▲                        │                      │ feed
//!    └── outbox ◀── teller ◀──┴──────────────────────┘
//! ```
//!
//! [`Interface::router`] serves `si.v1.Scheduler` as generated clients know it (`compat`), our
//! ordered stream `headroom.si.v1.SchedulerSession` (`session`), questions to the RM beside the
//! former (`callbacks`), and the standard services for reflection and health.
//!
//! An RM is a `Manager` from its registration until another takes its place. Everything it is told
//! goes through one `Teller`, so it is in one order and durable; everything that it asks goes
//! through one `Intake`. Who is slow or away holds up nobody: messages wait in bounded lanes.

mod asking;
mod background;
mod callbacks;
mod caller;
mod coalesce;
mod compat;
mod constraints;
mod intake;
mod interface;
mod kept;
mod lane;
mod line;
mod manager;
mod outbox;
mod reflection;
mod requests;
mod router;
mod session;
mod settings;
mod tags;
mod teardown;
mod teller;
mod watching;

pub use interface::{Interface, Registered};
pub use manager::Standing;
pub use router::router;
pub use settings::Settings;
