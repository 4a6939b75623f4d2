//! Deterministic core of Headroom: turns the books, the time, and a command into events.
//!
//! Three functions do all the work. None of them reads a clock, a file, or a thread:
//!
//! - [`decide`] checks a [`Command`] against the [`books::Books`]. It returns [`Event`]s, or a [`Rejection`] with the
//!   failed rule.
//! - [`Scheduler::next`] finds the next step: it places one ask, or reports that nothing can move.
//! - [`Scheduler::apply`] applies an event to the books and to the indexes of the scheduler. [`books::Books::apply`]
//!   changes the books only, which is enough for a replay.
//!
//! Every waiting ask has a reason. [`Scheduler::wait_of`] returns the typed [`Wait`] with both sides of the comparison.
//! [`Wait::sentence`] formats it.
//!
//! ```
//! use headroom_core::books::Books;
//! use headroom_core::config::{Configuration, PartitionConfig, QueueConfig};
//! use headroom_core::resource::Amounts;
//! use headroom_core::{
//!     AddNode, Ask, Command, Name, Scheduler, Step, Submit, Timestamp, decide,
//! };
//!
//! let queue = QueueConfig {
//!     name: Name::new("a"),
//!     max: Amounts::from([("vcore", 3_000)]),
//!     ..QueueConfig::default()
//! };
//! let root = QueueConfig {
//!     name: Name::new("root"),
//!     submit_acl: "*".into(),
//!     children: vec![queue],
//!     ..Default::default()
//! };
//! let configuration = Configuration { partitions: vec![PartitionConfig::new("default", root)], ..Configuration::default() };
//!
//! let partition = Name::new("default");
//! let ask = |key: &str| {
//!     Command::Ask(Ask {
//!         partition: partition.clone(),
//!         application: Name::new("app"),
//!         key: Name::new(key),
//!         resources: Amounts::from([("vcore", 2_000)]),
//!         ..Ask::default()
//!     })
//! };
//! let commands = [
//!     Command::Configure(Box::new(configuration)),
//!     Command::AddNode(AddNode {
//!         partition: partition.clone(),
//!         node: Name::new("n1"),
//!         capacity: Amounts::from([("vcore", 8_000)]),
//!         schedulable: true,
//!         ..AddNode::default()
//!     }),
//!     Command::Submit(Submit {
//!         partition: partition.clone(),
//!         application: Name::new("app"),
//!         queue: Name::new("root.a"),
//!         user: Name::new("ann"),
//!         ..Submit::default()
//!     }),
//!     ask("first"),
//!     ask("second"),
//! ];
//!
//! let (mut books, mut scheduler, now) = (Books::default(), Scheduler::default(), Timestamp::ZERO);
//! for command in &commands {
//!     for event in decide(&books, now, command)? {
//!         scheduler.apply(&mut books, now, &event);
//!     }
//! }
//! let mut events = Vec::new();
//! while scheduler.next(&books, now, &mut events) == Step::Moved {
//!     for event in events.drain(..) {
//!         scheduler.apply(&mut books, now, &event);
//!     }
//! }
//!
//! let (second, row) = books.allocations().iter().find(|(_, row)| row.is_pending()).unwrap();
//! let wait = scheduler.wait_of(&books, second).unwrap();
//! assert_eq!(row.key, "second");
//! assert_eq!(
//!     wait.sentence(&books, second),
//!     "queue root.a has 1 of 3 vcore available, but the ask needs 2. \
//!      Wait for a release, or raise the maximum."
//! );
//! # Ok::<(), headroom_core::Rejection>(())
//! ```
#![cfg_attr(not(test), warn(clippy::float_arithmetic))]
// Production code must match every variant of our enums. Tests can use wildcards.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]
#![no_std]

extern crate alloc;

pub mod books;
mod bounds;
mod codes;
mod command;
pub mod config;
mod event;
pub mod event_text;
pub mod explain;
mod fork;
pub mod id;
mod invariant;
mod letter;
mod name;
mod ordered;
pub mod placement;
pub mod plan;
mod possible;
pub mod record;
mod rejection;
pub mod resource;
mod rules;
mod schedule;
#[cfg(feature = "snapshot")]
mod stored;
mod table;
#[cfg(feature = "testkit")]
#[allow(clippy::wildcard_enum_match_arm)]
pub mod testkit;
mod time;
pub mod userlimit;
pub mod view;
mod wait;

pub use command::{
    AddNode, Ask, Command, RejectApplication, SetForeign, SetTenant, Submit, SubmitTask,
    TaskChange, Verdicts, member_key,
};
pub use event::{
    AllocationEvent, ApplicationEvent, AskEvent, AskTraits, Event, ForeignEvent, NodeEvent,
    PartitionEvent, PreemptionCause, QueueEvent, TaskEvent, TaskStep, TenantDrift, TenantEvent,
    Termination, Throttled, ThrottledType,
};
pub use invariant::Violation;
pub use letter::letter;
pub use name::Name;
pub use ordered::OrderedMap;
pub use possible::impossible_ask;
pub use rejection::{RefusalCode, Rejection, TaskRejection, TenantRejection};
pub use rules::activation::Gate as DriverGate;
pub use rules::{COMMAND_BYTES_MAX, decide};
pub use schedule::preempt;
pub use schedule::{
    ClassId, Example, Note, RESERVATION_DELAY, RESERVATION_WAIT, Reason, Scheduler, Step,
    WAIT_HISTORY_MAX, WaitChange, WaitingSum, more_nodes_help,
};
pub use table::Table;
pub use time::{Millis, Timestamp};
pub use wait::{
    About, AtQueue, Blocker, CheckResult, Compared, CountedAs, Kind, NodeReason, Precedence, Row,
    SeenBy, TenantReason, TenantShort, Wait, WaitCode, WaitCounts,
};
